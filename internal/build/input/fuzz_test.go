package input_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/build/input"
)

// FuzzOpen opens any bytes as an archive and as one with archives in it.
//
// Invariant: No bytes make the reader of inputs panic, and every class of an input belongs to one of its containers.
func FuzzOpen(f *testing.F) {
	packed := func(entries map[string][]byte) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, data := range entries {
			e, err := w.Create(name)
			if err == nil {
				_, err = e.Write(data)
			}
			if err != nil {
				f.Fatal(err)
			}
		}
		w.Close()
		return b.Bytes()
	}
	inner := packed(map[string][]byte{"a/B.class": {0xca, 0xfe}, "META-INF/versions/9/a/B.class": {0xca}})
	f.Add(inner)
	f.Add(packed(map[string][]byte{"classes.jar": inner, "libs/x.jar": inner}))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"a.jar", "a.aar", "a.class"} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			in, err := input.Open(0, path, false)
			if err != nil {
				continue
			}
			known := map[*input.Container]bool{}
			for _, c := range in.Containers {
				known[c] = true
			}
			for _, c := range in.Classes {
				if !known[c.Container] || c.Where() == "" || c.Path() == "" {
					t.Errorf("%s: class %+v", name, c)
				}
			}
			in.Close()
		}
	})
}
