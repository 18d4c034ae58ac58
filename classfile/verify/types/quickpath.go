package types

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// The quick path
//
// Nearly all classes are correct. For these, it is enough to find that no instruction has a fault, and which classes
// the hierarchy was asked about. The quick path (quickframes.go for type checking, inference.go) does only that: it
// passes over a method once, and applies most instructions by a few comparisons. It never makes a finding. Where it is
// not sure that the full path would make none, it gives up, and the whole class is checked again, by the full path
// alone ([Checker.Check]). A fault in the quick path can therefore only hide findings; TestQuickPathAgrees compares the
// findings with and without it.
//
// Whatever the quick path compares, the full path compares, too, and the other way round, so that both ask the
// hierarchy the same questions. The order may differ, which does not matter unless a class of the hierarchy makes a
// finding; then the quick path gives up.

// passes reports whether the quick path finds that a method has no fault. Fields that only the full path uses are as
// [checker.forget] left them.
func (m *method) passes(k *checker, body *methodCode) bool {
	m.checker, m.member, m.code = k, body.member, body.code
	m.changed, m.handlers, m.frameWords = m.changed[:0], m.handlers[:0], m.frameWords[:0]
	m.quickFrames, m.mustStarts = m.quickFrames[:0], m.mustStarts[:0]
	m.isQuick, m.isCovered = true, false
	if m.coverage.to != 0 {
		m.coverage = m.coverage.empty()
	}
	m.starts = resize(m.starts, len(m.code.Bytecode))
	m.result = m.typeOf(m.member).result
	m.initial = m.appendInitial(m.initial[:0])
	m.locals = resize(m.locals, int(m.code.MaxLocals))
	m.used = copy(m.locals, m.initial)
	m.stack = slices.Grow(m.stack[:0], int(m.code.MaxStack))
	switch {
	case k.major >= majorValues: // fields with ACC_STRICT_INIT
		return false
	case k.major >= majorFrames:
		return m.passesByFrames()
	}
	return m.passesByInference()
}

// refused is what the functions below return in place of the new height of the stack if they did not apply the
// instruction. The type state is as it was then.
const refused = -1

// run applies instructions from position pc on, which must end before limit. It returns the position of the first one
// that it did not apply. stopped is set if it cannot apply that: it leads elsewhere, needs the full path, or has a
// fault. Otherwise limit is reached, or pauses is set and a local has changed.
func (m *method) run(pc, limit int, pauses bool) (next int, stopped bool) {
	bytecode, starts := m.code.Bytecode, m.starts
	locals, stack, top := m.locals, m.stack[:m.code.MaxStack], len(m.stack)
	paused := false
	m.stored = false
loop:
	for pc < limit && !paused {
		row := &quickRows[bytecode[pc]]
		end := pc + int(row.size)
		if end > limit {
			break
		}
		switch row.kind {
		case quickPush:
			if top >= len(stack) {
				break loop
			}
			stack[top] = vtype(row.t)
			top++
		case quickLoad:
			index := int(row.local)
			if index < 0 {
				index = int(bytecode[pc+1])
			}
			if index >= len(locals) || top >= len(stack) || !row.kinds.has(locals[index]) {
				break loop
			}
			stack[top] = locals[index]
			top++
		case quickStore:
			index := int(row.local)
			if index < 0 {
				index = int(bytecode[pc+1])
			}
			// It must not overwrite one word of a long or double.
			if index >= len(locals) || top == 0 || !row.kinds.has(stack[top-1]) || halves.has(locals[index]) {
				break loop
			}
			if top--; locals[index] != stack[top] {
				locals[index] = stack[top]
				m.used = max(m.used, index+1)
				paused = pauses
			}
		case quickDup:
			if top == 0 || top >= len(stack) || !wholes.has(stack[top-1]) {
				break loop
			}
			stack[top] = stack[top-1]
			top++
		case quickPop:
			if top == 0 || !wholes.has(stack[top-1]) {
				break loop
			}
			top--
		case quickCall:
			after := m.call(pc, stack, top)
			if after < 0 {
				break loop
			}
			top = after
			paused = pauses && m.stored
		default:
			after := m.runOther(row, pc, stack, top)
			if after < 0 {
				break loop
			}
			top = after
			paused = pauses && m.stored
		}
		starts[pc] = instructionStart
		pc = end
	}
	m.stack = stack[:top]
	if paused {
		m.pauses++
	}
	return pc, pc < limit && !paused
}

// runOther applies an instruction of a kind that is less frequent, and returns the new height of the stack.
func (m *method) runOther(row *quickRow, pc int, stack []vtype, top int) int {
	switch row.kind {
	case quickFixed:
		return row.popAndPush(stack, top)
	case quickLdc:
		return m.loadConstant(pc, stack, top)
	case quickField:
		return m.accessField(pc, stack, top)
	case quickLoadTwo, quickStoreTwo, quickIinc:
		return m.accessLocal(row, pc, stack, top)
	case quickArrayLoad, quickArrayStore, quickArrayLength:
		return m.accessArray(row, stack, top)
	case quickPopTwo, quickDupX1, quickDupTwo, quickSwap:
		return moveWords(row.kind, stack, top)
	case quickMonitor:
		if top == 0 || !references.has(stack[top-1]) {
			return refused
		}
		return top - 1
	case quickNew:
		return m.makeNew(pc, stack, top)
	case quickNewarray, quickAnewarray:
		return m.makeArray(row.kind, pc, stack, top)
	case quickCheckcast, quickInstanceof:
		c := m.operand(pc)
		if c == nil || top == 0 || !references.has(stack[top-1]) {
			return refused
		}
		if stack[top-1] = tInt; row.kind == quickCheckcast {
			stack[top-1] = c.class
		}
		return top
	}
	return refused
}

// popAndPush pops the words of the row, which must have exactly its types, and pushes the words that the row pushes.
func (row *quickRow) popAndPush(stack []vtype, top int) int {
	base := top - int(row.pops)
	if base < 0 || base+int(row.pushes) > len(stack) {
		return refused
	}
	for i, t := range row.popped[:row.pops] {
		if stack[base+i] != vtype(t) {
			return refused
		}
	}
	return base + row.push(stack[base:])
}

// push writes the words that the row pushes, for which there must be room, and returns how many there are.
func (row *quickRow) push(stack []vtype) int {
	for i, t := range row.pushed[:row.pushes] {
		stack[i] = vtype(t)
	}
	return int(row.pushes)
}

// accessLocal applies a load or store of two words, or an iinc. A store must not split another long or double.
func (m *method) accessLocal(row *quickRow, pc int, stack []vtype, top int) int {
	index := int(row.local)
	if index < 0 {
		index = int(m.code.Bytecode[pc+1])
	}
	if row.kind == quickIinc {
		if index >= len(m.locals) || m.locals[index] != tInt {
			return refused
		}
		return top
	}
	if index+1 >= len(m.locals) {
		return refused
	}
	pair, first, second := m.locals[index:index+2], vtype(row.pushed[0]), vtype(row.pushed[1])
	if row.kind == quickLoadTwo {
		if pair[0] != first || pair[1] != second || top+2 > len(stack) {
			return refused
		}
		stack[top], stack[top+1] = first, second
		return top + 2
	}
	if top < 2 || stack[top-2] != first || stack[top-1] != second ||
		(halves.has(pair[0]) || halves.has(pair[1])) && (pair[0] != first || pair[1] != second) {
		return refused
	}
	if pair[0] != first {
		pair[0], pair[1] = first, second
		m.used, m.stored = max(m.used, index+2), true
	}
	return top - 2
}

// accessArray applies an array load, an array store, or arraylength. Every reference fits into an array of references.
func (m *method) accessArray(row *quickRow, stack []vtype, top int) int {
	if row.kind == quickArrayLength {
		if top == 0 || !m.isArray(stack[top-1]) {
			return refused
		}
		stack[top-1] = tInt
		return top
	}
	if row.kind == quickArrayStore {
		if row.pushes == 0 { // a reference
			if top == 0 || !references.has(stack[top-1]) {
				return refused
			}
			top--
		} else if top -= int(row.pushes); top < 0 || !row.isOn(stack[top:]) {
			return refused
		}
	}
	if top < 2 || stack[top-1] != tInt || !m.hasComponents(stack[top-2], row.kinds) {
		return refused
	}
	top -= 2
	switch array := stack[top]; {
	case row.kind == quickArrayStore:
		return top
	case row.pushes > 0:
		return top + row.push(stack[top:])
	case array != tNull:
		stack[top] = m.list[array.index()].component
	}
	return top + 1
}

// isOn reports whether a stack begins with the words that the row pushes.
func (row *quickRow) isOn(stack []vtype) bool {
	for i, t := range row.pushed[:row.pushes] {
		if stack[i] != vtype(t) {
			return false
		}
	}
	return true
}

// hasComponents reports whether t is null or an array whose components have one of the kinds.
func (n *names) hasComponents(t vtype, kinds kindSet) bool {
	return t == tNull || t.kind() == kindObject && kinds.has(n.list[t.index()].component)
}

// moveWords applies an instruction that moves words of the stack, unless it moves a long or double together with other
// values.
func moveWords(kind quickKind, stack []vtype, top int) int {
	if top < 2 {
		return refused
	}
	a, b, room := stack[top-1], stack[top-2], len(stack)-top
	whole := wholes.has(a) && wholes.has(b)
	switch {
	case kind == quickPopTwo && (whole || secondWords.has(a)):
		return top - 2
	case kind == quickDupTwo && (whole || secondWords.has(a)) && room >= 2:
		stack[top], stack[top+1] = b, a
		return top + 2
	case kind == quickDupX1 && whole && room >= 1:
		stack[top-2], stack[top-1], stack[top] = a, b, a
		return top + 1
	case kind == quickSwap && whole:
		stack[top-2], stack[top-1] = a, b
		return top
	}
	return refused
}

// pushValue writes a value to the stack at height top, if there is room; tTop stands for no value.
func pushValue(t vtype, stack []vtype, top int) int {
	second, two := t.secondWord()
	switch {
	case t == tTop:
		return top
	case top >= len(stack) || two && top+1 >= len(stack):
		return refused
	}
	if stack[top] = t; two {
		stack[top+1] = second
		return top + 2
	}
	return top + 1
}

// loadConstant applies ldc, ldc_w or ldc2_w, unless the constant is a Dynamic. Before inference, checkLoadable has
// checked the kind.
func (m *method) loadConstant(pc int, stack []vtype, top int) int {
	operand, want := m.code.Bytecode[pc:], oldKinds|classKind|newKinds
	var index uint16
	switch code.Op(operand[0]) {
	case code.Ldc:
		index = uint16(operand[1])
	case code.Ldc2W:
		index, want = u2(operand[1:]), wideKinds
	default:
		index = u2(operand[1:])
	}
	c := m.constant(index)
	if !want.has(c.tag) || c.tag == classfile.TagDynamic {
		return refused
	}
	return pushValue(m.loadedConstant(c), stack, top)
}
