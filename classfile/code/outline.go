package code

import "fmt"

// OpSet is a set of opcodes.
type OpSet [256]bool

// Outline is what one walk through the instructions of a method finds. It uses the same memory for one method after
// another. The zero Outline is ready for use.
type Outline struct {
	// Stops are the positions of the instructions that Read was asked for, in order. If Read has failed, they are those
	// in front of the fault.
	Stops []int

	branches []branch
}

// branch is a branch or switch instruction.
type branch struct {
	pc, size int // in the old code
	width    int // bytes of the instruction in the new code
	target   int // old position; 0 for a switch
	op       Op
}

// isWide reports whether the old instruction has a four-byte offset.
func (b *branch) isWide() bool { return b.op == GotoW || b.op == JsrW }

func (b *branch) isSwitch() bool { return b.op == Tableswitch || b.op == Lookupswitch }

// instruction returns the old instruction. Outline.Read has decoded it before.
func (b *branch) instruction(bytecode []byte) Instruction {
	return Instruction{PC: b.pc, Op: b.op, Size: b.size, code: bytecode}
}

// Read walks through the code of a method. It finds the instructions with an opcode of stops, and the branches and
// switches. It fails if the code cannot be decoded, if a branch leads out of it, and if a switch has padding that is
// not zero, which strip could not restore.
func (o *Outline) Read(bytecode []byte, stops *OpSet) error {
	o.Stops, o.branches = o.Stops[:0], o.branches[:0]
	for pc := 0; pc < len(bytecode); {
		op := bytecode[pc]
		size := int(plainSizes[op])
		if size == 0 || size > len(bytecode)-pc {
			in, err := At(bytecode, pc)
			if err == nil {
				err = o.addBranch(in)
			}
			if err != nil {
				return err
			}
			size = in.Size
		}
		if stops[op] {
			o.Stops = append(o.Stops, pc)
		}
		pc += size
	}
	return nil
}

// plainSizes has the length of the instructions with each opcode, 0 where it varies, for branches, and for an unknown
// opcode.
var plainSizes = func() (rows [256]uint8) {
	for op := range ops {
		if !(Instruction{Op: Op(op)}).hasOffsets() {
			rows[op] = sizes[op]
		}
	}
	return rows
}()

// hasOffsets reports whether the instruction holds offsets of others: whether it is a branch or a switch.
func (in Instruction) hasOffsets() bool {
	switch ops[in.Op].operand {
	case OperandBranch, OperandBranchW, OperandTableSwitch, OperandLookupSwitch:
		return true
	}
	return false
}

// addBranch adds the instruction if it is a branch or switch.
func (o *Outline) addBranch(in Instruction) error {
	target, isBranch := in.Branch()
	if !isBranch && !in.hasOffsets() {
		return nil
	}
	o.branches = append(o.branches, branch{pc: in.PC, size: in.Size, width: in.Size, target: target, op: in.Op})
	switch {
	case isBranch:
		return in.checkTarget(target)
	case in.hasOddPadding():
		return fmt.Errorf("%v at %d has padding that is not zero, which strip could not restore", in.Op, in.PC)
	}
	for _, target := range in.SwitchOffsets() {
		if err := in.checkTarget(target); err != nil {
			return err
		}
	}
	return nil
}

// checkTarget returns an error if the target of a branch or switch is outside of the code.
func (in Instruction) checkTarget(target int) error {
	if target < 0 || target >= len(in.code) {
		return fmt.Errorf("%v at %d branches to %d, outside of the %d bytes of code", in.Op, in.PC, target, len(in.code))
	}
	return nil
}
