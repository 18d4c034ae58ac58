package zipfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestManyEntries has more entries than 16 bits can count, with and without zip64 records in the input.
func TestManyEntries(t *testing.T) {
	const many = 70_000
	var parts []part
	for i := range many {
		parts = append(parts, part{name: fmt.Sprintf("d/%05d", i), data: "x", stored: true})
	}
	overrun := container{parts: parts}.build() // 70,000 modulo 65,536 in the end record
	var copied []byte
	for name, in := range map[string][]byte{"zip64": container{parts: parts, end64: true}.build(),
		"count overruns": overrun} {
		a := mustNew(t, in)
		if len(a.Entries()) != many {
			t.Fatalf("%s: %d entries", name, len(a.Entries()))
		}
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
		if copied != nil && !bytes.Equal(copied, out.Bytes()) {
			t.Error("the two copies differ")
		}
		copied = out.Bytes()
		compareEntries(t, a, mustNew(t, copied))
	}
	z, err := zip.NewReader(bytes.NewReader(copied), int64(len(copied)))
	if err != nil || len(z.File) != many {
		t.Fatalf("archive/zip: %v", err)
	}
	path := filepath.Join(t.TempDir(), "many.jar")
	fixture.Write(t, path, copied)
	readByPrograms(t, path)
}

// TestCountAtTheLimit has the numbers of entries around the smallest one that needs zip64 records.
func TestCountAtTheLimit(t *testing.T) {
	for _, n := range []int{65_534, 65_535, 65_536} {
		var out bytes.Buffer
		w := NewWriter(&out, nil)
		for range n {
			if err := w.Add("x", Packed{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := len(mustNew(t, out.Bytes()).Entries()); got != n {
			t.Errorf("%d entries read back as %d", n, got)
		}
		if has := bytes.Contains(out.Bytes()[out.Len()-100:], []byte("PK\x06\x06")); has != (n > 65_534) {
			t.Errorf("%d entries: zip64 end record: %v", n, has)
		}
	}
}

// sparseFrom returns a Writer that counts offset bytes as already written, and a file with a hole of that size at
// its start.
func sparseFrom(t *testing.T, path string, offset int64) (*Writer, *os.File) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Seek(offset, 0); err != nil {
		t.Fatal(err)
	}
	w := NewWriter(f, nil)
	w.offset = offset
	return w, f
}

// TestFarOffsets writes entries around 4 GiB, where offsets stop fitting into 32 bits.
func TestFarOffsets(t *testing.T) {
	if runtime.GOOS != "linux" || math.MaxInt == math.MaxInt32 {
		t.Skip("needs files with holes of 4 GiB, which are only sure to be cheap on 64-bit Linux")
	}
	parts := []part{{name: "before", data: classText}, {name: "after", data: "x", centralExtra: extra(0x7075, 1)},
		{name: "twice", data: classText, zip64: "uc"}}
	near := mustNew(t, container{parts: parts}.build())
	dir := t.TempDir()
	path := filepath.Join(dir, "far.jar")
	w, _ := sparseFrom(t, path, 1<<32-100)
	for i := range near.Entries() {
		if err := w.Copy(&near.Entries()[i]); err != nil {
			t.Fatal(err)
		}
	}
	p, err := new(Codec).Compress([]byte(classText), LevelDefault)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add("new", p), w.Close()); err != nil {
		t.Fatal(err)
	}
	far, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	var codec Codec
	for i, want := range []string{classText, "x", classText, classText} {
		if got, err := codec.Read(&far.Entries()[i], nil); err != nil || string(got) != want {
			t.Errorf("entry %d: %d bytes, error %v", i, len(got), err)
		}
	}
	if head := far.Entries()[1].Offset(); head < 1<<32 {
		t.Errorf("second entry at %d", head)
	}
	readByPrograms(t, path)

	// Copied to an offset that fits 32 bits, the values stay in the zip64 fields.
	var out bytes.Buffer
	back := NewWriter(&out, nil)
	for i := range near.Entries() {
		if err := back.Copy(&far.Entries()[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	compareEntries(t, near, mustNew(t, out.Bytes()))

	if err := NewWriter(&out, nil).err; err != nil {
		t.Fatal(err)
	}
	full := mustNew(t, container{parts: []part{{name: "full",
		centralExtra: extra(0x7075, make([]byte, 65_531)...)}}}.build())
	w, _ = sparseFrom(t, filepath.Join(dir, "full.jar"), 1<<32)
	if err := w.Copy(&full.Entries()[0]); err == nil {
		t.Error("no error for an extra field of 65,535 bytes, which leaves no room for zip64")
	}
}

// TestHugeSizes writes headers for data that is declared to inflate to 5 GiB.
func TestHugeSizes(t *testing.T) {
	a := mustNew(t, container{parts: []part{
		{name: "plain", data: "x", localExtra: extra(0x7075, 1, 2)},
		{name: "full", data: "x", localExtra: extra(0x7075, make([]byte, 65_531)...)},
	}}.build())
	huge := Packed{Data: []byte{3, 0}, Size: 5 << 30, Method: Deflated}
	var out bytes.Buffer
	w := NewWriter(&out, a)
	if err := errors.Join(w.Replace(&a.Entries()[0], huge), w.Add("new", huge), w.Close()); err != nil {
		t.Fatal(err)
	}
	b := mustNew(t, out.Bytes())
	for i := range b.Entries() {
		if e := &b.Entries()[i]; e.Size != 5<<30 || e.CompressedSize != 2 || e.bad != nil {
			t.Errorf("%+v", e)
		}
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if f.UncompressedSize64 != 5<<30 || f.CompressedSize64 != 2 || f.ReaderVersion != 45 {
			t.Errorf("archive/zip: %+v", f.FileHeader)
		}
	}
	if err := NewWriter(&out, nil).Replace(&a.Entries()[1], huge); !errors.Is(err, ErrUnsupported) {
		t.Errorf("no room in the local header: error %v", err)
	}
}
