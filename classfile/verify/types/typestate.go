package types

import "strconv"

// typeState is the type state at one point of a method (JVMS 4.10.1.4): a type for each word of the locals and of the
// operand stack.
type typeState struct {
	locals            []vtype
	stack             []vtype
	thisUninitialized bool

	used        int  // all locals from this index on are top
	changes     int  // how often the state has changed, but for the stack
	initialised bool // whether the current instruction initialised this
}

// push pushes a value, which takes two words if it is a long or double. The depth of the stack is checked by step.
func (m *typeState) push(t vtype) {
	m.stack = append(m.stack, t)
	if second, two := t.secondWord(); two {
		m.stack = append(m.stack, second)
	}
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

// pop pops a value that must be assignable to the type want.
func (m *method) pop(want vtype) {
	if second, two := want.secondWord(); two {
		m.popWords([]vtype{want, second})
	} else {
		m.popWords([]vtype{want})
	}
}

// popWords pops words that must be assignable to the wanted ones, lowest first, and reports whether they are.
func (m *method) popWords(want []vtype) bool {
	base := len(m.stack) - len(want)
	for i := len(want) - 1; i >= 0; i-- {
		if base+i < 0 {
			m.stack = m.stack[:0]
			m.fail(ruleTypes, "a value on the stack", "an empty stack")
			return false
		}
		if got := m.stack[base+i]; got != want[i] && !m.fits(got, want[i]) {
			m.stack = m.stack[:base+i]
			m.wrongOnStack(m.describe(want[i].firstWord()), got)
			return false
		}
	}
	m.stack = m.stack[:base]
	return true
}

// fits reports whether a value of type from can be assigned to type to, by the rules of type checking or of inference.
func (m *method) fits(from, to vtype) bool {
	if m.inferring {
		return m.inferAssignable(from, to)
	}
	return m.assignable(from, to)
}

// popReference pops a reference. uninitialized is set if it may be an object that is not initialised.
func (m *method) popReference(uninitialized bool) vtype {
	got := m.popWord()
	if !references.has(got) && !(uninitialized && objects.has(got)) && got != tUnknown {
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
	m.fail(ruleTypes, want+" on the stack", m.describe(got))
}

func (m *method) wrongLocal(index int, want string, got vtype) {
	m.fail(ruleTypes, want+" in local "+strconv.Itoa(index), m.describe(got))
}

func (m *typeState) setLocal(index int, t vtype) {
	if m.locals[index] != t {
		m.locals[index] = t
		m.used = max(m.used, index+1)
		m.changes++
	}
}
