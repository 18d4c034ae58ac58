package code

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// ErrTooLarge is wrapped by the error of [Relocator.Relocate] for code that would outgrow [MaxLength] or
// another field of the Code attribute.
var ErrTooLarge = errors.New("method would be too large")

// ErrUnknownAttribute is wrapped by the error of [Relocator.Relocate] for a Code attribute with an attribute
// of unknown layout, which may hold code offsets.
var ErrUnknownAttribute = errors.New("unknown attribute inside Code")

// Insertion is straight-line code to put in front of an instruction. It must not branch, hold a position of
// the code, or leave anything on the operand stack.
type Insertion struct {
	PC       int // of the instruction, before anything is inserted
	Bytecode []byte
	// Entry says that what leads to PC other than from the instruction before it must not run the
	// inserted code: branches, handlers and ranges that held PC go behind it. Otherwise they lead to the
	// inserted code.
	Entry bool
}

// Handler is an exception handler to append behind the last instruction.
type Handler struct {
	Bytecode []byte   // must not fall off its end, and use no locals
	Ranges   [][2]int // half-open intervals of positions before anything is inserted, ascending
	// Throwable is the Class constant of the one item that the handler finds on the stack. The entries
	// catch any type.
	Throwable uint16
}

// Patch is a change of one method's code.
type Patch struct {
	Insertions []Insertion // by ascending PC; at one PC, those with Entry first
	Handler    *Handler    // or nil
	MaxStack   uint16      // of the new code
}

// Note is something about the old code that cannot be told from the new code by undoing the patch in the
// canonical way. See package inject for the ways.
type Note struct {
	Kind  NoteKind // what it is about
	Index int      // a frame's number, or the old position of a branch
	Value int      // the frame's frame_type, a short form as the first value of its range
}

// NoteKind is the kind of a [Note]; its value is the letter that stands for it in the class file.
type NoteKind byte

// The kinds of notes that relocation makes.
const (
	NoteFrameForm   NoteKind = 'f' // the frame Index had the form Value
	NoteKeptFrame   NoteKind = 'k' // the frame Index, behind a branch that was widened, was there before
	NoteShortBranch NoteKind = 'n' // the branch at Index was short before
	NoteWideBranch  NoteKind = 'w' // the branch at Index was wide before
	NoteEmptyFrames NoteKind = 't' // there was a StackMapTable with no frames
)

// Relocator writes Code attributes with code inserted. It keeps its working memory from one method to the
// next; the zero Relocator is ready for use, by one goroutine at a time.
type Relocator struct {
	class  *classfile.Class
	method *classfile.Member
	code   *classfile.Code
	patch  Patch
	pool   *classfile.PoolBuilder
	notes  []Note

	branches  []branch
	shifts    []shift
	sums      []int // sums[i] is the total size of shifts[:i]
	last      int   // what shiftsUpTo gave last: positions are mostly asked for in ascending order
	frames    []frame
	newLength int // of the code, without the handler
}

// shift says that everything from position at on moves by size bytes.
type shift struct {
	at, size int
	before   bool // what leads to at itself does not move: an inserted exit
}

// branch is an instruction with a relative target.
type branch struct {
	Instruction
	target int // of a switch 0
	wide   bool
	width  int // bytes of the instruction in the new code
}

// Relocate appends to out the info of the method's Code attribute (JVMS 4.7.3) with the patch applied. Constants that
// the new code needs beyond what the patch brought are added to pool. The notes are good until the next call.
//
// It fails, and the method should be left as it is, with [ErrTooLarge], [ErrUnknownAttribute], or for code or
// tables that are malformed.
func (r *Relocator) Relocate(out []byte, class *classfile.Class, method *classfile.Member, code *classfile.Code, patch Patch, pool *classfile.PoolBuilder) (info []byte, notes []Note, err error) {
	r.class, r.method, r.code, r.patch, r.pool = class, method, code, patch, pool
	r.notes = r.notes[:0]
	if err := r.findBranches(); err != nil {
		return nil, nil, err
	}
	if err := r.layOut(); err != nil {
		return nil, nil, err
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
	out = r.appendBytecode(out)
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

func attributesSize(code *classfile.Code) (size int) {
	for i := range code.Attributes {
		size += 6 + len(code.Attributes[i].Info)
	}
	return size
}

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
		if leads[op] {
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

// leads says of each opcode whether its instructions hold offsets of others.
var leads = func() (rows [256]bool) {
	for op := range ops {
		switch ops[op].operand {
		case OperandBranch, OperandBranchW, OperandTableSwitch, OperandLookupSwitch:
			rows[op] = true
		}
	}
	return rows
}()

// addBranch notes a branch or switch.
func (r *Relocator) addBranch(in Instruction) error {
	outside := func(target int) error {
		return fmt.Errorf("%v at %d branches to %d, outside of the %d bytes of code", in.Op, in.PC, target, len(r.code.Bytecode))
	}
	if target, ok := in.Branch(); ok {
		r.branches = append(r.branches, branch{Instruction: in, target: target, wide: in.Op == GotoW || in.Op == JsrW, width: in.Size})
		if target < 0 || target >= len(r.code.Bytecode) {
			return outside(target)
		}
		return nil
	}
	r.branches = append(r.branches, branch{Instruction: in, width: in.Size})
	for _, pad := range in.padding() {
		if pad != 0 {
			return fmt.Errorf("%v at %d has padding that is not zero, which could not be restored", in.Op, in.PC)
		}
	}
	for _, target := range in.SwitchOffsets() {
		if target < 0 || target >= len(r.code.Bytecode) {
			return outside(target)
		}
	}
	return nil
}

// layOut finds where everything will stand. Widening one branch can push another out of reach, and moves
// switches, whose padding changes: it goes round until no branch has to be widened any more. Every round but
// the last widens at least one, and nothing is ever narrowed, so it ends; for code contrived to need thousands
// of rounds, early.
func (r *Relocator) layOut() error {
	for range maxRounds {
		r.layOutOnce()
		widened := false
		for i := range r.branches {
			b := &r.branches[i]
			if b.Op == Tableswitch || b.Op == Lookupswitch || b.width > 3 {
				continue
			}
			if offset := r.target(b.target) - r.inst(b.PC); !fitsShort(offset) {
				b.width, widened = 5, true
				if b.Op.IsConditional() {
					b.width = 8
				}
			}
		}
		if !widened {
			r.newLength = r.inst(len(r.code.Bytecode))
			return nil
		}
	}
	return fmt.Errorf("%w: its branches push each other out of reach more than %d times", ErrTooLarge, maxRounds)
}

// maxRounds is how often [Relocator.layOut] starts again. Compiled code takes two or three rounds.
const maxRounds = 100

func (r *Relocator) layOutOnce() {
	r.shifts, r.sums, r.last = r.shifts[:0], append(r.sums[:0], 0), 0
	total := 0
	push := func(at, size int, before bool) {
		total += size
		r.shifts = append(r.shifts, shift{at, size, before})
		r.sums = append(r.sums, total)
	}
	insertions := r.patch.Insertions
	insertUpTo := func(pc int) {
		for len(insertions) > 0 && insertions[0].PC <= pc {
			push(insertions[0].PC, len(insertions[0].Bytecode), !insertions[0].Entry)
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
			push(b.PC+1, b.width-b.Size, false)
		}
	}
	insertUpTo(len(r.code.Bytecode))
}

// padding counts the bytes between the opcode of a switch at pc and its operands (JVMS 6.5).
func padding(pc int) int { return 3 - pc&3 }

// inst gives where the instruction that stood at p stands now; for other positions inside the code, where
// their byte is.
func (r *Relocator) inst(p int) int { return p + r.sums[r.shiftsUpTo(p)] }

// target gives where what led to position p has to lead now: behind inserted entries, before inserted exits.
func (r *Relocator) target(p int) int {
	i := r.shiftsUpTo(p)
	q := p + r.sums[i]
	for i--; i >= 0 && r.shifts[i].at == p; i-- {
		if r.shifts[i].before {
			q -= r.shifts[i].size
		}
	}
	return q
}

// shiftsUpTo counts the shifts at positions up to p.
func (r *Relocator) shiftsUpTo(p int) int {
	n := r.last
	if (n == 0 || r.shifts[n-1].at <= p) && (n == len(r.shifts) || r.shifts[n].at > p) {
		return n
	}
	r.last = r.searchShifts(p)
	return r.last
}

func (r *Relocator) searchShifts(p int) int {
	lo, hi := 0, len(r.shifts)
	for lo < hi {
		if mid := (lo + hi) / 2; r.shifts[mid].at <= p {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// start gives where a line or a variable that started at position p starts now: like a target, but what
// started with the method still does.
func (r *Relocator) start(p int) int {
	if p == 0 {
		return 0
	}
	return r.target(p)
}

// appendBytecode copies the instructions with the insertions between them and the branches aimed anew.
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

// appendBranch writes the branch or switch b, which now stands at pc.
func (r *Relocator) appendBranch(out []byte, b *branch, pc int) []byte {
	if b.Op == Tableswitch || b.Op == Lookupswitch {
		return r.appendSwitch(out, b, pc)
	}
	offset := r.target(b.target) - pc
	r.noteBranch(b, offset)
	switch {
	case b.width == 3:
		return binary.BigEndian.AppendUint16(append(out, byte(b.Op)), uint16(offset))
	case b.wide:
		return binary.BigEndian.AppendUint32(append(out, byte(b.Op)), uint32(offset))
	case b.width == 5: // jsr and jsr_w stand behind goto and goto_w
		return binary.BigEndian.AppendUint32(append(out, byte(b.Op+(GotoW-Goto))), uint32(offset))
	}
	out = append(out, byte(b.Op.negated()), 0, 8, byte(GotoW))
	return binary.BigEndian.AppendUint32(out, uint32(offset-3))
}

// noteBranch notes a branch of which whoever undoes the patch would guess wrongly whether it was widened: a
// branch that fits no short form now, but would at its old place, is taken for one that was.
func (r *Relocator) noteBranch(b *branch, offset int) {
	old, wide := b.target-b.PC, b.wide
	if b.Op.IsConditional() && b.width == 3 && old == 8 {
		// A compiler's own conditional branch over a goto_w looks like one that was widened.
		if next, err := At(r.code.Bytecode, b.PC+3); err == nil && next.Op == GotoW {
			target, _ := next.Branch()
			old, wide = target-b.PC, true
			offset = r.target(target) - r.inst(b.PC)
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

// negated gives the conditional branch that is taken when o is not. They come in pairs (JVMS 6.5), of which
// the first has an odd opcode, but for ifnull and ifnonnull.
func (o Op) negated() Op {
	if o == Ifnull || o == Ifnonnull {
		return o ^ 1
	}
	return (o - 1 ^ 1) + 1
}

func (r *Relocator) appendSwitch(out []byte, b *branch, pc int) []byte {
	out = append(out, byte(b.Op))
	out = append(out, 0, 0, 0)[:len(out)+padding(pc)]
	old := (b.PC + 4) &^ 3
	moved := len(out) - old
	out = append(out, r.code.Bytecode[old:b.PC+b.Size]...)
	for at, target := range b.SwitchOffsets() {
		binary.BigEndian.PutUint32(out[at+moved:], uint32(r.target(target)-pc))
	}
	return out
}

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
				return nil, fmt.Errorf("exception table holds the position %d, outside of the %d bytes of code", p, len(r.code.Bytecode))
			}
			out = binary.BigEndian.AppendUint16(out, uint16(r.target(p)))
		}
		out = append(out, old[6:8]...)
	}
	if h := r.patch.Handler; h != nil {
		for _, span := range h.Ranges {
			out = binary.BigEndian.AppendUint16(out, uint16(r.target(span[0])))
			out = binary.BigEndian.AppendUint16(out, uint16(r.target(span[1])))
			out = binary.BigEndian.AppendUint16(out, uint16(r.newLength))
			out = append(out, 0, 0)
		}
	}
	return out, nil
}
