package main

import (
	"archive/zip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// methodsOf returns the method of each entry of a jar, and which have a data descriptor.
func methodsOf(t *testing.T, path string) (methods map[string]uint16, descriptors map[string]bool) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	methods, descriptors = map[string]uint16{}, map[string]bool{}
	for _, f := range r.File {
		methods[f.Name], descriptors[f.Name] = f.Method, f.Flags&8 != 0
	}
	return methods, descriptors
}

// A stored copy has the entries of its jar in their order, with the same content, and none is deflated.
func TestStoredCopies(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	writeJar(t, in, [2]string{"META-INF/", ""}, [2]string{"b/B.class", strings.Repeat("b", 5000)}, [2]string{"empty", ""},
		[2]string{"a/A.class", "a"})
	j := jobIn(t, dir, in)
	if err := storedMain([]string{j.list, filepath.Join(dir, "copies")}); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "copies", "in.jar")
	want, _ := readJar(t, in)
	if got, _ := readJar(t, out); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	methods, _ := methodsOf(t, out)
	for name, method := range methods {
		if method != zip.Store {
			t.Errorf("%s has method %d", name, method)
		}
	}
}

func TestChangeOfMethodIsReported(t *testing.T) {
	s := program(t, "true", false)
	in := filepath.Join(filepath.Dir(s.job.list), "in.jar")
	writeJar(t, filepath.Join(s.job.out, "in.jar"), [2]string{"A.class", "a"})
	if err := storeJar(filepath.Join(s.job.out, "in.jar"), in); err != nil {
		t.Fatal(err)
	}
	if s.inspect(); s.failed != nil || s.note != "1 stored classes have the method deflated now" {
		t.Errorf("failed %v, with the note %q", s.failed, s.note)
	}
}

func TestWarmRowsReportTheLastRun(t *testing.T) {
	s := program(t, "echo warm 9 wall 7.5 cpu 8.5; echo other; echo warm 10 wall 0.71 cpu 1.33", false)
	s.contestant.warm = true
	if s.once(); s.failed != nil || len(s.runs) != 1 {
		t.Fatalf("failed %v, %d runs", s.failed, len(s.runs))
	}
	if got := s.runs[0]; got.wall != 710*time.Millisecond || got.cpu() != 1330*time.Millisecond {
		t.Errorf("wall %v, CPU %v, want 710 and 1330 ms", got.wall, got.cpu())
	}
	s = program(t, "echo warm 9 wall 7.5 cpu 8.5", false)
	s.contestant.warm = true
	if s.once(); s.failed == nil || len(s.runs) != 0 {
		t.Error("a process without the last run was accepted")
	}
}
