package filter

import (
	"encoding/binary"
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// assembler writes class files that no compiler writes. Its pool has an entry for every request, equal or not.
type assembler struct {
	pool    []byte
	next    uint16
	methods []byte
	count   uint16
}

// method is what an assembler makes a method of.
type method struct {
	flags            uint16
	name, descriptor string
	code             []byte // nil: no Code attribute
	handlers         []byte
	attribute        string // an empty attribute of this name inside Code
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
	if m.code == nil {
		a.methods = b.AppendUint16(a.methods, 0)
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
	a.methods = b.AppendUint16(a.methods, 1)
	a.methods = b.AppendUint16(a.methods, a.utf8("Code"))
	a.methods = b.AppendUint32(a.methods, uint32(len(info)))
	a.methods = append(a.methods, info...)
}

// finish gives the class with the methods that were added.
func (a *assembler) finish(t testing.TB, name string, minor, major, flags uint16) *classfile.Class {
	t.Helper()
	b := binary.BigEndian
	this, super := a.class(name), a.class("java/lang/Object")
	data := b.AppendUint32(nil, 0xCAFEBABE)
	data = b.AppendUint16(data, minor)
	data = b.AppendUint16(data, major)
	data = b.AppendUint16(data, a.next)
	data = append(data, a.pool...)
	data = b.AppendUint16(data, flags)
	data = b.AppendUint16(data, this)
	data = b.AppendUint16(data, super)
	data = append(data, 0, 0, 0, 0)
	data = b.AppendUint16(data, a.count)
	data = append(data, a.methods...)
	data = append(data, 0, 0)
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// decideAll gives the decision on each method with code.
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
