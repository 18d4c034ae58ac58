package inject

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// methodPlan is what is going to be inserted into one method. Its memory serves one method after another.
type methodPlan struct {
	method     *classfile.Member
	code       classfile.Code
	depths     code.Depths
	entries    []code.Insertion // only those of entries
	insertions []code.Insertion
	push       []byte       // the instruction that pushes the ID
	entry      []byte       // the bytecode that reports the entry
	exit       []byte       // the bytecode that reports the exit, empty until there is one
	around     code.Handler // of the exact mode
	handler    []byte       // its bytecode
	ranges     [][2]int     // and what it covers
	need       int          // stack words that the inserted code needs
}

// reset makes it an empty plan for another method.
func (p *methodPlan) reset(m *classfile.Member) {
	p.method, p.need = m, 0
	p.entries, p.insertions, p.ranges = p.entries[:0], p.insertions[:0], p.ranges[:0]
	p.push, p.entry, p.exit, p.handler = p.push[:0], p.entry[:0], p.exit[:0], p.handler[:0]
}

// method adds the edit of one method: calls with the ID, unless that is 0, and the focus call.
func (w *writer) method(index int, m *classfile.Member, id uint32, focus bool) error {
	plan := &w.plan
	if err := w.planMethod(m, id, focus); err != nil {
		return err
	}
	patch := code.Patch{Insertions: plan.insertions}
	if len(plan.ranges) > 0 {
		plan.makeExit(&w.block)
		plan.handler = appendHandler(plan.handler, plan.exit)
		plan.around = code.Handler{Bytecode: plan.handler, Ranges: plan.ranges, Throwable: w.block.Class(throwableClass)}
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
	w.charge(index, id, focus, info)
	return nil
}

// charge notes what the new Code attribute of a method costs.
func (w *writer) charge(index int, id uint32, focus bool, info []byte) {
	p := &w.plan
	old, _ := classfile.FindAttribute(p.method.Attributes, "Code") // or there would be no plan
	cost := MethodCost{Method: index, Calls: len(p.insertions), Bytes: len(info) - len(old.Info)}
	if id > largestSipush {
		cost.Bytes += integerConstant
	}
	if len(p.ranges) > 0 {
		cost.Calls++ // that of the handler
	}
	if focus && id != 0 {
		cost.Calls++ // it stands behind that of the entry
	}
	w.cost.Calls += cost.Calls
	w.cost.Methods = append(w.cost.Methods, cost)
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
	if id == 0 {
		p.entry = w.block.appendFocusCall(p.entry)
		p.insertEntry(0, focusStackWords)
		p.insertions = append(p.insertions, p.entries...)
		return nil
	}
	p.push = w.block.appendPush(p.push, id)
	p.entry = w.block.appendEntryCall(p.entry, p.push)
	words := entryStackWords
	if focus {
		p.entry, words = w.block.appendFocusCall(p.entry), focusStackWords
	}
	entered, err := w.planEntries(words)
	if err != nil {
		return err
	}
	return w.planExits(entered)
}

// planEntries inserts the entry code, which needs so many words of stack, and gives the analysis of where the method
// counts as entered, nil for everywhere.
func (w *writer) planEntries(words int) (*code.Initialised, error) {
	p, atStart := &w.plan, w.options.ConstructorEntry == EntryAtStart
	if p.method.Name != "<init>" || atStart || w.class.SuperName() == "" {
		p.insertEntry(0, words)
		return nil, nil
	}
	initialised, err := code.Initialisation(w.class.ConstantPool(), &p.code)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(initialised.Calls) == 0 {
		return nil, ErrNoEntry
	}
	for _, call := range initialised.Calls {
		in, err := code.At(p.code.Bytecode, call)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		p.insertEntry(call+in.Size, words)
	}
	return &initialised, nil
}

// planExits inserts the exit code as the exit mode demands, in front of the instructions where the method
// counts as entered, and lays out the ranges of the exact mode's handler.
func (w *writer) planExits(entered *code.Initialised) error {
	p := &w.plan
	entries, bytecode := p.entries, p.code.Bytecode
	throws := w.options.Exits == ExitsThrows
	for pc, size := 0, 0; pc < len(bytecode); pc += size {
		op := code.Op(bytecode[pc])
		if size = op.Size(); size == 0 || size > len(bytecode)-pc {
			in, err := code.At(bytecode, pc)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			size = in.Size
		}
		if !op.IsReturn() && op != code.Athrow {
			continue
		}
		leaves := isEntered(entered, pc) && (op.IsReturn() || throws && op == code.Athrow && !covered(&p.code, pc))
		if leaves {
			for len(entries) > 0 && entries[0].PC <= pc {
				p.insertions, entries = append(p.insertions, entries[0]), entries[1:]
			}
			p.makeExit(&w.block)
			p.insertExit(op, pc)
		}
	}
	p.insertions = append(p.insertions, entries...)
	if w.options.Exits == ExitsExact {
		p.planRanges(entered)
	}
	return nil
}

// isEntered says whether the method counts as entered at pc, by what planEntries gave.
func isEntered(entered *code.Initialised, pc int) bool { return entered == nil || entered.At(pc) }

// planRanges lays out the ranges of the exact mode's handler: all that counts as entered but the returns, of a byte
// each, before which planExits has inserted code.
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
			if !in.Entry {
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

// endsLikeExact says whether the exit in front of the last athrow makes it look like the handler of
// [ExitsExact]: the last entry of the exception table leads there and catches everything.
func (p *methodPlan) endsLikeExact() bool {
	table, n := p.code.ExceptionTable, len(p.insertions)
	if len(p.ranges) > 0 || n == 0 || len(table) < 8 {
		return false
	}
	last, entry := p.insertions[n-1], table[len(table)-8:]
	return !last.Entry && last.PC == len(p.code.Bytecode)-1 && code.Op(p.code.Bytecode[last.PC]) == code.Athrow &&
		int(binary.BigEndian.Uint16(entry[4:])) == last.PC && binary.BigEndian.Uint16(entry[6:]) == 0
}

// insertEntry puts the entry code, which needs so many words of stack, in front of the instruction at pc.
func (p *methodPlan) insertEntry(pc, words int) {
	depth, _ := p.depths.At(pc)
	p.need = max(p.need, depth+words)
	p.entries = append(p.entries, code.Insertion{PC: pc, Bytecode: p.entry, Entry: true})
}

func (p *methodPlan) makeExit(b *block) {
	if len(p.exit) == 0 {
		p.exit = b.appendExitCall(p.exit, p.push)
	}
}

// insertExit puts the exit code in front of the instruction at pc, which leaves the method. In code that nothing
// leads to, the stack is taken to hold what the instruction needs.
func (p *methodPlan) insertExit(op code.Op, pc int) {
	depth, reached := p.depths.At(pc)
	if !reached {
		depth, _, _ = code.Instruction{Op: op, PC: pc}.StackWords(nil) // of a return or an athrow: no pool is asked
	}
	p.need = max(p.need, depth+entryStackWords)
	p.insertions = append(p.insertions, code.Insertion{PC: pc, Bytecode: p.exit})
}

// maxStack gives the new max_stack, exact where the depths are. misleading says that strip could not tell the
// old one from it.
func (p *methodPlan) maxStack() (stack uint16, misleading bool, err error) {
	old := int(p.code.MaxStack)
	n := max(old, p.need)
	if p.depths.Subroutines {
		n = old + 1 // depths behind a jsr are assumptions
		if n < p.need {
			return 0, false, fmt.Errorf("%w: operand stack of %d words, of a max_stack of %d", ErrMalformed, p.need, old)
		}
	} else if n == p.need {
		misleading = min(n, p.depths.Max) != old
	}
	if n > maxStackLimit {
		return 0, false, fmt.Errorf("%w: max_stack of %d, the limit is %d", ErrTooLarge, n, maxStackLimit)
	}
	return uint16(n), misleading, nil
}

// covered says whether a handler of the method guards the instruction at pc, whatever it catches.
func covered(c *classfile.Code, pc int) bool {
	for entry := c.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if pc >= int(binary.BigEndian.Uint16(entry)) && pc < int(binary.BigEndian.Uint16(entry[2:])) {
			return true
		}
	}
	return false
}
