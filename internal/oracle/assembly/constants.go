package assembly

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Constants is a constant pool (JVMS 4.4) that grows. All packages that write class files for tests have this one. The
// zero value is an empty pool.
type Constants struct {
	Pool  []byte // the constants so far
	Count uint16 // constant_pool_count, from the first constant on
	// Known maps the bytes of a constant to its index. A test that replaces it gets new constants, even if there are
	// equal ones.
	Known map[string]uint16
}

// Constant returns the index of the constant with these bytes, which it adds if there is none.
func (p *Constants) Constant(tag classfile.Tag, operands ...byte) uint16 {
	if p.Known == nil {
		p.Count, p.Known = max(p.Count, 1), map[string]uint16{}
	}
	entry := append([]byte{byte(tag)}, operands...)
	if i, ok := p.Known[string(entry)]; ok {
		return i
	}
	p.Known[string(entry)] = p.Count
	p.Pool = append(p.Pool, entry...)
	p.Count++
	return p.Count - 1
}

// Utf8 returns the index of a Utf8.
func (p *Constants) Utf8(s string) uint16 {
	return p.Constant(classfile.TagUtf8, append(U2(uint16(len(s))), s...)...)
}

// ClassIndex returns the index of a Class.
func (p *Constants) ClassIndex(name string) uint16 {
	return p.Constant(classfile.TagClass, U2(p.Utf8(name))...)
}

// NameAndType returns the index of a NameAndType.
func (p *Constants) NameAndType(name, descriptor string) uint16 {
	return p.Constant(classfile.TagNameAndType, U2(p.Utf8(name), p.Utf8(descriptor))...)
}

// Methodref returns the index of a Methodref.
func (p *Constants) Methodref(class, name, descriptor string) uint16 {
	nameAndType := p.NameAndType(name, descriptor)
	return p.Constant(classfile.TagMethodref, U2(p.ClassIndex(class), nameAndType)...)
}

// Fieldref returns the index of a Fieldref.
func (p *Constants) Fieldref(class, name, descriptor string) uint16 {
	return p.Constant(classfile.TagFieldref, U2(p.ClassIndex(class), p.NameAndType(name, descriptor))...)
}

// AttributeInfo returns an attribute_info (JVMS 4.7).
func (p *Constants) AttributeInfo(a Attribute) []byte {
	return append(binary.BigEndian.AppendUint32(U2(p.Utf8(a.Name)), uint32(len(a.Info))), a.Info...)
}

// U2 returns the values as big-endian numbers of two bytes.
func U2(values ...uint16) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

// Opcodes has all opcodes by their mnemonics.
var Opcodes = func() map[string]code.Op {
	byName := map[string]code.Op{}
	for o := code.Op(0); o.Known(); o++ {
		byName[o.String()] = o
	}
	return byName
}()
