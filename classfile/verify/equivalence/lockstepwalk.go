package equivalence

import (
	"bytes"
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile/code"
)

// step is what [lockstep.walk] knows of the instructions with one opcode.
type step struct {
	// change is what the instruction adds to the mark: its size, and the words that it leaves minus those that it takes.
	// It leaves out what the descriptor of a member says. The size of a switch is 0.
	change int32
	// least is one more than the words that must be on the stack, in the place of the depth of a mark.
	least  uint32
	kind   stepKind
	member constantKind // of the constant that it must name, if kind is stepCall, stepRead or stepWrite
}

func (s *step) size() int { return int(uint16(s.change)) }

type stepKind uint8

const (
	stepPlain        stepKind = iota
	stepCall                  // of this kind and the next two, a descriptor says what they take and leave
	stepRead                  // reads a field
	stepWrite                 // writes a field
	stepConstant              // names a constant
	stepLoadConstant          // ldc, whose index has one byte
	stepBranch                // conditional
	stepArray                 // multianewarray, whose operand says what it takes
	stepJump                  // from here on, the next instruction is not reached from this one
	stepSwitch
	stepReturn
	stepThrow
	stepUnsure // subroutines, wide instructions, and what is no instruction
)

var steps = func() (rows [256]step) {
	for i := range rows {
		op := code.Op(i)
		rows[i] = step{kind: stepUnsure}
		if !op.Known() || op == code.Jsr || op == code.Ret || op == code.Wide || op.Operand() == code.OperandBranchW {
			continue
		}
		pops, pushes := 0, 0
		if _, _, fixed := op.Stack(); fixed || op == code.Ldc || op == code.LdcW || op == code.Ldc2W {
			pops, pushes, _ = code.Instruction{Op: op}.StackWords(nil)
		} else if op == code.Multianewarray {
			pushes = 1
		} else if op != code.Getstatic && op != code.Putstatic && op != code.Invokestatic && op != code.Invokedynamic {
			pops = 1 // the object of which the member is
		}
		row := step{kind: kindOf(op), least: uint32(pops+1) << depthShift, member: memberField}
		row.change = int32(op.Size()) + int32(pushes-pops)<<depthShift
		if row.kind == stepCall {
			row.member = memberMethod
		}
		rows[i] = row
	}
	return rows
}()

// kindOf returns the kind of a known opcode that is neither wide nor one of a subroutine.
func kindOf(op code.Op) stepKind {
	switch op {
	case code.Getstatic, code.Getfield:
		return stepRead
	case code.Putstatic, code.Putfield:
		return stepWrite
	case code.Invokevirtual, code.Invokespecial, code.Invokestatic, code.Invokeinterface, code.Invokedynamic:
		return stepCall
	case code.Goto:
		return stepJump
	case code.Athrow:
		return stepThrow
	}
	if op.IsReturn() {
		return stepReturn
	}
	switch op.Operand() {
	case code.OperandConstant:
		return stepLoadConstant
	case code.OperandConstantW:
		return stepConstant
	case code.OperandMultiarray:
		return stepArray
	case code.OperandBranch:
		return stepBranch
	case code.OperandTableSwitch, code.OperandLookupSwitch:
		return stepSwitch
	}
	return stepPlain
}

// walk goes through the instructions of the original once and compares them with the rewritten code, in which the exit
// calls must stand where they are demanded. It follows the depth of the stack as [code.Depths] does, but in the order
// of the code: where no path leads from one instruction to the next, a branch, a handler or a frame must have said the
// depth. Every path that leads to a position must agree with what is known about it.
func (s *lockstep) walk() bool {
	pc, mark := 0, uint64(1<<depthShift|s.shift)
	s.most = mark
	for {
		if pc, mark = s.walkCommon(pc, mark); pc >= s.oldLength {
			return false // it runs off the code
		}
		st := &steps[s.old[pc]]
		if st.kind >= stepCall && st.kind <= stepWrite {
			i := binary.BigEndian.Uint16(s.old[pc+1:])
			if int(i) >= s.start || s.known[i].kind != unknownConstant {
				return false
			}
			s.readMember(i)
			continue
		}
		if mark < uint64(st.least) || !s.leads(pc, pc+s.shift, mark) {
			return false
		}
		s.awaited-- // the walk has come here
		size, after, ok := s.special(pc, st, mark)
		if !ok {
			return false
		}
		pc, mark = pc+size, after
		if st.kind >= stepJump {
			if pc >= s.oldLength {
				return s.ends(pc)
			}
			if mark = uint64(s.marks[pc]); !stands(uint32(mark), pc+s.shift) {
				return false
			}
		}
		s.most = max(s.most, mark)
	}
}

// ends checks what is left to check at the end of the walk, which is at position pc.
func (s *lockstep) ends(pc int) bool {
	end := pc + s.shift
	s.marks[s.oldLength] = 1<<depthShift | uint32(end)
	return pc == s.oldLength && end == s.nowLength && s.awaited == 0 && s.most>>(2*depthShift) == 0 && s.sameUpTo(pc, pc)
}

// walkCommon goes through the instructions from pc on, before which mark is known, that do not leave the method. It
// returns where it stops, and the mark there: before any other instruction, one with a fault, one that names a member
// that has not been read so far, and a branch whose offset may have changed. It calls no function, so that all it needs
// stays in registers.
func (s *lockstep) walkCommon(pc int, mark uint64) (int, uint64) {
	marks, known := s.marks[:s.oldLength], s.known
	old := s.old[:len(marks)]
	most, awaited, at := s.most, s.awaited, uint(pc)
	for at < uint(len(old)) {
		st := &steps[old[at]]
		after := mark + uint64(int64(st.change))
		if mark < uint64(st.least) {
			break
		}
		if kind := st.kind; kind != stepPlain {
			if kind > stepBranch || at+2 >= uint(len(old)) {
				break
			}
			i := uint(old[at+1])<<8 | uint(old[at+2])
			if kind == stepBranch {
				// If the offset is as it was, the target has moved as far as the branch; sameUpTo compares the offset.
				to := at + uint(int16(i))
				if to >= uint(len(marks)) || marks[to] != uint32(after)&^(1<<depthShift-1)|uint32(uint16(mark)+uint16(i)) {
					break
				}
				i = 0 // it names no constant
			} else if kind == stepLoadConstant {
				i >>= 8
			}
			if i >= uint(len(known)) {
				break
			}
			if kind <= stepWrite {
				c := known[i]
				takes, leaves := uint64(c.arguments), uint64(c.result)
				if kind == stepWrite {
					takes, leaves = leaves, 0
				}
				if c.kind != st.member || mark < uint64(st.least)+takes<<depthShift {
					break
				}
				after += (leaves - takes) << depthShift
			}
		}
		if marks[at] == 0 {
			marks[at] = uint32(mark)
		} else if awaited--; marks[at] != uint32(mark) {
			break
		}
		at += uint(uint16(st.change))
		mark = after
		most = max(most, mark)
	}
	s.most, s.awaited = most, awaited
	return int(at), mark
}

// special compares the instruction at pc, which is one that walkCommon leaves, and before which mark is known. It
// returns its size and the mark after it.
func (s *lockstep) special(pc int, st *step, mark uint64) (size int, after uint64, ok bool) {
	size, after = st.size(), mark+uint64(int64(st.change))
	switch st.kind {
	case stepArray:
		takes := uint64(s.old[pc+3]) << depthShift
		ok = int(binary.BigEndian.Uint16(s.old[pc+1:])) < s.start && mark >= uint64(st.least)+takes
		after -= takes
	case stepBranch, stepJump:
		ok = s.sameBranch(pc, after)
	case stepSwitch:
		size, ok = s.sameSwitch(pc, after)
	case stepReturn:
		ok = s.sameExit(pc, mark)
	case stepThrow:
		ok = !s.throws || s.isCovered(pc) || s.sameExit(pc, mark)
	}
	return size, after, ok
}

// sameUpTo compares the bytes up to position pc of the original with the rewritten ones. Those from next on remain to
// be compared.
func (s *lockstep) sameUpTo(pc, next int) bool {
	from := s.compare
	s.compare = next
	return pc+s.shift <= s.nowLength && bytes.Equal(s.old[from:pc], s.now[from+s.shift:pc+s.shift])
}

// sameExit checks that an exit call stands before the instruction at pc, which leaves the method.
func (s *lockstep) sameExit(pc int, mark uint64) bool {
	at := pc + s.shift
	// A call has four bytes at least, and the tables' counts behind the code have four more.
	if !s.sameUpTo(pc, pc) || at+s.exit.size > s.nowLength ||
		(binary.LittleEndian.Uint64(s.now[at:])^s.exit.code)&s.exit.mask != 0 {
		return false
	}
	s.need = max(s.need, mark)
	s.exits++
	s.shift += s.exit.size
	return true
}

// isCovered reports whether an entry of the exception table covers position pc.
func (s *lockstep) isCovered(pc int) bool {
	for table := s.oldTable; len(table) >= 8; table = table[8:] {
		if int(binary.BigEndian.Uint16(table)) <= pc && pc < int(binary.BigEndian.Uint16(table[2:])) {
			return true
		}
	}
	return false
}

// sameBranch checks that a branch leads to where it led. after is the mark behind it.
func (s *lockstep) sameBranch(pc int, after uint64) bool {
	const size = 3
	at := pc + s.shift
	if at+size > s.nowLength || pc+size > s.oldLength {
		return false
	}
	was, is := binary.BigEndian.Uint16(s.old[pc+1:]), binary.BigEndian.Uint16(s.now[at+1:])
	if was != is && !s.sameUpTo(pc+1, pc+size) {
		return false
	}
	return s.leads(pc+int(int16(was)), at+int(int16(is)), after)
}

// leads notes that control leads to what was position old and is position now, with the depth of mark. It returns false
// if something else is known about the position. If the walk has passed it, and no instruction begins there, it stays
// among those that are awaited.
func (s *lockstep) leads(old, now int, mark uint64) bool {
	if uint(old) >= uint(s.oldLength) || uint(now) >= uint(s.nowLength) {
		return false
	}
	want := uint32(mark)&^(1<<depthShift-1) | uint32(now)
	if known := s.marks[old]; known != 0 {
		return known == want
	}
	s.marks[old] = want
	s.awaited++
	return true
}

// sameSwitch compares the switch at pc (JVMS 6.5). It returns its size in the original. If the amount of padding
// changed, all padding must be zeros, see [body.appendSwitch].
func (s *lockstep) sameSwitch(pc int, after uint64) (size int, ok bool) {
	at := pc + s.shift
	if !s.sameUpTo(pc+1, pc) {
		return 0, false
	}
	op, size, err := code.Next(s.old[:s.oldLength], pc)
	_, sizeNow, errNow := code.Next(s.now[:s.nowLength], at)
	old, now := s.old[pc+1:pc+1+padding(pc)], s.now[at+1:at+1+padding(at)]
	if err != nil || errNow != nil || size-len(old) != sizeNow-len(now) {
		return 0, false
	}
	if len(old) == len(now) && !bytes.Equal(old, now) ||
		len(old) != len(now) && len(bytes.Trim(old, "\x00"))+len(bytes.Trim(now, "\x00")) > 0 {
		return 0, false
	}
	old, now = s.old[pc+1+len(old):pc+size], s.now[at+1+len(now):at+sizeNow]
	s.compare, s.shift = pc+size, s.shift+sizeNow-size
	const word, firstOffset = 4, 12
	for i := 0; i < len(old); i += word {
		was, is := binary.BigEndian.Uint32(old[i:]), binary.BigEndian.Uint32(now[i:])
		if i == 0 || i >= firstOffset && (op == code.Tableswitch || i%(2*word) != 0) {
			if !s.leads(pc+int(int32(was)), at+int(int32(is)), after) {
				return 0, false
			}
		} else if was != is {
			return 0, false
		}
	}
	return size, true
}
