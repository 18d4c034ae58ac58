package zipfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// rewrite returns a with every readable entry replaced by its own data, changed by change if that is not nil.
func rewrite(t testing.TB, a *Archive, level Level, change func(name string, data []byte) []byte) []byte {
	t.Helper()
	var codec Codec
	var out bytes.Buffer
	w := NewWriter(&out, a)
	for i := range a.Entries() {
		e := &a.Entries()[i]
		data, err := codec.Read(e, nil)
		if errors.Is(err, ErrUnsupported) {
			if err := w.Copy(e); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			data = change(e.Name, data)
		}
		p, err := codec.Compress(data, e.Level(level))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Replace(e, p); err != nil {
			t.Fatal(err)
		}
		codec.Recycle(p)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReplaceShapes replaces the data of every entry of every shape, at every level, and reads the result with this
// package and, where it supports the shape, with archive/zip.
//
// Invariant: Copying an archive keeps order, times, extra fields, comments and compressed bytes.
func TestReplaceShapes(t *testing.T) {
	change := func(name string, data []byte) []byte {
		if strings.HasSuffix(name, "/") {
			return data
		}
		return append([]byte("// changed\n"), data...)
	}
	for _, shape := range shapes {
		for level := range levelCount {
			t.Run(shape.name+"/"+level.String(), func(t *testing.T) {
				a := mustNew(t, shape.c.build())
				out := rewrite(t, a, level, change)
				b := mustNew(t, out)
				var codec Codec
				for i := range b.Entries() {
					x, y := &a.Entries()[i], &b.Entries()[i]
					was, err := codec.Read(x, nil)
					if err != nil {
						continue
					}
					got, err := codec.Read(y, nil)
					if err != nil || string(got) != string(change(x.Name, was)) {
						t.Errorf("entry %d (%q): %d bytes, error %v", i, y.Name, len(got), err)
					}
					if stored := level == LevelStore || x.Method == Stored; stored != (y.Method == Stored) {
						t.Errorf("entry %d (%q): method %d became %d", i, y.Name, x.Method, y.Method)
					}
					if y.Flags != x.Flags&^flagDescriptor {
						t.Errorf("entry %d (%q): flags %x became %x", i, y.Name, x.Flags, y.Flags)
					}
				}
				compareByStandardLibrary(t, a.data, out)
			})
		}
	}
}

// compareByStandardLibrary checks that archive/zip reads the same metadata from both archives, and accepts CRCs and
// sizes of the second.
func compareByStandardLibrary(t *testing.T, before, after []byte) {
	t.Helper()
	x, err := zip.NewReader(bytes.NewReader(before), int64(len(before)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return
	}
	y, err := zip.NewReader(bytes.NewReader(after), int64(len(after)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		t.Fatal(err)
	}
	if x.Comment != y.Comment {
		t.Errorf("comment %q became %q", x.Comment, y.Comment)
	}
	facts := func(f *zip.File) any {
		type fact struct {
			Name, Comment         string
			Made                  uint16
			Flags, Time, Date     uint16
			Attrs                 uint32
			Extra                 string
			ModifiedIgnoringExtra time.Time
		}
		return fact{f.Name, f.Comment, f.CreatorVersion, f.Flags &^ flagDescriptor, f.ModifiedTime, f.ModifiedDate,
			f.ExternalAttrs, string(withoutExtra64(f.Extra)), f.Modified}
	}
	for i := range x.File {
		if diff := cmp.Diff(facts(x.File[i]), facts(y.File[i])); diff != "" {
			t.Errorf("entry %d:\n%s", i, diff)
		}
		if f := y.File[i]; f.Method <= Deflated && f.Flags&flagEncrypted == 0 {
			r, err := f.Open()
			if err != nil {
				t.Error(err)
				continue
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("entry %d (%q): archive/zip: %v", i, f.Name, err)
			}
		}
	}
}

func withoutExtra64(extra []byte) []byte {
	at, to := findExtra(extra, extraZip64)
	if at < 0 {
		return extra
	}
	return append(bytes.Clone(extra[:at]), extra[to:]...)
}

// TestReplaceHeaders checks single header bytes of replaced entries.
func TestReplaceHeaders(t *testing.T) {
	keep := extra(0x7075, 1, 2, 3)
	tests := []struct {
		name  string
		in    part
		local string // extra field of the local header afterwards
		wide  bool   // sizes still in the local zip64 field
	}{
		{"plain", part{localExtra: keep, zip64: "u"}, string(keep), false},
		{"zip64 in use", part{zip64: "uo", localExtra: keep, local64: true, descriptor: "signed64"},
			string(extra(1, put64(nil, 3, 3)...)) + string(keep), true},
		{"zip64 idle", part{centralExtra: extra(1, make([]byte, 16)...),
			localExtra: append(extra(1, make([]byte, 16)...), keep...)}, string(keep), false},
		{"version 1.0", part{version: 10}, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.in.name, test.in.data = "a", "before"
			a := mustNew(t, container{parts: []part{test.in}}.build())
			b := mustNew(t, rewrite(t, a, LevelStore, func(string, []byte) []byte { return []byte("new") }))
			e := &b.Entries()[0]
			header := b.data[e.head:e.data]
			if got := string(header[localSize+1:]); got != test.local {
				t.Errorf("local extra %q, want %q", got, test.local)
			}
			if wide := u32(header, 18) == magic32 && u32(header, 22) == magic32; wide != test.wide {
				t.Errorf("sizes in the zip64 field: %v", wide)
			}
			if u16(header, 6)&flagDescriptor != 0 || e.end != e.data+3 {
				t.Error("there is a data descriptor")
			}
			if wide := u32(b.central, 24) == magic32; e.Size != 3 || wide != (test.in.zip64 != "") {
				t.Errorf("size %d; in the zip64 field of the central record: %v", e.Size, wide)
			}
			if at, _ := findExtra(b.central[centralSize+1:], extraZip64); at >= 0 != (test.in.zip64 != "") {
				t.Errorf("zip64 field in the central record: %v", at >= 0)
			}
		})
	}
	t.Run("encrypted", func(t *testing.T) {
		a := mustNew(t, container{parts: []part{{name: "a", flags: 1}}}.build())
		w := NewWriter(io.Discard, a)
		if err := w.Replace(&a.Entries()[0], Packed{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("error %v", err)
		}
		if err := w.Close(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("Close after an error: %v", err)
		}
	})
}

func TestVersionNeeded(t *testing.T) {
	var b [2]byte
	for _, test := range []struct {
		was, method uint16
		zip64       bool
		want        uint16
	}{
		{10, Stored, false, 10}, {10, Deflated, false, 20}, {20, Stored, false, 20}, {10, Stored, true, 45},
		{0x0314, Deflated, true, 0x032D}, {63, Deflated, true, 63},
	} {
		le.PutUint16(b[:], test.was)
		raiseVersion(b[:], test.method, test.zip64)
		if got := u16(b[:], 0); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

func TestAdd(t *testing.T) {
	a := mustNew(t, container{parts: []part{{name: "like", time: 0x5A21_6C42}}}.build())
	var codec Codec
	p, err := codec.Compress([]byte(classText), LevelDefault)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := NewWriter(&out, a)
	err = errors.Join(
		w.Add("first", p),
		w.Copy(&a.Entries()[0]),
		w.Add("\xc3\xbc", p),
		w.Add("\xff", Packed{}),
		w.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("late", p); err == nil {
		t.Error("Add after Close: no error")
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	type fact struct {
		Name       string
		Date, Time uint16
		NonUTF8    bool
		Size       uint64
	}
	var got []fact
	for _, f := range z.File {
		got = append(got, fact{f.Name, f.ModifiedDate, f.ModifiedTime, f.NonUTF8, f.UncompressedSize64})
	}
	want := []fact{
		{"first", 1<<5 | 1, 0, false, 44000}, {"like", 0x5A21, 0x6C42, false, 0},
		{"\xc3\xbc", 1<<5 | 1, 0, false, 44000}, {"\xff", 1<<5 | 1, 0, true, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := NewWriter(io.Discard, nil).Add(strings.Repeat("n", 1<<16), p); err == nil {
		t.Error("a name too long: no error")
	}
}

// TestMerge copies entries of two archives into a third.
func TestMerge(t *testing.T) {
	a := mustNew(t, container{prefix: "#!", parts: []part{{name: "a", data: "1"}, {name: "b", data: "2"}}}.build())
	b := mustNew(t, container{prefix: "longer prefix", relative: true, comment: "b",
		parts: []part{{name: "c", data: "3", descriptor: "bare"}}}.build())
	var out bytes.Buffer
	w := NewWriter(&out, nil)
	if err := errors.Join(w.Copy(&a.Entries()[1]), w.Copy(&b.Entries()[0]), w.Copy(&a.Entries()[0]),
		w.Close()); err != nil {
		t.Fatal(err)
	}
	want := container{parts: []part{{name: "b", data: "2"}, {name: "c", data: "3", descriptor: "bare"},
		{name: "a", data: "1"}}}.build()
	if !bytes.Equal(out.Bytes(), want) {
		t.Error(cmp.Diff(want, out.Bytes()))
	}
}

// failing is an output that fails after that many bytes.
type failing struct{ room int }

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return f.room, io.ErrShortWrite
	}
	f.room -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	big := part{name: "big", data: strings.Repeat("x", 3*writeThrough), stored: true}
	in := container{parts: []part{{name: "a", data: classText}, big, {name: "b", data: "x"}}}.build()
	a := mustNew(t, in)
	for room := 0; room < len(in); room += 997 {
		w := NewWriter(&failing{room}, a)
		for i := range a.Entries() {
			_ = w.Copy(&a.Entries()[i]) // may fail; Close must fail
		}
		if err := w.Close(); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d of %d bytes: error %v", room, len(in), err)
		}
	}
}

// TestOneWriteForARun counts the writes of a copy: few, so that the output needs no buffer of its own.
func TestOneWriteForARun(t *testing.T) {
	var parts []part
	for range 100 {
		parts = append(parts, part{name: "x", data: strings.Repeat("x", 10_000), stored: true})
	}
	a := mustNew(t, container{parts: parts}.build())
	writes := 0
	w := NewWriter(writerFunc(func(p []byte) (int, error) { writes++; return len(p), nil }), a)
	for i := range a.Entries() {
		if err := w.Copy(&a.Entries()[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if writes != 2 {
		t.Errorf("%d writes, want one for the entries and one for the directory", writes)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestConcurrent reads and compresses in several goroutines with one Codec, also for the race detector. The bytes
// must be those of a new Codec.
func TestConcurrent(t *testing.T) {
	var parts []part
	for i := range 200 {
		parts = append(parts, part{name: "x", data: strings.Repeat(classText[i:i+50], i), stored: i%7 == 0})
	}
	path := filepath.Join(t.TempDir(), "a.jar")
	fixture.Write(t, path, container{parts: parts}.build())
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var codec Codec
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			var buf []byte
			for i := range a.Entries() {
				e := &a.Entries()[(i*31+worker*50)%len(parts)]
				level := Level((i + worker) % int(levelCount))
				var err error
				if buf, err = codec.Read(e, buf); err != nil {
					t.Error(err)
					return
				}
				p, err := codec.Compress(buf, level)
				if err != nil {
					t.Error(err)
					return
				}
				fresh, err := new(Codec).Compress(buf, level)
				if err != nil || !bytes.Equal(fresh.Data, p.Data) || fresh.CRC32 != p.CRC32 || fresh.Size != p.Size ||
					fresh.Method != p.Method {
					t.Errorf("entry %d, level %v: a used Codec compresses to other bytes", i, level)
				}
				codec.Recycle(p)
			}
		})
	}
	wait.Wait()
}

func TestLevels(t *testing.T) {
	for _, l := range []Level{-1, levelCount} {
		if _, err := new(Codec).Compress(nil, l); err == nil || !strings.Contains(l.String(), "Level(") {
			t.Errorf("%v: error %v", l, err)
		}
	}
	sizes := map[Level]int{}
	for l := range levelCount {
		p, err := new(Codec).Compress([]byte(classText), l)
		if err != nil {
			t.Fatal(err)
		}
		sizes[l] = len(p.Data)
	}
	if sizes[LevelStore] != len(classText) || sizes[LevelFast] > 2000 || sizes[LevelBest] > sizes[LevelFast] {
		t.Errorf("sizes %v", sizes)
	}
}
