package inject_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// moduleInfo returns the class that javac made of testdata/classes/src/module/module-info.java.
func moduleInfo(t *testing.T) *classfile.Class {
	t.Helper()
	data := fixture.Read(t, filepath.Join("..", "testdata", "classes", "bin", "module", "module-info.class"))
	c := assembly.Parse(t, data)
	return c
}

// required lists what a module requires. It decodes the attribute (JVMS 4.7.25) independently of the package.
func required(t *testing.T, c *classfile.Class) (names []string) {
	t.Helper()
	a, ok := classfile.FindAttribute(c.Attributes(), "Module")
	if !ok {
		t.Fatal("no Module attribute")
	}
	u2 := func(at int) uint16 { return uint16(a.Info[at])<<8 | uint16(a.Info[at+1]) }
	for i := range int(u2(6)) {
		name, err := c.ConstantPool().NamedBy(u2(8+6*i), classfile.TagModule)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func TestAddRequires(t *testing.T) {
	c := moduleInfo(t)
	data, err := inject.AddRequires(c, "dev.tracegen.runtime")
	if err != nil {
		t.Fatal(err)
	}
	out := assembly.Parse(t, data)
	if got, want := strings.Join(required(t, out), " "), strings.Join(required(t, c),
		" ")+" dev.tracegen.runtime"; got != want {
		t.Errorf("requires %s, want %s", got, want)
	}
	if findings := equivalence.CheckModule(c, out, "dev.tracegen.runtime"); len(findings) > 0 {
		t.Error(findings[0])
	}
	stripped, removed, err := equivalence.Strip(out, inject.DefaultRuntimeClass)
	if err != nil || removed != 1 || !bytes.Equal(stripped, c.Bytes()) {
		t.Errorf("strip removed %d and does not restore the module: %v", removed, err)
	}
	for _, module := range append(required(t, c), "tracegen.sample") {
		if data, err := inject.AddRequires(c, module); err != nil || !bytes.Equal(data, c.Bytes()) {
			t.Errorf("requiring %s, which it is or requires already, changes the module: %v", module, err)
		}
	}
	if data, err := inject.AddRequires(out, "dev.tracegen.runtime"); err != nil || !bytes.Equal(data, out.Bytes()) {
		t.Errorf("requiring the same module again changes it: %v", err)
	}
	module := func(attributes ...assembly.Attribute) *classfile.Class {
		return assembly.Class{Name: "module-info", Super: "-", Access: classfile.AccModule,
			Attributes: attributes}.Parse()
	}
	for _, row := range []struct {
		class *classfile.Class
		want  string
	}{
		{module(), "class module-info has no Module attribute"},
		{module(assembly.Attribute{Name: "Module"}), "Module attribute ends in its requires"},
		{module(assembly.Attribute{Name: "Module", Info: []byte{0, 1, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0}}),
			"Module attribute ends in its requires"},
		{module(assembly.Attribute{Name: "Module", Info: []byte{0, 1, 0, 0, 0, 0, 0, 0}}),
			"class module-info: Module attribute: "},
	} {
		if data, err := inject.AddRequires(row.class, "m"); data != nil || err == nil ||
			!strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v, want %q", err, row.want)
		}
	}
}
