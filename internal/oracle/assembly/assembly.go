// Package assembly writes class files for tests from text, also ones that no compiler writes, and prints code in the
// same notation. It has its own knowledge of the layout of a class file (JVMS 4), but takes opcodes from package code,
// which other tests compare with other decoders.
//
// The code of a method is a list of instructions, separated by bars or line ends, with the mnemonics of JVMS 6.5:
//
//	iload_0 | ifeq end | sipush 300 | invokestatic a/B.f(I)V | end: return
//
// A word with a colon is a label of the following instruction, and may be the target of a branch. Fields and methods
// are written as OWNER.NAME followed by the descriptor, with a colon before the descriptor of a field. The operand of
// ldc is an int, a string in quotes, or a class. "nops N" stands for N nops, "byte N" for a byte. There are no switches
// and no invokedynamic.
package assembly

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Class describes a class file. Its zero value is a public class of major version 52 that extends java/lang/Object.
type Class struct {
	Major, Minor uint16      // versions
	Access       uint16      // access_flags
	Name, Super  string      // in internal form; Super "-" is none
	Interfaces   []string    // in internal form
	Methods      []Method    // in class file order
	Constants    int         // Integer constants fill the pool up to this constant_pool_count
	Attributes   []Attribute // of the class
	Enclosing    string      // the method in the attribute EnclosingMethod, as in an invoke instruction; "" for none
}

// Method describes a method. A method without Code has no Code attribute.
type Method struct {
	Access           uint16      // access_flags
	Name, Descriptor string      // as in the pool
	Stack, Locals    uint16      // max_stack and max_locals
	Code             string      // in the notation of the package
	Handlers         []string    // each "START END HANDLER TYPE", the first three labels; TYPE "any" catches all
	Attributes       []Attribute // of the Code
}

// Attribute is an attribute_info (JVMS 4.7).
type Attribute struct {
	Name string // as in the pool
	Info []byte // what follows attribute_length
}

// Bytes returns the class file. It panics if the description is invalid, which only a faulty test can cause.
func (c Class) Bytes() []byte {
	var w writer
	access, major, super := c.Access, c.Major, c.Super
	if access == 0 {
		access = classfile.AccPublic
	}
	if major == 0 {
		major = 52
	}
	body := U2(access, w.ClassIndex(c.Name))
	switch super {
	case "-":
		body = append(body, 0, 0)
	case "":
		super = "java/lang/Object"
		fallthrough
	default:
		body = append(body, U2(w.ClassIndex(super))...)
	}
	body = append(body, U2(uint16(len(c.Interfaces)))...)
	for _, name := range c.Interfaces {
		body = append(body, U2(w.ClassIndex(name))...)
	}
	body = append(body, U2(0, uint16(len(c.Methods)))...)
	for _, m := range c.Methods {
		body = append(body, w.method(m)...)
	}
	if c.Enclosing != "" {
		c.Attributes = append(slices.Clip(c.Attributes), w.enclosing(c.Enclosing))
	}
	body = append(body, w.attributes(c.Attributes)...)
	for i := 0; int(w.Count) < c.Constants; i++ {
		w.Constant(classfile.TagInteger, 0x7f, byte(i>>16), byte(i>>8), byte(i))
	}
	head := append([]byte{0xCA, 0xFE, 0xBA, 0xBE}, U2(c.Minor, major, w.Count)...)
	return slices.Concat(head, w.Pool, body)
}

// Parse returns the class, parsed. It panics if the description is invalid.
func (c Class) Parse() *classfile.Class {
	parsed, err := classfile.Parse(c.Bytes())
	if err != nil {
		panic(err)
	}
	return parsed
}

type writer struct{ Constants }

// enclosing returns the attribute EnclosingMethod (JVMS 4.7.7) with that method.
func (w *writer) enclosing(method string) Attribute {
	owner, rest, _ := strings.Cut(method, ".")
	parameters := strings.IndexByte(rest, '(')
	return Attribute{"EnclosingMethod", U2(w.ClassIndex(owner), w.NameAndType(rest[:parameters], rest[parameters:]))}
}

// ref returns the index of the constant for a method like a/B.f(I)V, with the given tag, or of the Fieldref for a field
// like a/B.f:I.
func (w *writer) ref(tag classfile.Tag, name string) uint16 {
	split := strings.IndexByte(name, '(')
	descriptor := split
	if split < 0 {
		tag, split = classfile.TagFieldref, strings.IndexByte(name, ':')
		descriptor = split + 1
	}
	dot := strings.LastIndexByte(name[:split], '.')
	class, member := w.ClassIndex(name[:dot]), w.Utf8(name[dot+1:split])
	nameAndType := w.Constant(classfile.TagNameAndType, U2(member, w.Utf8(name[descriptor:]))...)
	return w.Constant(tag, U2(class, nameAndType)...)
}

func (w *writer) loadable(operand string) uint16 {
	if s, err := strconv.Unquote(operand); err == nil {
		return w.Constant(classfile.TagString, U2(w.Utf8(s))...)
	}
	if n, err := strconv.ParseInt(operand, 10, 32); err == nil {
		return w.Constant(classfile.TagInteger, binary.BigEndian.AppendUint32(nil, uint32(int32(n)))...)
	}
	return w.ClassIndex(operand)
}

func (w *writer) attributes(list []Attribute) []byte {
	out := U2(uint16(len(list)))
	for _, a := range list {
		out = append(out, w.AttributeInfo(a)...)
	}
	return out
}

func (w *writer) method(m Method) []byte {
	out := U2(m.Access, w.Utf8(m.Name), w.Utf8(m.Descriptor))
	if m.Code == "" {
		return append(out, 0, 0)
	}
	bytecode, labels := w.assemble(m.Code)
	info := binary.BigEndian.AppendUint32(U2(m.Stack, m.Locals), uint32(len(bytecode)))
	info = append(append(info, bytecode...), U2(uint16(len(m.Handlers)))...)
	for _, h := range m.Handlers {
		f := strings.Fields(h)
		catch := uint16(0)
		if f[3] != "any" {
			catch = w.ClassIndex(f[3])
		}
		info = append(info, U2(uint16(position(labels, f[0])), uint16(position(labels, f[1])),
			uint16(position(labels, f[2])), catch)...)
	}
	info = append(info, w.attributes(m.Attributes)...)
	return append(out, w.attributes([]Attribute{{"Code", info}})...)
}

func position(labels map[string]int, label string) int {
	pc, ok := labels[label]
	if !ok {
		panic("no label " + label)
	}
	return pc
}

// assemble reads the text twice, because in the first pass the targets of branches are unknown.
func (w *writer) assemble(text string) (bytecode []byte, labels map[string]int) {
	labels = map[string]int{}
	for pass := range 2 {
		bytecode = nil
		for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == '\n' }) {
			fields := strings.Fields(line)
			for len(fields) > 0 && strings.HasSuffix(fields[0], ":") {
				labels[strings.TrimSuffix(fields[0], ":")] = len(bytecode)
				fields = fields[1:]
			}
			if len(fields) > 0 {
				bytecode = w.instruction(bytecode, fields, labels, pass == 0)
			}
		}
	}
	return bytecode, labels
}

// instruction appends one instruction, or nops.
func (w *writer) instruction(out []byte, fields []string, labels map[string]int, first bool) []byte {
	pc := len(out)
	operand := func(i int) string {
		if i+1 >= len(fields) {
			panic(fmt.Sprintf("%v lacks an operand", fields))
		}
		return fields[i+1]
	}
	number := func(i int) int {
		n, err := strconv.Atoi(operand(i))
		if err != nil {
			panic(err)
		}
		return n
	}
	offset := func() int {
		if first {
			return 0
		}
		return position(labels, operand(0)) - pc
	}
	switch fields[0] {
	case "nops":
		return append(out, make([]byte, number(0))...)
	case "byte":
		return append(out, byte(number(0)))
	}
	op, ok := Opcodes[fields[0]]
	if !ok {
		panic("unknown mnemonic " + fields[0])
	}
	out = append(out, byte(op))
	switch op.Operand() {
	case code.OperandNone:
	case code.OperandByte, code.OperandLocal:
		out = append(out, byte(number(0)))
	case code.OperandIinc:
		out = append(out, byte(number(0)), byte(number(1)))
	case code.OperandShort:
		out = append(out, U2(uint16(number(0)))...)
	case code.OperandConstant:
		out = append(out, byte(w.loadable(operand(0))))
	case code.OperandBranch:
		out = append(out, U2(uint16(offset()))...)
	case code.OperandBranchW:
		out = binary.BigEndian.AppendUint32(out, uint32(offset()))
	case code.OperandConstantW, code.OperandInvoke4:
		out = append(out, U2(w.operand(op, operand(0)))...)
		if op == code.Invokeinterface {
			out = append(out, 1, 0)
		}
	default:
		panic("no notation for " + fields[0])
	}
	return out
}

// operand returns the constant index of an instruction that has a two-byte index.
func (w *writer) operand(op code.Op, text string) uint16 {
	switch {
	case op == code.Invokeinterface:
		return w.ref(classfile.TagInterfaceMethodref, text)
	case op >= code.Getstatic && op < code.Invokeinterface:
		return w.ref(classfile.TagMethodref, text)
	case op == code.LdcW || op == code.Ldc2W:
		return w.loadable(text)
	}
	return w.ClassIndex(text)
}

// Listing returns a method's code as text: instructions in the notation of the package, with positions for labels, and
// then the exception table. Members of the class short are written without the class.
func Listing(c *classfile.Class, m *classfile.Member, short string) string {
	body, ok, err := c.Code(m)
	if err != nil || !ok {
		return fmt.Sprintf("no code: %v", err)
	}
	var lines []string
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			return err.Error()
		}
		lines = append(lines, fmt.Sprintf("%d: %v%s", in.PC, in.Op, operandText(c.ConstantPool(), in, short)))
	}
	for t := body.ExceptionTable; len(t) >= 8; t = t[8:] {
		catch := "any"
		if i := binary.BigEndian.Uint16(t[6:]); i != 0 {
			catch, _ = c.ConstantPool().ClassName(i)
		}
		lines = append(lines, fmt.Sprintf("%d-%d %d %s", binary.BigEndian.Uint16(t), binary.BigEndian.Uint16(t[2:]),
			binary.BigEndian.Uint16(t[4:]), catch))
	}
	return strings.Join(lines, " | ")
}

func operandText(pool *classfile.ConstantPool, in code.Instruction, short string) string {
	if target, ok := in.Branch(); ok {
		return " " + strconv.Itoa(target)
	}
	switch in.Op.Operand() {
	case code.OperandNone:
		return ""
	case code.OperandByte:
		return " " + strconv.Itoa(int(int8(in.U1(0))))
	case code.OperandShort:
		return " " + strconv.Itoa(int(int16(in.U2(0))))
	case code.OperandConstant, code.OperandConstantW, code.OperandInvoke4:
		return " " + constantText(pool, in.Constant(), short)
	}
	return fmt.Sprintf(" %x", in.Bytes()[1:])
}

func constantText(pool *classfile.ConstantPool, index uint16, short string) string {
	if ref, err := pool.Ref(index); err == nil {
		if ref.Class == short {
			return ref.Name
		}
		return ref.Class + "." + ref.Name + ref.Descriptor
	}
	if name, err := pool.ClassName(index); err == nil {
		return name
	}
	if pool.Tag(index) == classfile.TagInteger {
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(pool.Raw(index)))))
	}
	return fmt.Sprintf("#%d", index)
}
