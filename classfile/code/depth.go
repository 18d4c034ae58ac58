package code

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

// Depths is how many words the operand stack holds before each instruction of the method that was followed last. It
// keeps its working memory from one method to the next; the zero Depths is ready for use, by one goroutine at a time.
type Depths struct {
	// Max is the greatest depth before or behind any instruction reached.
	Max int
	// Subroutines says that the method has a jsr. Depths behind one assume that the subroutine leaves
	// the stack as it found it, as compilers' do, and where paths disagree the greater depth is kept.
	Subroutines bool

	at       []int32 // by position: depth + 1, 0 where nothing leads
	pool     *classfile.ConstantPool
	members  []memberWords // by index into pool
	bytecode []byte
	pending  []int32 // positions reached but not yet followed
	followed int     // bytes of instructions followed
	frames   []frame
}

// memberWords are the stack words of the field or method that a constant refers to.
type memberWords struct {
	kind      memberKind
	arguments uint8 // of a method, without this
	result    uint8 // of a method, or the words of a field
}

// memberKind says whose words are known. No descriptor is both a field's and a method's.
type memberKind uint8

const (
	memberUnknown memberKind = iota
	memberField
	memberMethod
)

// At gives the depth before the instruction at pc; ok is false if no path leads there.
func (d *Depths) At(pc int) (depth int, ok bool) {
	if pc < 0 || pc >= len(d.at) || d.at[pc] == 0 {
		return 0, false
	}
	return int(d.at[pc]) - 1, true
}

// Follow follows every path through the code from its start and its exception handlers (JVMS 2.6.2),
// then, for code that none of them reaches, from its stack map frames. It fails for code that no verifier
// would take: a stack that underflows, two depths at one place, a branch out of the code. What d says then
// means nothing.
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

// reset makes d one of another method. What is known of the pool's members stays as long as the pool does.
func (d *Depths) reset(pool *classfile.ConstantPool, bytecode []byte) {
	if d.pool != pool {
		d.pool, d.members = pool, resize(d.members, pool.Len())
	}
	d.bytecode, d.at = bytecode, resize(d.at, len(bytecode))
	d.pending, d.frames = d.pending[:0], d.frames[:0]
	d.Max, d.Subroutines, d.followed = 0, false, 0
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

// reach notes that control gets to pc with that depth.
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

func (d *Depths) run() error {
	for len(d.pending) > 0 {
		pc := int(d.pending[len(d.pending)-1])
		d.pending = d.pending[:len(d.pending)-1]
		for pc >= 0 {
			if pc = d.walk(pc); pc < 0 {
				break
			}
			next, err := d.step(pc)
			if err != nil {
				return err
			}
			pc = next
		}
	}
	return nil
}

// walk follows what nearly all instructions are, from pc on: those of which the opcode says all, and those that name a
// member whose words are known. It gives the position of one that is for [Depths.step], which is any other and one with
// which something is wrong, or -1 where the path ends.
func (d *Depths) walk(pc int) int {
	bytecode, at := d.bytecode, d.at[:len(d.bytecode)]
	depth, start := int(at[pc])-1, pc
	for {
		op := Op(bytecode[pc])
		effect := &stackEffects[op]
		pops, pushes, leads := int(effect.pops), int(effect.pushes), effect.leads
		next := pc + int(sizes[op])
		if leads == leadsOddly {
			if op < Getstatic || op > Invokedynamic || next > len(bytecode) {
				break
			}
			i := int(binary.BigEndian.Uint16(bytecode[pc+1:]))
			if i >= len(d.members) {
				break
			}
			var ok bool
			if pops, pushes, ok = d.members[i].effect(op); !ok {
				break
			}
		}
		after := depth - pops + pushes
		if pops > depth || next > len(bytecode) {
			break
		}
		if leads == leadsOnOrOff || leads == leadsOff {
			target := pc + int(int16(binary.BigEndian.Uint16(bytecode[pc+1:])))
			if target < 0 || target >= len(at) || at[target] != 0 && at[target] != int32(after)+1 {
				break
			}
			if leads == leadsOnOrOff && (next >= len(at) || at[next] != 0 && at[next] != int32(after)+1) {
				break
			}
			if at[target] == 0 {
				at[target] = int32(after) + 1
				d.pending = append(d.pending, int32(target))
			}
		}
		if leads == leadsOff || leads == leadsNowhere {
			d.followed += next - start
			return -1
		}
		if next >= len(at) || at[next] != 0 && at[next] != int32(after)+1 {
			break
		}
		depth = after
		d.Max = max(d.Max, depth)
		if at[next] != 0 {
			d.followed += next - start
			return -1
		}
		at[next] = int32(depth) + 1
		pc = next
	}
	d.followed += pc - start
	return pc
}

// effect gives what an instruction that names the member takes off the stack and puts on; ok is false if that is not
// known of such an instruction.
func (w memberWords) effect(op Op) (pops, pushes int, ok bool) {
	switch op {
	case Getstatic:
		return 0, int(w.result), w.kind == memberField
	case Putstatic:
		return int(w.result), 0, w.kind == memberField
	case Getfield:
		return 1, int(w.result), w.kind == memberField
	case Putfield:
		return 1 + int(w.result), 0, w.kind == memberField
	case Invokestatic, Invokedynamic:
		return int(w.arguments), int(w.result), w.kind == memberMethod
	}
	return 1 + int(w.arguments), int(w.result), w.kind == memberMethod
}

// learn remembers the words of the member that an instruction names, which it takes off the stack and puts on.
func (d *Depths) learn(in Instruction, pops, pushes int) {
	w := memberWords{memberMethod, uint8(pops), uint8(pushes)}
	switch in.Op {
	case Getstatic, Getfield:
		w = memberWords{kind: memberField, result: uint8(pushes)}
	case Putstatic:
		w = memberWords{kind: memberField, result: uint8(pops)}
	case Putfield:
		w = memberWords{kind: memberField, result: uint8(pops - 1)}
	case Invokestatic, Invokedynamic:
	default:
		w.arguments = uint8(pops - 1)
	}
	d.members[in.Constant()] = w
}

// step follows the instruction at pc and gives the next one if it is entered for the first time, else -1.
func (d *Depths) step(pc int) (next int, err error) {
	in, err := At(d.bytecode, pc)
	if err != nil {
		return 0, err
	}
	d.followed += in.Size
	pops, pushes, err := in.StackWords(d.pool)
	if err != nil {
		return 0, err
	}
	if in.Op >= Getstatic && in.Op <= Invokedynamic {
		d.learn(in, pops, pushes)
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

// StackWords gives how many words the instruction takes off the operand stack and how many it then puts on
// (JVMS 6.5). The pool tells of fields and methods; one that is not there is an error.
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
