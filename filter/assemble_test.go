package filter

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// assembler writes class files, also such that no compiler writes.
type assembler struct {
	assembly.Constants
	methods []byte
	count   uint16
}

// method describes a method for the assembler.
type method struct {
	flags            uint16
	name, descriptor string
	code             []byte // nil: no Code attribute
	handlers         []byte
	attribute        string // an empty attribute of this name inside Code
	annotations      []string
}

// shape describes a class without its methods for the assembler.
type shape struct {
	name, super string // super is java/lang/Object if empty
	interfaces  []string
	minor       uint16
	major       uint16 // 52 if 0
	flags       uint16
	annotations []string
}

func (a *assembler) add(m method) {
	a.count++
	a.methods = append(a.methods, assembly.U2(m.flags, a.Utf8(m.name), a.Utf8(m.descriptor))...)
	attributes := a.annotated(m.annotations)
	if m.code != nil {
		info := binary.BigEndian.AppendUint32(assembly.U2(10, 300), uint32(len(m.code)))
		info = append(append(info, m.code...), assembly.U2(uint16(len(m.handlers)/8))...)
		var inner []assembly.Attribute
		if m.attribute != "" {
			inner = append(inner, assembly.Attribute{Name: m.attribute})
		}
		info = append(append(info, m.handlers...), a.table(inner)...)
		attributes = append(attributes, assembly.Attribute{Name: "Code", Info: info})
	}
	a.methods = append(a.methods, a.table(attributes)...)
}

// table returns an attribute table.
func (a *assembler) table(list []assembly.Attribute) []byte {
	out := assembly.U2(uint16(len(list)))
	for _, attribute := range list {
		out = append(out, a.AttributeInfo(attribute)...)
	}
	return out
}

// annotated returns attributes with annotations. Annotations with even indexes are visible at run time. Each contains
// an array of an annotation and an enum constant.
func (a *assembler) annotated(annotations []string) (list []assembly.Attribute) {
	for i, name := range []string{"RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"} {
		n, info := uint16(0), []byte(nil)
		for j, annotation := range annotations {
			if j%2 != i {
				continue
			}
			n++
			info = append(info, assembly.U2(a.Utf8("L"+annotation+";"), 2, a.Utf8("value"))...)
			info = append(info, '[', 0, 2, 'e', 0, 1, 0, 1, '@', 0, 1, 0, 0)
			info = append(append(info, assembly.U2(a.Utf8("size"))...), 'I', 0, 1)
		}
		if n > 0 {
			list = append(list, assembly.Attribute{Name: name, Info: append(assembly.U2(n), info...)})
		}
	}
	return list
}

// finish returns the class with the methods that were added.
func (a *assembler) finish(t testing.TB, name string, minor, major, flags uint16) *classfile.Class {
	t.Helper()
	return a.shaped(t, shape{name: name, minor: minor, major: major, flags: flags})
}

// shaped is finish for a class of any shape.
func (a *assembler) shaped(t testing.TB, s shape) *classfile.Class {
	t.Helper()
	body := assembly.U2(s.flags, a.ClassIndex(s.name), a.ClassIndex(cmp.Or(s.super, "java/lang/Object")),
		uint16(len(s.interfaces)))
	for _, name := range s.interfaces {
		body = append(body, assembly.U2(a.ClassIndex(name))...)
	}
	body = append(append(body, assembly.U2(0, a.count)...), a.methods...)
	body = append(body, a.table(a.annotated(s.annotations))...)
	head := append([]byte{0xCA, 0xFE, 0xBA, 0xBE}, assembly.U2(s.minor, cmp.Or(s.major, 52), a.Count)...)
	return assembly.Parse(t, slices.Concat(head, a.Pool, body))
}

// decideAll returns the decision on each method with code.
func decideAll(t testing.TB, f *Filter, c *classfile.Class) []Decision {
	t.Helper()
	var all []Decision
	cf := f.ForClass(c)
	for i := range c.Methods() {
		code, ok, err := c.Code(&c.Methods()[i])
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			all = append(all, cf.Decide(&c.Methods()[i], code))
		}
	}
	return all
}
