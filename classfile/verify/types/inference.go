package types

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile/verify"
)

// inference checks a method by type inference (JVMS 4.10.2), for classes without frames.
//
// It keeps a type state for each place where paths can join: the method's start, the targets of branches and handlers,
// subroutine calls and returns, and what follows a call. It starts with the state at the method's start and repeats the
// following until no state changes any more: take a state that has changed, follow the code from there until the next
// such place or the end of the path, and merge the result into the states at the places that the code leads to. To
// merge two types is to take a type to which both can be assigned.
//
// This ends, because every change of a state moves a type up (towards Object, and then to top), drops a subroutine, or
// sets a bit. How many steps that takes is bounded besides, as for type checking.
//
// Subroutines (jsr and ret) need more, because one subroutine may be called with different types in the locals that it
// does not use. A state therefore records which subroutine calls lead to it, and which locals each subroutine has used
// since (see subroutine). When a ret returns, a local that the subroutine used has the type at the ret; every other
// local has the type that it had at the jsr.
type inference struct {
	*method
	jsrs   []int       // positions of jsr and jsr_w
	rets   map[int]int // by the position of a jsr, that of the ret that returns from it
	now    flowFacts   // the facts at the current instruction
	stored int         // the number of words in states

	mustConstruct bool // the method is a constructor that must call another
}

// flowFacts are the facts about all paths to a point besides the types: the subroutines that they are in, and how far a
// constructor has come.
type flowFacts struct {
	subroutines  []subroutine // outermost first
	constructed  bool         // every path has called another constructor
	mayNotReturn bool         // some path comes from a constructor call that threw
}

// joinState is the type state at one position, over all paths found so far.
type joinState struct {
	pc            int
	reached       bool // a path leads here
	changed       bool // the code from here on must be followed again
	locals, stack []vtype
	facts         flowFacts
}

// infer checks the method by inference.
func (m *method) infer() {
	f := inference{method: m}
	if f.prepare(); m.stopped {
		return
	}
	f.follow()
	slices.SortStableFunc(m.reported, func(a, b verify.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
}

// follow follows the code until no state changes any more, or a check failed.
func (f *inference) follow() {
	m := f.method
	f.mustConstruct = len(m.initial) > 0 && m.initial[0] == tUninitializedThis
	start := f.state(0)
	start.reached, start.changed = true, true
	start.locals = f.keep(m.initial) // merging changes it
	for again := true; again && !m.failed(); {
		again = false
		m.spend(1 + len(f.states)/64)
		m.report()
		for i := range f.states {
			if s := &f.states[i]; s.changed && !m.failed() {
				again, s.changed = true, false
				f.run(s)
				m.report()
			}
		}
	}
}

// prepare checks the operands of all instructions, even of those that no path leads to, and finds the positions for
// which states are kept.
func (f *inference) prepare() {
	m := f.method
	f.join(0)
	for pc, size := 0, 0; pc < len(m.starts); pc += size {
		var row *opRow
		row, size = m.rowAt(pc)
		m.pc = pc
		if m.step(row); row.branches && !m.failed() {
			f.joinTargets(row)
		}
		if m.failed() {
			m.starts[pc] |= faultyStart
			m.report()
			continue
		}
		switch row.form {
		case formJsr:
			f.jsrs = append(f.jsrs, pc)
			f.join(pc)
			if pc+size < len(m.starts) {
				f.join(pc + size)
			}
		case formRet:
			f.join(pc)
		}
	}
	f.prepareHandlers()
	f.numberStates()
	m.stateUnknown = false
}

// joinTargets keeps states for the targets of the current instruction, where instructions must begin.
func (f *inference) joinTargets(row *opRow) {
	f.eachTarget(row, func(target int) {
		if !f.isStart(target) {
			f.fail(ruleInstructions, "an instruction at the branch target", fmt.Sprintf("none at %d", target))
		}
	})
	if !f.failed() {
		f.eachTarget(row, f.join)
	}
}

// prepareHandlers keeps states for the handlers, and leaves out handlers that cannot be entered or about which there is
// a finding.
func (f *inference) prepareHandlers() {
	m := f.method
	if len(m.handlers) > 0 && m.code.MaxStack == 0 {
		m.failAt(-1, ruleHandlers, "room on the stack for what a handler catches", "max_stack 0")
		m.report()
		m.handlers = m.handlers[:0]
	}
	for i := range m.handlers {
		h := &m.handlers[i]
		if h.pc == 0 {
			m.failAt(0, ruleCodeFormat, "a handler after the first instruction", "one at 0")
			m.report()
			h.disable()
		}
		if h.caught[0] == tUnknown {
			h.disable()
		}
		f.join(h.pc)
	}
}

// join says that paths may join at a position, so that a state is kept for it.
func (f *inference) join(pc int) { f.starts[pc] |= keptStart }

// numberStates makes a state for each position at which paths may join, in the order of the code.
func (f *inference) numberStates() {
	m := f.method
	m.states = m.states[:0]
	for pc, start := range m.starts {
		if start&keptStart != 0 {
			m.kept[pc] = uint16(len(m.states))
			m.states = append(m.states, joinState{pc: pc})
		}
	}
	m.words = m.words[:0]
}

// state returns the state that is kept for a position.
func (f *inference) state(pc int) *joinState { return &f.states[f.kept[pc]] }

// run follows the code from a state on, until it leads to a position with a state, ends, or fails.
func (f *inference) run(s *joinState) {
	m, pc := f.method, s.pc
	f.start(s)
	for {
		m.pc = pc
		if m.spend(2); m.failed() || m.starts[pc]&faultyStart != 0 {
			return
		}
		f.mergeHandlers()
		row, size := m.rowAt(pc)
		if f.stepWithFacts(row); m.failed() {
			return
		}
		switch {
		case row.branches:
			f.mergeTargets(row)
		case row.form == formRet:
			f.mergeReturn(row)
		}
		if m.failed() || row.ends {
			return
		}
		if pc += size; pc >= len(m.starts) {
			m.fail(ruleInference, "a jump, return or throw at the end of the code", "none")
			return
		}
		if m.starts[pc]&keptStart != 0 {
			f.mergeInto(pc, m.locals[:m.used], m.stack, &f.now)
			return
		}
	}
}

// start makes a state the current one.
func (f *inference) start(s *joinState) {
	m := f.method
	m.spend(2 + (len(s.locals)+len(s.stack)+s.facts.words())/wordsPerStep)
	n := copy(m.locals, s.locals)
	clear(m.locals[n:max(m.used, n)])
	m.used = n
	m.stack = append(m.stack[:0], s.stack...)
	m.changes++
	f.now = s.facts.clone()
}

// stepWithFacts applies an instruction to the types and to the other facts.
func (f *inference) stepWithFacts(row *opRow) {
	m := f.method
	m.initialised, m.replaced = false, m.replaced[:0]
	switch {
	case row.form == formReturn && row.value == tTop && f.mustConstruct && !f.now.constructed:
		m.fail(ruleInference, "a call of another constructor before return", "none on some path")
	case row.form == formReturn && f.now.mayNotReturn:
		m.fail(ruleInference, "no return after a constructor call that threw", "one")
	case row.form == formJsr:
		f.enterSubroutine()
	}
	if !m.failed() {
		m.step(row)
	}
	if m.failed() {
		return
	}
	if len(f.now.subroutines) > 0 {
		f.touchLocals(row)
	}
	if m.initialised {
		f.now.constructed = true
		f.mergeAfterInit()
	}
}

// touchLocals records the locals that the current instruction has read or written.
func (f *inference) touchLocals(row *opRow) {
	switch row.form {
	case formLoad, formStore, formIinc, formRet:
		index := f.localOf(row)
		if f.now.touch(index); row.value.isWide() {
			f.now.touch(index + 1)
		}
	}
	for _, local := range f.replaced {
		f.now.touch(local)
	}
}

// mergeHandlers merges the locals before the current instruction into the states of the handlers that cover it, unless
// they have seen them.
func (f *inference) mergeHandlers() {
	if len(f.handlers) == 0 {
		return
	}
	covering := f.covering(f.pc)
	if f.coverage.seen == f.changes && len(f.now.subroutines) == 0 {
		return
	}
	f.coverage.seen = f.changes
	f.mergeIntoHandlers(covering, &f.now)
}

func (f *inference) mergeIntoHandlers(covering []int32, facts *flowFacts) {
	for _, i := range covering {
		if h := &f.handlers[i]; h.covers(f.pc) && !f.failed() { // it may be disabled
			f.mergeInto(h.pc, f.locals[:f.used], h.caught[:], facts)
			f.report() // other paths may be correct
		}
	}
}

// mergeAfterInit merges the state after a call of another constructor into the handlers that cover the call. It is not
// known whether the object was initialised before the call threw, so that such a path must not return.
func (f *inference) mergeAfterInit() {
	facts := f.now
	facts.mayNotReturn = true
	f.mergeIntoHandlers(f.covering(f.pc), &facts)
}

// mergeTargets merges the state after the current instruction into the states at its targets.
func (f *inference) mergeTargets(row *opRow) {
	locals, stack := f.locals[:f.used], f.stack
	if row.form == formJsr {
		if ret, ok := f.rets[f.pc]; ok {
			s := f.state(ret)
			s.changed = s.reached
		}
		locals, stack = withoutUninitialized(locals), withoutUninitialized(stack)
	}
	f.eachTarget(row, func(target int) {
		if !f.failed() {
			f.mergeInto(target, locals, stack, &f.now)
		}
	})
}

// mergeInto merges a type state into the state at a position.
func (f *inference) mergeInto(pc int, locals, stack []vtype, facts *flowFacts) {
	s := f.state(pc)
	words := len(locals) + len(stack) + facts.words()
	if f.spend(1 + words/wordsPerStep); f.failed() {
		return
	}
	if !s.reached {
		if f.stored += words; f.stored > maxFrameWords {
			f.fail(ruleLimit, fmt.Sprintf("type states of at most %d words in all", maxFrameWords), "more")
			return
		}
		s.reached, s.changed = true, true
		s.locals, s.stack, s.facts = f.keep(locals), f.keep(stack), facts.clone()
		return
	}
	f.mergeStack(s, pc, stack)
	f.mergeLocals(s, locals)
	s.changed = s.facts.merge(facts) || s.changed
}

// keep copies words into memory that all states of the method share.
func (f *inference) keep(words []vtype) []vtype {
	start := len(f.words)
	f.words = append(f.words, words...)
	return f.words[start:len(f.words):len(f.words)]
}

// mergeStack merges an operand stack into that of s. Both must have the same depth, and each word must have a common
// type.
func (f *inference) mergeStack(s *joinState, pc int, stack []vtype) {
	if len(stack) != len(s.stack) {
		f.failOnce(pc, ruleInference, fmt.Sprintf("%d words on the stack, as on another path to %d", len(s.stack), pc),
			fmt.Sprint(len(stack)))
		return
	}
	for i, old := range s.stack {
		if f.inferAssignable(stack[i], old) {
			continue
		}
		t := f.merge(old, stack[i], false)
		if t == tTop {
			f.failOnce(pc, ruleInference, fmt.Sprintf("%s in word %d of the stack, as on another path to %d",
				f.describe(old), i, pc), f.describe(stack[i]))
			return
		}
		if t != old {
			s.stack[i], s.changed = t, true
		}
	}
}

// mergeLocals merges locals into those of s. Locals without a common type become top.
func (f *inference) mergeLocals(s *joinState, locals []vtype) {
	for i, old := range s.locals {
		t := tTop
		if i < len(locals) {
			if t = old; !f.inferAssignable(locals[i], old) {
				t = f.merge(locals[i], old, false)
			}
		}
		if t != old {
			s.locals[i], s.changed = t, true
		}
	}
}

// withoutUninitialized returns the words with top in place of objects that are not initialised: such objects may
// neither be passed to a subroutine nor be returned by one.
func withoutUninitialized(words []vtype) []vtype {
	words = slices.Clone(words)
	for i, t := range words {
		if t.kind() == kindUninitialized {
			words[i] = tTop
		}
	}
	return words
}
