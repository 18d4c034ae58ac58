package code

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// Instruction is one instruction in a code array (JVMS 4.7.3, 6.5).
type Instruction struct {
	PC   int // of the opcode, from the start of the code array
	Op   Op  // the opcode; Wide for an instruction with a wide prefix
	Size int // bytes, padding of a switch included

	code []byte
}

// At decodes the instruction at pc, which must be a position where an instruction starts. It fails for an unknown
// opcode and for an instruction that runs past the end of the code; it does not check operands otherwise.
func At(bytecode []byte, pc int) (Instruction, error) {
	if uint(pc) < uint(len(bytecode)) {
		op := bytecode[pc]
		if size := int(sizes[op]); size != 0 && size <= len(bytecode)-pc {
			return Instruction{PC: pc, Op: Op(op), Size: size, code: bytecode}, nil
		}
	}
	return atSlow(bytecode, pc)
}

// Next returns the opcode and the length in bytes of the instruction at pc, which must be inside of the code. It
// fails where [At] does. It is faster than At for a walk through code that needs the operands of few instructions.
func Next(bytecode []byte, pc int) (op Op, size int, err error) {
	op = Op(bytecode[pc])
	if size = int(sizes[op]); size == 0 || size > len(bytecode)-pc {
		size, err = sizeSlow(bytecode, pc)
	}
	return op, size, err
}

func sizeSlow(bytecode []byte, pc int) (int, error) {
	in, err := atSlow(bytecode, pc)
	return in.Size, err
}

// atSlow is At for instructions of variable size, and for everything that is not an instruction.
func atSlow(bytecode []byte, pc int) (Instruction, error) {
	if pc < 0 || pc >= len(bytecode) {
		return Instruction{}, fmt.Errorf("no instruction at %d: the code has %d bytes", pc, len(bytecode))
	}
	op := Op(bytecode[pc])
	if !op.Known() {
		return Instruction{}, fmt.Errorf("unknown opcode %#x at %d", byte(op), pc)
	}
	size := int(sizes[op])
	if size == 0 {
		size = variableSize(bytecode, pc, op)
	}
	if size <= 0 || size > len(bytecode)-pc {
		return Instruction{}, fmt.Errorf("%v at %d is malformed or runs past the end of the code (%d bytes)",
			op, pc, len(bytecode))
	}
	return Instruction{PC: pc, Op: op, Size: size, code: bytecode}, nil
}

// variableSize returns the length of a switch or a wide instruction, or 0 if it is malformed.
func variableSize(bytecode []byte, pc int, op Op) int {
	if op == Wide {
		if pc+1 >= len(bytecode) {
			return 0
		}
		switch inner := Op(bytecode[pc+1]); {
		case inner == Iinc:
			return 6
		case inner.Known() && ops[inner].operand == OperandLocal:
			return 4
		}
		return 0
	}
	body := (pc + 4) &^ 3
	word := func(i int) int64 { return int64(int32(binary.BigEndian.Uint32(bytecode[body+4*i:]))) }
	if body+12 > len(bytecode) && (op == Tableswitch || body+8 > len(bytecode)) {
		return 0
	}
	entries := int64(0)
	header := 12
	if op == Tableswitch {
		entries = word(2) - word(1) + 1
	} else {
		header = 8
		entries = 2 * word(1)
	}
	if entries < 0 || op == Tableswitch && entries == 0 || entries > int64(len(bytecode))/4 {
		return 0
	}
	return body - pc + header + 4*int(entries)
}

// Instructions yields the instructions of bytecode in order. It ends at the first error, which it yields last, with
// an Instruction that has only its PC.
func Instructions(bytecode []byte) iter.Seq2[Instruction, error] {
	return func(yield func(Instruction, error) bool) {
		for pc := 0; pc < len(bytecode); {
			in, err := At(bytecode, pc)
			if err != nil {
				yield(Instruction{PC: pc}, err)
				return
			}
			if !yield(in, nil) {
				return
			}
			pc += in.Size
		}
	}
}

// FallsThrough reports whether control may pass from this instruction to the next one. It is false for jsr, whose
// subroutine may return to the next instruction or not.
func (in Instruction) FallsThrough() bool {
	switch in.Op {
	case Goto, GotoW, Jsr, JsrW, Ret, Tableswitch, Lookupswitch, Athrow:
		return false
	case Wide:
		return Op(in.U1(0)) != Ret
	}
	return !in.Op.IsReturn()
}

// Bytes returns the bytes of the instruction in the code array.
func (in Instruction) Bytes() []byte { return in.code[in.PC : in.PC+in.Size] }

// U1 returns the unsigned byte that is i bytes behind the opcode's end.
func (in Instruction) U1(i int) int { return int(in.code[in.PC+1+i]) }

// U2 returns the unsigned two-byte value that starts i bytes behind the opcode's end.
func (in Instruction) U2(i int) int { return int(binary.BigEndian.Uint16(in.code[in.PC+1+i:])) }

// Constant returns the constant pool index of an instruction that has one, and 0 for others.
func (in Instruction) Constant() uint16 {
	switch ops[in.Op].operand {
	case OperandConstant:
		return uint16(in.U1(0))
	case OperandConstantW, OperandInvoke4, OperandMultiarray:
		return uint16(in.U2(0))
	}
	return 0
}

// Local returns the index of the local variable that the instruction loads, stores or increments, or that holds the
// return address of a ret. The opcode itself or a wide prefix may contain it. ok is false for every other
// instruction.
func (in Instruction) Local() (index int, ok bool) {
	switch {
	case in.Op == Wide:
		return in.U2(1), true
	case ops[in.Op].operand == OperandLocal || in.Op == Iinc:
		return in.U1(0), true
	case in.Op >= Iload0 && in.Op <= Aload3:
		return int(in.Op-Iload0) & 3, true
	case in.Op >= Istore0 && in.Op <= Astore3:
		return int(in.Op-Istore0) & 3, true
	}
	return 0, false
}

// Branch returns the target of a conditional branch, a goto or a jsr, wide forms included, as a position, which in
// malformed code may be outside of the code. ok is false for every other instruction, switches included.
func (in Instruction) Branch() (target int, ok bool) {
	switch ops[in.Op].operand {
	case OperandBranch:
		return in.PC + int(int16(in.U2(0))), true
	case OperandBranchW:
		return in.PC + int(int32(binary.BigEndian.Uint32(in.code[in.PC+1:]))), true
	}
	return 0, false
}

// SwitchOffsets yields the position in the code of each branch offset of a tableswitch or lookupswitch, and the
// target of this offset; the default comes first. It yields nothing for other instructions.
func (in Instruction) SwitchOffsets() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if in.Op != Tableswitch && in.Op != Lookupswitch {
			return
		}
		for i := range in.switchTargets() {
			if !yield(in.switchTarget(i)) {
				return
			}
		}
	}
}

// switchTargets returns the number of branch offsets of a switch.
func (in Instruction) switchTargets() int {
	entries := in.PC + in.Size - ((in.PC+4)&^3 + 12) // bytes behind the default and low and high, or npairs and a match
	if in.Op == Tableswitch {
		return 1 + entries/4
	}
	return 1 + (entries+4)/8
}

// switchTarget returns the position in the code of the branch offset i of a switch, and its target. The first one is
// the default.
func (in Instruction) switchTarget(i int) (at, target int) {
	at = (in.PC + 4) &^ 3
	if i > 0 && in.Op == Tableswitch {
		at += 8 + 4*i
	} else if i > 0 {
		at += 4 + 8*i
	}
	return at, in.PC + int(int32(binary.BigEndian.Uint32(in.code[at:])))
}

// hasOddPadding reports whether a byte between the opcode and the operands of a switch is not zero.
func (in Instruction) hasOddPadding() bool {
	for _, pad := range in.code[in.PC+1 : (in.PC+4)&^3] {
		if pad != 0 {
			return true
		}
	}
	return false
}

// Targets yields every position that the instruction may branch to: the target of a branch, or the targets of a switch,
// the default first.
func (in Instruction) Targets() iter.Seq[int] {
	return func(yield func(int) bool) {
		if target, ok := in.Branch(); ok {
			yield(target)
			return
		}
		for _, target := range in.SwitchOffsets() {
			if !yield(target) {
				return
			}
		}
	}
}

// MaxLength is the greatest code_length (JVMS 4.9.1).
const MaxLength = math.MaxUint16
