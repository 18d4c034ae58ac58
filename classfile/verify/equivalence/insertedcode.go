package equivalence

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
)

// body takes the inserted code out of the methods of a rewritten class, one after another. For each method:
//
//  1. setMethod makes it the current one;
//  2. recognise finds the inserted calls and maps every position of the code back to the original;
//  3. rebuild writes the Code attribute as it was before.
//
// Faults are added to findings, and the work goes on. The result for a method with findings is meaningless. The memory
// is kept from method to method.
type body struct {
	class    *classfile.Class
	pool     *classfile.ConstantPool
	block    *block
	findings []verify.Finding

	number int // the index of the current method
	member *classfile.Member
	code   classfile.Code

	// places maps each position of the code to the original: the position there, shifted left by sideBits, and in the
	// low bits the sides of inserted code on which it stands (see the package comment). It is 0 for a position inside
	// of an instruction or of inserted code.
	places     []int32
	end        int  // the length of the method's own code; the exact handler begins here, if there is one
	hasHandler bool // whether there is an exact handler
	calls      []call
	exits      []exitPoint
	seekPosts  bool // whether scan fills posts
	posts      []postPoint
	edits      []edit

	handlers      int                    // the number of exception table entries that the exact handler has
	handlerFrames int                    // the number of frames that it has
	framesOnly    [1]classfile.Attribute // the StackMapTable of the original, the only attribute that depths needs
	depths        code.Depths            // the stack depths of the original's code
	need          int                    // the max_stack that the calls need
	subroutines   bool                   // whether the code has jsr
}

// call is an inserted sequence of instructions that calls the runtime class.
type call struct {
	kind       callKind
	start, end int // in the rewritten code
	orig       int // the position in the original of the instruction before which it was inserted
	id         int32
	push       int    // where the instruction stands that pushes the ID, in the rewritten code
	constant   uint16 // the index of the Integer that an ldc or ldc_w loads, otherwise 0
	post       postKind
	result     bool     // of callExit: it takes the result
	reports    reported // of callInstance
}

type callKind uint8

const (
	callInstance callKind = iota // reports an instance of a continuation class
	callEntry
	callFocus
	callPost
	callExit
	callHandler
)

// exitPoint is an instruction of the original that leaves the method: a return or an athrow.
type exitPoint struct {
	op       code.Op
	pc, orig int
	before   int  // where the exit code before it begins; pc if there is none
	result   bool // this code takes the result
}

// edit is a range of the rewritten code that is different in the original.
type edit struct {
	kind    editKind
	pc, end int
}

type editKind uint8

const (
	editCut     editKind = iota // inserted code
	editCutPost                 // a probe
	editBranch                  // a branch whose offset changed
	editSwitch                  // a switch whose offsets and padding changed
)

// The sides of a position (see the package comment), named by what may stand there.
const (
	sideTarget = 1 << iota // B: branch targets, handlers, frames, beginnings of ranges and variables
	sideInst               // C: offsets of Uninitialized types, annotated instructions
	sideStart              // A: beginnings of lines and variables; B unless the method begins here
	sideEnd                // B: ends of ranges and variables
	sideBits   = 4
	sideAll    = sideTarget | sideInst | sideStart | sideEnd
	sideMask   = 1<<sideBits - 1
)

func (b *body) report(offset int, rule, want, got string) {
	f := verify.Finding{Class: b.class.Name(), Offset: offset, Rule: rule, Want: want, Got: got}
	if b.member != nil {
		f.Method, f.Descriptor = b.member.Name, b.member.Descriptor
	}
	b.findings = append(b.findings, f)
}

// resize returns a slice of n zeros, in the memory of another if that is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// setMethod makes the method with that index the current one. Its Code attribute must have been read into code.
func (b *body) setMethod(number int) {
	b.number, b.member = number, &b.class.Methods()[number]
	b.handlers, b.handlerFrames, b.need, b.subroutines = 0, 0, 0, false
}

// recognise finds the inserted code of the current method and maps every position back to the original. It reports
// whether the code could be decoded.
func (b *body) recognise() bool {
	if len(b.code.Bytecode) == 0 || len(b.code.Bytecode) > code.MaxLength {
		b.report(-1, ruleCode, "code_length from 1 to 65535", fmt.Sprint(len(b.code.Bytecode)))
		return false
	}
	b.findHandler()
	return b.scan()
}

// findHandler looks for the exact handler: an exit call and an athrow at the very end of the code, where the last entry
// of the exception table leads for all types.
func (b *body) findHandler() {
	bytecode, table := b.code.Bytecode, b.code.ExceptionTable
	b.end, b.hasHandler = len(bytecode), false
	if len(table) < 8 || b.block.notes.has(b.number, noteOwnHandler, 0) {
		return
	}
	last := table[len(table)-8:]
	start := int(binary.BigEndian.Uint16(last[4:]))
	if start >= len(bytecode) || binary.BigEndian.Uint16(last[6:]) != 0 {
		return
	}
	c, ok := b.inserted(start)
	if !ok || c.kind != callExit || c.result || c.end != len(bytecode)-1 || code.Op(bytecode[c.end]) != code.Athrow {
		return
	}
	b.end, b.hasHandler = start, true
}

// beginsCall reports whether an inserted call may begin at pc, where an instruction stands with which they begin. The
// test is quick, and most such instructions fail it and need no call of [body.inserted].
func (b *body) beginsCall(pc int) bool {
	op, rest := code.Op(b.code.Bytecode[pc]), b.code.Bytecode[pc:]
	if op == code.Dup || op == code.Dup2 || op == code.Dup2X2 {
		return b.block.postObject != 0 || b.block.postWhat != 0 || b.block.result != 0
	}
	if op == code.Aload0 {
		return len(rest) > 1 && (code.Op(rest[1]) == code.Iload1 ||
			b.block.reports != [reportedResumes + 1]uint16{} && scanned[rest[1]]&mayBeInserted != 0)
	}
	size := op.Size()
	return len(rest) > size && code.Op(rest[size]) == code.Invokestatic
}

// inserted reads the sequence that starts at pc, if it is one of ours.
func (b *body) inserted(pc int) (c call, ok bool) {
	bytecode := b.code.Bytecode
	copies, push := copiesNothing, pc
	switch code.Op(bytecode[pc]) {
	case code.Aload0:
		if pc+1 >= len(bytecode) {
			return call{}, false
		}
		if code.Op(bytecode[pc+1]) != code.Iload1 {
			return b.insertedReport(pc)
		}
		ref := b.invoked(pc + 2)
		return call{kind: callFocus, start: pc, end: pc + 5}, ref != 0 && ref == b.block.focus
	case code.Dup, code.Dup2, code.Dup2X2:
		length := 0
		copies, length = copiesAt(bytecode[pc:])
		if push += length; push >= len(bytecode) {
			return call{}, false
		}
	}
	id, constant, size := b.pushed(push)
	if size == 0 {
		return call{}, false
	}
	ref := b.invoked(push + size)
	if ref == 0 {
		return call{}, false
	}
	c = call{start: pc, end: push + size + 3, id: id, push: push, constant: constant}
	switch {
	case copies == copiesFirst:
		c.kind, c.result = callExit, true
		return c, ref == b.block.result
	case copies != copiesNothing:
		c.kind, c.post = callPost, postKind{copies: copies, what: ref == b.block.postWhat}
		return c, ref == b.block.postObject || ref == b.block.postWhat
	case ref == b.block.entry:
		c.kind = callEntry
	case ref == b.block.exit:
		c.kind = callExit
	default:
		return c, false
	}
	return c, true
}

// insertedReport reads the call that starts with an aload_0 at pc, if it reports an instance.
func (b *body) insertedReport(pc int) (c call, ok bool) {
	id, constant, size := b.pushed(pc + 1)
	if size == 0 {
		return call{}, false
	}
	ref := b.invoked(pc + 1 + size)
	c = call{kind: callInstance, start: pc, end: pc + size + 4, id: id, push: pc + 1, constant: constant}
	for what, methodref := range b.block.reports {
		if ref != 0 && ref == methodref {
			c.reports = reported(what)
			return c, true
		}
	}
	return call{}, false
}

// invoked returns the constant of the invokestatic at pc, 0 if there is none.
func (b *body) invoked(pc int) uint16 {
	bytecode := b.code.Bytecode
	if pc+3 > len(bytecode) || code.Op(bytecode[pc]) != code.Invokestatic {
		return 0
	}
	return binary.BigEndian.Uint16(bytecode[pc+1:])
}

// pushed reads an instruction that pushes an int constant. size is 0 for any other; constant is the pool
// index of an ldc or ldc_w.
func (b *body) pushed(pc int) (value int32, constant uint16, size int) {
	rest := b.code.Bytecode[pc:]
	switch op := code.Op(rest[0]); {
	case op >= code.IconstM1 && op <= code.Iconst5:
		return int32(op) - int32(code.Iconst0), 0, 1
	case op == code.Bipush && len(rest) >= 2:
		return int32(int8(rest[1])), 0, 2
	case op == code.Sipush && len(rest) >= 3:
		return int32(int16(binary.BigEndian.Uint16(rest[1:]))), 0, 3
	case op == code.Ldc && len(rest) >= 2:
		constant, size = uint16(rest[1]), 2
	case op == code.LdcW && len(rest) >= 3:
		constant, size = binary.BigEndian.Uint16(rest[1:]), 3
	default:
		return 0, 0, 0
	}
	if b.pool.Tag(constant) != classfile.TagInteger {
		return 0, 0, 0
	}
	value, _ = b.pool.Integer(constant)
	return value, constant, size
}

// pushOf returns the opcode of the shortest instruction that pushes the ID of an inserted call (JVMS 6.5).
func pushOf(c call) code.Op {
	switch {
	case c.id <= 5:
		return code.Iconst0 + code.Op(c.id)
	case c.id <= 127:
		return code.Bipush
	case c.id > 32767 && c.constant > 255:
		return code.LdcW
	case c.id > 32767:
		return code.Ldc
	}
	return code.Sipush
}

// checkPush holds an inserted call's push to the shortest encoding of an ID, with a constant of the block if it has to
// be one.
func (b *body) checkPush(c call) {
	if c.id < 1 {
		b.report(c.start, ruleID, "an ID from 1 on", fmt.Sprint(c.id))
		return
	}
	want := pushOf(c)
	if got := code.Op(b.code.Bytecode[c.push]); got != want {
		b.report(c.start, ruleID, fmt.Sprintf("%d pushed by %v", c.id, want), got.String())
	}
	if c.constant != 0 && !b.block.has(c.constant) {
		b.report(c.start, rulePool, "inserted code to use an Integer of its own",
			fmt.Sprintf("constant %d", c.constant))
	}
	b.block.use(c.constant)
}

// insertion is the inserted code that stands directly before one instruction of the original.
type insertion struct {
	start        int // -1 if there is none
	branchTarget int // the position after entry and focus call, where branches lead
	exit         bool
	result       bool     // its exit call takes the result
	post         postKind // of its probe; zero if it has none
	last         callKind // the kind of its last call so far
}

// The properties of an opcode that scan must look at. Most opcodes have none.
const (
	mayBeInserted byte = 1 << iota // inserted code can begin with it
	hasConstant
	leavesMethod
	isEdited // it is a branch or switch
	mayPost  // it calls a method by its receiver's class
)

// scanned holds these properties by opcode.
var scanned = func() (rows [256]byte) {
	for o := code.Nop; o.Known(); o++ {
		switch {
		case o >= code.IconstM1 && o <= code.Iconst5, o == code.Bipush, o == code.Sipush, o == code.Aload0,
			o == code.Ldc, o == code.LdcW, o == code.Dup, o == code.Dup2, o == code.Dup2X2:
			rows[o] |= mayBeInserted
		case o.IsReturn(), o == code.Athrow:
			rows[o] |= leavesMethod
		}
		if o == code.Invokevirtual || o == code.Invokeinterface {
			rows[o] |= mayPost
		}
		switch o.Operand() {
		case code.OperandConstant, code.OperandConstantW, code.OperandInvoke4, code.OperandMultiarray:
			rows[o] |= hasConstant
		case code.OperandBranch, code.OperandBranchW, code.OperandTableSwitch, code.OperandLookupSwitch:
			rows[o] |= isEdited
		}
	}
	return rows
}()

// scan goes through the code once and fills places, calls, exits and edits.
func (b *body) scan() bool {
	bytecode := b.code.Bytecode
	b.places = resize(b.places, len(bytecode)+1)
	b.calls, b.exits, b.edits, b.posts = b.calls[:0], b.exits[:0], b.edits[:0], b.posts[:0]
	pending := insertion{start: -1}
	previous, orig, pc := code.Nop, 0, 0
	special := leavesMethod | isEdited
	if b.seekPosts {
		special |= mayPost
	}
	for end, places := b.end, b.places; pc < end; {
		op := code.Op(bytecode[pc])
		properties, size := scanned[op], op.Size()
		if properties&mayBeInserted != 0 && b.beginsCall(pc) {
			if c, ok := b.inserted(pc); ok {
				c.orig = orig
				b.addCall(&pending, c, previous)
				pc = c.end
				continue
			}
		}
		if size == 0 || size > len(bytecode)-pc {
			in, err := code.At(bytecode, pc)
			if err != nil {
				b.report(pc, ruleCode, "an instruction", err.Error())
				return false
			}
			size = in.Size
		}
		if properties&hasConstant != 0 {
			b.checkConstant(op, pc)
		}
		width := size
		if pending.start < 0 && properties&special == 0 {
			places[pc] = int32(orig)<<sideBits | sideAll
		} else {
			width = b.scanSpecial(&pending, op, pc, orig, size)
		}
		previous, pc, orig = op, pc+size, orig+width
	}
	if pc != b.end || pending.start >= 0 {
		b.report(pc, ruleCode, "the method's own code to end with one of its instructions",
			"inserted code or an instruction cut off")
		return false
	}
	b.places[b.end] = int32(orig)<<sideBits | sideEnd
	if b.hasHandler {
		c, _ := b.inserted(b.end)
		c.kind, c.orig = callHandler, orig
		b.checkPush(c)
		b.block.use(b.block.exit)
		b.block.use(b.block.throwable) // which a class without frames has no use for, and may have all the same
		b.calls = append(b.calls, c)
	}
	return true
}

// scanSpecial maps an instruction of the original that leaves the method, that must have a probe, that is edited, or
// that stands behind inserted code. It returns its size in the original.
func (b *body) scanSpecial(pending *insertion, op code.Op, pc, orig, size int) (width int) {
	before, probe, result, properties := pc, pending.post, pending.result, scanned[op]
	if pending.start < 0 {
		b.places[pc] = int32(orig)<<sideBits | sideAll
	} else {
		before = b.mapPositions(pending, pc, orig)
	}
	if probe.copies != copiesNothing || b.seekPosts && properties&mayPost != 0 {
		b.checkProbe(op, pc, orig, probe)
	}
	if properties&leavesMethod != 0 {
		b.exits = append(b.exits, exitPoint{op: op, pc: pc, orig: orig, before: before, result: result})
	} else if before != pc {
		b.report(before, ruleExit, "exit code directly before a return or athrow", op.String()+" after it")
	}
	if properties&isEdited != 0 {
		return b.addEdit(op, pc, orig, size)
	}
	return size
}

// addCall adds an inserted call to pending and checks that it may stand where it does.
func (b *body) addCall(pending *insertion, c call, previous code.Op) {
	if b.block.use(b.invoked(c.end - 3)); c.kind != callFocus {
		b.checkPush(c)
	}
	b.calls = append(b.calls, c)
	cut := editCut
	if c.kind == callPost {
		cut = editCutPost
	}
	b.edits = append(b.edits, edit{cut, c.start, c.end})
	if pending.start < 0 {
		*pending = insertion{start: c.start, branchTarget: c.start}
	} else if c.kind <= pending.last {
		b.report(c.start, ruleCode, "report, entry, focus hook, and probe or exit at most once each and in this order",
			"another order")
	}
	pending.last = c.kind
	afterConstructor := previous == code.Invokespecial && b.member.Name == "<init>"
	switch c.kind {
	case callInstance:
		placed := afterConstructor
		if c.reports == reportedResumes {
			placed = c.orig == 0 && isResumption(b.member.Name, b.member.Descriptor)
		}
		if !placed {
			b.report(c.start, ruleContinuation, "reports behind the call that initialises this, or of a resumption at the "+
				"start of invokeSuspend", c.reports.String()+" elsewhere")
		}
	case callEntry:
		if c.orig != 0 && !afterConstructor {
			b.report(c.start, ruleEntry, "entry code at the start of the method or after a constructor's call",
				"entry code elsewhere")
		}
	case callFocus:
		if c.orig != 0 || !isHooked(b.member) {
			b.report(c.start, ruleFocus, "the hook at the start of onWindowFocusChanged(Z)V", "the hook elsewhere")
		}
	case callPost:
		pending.post = c.post
		return
	case callExit:
		pending.exit, pending.result = true, c.result
		return
	}
	pending.branchTarget = c.end
}

func isHooked(m *classfile.Member) bool {
	return m.Name == hookedName && m.Descriptor == hookedDescriptor && m.AccessFlags&classfile.AccStatic == 0
}

// mapPositions maps the three positions (see the package comment) of the instruction at pc, which stands at orig in the
// original, directly after pending. It returns where the exit call before the instruction begins, or pc if there is
// none.
func (b *body) mapPositions(pending *insertion, pc, orig int) (exit int) {
	place := int32(orig) << sideBits
	target, start := pending.branchTarget, pending.branchTarget
	if orig == 0 {
		start = 0
	}
	b.places[pc] |= place | sideInst
	b.places[target] |= place | sideTarget | sideEnd
	b.places[start] |= place | sideStart
	exit = pc
	if pending.exit {
		exit = target
	}
	pending.start, pending.post, pending.result = -1, postKind{}, false
	return exit
}

// checkConstant reports an instruction of the original that uses a new constant.
func (b *body) checkConstant(op code.Op, pc int) {
	i := uint16(b.code.Bytecode[pc+1])
	if op != code.Ldc {
		i = i<<8 | uint16(b.code.Bytecode[pc+2])
	}
	if b.block.has(i) {
		b.reportConstant(op, pc, i)
	}
}

func (b *body) reportConstant(op code.Op, pc int, i uint16) {
	b.report(pc, rulePool, fmt.Sprintf("only inserted code to use constants from %d on", b.block.start),
		fmt.Sprintf("%v of constant %d", op, i))
}

// addEdit adds the edit that restores a branch or switch of the original. It returns the size that the instruction had
// at position orig of the original.
func (b *body) addEdit(op code.Op, pc, orig, size int) (width int) {
	kind, width := editBranch, size
	if o := op.Operand(); o == code.OperandTableSwitch || o == code.OperandLookupSwitch {
		kind, width = editSwitch, size-padding(pc)+padding(orig)
	}
	b.edits = append(b.edits, edit{kind, pc, pc + size})
	return width
}

// padding counts the bytes between the opcode of a switch at pc and its operands (JVMS 6.5).
func padding(pc int) int { return 3 - pc&3 }

// mapBack returns the position in the original of position q, which must stand on one of the given sides. what names,
// for a finding, what holds the position.
func (b *body) mapBack(q, sides int, what string) int {
	if uint(q) < uint(len(b.places)) && b.places[q]&int32(sides) != 0 {
		return int(b.places[q] >> sideBits)
	}
	return b.misplaced(q, what)
}

// mapBackLoosely is mapBack for tables whose positions no JVM checks against instruction boundaries: a position inside
// of an instruction keeps its distance from the end of the instruction.
func (b *body) mapBackLoosely(q, sides int, what string) int {
	if uint(q) < uint(len(b.places)) && b.places[q]&int32(sides) != 0 {
		return int(b.places[q] >> sideBits)
	}
	return b.mapInside(q, what)
}

// mapInside is mapBackLoosely for a position that stands on none of the sides.
func (b *body) mapInside(q int, what string) int {
	if q >= 0 && q <= b.end && b.places[q] == 0 {
		pc := q
		for pc > 0 && b.places[pc] == 0 {
			pc--
		}
		if orig, ok := b.inside(pc, q); ok {
			return orig
		}
	}
	return b.misplaced(q, what)
}

// inside maps position q back if it lies within the instruction at pc.
func (b *body) inside(pc, q int) (orig int, ok bool) {
	if b.places[pc]&sideInst == 0 {
		return 0, false
	}
	at, found := slices.BinarySearchFunc(b.edits, pc, func(e edit, pc int) int { return e.pc - pc })
	size, grown := 0, 0
	if found && b.edits[at].kind > editCutPost {
		e := b.edits[at]
		if size = e.end - e.pc; e.kind == editSwitch {
			grown = padding(pc) - padding(int(b.places[pc]>>sideBits))
		}
	} else if in, err := code.At(b.code.Bytecode, pc); err == nil {
		size = in.Size
	}
	// A switch grew directly after its opcode.
	if into := q - pc - grown; q-pc < size && into > 0 {
		return int(b.places[pc]>>sideBits) + into, true
	}
	return 0, false
}

// misplaced reports a position that does not stand on its side. It returns a position that can be used instead.
func (b *body) misplaced(q int, what string) int {
	got := fmt.Sprintf("%d, outside of the %d bytes of code", q, b.end)
	if q >= 0 && q < len(b.places) {
		switch place := b.places[q]; {
		case place == 0:
			got = fmt.Sprintf("%d, inside inserted code or an instruction", q)
		default:
			got = fmt.Sprintf("%d, which is %d on another side of inserted code", q, place>>sideBits)
		}
	}
	b.report(q, rulePosition, what+" on its side of inserted code", got)
	return 0
}
