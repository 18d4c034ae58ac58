package code

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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
	Outline    *Outline    // of the old code
}

// Note is a fact about the old code that is needed to undo a patch and that the new code does not show. Undoing
// assumes a default for each frame that has a long form now. There is a note for each of them where the old code
// differed from this default. The package comment of inject shows how notes are stored.
type Note struct {
	Kind  NoteKind // the kind of the fact
	Index int      // the number of a frame
	Value int      // of NoteFrameForm: the frame_type
}

// NoteKind is the kind of a [Note]; its value is the letter that stands for it in the class file.
type NoteKind byte

// The kinds of notes that relocation makes.
const (
	NoteFrameForm   NoteKind = 'f' // the frame Index had the form Value
	NoteEmptyFrames NoteKind = 't' // there was a StackMapTable without frames
)

// Relocator inserts code into Code attributes. It uses the same memory for one method after another. The zero
// Relocator is ready for use, by one goroutine at a time.
//
// Inserting moves everything behind it, and the code is full of references to positions. Relocate works in two
// steps. First it lays out the new code: it has the list of all shifts then, "from position at on, everything moves by
// size bytes". Then it copies the old attribute piece by piece, and replaces each reference p by one of two functions
// of p:
//
//   - insts.to(p) is the new position of the instruction that was at p, or of the byte there if none starts at p. It
//     is for references that mean the instruction itself: Uninitialized types in frames, and type annotations.
//   - targets.to(p) is the position where control that went to p must go now. It is for branches, switches, handlers,
//     frames and the ends of ranges. It differs from insts.to(p) only if code was inserted at p: it is in front of
//     inserted code, unless this is an Entry.
//
// Each function takes a binary search in its moves, but mostly only a comparison with the last result, since
// tables are sorted. So time is nearly linear in the size of the attribute.
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
	newLength int // of the new code, without the handler
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
	r.branches = append(r.branches[:0], patch.Outline.branches...)
	if err := r.checkInsertions(); err != nil {
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

// checkInsertions returns an error for insertions that are out of order or outside of the code.
func (r *Relocator) checkInsertions() error {
	last := 0
	for i := range r.patch.Insertions {
		pc := r.patch.Insertions[i].PC
		if pc < last || pc >= len(r.code.Bytecode) {
			return fmt.Errorf("code is to be inserted at %d, which is out of order or of the %d bytes of code", pc,
				len(r.code.Bytecode))
		}
		last = pc
	}
	return nil
}

// attributesSize returns the size in bytes of the attributes of the old code.
func attributesSize(code *classfile.Code) (size int) {
	for i := range code.Attributes {
		size += 6 + len(code.Attributes[i].Info)
	}
	return size
}

// layOut computes the shifts. It fails if a branch with a two-byte offset does not reach its target any more. Its wide
// form would need a frame with types, which no compiler writes, for methods that hardly occur: javac makes all
// branches of a method wide if one must be.
func (r *Relocator) layOut() error {
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
		if !b.isSwitch() {
			continue
		}
		insertUpTo(b.pc)
		if b.width = b.size - padding(b.pc) + padding(b.pc+total); b.width != b.size {
			total += b.width - b.size
			r.insts.add(b.pc+1, total)
			r.targets.add(b.pc+1, total)
		}
	}
	insertUpTo(len(r.code.Bytecode))
	r.newLength = len(r.code.Bytecode) + total
	if r.newLength <= math.MaxInt16 {
		return nil
	}
	for i := range r.branches {
		b := &r.branches[i]
		if b.isSwitch() || b.isWide() {
			continue
		}
		if offset := r.targets.to(b.target) - r.insts.to(b.pc); offset != int(int16(offset)) {
			return fmt.Errorf("%w: the branch at %d would lead over %d bytes, and two bytes hold at most 32767",
				ErrTooLarge, b.pc, max(offset, -offset))
		}
	}
	return nil
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

// appendBytecode copies the instructions, with the insertions between them and the switches with their new padding.
// Then it writes the offsets of all branches and switches.
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
		if b.width == b.size {
			continue
		}
		insertUpTo(b.pc)
		out = append(out, old[copied:b.pc]...)
		copied = b.pc + b.size
		pc := len(out) - base
		out = append(out, byte(b.op))
		out = append(out, 0, 0, 0)[:len(out)+padding(pc)]
		out = append(out, old[b.pc+1+padding(b.pc):copied]...)
	}
	insertUpTo(len(old))
	out = append(out, old[copied:]...)
	for i := range r.branches {
		r.aim(out[base:], &r.branches[i])
	}
	return out
}

// aim writes the offsets of the branch or switch b into the new code.
func (r *Relocator) aim(moved []byte, b *branch) {
	pc := r.insts.to(b.pc)
	if b.isSwitch() {
		in := b.instruction(r.code.Bytecode)
		further := pc + padding(pc) - b.pc - padding(b.pc) // what is behind the padding
		for i := range in.switchTargets() {
			at, target := in.switchTarget(i)
			binary.BigEndian.PutUint32(moved[at+further:], uint32(r.targets.to(target)-pc))
		}
		return
	}
	offset := r.targets.to(b.target) - pc
	if b.isWide() {
		binary.BigEndian.PutUint32(moved[pc+1:], uint32(offset))
	} else {
		binary.BigEndian.PutUint16(moved[pc+1:], uint16(offset))
	}
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
