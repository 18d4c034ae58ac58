package resolve

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// TestMappings finds mappings by their digest, and reads no more of the others than their first lines.
func TestMappings(t *testing.T) {
	dir := t.TempDir()
	m, err := mapping.Assign([]mapping.Method{{Identity: mapping.Identity{Class: "a/Feed", Name: "load",
		Descriptor: "()V"}}}, mapping.Options{})
	if err != nil {
		t.Fatal(err)
	}
	load, _ := m.ByMethod(mapping.Identity{Class: "a/Feed", Name: "load", Descriptor: "()V"})
	var written bytes.Buffer
	if _, err := m.WriteTo(&written); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mapping.txt"), written.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	const broken = "# tracegen-mapping 1\n# digest 00112233445566aa\nthis is no line of a mapping\n"
	for name, text := range map[string]string{"broken.txt": broken, "notes.txt": "# digest " + m.Digest() + "\n",
		"sub/x": broken} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mappings, err := OpenMappings(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, found, err := mappings.Find("r", m.Digest(), false)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if again, _, _ := mappings.Find("s", m.Digest(), false); again != first {
		t.Error("the mapping is loaded twice")
	}
	if name, ok := first.Name(trace.Method(load)); !ok || name.String() != "a.Feed.load" {
		t.Errorf("%v, %t", name, ok)
	}
	if _, _, err := mappings.Find("r", "00112233445566aa", false); err == nil || !strings.Contains(err.Error(), ":3:") {
		t.Errorf("a broken mapping: %v", err)
	}
	if _, _, err := mappings.Find("r", "ffffffffffffffff", false); err == nil ||
		!strings.Contains(err.Error(), "ffffffffffffffff") {
		t.Errorf("an unknown digest: %v", err)
	}
	for _, digest := range []string{"", mapping.Unstamped} {
		if names, found, err := mappings.Find("r", digest, false); err != nil || found || names.Mapping() != nil {
			t.Errorf("digest %q: found %t, error %v", digest, found, err)
		}
	}
}
