package input_test

import (
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// FuzzOpen opens any bytes as an archive and as one with archives in it.
//
// Invariant: No bytes make the reader of inputs panic, and every class of an input belongs to one of its containers.
func FuzzOpen(f *testing.F) {
	inner := fixture.ZipOf(f, map[string][]byte{"a/B.class": {0xca, 0xfe}, "META-INF/versions/9/a/B.class": {0xca}})
	f.Add(inner)
	f.Add(fixture.ZipOf(f, map[string][]byte{"classes.jar": inner, "libs/x.jar": inner}))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"a.jar", "a.aar", "a.class"} {
			path := filepath.Join(dir, name)
			fixture.Write(t, path, data)
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
