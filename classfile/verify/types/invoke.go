package types

import (
	"slices"

	"github.com/tracegen/tracegen/classfile/code"
)

// stepInvoke pops the arguments and the object of a call, and pushes its result.
func (m *method) stepInvoke(op code.Op, c *constant) {
	if !m.popWords(m.argumentsOf(c.descriptorType)) {
		return
	}
	switch {
	case op == code.Invokestatic || op == code.Invokedynamic:
	case c.isConstructor:
		m.stepInit(c)
	default:
		m.stepReceiver(op, c)
	}
	if c.value != tTop && !m.failed() {
		m.push(c.value)
	}
}

// stepReceiver pops the object on which a method is called.
func (m *method) stepReceiver(op code.Op, c *constant) {
	want := c.class
	if op == code.Invokespecial && !m.inferring {
		want = m.thisType
	}
	object := m.popWord()
	switch {
	case m.failed():
		return
	case object != want && !m.fits(object, want):
		m.wrongOnStack(m.describe(want), object)
		return
	}
	if op == code.Invokespecial && m.inferring && !m.inferAssignable(object, m.thisType) {
		m.wrongOnStack(m.describe(m.thisType), object)
		return
	}
	checked := op == code.Invokevirtual || op == code.Invokespecial && m.inferring
	if !checked || object == m.thisType || !m.isProtected(c) {
		return
	}
	// Arrays have a public clone, though the method is Object's.
	name, _ := m.nameAndType(c)
	isArrayClone := c.class == tObject && m.isArray(object) && name == "clone"
	if !isArrayClone && !m.assignableToThis(object) {
		m.fail(ruleProtected, m.class.Name()+" or a subclass, as the method is protected", m.describe(object))
	}
}

// stepInit applies the call of a constructor, which initialises an object: this, by a constructor of the class or its
// superclass, or an object that a new made, by a constructor of its class.
func (m *method) stepInit(c *constant) {
	object := m.popWord()
	switch {
	case m.failed():
	case object == tUninitializedThis:
		m.initialiseThis(c)
	case object.kind() == kindUninitialized:
		m.initialiseNew(object, c)
	case object == tUnknown:
		m.initialised, m.thisUninitialized = m.thisUninitialized, false // the object may be this
		m.changes++
	default:
		m.wrongOnStack("an object that is not initialised", object)
	}
}

// initialiseThis makes this an initialised object.
func (m *method) initialiseThis(c *constant) {
	if owner := m.name(c.class); c.class != m.thisType && owner != m.class.SuperName() {
		m.fail(ruleTypes, "a constructor of the class or its superclass", "one of "+owner)
		return
	}
	if !m.inferring {
		m.checkInitHandlers()
		m.matchHandlers(true)
	}
	if m.failed() {
		return
	}
	m.replace(tUninitializedThis, m.thisType)
	m.thisUninitialized = false
	m.initialised = true
	m.changes++
}

// checkInitHandlers checks that a handler that covers the call of another constructor always throws. Otherwise a method
// could use an object whose constructor has failed.
func (m *method) checkInitHandlers() {
	for _, i := range slices.Clone(m.covering(m.pc)) { // alwaysThrows asks for other positions
		if h := &m.handlers[i]; h.covers(m.pc) && !m.alwaysThrows(h.pc) {
			m.fail(ruleHandlers, "a handler that always throws, around the call of another constructor",
				"one that may return")
			return
		}
	}
}

// initialiseNew makes an object that a new made an initialised one.
func (m *method) initialiseNew(object vtype, c *constant) {
	made := m.constantOf(u2(m.code.Bytecode[object.index()+1:]), classKind)
	switch {
	case m.failed():
		return
	case made.class != c.class:
		m.fail(ruleTypes, "a constructor of "+m.describe(made.class), "one of "+m.describe(c.class))
		return
	case m.isProtected(c) && (m.inferring || !m.assignableInOwnClass(made.class)):
		m.fail(ruleProtected, "a constructor that is not protected in another package", "one")
		return
	}
	if !m.inferring {
		m.matchHandlers(false)
	}
	if !m.failed() {
		m.replace(object, made.class)
	}
}

// alwaysThrows reports whether all code that may run from a position on ends by throwing, or never ends. After a switch
// it also follows the code that stands directly after it, as HotSpot does.
func (m *method) alwaysThrows(from int) bool {
	seen := make([]bool, len(m.starts))
	pending := []int{from}
	for len(pending) > 0 {
		pc := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if !m.isStart(pc) {
			return false
		}
		if seen[pc] {
			continue
		}
		if m.spend(2); m.failed() {
			return false
		}
		seen[pc] = true
		in, err := code.At(m.code.Bytecode, pc)
		if err != nil || in.Op == code.Return {
			return false
		}
		for _, i := range m.covering(pc) {
			if h := &m.handlers[i]; h.covers(pc) && !seen[h.pc] {
				pending = append(pending, h.pc)
			}
		}
		for target := range in.Targets() {
			pending = append(pending, target)
		}
		if in.Op != code.Athrow && in.Op != code.Goto && in.Op != code.GotoW {
			pending = append(pending, pc+in.Size)
		}
	}
	return true
}
