package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/zipfile"
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

func TestStoredInputIsFound(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.jar")
	writeJar(t, in, [2]string{"a", "a"})
	corpora, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	got, err := findInput(t.Context(), corpora, storedPrefix+in)
	if err != nil || got.name != "stored:in.jar" || !got.stored || len(got.jars) != 1 || got.jars[0] != in {
		t.Errorf("got %+v (%v)", got, err)
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

// floorC compiles the floor in C. It skips the test if a program of one line cannot be compiled with libdeflate.
func floorC(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	line := "#include <libdeflate.h>\nint main(void) { return !libdeflate_alloc_compressor(1); }\n"
	if err := os.WriteFile(filepath.Join(dir, "floor.c"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := buildFloorC(t.Context(), dir, dir); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		t.Skipf("skipped: no C compiler or no libdeflate: %s", first)
	}
	path, err := buildFloorC(t.Context(), floorSources, dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// mixedJar writes a jar of stored and deflated entries, with and without data descriptors, and returns a list of
// changes that has every third of them.
func mixedJar(t *testing.T, path string, n int) (changes []byte) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		header := &zip.FileHeader{Name: fmt.Sprintf("p/C%d.class", i), Method: zip.Deflate, Extra: []byte("xx\x02\x00ab")}
		switch {
		case i%7 == 0:
			header.Name = fmt.Sprintf("p/text%d", i)
		case i%50 == 1:
			header.Name = fmt.Sprintf("p/d%d/", i)
		}
		if i%2 == 0 {
			header.Method = zip.Store
		}
		data := []byte(strings.Repeat(fmt.Sprint(i, " "), i%97*11))
		if i == n/2 {
			data = bytes.Repeat(data, 1000)
		}
		if strings.HasSuffix(header.Name, "/") {
			data = nil
		}
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, "100"[i%3])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Entries that are copied raw have their sizes in the local header.
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w = zip.NewWriter(&out)
	for i, f := range r.File {
		header := f.FileHeader
		if i%5 == 0 {
			header.Flags &^= 8
		}
		entry, err := w.CreateRaw(&header)
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.OpenRaw()
		if err == nil {
			_, err = io.Copy(entry, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return changes
}

// TestFloorInCKeepsEveryByte reads with archive/zip what the floor in C has written: it keeps the content and the
// method of every entry, and writes those classes again that tracegen changes and no other.
func TestFloorInCKeepsEveryByte(t *testing.T) {
	program := floorC(t)
	dir := t.TempDir()
	in := []string{filepath.Join(dir, "mixed.jar"), filepath.Join("..", "testdata", "sample", "sample.jar"),
		filepath.Join(dir, "empty.jar"), filepath.Join(dir, "one.jar")}
	changes := mixedJar(t, in[0], 3000)
	sample, _ := readJar(t, in[1])
	changes = append(changes, bytes.Repeat([]byte("1"), len(sample))...)
	writeJar(t, in[2])
	changes = append(changes, mixedJar(t, in[3], 1)...)
	j := jobIn(t, dir, in...)
	if err := os.WriteFile(j.changes, changes, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(program, libdeflateLevel, j.list, j.out, j.changes).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, path := range in {
		out := filepath.Join(j.out, filepath.Base(path))
		want, before := readJar(t, path)
		got, after := readJar(t, out)
		if len(got) != len(want) {
			t.Fatalf("%s: %d entries, want %d", path, len(got), len(want))
		}
		methods, _ := methodsOf(t, path)
		methodsNow, descriptors := methodsOf(t, out)
		for i, e := range want {
			changed := changes[i] == '1' && strings.HasSuffix(e[0], ".class")
			switch {
			case got[i] != e:
				t.Errorf("%s: entry %d is %.40q, want %.40q", path, i, got[i], e)
			case methods[e[0]] != methodsNow[e[0]]:
				t.Errorf("%s: %s has method %d", path, e[0], methodsNow[e[0]])
			case !changed && !bytes.Equal(before[e[0]], after[e[0]]):
				t.Errorf("%s: the data of %s has changed", path, e[0])
			case changed && descriptors[e[0]]:
				t.Errorf("%s: %s was not written again", path, e[0])
			}
		}
		changes = changes[len(want):]
		readWithLocalHeaders(t, out)
	}
}

// readWithLocalHeaders reads all entries with our own reader, which, unlike archive/zip, compares local headers with
// the central directory.
func readWithLocalHeaders(t *testing.T, path string) {
	t.Helper()
	a, err := zipfile.Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer a.Close()
	var codec zipfile.Codec
	for i := range a.Entries() {
		if _, err := codec.Read(&a.Entries()[i], nil); err != nil {
			t.Error(err)
		}
	}
}

func TestFloorInCReportsDamage(t *testing.T) {
	program := floorC(t)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jar")
	changes := mixedJar(t, in, 100)
	whole, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	j := jobIn(t, dir, in)
	run := func(data []byte, changes string) (string, error) {
		if err := errors.Join(os.WriteFile(in, data, 0o644), os.WriteFile(j.changes, []byte(changes), 0o644)); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command(program, libdeflateLevel, j.list, j.out, j.changes).CombinedOutput()
		return string(said), err
	}
	stored := bytes.Index(whole, []byte("8 8 8 "))
	damaged := bytes.Clone(whole)
	damaged[stored] ^= 1
	for name, c := range map[string]struct {
		data          []byte
		changes, want string
	}{
		"content":   {damaged, string(changes), "a class has a wrong CRC"},
		"no end":    {whole[:len(whole)-1], string(changes), "no zip file"},
		"no start":  {whole[100:], string(changes), "bytes in front of the first entry"},
		"no jar":    {[]byte("x"), string(changes), "no zip file"},
		"other jar": {whole, "10", "the list of changes was made for other jars"},
	} {
		if said, err := run(c.data, c.changes); err == nil || !strings.Contains(said, c.want) {
			t.Errorf("%s: %v, %q, want %q", name, err, said, c.want)
		}
	}
	if said, err := run(whole, string(changes)); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}
