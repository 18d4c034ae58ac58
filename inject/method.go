package inject

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// methodPlan is what will be inserted into one method. Its memory is used for one method after another.
type methodPlan struct {
	method     *classfile.Member
	code       classfile.Code
	depths     code.Depths
	entries    []code.Insertion  // the entry calls
	insertions []code.Insertion  // the entry and exit calls, in order
	outline    code.Outline      // its stops are the instructions in front of which calls may be inserted
	push       []byte            // the instruction that pushes the ID
	entry      opening           // reports the entry, and the focus
	report     opening           // reports a continuation, empty if the method does not
	both       opening           // report, and behind it entry
	exit       []byte            // the bytecode that reports the exit, empty until it is needed
	suspends   bool              // it is suspending code
	result     []byte            // the bytecode that reports the exit with the result, empty until it is needed
	probes     [postForms][]byte // the bytecode of each form of probe, empty until it is needed
	around     code.Handler      // the handler of exact exits
	handler    []byte            // its bytecode
	ranges     [][2]int          // what it covers
	need       int               // the max_stack that the inserted code needs
	calls      int               // that are inserted
}

// opening is code that stands where a method counts as entered, how many words of stack it needs, and how many calls it
// has.
type opening struct {
	bytecode     []byte
	words, calls int
}

// empty returns an opening without code, which keeps the memory.
func (o *opening) empty() opening { return opening{bytecode: o.bytecode[:0]} }

// append returns the opening with the code of another behind its own.
func (o opening) append(other opening) opening {
	return opening{append(o.bytecode, other.bytecode...), max(o.words, other.words), o.calls + other.calls}
}

// reset empties the plan, which keeps its memory, for another method.
func (p *methodPlan) reset(m *classfile.Member) {
	p.method, p.need, p.calls, p.suspends = m, 0, 0, false
	p.entries, p.insertions, p.ranges = p.entries[:0], p.insertions[:0], p.ranges[:0]
	p.entry, p.report, p.both = p.entry.empty(), p.report.empty(), p.both.empty()
	p.push, p.exit, p.result, p.handler = p.push[:0], p.exit[:0], p.result[:0], p.handler[:0]
	for i := range p.probes {
		p.probes[i] = p.probes[i][:0]
	}
}

// method adds the edit of one method: entry and exit calls with the ID, unless that is 0, with focus the focus call,
// and the call that reports a continuation.
func (w *writer) method(index int, m *classfile.Member, id uint32, focus bool) error {
	plan := &w.plan
	if err := w.planMethod(m, id, focus); err != nil {
		return err
	}
	if len(plan.insertions) == 0 {
		return nil // a constructor that cannot report a continuation
	}
	patch := code.Patch{Insertions: plan.insertions, Outline: &plan.outline}
	if len(plan.ranges) > 0 {
		plan.makeExit(&w.block)
		plan.handler = appendHandler(plan.handler, plan.exit)
		plan.around = code.Handler{Bytecode: plan.handler, Ranges: plan.ranges,
			Throwable: w.block.Class(throwableClass)}
		patch.Handler = &plan.around
	}
	stack, misleading, err := plan.maxStack()
	if err != nil {
		return err
	}
	patch.MaxStack = stack
	if w.block.trial {
		w.infos = w.infos[:0]
	}
	start := len(w.infos)
	infos, notes, err := w.relocator.Relocate(w.infos, w.class, m, &plan.code, patch, &w.block.PoolBuilder)
	if err != nil {
		if !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrUnknownAttribute) {
			err = fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		return err
	}
	w.infos = infos
	info := infos[start:len(infos):len(infos)]
	if newLength := int(binary.BigEndian.Uint32(info[4:])); w.options.KeepCompilable &&
		len(plan.code.Bytecode) <= hugeMethodLimit && newLength > hugeMethodLimit {
		return fmt.Errorf("%w: from %d to %d", ErrJITLimit, len(plan.code.Bytecode), newLength)
	}
	if misleading {
		w.note(index, noteMaxStack, int(plan.code.MaxStack))
	}
	if plan.endsLikeExact() {
		w.note(index, noteOwnHandler)
	}
	w.noteAll(index, notes)
	if w.block.trial {
		return nil
	}
	w.edit.Codes = append(w.edit.Codes, classfile.CodeEdit{Method: index, Info: info})
	w.calls += plan.calls
	if len(plan.ranges) > 0 {
		w.calls++ // in the handler
	}
	return nil
}

// planMethod makes the plan for a method.
func (w *writer) planMethod(m *classfile.Member, id uint32, focus bool) error {
	p := &w.plan
	p.reset(m)
	ok, err := w.class.ReadCode(m, &p.code)
	if err == nil && !ok {
		err = errors.New("there is no Code attribute")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err = p.depths.Follow(w.class.ConstantPool(), &p.code); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err = p.outline.Read(p.code.Bytecode, w.stops()); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if id != 0 {
		p.push = w.block.appendPush(p.push, id)
		p.entry = opening{w.block.appendEntryCall(p.entry.bytecode, p.push), entryStackWords, 1}
		p.suspends = w.coroutines && suspends(w.kind, m)
	}
	if focus {
		p.entry = opening{w.block.appendFocusCall(p.entry.bytecode), focusStackWords, p.entry.calls + 1}
	}
	entered, err := w.planEntries()
	if err != nil {
		return err
	}
	if id == 0 {
		p.insertions = append(p.insertions, p.entries...)
		return nil
	}
	w.planExits(entered)
	return nil
}

// planEntries plans the entry calls and the calls that report a continuation. It returns the analysis that determines
// where the method counts as entered: where `this` is initialised, or everywhere if the analysis is nil.
func (w *writer) planEntries() (*code.Initialised, error) {
	p, atStart := &w.plan, w.options.ConstructorEntry == EntryAtStart
	reports := w.reports(p.method)
	if p.method.Name != "<init>" || w.class.SuperName() == "" {
		if reports {
			w.makeReport()
		}
		p.both = p.both.append(p.report).append(p.entry)
		p.insertEntry(0, p.both)
		return nil, nil
	}
	reports = reports && !writesLocal0(p.code.Bytecode)
	behind := p.entry
	if atStart {
		p.insertEntry(0, p.entry)
		behind = opening{}
	}
	if !reports && behind.calls == 0 {
		return nil, nil
	}
	initialised, err := code.Initialisation(w.class.ConstantPool(), &p.code)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(initialised.Calls) == 0 && behind.calls > 0 {
		return nil, ErrNoEntry
	}
	if reports && len(initialised.Calls) > 0 {
		w.makeReport()
	}
	p.both = p.both.append(p.report).append(behind)
	for _, call := range initialised.Calls {
		in, err := code.At(p.code.Bytecode, call)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		p.insertEntry(call+in.Size, p.both)
	}
	if atStart {
		return nil, nil
	}
	return &initialised, nil
}

// planExits plans the exit calls of the exit mode, in front of those instructions that leave the method where it
// counts as entered, and the probes in front of calls that post. It merges all calls by their position, and
// plans the ranges of the handler of exact exits.
func (w *writer) planExits(entered *code.Initialised) {
	p := &w.plan
	entries, bytecode := p.entries, p.code.Bytecode
	throws := w.options.Exits == ExitsThrows
	for _, pc := range p.outline.Stops {
		op := code.Op(bytecode[pc])
		if op == code.Invokevirtual || op == code.Invokeinterface {
			if form, ok := postFormOf(w.class.ConstantPool(), bytecode, pc); ok {
				entries = p.takeEntries(entries, pc)
				p.insertProbe(&w.block, form, pc)
			}
			continue
		}
		leaves := isEntered(entered, pc) && (op.IsReturn() || throws && op == code.Athrow && !covered(&p.code, pc))
		if leaves {
			entries = p.takeEntries(entries, pc)
			p.insertExit(&w.block, op, pc)
		}
	}
	p.insertions = append(p.insertions, entries...)
	if w.options.Exits == ExitsExact {
		p.planRanges(entered)
	}
}

// stops returns the opcodes of the instructions in front of which a call may be inserted, other than the entry call.
func (w *writer) stops() *code.OpSet {
	if w.options.Posts {
		return &leavingOrPosting
	}
	return &leaving
}

// leaving has the returns and athrow, leavingOrPosting also what calls methods that may be a post.
var leaving, leavingOrPosting = func() (leaving, both code.OpSet) {
	for op := code.Ireturn; op <= code.Return; op++ {
		leaving[op] = true
	}
	leaving[code.Athrow] = true
	both = leaving
	both[code.Invokevirtual], both[code.Invokeinterface] = true, true
	return leaving, both
}()

// takeEntries adds the entry calls at pc and before to the insertions, and returns the others.
func (p *methodPlan) takeEntries(entries []code.Insertion, pc int) []code.Insertion {
	for len(entries) > 0 && entries[0].PC <= pc {
		p.insertions, entries = append(p.insertions, entries[0]), entries[1:]
	}
	return entries
}

// isEntered reports whether the method counts as entered at pc. entered is the result of planEntries.
func isEntered(entered *code.Initialised, pc int) bool { return entered == nil || entered.At(pc) }

// planRanges computes the ranges of the handler of exact exits: all code where the method counts as entered, but
// not the returns. In front of each of these planExits has inserted an exit call, which must not be covered either:
// since the end of a range moves to the front of inserted code, the range that ends at a return also leaves out the
// call. A return is one byte long.
func (p *methodPlan) planRanges(entered *code.Initialised) {
	start, end := 0, len(p.code.Bytecode)
	leaveOut := func(from, to int) {
		if start < from {
			p.ranges = append(p.ranges, [2]int{start, from})
		}
		start = to
	}
	if entered == nil {
		for _, in := range p.insertions {
			if code.Op(p.code.Bytecode[in.PC]).IsReturn() && !in.Entry {
				leaveOut(in.PC, in.PC+1)
			}
		}
	} else {
		for in := range code.Instructions(p.code.Bytecode) {
			if !isEntered(entered, in.PC) || in.Op.IsReturn() {
				leaveOut(in.PC, in.PC+in.Size)
			}
		}
	}
	leaveOut(end, end)
	if len(p.ranges) > 0 {
		p.need = max(p.need, exactHandlerStack)
	}
}

// endsLikeExact reports whether the method now ends like a method with the handler of [ExitsExact] although it has
// none: with an exit call and an athrow, to which the last entry of the exception table leads for any exception. A
// note must say to strip that the handler is the method's own.
func (p *methodPlan) endsLikeExact() bool {
	table, n := p.code.ExceptionTable, len(p.insertions)
	if len(p.ranges) > 0 || n == 0 || len(table) < 8 {
		return false
	}
	last, entry := p.insertions[n-1], table[len(table)-8:]
	return !last.Entry && last.PC == len(p.code.Bytecode)-1 && code.Op(p.code.Bytecode[last.PC]) == code.Athrow &&
		int(binary.BigEndian.Uint16(entry[4:])) == last.PC && binary.BigEndian.Uint16(entry[6:]) == 0
}

// insertEntry plans an opening in front of the instruction at pc, unless it is empty.
func (p *methodPlan) insertEntry(pc int, o opening) {
	if o.calls == 0 {
		return
	}
	depth, _ := p.depths.At(pc)
	p.need, p.calls = max(p.need, depth+o.words), p.calls+o.calls
	p.entries = append(p.entries, code.Insertion{PC: pc, Bytecode: o.bytecode, Entry: true})
}

// makeExit makes the bytecode of the exit call unless it is made already.
func (p *methodPlan) makeExit(b *block) {
	if len(p.exit) == 0 {
		p.exit = b.appendExitCall(p.exit, p.push)
	}
}

// insertExit plans an exit call in front of the instruction at pc, which leaves the method. In code that no path
// reaches, the stack is assumed to hold what the instruction needs.
func (p *methodPlan) insertExit(b *block, op code.Op, pc int) {
	depth, reached := p.depths.At(pc)
	if !reached {
		depth, _, _ = code.Instruction{Op: op, PC: pc}.StackWords(nil) // a return or athrow needs no pool
	}
	var bytecode []byte
	if p.suspends && op == code.Areturn {
		p.makeResult(b)
		bytecode, depth = p.result, depth+objectStackWords
	} else {
		p.makeExit(b)
		bytecode, depth = p.exit, depth+entryStackWords
	}
	p.need, p.calls = max(p.need, depth), p.calls+1
	p.insertions = append(p.insertions, code.Insertion{PC: pc, Bytecode: bytecode})
}

// maxStack returns the new max_stack. misleading reports that strip would derive a wrong old max_stack from it, so
// that it needs a note.
//
// The new max_stack is the old one, or the greatest depth at an inserted call plus the words that the call needs,
// if that is more. In a method with a jsr, depths are only assumed, and the new max_stack is one more than the old
// one: the stack of a valid method is never deeper than its max_stack, and an entry or exit call needs one word. With
// a probe, which needs three words, it is three more; with a call that takes an object, it is two more.
// Strip assumes that a max_stack equal to what the inserted code needs was raised, and that the old one was the
// greatest depth of the old code.
func (p *methodPlan) maxStack() (stack uint16, misleading bool, err error) {
	old := int(p.code.MaxStack)
	n := max(old, p.need)
	if p.depths.Subroutines {
		n = old + entryStackWords
		if p.hasProbe() {
			n = old + probeStackWords
		} else if len(p.result) > 0 || p.report.calls > 0 {
			n = old + objectStackWords
		}
		if n < p.need {
			return 0, false, fmt.Errorf("%w: the inserted code needs %d words of stack, but max_stack is %d",
				ErrMalformed, p.need, old)
		}
	} else if n == p.need {
		misleading = min(n, p.depths.Max) != old
	}
	if n > maxStackLimit {
		return 0, false, fmt.Errorf("%w: max_stack of %d, the limit is %d", ErrTooLarge, n, maxStackLimit)
	}
	return uint16(n), misleading, nil
}

// covered reports whether an exception handler of the method covers the instruction at pc, whatever type it
// catches.
func covered(c *classfile.Code, pc int) bool {
	for entry := c.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if pc >= int(binary.BigEndian.Uint16(entry)) && pc < int(binary.BigEndian.Uint16(entry[2:])) {
			return true
		}
	}
	return false
}
