package types

import (
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile/code"
)

// handler is an entry of the exception table.
type handler struct {
	start, end, pc int
	caught         [1]vtype    // the stack: the type it catches, Throwable for any
	frame          *stackFrame // at pc, once it was looked for
}

func (h *handler) covers(pc int) bool { return pc >= h.start && pc < h.end }

// readHandlers decodes and checks the exception table (JVMS 4.10.1.5, 4.7.3). An entry with wrong positions is left out.
func (m *method) readHandlers() {
	for table := m.code.ExceptionTable; len(table) >= 8 && !m.stopped; table = table[8:] {
		h := handler{start: int(u2(table)), end: int(u2(table[2:])), pc: int(u2(table[4:])), caught: [1]vtype{m.throwable}}
		switch {
		case h.start >= h.end || !m.isStart(h.start) || h.end != len(m.starts) && !m.isStart(h.end):
			m.failAt(h.start, ruleCodeFormat, "a range from one instruction to another", fmt.Sprintf("%d to %d", h.start, h.end))
		case !m.isStart(h.pc):
			m.failAt(h.pc, ruleCodeFormat, "an instruction at the handler's position", "none")
		}
		if m.failed() {
			m.tell()
			continue
		}
		if i := u2(table[6:]); i != 0 {
			h.caught[0] = m.readCaught(h.pc, i)
		}
		m.handlers = append(m.handlers, h)
	}
}

// readCaught finds out what a handler catches.
func (m *method) readCaught(pc int, i uint16) vtype {
	m.pc = pc
	c := m.constantOf(i, classKind)
	if !m.failed() && !m.assignable(c.class, m.throwable) {
		m.fail(ruleHandlers, "a subclass of java/lang/Throwable", m.describe(c.class))
	}
	if m.failed() {
		m.tell()
		return tUnknown
	}
	return c.class
}

// doubtCaught makes unknown what handlers have on their stacks by their frames if it was told that they catch something
// else.
func (m *method) doubtCaught() {
	for i := range m.handlers {
		if h := &m.handlers[i]; h.caught[0] == tUnknown {
			if f := m.frameAt(h.pc); f != nil && len(f.stack) == 1 {
				f.doubtful = make([]bool, len(f.locals)+1)
				f.doubtful[len(f.locals)] = true
			}
		}
	}
}

// leaveOut takes a handler that has been told out of the method.
func (h *handler) leaveOut() { h.start, h.end = 0, 0 }

// checkTypes is the verifier by type checking (JVMS 4.10.1): one pass over the code, with the frames at every
// place that a branch leads to.
//
// The pass itself is linear. A frame is compared whole once and later only in the locals that changed since,
// so that neither many branches nor many handlers to one frame make it quadratic in practice; what remains is
// bounded by the number of frames times the number of stores, each of which takes a byte of the code.
//
// Behind an instruction that is wrong the type state is lost until the next frame; what does not need it, operands and
// whether there are frames where branches lead, is checked all the same. Where a state does not fit a frame, nobody
// knows which of the two is wrong: both go on with the words that differ unknown.
func (m *method) checkTypes() {
	descriptor := m.member.Descriptor
	if m.result = m.typeOf(m.member).result; m.result == tInt {
		m.result = m.component(descriptor[len(descriptor)-1:])
	}
	m.initial = m.appendInitial(m.initial[:0])
	m.locals = resize(m.locals, max(int(m.code.MaxLocals), len(m.initial)))
	copy(m.locals, m.initial)
	m.thisUninitialized = len(m.initial) > 0 && m.initial[0] == tUninitializedThis
	m.checkVariables()
	m.readFrames()
	m.doubtCaught()
	flows := true // whether the instruction before this one leads here
	next := 0
	for pc := 0; pc < len(m.starts) && !m.stopped; {
		m.pc = pc
		op := code.Op(m.code.Bytecode[pc])
		size := op.Size()
		if size == 0 {
			_, size, _ = code.Next(m.code.Bytecode, pc) // prepare has decoded it
		}
		if next < len(m.frames) && m.frames[next].pc == pc {
			m.enterFrame(next, flows)
			next++
		} else if !flows {
			m.missFrame(pc, "a frame behind an instruction that never leads to the next")
			m.lost = true
		}
		pc += size
		m.initialised = false
		if !m.lost && !m.failed() && !m.slow {
			covered := !m.uncovered()
			if !covered || traits[op]&storing == 0 && op != code.Invokespecial {
				done, leads := m.typeQuickly(op)
				if done && covered && !m.lost {
					m.matchHandlers(false)
				}
				if flows = leads; done {
					continue
				}
			}
		}
		in, _ := code.At(m.code.Bytecode, m.pc)
		flows = m.checkInstruction(in)
	}
	if flows {
		m.failAt(len(m.starts), ruleFlow, "a jump, return or throw at the end of the code", "none")
	}
}

// missFrame tells that there is no frame at a place that needs one, unless nobody knows.
func (m *method) missFrame(pc int, want string) {
	if pc >= m.blindFrom || m.failed() || m.places[pc] {
		return
	}
	m.failOnce(pc, ruleFlow, want, "none")
	m.tell()
	// If there is another frame that nothing needs, it has slipped from its place, and those behind it with it.
	if !m.stopped && m.hasIdleFrame() {
		m.stop()
	}
}

// hasIdleFrame says whether there is a frame where no branch or handler leads, and not behind an instruction that never
// leads to the next.
func (m *method) hasIdleFrame() bool {
	needed := make([]bool, len(m.starts)+1)
	for in := range code.Instructions(m.code.Bytecode) {
		for target := range in.Targets() {
			if m.isStart(target) {
				needed[target] = true
			}
		}
		needed[in.PC+in.Size] = needed[in.PC+in.Size] || !in.FallsThrough()
	}
	for i := range m.handlers {
		needed[m.handlers[i].pc] = true
	}
	return slices.ContainsFunc(m.frames, func(f stackFrame) bool { return !needed[f.pc] })
}

// checkInstruction lets one instruction act and compares the result with the frames it leads to. It says
// whether it leads to the next instruction.
func (m *method) checkInstruction(in code.Instruction) (flows bool) {
	t := traitsOf(in)
	isStore := t&storing != 0
	if t&constrained != 0 {
		m.operands(in, t)
	}
	if !m.lost && !m.failed() {
		if isStore && len(m.handlers) > 0 { // a handler sees the locals before the store
			m.matchHandlers(false)
		}
		m.step(in, t)
	}
	if m.failed() {
		m.tell()
		m.lost = true
		return in.PC+in.Size < len(m.starts) // nobody knows: it is not told that the end is reached, or no frame
	}
	if t&branching != 0 {
		m.matchTargets(in)
	}
	if !isStore && len(m.handlers) > 0 && !m.lost {
		m.matchHandlers(m.initialised)
	}
	return in.FallsThrough()
}

// enterFrame makes the frame that stands at the current instruction the type state.
func (m *method) enterFrame(i int, flows bool) {
	f := &m.frames[i]
	if flows && !m.lost {
		m.matchFrame(f, m.stack, m.thisUninitialized)
	}
	if m.failed() {
		return
	}
	if i > 0 && sameMemory(f.locals, m.frames[i-1].locals) {
		// Only what was stored since the frame before can differ.
		for _, local := range m.changed[m.enteredAt:] {
			t := tTop
			if int(local) < len(f.locals) {
				t = f.locals[local]
			}
			m.locals[local] = t
			m.changed = append(m.changed, local)
		}
	} else {
		if m.spend(1 + len(m.locals)/wordsPerStep); m.failed() {
			return
		}
		for local := range m.locals {
			t := tTop
			if local < len(f.locals) {
				t = f.locals[local]
			}
			m.setLocal(local, t)
		}
	}
	m.enteredAt = len(m.changed)
	m.stack = append(m.stack[:0], f.stack...)
	m.thisUninitialized = f.thisUninitialized
	m.lost = f.unusable
	for word, doubtful := range f.doubtful {
		if doubtful {
			m.doubt(f, word)
		}
	}
}

// sameMemory says whether two slices are one.
func sameMemory(a, b []vtype) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (m *method) matchTargets(in code.Instruction) {
	last := -1
	for target := range in.Targets() {
		if target != last { // many cases of a switch in a row have one
			m.matchTarget(target)
		}
		last = target
	}
}

// matchTarget compares the type state with the frame at a branch target.
func (m *method) matchTarget(target int) {
	f := m.frameAt(target)
	if f == nil {
		m.missFrame(target, fmt.Sprintf("a frame at the branch target %d", target))
		return
	}
	if !m.lost {
		m.lost = !m.matchFrame(f, m.stack, m.thisUninitialized)
	}
}

// matchHandlers compares the type state with the frames of the handlers around the current instruction. The
// stack there holds what was caught. thisUninitialized is set for what an instruction that initialises this
// leaves behind if it throws.
func (m *method) matchHandlers(thisUninitialized bool) {
	m.spend(len(m.handlers) / wordsPerStep)
	for i := range m.handlers {
		h := &m.handlers[i]
		if !h.covers(m.pc) {
			continue
		}
		if m.failed() {
			return
		}
		if h.frame == nil {
			h.frame = m.frameAt(h.pc)
		}
		switch {
		case m.code.MaxStack == 0:
			m.fail(ruleHandlers, "room on the stack for what a handler catches", "max_stack 0")
			m.tell()
			m.handlers = m.handlers[:0]
			return
		case h.frame == nil:
			m.missFrame(h.pc, fmt.Sprintf("a frame at the handler %d", h.pc))
			h.leaveOut()
		case !m.matchFrame(h.frame, h.caught[:], m.thisUninitialized || thisUninitialized):
			h.leaveOut()
		}
	}
}

// matchFrame says whether a type state may continue as a frame (JVMS 4.10.1.4): with the locals of the
// method's, and the given stack and flag. What may not is told. The result is false if the state cannot go on either,
// because it has another depth.
func (m *method) matchFrame(f *stackFrame, stack []vtype, thisUninitialized bool) bool {
	if f.unusable {
		return true
	}
	if len(stack) != len(f.stack) {
		f.unusable = !f.checked
		m.fail(ruleFrameMatch, fmt.Sprintf("%d words on the stack, as in the frame at %d", len(f.stack), f.pc), fmt.Sprint(len(stack)))
		m.tell()
		return false
	}
	since := len(m.changed) - f.checkedTo
	again := f.checked && since < len(f.locals)
	if !again {
		since = len(f.locals)
	}
	if m.spend(1 + (since+len(stack))/wordsPerStep); m.failed() {
		return true
	}
	var differ []int
	if again {
		for _, local := range m.changed[f.checkedTo:] {
			if !m.matchLocal(f, int(local)) {
				differ = append(differ, int(local))
			}
		}
	} else {
		for local := range f.locals {
			if !m.matchLocal(f, local) {
				differ = append(differ, local)
			}
		}
	}
	for i, want := range f.stack {
		word := len(f.locals) + i
		if got := stack[i]; got != want && !m.assignable(got, want) && !f.doubts(word) {
			differ = append(differ, word)
		}
	}
	switch {
	case len(differ) > 0:
		m.differFrom(f, stack, differ)
	case thisUninitialized && !f.thisUninitialized:
		m.failOnce(f.pc, ruleFrameMatch, fmt.Sprintf("an initialised this, as in the frame at %d", f.pc), "an uninitialised one")
		m.tell()
	}
	f.checked, f.checkedTo = true, len(m.changed)
	return true
}

// differFrom tells the first of the words, locals and then the stack, in which the type state differs from a frame. They
// are then unknown in the state, and, unless another state did fit, in the frame.
func (m *method) differFrom(f *stackFrame, stack []vtype, words []int) {
	if local := words[0]; local < len(f.locals) {
		m.fail(ruleFrameMatch, fmt.Sprintf("%s in local %d, as in the frame at %d", m.describe(f.locals[local]), local, f.pc), m.describe(m.locals[local]))
	} else {
		i := local - len(f.locals)
		m.fail(ruleFrameMatch, fmt.Sprintf("%s in word %d of the stack, as in the frame at %d", m.describe(f.stack[i]), i, f.pc), m.describe(stack[i]))
	}
	m.tell()
	if !f.checked && f.doubtful == nil {
		f.doubtful = make([]bool, len(f.locals)+len(f.stack))
	}
	isState := sameMemory(stack, m.stack)
	for _, word := range words {
		if !f.checked {
			f.doubtful[word] = true
		}
		if word < len(f.locals) || isState {
			m.doubt(f, word)
		}
	}
}

// doubt makes what a word of a frame stands for unknown in the type state.
func (m *method) doubt(f *stackFrame, word int) {
	if word < len(f.locals) {
		m.setLocal(word, tUnknown)
	} else {
		m.stack[word-len(f.locals)] = tUnknown
	}
}

// spend counts steps of work against a bound that grows with the class file, while the work for a hostile one can grow
// with the square of its size. A step is some twenty nanoseconds. Of the 200,000 classes of the corpus none needs more
// than a ninetieth of what it may.
func (m *method) spend(steps int) {
	m.work += int64(steps)
	if m.exhausted() {
		m.fail(ruleLimit, "a class that can be verified in a bounded number of steps", "one that takes more")
	}
}

// exhausted says whether the class has had all the steps that it may take.
func (k *checker) exhausted() bool {
	const base, perByte = 1 << 21, 1 << 6
	return k.work > base+perByte*int64(len(k.class.Bytes()))
}

// Words that are compared in one step, as most of them are equal, and handlers whose ranges are.
const wordsPerStep = 16

func (m *method) matchLocal(f *stackFrame, local int) bool {
	if local >= len(f.locals) {
		return true
	}
	got, want := m.locals[local], f.locals[local]
	return got == want || m.assignable(got, want) || f.doubts(local)
}

// checkVariables demands that the ranges of LocalVariableTable begin and end at instructions, as HotSpot does
// where it checks types (JVMS 4.7.13).
func (m *method) checkVariables() {
	for _, a := range m.code.Attributes {
		if a.Name != "LocalVariableTable" || len(a.Info) < 2 {
			continue
		}
		for row := a.Info[2:]; len(row) >= 10; row = row[10:] {
			start := int(u2(row))
			end := start + int(u2(row[2:]))
			if !m.isStart(start) || end != len(m.starts) && !m.isStart(end) {
				m.failAt(start, "JVMS 4.7.13", "a variable's range from one instruction to another", fmt.Sprintf("%d to %d", start, end))
				m.tell()
			}
		}
	}
}
