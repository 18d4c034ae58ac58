package code_test

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
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
}

// The constants that every assembled has, by index. Others follow.
const (
	classT      = 2  // Class T
	classObject = 4  // Class java/lang/Object
	superInit   = 8  // Methodref java/lang/Object.<init>()V
	thisInit    = 11 // Methodref T.<init>(I)V
	callVoid    = 14 // Methodref T.f()V
	callWide    = 17 // Methodref T.f(JD)J
	fieldInt    = 20 // Fieldref T.f of type I
)

// sample assembles the method and returns it parsed.
func (a assembled) sample(t testing.TB) sample {
	t.Helper()
	var p assembly.Constants
	p.ClassIndex("T")
	p.ClassIndex("java/lang/Object")
	p.Methodref("java/lang/Object", "<init>", "()V")
	p.Methodref("T", "<init>", "(I)V")
	p.Methodref("T", "f", "()V")
	p.Methodref("T", "f", "(JD)J")
	p.Fieldref("T", "f", "I")
	info := assembly.U2(a.maxStack, a.maxLocals)
	info = binary.BigEndian.AppendUint32(info, uint32(len(a.bytecode)))
	info = append(append(info, a.bytecode...), u2s(len(a.handlers)/8)...)
	info = append(append(info, a.handlers...), u2s(len(a.attributes))...)
	for _, name := range sortedKeys(a.attributes) {
		info = append(info, p.AttributeInfo(assembly.Attribute{Name: name, Info: a.attributes[name]})...)
	}
	method := assembly.U2(a.access, p.Utf8(cmp.Or(a.name, "f")), p.Utf8(cmp.Or(a.descriptor, "()V")), 1)
	method = append(method, p.AttributeInfo(assembly.Attribute{Name: "Code", Info: info})...)
	data := slices.Concat([]byte{0xCA, 0xFE, 0xBA, 0xBE}, assembly.U2(0, cmp.Or(a.major, 52), p.Count), p.Pool,
		assembly.U2(classfile.AccPublic, classT, classObject, 0, 0, 1), method, []byte{0, 0})
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
