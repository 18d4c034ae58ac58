package code

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// ErrTooLarge is wrapped by the error of [Relocator.Relocate] for code that would outgrow [MaxLength] or another
// limit of the Code attribute.
var ErrTooLarge = errors.New("method would be too large")

// ErrUnknownAttribute is wrapped by the error of [Relocator.Relocate] for a Code attribute that contains an
// attribute of unknown layout, which might hold code offsets.
var ErrUnknownAttribute = errors.New("unknown attribute inside Code")

// Insertion is straight-line code to insert in front of an instruction. It must not branch, contain a code offset,
// or change the depth of the operand stack.
type Insertion struct {
	PC       int // position of the instruction in the old code
	Bytecode []byte
	// Entry makes branches, switches, handlers and ends of ranges that refer to PC refer to the position behind the
	// inserted code, so that only the instruction before it leads to that code. If Entry is false, they refer to
	// its start.
	Entry bool
}

// Handler is an exception handler to append after the last instruction.
type Handler struct {
	Bytecode []byte   // must not fall off its end, and use no locals
	Ranges   [][2]int // half-open intervals of positions in the old code, ascending
	// Throwable is the index of the Class constant that the handler's frame names as the type of the exception. The
	// exception table entries catch any type.
	Throwable uint16
}

// Patch is a change to the code of one method.
type Patch struct {
	Insertions []Insertion // by ascending PC; at one PC, those with Entry first
	Handler    *Handler    // or nil
	MaxStack   uint16      // of the new code
	// Depths, unless nil, is the result of [Depths.Follow] for the same code. Relocate then need not find the branches
	// and frames again that Follow has found.
	Depths *Depths
}

// Note is a fact about the old code that is needed to undo a patch and that the new code does not show. Undoing
// assumes a default for each branch that is wide now, for each frame that has a long form now, and for each frame
// behind a widened branch. There is a note for each of them where the old code differed from this default. The
// package comment of inject shows how notes are stored.
type Note struct {
	Kind  NoteKind // the kind of the fact
	Index int      // the number of a frame, or the old position of a branch
	Value int      // of NoteFrameForm: the frame_type; for the two short forms, the first value of their range
}

// NoteKind is the kind of a [Note]; its value is the letter that stands for it in the class file.
type NoteKind byte

// The kinds of notes that relocation makes.
const (
	NoteFrameForm   NoteKind = 'f' // the frame Index had the form Value
	NoteKeptFrame   NoteKind = 'k' // the frame Index, behind a branch that was widened, was there before
	NoteShortBranch NoteKind = 'n' // the branch at Index was short
	NoteWideBranch  NoteKind = 'w' // the branch at Index was wide
	NoteEmptyFrames NoteKind = 't' // there was a StackMapTable without frames
)

// Relocator inserts code into Code attributes. It uses the same memory for one method after another. The zero
// Relocator is ready for use, by one goroutine at a time.
//
// Inserting moves everything behind it, and the code is full of references to positions. Relocate works in two
// steps. First it lays out the new code: it collects the branches and finds out which of them must be widened,
// until it has the list of all shifts, "from position at on, everything moves by size bytes". Then it copies the
// old attribute piece by piece, and replaces each reference p by one of two functions of p:
//
//   - insts.to(p) is the new position of the instruction that was at p, or of the byte there if none starts at p. It
//     is for references that mean the instruction itself: Uninitialized types in frames, and type annotations.
//   - targets.to(p) is the position where control that went to p must go now. It is for branches, switches, handlers,
//     frames and the ends of ranges. It differs from insts.to(p) only if code was inserted at p: it is in front of
//     inserted code, unless this is an Entry.
//
// Each function takes a binary search in its moves, but mostly only a comparison with the last result, since
// tables are sorted. So time is nearly linear in the size of the attribute, plus the number of branches and
// insertions for each round of the layout.
type Relocator struct {
	class  *classfile.Class
	method *classfile.Member
	code   *classfile.Code
	patch  Patch
	pool   *classfile.PoolBuilder
	notes  []Note

	branches  []branch
	insts     moves // of instructions
	targets   moves // of where control goes
	frames    []frame
	newLength int  // of the new code, without the handler
	quick     bool // [Relocator.layOutQuickly] has succeeded
}

// branch is a branch or switch instruction.
type branch struct {
	Instruction
	target int  // old position; 0 for a switch
	wide   bool // whether the old instruction has a four-byte offset
	width  int  // bytes of the instruction in the new code
}

// Relocate appends to out the info of the method's Code attribute (JVMS 4.7.3) with the patch applied. Constants
// that the new frames need are added to pool. The notes are valid until the next call.
//
// It fails if the new code would be too large ([ErrTooLarge]), if the Code attribute contains an attribute of
// unknown layout ([ErrUnknownAttribute]), or if the code or a table is malformed. The method should then be left
// unchanged.
func (r *Relocator) Relocate(out []byte, class *classfile.Class, method *classfile.Member, code *classfile.Code,
	patch Patch, pool *classfile.PoolBuilder) (info []byte, notes []Note, err error) {
	r.class, r.method, r.code, r.patch, r.pool = class, method, code, patch, pool
	r.notes = r.notes[:0]
	if r.quick = r.layOutQuickly(); !r.quick {
		if err := r.findBranches(); err != nil {
			return nil, nil, err
		}
		if err := r.layOut(); err != nil {
			return nil, nil, err
		}
	}
	length := r.newLength
	if patch.Handler != nil {
		length += len(patch.Handler.Bytecode)
	}
	if length > MaxLength {
		return nil, nil, fmt.Errorf("%w: code of %d bytes, the limit is %d", ErrTooLarge, length, MaxLength)
	}
	out = slices.Grow(out, 64+length+length/4+len(code.ExceptionTable)+attributesSize(code))
	out = binary.BigEndian.AppendUint16(out, patch.MaxStack)
	out = binary.BigEndian.AppendUint16(out, code.MaxLocals)
	out = binary.BigEndian.AppendUint32(out, uint32(length))
	if r.quick {
		out = r.appendBytecodeQuickly(out)
	} else {
		out = r.appendBytecode(out)
	}
	if patch.Handler != nil {
		out = append(out, patch.Handler.Bytecode...)
	}
	if out, err = r.appendExceptionTable(out); err != nil {
		return nil, nil, err
	}
	if out, err = r.appendAttributes(out); err != nil {
		return nil, nil, err
	}
	return out, r.notes, nil
}

// attributesSize returns the size in bytes of the attributes of the old code.
func attributesSize(code *classfile.Code) (size int) {
	for i := range code.Attributes {
		size += 6 + len(code.Attributes[i].Info)
	}
	return size
}

// findBranches decodes the old code and collects its branches and switches. It fails if an insertion is not in front of
// an instruction.
func (r *Relocator) findBranches() error {
	r.branches = r.branches[:0]
	insertions, bytecode := r.patch.Insertions, r.code.Bytecode
	for pc := 0; pc < len(bytecode); {
		op := Op(bytecode[pc])
		size := int(sizes[op])
		if size == 0 || size > len(bytecode)-pc {
			in, err := At(bytecode, pc)
			if err != nil {
				return err
			}
			size = in.Size
		}
		for len(insertions) > 0 && insertions[0].PC == pc {
			insertions = insertions[1:]
		}
		if isBranch[op] {
			if err := r.addBranch(Instruction{PC: pc, Op: op, Size: size, code: bytecode}); err != nil {
				return err
			}
		}
		pc += size
	}
	if len(insertions) > 0 {
		return fmt.Errorf("no instruction starts at %d, where code is to be inserted", insertions[0].PC)
	}
	return nil
}

// isBranch has, for each opcode, whether its instructions contain offsets of other instructions.
var isBranch = func() (rows [256]bool) {
	for op := range ops {
		switch ops[op].operand {
		case OperandBranch, OperandBranchW, OperandTableSwitch, OperandLookupSwitch:
			rows[op] = true
		}
	}
	return rows
}()

// addBranch appends a branch or switch to r.branches.
func (r *Relocator) addBranch(in Instruction) error {
	outside := func(target int) error {
		return fmt.Errorf("%v at %d branches to %d, outside of the %d bytes of code",
			in.Op, in.PC, target, len(r.code.Bytecode))
	}
	if target, ok := in.Branch(); ok {
		r.branches = append(r.branches, branch{Instruction: in, target: target, wide: in.Op == GotoW || in.Op == JsrW,
			width: in.Size})
		if target < 0 || target >= len(r.code.Bytecode) {
			return outside(target)
		}
		return nil
	}
	r.branches = append(r.branches, branch{Instruction: in, width: in.Size})
	if in.hasOddPadding() {
		return fmt.Errorf("%v at %d has padding that is not zero, which strip could not restore", in.Op, in.PC)
	}
	for _, target := range in.SwitchOffsets() {
		if target < 0 || target >= len(r.code.Bytecode) {
			return outside(target)
		}
	}
	return nil
}

// layOut computes the shifts. A branch whose target is now more than 32,767 bytes away has to be widened: a goto or
// jsr to its wide form, a conditional branch to its negation over a goto_w. That moves the code behind it, which
// can put other branches out of reach, and it changes the padding of switches. So layOut widens in rounds, until a
// round finds nothing to widen. Every round but the last widens at least one branch, and none is ever narrowed
// again, so the number of rounds is at most the number of branches and one more. The last round has checked every
// branch, so the result is correct; it is not always the shortest possible one, since a change of padding may bring
// a branch back within reach.
//
// Compiled code takes two or three rounds, each of which is linear in the number of branches and insertions. Code
// that takes more than maxRounds rounds is refused, to bound the time.
func (r *Relocator) layOut() error {
	for range maxRounds {
		r.layOutOnce()
		widened := false
		for i := range r.branches {
			b := &r.branches[i]
			if b.Op == Tableswitch || b.Op == Lookupswitch || b.width > 3 {
				continue
			}
			if offset := r.targets.to(b.target) - r.insts.to(b.PC); !fitsShort(offset) {
				b.width, widened = 5, true
				if b.Op.IsConditional() {
					b.width = 8
				}
			}
		}
		if !widened {
			r.newLength = r.insts.to(len(r.code.Bytecode))
			return nil
		}
	}
	return fmt.Errorf("%w: widening its branches puts others out of reach more than %d times", ErrTooLarge, maxRounds)
}

// maxRounds is the greatest number of rounds of [Relocator.layOut].
const maxRounds = 100

// layOutOnce computes the moves for the present widths of branches, and the widths of switches.
func (r *Relocator) layOutOnce() {
	r.insts.reset()
	r.targets.reset()
	total := 0
	insertions := r.patch.Insertions
	insertUpTo := func(pc int) {
		for len(insertions) > 0 && insertions[0].PC <= pc {
			total += len(insertions[0].Bytecode)
			r.insert(&insertions[0], total)
			insertions = insertions[1:]
		}
	}
	for i := range r.branches {
		b := &r.branches[i]
		insertUpTo(b.PC)
		if b.Op == Tableswitch || b.Op == Lookupswitch {
			b.width = b.Size - padding(b.PC) + padding(b.PC+total)
		}
		if b.width != b.Size {
			total += b.width - b.Size
			r.insts.add(b.PC+1, total)
			r.targets.add(b.PC+1, total)
		}
	}
	insertUpTo(len(r.code.Bytecode))
}

// insert adds an insertion to the moves, after which all insertions up to it have total bytes.
func (r *Relocator) insert(in *Insertion, total int) {
	r.insts.add(in.PC, total)
	if in.Entry {
		r.targets.add(in.PC, total)
	} else {
		r.targets.add(in.PC+1, total) // control that went to PC goes in front of the inserted code
	}
}

// padding counts the bytes between the opcode of a switch at pc and its operands (JVMS 6.5).
func padding(pc int) int { return 3 - pc&3 }

// start returns the new start of a line or of a variable's range that started at the old position p. That is the
// target, but what started at 0 still does, so that parameters and the first line cover the inserted entry.
func (r *Relocator) start(p int) int {
	if p == 0 {
		return 0
	}
	return r.targets.to(p)
}

// appendBytecode copies the instructions, with the insertions between them and new offsets in branches and
// switches.
func (r *Relocator) appendBytecode(out []byte) []byte {
	old, copied := r.code.Bytecode, 0
	base := len(out)
	insertions := r.patch.Insertions
	insertUpTo := func(pc int) {
		for len(insertions) > 0 && insertions[0].PC <= pc {
			out = append(out, old[copied:insertions[0].PC]...)
			copied = insertions[0].PC
			out = append(out, insertions[0].Bytecode...)
			insertions = insertions[1:]
		}
	}
	for i := range r.branches {
		b := &r.branches[i]
		insertUpTo(b.PC)
		out = append(out, old[copied:b.PC]...)
		copied = b.PC + b.Size
		out = r.appendBranch(out, b, len(out)-base)
	}
	insertUpTo(len(old))
	return append(out, old[copied:]...)
}

// appendBranch appends the branch or switch b, whose new position is pc.
func (r *Relocator) appendBranch(out []byte, b *branch, pc int) []byte {
	if b.Op == Tableswitch || b.Op == Lookupswitch {
		return r.appendSwitch(out, b, pc)
	}
	offset := r.targets.to(b.target) - pc
	r.noteBranch(b, offset)
	switch {
	case b.width == 3:
		return binary.BigEndian.AppendUint16(append(out, byte(b.Op)), uint16(offset))
	case b.wide:
		return binary.BigEndian.AppendUint32(append(out, byte(b.Op)), uint32(offset))
	case b.width == 5: // jsr_w is as far behind goto_w as jsr is behind goto
		return binary.BigEndian.AppendUint32(append(out, byte(b.Op+(GotoW-Goto))), uint32(offset))
	}
	out = append(out, byte(b.Op.negated()), 0, 8, byte(GotoW))
	return binary.BigEndian.AppendUint32(out, uint32(offset-3))
}

// noteBranch adds a note if undoing the patch would get the old form of b wrong. Undoing assumes that a wide branch
// was widened if its offset does not fit two bytes now and did fit at its old place. The note is needed if such a
// branch was wide already, and if a branch was widened although its offset fits two bytes in the final layout,
// which later rounds have changed.
func (r *Relocator) noteBranch(b *branch, offset int) {
	old, wide := b.target-b.PC, b.wide
	if b.Op.IsConditional() && b.width == 3 && old == 8 {
		// A conditional branch over a goto_w that a compiler wrote looks like one that was widened.
		if next, err := At(r.code.Bytecode, b.PC+3); err == nil && next.Op == GotoW {
			target, _ := next.Branch()
			old, wide = target-b.PC, true
			offset = r.targets.to(target) - r.insts.to(b.PC)
		}
	}
	switch {
	case wide && fitsShort(old) && !fitsShort(offset):
		r.notes = append(r.notes, Note{Kind: NoteWideBranch, Index: b.PC})
	case !wide && b.width != 3 && fitsShort(offset):
		r.notes = append(r.notes, Note{Kind: NoteShortBranch, Index: b.PC})
	}
}

func fitsShort(offset int) bool { return offset == int(int16(offset)) }

// negated returns the conditional branch that is taken if o is not. The opcodes of a pair follow each other (JVMS
// 6.5): the first one is even for ifnull and ifnonnull, and odd for all others.
func (o Op) negated() Op {
	if o == Ifnull || o == Ifnonnull {
		return o ^ 1
	}
	return (o - 1 ^ 1) + 1
}

// appendSwitch appends the switch b, whose new position is pc, with the padding that it needs there.
func (r *Relocator) appendSwitch(out []byte, b *branch, pc int) []byte {
	out = append(out, byte(b.Op))
	out = append(out, 0, 0, 0)[:len(out)+padding(pc)]
	old := (b.PC + 4) &^ 3
	moved := len(out) - old
	out = append(out, r.code.Bytecode[old:b.PC+b.Size]...)
	for i := range b.switchTargets() {
		at, target := b.switchTarget(i)
		binary.BigEndian.PutUint32(out[at+moved:], uint32(r.targets.to(target)-pc))
	}
	return out
}

// appendExceptionTable appends the exception table with its positions moved, then the entries of the appended handler.
// These come last, so that the method's own handlers are tried first (JVMS 2.10).
func (r *Relocator) appendExceptionTable(out []byte) ([]byte, error) {
	old := r.code.ExceptionTable
	n := len(old) / 8
	if r.patch.Handler != nil {
		n += len(r.patch.Handler.Ranges)
	}
	if n > MaxLength {
		return nil, fmt.Errorf("%w: %d exception table entries, the limit is %d", ErrTooLarge, n, MaxLength)
	}
	out = binary.BigEndian.AppendUint16(out, uint16(n))
	for ; len(old) >= 8; old = old[8:] {
		for i := 0; i < 6; i += 2 {
			p := int(binary.BigEndian.Uint16(old[i:]))
			if p > len(r.code.Bytecode) {
				return nil, fmt.Errorf("exception table holds the position %d, outside of the %d bytes of code",
					p, len(r.code.Bytecode))
			}
			out = binary.BigEndian.AppendUint16(out, uint16(r.targets.to(p)))
		}
		out = append(out, old[6:8]...)
	}
	if h := r.patch.Handler; h != nil {
		for _, span := range h.Ranges {
			out = binary.BigEndian.AppendUint16(out, uint16(r.targets.to(span[0])))
			out = binary.BigEndian.AppendUint16(out, uint16(r.targets.to(span[1])))
			out = binary.BigEndian.AppendUint16(out, uint16(r.newLength))
			out = append(out, 0, 0)
		}
	}
	return out, nil
}
