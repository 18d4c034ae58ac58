package pipeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// SlicesIn makes [Assign] write the slices into a directory, under the names of their parts.
func SlicesIn(directory string) Slices {
	return Slices{File: func(p *Part) string { return filepath.Join(directory, p.name+SliceExtension) }}
}

// sealedFiles returns a scan file and the slice that is made of it.
func sealedFiles(t testing.TB) (scan, slice []byte) {
	t.Helper()
	dir := t.TempDir()
	class := assembly.Class{Name: "a/A", Super: "android/app/Activity", Methods: []assembly.Method{
		{Access: classfile.AccStatic, Name: "f", Descriptor: "()V",
			Code: "invokestatic b/B.g()V | invokestatic a/A.f()V | return"},
		{Access: classfile.AccPublic, Name: "onWindowFocusChanged", Descriptor: "(Z)V", Locals: 2, Code: "return"},
		{Access: classfile.AccAbstract, Name: "h", Descriptor: "()V"},
	}}
	broken := assembly.Class{Name: "b/B", Methods: []assembly.Method{{Access: classfile.AccStatic, Name: "g",
		Descriptor: "()I", Stack: 1, Code: "aconst_null | ireturn"}}}
	info := assembly.Class{Name: "dev/tracegen/runtime/MappingInfo", Methods: []assembly.Method{
		{Access: classfile.AccPublic | classfile.AccStatic, Name: "digest", Descriptor: "()Ljava/lang/String;", Stack: 1, Code: `ldc "0000000000000000" | areturn`}}}
	jar := filepath.Join(dir, "in.jar")
	files := map[string][]byte{
		jar: zipped(t, "a/A.class", class.Bytes(), "META-INF/versions/9/a/A.class",
			class.Bytes(), "b/B.class", broken.Bytes(), "x/None.class", []byte("no class"), "i/I.class", info.Bytes()),
		filepath.Join(dir, "B.class"): broken.Bytes(),
	}
	for path, data := range files {
		fixture.Write(t, path, data)
	}
	c := Config{Inputs: []Input{{Path: jar}, {Path: filepath.Join(dir, "B.class")}}, FocusHooks: true,
		RuntimeExternal: true,
		Filter:          filter.New(filter.Options{Trivial: filter.None})}
	path := filepath.Join(dir, "p.scan")
	if _, err := Scan(t.Context(), c, Origin{Tool: "test", Options: map[string]string{"exits": "throws",
		"rules": "a\nb"}}, path); err != nil {
		t.Fatal(err)
	}
	part, err := LoadPart(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Assign(t.Context(), c, []*Part{part}, SlicesIn(dir)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*[]byte{&scan, &slice} {
		if *p, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, "p.slice")
	}
	return scan, slice
}

// readers read what is in a file of each format, and write it again.
var readers = map[wire.Format]func(*wire.Sealed) ([]byte, error){
	scanFormat: func(s *wire.Sealed) ([]byte, error) {
		p, err := readPart(s, "p.scan")
		if err != nil {
			return nil, err
		}
		return p.seal().(*wire.Sealed).Content, nil
	},
	sliceFormat: func(s *wire.Sealed) ([]byte, error) {
		p, err := readSlice(s, "p.slice")
		if err != nil {
			return nil, err
		}
		return p.seal().(*wire.Sealed).Content, nil
	},
}

// TestDamagedFiles reads scan files and slices that are cut, changed in any byte, of another kind or number, and
// such as say more than they are.
//
// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func TestDamagedFiles(t *testing.T) {
	scan, slice := sealedFiles(t)
	for want, data := range map[wire.Format][]byte{scanFormat: scan, sliceFormat: slice} {
		s, err := wire.Unseal(data, want)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readers[want](s)
		if err != nil || !bytes.Equal(again, s.Content) {
			t.Errorf("%s: read and written it is another: %v", want.Name, err)
		}
		var b bytes.Buffer
		if _, err := s.WriteTo(&b); err != nil || !bytes.Equal(b.Bytes(), data) {
			t.Errorf("%s: sealed again it is another: %v", want.Name, err)
		}
		for i := range data {
			if _, err := wire.Unseal(data[:i], want); err == nil {
				t.Errorf("%s: the first %d of %d bytes are taken", want.Name, i, len(data))
			}
			changed := bytes.Clone(data)
			changed[i] ^= 1 << (i % 8)
			if _, err := wire.Unseal(changed, want); err == nil {
				t.Errorf("%s: a change of byte %d is not seen", want.Name, i)
			}
		}
		// What a checksum cannot see: content that was made up.
		random := rand.New(rand.NewPCG(7, 7))
		for range 20000 {
			made := &wire.Sealed{Format: want, Origin: s.Origin, Content: bytes.Clone(s.Content)}
			for range 1 + random.IntN(3) {
				made.Content[random.IntN(len(made.Content))] = byte(random.Uint32())
			}
			_, _ = readers[want](made)
			made.Content = made.Content[:random.IntN(len(made.Content))]
			_, _ = readers[want](made)
		}
		first, next := fmt.Sprint(want.Name, " ", want.Number), fmt.Sprint(want.Name, " ", want.Number+1)
		for _, row := range []struct{ from, to, words string }{
			{first + "\n", next + "\n", "of format " + next + ", this tracegen reads and writes " + first},
			{want.Name, "tracegen-none", "not a " + want.Name + " file"},
		} {
			_, err := wire.Unseal([]byte(strings.Replace(string(data), row.from, row.to, 1)), want)
			if err == nil || !strings.Contains(err.Error(), row.words) {
				t.Errorf("%q for %q: got %v, want %q", row.to, row.from, err, row.words)
			}
		}
	}
}

// TestModestContent has content that says of a little that it is very much.
//
// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func TestModestContent(t *testing.T) {
	var before, after runtime.MemStats
	lies := binary.AppendUvarint(nil, 1<<30)
	for _, content := range [][]byte{append(slices.Clone(lies), 1, 2, 3), lies, {0xff}, nil} {
		runtime.ReadMemStats(&before)
		_, _ = readPart(&wire.Sealed{Content: content}, "p.scan")
		_, _ = readSlice(&wire.Sealed{Content: content}, "p.slice")
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%x: %d bytes allocated", content, got)
		}
	}
}

// FuzzParts reads any bytes as a scan file and as a slice.
//
// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func FuzzParts(f *testing.F) {
	scan, slice := sealedFiles(f)
	for _, data := range [][]byte{scan, slice} {
		f.Add(data)
		for _, kind := range []wire.Format{scanFormat, sliceFormat} {
			if s, err := wire.Unseal(data, kind); err == nil {
				f.Add(s.Content)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, want := range []wire.Format{scanFormat, sliceFormat} {
			fuzzPart(t, data, want)
		}
	})
}

func fuzzPart(t *testing.T, data []byte, want wire.Format) {
	s, err := wire.Unseal(data, want)
	if err != nil {
		s = &wire.Sealed{Format: want, Content: data} // or no input would ever get past the checksum
	}
	once, err := readers[want](s)
	if err != nil {
		return
	}
	twice, err := readers[want](&wire.Sealed{Format: want, Origin: s.Origin, Content: once})
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("what was written is not read as it was: %v", err)
	}
	if want == scanFormat {
		p, err := readPart(s, "p.scan")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = Assign(t.Context(), Config{DryRun: true, FocusHooks: true, RuntimeExternal: true}, []*Part{p},
			SlicesIn(t.TempDir()))
	}
}
