package types

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// trait is a property of an opcode that the passes over the code test first. Most opcodes have none.
type trait uint8

const (
	constrained trait = 1 << iota // checkConstraints has something to check
	branching                     // it has branch targets
	storing                       // a local variable is written
	local                         // a local variable is read or written
)

// traits has a row for each opcode. For wide, traitsOf returns the row of the instruction that it widens.
var traits = func() (rows [code.JsrW + 1]trait) {
	for o := range rows {
		op := code.Op(o)
		t := &rows[o]
		switch op.Operand() {
		case code.OperandNone, code.OperandByte, code.OperandShort:
		case code.OperandBranch, code.OperandBranchW, code.OperandTableSwitch, code.OperandLookupSwitch:
			*t |= constrained | branching
		default:
			*t |= constrained
		}
		if op >= code.Istore && op <= code.Astore || op >= code.Istore0 && op <= code.Astore3 {
			*t |= storing
		}
		if op.Operand() == code.OperandLocal || op == code.Iinc || op >= code.Iload0 && op <= code.Aload3 ||
			*t&storing != 0 {
			*t |= local | constrained
		}
		if op == code.Newarray {
			*t |= constrained
		}
	}
	return rows
}()

// traitsOf returns the traits of an instruction.
func traitsOf(in code.Instruction) trait {
	if in.Op == code.Wide {
		return traits[in.U1(0)]
	}
	return traits[in.Op]
}

// checkConstraints checks what must hold for an instruction whatever the types are (JVMS 4.9.1).
func (m *method) checkConstraints(in code.Instruction, t trait) {
	if t&local != 0 {
		index, _ := in.Local()
		m.checkLocal(in, index)
		return
	}
	if in.Op < firstWithConstant || in.Op > lastWithConstant || in.Size != sizeWithConstant {
		m.checkOperandsOf(in)
		return
	}
	// A constant that one instruction may use, every other of the same kind may use.
	c, bit := m.constant(in.Constant()), m.allowedBit(in.Op)
	if c.allowed&bit != 0 {
		return
	}
	if m.checkOperandsOf(in); !m.failed() {
		c.allowed |= bit
	}
}

// The instructions from getstatic to instanceof that have three bytes consist of an opcode and a constant.
const (
	firstWithConstant, lastWithConstant = code.Getstatic, code.Instanceof
	sizeWithConstant                    = 3
)

// checkOperandsOf is checkConstraints for an instruction that neither reads nor writes a local variable.
func (m *method) checkOperandsOf(in code.Instruction) {
	switch op := in.Op; op {
	case code.Ldc, code.LdcW:
		m.checkLoadable(in.Constant())
	case code.Ldc2W:
		c := m.constantOf(in.Constant(), wideKinds)
		if _, two := c.value.secondWord(); c.tag == classfile.TagDynamic && !two {
			m.fail(ruleInstructions, "a constant of two words", c.descriptor)
		}
	case code.Getstatic, code.Putstatic, code.Getfield, code.Putfield:
		c := m.constantOf(in.Constant(), 1<<classfile.TagFieldref)
		if !m.failed() && op >= code.Getfield && m.isArray(c.class) && !m.inferring {
			m.fail(ruleInstructions, "a field of a class", m.describe(c.class))
		}
	case code.Invokevirtual, code.Invokespecial, code.Invokestatic, code.Invokeinterface, code.Invokedynamic:
		m.checkInvoke(in)
	case code.New, code.Anewarray, code.Checkcast, code.Instanceof, code.Multianewarray:
		if c := m.constantOf(in.Constant(), classKind); !m.failed() {
			m.checkClassOperand(in, c.class)
		}
	case code.Newarray:
		if t := in.U1(0); t < 4 || t > 11 {
			m.fail(ruleInstructions, "an array type from 4 to 11", fmt.Sprint(t))
		}
	case code.Tableswitch, code.Lookupswitch:
		m.checkSwitch(in)
	case code.Jsr, code.JsrW, code.Ret:
		if !m.inferring {
			m.fail(ruleInstructions, "no "+op.String()+" from class file version 51 on", "one")
		}
	}
	if m.inferring {
		for target := range in.Targets() {
			if !m.isStart(target) {
				m.fail(ruleInstructions, "an instruction at the branch target", fmt.Sprintf("none at %d", target))
			}
		}
	}
}

// localTypes are the types of the five load and store instructions, in the order of their opcodes. tNull stands for any
// reference.
var localTypes = [...]vtype{tInt, tLong, tFloat, tDouble, tNull}

// localAccess decodes a load, store, iinc or ret, also one that wide widens. It returns the plain instruction (iload
// for iload_2) and the type that it moves.
func localAccess(in code.Instruction) (op code.Op, t vtype) {
	op = in.Op
	if op == code.Wide {
		op = code.Op(in.U1(0))
	}
	switch {
	case op >= code.Iload0 && op <= code.Aload3:
		op = code.Iload + (op-code.Iload0)/4
	case op >= code.Istore0 && op <= code.Astore3:
		op = code.Istore + (op-code.Istore0)/4
	}
	switch {
	case op >= code.Iload && op <= code.Aload:
		return op, localTypes[op-code.Iload]
	case op >= code.Istore && op <= code.Astore:
		return op, localTypes[op-code.Istore]
	}
	return op, tInt
}

// checkLocal checks that the local variable of an instruction is below max_locals.
func (m *method) checkLocal(in code.Instruction, index int) {
	op, t := localAccess(in)
	if op == code.Ret && !m.inferring {
		m.fail(ruleInstructions, "no ret from class file version 51 on", "one")
	}
	last := index
	if _, two := t.secondWord(); two {
		last++
	}
	if last >= int(m.code.MaxLocals) {
		m.fail(ruleInstructions, fmt.Sprintf("a local below max_locals %d", m.code.MaxLocals), fmt.Sprint(last))
	}
}

// The kinds of constants that ldc, ldc_w and ldc2_w load (JVMS 4.9.1, table 5.1-A): oldKinds in every version,
// classKind from version 49 on, newKinds from 51 and 55 on.
const (
	oldKinds  kinds = 1<<classfile.TagInteger | 1<<classfile.TagFloat | 1<<classfile.TagString
	newKinds  kinds = 1<<classfile.TagMethodHandle | 1<<classfile.TagMethodType | 1<<classfile.TagDynamic
	wideKinds kinds = 1<<classfile.TagLong | 1<<classfile.TagDouble | 1<<classfile.TagDynamic
	classKind kinds = 1 << classfile.TagClass

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

// checkLoadable checks the constant of ldc or ldc_w (JVMS 4.9.1, table 5.1-A).
func (m *method) checkLoadable(i uint16) {
	c := m.constantOf(i, m.loadable())
	if _, two := c.value.secondWord(); c.tag == classfile.TagDynamic && two {
		m.fail(ruleInstructions, "a constant of one word", c.descriptor)
	}
}

// checkClassOperand checks the class of an instruction that names one.
func (m *method) checkClassOperand(in code.Instruction, class vtype) {
	dimensions, _ := m.dimensions(class)
	const maxDimensions = 255
	switch in.Op {
	case code.New:
		if dimensions > 0 {
			m.fail(ruleInstructions, "a class", m.describe(class))
		}
	case code.Anewarray:
		if dimensions >= maxDimensions {
			m.fail(ruleInstructions, "an array of at most 255 dimensions", m.describe(class)+"[]")
		}
	case code.Multianewarray:
		if n := in.U1(2); n == 0 || n > dimensions {
			m.fail(ruleInstructions, "from 1 to as many dimensions as "+m.describe(class)+" has", fmt.Sprint(n))
		}
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

// checkInvoke checks the constant of a call and the operands that follow it.
func (m *method) checkInvoke(in code.Instruction) {
	c := m.invoked(in)
	if m.failed() {
		return
	}
	switch {
	case in.Op == code.Invokeinterface && in.U1(2) != len(c.method.words)+1:
		m.fail(ruleInstructions, fmt.Sprintf("a count of %d", len(c.method.words)+1), fmt.Sprint(in.U1(2)))
	case in.Op == code.Invokeinterface && in.U1(3) != 0, in.Op == code.Invokedynamic && in.U2(2) != 0:
		m.fail(ruleInstructions, "zero in the last operand bytes", "other bytes")
	case c.name[0] == '<' && (in.Op != code.Invokespecial || c.name != "<init>"):
		m.fail(ruleInstructions, "no call of "+c.name+" by "+in.Op.String(), "one")
	case in.Op == code.Invokespecial && c.name != "<init>":
		m.checkSpecialOwner(c)
	}
}

// invoked returns the method reference of a call, which must be of a kind that the call may use.
func (m *method) invoked(in code.Instruction) *constant {
	i := in.Constant()
	switch in.Op {
	case code.Invokeinterface:
		return m.constantOf(i, interfaceKind)
	case code.Invokedynamic:
		return m.constantOf(i, 1<<classfile.TagInvokeDynamic)
	case code.Invokespecial, code.Invokestatic:
		if m.major >= majorJava8 {
			return m.constantOf(i, 1<<classfile.TagMethodref|1<<classfile.TagInterfaceMethodref)
		}
	}
	return m.constantOf(i, 1<<classfile.TagMethodref)
}

// checkSpecialOwner checks the owner of a method other than <init> that invokespecial calls: it must be the class
// itself, a superclass or a direct superinterface (JVMS 4.9.1).
func (m *method) checkSpecialOwner(c *constant) {
	owner := m.name(c.class)
	if c.class == m.thisType || owner == m.class.SuperName() {
		return
	}
	if m.inferring {
		if found, complete := m.inSupers(c.class); !found && complete {
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
