package equivalence

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// lockstep compares a method with its original by going through both at once, without taking the calls out. It knows
// only the usual case: an entry call at the start, an exit call before each exit that needs one, no widened branch, and
// code of which one pass finds the stack depth before each instruction. It accepts the method, or it is not sure and
// the exact path decides: recognise, rebuild, and the checks of the calls. What it accepts, the exact path accepts too;
// TestLockstep and TestLockstepOfMutants compare the two.
type lockstep struct {
	// Of the class:
	pool  *classfile.ConstantPool // of the rewritten class
	start int                     // the index of the first constant of the block
	known []knownConstant         // by index in the pool, up to start

	// Of the method:
	old, now             []byte // the code arrays, with what follows them in the Code attribute
	oldLength, nowLength int    // of the code arrays
	oldTable, nowTable   []byte // the exception tables
	tables               []tablePair
	throws               bool     // whether an athrow that no exception table entry covers needs an exit call
	exit                 exitCode // the exit call of the method
	exits                int      // how many there are
	news                 []newPair

	// marks holds, by position of the original, the stack depth there plus one in the upper two bytes, and in the lower
	// two where the instruction there now begins, as a branch target: side B of the package comment. It is 0 where
	// nothing is known. What a branch, a frame or a handler says about a position further on is noted there at once, and
	// compared when the walk gets there.
	marks   []uint32
	awaited int    // how many of the marks are of positions to which the walk has not come
	shift   int    // by how much the code that follows has moved
	compare int    // where the bytes begin that have not yet been compared
	most    uint64 // the mark with the greatest depth
	need    uint64 // the mark of the exit call with the greatest depth
}

// tablePair is an attribute of the Code attribute, before and after.
type tablePair struct {
	kind     constantKind // of its name
	old, now []byte
}

// newPair is a position in the original and in the rewritten code at which a frame says that a new stands.
type newPair struct{ old, now int }

// exitCode is an exit call: the low size bytes of code, the first one lowest. mask selects them.
type exitCode struct {
	code, mask uint64
	size       int
}

const depthShift = 16 // of a mark

// setClass prepares for the methods of another class, whose pool and block have been checked.
func (s *lockstep) setClass(pool *classfile.ConstantPool, start int) {
	s.pool, s.start, s.known = pool, start, resize(s.known, start)
}

// inStep reports whether the current method, which is to have calls with that ID, is for certain the original with
// these calls. If so, it marks the constants that the calls use.
func (r *checker) inStep(old, now *classfile.Member, id uint32) bool {
	if r.block.entry == 0 || r.block.exit == 0 || r.want.Posts || r.want.Exits.Handler ||
		r.want.entryAfterSuper() && now.Name == "<init>" || r.want.FocusHooked && isHooked(now) {
		return false
	}
	notes := r.block.notes.of(r.number)
	if len(notes) > 1 || len(notes) == 1 && notes[0].kind != noteMaxStack {
		return false
	}
	s := &r.step
	before, after, ok := r.codesOf(old, now)
	if !ok || !s.setMethod(before, after) {
		return false
	}
	r.code.Bytecode = s.now[:s.nowLength]
	value, constant, size := r.pushed(0)
	entry := call{id: value, constant: constant}
	if size == 0 || int64(value) != int64(id) || code.Op(s.now[0]) != pushOf(entry) ||
		constant != 0 && !r.block.has(constant) || r.invoked(size) != r.block.entry {
		return false
	}
	s.setCalls(size, r.block.exit, r.want.Exits.UncaughtThrows)
	if !s.presetHandlers() || !s.presetFrames() || !s.walk() || !s.sameTables() ||
		!s.sameStack(before, after, notes) {
		return false
	}
	r.block.use(r.block.entry)
	r.block.use(constant)
	if s.exits > 0 {
		r.block.use(r.block.exit)
	}
	return true
}

// codesOf returns the infos of the Code attributes of a method before and after. ok is false if anything else in the
// method differs or there is not one Code attribute.
func (r *checker) codesOf(old, now *classfile.Member) (before, after []byte, ok bool) {
	if !bytes.Equal(r.original.Bytes()[old.Offset:old.Offset+8], r.class.Bytes()[now.Offset:now.Offset+8]) {
		return nil, nil, false
	}
	for k := range old.Attributes {
		a, b := &old.Attributes[k], &now.Attributes[k]
		switch {
		case a.NameIndex != b.NameIndex:
			return nil, nil, false
		case a.Name == "Code":
			if before != nil {
				return nil, nil, false
			}
			before, after = a.Info, b.Info
		case !bytes.Equal(a.Info, b.Info):
			return nil, nil, false
		}
	}
	return before, after, before != nil
}

// setMethod takes the two Code attributes apart. It returns false if one of them is malformed, or if they have not the
// same attributes.
func (s *lockstep) setMethod(before, after []byte) bool {
	oldLength, oldTables, ok := tablesOf(before)
	nowLength, nowTables, okNow := tablesOf(after)
	if !ok || !okNow || !bytes.Equal(before[2:4], after[2:4]) { // max_locals
		return false
	}
	const header = 8
	s.old, s.oldLength, s.oldTable = before[header:], oldLength, before[header+oldLength+2:oldTables]
	s.now, s.nowLength, s.nowTable = after[header:], nowLength, after[header+nowLength+2:nowTables]
	return len(s.oldTable) == len(s.nowTable) && s.setTables(before[oldTables:], after[nowTables:])
}

// tablesOf returns code_length of a Code attribute and where its attributes_count stands. ok is false if the lengths in
// it do not fit.
func tablesOf(info []byte) (length, tables int, ok bool) {
	const header, most = 8, code.MaxLength
	if len(info) < header {
		return 0, 0, false
	}
	size := binary.BigEndian.Uint32(info[4:])
	if size == 0 || size > most || header+int(size)+2 > len(info) {
		return 0, 0, false
	}
	length = int(size)
	tables = header + length + 2 + 8*int(binary.BigEndian.Uint16(info[header+length:]))
	return length, tables, tables+2 <= len(info)
}

// setTables splits two lists of attributes, each of which starts with its count.
func (s *lockstep) setTables(old, now []byte) bool {
	const header = 6
	s.tables = s.tables[:0]
	n := binary.BigEndian.Uint16(old)
	if n != binary.BigEndian.Uint16(now) {
		return false
	}
	old, now = old[2:], now[2:]
	for range n {
		if len(old) < header || len(now) < header {
			return false
		}
		name := binary.BigEndian.Uint16(old)
		kind := s.tableKind(name)
		oldSize, nowSize := int(binary.BigEndian.Uint32(old[2:])), int(binary.BigEndian.Uint32(now[2:]))
		if kind < linesName || name != binary.BigEndian.Uint16(now) ||
			oldSize > len(old)-header || nowSize > len(now)-header {
			return false
		}
		oldEnd, nowEnd := header+oldSize, header+nowSize
		s.tables = append(s.tables, tablePair{kind, old[header:oldEnd], now[header:nowEnd]})
		old, now = old[oldEnd:], now[nowEnd:]
	}
	return len(old)+len(now) == 0
}

// setCalls says which calls there are to be. The entry call begins with an instruction of that size, which pushes the
// ID.
func (s *lockstep) setCalls(push int, exit uint16, throws bool) {
	const bits, invoke = 8, 3
	call := uint64(code.Invokestatic) | uint64(exit>>bits)<<bits | uint64(exit&0xFF)<<(2*bits)
	pushed := binary.LittleEndian.Uint64(s.now) & (1<<(bits*push) - 1) // there are eight bytes, with the tables' counts
	s.exit = exitCode{pushed | call<<(bits*push), 1<<(bits*(push+invoke)) - 1, push + invoke}
	s.throws, s.exits, s.shift, s.compare = throws, 0, push+invoke, 0
	s.marks, s.awaited, s.news = resize(s.marks, s.oldLength+1), 0, s.news[:0]
	s.most, s.need = 0, 1<<depthShift // which the entry call needs
}

// preset notes what is said about a position to which the walk has not come.
func (s *lockstep) preset(old, now, depth int) bool {
	const deepest = 1<<depthShift - 2
	if old >= s.oldLength || depth > deepest {
		return false
	}
	mark := uint32(depth+1)<<depthShift | uint32(now)
	if known := s.marks[old]; known != 0 {
		return known == mark
	}
	s.marks[old] = mark
	s.awaited++
	return true
}

// presetHandlers notes the exception handlers: each begins with the exception on the stack.
func (s *lockstep) presetHandlers() bool {
	const entry, handler = 8, 4
	for at := handler; at < len(s.oldTable); at += entry {
		old, now := binary.BigEndian.Uint16(s.oldTable[at:]), binary.BigEndian.Uint16(s.nowTable[at:])
		if !s.preset(int(old), int(now), 1) {
			return false
		}
	}
	return true
}

// sameTables compares what follows the code. The walk must have filled marks.
func (s *lockstep) sameTables() bool {
	if !s.sameHandlers() {
		return false
	}
	for _, p := range s.news {
		if p.old >= s.oldLength || code.Op(s.old[p.old]) != code.New || !stands(s.marks[p.old], p.now) {
			return false
		}
	}
	// Lines and variables that begin with the method begin before the entry call.
	s.marks[0] &^= 1<<depthShift - 1
	for i := range s.tables {
		t := &s.tables[i]
		if t.kind == linesName && !s.sameLines(t.old, t.now) ||
			t.kind == variablesName && !s.sameVariables(t.old, t.now) {
			return false
		}
	}
	return true
}

// stands reports whether an instruction begins at the position that has the mark, and now begins at position now.
func stands(mark uint32, now int) bool {
	return mark>>depthShift != 0 && int(mark&(1<<depthShift-1)) == now
}

// sameHandlers compares the exception tables, whose handlers the walk has compared.
func (s *lockstep) sameHandlers() bool {
	old, now := s.oldTable, s.nowTable
	for ; len(old) >= 8; old, now = old[8:], now[8:] {
		was, is := binary.BigEndian.Uint64(old), binary.BigEndian.Uint64(now)
		start, end, catch := int(was>>48), int(was>>32&0xFFFF), uint16(was)
		if start >= s.oldLength || end > s.oldLength || !stands(s.marks[start], int(is>>48)) ||
			!stands(s.marks[end], int(is>>32&0xFFFF)) || catch != uint16(is) || int(catch) >= s.start {
			return false
		}
		// A last handler for all types that is the last instruction alone looks like the exact handler.
		handler := int(was >> 16 & 0xFFFF)
		if len(old) == 8 && catch == 0 && handler == s.oldLength-1 {
			return false
		}
	}
	return true
}

// sameLines compares two LineNumberTables (JVMS 4.7.12).
func (s *lockstep) sameLines(old, now []byte) bool {
	if !sameCount(old, now, 4) {
		return false
	}
	marks := s.marks
	for at := 2; at+4 <= len(old) && at+4 <= len(now); at += 4 {
		was, is := binary.BigEndian.Uint32(old[at:]), binary.BigEndian.Uint32(now[at:])
		start := int(was >> 16)
		if uint16(was) != uint16(is) || start >= len(marks) || !stands(marks[start], int(is>>16)) {
			return false
		}
	}
	return true
}

// sameCount reports whether two tables consist of a count and that many entries of that size, the same number.
func sameCount(old, now []byte, size int) bool {
	return len(old) == len(now) && len(old) >= 2 && len(old)-2 == size*int(binary.BigEndian.Uint16(old)) &&
		bytes.Equal(old[:2], now[:2])
}

// sameVariables compares two LocalVariableTables or LocalVariableTypeTables (JVMS 4.7.13, 4.7.14).
func (s *lockstep) sameVariables(old, now []byte) bool {
	const entry = 10
	if !sameCount(old, now, entry) {
		return false
	}
	for old, now = old[2:], now[2:]; len(old) >= entry; old, now = old[entry:], now[entry:] {
		was, is := binary.BigEndian.Uint64(old), binary.BigEndian.Uint64(now)
		start, length := int(was>>48), int(was>>32&0xFFFF)
		startNow, lengthNow := int(is>>48), int(is>>32&0xFFFF)
		end := start + length
		if uint32(was) != uint32(is) || old[8] != now[8] || old[9] != now[9] || end >= len(s.marks) ||
			!stands(s.marks[start], startNow) {
			return false
		}
		if length == 0 && lengthNow != 0 || length != 0 && !stands(s.marks[end], startNow+lengthNow) {
			return false
		}
	}
	return true
}

// sameStack checks that max_stack grew by exactly what the calls need, and that strip finds out what it was. See
// [checker.checkStack] and [body.maxStack].
func (s *lockstep) sameStack(before, after []byte, notes notes) bool {
	was, now := int(binary.BigEndian.Uint16(before)), int(binary.BigEndian.Uint16(after))
	need, most := int(s.need>>depthShift), int(s.most>>depthShift)-1
	stripped := min(now, most)
	switch {
	case len(notes) > 0:
		stripped = notes[0].index
	case now > need:
		stripped = now
	}
	return now == max(was, need) && stripped == was
}

// of returns the notes about a method.
func (all notes) of(method int) notes {
	if len(all) == 0 {
		return nil
	}
	from, _ := slices.BinarySearchFunc(all, method, func(n note, method int) int { return n.method - method })
	to := from
	for to < len(all) && all[to].method == method {
		to++
	}
	return all[from:to]
}
