package types

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// operand returns the constant of the instruction at a position, nil if it must not use that. For invokeinterface and
// invokedynamic it does not look at the bytes that follow the index.
func (m *method) operand(pc int) *constant {
	in := m.code.Bytecode[pc:]
	op, i := code.Op(in[0]), int(u2(in[1:]))
	if i < len(m.constants) {
		if c := &m.constants[i]; c.allowed[m.way()]>>(op-firstWithConstant)&1 != 0 {
			return c
		}
	}
	return m.admit(op, pc)
}

// way is the index in constant.allowed.
func (m *method) way() int {
	if m.inferring {
		return 1
	}
	return 0
}

// admit is operand for a constant that no such instruction has used before.
func (m *method) admit(op code.Op, pc int) *constant {
	c := m.constant(u2(m.code.Bytecode[pc+1:]))
	if !m.admits(op, c) {
		m.pc = pc
		in, err := code.At(m.code.Bytecode, pc)
		if err != nil {
			return nil
		}
		if m.checkConstraints(in, traits[op]); m.failed() {
			return nil
		}
	}
	c.allowed[m.way()] |= 1 << (op - firstWithConstant)
	return c
}

// admits is a quick test before checkConstraints, which finds no fault of the constant if it returns true.
func (m *method) admits(op code.Op, c *constant) bool {
	switch op {
	case code.Getstatic, code.Putstatic:
		return c.tag == classfile.TagFieldref
	case code.Getfield, code.Putfield:
		return c.tag == classfile.TagFieldref && !m.isArray(c.class)
	case code.Invokevirtual, code.Invokestatic:
		return c.tag == classfile.TagMethodref && c.name[0] != '<'
	case code.Invokespecial:
		return c.tag == classfile.TagMethodref && c.name == "<init>"
	case code.Invokeinterface:
		return c.tag == classfile.TagInterfaceMethodref && c.name[0] != '<'
	case code.Invokedynamic:
		return c.tag == classfile.TagInvokeDynamic && c.name[0] != '<'
	case code.New, code.Anewarray:
		return c.tag == classfile.TagClass && !m.isArray(c.class)
	case code.Checkcast, code.Instanceof:
		return c.tag == classfile.TagClass
	}
	return false
}

// areOn reports whether words of the stack can be assigned to the words of values of these types.
func (m *method) areOn(words, want []vtype) bool {
	if len(words) != len(want) {
		return false
	}
	for i, got := range words {
		if t := want[i]; got != t && !(t == m.object && references.has(got)) && !m.fits(got, t) {
			return false
		}
	}
	return true
}

// accessField applies an access to a field. base is where its operands begin on the stack.
func (m *method) accessField(pc int, stack []vtype, top int) int {
	c := m.operand(pc)
	if c == nil {
		return refused
	}
	op, base := code.Op(m.code.Bytecode[pc]), top
	isPut := op == code.Putstatic || op == code.Putfield
	if isPut {
		var value [2]vtype
		words := appendWords(value[:0], c.value)
		if base -= len(words); base < 0 || !m.areOn(stack[base:top], words) {
			return refused
		}
	}
	if op >= code.Getfield {
		if base--; base < 0 || !m.isObjectOf(stack[base], c) {
			return refused
		}
	}
	if isPut {
		return base
	}
	return pushValue(c.value, stack, base)
}

// isObjectOf reports whether a member that c names can be accessed through an object.
func (m *method) isObjectOf(object vtype, c *constant) bool {
	return references.has(object) && (object == c.class || m.fits(object, c.class)) &&
		(object == m.thisType || !m.isProtected(c) || m.assignableToThis(object))
}

// call applies the call of a method.
func (m *method) call(pc int, stack []vtype, top int) int {
	c := m.operand(pc)
	if c == nil {
		return refused
	}
	in, base := m.code.Bytecode[pc:], top-len(c.method.words)
	if base < 0 || !m.areOn(stack[base:top], c.method.words) {
		return refused
	}
	op := code.Op(in[0])
	if op != code.Invokestatic && op != code.Invokedynamic {
		if base--; base < 0 {
			return refused
		}
	}
	switch op {
	case code.Invokevirtual:
		if !m.isObjectOf(stack[base], c) {
			return refused
		}
	case code.Invokeinterface:
		if int(in[3]) != len(c.method.words)+1 || in[4] != 0 || !references.has(stack[base]) ||
			stack[base] != c.class && !m.fits(stack[base], c.class) {
			return refused
		}
	case code.Invokedynamic:
		if u2(in[3:]) != 0 {
			return refused
		}
	case code.Invokespecial:
		if c.name == "<init>" {
			return m.initialise(c, stack, base)
		}
		if stack[base] != m.thisType || m.inferring && !m.inferAssignable(m.thisType, c.class) {
			return refused
		}
	}
	return pushValue(c.method.result, stack, base)
}

// initialise applies the call of a constructor. The object is the word at index base of the stack, with all arguments
// above it: this, or one that a new made. For type checking, the state is compared with the handlers that cover the
// call before and after it.
func (m *method) initialise(c *constant, stack []vtype, base int) int {
	object, now := stack[base], c.class
	switch {
	case c.method.result != tTop:
		return refused
	case object == tUninitializedThis:
		if m.inferring || m.isCovered || c.class != m.thisType && m.name(c.class) != m.class.SuperName() {
			return refused
		}
		now = m.thisType
		m.thisUninitialized = false
	case object.kind() != kindUninitialized || !m.isMade(object, c.class) || m.isProtected(c):
		return refused
	}
	for i, t := range stack[:base] {
		if t == object {
			stack[i] = now
		}
	}
	for i, t := range m.locals[:m.used] {
		if t == object {
			m.locals[i], m.stored = now, true
		}
	}
	if m.stored && m.isCovered && !m.inferring && !m.fitsCovering() {
		m.gaveUp = true
	}
	return base
}

// isMade reports whether the new that made the object names that class.
func (m *method) isMade(object, class vtype) bool {
	made := m.code.Bytecode[object.index():]
	if len(made) < sizeWithConstant || code.Op(made[0]) != code.New || int(u2(made[1:])) >= len(m.constants) {
		return false
	}
	c := &m.constants[u2(made[1:])]
	return c.resolved && c.tag == classfile.TagClass && c.class == class
}

// makeNew applies a new. Inference demands that an older object of the same new is gone.
func (m *method) makeNew(pc int, stack []vtype, top int) int {
	if m.operand(pc) == nil {
		return refused
	}
	made := uninitialized(pc)
	if m.inferring && (slices.Contains(stack[:top], made) || slices.Contains(m.locals[:m.used], made)) {
		return refused
	}
	return pushValue(made, stack, top)
}

// makeArray applies newarray or anewarray.
func (m *method) makeArray(kind quickKind, pc int, stack []vtype, top int) int {
	if top == 0 || stack[top-1] != tInt {
		return refused
	}
	if kind == quickNewarray {
		component := m.code.Bytecode[pc+1]
		if component < 4 || component > 11 {
			return refused
		}
		stack[top-1] = m.loadedType(loadedArrays + int(component) - 4)
		return top
	}
	c := m.operand(pc)
	if c == nil {
		return refused
	}
	if c.value == tTop {
		c.value = m.arrayWith(c.class)
	}
	stack[top-1] = c.value
	return top
}
