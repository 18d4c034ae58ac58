package crafted

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// Class writes a class file that no compiler would write, or not of this size: Major is its version, Access, Name and
// Super and Interfaces (in internal form), Fields and Methods are written as they are.
type Class struct {
	Major, Access uint16
	Name, Super   string
	Interfaces    []string
	Fields        []Field
	Methods       []Method
	Attributes    []Attribute // of the class, such as BootstrapMethods
	assembly.Constants
}

// Field is a field_info (JVMS 4.5) of a [Class], without attributes: Access, Name and Descriptor are written as they
// are.
type Field struct {
	Access           uint16
	Name, Descriptor string
}

// Method is a method_info (JVMS 4.6) of a [Class]: Access, Name and Descriptor, and the Code attribute (JVMS 4.7.3)
// with MaxStack, MaxLocals, Code and Handlers. Without Code, it has no Code attribute.
type Method struct {
	Access              uint16
	Name, Descriptor    string
	MaxStack, MaxLocals uint16
	Code                []byte
	Handlers            []Handler
	Attributes          []Attribute // inside of Code
}

// Handler is an entry of an exception table: it covers Start up to End, and Catch is the index of a Class, 0 for any
// type.
type Handler struct{ Start, End, Handler, Catch uint16 }

// Bootstrapped returns the index of a Dynamic or InvokeDynamic, of which the class gets the bootstrap method.
func (a *Class) Bootstrapped(tag classfile.Tag, name, descriptor string) uint16 {
	const refInvokeStatic = 6
	handle := a.Constant(classfile.TagMethodHandle, append([]byte{refInvokeStatic},
		U2(a.Methodref("java/lang/Object", "boot", "()V"))...)...)
	a.Attributes = []Attribute{{"BootstrapMethods", U2(1, handle, 0)}}
	return a.Constant(tag, U2(0, a.NameAndType(name, descriptor))...)
}

// Attribute is an attribute of any Name with its Info.
type Attribute struct {
	Name string
	Info []byte
}

// NewClass returns a public class without members.
func NewClass(major uint16, name, super string) *Class {
	return &Class{Major: major, Access: classfile.AccPublic, Name: name, Super: super}
}

// U2 returns the values as big-endian numbers of two bytes.
func U2(values ...uint16) []byte { return assembly.U2(values...) }

// Add adds a method.
func (a *Class) Add(m Method) { a.Methods = append(a.Methods, m) }

// Bytes returns the class file.
func (a *Class) Bytes() []byte {
	body := U2(a.Access, a.ClassIndex(a.Name), a.ClassIndex(a.Super), uint16(len(a.Interfaces)))
	for _, name := range a.Interfaces {
		body = append(body, U2(a.ClassIndex(name))...)
	}
	body = append(body, U2(uint16(len(a.Fields)))...)
	for _, f := range a.Fields {
		body = append(body, U2(f.Access, a.Utf8(f.Name), a.Utf8(f.Descriptor), 0)...)
	}
	body = append(body, U2(uint16(len(a.Methods)))...)
	for _, m := range a.Methods {
		body = append(body, U2(m.Access, a.Utf8(m.Name), a.Utf8(m.Descriptor))...)
		if m.Code == nil {
			body = append(body, 0, 0)
			continue
		}
		info := append(U2(m.MaxStack, m.MaxLocals), binary.BigEndian.AppendUint32(nil, uint32(len(m.Code)))...)
		info = append(append(info, m.Code...), U2(uint16(len(m.Handlers)))...)
		for _, h := range m.Handlers {
			info = append(info, U2(h.Start, h.End, h.Handler, h.Catch)...)
		}
		info = append(info, U2(uint16(len(m.Attributes)))...)
		for _, t := range m.Attributes {
			info = append(info, a.AttributeInfo(t)...)
		}
		body = append(append(body, 0, 1), a.AttributeInfo(Attribute{"Code", info})...)
	}
	body = append(body, U2(uint16(len(a.Attributes)))...)
	for _, t := range a.Attributes {
		body = append(body, a.AttributeInfo(t)...)
	}
	head := append([]byte{0xCA, 0xFE, 0xBA, 0xBE}, U2(0, a.Major, a.Count)...)
	return slices.Concat(head, a.Pool, body)
}

// AttributeInfo returns an attribute_info (JVMS 4.7).
func (a *Class) AttributeInfo(t Attribute) []byte {
	return a.Constants.AttributeInfo(assembly.Attribute(t))
}

// Parse returns the class file, parsed.
func (a *Class) Parse(t testing.TB) *classfile.Class {
	t.Helper()
	c, err := classfile.Parse(a.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	return c
}

// Op returns one instruction.
func Op(o code.Op, operands ...byte) []byte { return append([]byte{byte(o)}, operands...) }

// Branch returns a branch of either width from position pc to target.
func Branch(o code.Op, pc, target int) []byte {
	if o == code.GotoW || o == code.JsrW {
		return binary.BigEndian.AppendUint32(Op(o), uint32(target-pc))
	}
	return Op(o, U2(uint16(target-pc))...)
}

// Nops fills the code with nop up to position to.
func Nops(bytecode []byte, to int) []byte {
	return append(bytecode, make([]byte, to-len(bytecode))...)
}

// Static are the access flags of most crafted methods.
const Static = classfile.AccPublic | classfile.AccStatic

// Frames returns a StackMapTable.
func Frames(entries ...[]byte) Attribute {
	return Attribute{"StackMapTable", append(U2(uint16(len(entries))), slices.Concat(entries...)...)}
}

// SameExtended returns a same_frame_extended (JVMS 4.7.4).
func SameExtended(delta int) []byte { return append([]byte{251}, U2(uint16(delta))...) }
