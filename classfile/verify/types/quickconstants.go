package types

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// operand returns the constant of the instruction at a position, nil if it must not use that. For invokeinterface and
// invokedynamic it does not look at the bytes that follow the index.
func (m *method) operand(pc int) *constant {
	in := m.code.Bytecode[pc : pc+sizeWithConstant]
	if i := int(in[1])<<8 | int(in[2]); i < len(m.constants) {
		if c := &m.constants[i]; c.allowed>>((in[0]-m.firstAllowed)&31)&1 != 0 {
			return c
		}
	}
	return m.admit(pc)
}

// admit is operand for a constant that no such instruction has used before.
func (m *method) admit(pc int) *constant {
	in := m.code.Bytecode[pc:]
	op, c := code.Op(in[0]), m.constant(u2(in[1:]))
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
	c.allowed |= m.allowedBit(op)
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

// accessField applies an access to a field.
func (m *method) accessField(pc int) bool {
	c := m.operand(pc)
	if c == nil {
		return false
	}
	op, base := code.Op(m.code.Bytecode[pc]), len(m.stack)
	isPut := op == code.Putstatic || op == code.Putfield
	second, two := c.value.secondWord()
	if isPut {
		if two {
			if base--; base < 0 || m.stack[base] != second {
				return false
			}
		}
		if base--; base < 0 || m.stack[base] != c.value && !m.fits(m.stack[base], c.value) {
			return false
		}
	}
	if op >= code.Getfield {
		if base--; base < 0 || !m.isObjectOf(m.stack[base], c) {
			return false
		}
	}
	if isPut {
		m.stack = m.stack[:base]
		return true
	}
	return m.pushOnto(base, c.value)
}

// pushOnto pushes a value onto the lowest words of the stack, if there is room; tTop stands for no value.
func (m *method) pushOnto(base int, t vtype) bool {
	second, two := t.secondWord()
	switch {
	case t == tTop:
		m.stack = m.stack[:base]
		return true
	case base >= cap(m.stack) || two && base+1 >= cap(m.stack):
		return false
	}
	if m.stack = append(m.stack[:base], t); two {
		m.stack = append(m.stack, second)
	}
	return true
}

// loadConstant applies ldc, ldc_w or ldc2_w, unless the constant is a Dynamic.
func (m *method) loadConstant(pc int) bool {
	bytecode := m.code.Bytecode
	op, i := code.Op(bytecode[pc]), int(bytecode[pc+1])
	if op != code.Ldc {
		i = i<<8 | int(bytecode[pc+2])
	}
	if i < len(m.constants) && op != code.Ldc2W {
		if t := m.constants[i].loaded; t != tTop && len(m.stack) < cap(m.stack) {
			m.stack = append(m.stack, t)
			return true
		}
	}
	want := wideKinds
	if op != code.Ldc2W {
		want = m.loadable()
	}
	c := m.constant(uint16(i))
	if !want.has(c.tag) || c.tag == classfile.TagDynamic {
		return false
	}
	t := m.loadedConstant(c)
	if op == code.Ldc2W {
		return m.pushOnto(len(m.stack), t)
	}
	c.loaded = t
	if len(m.stack) >= cap(m.stack) {
		return false
	}
	m.stack = append(m.stack, t)
	return true
}

// isObjectOf reports whether a member that c names can be accessed through an object.
func (m *method) isObjectOf(object vtype, c *constant) bool {
	return references.has(object) && (object == c.class || m.fits(object, c.class)) &&
		(object == m.thisType || !m.isProtected(c) || m.assignableToThis(object))
}

// call applies the call of a method.
func (m *method) call(pc int) bool {
	c := m.operand(pc)
	if c == nil {
		return false
	}
	words := c.method.words
	base := len(m.stack) - len(words)
	if base < 0 {
		return false
	}
	for i, t := range words {
		if got := m.stack[base+i]; got != t && !(t == m.object && references.has(got)) && !m.fits(got, t) {
			return false
		}
	}
	bytecode := m.code.Bytecode
	op := code.Op(bytecode[pc])
	if op != code.Invokestatic && op != code.Invokedynamic {
		if base--; base < 0 {
			return false
		}
	}
	switch op {
	case code.Invokevirtual:
		if !m.isObjectOf(m.stack[base], c) {
			return false
		}
	case code.Invokeinterface:
		if got := m.stack[base]; int(bytecode[pc+3]) != len(words)+1 || bytecode[pc+4] != 0 || !references.has(got) ||
			got != c.class && !m.fits(got, c.class) {
			return false
		}
	case code.Invokedynamic:
		if u2(bytecode[pc+3:]) != 0 {
			return false
		}
	case code.Invokespecial:
		if c.name == "<init>" {
			return m.initialise(c, base)
		}
		if m.stack[base] != m.thisType || m.inferring && !m.inferAssignable(m.thisType, c.class) {
			return false
		}
	}
	if t := c.method.result; t == tTop || !halves.has(t) && base < cap(m.stack) {
		if m.stack = m.stack[:base]; t != tTop {
			m.stack = append(m.stack, t)
		}
		return true
	}
	return m.pushOnto(base, c.method.result)
}

// initialise applies the call of a constructor. The object is the word at index base of the stack, with all arguments
// above it: this, or one that a new made. For type checking, the state is compared with the handlers that cover the
// call before and after it.
func (m *method) initialise(c *constant, base int) bool {
	object, now := m.stack[base], c.class
	switch {
	case c.method.result != tTop:
		return false
	case object == tUninitializedThis:
		if m.inferring || m.isCovered || c.class != m.thisType && m.name(c.class) != m.class.SuperName() {
			return false
		}
		now = m.thisType
		m.thisUninitialized = false
	case object.kind() != kindUninitialized || !m.isMade(object, c.class) || m.isProtected(c):
		return false
	}
	m.stack = m.stack[:base]
	for i, t := range m.stack {
		if t == object {
			m.stack[i] = now
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
	return true
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
func (m *method) makeNew(pc int) bool {
	if m.operand(pc) == nil {
		return false
	}
	made := uninitialized(pc)
	if m.inferring && (slices.Contains(m.stack, made) || slices.Contains(m.locals[:m.used], made)) {
		return false
	}
	return m.pushOnto(len(m.stack), made)
}

// makeArray applies newarray or anewarray.
func (m *method) makeArray(kind quickKind, pc int) bool {
	top := len(m.stack) - 1
	if top < 0 || m.stack[top] != tInt {
		return false
	}
	if kind == quickNewarray {
		component := m.code.Bytecode[pc+1]
		if component < 4 || component > 11 {
			return false
		}
		m.stack[top] = m.loadedType(loadedArrays + int(component) - 4)
		return true
	}
	c := m.operand(pc)
	if c == nil {
		return false
	}
	if c.value == tTop {
		c.value = m.arrayWith(c.class)
	}
	m.stack[top] = c.value
	return true
}

// cast applies checkcast or instanceof.
func (m *method) cast(kind quickKind, pc int) bool {
	c, top := m.operand(pc), len(m.stack)-1
	if c == nil || top < 0 || !references.has(m.stack[top]) {
		return false
	}
	if m.stack[top] = tInt; kind == quickCheckcast {
		m.stack[top] = c.class
	}
	return true
}
