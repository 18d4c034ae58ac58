package zipfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

func TestShapesAreRead(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			var codec Codec
			a := mustNew(t, shape.c.build())
			order := shape.c.order
			if order == nil {
				for i := range shape.c.parts {
					order = append(order, i)
				}
			}
			if len(a.Entries()) != len(order) {
				t.Fatalf("%d entries, want %d", len(a.Entries()), len(order))
			}
			for i := range a.Entries() {
				e, p := &a.Entries()[i], shape.c.parts[order[i]]
				if e.Name != p.name {
					t.Errorf("entry %d is called %q, want %q", i, e.Name, p.name)
				}
				got, err := codec.Read(e, nil)
				if e.Method > Deflated || p.flags&flagEncrypted != 0 {
					if !errors.Is(err, ErrUnsupported) {
						t.Errorf("reading %q: error %v, want ErrUnsupported", e.Name, err)
					}
					continue
				}
				if err != nil || string(got) != p.data {
					t.Errorf("reading %q: %d bytes, error %v; want %d bytes", e.Name, len(got), err, len(p.data))
				}
			}
			if got := string(a.comment); got != shape.c.comment {
				t.Errorf("comment %q, want %q", got, shape.c.comment)
			}
		})
	}
}

// TestCopyKeepsEverything copies all entries. It compares the bytes of the archives, or only the entries if the
// shape has bytes that belong to no record.
//
// Invariant: Copying an archive keeps order, times, extra fields, comments and compressed bytes.
func TestCopyKeepsEverything(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			in := shape.c.build()
			a := mustNew(t, in)
			var out bytes.Buffer
			w := NewWriter(&out, a)
			for i := range a.Entries() {
				if err := w.Copy(&a.Entries()[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if shape.whole && !bytes.Equal(out.Bytes(), in) {
				t.Errorf("copy differs from its original:\n%s", cmp.Diff(in, out.Bytes()))
			}
			b := mustNew(t, out.Bytes())
			compareEntries(t, a, b)

			out.Reset()
			if _, err := a.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), in) {
				t.Errorf("WriteTo: error %v, or other bytes", err)
			}
		})
	}
}

// compareEntries checks that both archives have the same entries, including raw headers and data.
func compareEntries(t *testing.T, a, b *Archive) {
	t.Helper()
	if len(a.Entries()) != len(b.Entries()) {
		t.Fatalf("%d entries became %d", len(a.Entries()), len(b.Entries()))
	}
	for i := range a.Entries() {
		x, y := &a.Entries()[i], &b.Entries()[i]
		if !bytes.Equal(a.data[x.head:x.end], b.data[y.head:y.end]) {
			t.Errorf("entry %d (%q): local bytes differ", i, x.Name)
		}
		if x.Name != y.Name || x.Size != y.Size || x.CompressedSize != y.CompressedSize || x.CRC32 != y.CRC32 ||
			x.Flags != y.Flags || x.Method != y.Method {
			t.Errorf("entry %d: %+v became %+v", i, x, y)
		}
	}
}

// TestStandardLibraryAgrees compares the shapes with what archive/zip reads, where it can read them.
//
// Invariant: Other programs read the archives that are written.
func TestStandardLibraryAgrees(t *testing.T) {
	read := 0
	for _, shape := range shapes {
		in := shape.c.build()
		z, err := zip.NewReader(bytes.NewReader(in), int64(len(in)))
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			t.Logf("%s: archive/zip: %v", shape.name, err)
			continue
		}
		a := mustNew(t, in)
		if len(z.File) != len(a.Entries()) {
			t.Errorf("%s: archive/zip sees %d entries, we %d", shape.name, len(z.File), len(a.Entries()))
			continue
		}
		for i, f := range z.File {
			e := &a.Entries()[i]
			offset, err := f.DataOffset()
			if err != nil || offset != e.data || f.Name != e.Name || f.CRC32 != e.CRC32 ||
				f.UncompressedSize64 != e.Size || f.CompressedSize64 != e.CompressedSize {
				t.Errorf("%s: entry %d: archive/zip sees %+v at %d (%v), we %+v",
					shape.name, i, f.FileHeader, offset, err, e)
			}
			read++
		}
	}
	if read < 30 {
		t.Errorf("only %d entries were compared", read)
	}
}

func TestDuplicates(t *testing.T) {
	a := mustNew(t, container{parts: []part{{name: "a"}, {name: "b"}, {name: "a"}, {name: "A"}, {name: "b"},
		{name: "a"}}}.build())
	var got []string
	for _, e := range a.Duplicates() {
		got = append(got, e.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "a"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEntryFacts(t *testing.T) {
	a := mustNew(t, container{prefix: "1234", parts: []part{{name: "d/", stored: true},
		{name: "s", data: "raw bytes", stored: true}, {name: "z", data: "x"}}}.build())
	d, s, z := &a.Entries()[0], &a.Entries()[1], &a.Entries()[2]
	if !d.IsDir() || s.IsDir() {
		t.Error("IsDir")
	}
	if d.Offset() != 4 {
		t.Errorf("Offset %d", d.Offset())
	}
	if string(s.Raw()) != "raw bytes" {
		t.Errorf("Raw %q", s.Raw())
	}
	if s.Level(LevelBest) != LevelStore || z.Level(LevelBest) != LevelBest || z.Level(LevelStore) != LevelStore {
		t.Error("Level")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jar")
	in := container{parts: []part{{name: "a", data: classText}}}.build()
	fixture.Write(t, path, in)
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name() != path || a.Size() != int64(len(in)) {
		t.Errorf("Name %q, Size %d", a.Name(), a.Size())
	}
	e := &a.Entries()[0]
	if got, err := new(Codec).Read(e, nil); err != nil || string(got) != classText {
		t.Errorf("read %d bytes, error %v", len(got), err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if e.Name != "a" {
		t.Error("name is gone after Close")
	}

	empty := filepath.Join(dir, "empty.jar")
	fixture.Write(t, empty, "")
	for path, want := range map[string]string{
		filepath.Join(dir, "none.jar"): "no such file",
		empty:                          "not a zip file",
		dir:                            "director",
	} {
		_, err := Open(path)
		if err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): error %v, want %q", path, err, want)
		}
	}
}

// TestShortenedWhileOpen truncates a file that is mapped. Reading it must return an error and not end the process.
func TestShortenedWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are read at once here, not mapped")
	}
	path := filepath.Join(t.TempDir(), "a.jar")
	big := part{name: "big", data: strings.Repeat("0123456789abcdef", 1<<14), stored: true}
	in := container{parts: []part{{name: "z", data: classText}, {name: "s", data: "abc", stored: true}, big}}.build()
	fixture.Write(t, path, in)
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var codec Codec
	out, err := os.Create(filepath.Join(t.TempDir(), "out.jar"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if _, err := codec.Read(e, nil); !errors.Is(err, ErrFormat) {
			t.Errorf("reading %s: error %v", e.Name, err)
		}
		w := NewWriter(out, a)
		if err := errors.Join(w.Copy(e), w.Close()); err == nil {
			t.Errorf("copying %s: no error", e.Name)
		}
		if err := NewWriter(out, a).Replace(e, Packed{}); !errors.Is(err, ErrFormat) {
			t.Errorf("replacing %s: error %v", e.Name, err)
		}
	}
}
