package types

import (
	"fmt"
	"slices"
)

// handler is an entry of the exception table.
type handler struct {
	start, end, pc int
	caught         [1]vtype // the stack: the type that it catches, Throwable if any
}

func (h *handler) covers(pc int) bool { return pc >= h.start && pc < h.end }

// readHandlers decodes and checks the exception table (JVMS 4.10.1.5, 4.7.3). It leaves out entries with wrong
// positions.
func (m *method) readHandlers() {
	for table := m.code.ExceptionTable; len(table) >= 8 && !m.stopped; table = table[8:] {
		h := handler{start: int(u2(table)), end: int(u2(table[2:])), pc: int(u2(table[4:])),
			caught: [1]vtype{tThrowable}}
		switch {
		case h.start >= h.end || !m.isStart(h.start) || h.end != len(m.starts) && !m.isStart(h.end):
			m.failAt(h.start, ruleCodeFormat, "a range from one instruction to another",
				fmt.Sprintf("%d to %d", h.start, h.end))
		case !m.isStart(h.pc):
			m.failAt(h.pc, ruleCodeFormat, "an instruction at the handler's position", "none")
		}
		if m.failed() {
			m.report()
			continue
		}
		if i := u2(table[6:]); i != 0 {
			h.caught[0] = m.readCaught(h.pc, i)
		}
		m.handlers = append(m.handlers, h)
	}
}

// readCaught returns the type that a handler catches, the Class at index i.
func (m *method) readCaught(pc int, i uint16) vtype {
	m.pc = pc
	c := m.constantOf(i, classKind)
	if !m.failed() && !m.assignable(c.class, tThrowable) {
		m.fail(ruleHandlers, "a subclass of java/lang/Throwable", m.describe(c.class))
	}
	if m.failed() {
		m.report()
		return tUnknown
	}
	return c.class
}

// forgetCaught makes the stack of the frame at a handler unknown, if there was a finding about the type that the
// handler catches.
func (m *method) forgetCaught() {
	for i := range m.handlers {
		if h := &m.handlers[i]; h.caught[0] == tUnknown {
			if f := m.frameAt(h.pc); f != nil && len(f.stack) == 1 {
				f.stack[0] = tUnknown
			}
		}
	}
}

// disable takes a handler about which there is a finding out of the method.
func (h *handler) disable() { h.start, h.end = 0, 0 }

// checkTypes checks the method by type checking (JVMS 4.10.1): it passes over the code once and applies each
// instruction to the type state. Wherever a branch or handler leads there must be a frame; the state is compared with
// it, and code after the frame starts from the frame's types. The work is bounded by spend.
//
// After a wrong instruction stateUnknown is set until the next frame. Until then, only what needs no types is checked:
// operands, and that there are frames where branches lead. If a state does not fit a frame, either may be wrong: both
// continue with the differing words unknown.
func (m *method) checkTypes() {
	m.stateUnknown = false
	m.thisUninitialized = len(m.initial) > 0 && m.initial[0] == tUninitializedThis
	m.checkVariables()
	m.readFrames()
	m.forgetCaught()
	flows := true // whether the instruction before this one leads here
	bytecode := m.code.Bytecode
	for pc := 0; pc < len(bytecode) && !m.stopped; {
		m.pc = pc
		if m.starts[pc]&keptStart != 0 {
			m.enterFrame(m.frameAt(pc), flows)
		} else if !flows {
			m.reportMissingFrame(pc, "a frame after an instruction that never leads to the next")
			m.stateUnknown = true
		}
		row := &opRows[bytecode[pc]]
		size := int(row.size)
		if size == 0 {
			row, size = m.rowAt(pc)
		}
		pc += size
		m.initialised = false
		if !m.failed() {
			m.step(row)
		}
		if m.failed() {
			m.report()
			m.stateUnknown = true
			flows = pc < len(bytecode) // unknown: claim what leads to no further finding
			continue
		}
		if row.branches {
			m.eachTarget(row, m.matchTarget)
		}
		if len(m.handlers) > 0 && row.form != formStore && !m.stateUnknown {
			m.matchHandlers(m.initialised)
		}
		flows = !row.ends
	}
	if flows {
		m.failAt(len(bytecode), ruleFlow, "a jump, return or throw at the end of the code", "none")
	}
}

// reportMissingFrame reports that there is no frame at a place that needs one, unless it is not known where frames are.
func (m *method) reportMissingFrame(pc int, want string) {
	if pc >= m.framesUnknownFrom || m.failed() || m.places[pc] {
		return
	}
	m.failOnce(pc, ruleFlow, want, "none")
	m.report()
}

// enterFrame makes a frame, which stands at the current instruction, the type state. flows is set if the instruction
// before leads here.
func (m *method) enterFrame(f *stackFrame, flows bool) {
	if flows && !m.stateUnknown {
		m.matchFrame(f, m.stack, m.thisUninitialized)
	}
	if m.spend(1 + len(m.locals)/wordsPerStep); m.failed() {
		return
	}
	n := copy(m.locals, f.locals)
	if n < m.used {
		clear(m.locals[n:m.used])
	}
	m.used = n
	m.changes++
	m.stack = append(m.stack[:0], f.stack...)
	m.thisUninitialized = f.thisUninitialized
	m.stateUnknown = f.unusable
}

// matchTarget compares the type state with the frame at a branch target.
func (m *method) matchTarget(target int) {
	f := m.frameAt(target)
	if f == nil {
		m.reportMissingFrame(target, fmt.Sprintf("a frame at the branch target %d", target))
		return
	}
	if !m.stateUnknown {
		m.stateUnknown = !m.matchFrame(f, m.stack, m.thisUninitialized)
	}
}

// matchHandlers compares the type state with the frames of the handlers that cover the current instruction, unless they
// have seen it. In those frames the stack holds the caught exception. initialising is set for the state that an
// instruction that initialises this leaves if it throws.
func (m *method) matchHandlers(initialising bool) {
	covering := m.covering(m.pc)
	if m.coverage.seen == m.changes && !initialising {
		return
	}
	m.coverage.seen = m.changes
	for _, i := range covering {
		h := &m.handlers[i]
		if !h.covers(m.pc) { // it was disabled
			continue
		}
		if m.failed() {
			return
		}
		f := m.frameAt(h.pc)
		switch {
		case m.code.MaxStack == 0:
			m.fail(ruleHandlers, "room on the stack for what a handler catches", "max_stack 0")
			m.report()
			m.handlers, m.coverage.to = m.handlers[:0], 0
			return
		case f == nil:
			m.reportMissingFrame(h.pc, fmt.Sprintf("a frame at the handler %d", h.pc))
			h.disable()
		case !m.matchFrame(f, h.caught[:], m.thisUninitialized || initialising):
			h.disable()
		}
	}
}

// matchFrame reports whether a type state may continue as the frame f (JVMS 4.10.1.4). The state has the locals of the
// method, and the given stack and flag. A mismatch is reported. The result is false only if the state cannot continue
// at all, because its stack has another depth.
func (m *method) matchFrame(f *stackFrame, stack []vtype, thisUninitialized bool) bool {
	if f.unusable {
		return true
	}
	if len(stack) != len(f.stack) {
		f.unusable = !f.checked
		m.fail(ruleFrameMatch, fmt.Sprintf("%d words on the stack, as in the frame at %d", len(f.stack), f.pc),
			fmt.Sprint(len(stack)))
		m.report()
		return false
	}
	if m.spend(1 + (len(f.locals)+len(stack))/wordsPerStep); m.failed() {
		return true
	}
	var differ []int // words, of the locals and then of the stack
	locals := m.locals[:len(f.locals)]
	for i, want := range f.locals {
		if got := locals[i]; got != want && !m.assignable(got, want) {
			differ = append(differ, i)
		}
	}
	for i, want := range f.stack {
		if got := stack[i]; got != want && !m.assignable(got, want) {
			differ = append(differ, len(locals)+i)
		}
	}
	switch {
	case len(differ) > 0:
		m.reportMismatch(f, stack, differ)
	case thisUninitialized && !f.thisUninitialized:
		m.failOnce(f.pc, ruleFrameMatch, fmt.Sprintf("an initialised this, as in the frame at %d", f.pc),
			"an uninitialised one")
		m.report()
	}
	f.checked = true
	return true
}

// reportMismatch reports the first of the words, locals and then the stack, in which the type state differs from a
// frame. These words are unknown from then on: in the state, and also in the frame if no other state has fit it so far.
func (m *method) reportMismatch(f *stackFrame, stack []vtype, words []int) {
	n := len(f.locals)
	if i := words[0]; i < n {
		m.fail(ruleFrameMatch, fmt.Sprintf("%s in local %d, as in the frame at %d", m.describe(f.locals[i]), i, f.pc),
			m.describe(m.locals[i]))
	} else {
		m.fail(ruleFrameMatch, fmt.Sprintf("%s in word %d of the stack, as in the frame at %d", m.describe(f.stack[i-n]),
			i-n, f.pc), m.describe(stack[i-n]))
	}
	m.report()
	if !f.checked {
		f.locals = slices.Clone(f.locals) // other frames have the same
	}
	for _, i := range words {
		if i < n {
			m.setLocal(i, tUnknown)
		} else {
			stack[i-n] = tUnknown
		}
		switch {
		case f.checked:
		case i < n:
			f.locals[i] = tUnknown
		default:
			f.stack[i-n] = tUnknown
		}
	}
}

// spend adds steps to the work that the class has taken so far, and fails if that exceeds the bound. The bound grows
// with the size of the class file, whereas the work for a hostile one can grow with the square of its size. A step
// takes some 20 ns. Of the 200,000 classes of the corpus, none needs more than a ninetieth of the bound.
func (m *method) spend(steps int) {
	m.work += int64(steps)
	if m.work > m.mostWork {
		m.fail(ruleLimit, "a class that is checked in a bounded number of steps", "a class that needs more")
	}
}

// The bound of the work for a class: a number of steps, and more for each byte of it.
const baseWork, workPerByte = 1 << 21, 1 << 6

// wordsPerStep is how many words, or ranges of handlers, are compared in one step. That is fast, as most words are
// equal.
const wordsPerStep = 16

// checkVariables checks that the ranges in LocalVariableTable begin and end at instructions, as HotSpot demands where
// it checks types (JVMS 4.7.13).
func (m *method) checkVariables() {
	for _, v := range m.variables {
		if start, end := v.start(), v.end(); !m.isStart(start) || end != len(m.starts) && !m.isStart(end) {
			m.failAt(start, "JVMS 4.7.13", "a variable's range from one instruction to another",
				fmt.Sprintf("%d to %d", start, end))
			m.report()
		}
	}
}
