package zipfile

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestRelease reads an archive again after its memory was released: a mapping is read from the file again, and an
// archive in memory does not change.
func TestRelease(t *testing.T) {
	noise := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	data := container{parts: []part{{name: "big", data: string(noise)}}}.build()
	path := filepath.Join(t.TempDir(), "a.jar")
	fixture.Write(t, path, data)
	mapped, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.Close()
	for _, a := range []*Archive{mapped, mustNew(t, bytes.Clone(data))} {
		for _, span := range [][2]int64{{0, a.Size()}, {1, a.Size() - 1}, {a.Size(), 0}, {0, 10 * a.Size()},
			{5 << 20, 6 << 20}} {
			a.Release(span[0], span[1])
			var again bytes.Buffer
			if _, err := a.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
				t.Errorf("%s, released from %d to %d, has changed: %v", a.Name(), span[0], span[1], err)
			}
		}
	}
}
