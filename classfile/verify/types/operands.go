package types

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// sizeWithConstant is the size of an opcode and an index of a constant. Some instructions have more operands.
const sizeWithConstant = 3

// operand returns the constant of the current instruction. It is nil if the instruction must not use it (JVMS 4.9.1),
// or if the type state is unknown. A constant that one instruction may use, every other of the same kind may use.
func (m *method) operand(row *opRow) *constant {
	bytecode, at := m.code.Bytecode, m.pc+1
	i := uint16(bytecode[at])
	if row.size >= sizeWithConstant {
		i = i<<8 | uint16(bytecode[at+1])
	}
	c := m.constant(i)
	if c.allowed&row.bit == 0 {
		if m.checkOperand(row, i); m.failed() {
			return nil
		}
		c.allowed |= row.bit
	}
	if row.size > sizeWithConstant {
		m.checkMoreOperands(row.op, bytecode[m.pc+sizeWithConstant:], c)
	}
	if m.stateUnknown || m.failed() {
		return nil
	}
	return c
}

// checkOperand checks the constant of the current instruction, which has index i.
func (m *method) checkOperand(row *opRow, i uint16) {
	switch row.form {
	case formLdc:
		m.checkLoadable(row.op, i)
	case formField:
		c := m.constantOf(i, fieldKind)
		if !m.failed() && row.op >= code.Getfield && m.isArray(c.class) && !m.inferring {
			m.fail(ruleInstructions, "a field of a class", m.describe(c.class))
		}
	case formInvoke:
		m.checkInvoked(row.op, i)
	default:
		if c := m.constantOf(i, classKind); !m.failed() {
			m.checkClassOperand(row.op, c.class)
		}
	}
}

// checkMoreOperands checks the operands that follow the constant c.
func (m *method) checkMoreOperands(op code.Op, more []byte, c *constant) {
	switch op {
	case code.Invokeinterface:
		if words := int(c.end-c.start) + 1; int(more[0]) != words {
			m.fail(ruleInstructions, fmt.Sprintf("a count of %d", words), fmt.Sprint(more[0]))
		} else if more[1] != 0 {
			m.fail(ruleInstructions, "zero in the last operand bytes", "other bytes")
		}
	case code.Invokedynamic:
		if u2(more) != 0 {
			m.fail(ruleInstructions, "zero in the last operand bytes", "other bytes")
		}
	case code.Multianewarray:
		if dimensions, _ := m.dimensions(c.class); more[0] == 0 || int(more[0]) > dimensions {
			m.fail(ruleInstructions, "from 1 to as many dimensions as "+m.describe(c.class)+" has", fmt.Sprint(more[0]))
		}
	}
}

// The kinds of constants that ldc, ldc_w and ldc2_w load (JVMS 4.9.1, table 5.1-A): oldKinds in every version,
// classKind from version 49 on, newKinds from 51 and 55 on.
const (
	oldKinds  kinds = 1<<classfile.TagInteger | 1<<classfile.TagFloat | 1<<classfile.TagString
	newKinds  kinds = 1<<classfile.TagMethodHandle | 1<<classfile.TagMethodType | 1<<classfile.TagDynamic
	wideKinds kinds = 1<<classfile.TagLong | 1<<classfile.TagDouble | 1<<classfile.TagDynamic
	classKind kinds = 1 << classfile.TagClass

	fieldKind     kinds = 1 << classfile.TagFieldref
	methodKind    kinds = 1 << classfile.TagMethodref
	interfaceKind kinds = 1 << classfile.TagInterfaceMethodref
)

// loadable returns the kinds of constants that ldc and ldc_w load.
func (m *method) loadable() kinds {
	want := oldKinds
	if m.major >= majorJava5 || !m.inferring {
		want |= classKind
	}
	if m.major >= majorIndy || !m.inferring {
		want |= newKinds
	}
	return want
}

// checkLoadable checks the constant of ldc, ldc_w or ldc2_w (JVMS 4.9.1, table 5.1-A).
func (m *method) checkLoadable(op code.Op, i uint16) {
	want, size := m.loadable(), "one word"
	if op == code.Ldc2W {
		want, size = wideKinds, "two words"
	}
	c := m.constantOf(i, want)
	if c.tag == classfile.TagDynamic && c.value.isWide() != (op == code.Ldc2W) {
		_, descriptor := m.nameAndType(c)
		m.fail(ruleInstructions, "a constant of "+size, descriptor)
	}
}

// checkClassOperand checks the class of an instruction that names one.
func (m *method) checkClassOperand(op code.Op, class vtype) {
	dimensions, _ := m.dimensions(class)
	const maxDimensions = 255
	switch {
	case op == code.New && dimensions > 0:
		m.fail(ruleInstructions, "a class", m.describe(class))
	case op == code.Anewarray && dimensions >= maxDimensions:
		m.fail(ruleInstructions, "an array of at most 255 dimensions", m.describe(class)+"[]")
	}
}

// checkSwitch checks the padding and the cases of a switch.
func (m *method) checkSwitch(in code.Instruction) {
	at := (in.PC + 4) &^ 3
	if m.major < majorNoFailover {
		for _, b := range m.code.Bytecode[in.PC+1 : at] {
			if b != 0 {
				m.fail(ruleInstructions, "zero bytes of padding", fmt.Sprintf("%#x", b))
			}
		}
	}
	if in.Op == code.Tableswitch {
		return // low <= high: otherwise the instruction could not be decoded
	}
	word := func(i int) int32 { return int32(binary.BigEndian.Uint32(m.code.Bytecode[at+4*i:])) }
	for i := 1; i < int(word(1)); i++ {
		if word(2*i) >= word(2*i+2) {
			m.fail(ruleInstructions, "cases in ascending order", fmt.Sprintf("%d before %d", word(2*i), word(2*i+2)))
			return
		}
	}
}

// checkInvoked checks the constant of a call.
func (m *method) checkInvoked(op code.Op, i uint16) {
	want := methodKind
	switch op {
	case code.Invokeinterface:
		want = interfaceKind
	case code.Invokedynamic:
		want = 1 << classfile.TagInvokeDynamic
	case code.Invokespecial, code.Invokestatic:
		if m.major >= majorJava8 {
			want |= interfaceKind
		}
	}
	c := m.constantOf(i, want)
	switch {
	case m.failed():
	case c.hasBrackets && (op != code.Invokespecial || !c.isConstructor):
		name, _ := m.nameAndType(c)
		m.fail(ruleInstructions, "no call of "+name+" by "+op.String(), "one")
	case op == code.Invokespecial && !c.isConstructor:
		m.checkSpecialOwner(c)
	}
}

// checkSpecialOwner checks the owner of a method other than <init> that invokespecial calls: it must be the class
// itself, a superclass or a direct superinterface (JVMS 4.9.1).
func (m *method) checkSpecialOwner(c *constant) {
	owner := m.name(c.class)
	if c.class == m.thisType || owner == m.class.SuperName() {
		return
	}
	if m.inferring {
		if m.supersKnown && !m.list[c.class.index()].isSuper {
			m.fail(ruleInstructions, "a method of the class or a superclass", "one of "+owner)
		}
		return
	}
	for _, i := range m.class.Interfaces() {
		if i == owner {
			return
		}
	}
	if !m.assignable(m.thisType, c.class) {
		m.fail(ruleInstructions, "a method of the class, a superclass or a direct superinterface", "one of "+owner)
	} else if m.isIndirectInterface(c) {
		m.fail(ruleInstructions, "a direct superinterface", owner)
	}
}

// isIndirectInterface reports whether the owner of a method, which is no direct superinterface, is an interface.
// HotSpot 17 decides that by the kind of the constant, HotSpot 25 by the class.
func (m *method) isIndirectInterface(c *constant) bool {
	if m.major <= majorSealed {
		return c.tag == classfile.TagInterfaceMethodref
	}
	info := m.lookup(c.class)
	return info != nil && info.isInterface()
}
