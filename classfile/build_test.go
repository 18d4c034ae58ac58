package classfile_test

import (
	"encoding/binary"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// source describes a class file in parts, so that tests can damage one part at a time.
type source struct {
	magic               uint32
	minor, major        uint16
	pool                []byte
	count               int // constant_pool_count
	access, this, super uint16
	interfaces          []uint16
	fields, methods     []memberSource
	attributes          []attributeSource
	tail                []byte
}

type memberSource struct {
	access, name, descriptor uint16
	attributes               []attributeSource
}

type attributeSource struct {
	name uint16
	info []byte
}

// newSource returns a public class a/B extends java/lang/Object of Java 8, with four constants: 1 "a/B", 2 its
// Class, 3 "java/lang/Object", 4 its Class.
func newSource() *source {
	s := &source{magic: 0xCAFEBABE, major: 52, count: 1, access: classfile.AccPublic}
	s.this = s.class("a/B")
	s.super = s.class("java/lang/Object")
	return s
}

// constant adds an entry with this info, which must be complete, and returns its index.
func (s *source) constant(tag classfile.Tag, info ...byte) uint16 {
	s.pool = append(append(s.pool, byte(tag)), info...)
	s.count++
	return uint16(s.count - 1)
}

// wide adds a Long or Double.
func (s *source) wide(tag classfile.Tag, v uint64) uint16 {
	s.constant(tag, binary.BigEndian.AppendUint64(nil, v)...)
	s.count++
	return uint16(s.count - 2)
}

// refer adds an entry whose info is these two-byte values.
func (s *source) refer(tag classfile.Tag, operands ...uint16) uint16 {
	return s.constant(tag, u2s(operands...)...)
}

func (s *source) utf8(text string) uint16 {
	return s.constant(classfile.TagUtf8, append(u2s(uint16(len(text))), text...)...)
}

func (s *source) class(name string) uint16 { return s.refer(classfile.TagClass, s.utf8(name)) }

func (s *source) bytes() []byte {
	b := binary.BigEndian.AppendUint32(nil, s.magic)
	b = append(b, u2s(s.minor, s.major, uint16(s.count))...)
	b = append(b, s.pool...)
	b = append(b, u2s(s.access, s.this, s.super, uint16(len(s.interfaces)))...)
	b = append(b, u2s(s.interfaces...)...)
	for _, members := range [][]memberSource{s.fields, s.methods} {
		b = append(b, u2s(uint16(len(members)))...)
		for _, m := range members {
			b = m.append(b)
		}
	}
	return append(appendAttributes(b, s.attributes), s.tail...)
}

func (m memberSource) append(b []byte) []byte {
	return appendAttributes(append(b, u2s(m.access, m.name, m.descriptor)...), m.attributes)
}

func appendAttributes(b []byte, table []attributeSource) []byte {
	b = append(b, u2s(uint16(len(table)))...)
	for _, a := range table {
		b = append(b, u2s(a.name)...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(a.info)))
		b = append(b, a.info...)
	}
	return b
}

// codeInfo is the info of a Code attribute; handlers are exception table rows.
func codeInfo(maxStack, maxLocals uint16, bytecode []byte, handlers [][4]uint16, attributes ...attributeSource) []byte {
	b := u2s(maxStack, maxLocals)
	b = binary.BigEndian.AppendUint32(b, uint32(len(bytecode)))
	b = append(b, bytecode...)
	b = append(b, u2s(uint16(len(handlers)))...)
	for _, h := range handlers {
		b = append(b, u2s(h[:]...)...)
	}
	return appendAttributes(b, attributes)
}

func u2s(values ...uint16) []byte {
	b := make([]byte, 0, 2*len(values))
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

// everything is a class with each kind of constant, two interfaces, a field and three methods, of which the
// last two have no code and two attributes.
func everything() *source {
	s := newSource()
	name, descriptor := s.utf8("run"), s.utf8("()V")
	nameAndType := s.refer(classfile.TagNameAndType, name, descriptor)
	s.constant(classfile.TagInteger, 0xFF, 0xFF, 0xFF, 0xFE)
	s.constant(classfile.TagFloat, 0x3F, 0x80, 0, 0)
	s.wide(classfile.TagLong, 1<<40)
	s.wide(classfile.TagDouble, 0x3FF0000000000000)
	s.refer(classfile.TagString, name)
	s.refer(classfile.TagFieldref, s.this, nameAndType)
	method := s.refer(classfile.TagMethodref, s.this, nameAndType)
	s.refer(classfile.TagInterfaceMethodref, s.super, nameAndType)
	s.constant(classfile.TagMethodHandle, append([]byte{6}, u2s(method)...)...)
	s.refer(classfile.TagMethodType, descriptor)
	s.refer(classfile.TagDynamic, 0, nameAndType)
	s.refer(classfile.TagInvokeDynamic, 1, nameAndType)
	s.refer(classfile.TagModule, name)
	s.refer(classfile.TagPackage, name)
	code, lines, field, deprecated := s.utf8("Code"), s.utf8("LineNumberTable"), s.utf8("f"), s.utf8("Deprecated")
	own := s.utf8("com.example.Own")
	s.interfaces = []uint16{s.class("a/I"), s.class("a/J")}
	s.fields = []memberSource{{classfile.AccStatic, field, s.utf8("J"), []attributeSource{{deprecated, nil}}}}
	s.methods = []memberSource{
		{classfile.AccPublic, name, descriptor, []attributeSource{
			{own, []byte("before")},
			{code, codeInfo(1, 2, []byte{0x01, 0xB0}, [][4]uint16{{0, 1, 1, 0}}, attributeSource{lines, u2s(1, 0, 7)})},
			{own, nil},
		}},
		{classfile.AccAbstract, field, descriptor, []attributeSource{{deprecated, nil}, {own, []byte{0}}}},
		{classfile.AccNative, code, descriptor, nil},
	}
	s.attributes = []attributeSource{{own, []byte{1, 2, 3}}, {deprecated, nil}}
	return s
}

func parse(t testing.TB, data []byte) *classfile.Class {
	t.Helper()
	c := assembly.Parse(t, data)
	return c
}
