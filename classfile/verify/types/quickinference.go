package types

import (
	"bytes"

	"github.com/tracegen/tracegen/classfile/code"
)

// passesByInference reports whether the method passes inference (JVMS 4.10.2), as infer does it, but for the findings.
// The operands of instructions are checked when a path leads to them, those of the others last.
func (m *method) passesByInference() bool {
	m.setInferring(true)
	m.words, m.joined, m.unusual = m.words[:0], m.joined[:0], m.unusual[:0]
	m.joins = resize(m.joins, len(m.starts))
	f := inference{method: m, joins: m.joins}
	if !f.findJoins() || !m.readAllHandlers() || !m.startsAgree() {
		return false
	}
	f.prepareHandlers()
	f.numberStates()
	f.follow()
	for pc := 0; !m.failed(); pc++ {
		next := bytes.IndexByte(m.starts[pc:], instructionStart)
		if next < 0 {
			return true
		}
		pc += next
		in, _ := code.At(m.code.Bytecode, pc)
		f.prepareOne(in)
	}
	return false
}

// findJoins finds where instructions begin, and where paths can join but for handlers. It reports whether the code can
// be decoded, and whether branches lead to instructions.
func (f *inference) findJoins() bool {
	m := f.method
	bytecode := m.code.Bytecode
	f.join(0)
	for pc := 0; pc < len(bytecode); {
		row := &quickRows[bytecode[pc]]
		size := int(row.size)
		if size == 0 || size > len(bytecode)-pc {
			op, variable, err := code.Next(bytecode, pc)
			if err != nil || op == code.Lookupswitch && pc+variable == len(bytecode) { // see prepare
				return false
			}
			size = variable
		}
		m.starts[pc] = instructionStart
		switch row.kind {
		case notQuick:
			m.unusual = append(m.unusual, uint16(pc))
		case quickBranch, quickCompare:
			target := pc + int(int16(u2(bytecode[pc+1:])))
			if target < 0 || target >= len(bytecode) {
				return false
			}
			f.join(target)
		}
		pc += size
	}
	for _, pc := range m.joined {
		if m.starts[pc] == noStart {
			return false
		}
	}
	for _, pc := range m.unusual {
		in, _ := code.At(bytecode, int(pc))
		f.prepareOne(in)
	}
	return !m.failed()
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
	m.starts[pc] = passedStart
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
	in, _ := code.At(m.code.Bytecode, pc) // findJoins has decoded it
	if t := traitsOf(in); t&constrained != 0 {
		m.checkConstraints(in, t)
	}
	return pc + in.Size, !m.failed() && f.stepFully()
}
