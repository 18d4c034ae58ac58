package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
)

// body takes the inserted code out of one method after another of a rewritten class. Its memory is kept from
// method to method. What it finds wrong it adds to findings and goes on, so that the result of a method that
// caused findings means nothing.
type body struct {
	class    *classfile.Class
	pool     *classfile.ConstantPool
	block    *block
	findings []verify.Finding

	number int // of the method
	member *classfile.Member
	code   classfile.Code

	// places says of each position of the code which one of the original it is, and on which sides of
	// the inserted code it stands: the former shifted by sideBits, the latter below. 0 is inside an
	// instruction, or none.
	places     []int32
	end        int // of the method's own code, where the handler begins if there is one
	length     int // of the original's code
	hasHandler bool
	calls      []call
	exits      []exitPoint
	edits      []edit
	joins      []int // positions behind the goto_w of a widened conditional branch
	wide       []int // positions of wide branches that were wide before

	handlers      int // exception entries of the exact handler
	handlerFrames int // frames of it
	types         frameTypes
	framesOnly    [1]classfile.Attribute // what of the original's attributes the stack analysis asks for
	depths        code.Depths            // of the original's code
	need          int                    // the max_stack that the calls ask for
	subroutines   bool
}

// call is an inserted sequence.
type call struct {
	kind       callKind
	start, end int // in the rewritten code
	orig       int // the position in the original of what it was inserted before
	id         int32
	constant   uint16 // the Integer of an ldc or ldc_w, else 0
}

type callKind uint8

const (
	callEntry callKind = iota
	callFocus
	callExit
	callHandler
)

// exitPoint is an instruction of the original that leaves the method: a return or an athrow.
type exitPoint struct {
	op       code.Op
	pc, orig int
	before   int // where the exit code before it begins; pc if there is none
}

// edit is a stretch of the rewritten code that stands otherwise in the original.
type edit struct {
	kind    editKind
	pc, end int
}

type editKind uint8

const (
	editCut         editKind = iota // inserted
	editBranch                      // a branch, to be aimed anew
	editSwitch                      // a switch: aimed anew, padding changed
	editNarrow                      // goto_w or jsr_w that was goto or jsr
	editNarrowTwice                 // a negated conditional branch over a goto_w that was one branch
)

// The sides of a position (see the package comment), by what may stand there.
const (
	sideTarget = 1 << iota // branches, handlers, frames, ranges, variables
	sideInst               // Uninitialized offsets, annotated instructions
	sideStart              // beginnings of lines and variables
	sideEnd                // ends of ranges and variables
	sideBits   = 4
	sideAll    = sideTarget | sideInst | sideStart | sideEnd
	sideMask   = 1<<sideBits - 1
)

func (b *body) report(offset int, rule, want, got string) {
	f := verify.Finding{Class: b.class.Name(), Offset: offset, Rule: rule, Want: want, Got: got}
	if b.member != nil {
		f.Method, f.Descriptor = b.member.Name, b.member.Descriptor
	}
	b.findings = append(b.findings, f)
}

// resize gives a slice of n zeros, in the memory of another if that is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// load makes the method of that number, whose code has been read, the one in hand.
func (b *body) load(number int) {
	b.number, b.member = number, &b.class.Methods()[number]
	b.types.added = b.types.added[:0]
	b.handlers, b.handlerFrames, b.need, b.subroutines = 0, 0, 0, false
	b.wide = b.wide[:0]
}

// recognise reads the code, finds what was inserted, and maps every position back. It fails if the code
// cannot be decoded.
func (b *body) recognise() bool {
	if len(b.code.Bytecode) == 0 || len(b.code.Bytecode) > code.MaxLength {
		b.report(-1, ruleCode, "code_length from 1 to 65535", fmt.Sprint(len(b.code.Bytecode)))
		return false
	}
	b.findHandler()
	// Which branches were widened depends on the distances in the original, and these on how many were.
	// It starts from all that may have been, and goes round until none too many is left.
	for range 100 {
		kept := len(b.wide)
		if !b.scan() {
			return false
		}
		b.keepTooLong()
		if len(b.wide) == kept {
			return true
		}
		slices.Sort(b.wide)
	}
	b.report(-1, ruleCode, "branches that are widened where they must be", "no consistent way to undo it")
	return false
}

// findHandler looks for the exact handler: an exit and an athrow at the very end, where the last exception
// entry leads for any type.
func (b *body) findHandler() {
	bytecode, table := b.code.Bytecode, b.code.ExceptionTable
	b.end, b.hasHandler = len(bytecode), false
	if len(table) < 8 || b.block.notes.has(b.number, noteOwnHandler, 0) {
		return
	}
	last := table[len(table)-8:]
	start := int(binary.BigEndian.Uint16(last[4:]))
	if start >= len(bytecode) || binary.BigEndian.Uint16(last[6:]) != 0 {
		return
	}
	c, ok := b.inserted(start)
	if !ok || c.kind != callExit || c.end != len(bytecode)-1 || code.Op(bytecode[c.end]) != code.Athrow {
		return
	}
	b.end, b.hasHandler = start, true
}

// beginsCall says whether what the instruction at pc, one of those that inserted code begins with, is followed by what
// follows it there: of most it is not, and [body.inserted] need not look closer.
func (b *body) beginsCall(pc int) bool {
	op, rest := code.Op(b.code.Bytecode[pc]), b.code.Bytecode[pc:]
	if op == code.Aload0 {
		return len(rest) > 1 && code.Op(rest[1]) == code.Iload1
	}
	size := op.Size()
	return len(rest) > size && code.Op(rest[size]) == code.Invokestatic
}

// inserted reads the sequence that starts at pc, if it is one of ours.
func (b *body) inserted(pc int) (c call, ok bool) {
	bytecode := b.code.Bytecode
	if code.Op(bytecode[pc]) == code.Aload0 {
		if pc+1 >= len(bytecode) || code.Op(bytecode[pc+1]) != code.Iload1 {
			return call{}, false
		}
		ref := b.invoked(pc + 2)
		return call{kind: callFocus, start: pc, end: pc + 5}, ref != 0 && ref == b.block.focus
	}
	id, constant, size := b.pushed(pc)
	if size == 0 {
		return call{}, false
	}
	c = call{start: pc, end: pc + size + 3, id: id, constant: constant}
	switch ref := b.invoked(pc + size); {
	case ref == 0:
		return c, false
	case ref == b.block.entry:
		c.kind = callEntry
	case ref == b.block.exit:
		c.kind = callExit
	default:
		return c, false
	}
	return c, true
}

// invoked gives the constant of the invokestatic at pc, 0 if there is none.
func (b *body) invoked(pc int) uint16 {
	bytecode := b.code.Bytecode
	if pc+3 > len(bytecode) || code.Op(bytecode[pc]) != code.Invokestatic {
		return 0
	}
	return binary.BigEndian.Uint16(bytecode[pc+1:])
}

// pushed reads an instruction that pushes an int constant. size is 0 for any other; constant is the pool
// index of an ldc or ldc_w.
func (b *body) pushed(pc int) (value int32, constant uint16, size int) {
	rest := b.code.Bytecode[pc:]
	switch op := code.Op(rest[0]); {
	case op >= code.IconstM1 && op <= code.Iconst5:
		return int32(op) - int32(code.Iconst0), 0, 1
	case op == code.Bipush && len(rest) >= 2:
		return int32(int8(rest[1])), 0, 2
	case op == code.Sipush && len(rest) >= 3:
		return int32(int16(binary.BigEndian.Uint16(rest[1:]))), 0, 3
	case op == code.Ldc && len(rest) >= 2:
		constant, size = uint16(rest[1]), 2
	case op == code.LdcW && len(rest) >= 3:
		constant, size = binary.BigEndian.Uint16(rest[1:]), 3
	default:
		return 0, 0, 0
	}
	if b.pool.Tag(constant) != classfile.TagInteger {
		return 0, 0, 0
	}
	value, _ = b.pool.Integer(constant)
	return value, constant, size
}

// checkPush holds an inserted call's push to the shortest encoding of an ID (JVMS 6.5), with a constant of
// the block if it has to be one.
func (b *body) checkPush(c call) {
	want := code.Sipush
	switch {
	case c.id < 1:
		b.report(c.start, ruleID, "an ID from 1 on", fmt.Sprint(c.id))
		return
	case c.id <= 5:
		want = code.Iconst0 + code.Op(c.id)
	case c.id <= 127:
		want = code.Bipush
	case c.id > 32767 && c.constant > 255:
		want = code.LdcW
	case c.id > 32767:
		want = code.Ldc
	}
	if got := code.Op(b.code.Bytecode[c.start]); got != want {
		b.report(c.start, ruleID, fmt.Sprintf("%d pushed by %v", c.id, want), got.String())
	}
	if c.constant != 0 && !b.block.has(c.constant) {
		b.report(c.start, rulePool, "inserted code to use an Integer of its own", fmt.Sprintf("constant %d", c.constant))
	}
	b.block.use(c.constant)
}

// chunk is the inserted code that stands directly before one instruction of the original.
type chunk struct {
	start  int // -1 if there is none
	behind int // the position behind entry and focus code, where branches lead
	exit   bool
	last   callKind
}

// What scan has to ask of an instruction, by its opcode; nothing of most.
const (
	mayBeInserted byte = 1 << iota // it is what inserted code begins with
	hasConstant
	leavesMethod
	isEdited // it is a branch or switch
)

var scanned = func() (rows [256]byte) {
	for o := code.Nop; o.Known(); o++ {
		switch {
		case o >= code.IconstM1 && o <= code.Iconst5, o == code.Bipush, o == code.Sipush, o == code.Aload0, o == code.Ldc, o == code.LdcW:
			rows[o] |= mayBeInserted
		case o.IsReturn(), o == code.Athrow:
			rows[o] |= leavesMethod
		}
		switch o.Operand() {
		case code.OperandConstant, code.OperandConstantW, code.OperandInvoke4, code.OperandMultiarray:
			rows[o] |= hasConstant
		case code.OperandBranch, code.OperandBranchW, code.OperandTableSwitch, code.OperandLookupSwitch:
			rows[o] |= isEdited
		}
	}
	return rows
}()

// scan goes through the code once and fills places, calls, exits and edits.
func (b *body) scan() bool {
	bytecode := b.code.Bytecode
	b.places = resize(b.places, len(bytecode)+1)
	b.calls, b.exits, b.edits, b.joins = b.calls[:0], b.exits[:0], b.edits[:0], b.joins[:0]
	pending := chunk{start: -1}
	previous, orig, pc := code.Nop, 0, 0
	for pc < b.end {
		asked := scanned[bytecode[pc]]
		if asked&mayBeInserted != 0 && b.beginsCall(pc) {
			if c, ok := b.inserted(pc); ok {
				c.orig = orig
				b.addCall(&pending, c, previous)
				pc = c.end
				continue
			}
		}
		op := code.Op(bytecode[pc])
		size := op.Size()
		if size == 0 || size > len(bytecode)-pc {
			in, err := code.At(bytecode, pc)
			if err != nil {
				b.report(pc, ruleCode, "an instruction", err.Error())
				return false
			}
			size = in.Size
		}
		previous = op
		if asked&hasConstant != 0 {
			b.checkConstant(op, pc)
		}
		before := pc
		if pending.start < 0 {
			b.places[pc] = int32(orig)<<sideBits | sideAll
		} else {
			before = b.settle(&pending, pc, orig)
		}
		if asked&leavesMethod != 0 {
			b.exits = append(b.exits, exitPoint{op: op, pc: pc, orig: orig, before: before})
		} else if before != pc {
			b.report(before, ruleExit, "exit code directly before a return or athrow", op.String()+" behind it")
		}
		width := size
		if asked&isEdited != 0 {
			in, _ := code.At(bytecode, pc)
			size, width = b.addEdit(in, orig)
		}
		orig += width
		pc += size
	}
	if pc != b.end || pending.start >= 0 {
		b.report(pc, ruleCode, "the method's own code to end with one of its instructions", "inserted code or an instruction cut off")
		return false
	}
	b.length = orig
	b.places[b.end] = int32(orig)<<sideBits | sideEnd
	if b.hasHandler {
		c, _ := b.inserted(b.end)
		c.kind, c.orig = callHandler, orig
		b.checkPush(c)
		b.block.use(b.block.exit)
		b.block.use(b.block.throwable) // which a class without frames has no use for, and may have all the same
		b.calls = append(b.calls, c)
	}
	return true
}

// addCall notes an inserted sequence and checks that it may stand where it does.
func (b *body) addCall(pending *chunk, c call, previous code.Op) {
	if b.block.use(b.invoked(c.end - 3)); c.kind != callFocus {
		b.checkPush(c)
	}
	b.calls = append(b.calls, c)
	b.edits = append(b.edits, edit{editCut, c.start, c.end})
	if pending.start < 0 {
		*pending = chunk{start: c.start, behind: c.start}
	} else if c.kind <= pending.last {
		b.report(c.start, ruleCode, "entry, focus hook and exit at most once each and in this order", "another order")
	}
	pending.last = c.kind
	switch c.kind {
	case callEntry:
		behindConstructor := previous == code.Invokespecial && b.member.Name == "<init>"
		if c.orig != 0 && !behindConstructor {
			b.report(c.start, ruleEntry, "entry code at the start of the method or behind a constructor's call", "entry code elsewhere")
		}
	case callFocus:
		if c.orig != 0 || !isHooked(b.member) {
			b.report(c.start, ruleFocus, "the hook at the start of onWindowFocusChanged(Z)V", "the hook elsewhere")
		}
	case callExit:
		pending.exit = true
		return
	}
	pending.behind = c.end
}

func isHooked(m *classfile.Member) bool {
	return m.Name == hookedName && m.Descriptor == hookedDescriptor && m.AccessFlags&classfile.AccStatic == 0
}

// settle maps the positions at and before the original's instruction that now stands at pc, behind the chunk of inserted
// code that it ends. It gives where exit code before the instruction begins, or pc.
func (b *body) settle(pending *chunk, pc, orig int) (exit int) {
	place := int32(orig) << sideBits
	behind, start := pending.behind, pending.behind
	if orig == 0 {
		start = 0
	}
	b.places[pc] |= place | sideInst
	b.places[behind] |= place | sideTarget | sideEnd
	b.places[start] |= place | sideStart
	exit = pc
	if pending.exit {
		exit = behind
	}
	pending.start = -1
	return exit
}

// checkConstant reports an instruction of the original that uses a constant which the original did not have.
func (b *body) checkConstant(op code.Op, pc int) {
	i := uint16(b.code.Bytecode[pc+1])
	if op != code.Ldc {
		i = i<<8 | uint16(b.code.Bytecode[pc+2])
	}
	if b.block.has(i) {
		b.reportConstant(op, pc, i)
	}
}

func (b *body) reportConstant(op code.Op, pc int, i uint16) {
	b.report(pc, rulePool, fmt.Sprintf("only inserted code to use constants from %d on", b.block.start),
		fmt.Sprintf("%v of constant %d", op, i))
}

// addEdit notes what is to be done with a branch or switch of the original. It gives the bytes it fills now and
// those it filled at position orig in the original.
func (b *body) addEdit(in code.Instruction, orig int) (size, width int) {
	switch in.Op.Operand() {
	case code.OperandTableSwitch, code.OperandLookupSwitch:
		b.edits = append(b.edits, edit{editSwitch, in.PC, in.PC + in.Size})
		return in.Size, in.Size - padding(in.PC) + padding(orig)
	case code.OperandBranch:
		target, _ := in.Branch()
		if in.Op.IsConditional() && target == in.PC+8 && target <= b.end {
			next, err := code.At(b.code.Bytecode, in.PC+in.Size)
			if err == nil && next.Op == code.GotoW {
				if far, _ := next.Branch(); b.wasShort(in.PC, orig, far-in.PC) {
					b.edits = append(b.edits, edit{editNarrowTwice, in.PC, target})
					b.joins = append(b.joins, target)
					return 8, 3
				}
			}
		}
		b.edits = append(b.edits, edit{editBranch, in.PC, in.PC + in.Size})
	case code.OperandBranchW:
		kind, width := editBranch, in.Size
		if target, _ := in.Branch(); b.wasShort(in.PC, orig, target-in.PC) {
			kind, width = editNarrow, 3
		}
		b.edits = append(b.edits, edit{kind, in.PC, in.PC + in.Size})
		return in.Size, width
	}
	return in.Size, in.Size
}

// padding counts the bytes between the opcode of a switch at pc and its operands (JVMS 6.5).
func padding(pc int) int { return 3 - pc&3 }

func isShort(offset int) bool { return offset == int(int16(offset)) }

// wasShort says whether the wide branch at pc, with that offset, is taken for one that was short: one that
// no short form can hold now, unless a note or an earlier round knows better.
func (b *body) wasShort(pc, orig, offset int) bool {
	if isShort(offset) {
		return b.block.notes.has(b.number, noteShortBranch, orig)
	}
	if _, kept := slices.BinarySearch(b.wide, pc); kept {
		return false
	}
	return !b.block.notes.has(b.number, noteWideBranch, orig)
}

// keepTooLong adds to wide those branches taken for short ones that would not have reached their target.
func (b *body) keepTooLong() {
	known := len(b.wide)
	for _, e := range b.edits {
		if e.kind != editNarrow && e.kind != editNarrowTwice {
			continue
		}
		target := b.farTarget(e)
		if target < 0 || target >= len(b.places) {
			continue // reported when the branch is aimed anew
		}
		if !isShort(int(b.places[target]>>sideBits) - int(b.places[e.pc]>>sideBits)) {
			if _, kept := slices.BinarySearch(b.wide[:known], e.pc); !kept {
				b.wide = append(b.wide, e.pc)
			}
		}
	}
}

// farTarget gives where the goto_w or jsr_w of a narrowed branch leads.
func (b *body) farTarget(e edit) int {
	at := e.end - 5
	return at + int(int32(binary.BigEndian.Uint32(b.code.Bytecode[at+1:])))
}

// back gives the position in the original of position q, which must stand on one of the sides given. what
// names the thing that holds it.
func (b *body) back(q, sides int, what string) int {
	if q < 0 || q >= len(b.places) || b.places[q]&int32(sides) == 0 {
		b.reportSide(q, what)
		return 0
	}
	return int(b.places[q] >> sideBits)
}

// backLoosely is back for tables that nobody holds to instruction boundaries: a position inside an
// instruction stays where it is in it.
func (b *body) backLoosely(q, sides int, what string) int {
	if q >= 0 && q <= b.end && b.places[q] == 0 {
		pc := q
		for pc > 0 && b.places[pc] == 0 {
			pc--
		}
		if orig, ok := b.inside(pc, q); ok {
			return orig
		}
	}
	return b.back(q, sides, what)
}

// inside maps position q back if it lies within the instruction at pc.
func (b *body) inside(pc, q int) (orig int, ok bool) {
	if b.places[pc]&sideInst == 0 {
		return 0, false
	}
	at, found := slices.BinarySearchFunc(b.edits, pc, func(e edit, pc int) int { return e.pc - pc })
	size, grown := 0, 0
	if found && b.edits[at].kind != editCut {
		e := b.edits[at]
		size = e.end - e.pc
		switch orig := int(b.places[pc] >> sideBits); e.kind {
		case editSwitch:
			grown = padding(pc) - padding(orig)
		case editNarrow:
			grown = 2
		case editNarrowTwice:
			grown = 5
		}
	} else if in, err := code.At(b.code.Bytecode, pc); err == nil {
		size = in.Size
	}
	// What an instruction grew by, it grew behind its opcode.
	if into := q - pc - grown; q-pc < size && into > 0 {
		return int(b.places[pc]>>sideBits) + into, true
	}
	return 0, false
}

func (b *body) reportSide(q int, what string) {
	got := fmt.Sprintf("%d, outside of the %d bytes of code", q, b.end)
	if q >= 0 && q < len(b.places) {
		switch place := b.places[q]; {
		case place == 0:
			got = fmt.Sprintf("%d, inside inserted code or an instruction", q)
		default:
			got = fmt.Sprintf("%d, which is %d on another side of inserted code", q, place>>sideBits)
		}
	}
	b.report(q, rulePosition, what+" on its side of an instruction", got)
}
