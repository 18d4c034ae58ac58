package code

import (
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile"
)

// blockEnd is a branch with a two-byte offset, a return or an athrow.
type blockEnd struct {
	pc     int32
	target int32 // of the branch, leaves for the others
}

// leaves is the target of a [blockEnd] that leaves the method.
const leaves = -1

// frameAt is a frame of a StackMapTable, with its position in the code and in the attribute.
type frameAt struct {
	pc    int32
	start int32 // of frame_type in the info of the attribute
	kind  byte  // frame_type
	moves bool  // it has an item that holds a position: Uninitialized
}

// header returns the length of frame_type and offset_delta.
func (f *frameAt) header() int {
	if f.kind < firstReserved {
		return 1
	}
	return 3
}

// followInOrder is [Depths.Follow] in one walk through the instructions in the order of the code, which decodes each
// of them once. It returns false, with d in no particular state, for code unlike the code of compilers, which
// Follow must follow along its paths: code with a fault, with dead code, with a subroutine or another rare
// instruction, or with code that has no frame and to which only a later instruction leads.
//
// The walk starts with marks in d.at: the depths of the frames and of the exception handlers. A branch ahead adds a
// mark at its target. Where the walk comes to a mark, the instruction before it must agree if control passes on;
// where there is none, control must pass on. A branch back must agree with the depth that the walk has found there.
// At the end, the walk must have come to as many marks as were made, so that each of them is at an instruction. Then
// all paths agree, and Follow would find the same: a path leads to each instruction, from the one before it or from a
// mark.
func (d *Depths) followInOrder(code *classfile.Code) bool {
	if len(d.bytecode) == 0 || !d.markCode(code) {
		return false
	}
	d.ends = reuse(d.ends, len(d.bytecode))[:0] // there cannot be more
	d.most, d.arrived = 0, 0
	for pc, now := 0, 0; ; {
		outcome := walkEnded
		switch pc, now, outcome = d.followSimple(pc, now); outcome {
		case walkFaulty:
			return false
		case walkEnded:
			d.Max = d.most - 1
			return now == 0 && d.arrived == d.marks
		}
		ok := false
		if pc, now, ok = d.followOther(pc, now); !ok {
			return false
		}
	}
}

// walkOutcome is how a part of the walk has ended.
type walkOutcome uint8

const (
	walkEnded  walkOutcome = iota // behind the last instruction
	walkFaulty                    // at one with a fault
	walkOther                     // at one that followOther must follow
)

// followSimple follows the instructions from pc on, to which the one before it leads with the depth now-1, up to the
// first one that followOther must follow. It returns the position and the depth plus 1 there. The function calls
// nothing and has few variables, so that the compiler keeps these in registers.
func (d *Depths) followSimple(pc, now int) (int, int, walkOutcome) {
	bytecode := d.bytecode
	at := d.at[:len(bytecode)]
	for uint(pc) < uint(len(bytecode)) {
		if mark := int(at[pc]); mark != 0 {
			if now != mark && now != 0 {
				return pc, now, walkFaulty
			}
			now = mark
			d.arrived++
		} else if now == 0 {
			return pc, now, walkFaulty
		}
		at[pc] = int32(now)
		if now > d.most {
			d.most = now
		}
		effect := stackEffects[bytecode[pc]]
		after := now - effect.pops()
		if after <= 0 {
			return pc, now, walkFaulty
		}
		after += effect.pushes()
		next := pc + effect.size()
		switch flow := effect.flow(); flow { // enough cases for a jump table
		case flowNext:
		case flowEnd:
			d.addEnd(pc, leaves)
			after = 0
		case flowBranch, flowJump:
			if pc+2 >= len(bytecode) {
				return pc, now, walkFaulty
			}
			target := pc + int(int16(uint16(bytecode[pc+1])<<8|uint16(bytecode[pc+2])))
			if uint(target) >= uint(len(at)) {
				return pc, now, walkFaulty
			}
			if at[target] == 0 && target > pc {
				at[target] = int32(after)
				d.marks++
			}
			if at[target] != int32(after) {
				return pc, now, walkFaulty
			}
			d.addEnd(pc, target)
			if flow == flowJump {
				after = 0
			}
		case flowGet:
			c := d.known[operand(bytecode, pc, len(d.known))]
			if c.kind != memberField {
				return pc, now, walkFaulty
			}
			after += int(c.result)
		case flowPut:
			c := d.known[operand(bytecode, pc, len(d.known))]
			if c.kind != memberField {
				return pc, now, walkFaulty
			}
			if after -= int(c.result); after <= 0 {
				return pc, now, walkFaulty
			}
		case flowInvoke:
			c := d.known[operand(bytecode, pc, len(d.known))]
			if c.kind != memberMethod {
				return pc, now, walkFaulty
			}
			if after -= int(c.arguments); after <= 0 {
				return pc, now, walkFaulty
			}
			after += int(c.result)
		case flowUnknown, flowSpecial:
			return pc, now, walkOther
		}
		pc, now = next, after
	}
	return pc, now, walkEnded
}

// operand returns the two-byte operand of the instruction at pc, 0 if it is not less than limit.
func operand(bytecode []byte, pc, limit int) int {
	if pc+2 < len(bytecode) {
		if i := int(bytecode[pc+1])<<8 | int(bytecode[pc+2]); i < limit {
			return i
		}
	}
	return 0
}

// addEnd adds an end of a block, for which followInOrder has made room.
func (d *Depths) addEnd(pc, target int) {
	n := len(d.ends)
	d.ends = d.ends[:n+1]
	d.ends[n] = blockEnd{int32(pc), int32(target)}
}

// followOther follows a switch, a multianewarray or a wide load, store or increment. It returns where the walk goes
// on, and the depth plus 1 with which the instruction leads there, 0 if it does not. ok is false for other
// instructions, and where there is a fault.
func (d *Depths) followOther(pc, now int) (next, after int, ok bool) {
	in, err := At(d.bytecode, pc)
	if err != nil {
		return 0, 0, false
	}
	switch in.Op {
	case Tableswitch, Lookupswitch:
		now -= stackEffects[in.Op].pops()
		for i := range in.switchTargets() {
			if _, target := in.switchTarget(i); now <= 0 || !d.mark(target, now, pc) {
				return 0, 0, false
			}
		}
		d.switches = append(d.switches, int32(pc))
		return pc + in.Size, 0, true
	case Multianewarray, Wide:
		pops, pushes, err := in.StackWords(nil) // neither needs the pool
		if err != nil || now <= pops || !in.FallsThrough() {
			return 0, 0, false
		}
		return pc + in.Size, now - pops + pushes, true
	}
	return 0, 0, false
}

// mark makes a mark of the depth now-1 at target, for an instruction at pc. It returns false if the target has another
// depth, or is behind pc and no instruction.
func (d *Depths) mark(target, now, pc int) bool {
	if uint(target) >= uint(len(d.at)) {
		return false
	}
	if d.at[target] == 0 && target > pc {
		d.at[target] = int32(now)
		d.marks++
	}
	return d.at[target] == int32(now)
}

// markCode makes the marks of the start of the code, the exception handlers and the frames.
func (d *Depths) markCode(code *classfile.Code) bool {
	d.mark(0, 1, -1)
	for entry := code.ExceptionTable; len(entry) >= 8; entry = entry[8:] {
		if !d.mark(int(binary.BigEndian.Uint16(entry[4:])), 2, -1) {
			return false
		}
	}
	for i := range code.Attributes {
		if a := &code.Attributes[i]; a.Name == "StackMapTable" {
			if d.table != nil {
				return false // a second one, which no verifier accepts
			}
			d.table = a.Info
			if !d.markFrames() {
				return false
			}
		}
	}
	return true
}

// markFrames makes the marks of the frames in d.table, and collects them.
func (d *Depths) markFrames() bool {
	info := d.table
	if len(info) < 2 {
		return false
	}
	at, pc := 2, -1
	for range int(binary.BigEndian.Uint16(info)) {
		if at >= len(info) {
			return false
		}
		f := frameAt{start: int32(at), kind: info[at]}
		delta, words, ok := int(f.kind), 0, true
		switch {
		case f.kind < sameLocals1:
			at++
		case f.kind < firstReserved:
			delta -= sameLocals1
			at, words, f.moves, ok = itemWords(info, at+1, 1)
		case f.kind < sameLocals1Extended || at+3 > len(info):
			return false
		default:
			delta = int(binary.BigEndian.Uint16(info[at+1:]))
			at, words, f.moves, ok = extendedFrame(info, at+3, f.kind)
		}
		if pc += delta + 1; !ok || !d.mark(pc, words+1, -1) {
			return false
		}
		f.pc = int32(pc)
		d.frameList = append(d.frameList, f)
	}
	return at == len(info)
}

// extendedFrame reads the body, at position at, of a frame with a two-byte offset_delta. It returns the position behind
// it, the stack words that it describes, and whether it has Uninitialized items.
func extendedFrame(b []byte, at int, kind byte) (end, words int, moves, ok bool) {
	switch {
	case kind == sameLocals1Extended:
		return itemWords(b, at, 1)
	case kind <= sameFrameExtended:
		return at, 0, false, true
	case kind < fullFrame:
		end, _, moves, ok = itemWords(b, at, int(kind)-sameFrameExtended)
		return end, 0, moves, ok
	case at+2 > len(b):
		return 0, 0, false, false
	}
	end, _, moves, ok = itemWords(b, at+2, int(binary.BigEndian.Uint16(b[at:])))
	if !ok || end+2 > len(b) {
		return 0, 0, false, false
	}
	end, words, inStack, ok := itemWords(b, end+2, int(binary.BigEndian.Uint16(b[end:])))
	return end, words, moves || inStack, ok
}

// itemWords reads n verification_type_info structures at position at. It returns the position behind them, the words
// that their values take, and whether some are Uninitialized.
func itemWords(b []byte, at, n int) (end, words int, moves, ok bool) {
	words = n
	for ; n > 0; n-- {
		if at >= len(b) {
			return 0, 0, false, false
		}
		switch tag := b[at]; {
		case tag == itemObject:
			at += 3
		case tag < itemObject:
			if tag == itemLong || tag == itemDouble {
				words++
			}
			at++
		case tag == itemUninitialized:
			moves = true
			at += 3
		default:
			return 0, 0, false, false
		}
	}
	return at, words, moves, at <= len(b)
}
