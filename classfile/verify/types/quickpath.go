package types

import "slices"

// The quick path
//
// Nearly all classes are correct. For these, it is enough to find that no instruction has a fault, and which classes
// are not known. The quick path (quickframes.go for type checking, quickinference.go for inference) does only that: it
// passes over a method once, and applies most instructions by a few comparisons. It never makes a finding. Where it is
// not sure that the full path would make none, it gives up, and the whole class is checked again, on the full path
// alone ([Checker.Check]). A fault in the quick path can therefore only hide findings; TestQuickPathAgrees and
// TestCorpusQuickPath compare the findings with and without it.
//
// If the quick path does not give up, it has compared the same types as the full path would, so that it has asked the
// hierarchy about the same classes. It may have done so in another order, which matters only if one of these classes
// makes a finding; then it gives up. It counts at least as many steps as the full path (see spend).

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
	m.room = slices.Grow(m.room[:0], int(m.code.MaxStack))
	m.stack = m.room[:0:m.code.MaxStack] // so that there is room on the stack up to its capacity
	if k.major >= majorFrames {
		return m.passesByFrames()
	}
	return m.passesByInference()
}

// run applies instructions from position pc on, which must end before limit, and returns the position of the first one
// that it did not apply. stopped is set if it cannot apply that: it leads elsewhere, needs the full path, or has a
// fault. The type state is the one before it then. Otherwise limit is reached, or pauses is set and a local has
// changed.
//
// The state is in the method's fields, and not in variables: the calls would have to save each of them.
func (m *method) run(pc, limit int, pauses bool) (next int, stopped bool) {
	bytecode := m.code.Bytecode
	m.stored = false
	for pc < limit {
		row := &quickRows[bytecode[pc]]
		end := pc + int(row.size)
		if end > limit {
			return pc, true
		}
		ok := false
		switch top := len(m.stack); row.kind {
		case quickPush:
			if top < cap(m.stack) {
				m.stack = append(m.stack, vtype(row.t))
				ok = true
			}
		case quickLoad:
			index := int(row.local)
			if index < 0 {
				index = int(bytecode[pc+1])
			}
			if index < len(m.locals) && top < cap(m.stack) && row.kinds.has(m.locals[index]) {
				m.stack = append(m.stack, m.locals[index])
				ok = true
			}
		case quickDup:
			if top > 0 && top < cap(m.stack) && wholes.has(m.stack[top-1]) {
				m.stack = append(m.stack, m.stack[top-1])
				ok = true
			}
		case quickPop:
			if top > 0 && wholes.has(m.stack[top-1]) {
				m.stack = m.stack[:top-1]
				ok = true
			}
		case quickLdc:
			ok = m.loadConstant(pc)
		case quickFixed:
			ok = m.popAndPush(row)
		case quickCall:
			ok = m.call(pc)
		case quickField:
			ok = m.accessField(pc)
		case quickStore:
			ok = m.storeOne(row, pc)
		case quickLoadTwo, quickStoreTwo, quickIinc:
			ok = m.accessLocal(row, pc)
		case quickArrayLoad, quickArrayStore, quickArrayLength:
			ok = m.accessArray(row)
		case quickPopTwo, quickDupX1, quickDupTwo, quickSwap:
			ok = m.moveWords(row.kind)
		case quickMonitor:
			ok = m.popReferences(1)
		case quickNew:
			ok = m.makeNew(pc)
		case quickNewarray, quickAnewarray:
			ok = m.makeArray(row.kind, pc)
		case quickCheckcast, quickInstanceof:
			ok = m.cast(row.kind, pc)
		}
		if !ok {
			return pc, true
		}
		m.starts[pc] = passedStart
		pc = end
		if pauses && m.stored {
			m.pauses++
			return pc, false
		}
	}
	return pc, false
}

// popAndPush pops the words of the row, which must have exactly its types, and pushes the words that the row pushes.
func (m *method) popAndPush(row *quickRow) bool {
	base := len(m.stack) - int(row.pops)
	if base < 0 || base+int(row.pushes) > cap(m.stack) {
		return false
	}
	for i, t := range row.popped[:row.pops] {
		if m.stack[base+i] != vtype(t) {
			return false
		}
	}
	m.stack = row.appendPushed(m.stack[:base])
	return true
}

// appendPushed appends the words that the row pushes.
func (row *quickRow) appendPushed(stack []vtype) []vtype {
	for _, t := range row.pushed[:row.pushes] {
		stack = append(stack, vtype(t))
	}
	return stack
}

// popPushed pops the words that the row pushes.
func (m *method) popPushed(row *quickRow) bool {
	base := len(m.stack) - int(row.pushes)
	if base < 0 || !row.isOn(m.stack[base:]) {
		return false
	}
	m.stack = m.stack[:base]
	return true
}

// popReferences pops that many references.
func (m *method) popReferences(n int) bool {
	base := len(m.stack) - n
	if base < 0 {
		return false
	}
	for _, t := range m.stack[base:] {
		if !references.has(t) {
			return false
		}
	}
	m.stack = m.stack[:base]
	return true
}

// localOf returns the local that the instruction uses.
func (m *method) localOf(row *quickRow, pc int) int {
	if row.local >= 0 {
		return int(row.local)
	}
	return int(m.code.Bytecode[pc+1])
}

// storeOne applies a store of one word, unless it overwrites one word of a long or double.
func (m *method) storeOne(row *quickRow, pc int) bool {
	index, top := m.localOf(row, pc), len(m.stack)-1
	if index >= len(m.locals) || top < 0 {
		return false
	}
	got, old := m.stack[top], m.locals[index]
	if !row.kinds.has(got) || halves.has(old) {
		return false
	}
	m.stack = m.stack[:top]
	if got != old {
		m.locals[index] = got
		m.used, m.stored = max(m.used, index+1), true
	}
	return true
}

// accessLocal applies a load or store of two words, or an iinc. A store must not overwrite one word of another long or
// double.
func (m *method) accessLocal(row *quickRow, pc int) bool {
	index := m.localOf(row, pc)
	if row.kind == quickIinc {
		return index < len(m.locals) && m.locals[index] == tInt
	}
	if index+1 >= len(m.locals) {
		return false
	}
	pair, first, second := m.locals[index:index+2], vtype(row.pushed[0]), vtype(row.pushed[1])
	same := pair[0] == first && pair[1] == second
	if row.kind == quickLoadTwo {
		if !same || len(m.stack)+2 > cap(m.stack) {
			return false
		}
		m.stack = append(m.stack, first, second)
		return true
	}
	if !same && (halves.has(pair[0]) || halves.has(pair[1])) || !m.popPushed(row) {
		return false
	}
	if !same {
		pair[0], pair[1] = first, second
		m.used, m.stored = max(m.used, index+2), true
	}
	return true
}

// accessArray applies an array load, an array store, or arraylength. Every reference fits into an array of references.
func (m *method) accessArray(row *quickRow) bool {
	stack := m.stack
	top := len(stack)
	switch {
	case row.kind == quickArrayLength:
		if top == 0 || !m.isArray(stack[top-1]) {
			return false
		}
		stack[top-1] = tInt
		return true
	case row.kind == quickArrayStore && row.pushes > 0:
		if top -= int(row.pushes); top < 0 || !row.isOn(stack[top:]) {
			return false
		}
	case row.kind == quickArrayStore:
		if top--; top < 0 || !references.has(stack[top]) {
			return false
		}
	}
	if top < 2 || stack[top-1] != tInt || !m.hasComponents(stack[top-2], row.kinds) {
		return false
	}
	array := stack[top-2]
	switch m.stack = stack[:top-2]; {
	case row.kind == quickArrayStore:
	case row.pushes > 0:
		m.stack = row.appendPushed(m.stack)
	case array == tNull:
		m.stack = append(m.stack, array)
	default:
		m.stack = append(m.stack, m.list[array.index()].component)
	}
	return true
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
func (m *method) moveWords(kind quickKind) bool {
	top, room := len(m.stack), cap(m.stack)-len(m.stack)
	if top < 2 {
		return false
	}
	a, b := m.stack[top-1], m.stack[top-2]
	whole := wholes.has(a) && wholes.has(b)
	switch {
	case kind == quickPopTwo && (whole || secondWords.has(a)):
		m.stack = m.stack[:top-2]
	case kind == quickDupTwo && (whole || secondWords.has(a)) && room >= 2:
		m.stack = append(m.stack, b, a)
	case kind == quickDupX1 && whole && room >= 1:
		m.stack = append(m.stack[:top-2], a, b, a)
	case kind == quickSwap && whole:
		m.stack[top-2], m.stack[top-1] = a, b
	default:
		return false
	}
	return true
}
