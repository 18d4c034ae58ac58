package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// writeJar writes a jar of the given entries, in order, each deflated.
func writeJar(t *testing.T, path string, entries ...[2]string) {
	t.Helper()
	var pairs []string
	for _, e := range entries {
		pairs = append(pairs, e[:]...)
	}
	fixture.Write(t, path, fixture.Zip(t, pairs...))
}

func readJar(t *testing.T, path string) (entries [][2]string, raw map[string][]byte) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raw = map[string][]byte{}
	for _, f := range r.File {
		rc, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, [2]string{f.Name, string(b)})
		packed, err := f.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		if raw[f.Name], err = io.ReadAll(packed); err != nil {
			t.Fatal(err)
		}
	}
	return entries, raw
}

// sampleClass is a class with two methods; the second has two ways out.
func sampleClass(name string) assembly.Class {
	return assembly.Class{Name: name, Methods: []assembly.Method{
		{Access: 9, Name: "f", Descriptor: "()V", Code: "return"},
		{Access: 9, Name: "g", Descriptor: "(I)I", Stack: 1, Locals: 1,
			Code: "iload_0 | ifeq end | iconst_1 | ireturn | end: iconst_0 | ireturn", Attributes: nil},
	}}
}

// oldClass is a class of before Java 7, when a finally block was a subroutine.
func oldClass(name string) assembly.Class {
	return assembly.Class{Name: name, Major: 48, Methods: []assembly.Method{
		{Access: 9, Name: "f", Descriptor: "()V", Stack: 1, Locals: 1, Code: "jsr sub | return | sub: astore_0 | ret 0"},
	}}
}

// instrumented returns a class with calls, and their number.
func instrumented(t *testing.T, c assembly.Class) (data string, calls int) {
	t.Helper()
	var request inject.Request
	for i := range c.Methods {
		request.Methods = append(request.Methods, inject.Traced{Method: i, ID: uint32(1 + i*2003)})
	}
	out, err := inject.New(inject.Options{}).Rewrite(c.Parse(), request)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), len(c.Methods) + strings.Count(c.Methods[0].Code+c.Methods[1].Code, "return")
}

// jobIn writes the list of the jars, and returns a job with names in dir.
func jobIn(t *testing.T, dir string, jars ...string) job {
	t.Helper()
	j := job{filepath.Join(dir, "list"), filepath.Join(dir, "out"), filepath.Join(dir, "mapping.txt"),
		filepath.Join(dir, "changes")}
	if err := writeList(j.list, jars); err != nil {
		t.Fatal(err)
	}
	fixture.Directory(t, j.out)
	return j
}

func TestFloorKeepsEveryByte(t *testing.T) {
	long := strings.Repeat("not really a class ", 1000)
	one := [][2]string{{"META-INF/", ""}, {"META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n"}, {"a/A.class", long},
		{"a/B.class", long}, {"text", long}}
	two := [][2]string{{"b/C.class", long}}
	dir := t.TempDir()
	in := []string{filepath.Join(dir, "one.jar"), filepath.Join(dir, "two.jar")}
	writeJar(t, in[0], one...)
	writeJar(t, in[1], two...)
	j := jobIn(t, dir, in...)
	// Only a/A.class and b/C.class are marked as changed.
	fixture.Write(t, j.changes, "001001")
	if err := floorMain([]string{j.list, j.out, j.changes}); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][][2]string{one, two} {
		got, raw := readJar(t, filepath.Join(j.out, filepath.Base(in[i])))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s has other entries now", in[i])
		}
		_, before := readJar(t, in[i])
		for name := range raw {
			changed := name == "a/A.class" || name == "b/C.class"
			if changed == bytes.Equal(raw[name], before[name]) {
				t.Errorf("%s: packed again is %v, want %v", name, !changed, changed)
			}
		}
	}
}

func TestFloorReportsDamage(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	var entries [][2]string
	for i := range 2000 {
		entries = append(entries, [2]string{fmt.Sprintf("C%d.class", i), strings.Repeat(fmt.Sprint(i), 50)})
	}
	writeJar(t, in, entries...)
	data := fixture.Read(t, in)
	data[45] ^= 0xff // in the first entry's data
	fixture.Write(t, in, data)
	j := jobIn(t, dir, in)
	fixture.Write(t, j.changes, bytes.Repeat([]byte("1"), len(entries)))
	if err := floorMain([]string{j.list, j.out, j.changes}); !errors.Is(err, zipfile.ErrFormat) {
		t.Errorf("got %v, want an error about the format", err)
	}
}

func TestChangesAreThoseOfTheOutput(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	writeJar(t, in, [2]string{"A.class", "a"}, [2]string{"text", "b"}, [2]string{"B.class", "c"},
		[2]string{"C.class", "d"})
	j := jobIn(t, dir, in)
	writeJar(t, filepath.Join(j.out, "in.jar"), [2]string{"A.class", "a"}, [2]string{"text", "other"},
		[2]string{"B.class", "other"})
	if err := changesMain([]string{j.list, j.out, j.changes}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(j.changes); err != nil || string(got) != "0011" {
		t.Errorf("got %q (%v), want 0011", got, err)
	}
}

func TestLegibleLeavesOutSubroutines(t *testing.T) {
	dir := t.TempDir()
	plain, old := filepath.Join(dir, "plain.jar"), filepath.Join(dir, "old.jar")
	writeJar(t, plain, [2]string{"A.class", string(sampleClass("A").Bytes())})
	writeJar(t, old, [2]string{"A.class", string(sampleClass("A").Bytes())},
		[2]string{"B.class", string(oldClass("B").Bytes())}, [2]string{"t", "x"})
	list := filepath.Join(dir, "list")
	if err := writeList(list, []string{plain, old}); err != nil {
		t.Fatal(err)
	}
	if err := legibleMain([]string{list, filepath.Join(dir, "copies"), list + "2"}); err != nil {
		t.Fatal(err)
	}
	got, err := readList(list + "2")
	if err != nil || len(got) != 2 || got[0] != plain || got[1] == old {
		t.Fatalf("got %q (%v), want the first jar and a copy of the second", got, err)
	}
	entries, _ := readJar(t, got[1])
	if len(entries) != 2 || entries[0][0] != "A.class" || entries[1][0] != "t" {
		t.Errorf("the copy has %d entries, want A.class and t", len(entries))
	}
}

func TestInspectCountsWhatWasDone(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	j := jobIn(t, dir, in)
	s := series{contestant: contestant{name: "c", traces: true}, job: j}
	a, b := string(sampleClass("A").Bytes()), string(sampleClass("B").Bytes())
	changed, calls := instrumented(t, sampleClass("A"))
	writeJar(t, in, [2]string{"A.class", a}, [2]string{"text", "x"}, [2]string{"B.class", b}, [2]string{"C.class", b})
	// The same contestants in another order have done the same work.
	writeJar(t, filepath.Join(j.out, "in.jar"), [2]string{"B.class", b}, [2]string{"A.class", changed})
	mapping := "# tracegen-mapping 1\n1,1,a.A f ()V\n2,1,a.A g ()V\n" + dispatchID +
		"1,android.os.Handler dispatchMessage (Landroid.os.Message;)V\n"
	fixture.Write(t, j.mapping, mapping)
	if s.inspect(); s.failed != nil {
		t.Fatal(s.failed)
	}
	got := s.work
	got.size = 0
	want := work{classes: 3, changed: 1, lost: 1, methods: 2, calls: calls, before: int64(len(a) + 2*len(b)),
		after: int64(len(changed) + len(b))}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s.note != "leaves out 1 classes" {
		t.Errorf("the note is %q", s.note)
	}
	if _, err := os.Stat(j.out); err == nil {
		t.Error("the outputs are still there")
	}
}

// program is a contestant that runs a shell command.
func program(t *testing.T, script string, lenient bool) *series {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("skipped: no sh here")
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	writeJar(t, in, [2]string{"A.class", "a"})
	return &series{
		row: row{input: "in", name: "program"},
		contestant: contestant{lenient: lenient, command: func(j job) *exec.Cmd {
			return exec.Command(sh, "-c", script, sh,
				in, j.out)
		}},
		job: jobIn(t, dir, in),
	}
}

func TestFailuresAreReported(t *testing.T) {
	s := program(t, "echo no memory; echo more; exit 3", true)
	s.once()
	if s.inspect(); s.failed == nil || len(s.runs) != 0 || s.note != "failed: no memory" {
		t.Errorf("failed %v, %d runs, with the note %q", s.failed, len(s.runs), s.note)
	}
}

func TestOutputThatIsNoJarIsReported(t *testing.T) {
	s := program(t, `echo x > "$2/in.jar"`, false)
	s.once()
	if s.inspect(); s.failed == nil || !strings.HasPrefix(s.note, "unreadable: ") {
		t.Errorf("failed %v, with the note %q", s.failed, s.note)
	}
}

func TestExitCodeOfALenientProgramIsReported(t *testing.T) {
	s := program(t, `cp "$1" "$2" && echo fails the build: check && exit 1`, true)
	s.once()
	if s.inspect(); s.failed != nil || len(s.runs) != 1 || s.note != "fails the build: check" {
		t.Errorf("failed %v, %d runs, with the note %q", s.failed, len(s.runs), s.note)
	}
	if s = program(t, "exit 1", false); true {
		s.once()
	}
	if s.failed == nil {
		t.Error("exit code 1 of another contestant was accepted")
	}
}

func TestInterruptedRowsAreLeftOut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turns := 0
	turn := func(name string) *series {
		s := program(t, "true", false)
		s.name, s.most = name, every
		run := s.contestant.command
		s.contestant.command = func(j job) *exec.Cmd {
			if turns++; turns == 5 {
				cancel()
			}
			return run(j)
		}
		return s
	}
	late := turn("late")
	late.most = 0
	got, err := rounds(ctx, []*series{turn("a"), turn("b"), turn("c"), late}, 3)
	if !errors.Is(err, context.Canceled) || len(got) != 2 || got[0].name != "a" || got[1].name != "c" ||
		len(got[0].runs) != 2 || len(got[1].runs) != 1 {
		t.Errorf("got %d rows (%v), want row a with two runs and row c with one", len(got), err)
	}
}
