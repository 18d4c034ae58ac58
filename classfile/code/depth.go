package code

import (
	"encoding/binary"
	"fmt"

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
	known    []knownConstant // by index into pool
	bytecode []byte
	pending  []int32 // positions reached but not yet followed
	followed int     // bytes of instructions followed
	frames   []frame
}

// knownConstant is what Depths has read of a constant: one that an instruction names, or one that such a constant
// refers to.
type knownConstant struct {
	kind      constantKind
	arguments uint8 // stack words of a method's arguments, without this
	result    uint8 // those of its result, or of a field
}

// constantKind is the kind of a knownConstant. No descriptor is both a field's and a method's.
type constantKind uint8

const (
	unknownConstant constantKind = iota
	memberField                  // a field, named by a Fieldref or the like
	memberMethod
	descriptorField // a Utf8 that is the descriptor of a field
	descriptorMethod
	namedClass // a Class whose name is a Utf8
)

// At returns the depth in words before the instruction at pc; ok is false if no path leads there.
func (d *Depths) At(pc int) (depth int, ok bool) {
	if pc < 0 || pc >= len(d.at) || d.at[pc] == 0 {
		return 0, false
	}
	return int(d.at[pc]) - 1, true
}

// Follow computes the depths of a method. It fails for code that every verifier rejects: a stack that underflows,
// two depths at one place, a branch out of the code. After an error the contents of d are meaningless.
//
// The start of the code is reached with an empty stack, and each exception handler with one word, the exception
// (JVMS 2.10). From there Follow adds up the effects of the instructions along every path. JVMS 4.10 requires that
// all paths to an instruction have the same depth there, so it is enough to follow each instruction once: every
// further path that reaches it is only compared. Code that none of these paths reaches is verified too in a class
// file with a StackMapTable (JVMS 4.10.1), so what is inserted into it must fit as well; its depths start from its
// frames.
//
// Time is linear in the length of the code, its branch targets and its handlers; memory is 4 bytes for each byte of
// code.
func (d *Depths) Follow(pool *classfile.ConstantPool, code *classfile.Code) error {
	d.reset(pool, code.Bytecode)
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

// reset prepares d for another method. What was read of constants stays as long as the pool is the same.
func (d *Depths) reset(pool *classfile.ConstantPool, bytecode []byte) {
	if d.pool != pool {
		d.pool, d.known = pool, zeroed(d.known, pool.Len())
	}
	d.bytecode, d.at = bytecode, zeroed(d.at, len(bytecode))
	d.pending, d.frames = d.pending[:0], d.frames[:0]
	d.Max, d.Subroutines, d.followed = 0, false, 0
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
			if pc = d.followCommon(pc); pc < 0 {
				break
			}
			next, err := d.followOne(pc)
			if err != nil {
				return err
			}
			pc = next
		}
	}
	return nil
}

// followCommon follows the instructions from pc on as long as they are common ones: those whose effect depends on
// the opcode alone, and those that name a member. It returns -1 where the path ends, and the position of the first
// instruction that [Depths.followOne] must follow: any other instruction, and one that has a fault, since followOne
// reports faults. Nearly all instructions are common, and this loop follows them without a call for each.
func (d *Depths) followCommon(pc int) int {
	bytecode, at := d.bytecode, d.at[:len(d.bytecode)]
	depth, most, start := int(at[pc])-1, d.Max, pc
	for {
		op := Op(bytecode[pc])
		effect := &stackEffects[op]
		pops, pushes := int(effect.pops), int(effect.pushes)
		next := pc + int(effect.size)
		if effect.flow == flowSpecial {
			if op < Getstatic || op > Invokedynamic || next > len(bytecode) {
				break
			}
			var ok bool
			if pops, pushes, ok = d.constant(binary.BigEndian.Uint16(bytecode[pc+1:])).effect(op); !ok {
				break
			}
		}
		after := depth - pops + pushes
		if pops > depth || next > len(bytecode) {
			break
		}
		if effect.flow == flowBranch || effect.flow == flowJump {
			target := pc + int(int16(binary.BigEndian.Uint16(bytecode[pc+1:])))
			if target < 0 || target >= len(at) || at[target] != 0 && at[target] != int32(after)+1 {
				break
			}
			if effect.flow == flowBranch && (next >= len(at) || at[next] != 0 && at[next] != int32(after)+1) {
				break
			}
			if at[target] == 0 {
				at[target] = int32(after) + 1
				d.pending = append(d.pending, int32(target))
			}
		}
		if effect.flow == flowJump || effect.flow == flowEnd {
			d.followed, d.Max = d.followed+next-start, most
			return -1
		}
		if next >= len(at) || at[next] != 0 && at[next] != int32(after)+1 {
			break
		}
		depth, most = after, max(most, after)
		if at[next] != 0 { // another path, with the same depth, has followed the rest
			d.followed, d.Max = d.followed+next-start, most
			return -1
		}
		at[next] = int32(depth) + 1
		pc = next
	}
	d.followed, d.Max = d.followed+pc-start, most
	return pc
}

// effect returns how many words an instruction that names the member takes off the stack and puts on it; ok is
// false if c is not a member that the instruction may name.
func (c knownConstant) effect(op Op) (pops, pushes int, ok bool) {
	switch op {
	case Getstatic:
		return 0, int(c.result), c.kind == memberField
	case Putstatic:
		return int(c.result), 0, c.kind == memberField
	case Getfield:
		return 1, int(c.result), c.kind == memberField
	case Putfield:
		return 1 + int(c.result), 0, c.kind == memberField
	case Invokestatic, Invokedynamic:
		return int(c.arguments), int(c.result), c.kind == memberMethod
	}
	return 1 + int(c.arguments), int(c.result), c.kind == memberMethod
}

// constant returns what was read of constant i, and reads it if nothing was.
func (d *Depths) constant(i uint16) knownConstant {
	if int(i) >= len(d.known) {
		return knownConstant{}
	}
	if d.known[i].kind == unknownConstant {
		d.known[i] = d.member(i)
	}
	return d.known[i]
}

// member reads a constant that names a field or method, like [classfile.ConstantPool.Ref], and returns an
// unknownConstant where that fails. The members that a class names share few classes and descriptors, each of which
// is read once.
func (d *Depths) member(i uint16) knownConstant {
	tag, info := d.pool.Entry(i)
	switch tag {
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		if !d.isClass(binary.BigEndian.Uint16(info)) {
			return knownConstant{}
		}
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
	default:
		return knownConstant{}
	}
	tag, info = d.pool.Entry(binary.BigEndian.Uint16(info[2:]))
	if tag != classfile.TagNameAndType || d.pool.Tag(binary.BigEndian.Uint16(info)) != classfile.TagUtf8 {
		return knownConstant{}
	}
	member := d.descriptor(binary.BigEndian.Uint16(info[2:]))
	switch member.kind {
	case descriptorField:
		member.kind = memberField
	case descriptorMethod:
		member.kind = memberMethod
	}
	return member
}

// isClass reports whether constant i is a Class with a name.
func (d *Depths) isClass(i uint16) bool {
	tag, info := d.pool.Entry(i)
	if tag != classfile.TagClass {
		return false
	}
	if d.known[i].kind == unknownConstant && d.pool.Tag(binary.BigEndian.Uint16(info)) == classfile.TagUtf8 {
		d.known[i].kind = namedClass
	}
	return d.known[i].kind == namedClass
}

// descriptor reads the Utf8 entry i. It returns an unknownConstant if that is not a descriptor.
func (d *Depths) descriptor(i uint16) knownConstant {
	text, err := d.pool.Utf8(i)
	if err != nil {
		return knownConstant{}
	}
	if d.known[i].kind != unknownConstant {
		return d.known[i]
	}
	if words, size := fieldWords(text); size != 0 && size == len(text) {
		d.known[i] = knownConstant{kind: descriptorField, result: uint8(words)}
	} else if arguments, result, err := DescriptorWords(text); err == nil {
		d.known[i] = knownConstant{kind: descriptorMethod, arguments: uint8(arguments), result: uint8(result)}
	}
	return d.known[i]
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
	if effect := stackEffects[in.Op]; effect.known {
		return int(effect.pops), int(effect.pushes), nil
	}
	switch in.Op {
	case Multianewarray:
		return in.U1(2), 1, nil
	case Wide:
		effect := stackEffects[in.U1(0)]
		return int(effect.pops), int(effect.pushes), nil
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
