package mappingstore

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/fleet/objects"
)

// TestDamage damages each file of an archive in several ways. Reading the release must fail and name the file, and
// pushing it again must repair it.
//
// Invariant: A damaged file of an archive is noticed and named, and pushing the release again repairs it.
func TestDamage(t *testing.T) {
	eachStore(t, func(t *testing.T, a *Archive, files string) {
		texts := map[string][]byte{"1": mappingText(t, 300, 0), "2": mappingText(t, 300, 1), "3": mappingText(t, 300, 2)}
		builds := map[string]Build{}
		for i, version := range []string{"1", "2", "3"} {
			builds[version] = build(version, i, texts[version])
			push(t, a, builds[version])
		}
		damages := map[string]func(data []byte) []byte{
			"changed":   func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
			"cut off":   func(data []byte) []byte { return data[:len(data)-1] },
			"empty":     func([]byte) []byte { return nil },
			"longer":    func(data []byte) []byte { return append(data, 0) },
			"exchanged": func([]byte) []byte { return []byte("{}") },
			"missing":   nil, // as an expiry rule of a bucket would have it
		}
		whole := map[string][]byte{}
		for _, name := range archived(t, files) {
			name = filepath.ToSlash(name)
			if strings.HasPrefix(name, objectsDir) || strings.HasPrefix(name, releases) {
				data, err := objects.Get(t.Context(), a.store, name, maxFile)
				if err != nil {
					t.Fatal(err)
				}
				whole[name] = data
			}
		}
		if len(whole) != 6 {
			t.Fatalf("%d files, want 3 releases and 3 objects", len(whole))
		}
		for what, damage := range damages {
			for name, data := range whole {
				restore(t, a, files, whole)
				err := a.store.Remove(t.Context(), name)
				if damage != nil {
					err = a.store.Put(t.Context(), name, damage(bytes.Clone(data)))
				} else if strings.HasPrefix(name, releases) {
					continue // a release that is not there cannot be missed
				}
				if err != nil {
					t.Fatal(err)
				}
				found := 0
				for version, text := range texts {
					got, err := pulled(a, Selector{Version: version}, Mapping)
					var d *DamagedError
					switch {
					case errors.As(err, &d):
						found++
						if d.Name != name || !strings.Contains(err.Error(), "push the release again") {
							t.Errorf("%s, %s: %v", name, what, err)
						}
					case err != nil || !bytes.Equal(got, text):
						t.Errorf("%s, %s: version %s: %d bytes, %v", name, what, version, len(got), err)
					}
				}
				if found == 0 {
					t.Errorf("%s, %s: not noticed", name, what)
				}
				repaired := 0
				for _, version := range []string{"1", "2", "3"} {
					if push(t, a, builds[version]).Repaired {
						repaired++
					}
				}
				if repaired != found {
					t.Errorf("%s, %s: %d releases are damaged, %d were repaired", name, what, found, repaired)
				}
				for version, text := range texts {
					wantMapping(t, a, version, text)
				}
			}
		}
	})
}

// restore makes the archive have these objects and releases, and no others.
func restore(t *testing.T, a *Archive, files string, whole map[string][]byte) {
	t.Helper()
	for _, name := range archived(t, files) {
		name = filepath.ToSlash(name)
		if name == markName || !strings.HasPrefix(name, objectsDir) && !strings.HasPrefix(name, releases) {
			continue
		}
		if err := a.store.Remove(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range whole {
		if err := a.store.Put(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
	}
}
