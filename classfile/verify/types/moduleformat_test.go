package types_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/inject"
)

// moduleInfo is the committed module-info with its Module attribute changed: nil leaves it as it is.
func moduleInfo(t *testing.T, change func(info []byte) []byte) *classfile.Class {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "classes", "bin", "module",
		"module-info.class"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if change == nil {
		return c
	}
	for i, a := range c.Attributes() {
		if a.Name != "Module" {
			continue
		}
		if data, err = c.Rewrite(classfile.Edit{KeepConstants: c.ConstantPool().Len(),
			Attributes: map[int][]byte{i: change(bytes.Clone(a.Info))}}); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = classfile.Parse(data); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCheckModule: a module declaration's format is checked, as it is and with one dependence more.
func TestCheckModule(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(info []byte) []byte
		want   string
	}{
		{"as compiled", nil, ""},
		{"cut", func(info []byte) []byte { return info[:len(info)-1] },
			"module-info: JVMS 4.7.25: expected a Module attribute as long as its counts say, found its end"},
		{"too long", func(info []byte) []byte { return append(info, 0, 0) },
			"module-info: JVMS 4.7.25: expected a Module attribute as long as its counts say, found 2 bytes more"},
		{"no name", func(info []byte) []byte { info[0], info[1] = 0, 0; return info },
			"module-info: JVMS 4.7.25: expected a Module at index 0, found none"},
		{"requires no module", func(info []byte) []byte { info[8], info[9] = 0, 1; return info },
			"module-info: JVMS 4.7.25: expected a Module at index 1, found Class"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, f := range types.Check(moduleInfo(t, c.change), nil) {
				got += f.String()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	data, err := inject.AddRequires(moduleInfo(t, nil), "dev.tracegen.runtime")
	if err != nil {
		t.Fatal(err)
	}
	rewritten, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if findings := types.Check(rewritten, nil); len(findings) > 0 {
		t.Errorf("with one dependence more: %v", findings)
	}
}
