package resolve

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
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
	fixture.Write(t, filepath.Join(dir, "mapping.txt"), written.Bytes())
	const broken = "# tracegen-mapping 1\n# digest 00112233445566aa\nthis is no line of a mapping\n"
	for name, text := range map[string]string{"broken.txt": broken, "notes.txt": "# digest " + m.Digest() + "\n",
		"sub/x": broken} {
		path := filepath.Join(dir, name)
		fixture.Write(t, path, text)
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

// TestMethodLabels: an overloaded method has its parameters behind its name, and more if that is not enough.
func TestMethodLabels(t *testing.T) {
	want := map[string]string{
		"a/B f ()V": "a.B.f()", "a/B f (I[[Ljava/lang/String;)V": "a.B.f(int, String[][])", "a/B once (I)V": "a.B.once",
		"a/B g (Lb/X;)V": "a.B.g(b.X)", "a/B g (Lc/X;)V": "a.B.g(c.X)", "a/B g (J)V": "a.B.g(long)",
		"a/B h (I)Ljava/lang/Object;": "a.B.h(int): java.lang.Object", "a/B h (I)[La/C;": "a.B.h(int): a.C[]",
		"a/C f ()V": "a.C.f",
	}
	var methods []mapping.Method
	identity := func(method string) mapping.Identity {
		f := strings.Fields(method)
		return mapping.Identity{Class: f[0], Name: f[1], Descriptor: f[2]}
	}
	for m := range want {
		methods = append(methods, mapping.Method{Identity: identity(m)})
	}
	m, err := mapping.Assign(methods, mapping.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := NewNames(m, nil)
	for method, label := range want {
		id, _ := m.ByMethod(identity(method))
		k := trace.Method(id)
		if got := names.Label(k); got != label || names.Method(k).String() != label {
			t.Errorf("%s is %q and %q, want %q", method, got, names.Method(k), label)
		}
	}
	if got := names.Label(1048000); got != "#1048000" {
		t.Errorf("a method without a name is %q", got)
	}
}
