package types

import (
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// quickFrame is a frame of a StackMapTable as the quick path decodes it.
type quickFrame struct {
	pc                int
	locals, stack     []vtype // locals may share memory with those of the frames around
	thisUninitialized bool
}

// passesByFrames reports whether the method passes type checking (JVMS 4.10.1), as checkTypes does it, but for the
// findings. It decodes frames first, and then passes over the code once. That frames, handlers and variables are at
// instructions is checked last, when it is known where instructions begin.
//
// A state is compared with a whole frame each time, where checkTypes compares what has changed. That is no more than
// a few words, except in methods whose check is bounded by spend.
func (m *method) passesByFrames() bool {
	m.setInferring(false)
	bytecode := m.code.Bytecode
	m.thisUninitialized = len(m.initial) > 0 && m.initial[0] == tUninitializedThis
	if !m.readAllFrames() || !m.readAllHandlers() {
		return false
	}
	flows := true // whether the instruction before this one leads here
	for pc := 0; pc < len(bytecode); {
		limit := len(bytecode)
		if m.nextFrame < len(m.quickFrames) {
			if f := &m.quickFrames[m.nextFrame]; f.pc == pc {
				if flows && !m.fitsFrame(f, m.stack) {
					return false
				}
				m.continueFrom(f)
				flows = true
				m.nextFrame++
			}
			if m.nextFrame < len(m.quickFrames) {
				limit = min(limit, m.quickFrames[m.nextFrame].pc)
			}
		}
		if !flows || limit <= pc {
			return false
		}
		if len(m.handlers) > 0 {
			if !m.fitsHandlers(pc) {
				return false
			}
			limit = min(limit, m.coverage.to)
		}
		at, stopped := m.run(pc, limit, m.isCovered)
		m.matched = m.matched && !m.stored
		if m.isCovered { // checkTypes compares at each instruction
			m.work += int64(2 * len(m.coverage.answer) * (at - pc + 1))
		}
		if pc = at; stopped {
			var ok bool
			if pc, flows, ok = m.leave(pc, limit); !ok {
				return false
			}
		}
	}
	return !flows && m.nextFrame == len(m.quickFrames) && !m.gaveUp && !m.failed() && m.startsAgree() &&
		(!m.hasVariables || m.variablesAgree())
}

// mustStart notes that an instruction must begin at a position.
func (m *method) mustStart(pc int) { m.mustStarts = append(m.mustStarts, uint16(pc)) }

// startsAgree reports whether instructions begin and end where they must.
func (m *method) startsAgree() bool {
	for _, pc := range m.mustStarts {
		if m.starts[pc] == noStart {
			return false
		}
	}
	return true
}

// variablesAgree reports whether the ranges in LocalVariableTable begin and end at instructions (see checkVariables).
func (m *method) variablesAgree() bool {
	for i := range m.code.Attributes {
		a := &m.code.Attributes[i]
		if a.Name != "LocalVariableTable" || len(a.Info) < 2 {
			continue
		}
		for row := a.Info[2:]; len(row) >= 10; row = row[10:] {
			start := int(u2(row))
			end := start + int(u2(row[2:]))
			if !m.isStart(start) || end != len(m.starts) && !m.isStart(end) {
				return false
			}
		}
	}
	return true
}

// readAllHandlers decodes the exception table, as readHandlers does.
func (m *method) readAllHandlers() bool {
	for table := m.code.ExceptionTable; len(table) >= 8; table = table[8:] {
		h := handler{start: int(u2(table)), end: int(u2(table[2:])), pc: int(u2(table[4:])),
			caught: [1]vtype{m.throwable}}
		if h.start >= h.end || h.end > len(m.starts) || h.pc >= len(m.starts) || m.code.MaxStack == 0 {
			return false
		}
		m.mustStart(h.start)
		m.mustStart(h.pc)
		if h.end < len(m.starts) {
			m.mustStart(h.end)
		}
		if i := u2(table[6:]); i != 0 {
			c := m.constant(i)
			if c.tag != classfile.TagClass || !m.assignable(c.class, m.throwable) {
				return false
			}
			h.caught[0] = c.class
		}
		m.handlers = append(m.handlers, h)
	}
	return true
}

// quickFrameAt returns the frame at a position, nil if there is none. Most branches lead to one of the next frames.
func (m *method) quickFrameAt(pc int) *quickFrame {
	frames := m.quickFrames
	lo, hi := 0, m.nextFrame
	if hi < len(frames) && frames[hi].pc <= pc {
		const few = 4
		for lo = hi; lo < min(hi+few, len(frames)); lo++ {
			if frames[lo].pc == pc {
				return &frames[lo]
			}
		}
		hi = len(frames)
	}
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); frames[mid].pc < pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(frames) || frames[lo].pc != pc {
		return nil
	}
	return &frames[lo]
}

// fitsFrame reports whether the type state, with that stack, may continue as the frame (see matchFrame).
func (m *method) fitsFrame(f *quickFrame, stack []vtype) bool {
	m.work += 1 + int64(len(f.locals)+len(stack))/wordsPerStep
	if len(stack) != len(f.stack) || m.thisUninitialized && !f.thisUninitialized || m.exhausted() {
		return false
	}
	for i, want := range f.stack {
		if got := stack[i]; got != want && want != tTop && !m.assignable(got, want) {
			return false
		}
	}
	locals := m.locals[:len(f.locals)]
	for i, want := range f.locals {
		if got := locals[i]; got != want && want != tTop && !m.assignable(got, want) {
			return false
		}
	}
	return true
}

// fitsTarget reports whether the type state may continue at a branch target.
func (m *method) fitsTarget(pc int) bool {
	f := m.quickFrameAt(pc)
	return f != nil && m.fitsFrame(f, m.stack)
}

// continueFrom makes a frame the type state.
func (m *method) continueFrom(f *quickFrame) {
	m.work += 1 + int64(len(m.locals))/wordsPerStep
	n := copy(m.locals, f.locals)
	if m.used > n {
		clear(m.locals[n:m.used])
	}
	m.used = n
	m.stack = append(m.stack[:0], f.stack...)
	m.thisUninitialized = f.thisUninitialized
	m.matched = false
}

// fitsHandlers finds the handlers that cover a position, and reports whether the type state may continue there.
// checkTypes compares the state at each instruction that is covered; here it is compared if it has changed.
func (m *method) fitsHandlers(pc int) bool {
	c := &m.coverage
	if pc < c.from || pc >= c.to {
		m.covering(pc)
		m.matched, m.isCovered = false, len(c.answer) > 0
	}
	return !m.isCovered || m.matched || m.fitsCovering()
}

// fitsCovering compares the type state with the frames of the handlers that cover the current instruction.
func (m *method) fitsCovering() bool {
	for _, i := range m.coverage.answer {
		h := &m.handlers[i]
		if h.quickFrame == nil {
			if h.quickFrame = m.quickFrameAt(h.pc); h.quickFrame == nil {
				return false
			}
		}
		if !m.fitsFrame(h.quickFrame, h.caught[:]) {
			return false
		}
	}
	m.matched = true
	return true
}

// leave applies the instruction at a position, at which run stopped. It reports the position of the next one, whether
// the instruction leads there, and whether it is correct.
func (m *method) leave(pc, limit int) (next int, flows, ok bool) {
	bytecode := m.code.Bytecode
	row, op := &quickRows[bytecode[pc]], code.Op(bytecode[pc])
	if next = pc + int(row.size); next > limit {
		return next, false, false
	}
	m.starts[pc] = passedStart
	switch row.kind {
	case quickReturn, quickAreturn, quickReturnVoid, quickAthrow:
		isOpen := row.kind == quickReturnVoid && m.thisUninitialized && m.member.Name == "<init>"
		return next, false, !isOpen && m.ends(row)
	}
	if !m.branch(row) {
		return m.stepAlone(pc, limit)
	}
	return next, op != code.Goto, m.fitsTarget(pc + int(int16(u2(bytecode[pc+1:]))))
}

// branch applies the instruction if it is a branch, but does not follow it.
func (m *method) branch(row *quickRow) bool {
	switch row.kind {
	case quickBranch:
		return m.popAndPush(row)
	case quickCompare:
		return m.popReferences(int(row.pops))
	}
	return false
}

// ends reports whether the types on the stack allow a return or athrow.
func (m *method) ends(row *quickRow) bool {
	top := len(m.stack) - 1
	switch row.kind {
	case quickReturnVoid:
		return m.result == tTop
	case quickReturn:
		return m.result == vtype(row.t) && m.popPushed(row)
	case quickAreturn:
		return m.result != tTop && top >= 0 && references.has(m.stack[top]) && m.fits(m.stack[top], m.result)
	}
	return top >= 0 && references.has(m.stack[top]) && m.fits(m.stack[top], m.throwable)
}

// stepAlone applies an instruction on the full path.
func (m *method) stepAlone(pc, limit int) (next int, flows, ok bool) {
	in, err := code.At(m.code.Bytecode, pc)
	if err != nil || pc+in.Size > limit {
		return pc, false, false
	}
	m.pc = pc
	t := traitsOf(in)
	if t&constrained != 0 {
		m.checkConstraints(in, t)
	}
	if m.failed() || m.isCovered && in.Op == code.Invokespecial && m.constant(in.Constant()).name == "<init>" {
		return pc, false, false
	}
	m.step(in, t)
	m.matched = false
	next, flows = pc+in.Size, in.FallsThrough()
	switch {
	case m.failed() || in.Op == code.Lookupswitch && next == len(m.starts): // see prepare
		return next, false, false
	case in.Op == code.Tableswitch || in.Op == code.Lookupswitch:
		return next, flows, m.fitsSwitch(in)
	}
	if target, ok := in.Branch(); ok && !m.fitsTarget(target) {
		return next, false, false
	}
	return next, flows, true
}

// fitsSwitch reports whether the type state may continue at the targets of a switch.
func (m *method) fitsSwitch(in code.Instruction) bool {
	const word = 4
	at, step := (in.PC+word)&^(word-1), word
	if in.Op == code.Lookupswitch {
		step = 2 * word
	}
	target := func(at int) int { return in.PC + int(int32(binary.BigEndian.Uint32(m.code.Bytecode[at:]))) }
	last := target(at)
	if !m.fitsTarget(last) {
		return false
	}
	for at += 3 * word; at < in.PC+in.Size; at += step {
		if to := target(at); to != last { // many cases in a row have one
			if last = to; !m.fitsTarget(to) {
				return false
			}
		}
	}
	return true
}

// readAllFrames decodes the StackMapTable (JVMS 4.7.4), as readFrames does, and notes whether there are variables.
func (m *method) readAllFrames() bool {
	var b []byte
	m.nextFrame, m.hasVariables = 0, false
	for i := len(m.code.Attributes) - 1; i >= 0; i-- { // the first one counts
		switch a := &m.code.Attributes[i]; a.Name {
		case "StackMapTable":
			b = a.Info
		case "LocalVariableTable":
			m.hasVariables = true
		}
	}
	if len(b) < 2 {
		return len(b) == 0
	}
	n := int(u2(b))
	m.quickFrames = slices.Grow(m.quickFrames, min(n, len(b)))
	r := quickReader{method: m, b: b[2:], localsEnd: -1}
	last := quickFrame{pc: -1, locals: m.initial, thisUninitialized: m.thisUninitialized}
	for range n {
		if !r.read(&last) {
			return false
		}
		m.quickFrames = append(m.quickFrames, last)
	}
	return len(r.b) == 0
}

// quickReader decodes frames.
type quickReader struct {
	*method
	b     []byte
	words int // see frameReader

	// Where in frameWords the locals of the last frame begin and end; the end is negative if they are not there.
	localsAt, localsEnd int
}

// read makes the frame before the next one.
func (r *quickReader) read(f *quickFrame) bool {
	if len(r.b) == 0 {
		return false
	}
	kind := int(r.b[0])
	r.b = r.b[1:]
	f.stack = nil
	switch {
	case kind < typeSameEnd:
		f.pc += kind + 1
		return true
	case kind < typeSameLocals1End:
		f.pc += kind - typeSameEnd + 1
		return r.readStack(f, 1)
	case kind < typeSameLocals1Ext || len(r.b) < 2:
		return false
	}
	f.pc += int(u2(r.b)) + 1
	r.b = r.b[2:]
	switch {
	case kind == typeSameLocals1Ext:
		return r.readStack(f, 1)
	case kind < typeSameExtended:
		return r.chop(f, typeSameExtended-kind)
	case kind == typeSameExtended:
		return true
	case kind < typeFull:
		return r.append(f, kind-typeSameExtended)
	}
	return r.readFull(f)
}

// chop drops the last values of the locals.
func (r *quickReader) chop(f *quickFrame, values int) bool {
	n := len(f.locals)
	for range values {
		if n == 0 {
			return false
		}
		if n--; n > 0 && f.locals[n].isSecondWord() {
			n--
		}
	}
	r.localsEnd -= len(f.locals) - n
	f.locals = f.locals[:n]
	f.thisUninitialized = slices.Contains(f.locals, tUninitializedThis)
	return true
}

// append appends values to the locals. If nothing was decoded since, that needs no copy.
func (r *quickReader) append(f *quickFrame, values int) bool {
	r.words += len(f.locals)
	if r.localsEnd != len(r.frameWords) || len(f.locals) == 0 {
		r.localsAt = len(r.frameWords)
		r.frameWords = append(r.frameWords, f.locals...)
	}
	given := len(f.locals)
	if !r.types(values) {
		return false
	}
	r.setLocals(f)
	f.thisUninitialized = f.thisUninitialized || slices.Contains(f.locals[given:], tUninitializedThis)
	return len(f.locals) <= int(r.code.MaxLocals)
}

// setLocals makes the words that were decoded last the locals.
func (r *quickReader) setLocals(f *quickFrame) {
	r.localsEnd = len(r.frameWords)
	f.locals = r.frameWords[r.localsAt:r.localsEnd:r.localsEnd]
}

// readFull decodes what follows the offset_delta of a full_frame.
func (r *quickReader) readFull(f *quickFrame) bool {
	values, ok := r.count()
	r.localsAt = len(r.frameWords)
	if !ok || !r.types(values) {
		return false
	}
	r.setLocals(f)
	f.thisUninitialized = slices.Contains(f.locals, tUninitializedThis)
	if len(f.locals) > int(r.code.MaxLocals) {
		return false
	}
	values, ok = r.count()
	return ok && r.readStack(f, values)
}

// count decodes a number of values.
func (r *quickReader) count() (n int, ok bool) {
	if len(r.b) < 2 {
		return 0, false
	}
	n = int(u2(r.b))
	r.b = r.b[2:]
	return n, true
}

// readStack decodes the values on the stack.
func (r *quickReader) readStack(f *quickFrame, values int) bool {
	start := len(r.frameWords)
	if !r.types(values) {
		return false
	}
	f.stack = r.frameWords[start:len(r.frameWords):len(r.frameWords)]
	return len(f.stack) <= int(r.code.MaxStack)
}

// types decodes verification_type_info structures and appends the types to frameWords. The tags up to that of an
// uninitialised this are the types.
func (r *quickReader) types(n int) bool {
	if r.words += n; r.words > maxFrameWords {
		return false
	}
	words, b := r.frameWords, r.b
	for range n {
		if len(b) == 0 {
			return false
		}
		tag := b[0]
		b = b[1:]
		if tag < tagObject {
			t := vtype(tag)
			words = append(words, t)
			if second, two := t.secondWord(); two {
				words = append(words, second)
			}
			continue
		}
		if tag > tagUninitialized || len(b) < 2 {
			return false
		}
		i := u2(b)
		b = b[2:]
		if tag == tagUninitialized {
			if int(i) >= len(r.starts) || code.Op(r.code.Bytecode[i]) != code.New {
				return false
			}
			r.mustStart(int(i))
			words = append(words, uninitialized(int(i)))
			continue
		}
		c := r.constant(i)
		if c.tag != classfile.TagClass {
			return false
		}
		words = append(words, c.class)
	}
	r.frameWords, r.b = words, b
	return true
}
