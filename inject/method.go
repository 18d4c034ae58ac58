package inject

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// methodPlan is what is going to be inserted into one method.
type methodPlan struct {
	method     *classfile.Member
	code       classfile.Code
	depths     *code.Depths
	insertions []code.Insertion
	push       []byte   // the instruction that pushes the ID
	exit       []byte   // the bytecode that reports the exit, once there is one
	ranges     [][2]int // of the exact mode's handler
	need       int      // stack words that the inserted code needs
}

// method adds the edit of one method: calls with the ID, unless that is 0, and the focus call.
func (w *writer) method(index int, m *classfile.Member, id uint32, focus bool) error {
	plan, err := w.plan(m, id, focus)
	if err != nil {
		return err
	}
	patch := code.Patch{Insertions: plan.insertions}
	if plan.ranges != nil {
		plan.makeExit(w.block)
		patch.Handler = &code.Handler{
			Bytecode:  handlerBytecode(plan.exit),
			Ranges:    plan.ranges,
			Throwable: w.block.Class(throwableClass),
		}
	}
	var misleading bool
	if patch.MaxStack, misleading, err = plan.maxStack(); err != nil {
		return err
	}
	info, notes, err := w.relocator.Relocate(w.class, m, &plan.code, patch, w.block.PoolBuilder)
	if err != nil {
		if !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrUnknownAttribute) {
			err = fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		return err
	}
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
	w.edit.Codes = append(w.edit.Codes, classfile.CodeEdit{Method: index, Info: info})
	w.charge(index, id, focus, plan, info)
	return nil
}

// charge notes what the new Code attribute of a method costs.
func (w *writer) charge(index int, id uint32, focus bool, p *methodPlan, info []byte) {
	old, _ := classfile.FindAttribute(p.method.Attributes, "Code") // or there would be no plan
	cost := MethodCost{Method: index, Calls: len(p.insertions), Bytes: len(info) - len(old.Info)}
	if id > largestSipush {
		cost.Bytes += integerConstant
	}
	if p.ranges != nil {
		cost.Calls++ // that of the handler
	}
	if focus && id != 0 {
		cost.Calls++ // it stands behind that of the entry
	}
	w.cost.Calls += cost.Calls
	w.cost.Methods = append(w.cost.Methods, cost)
}

func (w *writer) plan(m *classfile.Member, id uint32, focus bool) (*methodPlan, error) {
	c, ok, err := w.class.Code(m)
	if err == nil && !ok {
		err = errors.New("there is no Code attribute")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	p := &methodPlan{method: m, code: c, depths: &w.depths}
	if err = w.depths.Follow(w.class.ConstantPool(), &p.code); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if id == 0 {
		p.insertEntry(0, w.block.appendFocusCall(nil), focusStackWords)
		return p, nil
	}
	p.push = w.block.push(id)
	entry := w.block.entryCall(p.push)
	words := entryStackWords
	if focus {
		entry, words = w.block.appendFocusCall(entry), focusStackWords
	}
	entered, err := w.planEntries(p, entry, words)
	if err != nil {
		return nil, err
	}
	return p, w.planExits(p, entered)
}

// planEntries inserts the entry code and gives the analysis of where the method counts as entered, nil for
// everywhere.
func (w *writer) planEntries(p *methodPlan, entry []byte, words int) (*code.Initialised, error) {
	atStart := w.options.ConstructorEntry == EntryAtStart
	if p.method.Name != "<init>" || atStart || w.class.SuperName() == "" {
		p.insertEntry(0, entry, words)
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
		p.insertEntry(call+in.Size, entry, words)
	}
	return &initialised, nil
}

// planExits inserts the exit code as the exit mode demands, in front of the instructions where the method
// counts as entered, and lays out the ranges of the exact mode's handler.
func (w *writer) planExits(p *methodPlan, entered *code.Initialised) error {
	entries := p.insertions
	p.insertions = make([]code.Insertion, 0, len(entries)+2)
	exact, throws := w.options.Exits == ExitsExact, w.options.Exits == ExitsThrows
	covering := -1 // where the range that is being laid out starts
	closeRange := func(end int) {
		if covering >= 0 && covering < end {
			p.ranges = append(p.ranges, [2]int{covering, end})
		}
		covering = -1
	}
	for in, err := range code.Instructions(p.code.Bytecode) {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		for len(entries) > 0 && entries[0].PC <= in.PC {
			p.insertions, entries = append(p.insertions, entries[0]), entries[1:]
		}
		inside := entered == nil || entered.At(in.PC)
		leaves := inside && (in.Op.IsReturn() || throws && in.Op == code.Athrow && !covered(&p.code, in.PC))
		if leaves {
			p.makeExit(w.block)
			p.insertExit(in)
		}
		switch {
		case !exact:
		case leaves || !inside:
			closeRange(in.PC)
		case covering < 0:
			covering = in.PC
		}
	}
	if exact {
		closeRange(len(p.code.Bytecode))
		if p.ranges == nil {
			return nil
		}
		p.need = max(p.need, exactHandlerStack)
	}
	return nil
}

// endsLikeExact says whether the exit in front of the last athrow makes it look like the handler of
// [ExitsExact]: the last entry of the exception table leads there and catches everything.
func (p *methodPlan) endsLikeExact() bool {
	table, n := p.code.ExceptionTable, len(p.insertions)
	if p.ranges != nil || n == 0 || len(table) < 8 {
		return false
	}
	last, entry := p.insertions[n-1], table[len(table)-8:]
	return !last.Entry && last.PC == len(p.code.Bytecode)-1 && code.Op(p.code.Bytecode[last.PC]) == code.Athrow &&
		int(binary.BigEndian.Uint16(entry[4:])) == last.PC && binary.BigEndian.Uint16(entry[6:]) == 0
}

// insertEntry puts entry code in front of the instruction at pc.
func (p *methodPlan) insertEntry(pc int, bytecode []byte, words int) {
	depth, _ := p.depths.At(pc)
	p.need = max(p.need, depth+words)
	p.insertions = append(p.insertions, code.Insertion{PC: pc, Bytecode: bytecode, Entry: true})
}

func (p *methodPlan) makeExit(b *block) {
	if p.exit == nil {
		p.exit = b.exitCall(p.push)
	}
}

// insertExit puts the exit code in front of an instruction that leaves the method. In code that nothing
// leads to, the stack is taken to hold what the instruction needs.
func (p *methodPlan) insertExit(in code.Instruction) {
	depth, reached := p.depths.At(in.PC)
	if !reached {
		depth, _, _ = in.StackWords(nil) // of a return or an athrow: no pool is asked
	}
	p.need = max(p.need, depth+entryStackWords)
	p.insertions = append(p.insertions, code.Insertion{PC: in.PC, Bytecode: p.exit})
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
