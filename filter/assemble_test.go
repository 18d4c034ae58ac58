package filter

import (
	"cmp"
	"encoding/binary"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// assembler writes class files, also such that no compiler writes. It adds a constant to the pool for every request,
// even if an equal one exists.
type assembler struct {
	pool    []byte
	next    uint16
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

func (a *assembler) constant(tag classfile.Tag, info ...byte) uint16 {
	if a.next == 0 {
		a.next = 1
	}
	a.pool = append(append(a.pool, byte(tag)), info...)
	a.next++
	if tag == classfile.TagLong {
		a.next++
		return a.next - 2
	}
	return a.next - 1
}

func (a *assembler) pair(tag classfile.Tag, operands ...uint16) uint16 {
	var info []byte
	for _, o := range operands {
		info = binary.BigEndian.AppendUint16(info, o)
	}
	return a.constant(tag, info...)
}

func (a *assembler) utf8(s string) uint16 {
	return a.constant(classfile.TagUtf8, append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)...)
}

func (a *assembler) class(name string) uint16 { return a.pair(classfile.TagClass, a.utf8(name)) }

func (a *assembler) nameAndType(name, descriptor string) uint16 {
	return a.pair(classfile.TagNameAndType, a.utf8(name), a.utf8(descriptor))
}

func (a *assembler) ref(tag classfile.Tag, class, name, descriptor string) uint16 {
	return a.pair(tag, a.class(class), a.nameAndType(name, descriptor))
}

func (a *assembler) add(m method) {
	b := binary.BigEndian
	a.count++
	a.methods = b.AppendUint16(a.methods, m.flags)
	a.methods = b.AppendUint16(a.methods, a.utf8(m.name))
	a.methods = b.AppendUint16(a.methods, a.utf8(m.descriptor))
	attributes := a.attributes(m.annotations)
	count := binary.BigEndian.Uint16(attributes)
	if m.code == nil {
		a.methods = append(a.methods, attributes...)
		return
	}
	info := b.AppendUint16(nil, 10)
	info = b.AppendUint16(info, 300)
	info = b.AppendUint32(info, uint32(len(m.code)))
	info = append(info, m.code...)
	info = b.AppendUint16(info, uint16(len(m.handlers)/8))
	info = append(info, m.handlers...)
	if m.attribute == "" {
		info = b.AppendUint16(info, 0)
	} else {
		info = b.AppendUint16(info, 1)
		info = b.AppendUint16(info, a.utf8(m.attribute))
		info = b.AppendUint32(info, 0)
	}
	a.methods = b.AppendUint16(a.methods, count+1)
	a.methods = append(a.methods, attributes[2:]...)
	a.methods = b.AppendUint16(a.methods, a.utf8("Code"))
	a.methods = b.AppendUint32(a.methods, uint32(len(info)))
	a.methods = append(a.methods, info...)
}

// attributes returns an attribute table with annotations. Annotations with even indexes are
// visible at run time. Each contains an array of an annotation and an enum constant.
func (a *assembler) attributes(annotations []string) []byte {
	b := binary.BigEndian
	count, table := uint16(0), []byte(nil)
	for i, attribute := range []string{"RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"} {
		n, info := uint16(0), []byte(nil)
		for j, name := range annotations {
			if j%2 != i {
				continue
			}
			n++
			info = b.AppendUint16(info, a.utf8("L"+name+";"))
			info = append(info, 0, 2)
			info = b.AppendUint16(info, a.utf8("value"))
			info = append(info, '[', 0, 2, 'e', 0, 1, 0, 1, '@', 0, 1, 0, 0)
			info = b.AppendUint16(info, a.utf8("size"))
			info = append(info, 'I', 0, 1)
		}
		if n == 0 {
			continue
		}
		count++
		table = b.AppendUint16(table, a.utf8(attribute))
		table = b.AppendUint32(table, uint32(len(info)+2))
		table = append(b.AppendUint16(table, n), info...)
	}
	return append(b.AppendUint16(nil, count), table...)
}

// finish returns the class with the methods that were added.
func (a *assembler) finish(t testing.TB, name string, minor, major, flags uint16) *classfile.Class {
	t.Helper()
	return a.shaped(t, shape{name: name, minor: minor, major: major, flags: flags})
}

// shaped is finish for a class of any shape.
func (a *assembler) shaped(t testing.TB, s shape) *classfile.Class {
	t.Helper()
	b := binary.BigEndian
	this, super := a.class(s.name), a.class(cmp.Or(s.super, "java/lang/Object"))
	interfaces := b.AppendUint16(nil, uint16(len(s.interfaces)))
	for _, name := range s.interfaces {
		interfaces = b.AppendUint16(interfaces, a.class(name))
	}
	attributes := a.attributes(s.annotations)
	data := b.AppendUint32(nil, 0xCAFEBABE)
	data = b.AppendUint16(data, s.minor)
	data = b.AppendUint16(data, cmp.Or(s.major, 52))
	data = b.AppendUint16(data, a.next)
	data = append(data, a.pool...)
	data = b.AppendUint16(data, s.flags)
	data = b.AppendUint16(data, this)
	data = b.AppendUint16(data, super)
	data = append(data, interfaces...)
	data = append(data, 0, 0)
	data = b.AppendUint16(data, a.count)
	data = append(data, a.methods...)
	data = append(data, attributes...)
	c := assembly.Parse(t, data)
	return c
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
