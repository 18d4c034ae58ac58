package zipfile

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
)

// FuzzArchive opens any data, and checks for what opens: errors wrap the package's sentinels, copies have the same
// entries, replaced entries can be read again, and memory stays in proportion to the input.
//
// Invariant: No archive makes the reader panic, or allocate more than its size allows.
func FuzzArchive(f *testing.F) {
	for _, shape := range shapes {
		f.Add(shape.c.build())
	}
	for _, d := range damaged {
		in := d.c.build()
		f.Add(in[:len(in)-d.cut])
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		given := bytes.Clone(in)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := New("fuzz.jar", in)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(64<<10+100*len(in)) {
			t.Fatalf("opening %d bytes took %d bytes of memory", len(in), used)
		}
		if err != nil {
			var where *Error
			if !errors.Is(err, ErrFormat) || !errors.As(err, &where) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		copied, replaced := fuzzRewrite(t, a)
		if !bytes.Equal(in, given) {
			t.Fatal("the input was changed")
		}
		b := mustNew(t, copied)
		compareEntries(t, a, b)
		c := mustNew(t, replaced)
		var codec Codec
		for i := range a.Entries() {
			want, errA := codec.Read(&a.Entries()[i], nil)
			got, errB := codec.Read(&b.Entries()[i], nil)
			if (errA == nil) != (errB == nil) || !bytes.Equal(want, got) {
				t.Fatalf("entry %d: the copy has other data: %v, %v", i, errA, errB)
			}
			if errA != nil {
				continue
			}
			if got, err := codec.Read(&c.Entries()[i], nil); err != nil || !bytes.Equal(want, got) {
				t.Fatalf("entry %d: replaced by itself, it has other data: %v", i, err)
			}
		}
	})
}

// fuzzRewrite copies all entries, and then replaces those that can be read by their own data.
func fuzzRewrite(t *testing.T, a *Archive) (copied, replaced []byte) {
	var codec Codec
	var x, y bytes.Buffer
	wx, wy := NewWriter(&x, a), NewWriter(&y, a)
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if err := wx.Copy(e); err != nil {
			t.Fatalf("copy: %v", err)
		}
		data, err := codec.Read(e, nil)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) {
				t.Fatalf("error of another kind: %v", err)
			}
			if err := wy.Copy(e); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if uint64(len(data)) != e.Size {
			t.Fatalf("%d bytes, declared %d", len(data), e.Size)
		}
		p, err := codec.Compress(data, e.Level(LevelFast))
		if err != nil {
			t.Fatal(err)
		}
		if err := wy.Replace(e, p); err != nil {
			t.Fatalf("replace: %v", err)
		}
	}
	if err := errors.Join(wx.Close(), wy.Close()); err != nil {
		t.Fatal(err)
	}
	return x.Bytes(), y.Bytes()
}
