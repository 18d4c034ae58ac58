package code

import (
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

// Depths is how many words the operand stack holds before each instruction of a method.
type Depths struct {
	// Max is the greatest depth before or behind any instruction reached.
	Max int
	// Subroutines says that the method has a jsr. Depths behind one assume that the subroutine leaves
	// the stack as it found it, as compilers' do, and where paths disagree the greater depth is kept.
	Subroutines bool

	at []int32 // by position: depth + 1, 0 where nothing leads
}

// At gives the depth before the instruction at pc; ok is false if no path leads there.
func (d *Depths) At(pc int) (depth int, ok bool) {
	if pc < 0 || pc >= len(d.at) || d.at[pc] == 0 {
		return 0, false
	}
	return int(d.at[pc]) - 1, true
}

// StackDepths follows every path through the code from its start and its exception handlers (JVMS 2.6.2),
// then, for code that none of them reaches, from its stack map frames. It fails for code that no verifier
// would take: a stack that underflows, two depths at one place, a branch out of the code.
func StackDepths(pool *classfile.ConstantPool, code *classfile.Code) (Depths, error) {
	d := depthFlow{pool: pool, bytecode: code.Bytecode}
	d.at = make([]int32, len(code.Bytecode))
	if err := d.reach(0, 0); err != nil {
		return Depths{}, err
	}
	for entry := code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if err := d.reach(int(binary.BigEndian.Uint16(entry[4:])), 1); err != nil {
			return Depths{}, fmt.Errorf("exception handler: %w", err)
		}
	}
	if err := d.run(); err != nil {
		return Depths{}, err
	}
	if a, ok := classfile.FindAttribute(code.Attributes, "StackMapTable"); ok && d.followed < len(code.Bytecode) {
		frames, err := parseFrames(a.Info, nil)
		if err != nil {
			return Depths{}, err
		}
		for _, f := range frames {
			if f.pc < len(d.at) && d.at[f.pc] == 0 {
				if err := d.reach(f.pc, f.stackWords()); err != nil {
					return Depths{}, err
				}
			}
		}
		if err := d.run(); err != nil {
			return Depths{}, err
		}
	}
	return d.Depths, nil
}

type depthFlow struct {
	Depths
	pool     *classfile.ConstantPool
	bytecode []byte
	pending  []int32 // positions reached but not yet followed
	followed int     // bytes of instructions followed
}

// reach notes that control gets to pc with that depth.
func (d *depthFlow) reach(pc, depth int) error {
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

func (d *depthFlow) run() error {
	for len(d.pending) > 0 {
		pc := int(d.pending[len(d.pending)-1])
		d.pending = d.pending[:len(d.pending)-1]
		for pc >= 0 {
			next, err := d.step(pc)
			if err != nil {
				return err
			}
			pc = next
		}
	}
	return nil
}

// step follows the instruction at pc and gives the next one if it is entered for the first time, else -1.
func (d *depthFlow) step(pc int) (next int, err error) {
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

// StackWords gives how many words the instruction takes off the operand stack and how many it then puts on
// (JVMS 6.5). The pool tells of fields and methods; one that is not there is an error.
func (in Instruction) StackWords(pool *classfile.ConstantPool) (pops, pushes int, err error) {
	if effect := stackEffects[in.Op]; effect.known {
		return int(effect.pops), int(effect.pushes), nil
	}
	switch in.Op {
	case Ldc, LdcW:
		return 0, 1, nil
	case Ldc2W:
		return 0, 2, nil
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
