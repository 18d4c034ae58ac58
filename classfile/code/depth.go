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
	bytecode []byte
	pending  []int32 // positions reached but not yet followed
	followed int     // bytes of instructions followed
	frames   []frame
}

// knownConstant is what Depths has read of a constant: of a member, or of its descriptor.
type knownConstant struct {
	kind constantKind
	// The stack words that a method takes as arguments, without this, and leaves as its result. A field has its words in
	// both: putting it takes them, getting it leaves them.
	pops, pushes uint8
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
// Time is linear in the length of the code, its branch targets and its handlers, and for the first method of a class
// in its constants; memory is 12 bytes for each byte of code.
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
	if d.followed >= len(code.Bytecode) {
		return nil
	}
	return d.followFrames(code)
}

// followFrames follows the code to which only frames lead.
func (d *Depths) followFrames(code *classfile.Code) error {
	a, ok := classfile.FindAttribute(code.Attributes, "StackMapTable")
	if !ok {
		return nil
	}
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

// reset prepares d for another method. The facts about constants stay as long as the pool is the same.
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
		for pc != pathEnds {
			if pc = d.follow(pc); pc == pathEnds {
				break
			}
			if d.readMember(pc) {
				continue
			}
			var err error
			if pc, err = d.followOther(pc); err != nil {
				return err
			}
		}
	}
	return nil
}

// pathEnds is what stands for the next position where a path leaves the method or meets one that was followed.
const pathEnds = -1

// follow follows a path from the instruction at pc, which has been reached, up to the first instruction that
// followOther must follow: one that is rare or has a fault, or that names a member that has not been read. It returns
// the position of that one. It calls nothing for most instructions, so that the compiler keeps its variables in
// registers.
func (d *Depths) follow(pc int) (stop int) {
	bytecode := d.bytecode
	at := d.at[:len(bytecode)]
	now := int(at[pc]) // the depth before the instruction, plus 1
	most, followed := now, 0
	for {
		op := bytecode[pc]
		after := now - int(effects.pops[op])
		if after <= 0 {
			break
		}
		after += int(effects.pushes[op])
		size := int(effects.size[op])
		next := pc + size
		if flow := effects.flow[op]; flow != flowNext { // as most have
			if flow == flowEnd {
				followed++
				pc = pathEnds
				break
			}
			if next > len(bytecode) || flow == flowOther {
				break
			}
			operand := int(bytecode[pc+1])<<8 | int(bytecode[pc+2])
			if flow == flowMember {
				if operand >= len(d.known) {
					break
				}
				c := d.known[operand]
				if after -= int(c.pops & effects.popsMember[op]); c.kind != effects.member[op] || after <= 0 {
					break
				}
				after += int(c.pushes & effects.pushesMember[op])
			} else {
				target := pc + int(int16(operand))
				if uint(target) >= uint(len(at)) {
					break
				}
				if flow == flowJump {
					next = target // and the size of a goto is counted below as that of any other
				} else if at[target] == 0 {
					at[target] = int32(after)
					d.pending = append(d.pending, int32(target))
				} else if at[target] != int32(after) {
					break
				}
			}
		}
		if uint(next) >= uint(len(at)) {
			break
		}
		if known := at[next]; known != 0 {
			if known == int32(after) {
				followed += size
				pc = pathEnds
			}
			break
		}
		at[next] = int32(after)
		followed += size
		most = max(most, after)
		pc, now = next, after
	}
	d.Max = max(d.Max, most-1)
	d.followed += followed
	return pc
}

// followOther follows any one instruction, at pc. It returns the position of the next one if a path leads there for
// the first time, else pathEnds.
func (d *Depths) followOther(pc int) (next int, err error) {
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
		return pathEnds, nil
	}
	d.Max = max(d.Max, depth)
	next = pc + in.Size
	if next < len(d.at) && d.at[next] == 0 {
		d.at[next] = int32(depth) + 1
		return next, nil
	}
	return pathEnds, d.reach(next, depth)
}

// readMember reads the constant that the instruction at pc names, if it has not been read. It reports whether that is a
// member. Members share few descriptors, each of which is read once.
func (d *Depths) readMember(pc int) bool {
	if effects.flow[d.bytecode[pc]] != flowMember || pc+2 >= len(d.bytecode) {
		return false
	}
	i := binary.BigEndian.Uint16(d.bytecode[pc+1:])
	if int(i) >= len(d.known) || d.known[i].kind != unknownConstant {
		return false
	}
	utf8, ok := d.pool.DescriptorOf(i)
	if !ok {
		return false
	}
	descriptor := &d.known[utf8]
	if descriptor.kind == unknownConstant {
		*descriptor = readDescriptor(d.pool.Text(utf8))
	}
	d.known[i] = knownConstant{descriptor.kind.ofMember(), descriptor.pops, descriptor.pushes}
	return d.known[i].kind != unknownConstant
}

// readDescriptor reads the text of a descriptor.
func readDescriptor(text string) knownConstant {
	if strings.HasPrefix(text, "(") {
		if arguments, result, err := DescriptorWords(text); err == nil {
			return knownConstant{kind: descriptorMethod, pops: uint8(arguments), pushes: uint8(result)}
		}
	} else if words, size := fieldWords(text); size != 0 && size == len(text) {
		return knownConstant{kind: descriptorField, pops: uint8(words), pushes: uint8(words)}
	}
	return knownConstant{kind: noDescriptor}
}

// StackWords returns how many words the instruction takes off the operand stack and how many it then puts on it
// (JVMS 6.5). It reads fields and methods from the pool, and fails if the instruction names one that the pool does
// not have.
func (in Instruction) StackWords(pool *classfile.ConstantPool) (pops, pushes int, err error) {
	if effects.known[in.Op] {
		return int(effects.pops[in.Op]), int(effects.pushes[in.Op]), nil
	}
	switch in.Op {
	case Multianewarray:
		return in.U1(2), 1, nil
	case Wide:
		op := in.U1(0)
		return int(effects.pops[op]), int(effects.pushes[op]), nil
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
