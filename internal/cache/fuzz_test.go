package cache

import (
	"bytes"
	"os"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// FuzzEntry puts any bytes where an entry is.
//
// Invariant: A cache returns the content that was put, and never the content of a file that was changed.
func FuzzEntry(f *testing.F) {
	c, err := Open(f.TempDir(), 1<<30)
	if err != nil {
		f.Fatal(err)
	}
	key := KeyOf("fuzz", "x")
	if err := c.Store(key, []byte("content")); err != nil {
		f.Fatal(err)
	}
	whole := fixture.Read(f, c.file(key))
	f.Add(whole, []byte("content"))
	f.Add(whole[:len(whole)-1], []byte{})
	f.Add([]byte(magic), []byte("x"))
	f.Fuzz(func(t *testing.T, file, content []byte) {
		c, err := Open(t.TempDir(), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Store(key, content); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Lookup(key); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%q comes back as %q (%v)", content, got, err)
		}
		fixture.Write(t, c.file(key), file)
		got, err := c.Lookup(key)
		var copied bytes.Buffer
		if copyErr := c.LookupTo(&copied, key); (err == nil) != (copyErr == nil) ||
			err == nil && !bytes.Equal(copied.Bytes(), got) {
			t.Fatalf("Lookup: %q (%v), LookupTo: %q (%v)", got, err, copied.Bytes(), copyErr)
		}
		if err != nil {
			return
		}
		if err := c.Store(key, got); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(c.file(key)); err != nil || !bytes.Equal(again, file) {
			t.Errorf("an accepted file is written back differently (%v)", err)
		}
	})
}
