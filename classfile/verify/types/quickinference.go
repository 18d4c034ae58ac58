package types

import (
	"github.com/tracegen/tracegen/classfile/code"
)

// passesByInference reports whether the method passes inference (JVMS 4.10.2), as infer does it, but for the findings.
func (m *method) passesByInference() bool {
	m.inferring = true
	m.words = m.words[:0]
	f := inference{method: m}
	if !m.findStarts() || !m.readAllHandlers() || !m.startsAgree() || !f.prepareQuickly() {
		return false
	}
	f.follow()
	return !m.failed()
}

// findStarts finds where instructions begin, and reports whether the code can be decoded, as prepare does.
func (m *method) findStarts() bool {
	bytecode := m.code.Bytecode
	for pc := 0; pc < len(bytecode); {
		size := int(quickRows[bytecode[pc]].size)
		if size == 0 || size > len(bytecode)-pc {
			op, variable, err := code.Next(bytecode, pc)
			if err != nil || op == code.Lookupswitch && pc+variable == len(bytecode) {
				return false
			}
			size = variable
		}
		m.starts[pc] = instructionStart
		pc += size
	}
	return true
}

// prepareQuickly does what prepare does, and reports whether that finds no fault.
func (f *inference) prepareQuickly() bool {
	m := f.method
	m.joins = resize(m.joins, len(m.starts))
	f.joins = m.joins
	f.joins[0] = 1
	bytecode := m.code.Bytecode
	for pc := 0; pc < len(bytecode); {
		size := int(quickRows[bytecode[pc]].size)
		if !f.prepareOneQuickly(pc) {
			in, _ := code.At(bytecode, pc) // findStarts has decoded it
			if f.prepareOne(in); m.failed() {
				return false
			}
			size = in.Size
		}
		pc += size
	}
	f.prepareHandlers()
	f.numberStates()
	return !m.failed()
}

// prepareOneQuickly does what prepareOne does, or reports that it is not sure that this finds no fault.
func (f *inference) prepareOneQuickly(pc int) bool {
	bytecode := f.code.Bytecode
	row := &quickRows[bytecode[pc]]
	switch row.kind {
	case notQuick, quickNewarray:
		return false
	case quickLoad, quickStore, quickIinc, quickLoadTwo, quickStoreTwo:
		last := int(row.local)
		if last < 0 {
			last = int(bytecode[pc+1])
		}
		if row.kind == quickLoadTwo || row.kind == quickStoreTwo {
			last++
		}
		return last < int(f.code.MaxLocals)
	case quickField, quickNew, quickAnewarray, quickCheckcast, quickInstanceof:
		return f.operand(pc) != nil
	case quickCall:
		return code.Op(bytecode[pc]) <= code.Invokestatic && f.operand(pc) != nil
	case quickLdc:
		return code.Op(bytecode[pc]) == code.Ldc && oldKinds.has(f.pool.Tag(uint16(bytecode[pc+1])))
	case quickBranch, quickCompare:
		target := pc + int(int16(u2(bytecode[pc+1:])))
		if !f.isStart(target) {
			return false
		}
		f.joins[target] = 1
	}
	return true
}

// runQuickly does what run does, on the quick path.
func (f *inference) runQuickly(s *joinState) {
	m, pc, end := f.method, s.pc, len(f.joins)
	if next := s.number + 1; next < len(f.states) {
		end = f.states[next].pc
	}
	f.start(s)
	for pc < end {
		limit := end
		m.pc = pc
		if len(m.handlers) > 0 {
			f.mergeHandlers()
			limit = min(limit, m.coverage.to)
			m.isCovered = len(m.coverage.answer) > 0
		}
		if m.failed() {
			return
		}
		if len(f.now.subroutines) == 0 {
			at, stopped := m.run(pc, limit, m.isCovered)
			m.spend((at - pc) * (2 + len(m.coverage.answer)/wordsPerStep)) // run counts each instruction
			if pc = at; !stopped {
				continue
			}
		}
		next, flows := f.leave(pc)
		if !flows || m.failed() {
			return
		}
		pc = next
	}
	if pc >= len(f.joins) {
		m.fail(ruleInference, "a jump, return or throw at the end of the code", "none")
		return
	}
	f.mergeInto(pc, m.locals[:m.used], m.stack, &f.now)
}

// leave applies the instruction at a position, at which run of the method stopped. It returns the position of the next
// one, and whether the instruction leads there.
func (f *inference) leave(pc int) (next int, flows bool) {
	m := f.method
	op := code.Op(m.code.Bytecode[pc])
	row := &quickRows[op]
	m.pc = pc
	m.spend(2)
	if len(f.now.subroutines) == 0 {
		switch row.kind {
		case quickReturn, quickAreturn, quickReturnVoid, quickAthrow:
			if !f.now.mayNotReturn && (f.now.constructed || !f.now.needsConstruct) && m.ends(row) {
				return pc, false
			}
		}
		if m.branch(row) {
			f.mergeInto(pc+int(int16(u2(m.code.Bytecode[pc+1:]))), m.locals[:m.used], m.stack, &f.now)
			return pc + int(row.size), op != code.Goto
		}
	}
	_, size, _ := code.Next(m.code.Bytecode, pc) // findStarts has decoded it
	return pc + size, f.stepFully()
}
