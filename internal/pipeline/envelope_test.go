package pipeline

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// sealedFiles gives a scan file and the slice that is made of it.
func sealedFiles(t testing.TB) (scan, slice []byte) {
	t.Helper()
	dir := t.TempDir()
	class := assembly.Class{Name: "a/A", Super: "android/app/Activity", Methods: []assembly.Method{
		{Access: classfile.AccStatic, Name: "f", Descriptor: "()V", Code: "invokestatic b/B.g()V | invokestatic a/A.f()V | return"},
		{Access: classfile.AccPublic, Name: "onWindowFocusChanged", Descriptor: "(Z)V", Locals: 2, Code: "return"},
		{Access: classfile.AccAbstract, Name: "h", Descriptor: "()V"},
	}}
	broken := assembly.Class{Name: "b/B", Methods: []assembly.Method{{Access: classfile.AccStatic, Name: "g", Descriptor: "()I", Stack: 1, Code: "aconst_null | ireturn"}}}
	info := assembly.Class{Name: "dev/tracegen/runtime/MappingInfo", Methods: []assembly.Method{
		{Access: classfile.AccPublic | classfile.AccStatic, Name: "digest", Descriptor: "()Ljava/lang/String;", Stack: 1, Code: `ldc "0000000000000000" | areturn`}}}
	jar := filepath.Join(dir, "in.jar")
	files := map[string][]byte{
		jar:                           zipped(t, "a/A.class", class.Bytes(), "META-INF/versions/9/a/A.class", class.Bytes(), "b/B.class", broken.Bytes(), "x/None.class", []byte("no class"), "i/I.class", info.Bytes()),
		filepath.Join(dir, "B.class"): broken.Bytes(),
	}
	for path, data := range files {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{Inputs: []Input{{Path: jar}, {Path: filepath.Join(dir, "B.class")}}, FocusHooks: true, RuntimeExternal: true,
		Filter: filter.New(filter.Options{Trivial: filter.None})}
	path := filepath.Join(dir, "p.scan")
	if _, err := Scan(t.Context(), c, Origin{Tool: "test", Options: map[string]string{"exits": "throws", "rules": "a\nb"}}, path); err != nil {
		t.Fatal(err)
	}
	part, err := LoadPart(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Assign(t.Context(), c, []*Part{part}, dir); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*[]byte{&scan, &slice} {
		if *p, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, "p.ids")
	}
	return scan, slice
}

// readers read what is in a file of each format, and write it again.
var readers = map[format]func(*sealed) ([]byte, error){
	scanFormat: func(s *sealed) ([]byte, error) {
		p, err := readPart(s)
		if err != nil {
			return nil, err
		}
		return p.seal().(*sealed).content, nil
	},
	sliceFormat: func(s *sealed) ([]byte, error) {
		p, err := readSlice(s)
		if err != nil {
			return nil, err
		}
		return p.seal().(*sealed).content, nil
	},
}

// TestDamagedFiles reads scan files and slices that are cut, changed in any byte, of another kind or number, and
// such as say more than they are.
//
// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func TestDamagedFiles(t *testing.T) {
	scan, slice := sealedFiles(t)
	for want, data := range map[format][]byte{scanFormat: scan, sliceFormat: slice} {
		s, err := unseal(data, want)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readers[want](s)
		if err != nil || !bytes.Equal(again, s.content) {
			t.Errorf("%s: read and written it is another: %v", want.name, err)
		}
		var b bytes.Buffer
		if _, err := s.WriteTo(&b); err != nil || !bytes.Equal(b.Bytes(), data) {
			t.Errorf("%s: sealed again it is another: %v", want.name, err)
		}
		for i := range data {
			if _, err := unseal(data[:i], want); err == nil {
				t.Errorf("%s: the first %d of %d bytes are taken", want.name, i, len(data))
			}
			changed := bytes.Clone(data)
			changed[i] ^= 1 << (i % 8)
			if _, err := unseal(changed, want); err == nil {
				t.Errorf("%s: a change of byte %d is not seen", want.name, i)
			}
		}
		// What a checksum cannot see: content that somebody made up.
		random := rand.New(rand.NewPCG(7, 7))
		for range 20000 {
			made := &sealed{want, s.origin, bytes.Clone(s.content)}
			for range 1 + random.IntN(3) {
				made.content[random.IntN(len(made.content))] = byte(random.Uint32())
			}
			_, _ = readers[want](made)
			made.content = made.content[:random.IntN(len(made.content))]
			_, _ = readers[want](made)
		}
		for _, row := range []struct{ from, to, words string }{
			{want.name + " 1\n", want.name + " 2\n", "of format " + want.name + " 2, this tracegen reads and writes " + want.name + " 1"},
			{want.name, "tracegen-none", "not a " + want.name + " file"},
		} {
			_, err := unseal([]byte(strings.Replace(string(data), row.from, row.to, 1)), want)
			if err == nil || !strings.Contains(err.Error(), row.words) {
				t.Errorf("%q for %q: got %v, want %q", row.to, row.from, err, row.words)
			}
		}
	}
}

// TestModestContent says that a little is very much.
//
// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func TestModestContent(t *testing.T) {
	much := &sealed{scanFormat, Origin{}, make([]byte, 100<<20)}
	var b bytes.Buffer
	if _, err := much.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if s, err := unseal(b.Bytes(), scanFormat); err != nil || len(s.content) != len(much.content) {
		t.Errorf("content that compresses well cannot be read: %v", err)
	}
	var before, after runtime.MemStats
	lies := appendUvarint(nil, 1<<30)
	for _, content := range [][]byte{append(slices.Clone(lies), 1, 2, 3), lies, {0xff}, nil} {
		runtime.ReadMemStats(&before)
		if _, err := unpackContent(content); err == nil && len(content) > 0 {
			t.Errorf("%x is taken", content)
		}
		_, _ = readPart(&sealed{content: content})
		_, _ = readSlice(&sealed{content: content})
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%x: %d bytes allocated", content, got)
		}
	}
}

func fuzzReader(f *testing.F, want format) {
	scan, slice := sealedFiles(f)
	for _, data := range [][]byte{scan, slice} {
		f.Add(data)
		for _, kind := range []format{scanFormat, sliceFormat} {
			if s, err := unseal(data, kind); err == nil {
				f.Add(s.content)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := unseal(data, want)
		if err != nil {
			s = &sealed{want, Origin{}, data} // or no input would ever get past the checksum
		}
		once, err := readers[want](s)
		if err != nil {
			return
		}
		twice, err := readers[want](&sealed{want, s.origin, once})
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("what was written is not read as it was: %v", err)
		}
		if want == scanFormat {
			p, err := readPart(s)
			if err != nil {
				t.Fatal(err)
			}
			p.name = "p"
			_, _ = Assign(t.Context(), Config{DryRun: true, FocusHooks: true, RuntimeExternal: true}, []*Part{p}, t.TempDir())
		}
	})
}

// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func FuzzScanFile(f *testing.F) { fuzzReader(f, scanFormat) }

// Invariant: A damaged or made-up scan file or slice is refused; no bytes make its reader panic, or allocate more
// than their size allows.
func FuzzSlice(f *testing.F) { fuzzReader(f, sliceFormat) }
