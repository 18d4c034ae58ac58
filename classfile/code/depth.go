package code

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Depths is the result of [Depths.Follow]: how many words the operand stack holds before each instruction of a
// method (JVMS 2.6.2; a long or double takes two words). It uses the same memory for one method after another. The
// zero Depths is ready for use, by one goroutine at a time.
type Depths struct {
	// Max is the greatest depth before or after any instruction that is reached.
	Max int
	// Subroutines reports that the method has a jsr. The depths after a jsr then assume that the subroutine leaves
	// the stack as it found it, which holds for compiled code, and where paths disagree the greater depth is kept.
	Subroutines bool

	at       []int32 // by position: depth + 1, 0 where nothing leads
	pool     *classfile.ConstantPool
	known    []knownConstant // by index into pool; the members, and the descriptors of members
	members  []classfile.MemberDescriptor
	bytecode []byte
	pending  []int32 // positions reached but not yet followed
	followed int     // bytes of instructions followed
	frames   []frame

	// What followInOrder has found, unless inOrder is false.
	inOrder   bool
	marks     int        // how many positions got a depth before the walk came there
	arrived   int        // how many of these the walk has come to
	most      int        // the greatest depth in the walk, plus 1
	ends      []blockEnd // in order
	switches  []int32    // the positions of the switches, in order
	table     []byte     // the info of the StackMapTable, nil if there is none
	frameList []frameAt  // its frames
}

// knownConstant is what Depths has read of a constant: of a member, or of its descriptor.
type knownConstant struct {
	kind      constantKind
	arguments uint8 // stack words of a method's arguments, without this
	result    uint8 // words of its result, or of a field
}

// constantKind is the kind of a knownConstant. No descriptor is both a field's and a method's.
type constantKind uint8

const (
	unknownConstant  constantKind = iota
	memberField                   // a field, named by a Fieldref or the like
	memberMethod                  // a method
	noDescriptor                  // a Utf8 that is no descriptor
	descriptorField               // one that is the descriptor of a field
	descriptorMethod              // or of a method
)

// ofMember returns the kind of a member whose descriptor has the kind k.
func (k constantKind) ofMember() constantKind { return k - noDescriptor }

// At returns the depth in words before the instruction at pc; ok is false if no path leads there.
func (d *Depths) At(pc int) (depth int, ok bool) {
	if pc < 0 || pc >= len(d.at) || d.at[pc] == 0 {
		return 0, false
	}
	return int(d.at[pc]) - 1, true
}

// AppendLeaving appends the positions of the returns and athrows, in order. ok is false if Follow has not found them,
// as in unusual code.
func (d *Depths) AppendLeaving(positions []int) (leaving []int, ok bool) {
	for i := range d.ends {
		if d.ends[i].target == leaves {
			positions = append(positions, int(d.ends[i].pc))
		}
	}
	return positions, d.inOrder
}

// Follow computes the depths of a method. It fails for code that every verifier rejects: a stack that underflows,
// two depths at one place, a branch out of the code. After an error the contents of d are meaningless.
//
// The start of the code is reached with an empty stack, and each exception handler with one word, the exception
// (JVMS 2.10). From there Follow adds up the effects of the instructions along every path. JVMS 4.10 requires that
// all paths to an instruction have the same depth there, so it is enough to follow each instruction once: every
// further path that reaches it is only compared. Code that none of these paths reaches is verified too in a class
// file with a StackMapTable (JVMS 4.10.1), so inserted code must fit into it as well; its depths start from its
// frames.
//
// In compiled code all that takes one walk through the instructions in the order of the code, see followInOrder.
//
// Time is linear in the length of the code, its branch targets and its handlers, and for the first method of a class
// in its constants; memory is 12 bytes for each byte of code.
func (d *Depths) Follow(pool *classfile.ConstantPool, code *classfile.Code) error {
	d.reset(pool, code.Bytecode)
	if d.inOrder = d.followInOrder(code); d.inOrder {
		return nil
	}
	d.reset(pool, code.Bytecode)
	return d.followPaths(code)
}

// followPaths is Follow for any code, after reset.
func (d *Depths) followPaths(code *classfile.Code) error {
	if err := d.reach(0, 0); err != nil {
		return err
	}
	for entry := code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if err := d.reach(int(binary.BigEndian.Uint16(entry[4:])), 1); err != nil {
			return fmt.Errorf("exception handler: %w", err)
		}
	}
	if err := d.run(); err != nil {
		return err
	}
	if a, ok := classfile.FindAttribute(code.Attributes, "StackMapTable"); ok && d.followed < len(code.Bytecode) {
		var err error
		if d.frames, err = parseFrames(a.Info, d.frames[:0]); err != nil {
			return err
		}
		for _, f := range d.frames {
			if f.pc < len(d.at) && d.at[f.pc] == 0 {
				if err := d.reach(f.pc, f.stackWords()); err != nil {
					return err
				}
			}
		}
		return d.run()
	}
	return nil
}

// reset prepares d for another method. The facts about constants stay as long as the pool is the same.
func (d *Depths) reset(pool *classfile.ConstantPool, bytecode []byte) {
	if d.pool != pool {
		d.pool, d.known = pool, zeroed(d.known, pool.Len())
		d.readMembers()
	}
	d.bytecode, d.at = bytecode, zeroed(d.at, len(bytecode))
	d.pending, d.frames = d.pending[:0], d.frames[:0]
	d.ends, d.switches, d.frameList = d.ends[:0], d.switches[:0], d.frameList[:0]
	d.inOrder, d.marks, d.table = false, 0, nil
	d.Max, d.Subroutines, d.followed = 0, false, 0
}

// reuse returns a slice of n elements with unspecified values. It uses the memory of s if that is large enough.
func reuse[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// zeroed returns a slice of n zeros. It uses the memory of s if that is large enough.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// reach records that a path leads to pc with that depth.
func (d *Depths) reach(pc, depth int) error {
	if pc < 0 || pc >= len(d.at) {
		return fmt.Errorf("control leaves the code: target %d of %d bytes", pc, len(d.at))
	}
	d.Max = max(d.Max, depth)
	switch known := int(d.at[pc]) - 1; {
	case known < 0:
		d.at[pc] = int32(depth) + 1
		d.pending = append(d.pending, int32(pc))
	case known != depth && !d.Subroutines:
		return fmt.Errorf("operand stack at %d is %d words deep on one path and %d on another", pc, known, depth)
	case known < depth:
		d.at[pc] = int32(depth) + 1
	}
	return nil
}

// run follows all paths from the pending positions.
func (d *Depths) run() error {
	for len(d.pending) > 0 {
		pc := int(d.pending[len(d.pending)-1])
		d.pending = d.pending[:len(d.pending)-1]
		for pc >= 0 {
			next, err := d.followOne(pc)
			if err != nil {
				return err
			}
			pc = next
		}
	}
	return nil
}

// readMembers reads the members that the pool names. They share few descriptors, each of which is read once. What
// stays unknown are the constants for which [classfile.ConstantPool.Ref] fails.
func (d *Depths) readMembers() {
	d.members = d.pool.AppendMemberDescriptors(d.members[:0])
	for i := range d.members {
		m := &d.members[i]
		descriptor := &d.known[m.Utf8]
		if descriptor.kind == unknownConstant {
			*descriptor = readDescriptor(m.Descriptor)
		}
		d.known[m.Member] = knownConstant{descriptor.kind.ofMember(), descriptor.arguments, descriptor.result}
	}
}

// readDescriptor reads the text of a descriptor.
func readDescriptor(text string) knownConstant {
	if strings.HasPrefix(text, "(") {
		if arguments, result, fault := descriptorWords(text); fault == noFault {
			return knownConstant{kind: descriptorMethod, arguments: uint8(arguments), result: uint8(result)}
		}
	} else if words, size := fieldWords(text); size != 0 && size == len(text) {
		return knownConstant{kind: descriptorField, result: uint8(words)}
	}
	return knownConstant{kind: noDescriptor}
}

// followOne follows any one instruction, at pc. It returns the position of the instruction behind it if a path
// leads there for the first time, else -1.
func (d *Depths) followOne(pc int) (next int, err error) {
	in, err := At(d.bytecode, pc)
	if err != nil {
		return 0, err
	}
	d.followed += in.Size
	pops, pushes, err := in.StackWords(d.pool)
	if err != nil {
		return 0, err
	}
	depth := int(d.at[pc]) - 1 - pops
	if depth < 0 {
		return 0, fmt.Errorf("%v at %d takes %d words off a stack of %d", in.Op, pc, pops, depth+pops)
	}
	depth += pushes
	subroutine := in.Op == Jsr || in.Op == JsrW
	d.Subroutines = d.Subroutines || subroutine
	for target := range in.Targets() {
		if err := d.reach(target, depth); err != nil {
			return 0, fmt.Errorf("%v at %d: %w", in.Op, pc, err)
		}
	}
	if subroutine {
		depth-- // the return address, which ret has used
	} else if !in.FallsThrough() {
		return -1, nil
	}
	d.Max = max(d.Max, depth)
	next = pc + in.Size
	if next < len(d.at) && d.at[next] == 0 {
		d.at[next] = int32(depth) + 1
		return next, nil
	}
	return -1, d.reach(next, depth)
}

// StackWords returns how many words the instruction takes off the operand stack and how many it then puts on it
// (JVMS 6.5). It reads fields and methods from the pool, and fails if the instruction names one that the pool does
// not have.
func (in Instruction) StackWords(pool *classfile.ConstantPool) (pops, pushes int, err error) {
	if effect := stackEffects[in.Op]; effect.known() {
		return effect.pops(), effect.pushes(), nil
	}
	switch in.Op {
	case Multianewarray:
		return in.U1(2), 1, nil
	case Wide:
		effect := stackEffects[in.U1(0)]
		return effect.pops(), effect.pushes(), nil
	}
	ref, err := pool.Ref(in.Constant())
	if err != nil {
		return 0, 0, fmt.Errorf("%v at %d: %w", in.Op, in.PC, err)
	}
	switch in.Op {
	case Getstatic, Putstatic, Getfield, Putfield:
		words, size := fieldWords(ref.Descriptor)
		if size == 0 || size != len(ref.Descriptor) {
			return 0, 0, fmt.Errorf("%v at %d: malformed field descriptor %q", in.Op, in.PC, ref.Descriptor)
		}
		object := 0
		if in.Op == Getfield || in.Op == Putfield {
			object = 1
		}
		if in.Op == Getstatic || in.Op == Getfield {
			return object, words, nil
		}
		return object + words, 0, nil
	}
	arguments, result, err := DescriptorWords(ref.Descriptor)
	if err != nil {
		return 0, 0, fmt.Errorf("%v at %d: %w", in.Op, in.PC, err)
	}
	if in.Op != Invokestatic && in.Op != Invokedynamic {
		arguments++
	}
	return arguments, result, nil
}
