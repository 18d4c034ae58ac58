package code_test

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// assembled describes one method of a class T extends java/lang/Object.
type assembled struct {
	major      uint16
	access     uint16
	name       string // "" is f
	descriptor string // "" is ()V
	maxStack   uint16
	maxLocals  uint16
	bytecode   []byte
	handlers   []byte // exception table rows
	attributes map[string][]byte
	classes    []string // Class constants, at firstClass and every second index behind it
}

// The constants that every assembled has, by index. Others follow.
const (
	classT      = 2  // Class T
	classObject = 4  // Class java/lang/Object
	superInit   = 7  // Methodref java/lang/Object.<init>()V
	thisInit    = 11 // Methodref T.<init>(I)V
	callVoid    = 14 // Methodref T.f()V
	callWide    = 17 // Methodref T.f(JD)J
	firstClass  = 19 // the first of assembly.classes
	fieldInt    = 20 // Fieldref T.f of type I, if there are no classes
)

// sample assembles the method and returns it parsed.
func (a assembled) sample(t testing.TB) sample {
	t.Helper()
	var pool []byte
	count := uint16(1)
	add := func(tag classfile.Tag, info ...byte) uint16 {
		pool = append(append(pool, byte(tag)), info...)
		count++
		return count - 1
	}
	utf8 := func(s string) uint16 { return add(classfile.TagUtf8, append(u2s(len(s)), s...)...) }
	refer := func(tag classfile.Tag, operands ...int) uint16 { return add(tag, u2s(operands...)...) }
	utf8("T")
	refer(classfile.TagClass, 1)
	utf8("java/lang/Object")
	refer(classfile.TagClass, 3)
	init := int(utf8("<init>"))
	void := int(utf8("()V"))
	add(classfile.TagMethodref, u2s(classObject, 8)...)
	refer(classfile.TagNameAndType, init, void)
	utf8("(I)V")
	refer(classfile.TagNameAndType, init, 9)
	refer(classfile.TagMethodref, classT, 10)
	f := int(utf8("f"))
	refer(classfile.TagNameAndType, f, void)
	refer(classfile.TagMethodref, classT, 13)
	utf8("(JD)J")
	refer(classfile.TagNameAndType, f, 15)
	refer(classfile.TagMethodref, classT, 16)
	for _, class := range a.classes {
		refer(classfile.TagClass, int(utf8(class)))
	}
	refer(classfile.TagNameAndType, f, int(utf8("I")))
	refer(classfile.TagFieldref, classT, int(count)-1)
	name, descriptor := a.name, a.descriptor
	if name == "" {
		name = "f"
	}
	if descriptor == "" {
		descriptor = "()V"
	}
	nameIndex, descriptorIndex, codeIndex := int(utf8(name)), int(utf8(descriptor)), int(utf8("Code"))

	info := u2s(int(a.maxStack), int(a.maxLocals))
	info = binary.BigEndian.AppendUint32(info, uint32(len(a.bytecode)))
	info = append(info, a.bytecode...)
	info = append(info, u2s(len(a.handlers)/8)...)
	info = append(info, a.handlers...)
	info = append(info, u2s(len(a.attributes))...)
	for _, attribute := range sortedKeys(a.attributes) {
		info = append(info, u2s(int(utf8(attribute)))...)
		info = binary.BigEndian.AppendUint32(info, uint32(len(a.attributes[attribute])))
		info = append(info, a.attributes[attribute]...)
	}
	major := a.major
	if major == 0 {
		major = 52
	}
	data := append([]byte{0xCA, 0xFE, 0xBA, 0xBE}, u2s(0, int(major), int(count))...)
	data = append(data, pool...)
	data = append(data, u2s(classfile.AccPublic, classT, classObject, 0, 0, 1, int(a.access), nameIndex,
		descriptorIndex, 1, codeIndex)...)
	data = binary.BigEndian.AppendUint32(data, uint32(len(info)))
	data = append(append(data, info...), 0, 0)
	methods := methodsOf(t, t.Name(), data)
	if len(methods) != 1 {
		t.Fatalf("%d methods", len(methods))
	}
	return methods[0]
}

// asm returns a code array made of parts: an Op is one byte, an int two bytes, a byte and a []byte are themselves.
func asm(parts ...any) (bytecode []byte) {
	for _, part := range parts {
		switch part := part.(type) {
		case code.Op:
			bytecode = append(bytecode, byte(part))
		case int:
			bytecode = append(bytecode, u2s(part)...)
		case byte:
			bytecode = append(bytecode, part)
		case []byte:
			bytecode = append(bytecode, part...)
		default:
			panic(part)
		}
	}
	return bytecode
}

func nops(n int) []byte { return make([]byte, n) }

func u2s(values ...int) []byte {
	b := make([]byte, 0, 2*len(values))
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func sortedKeys(m map[string][]byte) []string { return slices.Sorted(maps.Keys(m)) }
