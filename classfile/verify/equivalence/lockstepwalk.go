package equivalence

import (
	"bytes"
	"encoding/binary"

	"github.com/tracegen/tracegen/classfile/code"
)

// step is what [lockstep.walk] knows of the instructions with one opcode.
type step struct {
	kind   stepKind
	pops   uint8 // the words that it takes off the stack, without those of which a member's descriptor says
	size   uint8 // 0 for switches
	change int32 // what it adds to the mark: its size, and the words that it leaves minus those that it takes
}

type stepKind uint8

const (
	stepPlain stepKind = iota
	stepConstant
	stepLoadConstant // ldc, whose index has one byte
	stepRead         // reads a field
	stepWrite        // writes a field
	stepCall
	stepArray // multianewarray, whose operand says what it takes
	stepBranch
	stepJump // from here on, the next instruction is not reached from this one
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
		row := step{kind: kindOf(op), size: uint8(op.Size())}
		pushes := 0
		if _, _, fixed := op.Stack(); fixed || op == code.Ldc || op == code.LdcW || op == code.Ldc2W {
			pops, left, _ := code.Instruction{Op: op}.StackWords(nil)
			row.pops, pushes = uint8(pops), left
		} else if op == code.Multianewarray {
			pushes = 1
		} else if op != code.Getstatic && op != code.Putstatic && op != code.Invokestatic && op != code.Invokedynamic {
			row.pops = 1 // the object of which the member is
		}
		row.change = int32(row.size) + int32(pushes-int(row.pops))<<depthShift
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
	marks, old, known := s.marks[:s.oldLength], s.old, s.known
	pc, mark := 0, uint64(1<<depthShift|s.shift)
	most, kind := mark, stepPlain
	for pc < len(marks) {
		if marks[pc] == 0 {
			marks[pc] = uint32(mark)
		} else if s.awaited--; marks[pc] != uint32(mark) {
			return false
		}
		st := &steps[old[pc]]
		if mark>>depthShift <= uint64(st.pops) {
			return false
		}
		size := int(st.size)
		switch kind = st.kind; kind {
		case stepPlain:
		case stepLoadConstant:
			if int(old[pc+1]) >= len(known) {
				return false
			}
		case stepConstant:
			if int(binary.BigEndian.Uint16(old[pc+1:])) >= len(known) {
				return false
			}
		case stepRead, stepWrite, stepCall:
			i := int(binary.BigEndian.Uint16(old[pc+1:]))
			if i >= len(known) {
				return false
			}
			c := known[i]
			if c.kind == unknownConstant {
				c = s.readMember(uint16(i))
			}
			takes, leaves, wanted := uint64(c.arguments), uint64(c.result), memberMethod
			if kind != stepCall {
				wanted = memberField
				if kind == stepWrite {
					takes, leaves = leaves, 0
				}
			}
			if c.kind != wanted || mark>>depthShift <= uint64(st.pops)+takes {
				return false
			}
			mark += (leaves - takes) << depthShift
		default:
			var ok bool
			if size, ok = s.special(pc, st, mark); !ok {
				return false
			}
			if kind == stepArray {
				mark -= uint64(old[pc+3]) << depthShift
			}
		}
		mark += uint64(int64(st.change))
		pc += size
		most = max(most, mark)
		if kind >= stepJump && pc < len(marks) {
			mark = uint64(marks[pc])
			if !stands(uint32(mark), pc+s.shift) {
				return false
			}
			most = max(most, mark)
		}
	}
	s.most = most
	end := pc + s.shift
	if pc != s.oldLength || kind < stepJump || end != s.nowLength || s.awaited != 0 || most>>(2*depthShift) != 0 {
		return false
	}
	s.marks[pc] = 1<<depthShift | uint32(end)
	return s.sameUpTo(pc, pc)
}

// special compares an instruction at pc that is not a common one, before which the stack has the depth of mark. It
// returns its size.
func (s *lockstep) special(pc int, st *step, mark uint64) (size int, ok bool) {
	after := mark + uint64(int64(st.change))
	switch st.kind {
	case stepArray:
		takes := uint64(s.old[pc+3])
		ok = int(binary.BigEndian.Uint16(s.old[pc+1:])) < s.start && mark>>depthShift > takes
	case stepBranch, stepJump:
		ok = s.sameBranch(pc, after)
	case stepSwitch:
		return s.sameSwitch(pc, after)
	case stepReturn:
		ok = s.sameExit(pc, mark)
	case stepThrow:
		if s.throws && !s.isCovered(pc) {
			return 1, s.sameExit(pc, mark)
		}
		ok = true
	}
	return int(st.size), ok
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
	if !s.sameUpTo(pc, pc) || at+s.exit.size > s.nowLength || len(s.now)-at < 8 ||
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
	return s.leads(pc, pc+int(int16(was)), at+int(int16(is)), after)
}

// leads notes that the instruction at pc led to position old and now leads to position now, with the depth of mark. It
// returns false if something else is known about the position.
func (s *lockstep) leads(pc, old, now int, mark uint64) bool {
	if uint(old) >= uint(s.oldLength) || uint(now) >= uint(s.nowLength) {
		return false
	}
	want := uint32(mark)&^(1<<depthShift-1) | uint32(now)
	if known := s.marks[old]; known != 0 {
		return known == want
	}
	s.marks[old] = want
	s.awaited++
	return old > pc
}

// sameSwitch compares the switch at pc (JVMS 6.5). It returns its size in the original. If the amount of padding
// changed, all padding must be zeros, see [body.appendSwitch].
func (s *lockstep) sameSwitch(pc int, after uint64) (size int, ok bool) {
	at := pc + s.shift
	if !s.sameUpTo(pc+1, pc) || at >= s.nowLength {
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
			if !s.leads(pc, pc+int(int32(was)), at+int(int32(is)), after) {
				return 0, false
			}
		} else if was != is {
			return 0, false
		}
	}
	return size, true
}
