package types

import "strconv"

// typeState is the type state at one point of a method (JVMS 4.10.1.4): a type for each word of the locals and of the
// operand stack.
type typeState struct {
	locals, stack     []vtype
	thisUninitialized bool
	// unset are the fields with ACC_STRICT_INIT that a constructor has not set yet, by their indices in the class. They
	// must be set before it calls a constructor of the superclass (JEP 401). The slice is never changed.
	unset []uint16

	// changed lists the locals that were changed, oldest first. A local that was compared with a frame need not be
	// compared with it again before it changes.
	changed   []uint16
	enteredAt int // length of changed when the last frame was entered

	used        int  // all locals from this index on are top
	initialised bool // whether the current instruction initialised this
}

// push pushes a value, which takes two words if it is a long or double.
func (m *method) push(t vtype) {
	second, two := t.secondWord()
	room := int(m.code.MaxStack) - len(m.stack)
	if room < 1 || two && room < 2 {
		m.fail(ruleTypes, "at most "+strconv.Itoa(int(m.code.MaxStack))+" words on the stack (max_stack)",
			"a push of "+m.describe(t)+" onto "+strconv.Itoa(len(m.stack)))
		return
	}
	m.stack = append(m.stack, t)
	if two {
		m.stack = append(m.stack, second)
	}
}

// pushWord pushes one word that was popped before.
func (m *method) pushWord(t vtype) {
	if len(m.stack) >= int(m.code.MaxStack) {
		m.fail(ruleTypes, "at most "+strconv.Itoa(int(m.code.MaxStack))+" words on the stack (max_stack)", "one more")
		return
	}
	m.stack = append(m.stack, t)
}

// popWord pops one word of any type.
func (m *method) popWord() vtype {
	if len(m.stack) == 0 {
		m.fail(ruleTypes, "a value on the stack", "an empty stack")
		return tTop
	}
	t := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return t
}

// fits reports whether a value of type from can be assigned to type to, by the rules of type checking or of inference.
func (m *method) fits(from, to vtype) bool {
	if m.inferring {
		return m.inferAssignable(from, to)
	}
	return m.assignable(from, to)
}

// pop pops a value that must be assignable to the type want. It returns the type of its first word.
func (m *method) pop(want vtype) vtype {
	if second, two := want.secondWord(); two {
		if got := m.popWord(); got != second && got != tUnknown {
			m.wrongOnStack(m.describe(want), got)
		}
	}
	got := m.popWord()
	if got != want && (m.failed() || !m.fits(got, want)) {
		m.wrongOnStack(m.describe(want), got)
	}
	return got
}

// popReference pops a reference. uninitialized is set if it may be an object that is not initialised.
func (m *method) popReference(uninitialized bool) vtype {
	got := m.popWord()
	if !got.isReference() && !(uninitialized && got.isUninitialized()) && got != tUnknown {
		m.wrongOnStack("a reference", got)
	}
	return got
}

// popOneWord pops a value of category 1.
func (m *method) popOneWord() vtype {
	got := m.popWord()
	if !got.isOneWord() && !(m.inferring && got == tTop) {
		m.wrongOnStack("a value of one word", got)
	}
	return got
}

// popTwoWords pops two values of category 1, or one of category 2.
func (m *method) popTwoWords() (top, below vtype) {
	top = m.popWord()
	if top.isSecondWord() {
		return top, m.popWord()
	}
	if !top.isOneWord() && !(m.inferring && top == tTop) {
		m.wrongOnStack("a value", top)
	}
	if top == tUnknown {
		return top, m.popWord()
	}
	return top, m.popOneWord()
}

func (m *method) wrongOnStack(want string, got vtype) {
	if !m.failed() {
		m.fail(ruleTypes, want+" on the stack", m.describe(got))
	}
}

// load pushes a local variable, which must have the type want; if that is tNull, any reference type.
func (m *method) load(index int, want vtype) {
	got := m.locals[index]
	second, two := want.secondWord()
	switch {
	case got == tUnknown && want != tNull:
	case want == tNull:
		if !got.isReference() && !got.isUninitialized() && got != tUnknown {
			m.wrongLocal(index, "a reference", got)
		}
		m.push(got)
		return
	case got != want:
		m.wrongLocal(index, m.describe(want), got)
	case two && m.locals[index+1] != second:
		m.wrongLocal(index+1, m.describe(second), m.locals[index+1])
	}
	m.push(want)
}

func (m *method) wrongLocal(index int, want string, got vtype) {
	if !m.failed() {
		m.fail(ruleTypes, want+" in local "+strconv.Itoa(index), m.describe(got))
	}
}

// store pops a value of the type want, or of any reference type if that is tNull, into a local variable.
func (m *method) store(index int, want vtype) {
	got := want
	if want != tNull {
		m.pop(want)
	} else if got = m.popWord(); !got.isReference() && !got.isUninitialized() && got != tUnknown &&
		!(m.inferring && got.kind() == kindReturnAddress) {
		m.wrongOnStack("a reference", got)
	}
	if m.failed() {
		return
	}
	second, two := got.secondWord()
	last := index
	if two {
		last++
	}
	// If one word of a long or double is overwritten, the other word becomes unusable.
	if m.locals[index].isSecondWord() && index > 0 {
		m.setLocal(index-1, tTop)
	}
	if _, split := m.locals[last].secondWord(); split && last+1 < len(m.locals) {
		m.setLocal(last+1, tTop)
	}
	m.setLocal(index, got)
	if two {
		m.setLocal(last, second)
	}
}

func (m *typeState) setLocal(index int, t vtype) {
	if m.locals[index] != t {
		m.locals[index] = t
		m.used = max(m.used, index+1)
		m.changed = append(m.changed, uint16(index))
	}
}

// replace changes each word of one type into another type, as the initialisation of an object does.
func (m *typeState) replace(old, now vtype) {
	for i, t := range m.locals {
		if t == old {
			m.setLocal(i, now)
		}
	}
	for i, t := range m.stack {
		if t == old {
			m.stack[i] = now
		}
	}
}
