package verify

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile/code"
)

// handler is an entry of the exception table.
type handler struct {
	start, end, pc int
	caught         [1]vtype    // the stack: the type it catches, Throwable for any
	frame          *stackFrame // at pc, once it was looked for
}

func (h *handler) covers(pc int) bool { return pc >= h.start && pc < h.end }

// readHandlers decodes and checks the exception table (JVMS 4.10.1.5, 4.7.3).
func (m *method) readHandlers() bool {
	table := m.code.ExceptionTable
	for ; len(table) >= 8; table = table[8:] {
		h := handler{start: int(u2(table)), end: int(u2(table[2:])), pc: int(u2(table[4:])), caught: [1]vtype{m.throwable}}
		switch {
		case h.start >= h.end || !m.isStart(h.start) || h.end != len(m.starts) && !m.isStart(h.end):
			m.failAt(h.start, ruleCodeFormat, "a range from one instruction to another", fmt.Sprintf("%d to %d", h.start, h.end))
			return false
		case !m.isStart(h.pc):
			m.failAt(h.pc, ruleCodeFormat, "an instruction at the handler's position", "none")
			return false
		}
		if i := u2(table[6:]); i != 0 {
			c := m.constantOf(i, classKind)
			if m.failed() {
				return false
			}
			h.caught[0] = c.class
			if !m.assignable(c.class, m.throwable) {
				m.failAt(h.pc, ruleHandlers, "a subclass of java/lang/Throwable", m.describe(c.class))
				return false
			}
		}
		m.handlers = append(m.handlers, h)
	}
	return true
}

// checkTypes is the verifier by type checking (JVMS 4.10.1): one pass over the code, with the frames at every
// place that a branch leads to.
//
// The pass itself is linear. A frame is compared whole once and later only in the locals that changed since,
// so that neither many branches nor many handlers to one frame make it quadratic in practice; what remains is
// bounded by the number of frames times the number of stores, each of which takes a byte of the code.
func (m *method) checkTypes() {
	descriptor := m.member.Descriptor
	if m.result = m.methodType(descriptor).result; m.result == tInt {
		m.result = m.component(descriptor[len(descriptor)-1:])
	}
	m.initial = m.appendInitial(m.initial[:0])
	m.locals = resize(m.locals, max(int(m.code.MaxLocals), len(m.initial)))
	copy(m.locals, m.initial)
	m.thisUninitialized = len(m.initial) > 0 && m.initial[0] == tUninitializedThis
	m.checkVariables()
	if m.readFrames(); m.failed() {
		return
	}
	flows := true // whether the instruction before this one leads here
	next := 0
	for pc := 0; pc < len(m.starts) && !m.failed(); {
		m.pc = pc
		in, err := code.At(m.code.Bytecode, pc)
		if err != nil {
			return // prepare has decoded it
		}
		if next < len(m.frames) && m.frames[next].pc == pc {
			m.enterFrame(next, flows)
			next++
		} else if !flows {
			m.fail(ruleFlow, "a frame behind an instruction that never leads to the next", "none")
		}
		if m.failed() {
			return
		}
		flows = m.checkInstruction(in)
		pc += in.Size
	}
	if flows && !m.failed() {
		m.failAt(len(m.starts), ruleFlow, "a jump, return or throw at the end of the code", "none")
	}
}

// checkInstruction lets one instruction act and compares the result with the frames it leads to. It says
// whether it leads to the next instruction.
func (m *method) checkInstruction(in code.Instruction) (flows bool) {
	op, _ := localAccess(in)
	isStore := op >= code.Istore && op <= code.Astore
	m.initialised = false
	if m.operands(in); m.failed() {
		return false
	}
	if isStore && len(m.handlers) > 0 { // a handler sees the locals before the store
		m.matchHandlers(false)
	}
	if !m.failed() {
		m.step(in)
	}
	last := -1
	for target := range in.Targets() {
		if m.failed() {
			return false
		}
		if target != last {
			m.matchTarget(target)
		}
		last = target
	}
	if !isStore && len(m.handlers) > 0 && !m.failed() {
		m.matchHandlers(m.initialised)
	}
	return in.FallsThrough()
}

// enterFrame makes the frame that stands at the current instruction the type state.
func (m *method) enterFrame(i int, flows bool) {
	f := &m.frames[i]
	if flows {
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
}

// sameMemory says whether two slices are one.
func sameMemory(a, b []vtype) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// matchTarget compares the type state with the frame at a branch target.
func (m *method) matchTarget(target int) {
	f := m.frameAt(target)
	if f == nil {
		m.fail(ruleFlow, fmt.Sprintf("a frame at the branch target %d", target), "none")
		return
	}
	m.matchFrame(f, m.stack, m.thisUninitialized)
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
		if h.frame == nil {
			h.frame = m.frameAt(h.pc)
		}
		switch {
		case m.code.MaxStack == 0:
			m.fail(ruleHandlers, "room on the stack for what a handler catches", "max_stack 0")
		case h.frame == nil:
			m.fail(ruleHandlers, fmt.Sprintf("a frame at the handler %d", h.pc), "none")
		default:
			m.matchFrame(h.frame, h.caught[:], m.thisUninitialized || thisUninitialized)
		}
		if m.failed() {
			return
		}
	}
}

// matchFrame says whether a type state may continue as a frame (JVMS 4.10.1.4): with the locals of the
// method's, and the given stack and flag.
func (m *method) matchFrame(f *stackFrame, stack []vtype, thisUninitialized bool) {
	if len(stack) != len(f.stack) {
		m.fail(ruleFrameMatch, fmt.Sprintf("%d words on the stack, as in the frame at %d", len(f.stack), f.pc), fmt.Sprint(len(stack)))
		return
	}
	since := len(m.changed) - f.checkedTo
	again := f.checked && since < len(f.locals)
	if !again {
		since = len(f.locals)
	}
	if m.spend(1 + (since+len(stack))/wordsPerStep); m.failed() {
		return
	}
	if again {
		for _, local := range m.changed[f.checkedTo:] {
			if !m.matchLocal(f, int(local)) {
				return
			}
		}
	} else {
		for local := range f.locals {
			if !m.matchLocal(f, local) {
				return
			}
		}
	}
	f.checked, f.checkedTo = true, len(m.changed)
	for i, want := range f.stack {
		if got := stack[i]; got != want && !m.assignable(got, want) {
			m.fail(ruleFrameMatch, fmt.Sprintf("%s in word %d of the stack, as in the frame at %d", m.describe(want), i, f.pc), m.describe(got))
			return
		}
	}
	if thisUninitialized && !f.thisUninitialized {
		m.fail(ruleFrameMatch, fmt.Sprintf("an initialised this, as in the frame at %d", f.pc), "an uninitialised one")
	}
}

// spend counts steps of work against a bound that grows with the class file, while the work for a hostile one can grow
// with the square of its size. A step is some twenty nanoseconds. Of the 200,000 classes of the corpus none needs more
// than a ninetieth of what it may.
func (m *method) spend(steps int) {
	const base, perByte = 1 << 21, 1 << 6
	m.work += int64(steps)
	if m.work > base+perByte*int64(len(m.class.Bytes())) {
		m.fail(ruleLimit, "a class that can be verified in a bounded number of steps", "one that takes more")
	}
}

// Words that are compared in one step, as most of them are equal, and handlers whose ranges are.
const wordsPerStep = 16

func (m *method) matchLocal(f *stackFrame, local int) bool {
	if local >= len(f.locals) {
		return true
	}
	got, want := m.locals[local], f.locals[local]
	if got == want || m.assignable(got, want) {
		return true
	}
	m.fail(ruleFrameMatch, fmt.Sprintf("%s in local %d, as in the frame at %d", m.describe(want), local, f.pc), m.describe(got))
	return false
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
				return
			}
		}
	}
}
