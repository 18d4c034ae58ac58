package types

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
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
	joins   []int32       // by position, the number of the state plus one; 0 where no paths join
	states  []joinState   // in the order of the code
	pending []uint64      // a bit for each state that has changed
	jsrs    []int         // positions of jsr and jsr_w
	rets    map[int]int   // by the position of a jsr, that of the ret that returns from it
	now     flowFacts     // the facts at the current instruction
	stored  int           // the number of words in states
	runs    int           // how often run was called
	merged  []mergedState // by handler
}

// flowFacts are the facts about all paths to a point besides the types: the subroutines that they are in, and how far a
// constructor has come.
type flowFacts struct {
	subroutines    []subroutine // outermost first
	constructed    bool         // every path has called another constructor
	needsConstruct bool         // the method is a constructor that must call another
	mayNotReturn   bool         // some path comes from a constructor call that threw
}

// mergedState says which state was last merged into a handler: in which run of inference.run, and how many locals had
// changed in that run. The same state need not be merged again.
type mergedState struct{ run, changed int }

// joinState is the type state at one position, over all paths found so far.
type joinState struct {
	pc, number    int // the position, and the index in inference.states
	reached       bool
	locals, stack []vtype // locals without trailing tops
	facts         flowFacts
}

// infer checks the method by inference.
func (m *method) infer() {
	m.setInferring(true)
	m.result = m.typeOf(m.member).result
	f := inference{method: m}
	if f.prepare(); m.stopped {
		return
	}
	m.initial = m.appendInitial(m.initial[:0])
	m.locals = resize(m.locals, max(int(m.code.MaxLocals), len(m.initial)))
	f.follow()
	slices.SortStableFunc(m.reported, func(a, b verify.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
}

// follow follows the code until no state changes any more, or a check failed.
func (f *inference) follow() {
	m, initial := f.method, f.method.initial
	start := f.state(0)
	start.reached = true
	f.mark(start)
	start.locals = f.keep(initial) // merging changes it
	start.facts.needsConstruct = m.methodFlags(m.member)&classfile.AccStatic == 0 && len(initial) > 0 &&
		initial[0] == tUninitializedThis
	for again := true; again && !m.failed(); {
		again = false
		m.spend(len(f.pending))
		m.report()
		for word := range f.pending {
			for f.pending[word] != 0 && !m.failed() {
				again = true
				number := word*64 + bits.TrailingZeros64(f.pending[word])
				f.pending[word] &^= 1 << (number % 64)
				if m.isQuick {
					f.runQuickly(&f.states[number])
				} else {
					f.run(&f.states[number])
				}
				m.report()
			}
		}
	}
}

// mark records that a state has changed, so that the code from there on must be followed again.
func (f *inference) mark(s *joinState) { f.pending[s.number/64] |= 1 << (s.number % 64) }

// prepare checks the operands of all instructions, even of those that no path leads to, and finds the positions for
// which states are kept.
func (f *inference) prepare() {
	m := f.method
	f.joins = resize(m.joins, len(m.starts))
	m.joins = f.joins
	f.join(0)
	bytecode := m.code.Bytecode
	size := 0
	for pc := 0; pc < len(bytecode); pc += size {
		in, _ := code.At(bytecode, pc) // prepare of the method has decoded it
		size = in.Size
		f.prepareOne(in)
	}
	f.prepareHandlers()
	f.numberStates()
}

// prepareOne checks the operands of an instruction, and marks the positions for which states are kept because of it.
func (f *inference) prepareOne(in code.Instruction) {
	m, t := f.method, traitsOf(in)
	if t&constrained == 0 {
		return
	}
	m.pc = in.PC
	if m.checkConstraints(in, t); m.failed() {
		m.starts[in.PC] = faultyStart
		m.report()
		return
	}
	if t&branching == 0 && t&local == 0 {
		return
	}
	for target := range in.Targets() {
		f.join(target)
	}
	switch op, _ := localAccess(in); op {
	case code.Jsr, code.JsrW:
		f.jsrs = append(f.jsrs, in.PC)
		f.join(in.PC)
		if next := in.PC + in.Size; next < len(f.joins) {
			f.join(next)
		}
	case code.Ret:
		f.join(in.PC)
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
	m.merged = resize(m.merged, len(m.handlers))
	f.merged = m.merged
}

// join says that paths may join at a position, so that a state is kept for it.
func (f *inference) join(pc int) {
	if f.joins[pc] == 0 {
		f.joins[pc] = 1
		f.method.joined = append(f.method.joined, uint16(pc))
	}
}

// numberStates makes a state for each position at which paths may join, in the order of the code.
func (f *inference) numberStates() {
	joined := f.method.joined
	slices.Sort(joined)
	f.states = f.method.states[:0]
	for number, pc := range joined {
		f.states = append(f.states, joinState{pc: int(pc), number: number})
		f.joins[pc] = int32(number) + 1
	}
	f.method.states = f.states
	f.method.pending = resize(f.method.pending, len(joined)/64+1)
	f.pending = f.method.pending
}

// state returns the state that is kept for a position, nil if none is.
func (f *inference) state(pc int) *joinState {
	if number := f.joins[pc]; number != 0 {
		return &f.states[number-1]
	}
	return nil
}

// run follows the code from a state on, until it leads to a position with a state, ends, or fails.
func (f *inference) run(s *joinState) {
	m, pc := f.method, s.pc
	f.start(s)
	for {
		_, size, _ := code.Next(m.code.Bytecode, pc) // prepare has decoded it
		m.pc = pc
		if m.spend(2); m.failed() || m.starts[pc] == faultyStart {
			return
		}
		f.mergeHandlers()
		if !f.stepFully() {
			return
		}
		if pc += size; pc >= len(f.joins) {
			m.fail(ruleInference, "a jump, return or throw at the end of the code", "none")
			return
		}
		if f.joins[pc] != 0 {
			f.mergeInto(pc, m.locals[:m.used], m.stack, &f.now)
			return
		}
	}
}

// start makes a state the current one.
func (f *inference) start(s *joinState) {
	m := f.method
	m.spend(2 + (len(s.locals)+len(s.stack)+s.facts.words())/wordsPerStep)
	copy(m.locals, s.locals)
	clear(m.locals[len(s.locals):max(m.used, len(s.locals))])
	m.used = len(s.locals)
	m.stack = append(m.stack[:0], s.stack...)
	m.changed = m.changed[:0]
	f.runs++
	f.now = s.facts.clone()
}

// stepFully applies the current instruction, whatever it is, merges the result into the states at its targets, and
// reports whether the instruction leads to the next one.
func (f *inference) stepFully() bool {
	m := f.method
	in, _ := code.At(m.code.Bytecode, m.pc)
	t := traitsOf(in)
	if f.stepWithFacts(in, t); m.failed() {
		return false
	}
	switch {
	case t&branching != 0:
		f.mergeTargets(in)
	case in.Op == code.Ret || in.Op == code.Wide && code.Op(in.U1(0)) == code.Ret:
		f.mergeReturn(in)
	}
	return !m.failed() && in.FallsThrough()
}

// stepWithFacts applies an instruction to the types and to the other facts.
func (f *inference) stepWithFacts(in code.Instruction, t trait) {
	m := f.method
	m.initialised = false
	writtenBefore := len(m.changed)
	if in.Op.IsReturn() {
		switch {
		case in.Op == code.Return && f.now.needsConstruct && !f.now.constructed:
			m.fail(ruleInference, "a call of another constructor before return", "none on some path")
		case f.now.mayNotReturn:
			m.fail(ruleInference, "no return after a constructor call that threw", "one")
		}
	}
	if (in.Op == code.Jsr || in.Op == code.JsrW) && !m.failed() {
		f.enterSubroutine(in)
	}
	if !m.failed() {
		m.step(in, t)
	}
	if m.failed() || len(f.now.subroutines) == 0 && !m.initialised {
		return
	}
	if index, ok := in.Local(); ok {
		_, t := localAccess(in)
		f.now.touch(index)
		if _, two := t.secondWord(); two {
			f.now.touch(index + 1)
		}
	}
	if in.Op == code.New || in.Op == code.Invokespecial {
		for _, local := range m.changed[writtenBefore:] {
			f.now.touch(int(local))
		}
	}
	if m.initialised {
		f.now.constructed = true
		f.mergeAfterInit()
	}
}

// mergeHandlers merges the locals before the current instruction into the states of the handlers that cover it.
func (f *inference) mergeHandlers() {
	for _, i := range f.covering(f.pc) {
		h := &f.handlers[i]
		if !h.covers(f.pc) || f.failed() { // it may be disabled
			continue
		}
		now := mergedState{f.runs, len(f.changed) + f.pauses}
		if f.merged[i] == now && len(f.now.subroutines) == 0 {
			continue
		}
		f.merged[i] = now
		f.mergeInto(h.pc, f.locals[:f.used], h.caught[:], &f.now)
		f.report() // other paths may be correct
	}
}

// mergeAfterInit merges the state after a call of another constructor into the handlers that cover the call. It is not
// known whether the object was initialised before the call threw, so that such a path must not return.
func (f *inference) mergeAfterInit() {
	facts := f.now
	facts.mayNotReturn = true
	f.runs++ // this state differs from what was merged before
	for _, i := range f.covering(f.pc) {
		if h := &f.handlers[i]; h.covers(f.pc) && !f.failed() {
			f.mergeInto(h.pc, f.locals[:f.used], h.caught[:], &facts)
			f.report()
		}
	}
}

// mergeTargets merges the state after the current instruction into the states at its targets.
func (f *inference) mergeTargets(in code.Instruction) {
	locals, stack := f.locals[:f.used], f.stack
	if in.Op == code.Jsr || in.Op == code.JsrW {
		if ret, ok := f.rets[in.PC]; ok {
			if s := f.state(ret); s.reached {
				f.mark(s)
			}
		}
		locals, stack = withoutUninitialized(locals), withoutUninitialized(stack)
	}
	for target := range in.Targets() {
		if f.failed() {
			return
		}
		f.mergeInto(target, locals, stack, &f.now)
	}
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
		s.reached = true
		f.mark(s)
		s.locals, s.stack = f.keep(usedLocals(locals)), f.keep(stack)
		s.facts = facts.clone()
		return
	}
	f.mergeStack(s, pc, stack)
	f.mergeLocals(s, locals)
	if s.facts.merge(facts) {
		f.mark(s)
	}
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
			s.stack[i] = t
			f.mark(s)
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
			s.locals[i] = t
			f.mark(s)
		}
	}
	s.locals = usedLocals(s.locals)
}

// usedLocals cuts off trailing tops.
func usedLocals(locals []vtype) []vtype {
	for len(locals) > 0 && locals[len(locals)-1] == tTop {
		locals = locals[:len(locals)-1]
	}
	return locals
}

// withoutUninitialized returns the words with top in place of objects that are not initialised: such objects may
// neither be passed to a subroutine nor be returned by one.
func withoutUninitialized(words []vtype) []vtype {
	if !slices.ContainsFunc(words, func(t vtype) bool { return t.kind() == kindUninitialized }) {
		return words
	}
	words = slices.Clone(words)
	for i, t := range words {
		if t.kind() == kindUninitialized {
			words[i] = tTop
		}
	}
	return words
}
