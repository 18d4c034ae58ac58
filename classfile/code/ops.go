package code

import (
	"strconv"
	"strings"
)

// Op is an opcode (JVMS 6.5).
type Op uint8

// The opcodes of JVMS 6.5 in order, from nop (0x00) to jsr_w (0xC9). The three reserved ones (JVMS 6.2) may
// not appear in class files.
const (
	Nop Op = iota
	AconstNull
	IconstM1
	Iconst0
	Iconst1
	Iconst2
	Iconst3
	Iconst4
	Iconst5
	Lconst0
	Lconst1
	Fconst0
	Fconst1
	Fconst2
	Dconst0
	Dconst1
	Bipush
	Sipush
	Ldc
	LdcW
	Ldc2W
	Iload
	Lload
	Fload
	Dload
	Aload
	Iload0
	Iload1
	Iload2
	Iload3
	Lload0
	Lload1
	Lload2
	Lload3
	Fload0
	Fload1
	Fload2
	Fload3
	Dload0
	Dload1
	Dload2
	Dload3
	Aload0
	Aload1
	Aload2
	Aload3
	Iaload
	Laload
	Faload
	Daload
	Aaload
	Baload
	Caload
	Saload
	Istore
	Lstore
	Fstore
	Dstore
	Astore
	Istore0
	Istore1
	Istore2
	Istore3
	Lstore0
	Lstore1
	Lstore2
	Lstore3
	Fstore0
	Fstore1
	Fstore2
	Fstore3
	Dstore0
	Dstore1
	Dstore2
	Dstore3
	Astore0
	Astore1
	Astore2
	Astore3
	Iastore
	Lastore
	Fastore
	Dastore
	Aastore
	Bastore
	Castore
	Sastore
	Pop
	Pop2
	Dup
	DupX1
	DupX2
	Dup2
	Dup2X1
	Dup2X2
	Swap
	Iadd
	Ladd
	Fadd
	Dadd
	Isub
	Lsub
	Fsub
	Dsub
	Imul
	Lmul
	Fmul
	Dmul
	Idiv
	Ldiv
	Fdiv
	Ddiv
	Irem
	Lrem
	Frem
	Drem
	Ineg
	Lneg
	Fneg
	Dneg
	Ishl
	Lshl
	Ishr
	Lshr
	Iushr
	Lushr
	Iand
	Land
	Ior
	Lor
	Ixor
	Lxor
	Iinc
	I2l
	I2f
	I2d
	L2i
	L2f
	L2d
	F2i
	F2l
	F2d
	D2i
	D2l
	D2f
	I2b
	I2c
	I2s
	Lcmp
	Fcmpl
	Fcmpg
	Dcmpl
	Dcmpg
	Ifeq
	Ifne
	Iflt
	Ifge
	Ifgt
	Ifle
	IfIcmpeq
	IfIcmpne
	IfIcmplt
	IfIcmpge
	IfIcmpgt
	IfIcmple
	IfAcmpeq
	IfAcmpne
	Goto
	Jsr
	Ret
	Tableswitch
	Lookupswitch
	Ireturn
	Lreturn
	Freturn
	Dreturn
	Areturn
	Return
	Getstatic
	Putstatic
	Getfield
	Putfield
	Invokevirtual
	Invokespecial
	Invokestatic
	Invokeinterface
	Invokedynamic
	New
	Newarray
	Anewarray
	Arraylength
	Athrow
	Checkcast
	Instanceof
	Monitorenter
	Monitorexit
	Wide
	Multianewarray
	Ifnull
	Ifnonnull
	GotoW
	JsrW
)

// Operand is the form of the bytes that follow an opcode.
type Operand uint8

// The operand forms of JVMS 6.5. All multi-byte values are big-endian; branch offsets count from the
// opcode's own position.
const (
	OperandNone         Operand = iota
	OperandByte                 // bipush, newarray: one byte
	OperandShort                // sipush: two bytes
	OperandConstant             // ldc: a one-byte constant pool index
	OperandConstantW            // a two-byte constant pool index
	OperandLocal                // a one-byte local variable index
	OperandIinc                 // a local variable index and a signed byte
	OperandBranch               // a signed two-byte branch offset
	OperandBranchW              // a signed four-byte branch offset
	OperandTableSwitch          // padding, default, low, high, high-low+1 offsets
	OperandLookupSwitch         // padding, default, npairs, that many pairs of match and offset
	OperandInvoke4              // invokeinterface, invokedynamic: a pool index and two bytes more
	OperandWide                 // wide: another opcode and a two-byte local, for iinc a two-byte constant too
	OperandMultiarray           // multianewarray: a pool index and a dimension count
)

// operandSizes has the length of an instruction with each form of operand, 0 where it varies.
var operandSizes = [...]uint8{
	OperandNone: 1, OperandByte: 2, OperandShort: 3, OperandConstant: 2, OperandConstantW: 3, OperandLocal: 2,
	OperandIinc: 3, OperandBranch: 3, OperandBranchW: 5, OperandInvoke4: 5, OperandMultiarray: 4,
}

// ops has the facts of JVMS 6.5 about each opcode; all other tables in this package are made from it.
//
// stack has the values that the instruction takes off the operand stack, then ">", then the values that it puts on it,
// the top of the stack at the right. I, J, F and D are types as in descriptors, A is a reference, N null and R a
// returnAddress. A small letter is one stack word of any type; the same letter is the same word. "*" means that the
// operand determines the values.
var ops = [...]struct {
	name    string
	operand Operand
	stack   string
}{
	Nop:             {"nop", OperandNone, ">"},
	AconstNull:      {"aconst_null", OperandNone, ">N"},
	IconstM1:        {"iconst_m1", OperandNone, ">I"},
	Iconst0:         {"iconst_0", OperandNone, ">I"},
	Iconst1:         {"iconst_1", OperandNone, ">I"},
	Iconst2:         {"iconst_2", OperandNone, ">I"},
	Iconst3:         {"iconst_3", OperandNone, ">I"},
	Iconst4:         {"iconst_4", OperandNone, ">I"},
	Iconst5:         {"iconst_5", OperandNone, ">I"},
	Lconst0:         {"lconst_0", OperandNone, ">J"},
	Lconst1:         {"lconst_1", OperandNone, ">J"},
	Fconst0:         {"fconst_0", OperandNone, ">F"},
	Fconst1:         {"fconst_1", OperandNone, ">F"},
	Fconst2:         {"fconst_2", OperandNone, ">F"},
	Dconst0:         {"dconst_0", OperandNone, ">D"},
	Dconst1:         {"dconst_1", OperandNone, ">D"},
	Bipush:          {"bipush", OperandByte, ">I"},
	Sipush:          {"sipush", OperandShort, ">I"},
	Ldc:             {"ldc", OperandConstant, ">*"},
	LdcW:            {"ldc_w", OperandConstantW, ">*"},
	Ldc2W:           {"ldc2_w", OperandConstantW, ">*"},
	Iload:           {"iload", OperandLocal, ">I"},
	Lload:           {"lload", OperandLocal, ">J"},
	Fload:           {"fload", OperandLocal, ">F"},
	Dload:           {"dload", OperandLocal, ">D"},
	Aload:           {"aload", OperandLocal, ">A"},
	Iload0:          {"iload_0", OperandNone, ">I"},
	Iload1:          {"iload_1", OperandNone, ">I"},
	Iload2:          {"iload_2", OperandNone, ">I"},
	Iload3:          {"iload_3", OperandNone, ">I"},
	Lload0:          {"lload_0", OperandNone, ">J"},
	Lload1:          {"lload_1", OperandNone, ">J"},
	Lload2:          {"lload_2", OperandNone, ">J"},
	Lload3:          {"lload_3", OperandNone, ">J"},
	Fload0:          {"fload_0", OperandNone, ">F"},
	Fload1:          {"fload_1", OperandNone, ">F"},
	Fload2:          {"fload_2", OperandNone, ">F"},
	Fload3:          {"fload_3", OperandNone, ">F"},
	Dload0:          {"dload_0", OperandNone, ">D"},
	Dload1:          {"dload_1", OperandNone, ">D"},
	Dload2:          {"dload_2", OperandNone, ">D"},
	Dload3:          {"dload_3", OperandNone, ">D"},
	Aload0:          {"aload_0", OperandNone, ">A"},
	Aload1:          {"aload_1", OperandNone, ">A"},
	Aload2:          {"aload_2", OperandNone, ">A"},
	Aload3:          {"aload_3", OperandNone, ">A"},
	Iaload:          {"iaload", OperandNone, "AI>I"},
	Laload:          {"laload", OperandNone, "AI>J"},
	Faload:          {"faload", OperandNone, "AI>F"},
	Daload:          {"daload", OperandNone, "AI>D"},
	Aaload:          {"aaload", OperandNone, "AI>A"},
	Baload:          {"baload", OperandNone, "AI>I"},
	Caload:          {"caload", OperandNone, "AI>I"},
	Saload:          {"saload", OperandNone, "AI>I"},
	Istore:          {"istore", OperandLocal, "I>"},
	Lstore:          {"lstore", OperandLocal, "J>"},
	Fstore:          {"fstore", OperandLocal, "F>"},
	Dstore:          {"dstore", OperandLocal, "D>"},
	Astore:          {"astore", OperandLocal, "A>"},
	Istore0:         {"istore_0", OperandNone, "I>"},
	Istore1:         {"istore_1", OperandNone, "I>"},
	Istore2:         {"istore_2", OperandNone, "I>"},
	Istore3:         {"istore_3", OperandNone, "I>"},
	Lstore0:         {"lstore_0", OperandNone, "J>"},
	Lstore1:         {"lstore_1", OperandNone, "J>"},
	Lstore2:         {"lstore_2", OperandNone, "J>"},
	Lstore3:         {"lstore_3", OperandNone, "J>"},
	Fstore0:         {"fstore_0", OperandNone, "F>"},
	Fstore1:         {"fstore_1", OperandNone, "F>"},
	Fstore2:         {"fstore_2", OperandNone, "F>"},
	Fstore3:         {"fstore_3", OperandNone, "F>"},
	Dstore0:         {"dstore_0", OperandNone, "D>"},
	Dstore1:         {"dstore_1", OperandNone, "D>"},
	Dstore2:         {"dstore_2", OperandNone, "D>"},
	Dstore3:         {"dstore_3", OperandNone, "D>"},
	Astore0:         {"astore_0", OperandNone, "A>"},
	Astore1:         {"astore_1", OperandNone, "A>"},
	Astore2:         {"astore_2", OperandNone, "A>"},
	Astore3:         {"astore_3", OperandNone, "A>"},
	Iastore:         {"iastore", OperandNone, "AII>"},
	Lastore:         {"lastore", OperandNone, "AIJ>"},
	Fastore:         {"fastore", OperandNone, "AIF>"},
	Dastore:         {"dastore", OperandNone, "AID>"},
	Aastore:         {"aastore", OperandNone, "AIA>"},
	Bastore:         {"bastore", OperandNone, "AII>"},
	Castore:         {"castore", OperandNone, "AII>"},
	Sastore:         {"sastore", OperandNone, "AII>"},
	Pop:             {"pop", OperandNone, "a>"},
	Pop2:            {"pop2", OperandNone, "ba>"},
	Dup:             {"dup", OperandNone, "a>aa"},
	DupX1:           {"dup_x1", OperandNone, "ba>aba"},
	DupX2:           {"dup_x2", OperandNone, "cba>acba"},
	Dup2:            {"dup2", OperandNone, "ba>baba"},
	Dup2X1:          {"dup2_x1", OperandNone, "cba>bacba"},
	Dup2X2:          {"dup2_x2", OperandNone, "dcba>badcba"},
	Swap:            {"swap", OperandNone, "ba>ab"},
	Iadd:            {"iadd", OperandNone, "II>I"},
	Ladd:            {"ladd", OperandNone, "JJ>J"},
	Fadd:            {"fadd", OperandNone, "FF>F"},
	Dadd:            {"dadd", OperandNone, "DD>D"},
	Isub:            {"isub", OperandNone, "II>I"},
	Lsub:            {"lsub", OperandNone, "JJ>J"},
	Fsub:            {"fsub", OperandNone, "FF>F"},
	Dsub:            {"dsub", OperandNone, "DD>D"},
	Imul:            {"imul", OperandNone, "II>I"},
	Lmul:            {"lmul", OperandNone, "JJ>J"},
	Fmul:            {"fmul", OperandNone, "FF>F"},
	Dmul:            {"dmul", OperandNone, "DD>D"},
	Idiv:            {"idiv", OperandNone, "II>I"},
	Ldiv:            {"ldiv", OperandNone, "JJ>J"},
	Fdiv:            {"fdiv", OperandNone, "FF>F"},
	Ddiv:            {"ddiv", OperandNone, "DD>D"},
	Irem:            {"irem", OperandNone, "II>I"},
	Lrem:            {"lrem", OperandNone, "JJ>J"},
	Frem:            {"frem", OperandNone, "FF>F"},
	Drem:            {"drem", OperandNone, "DD>D"},
	Ineg:            {"ineg", OperandNone, "I>I"},
	Lneg:            {"lneg", OperandNone, "J>J"},
	Fneg:            {"fneg", OperandNone, "F>F"},
	Dneg:            {"dneg", OperandNone, "D>D"},
	Ishl:            {"ishl", OperandNone, "II>I"},
	Lshl:            {"lshl", OperandNone, "JI>J"},
	Ishr:            {"ishr", OperandNone, "II>I"},
	Lshr:            {"lshr", OperandNone, "JI>J"},
	Iushr:           {"iushr", OperandNone, "II>I"},
	Lushr:           {"lushr", OperandNone, "JI>J"},
	Iand:            {"iand", OperandNone, "II>I"},
	Land:            {"land", OperandNone, "JJ>J"},
	Ior:             {"ior", OperandNone, "II>I"},
	Lor:             {"lor", OperandNone, "JJ>J"},
	Ixor:            {"ixor", OperandNone, "II>I"},
	Lxor:            {"lxor", OperandNone, "JJ>J"},
	Iinc:            {"iinc", OperandIinc, ">"},
	I2l:             {"i2l", OperandNone, "I>J"},
	I2f:             {"i2f", OperandNone, "I>F"},
	I2d:             {"i2d", OperandNone, "I>D"},
	L2i:             {"l2i", OperandNone, "J>I"},
	L2f:             {"l2f", OperandNone, "J>F"},
	L2d:             {"l2d", OperandNone, "J>D"},
	F2i:             {"f2i", OperandNone, "F>I"},
	F2l:             {"f2l", OperandNone, "F>J"},
	F2d:             {"f2d", OperandNone, "F>D"},
	D2i:             {"d2i", OperandNone, "D>I"},
	D2l:             {"d2l", OperandNone, "D>J"},
	D2f:             {"d2f", OperandNone, "D>F"},
	I2b:             {"i2b", OperandNone, "I>I"},
	I2c:             {"i2c", OperandNone, "I>I"},
	I2s:             {"i2s", OperandNone, "I>I"},
	Lcmp:            {"lcmp", OperandNone, "JJ>I"},
	Fcmpl:           {"fcmpl", OperandNone, "FF>I"},
	Fcmpg:           {"fcmpg", OperandNone, "FF>I"},
	Dcmpl:           {"dcmpl", OperandNone, "DD>I"},
	Dcmpg:           {"dcmpg", OperandNone, "DD>I"},
	Ifeq:            {"ifeq", OperandBranch, "I>"},
	Ifne:            {"ifne", OperandBranch, "I>"},
	Iflt:            {"iflt", OperandBranch, "I>"},
	Ifge:            {"ifge", OperandBranch, "I>"},
	Ifgt:            {"ifgt", OperandBranch, "I>"},
	Ifle:            {"ifle", OperandBranch, "I>"},
	IfIcmpeq:        {"if_icmpeq", OperandBranch, "II>"},
	IfIcmpne:        {"if_icmpne", OperandBranch, "II>"},
	IfIcmplt:        {"if_icmplt", OperandBranch, "II>"},
	IfIcmpge:        {"if_icmpge", OperandBranch, "II>"},
	IfIcmpgt:        {"if_icmpgt", OperandBranch, "II>"},
	IfIcmple:        {"if_icmple", OperandBranch, "II>"},
	IfAcmpeq:        {"if_acmpeq", OperandBranch, "AA>"},
	IfAcmpne:        {"if_acmpne", OperandBranch, "AA>"},
	Goto:            {"goto", OperandBranch, ">"},
	Jsr:             {"jsr", OperandBranch, ">R"},
	Ret:             {"ret", OperandLocal, ">"},
	Tableswitch:     {"tableswitch", OperandTableSwitch, "I>"},
	Lookupswitch:    {"lookupswitch", OperandLookupSwitch, "I>"},
	Ireturn:         {"ireturn", OperandNone, "I>"},
	Lreturn:         {"lreturn", OperandNone, "J>"},
	Freturn:         {"freturn", OperandNone, "F>"},
	Dreturn:         {"dreturn", OperandNone, "D>"},
	Areturn:         {"areturn", OperandNone, "A>"},
	Return:          {"return", OperandNone, ">"},
	Getstatic:       {"getstatic", OperandConstantW, "*"},
	Putstatic:       {"putstatic", OperandConstantW, "*"},
	Getfield:        {"getfield", OperandConstantW, "*"},
	Putfield:        {"putfield", OperandConstantW, "*"},
	Invokevirtual:   {"invokevirtual", OperandConstantW, "*"},
	Invokespecial:   {"invokespecial", OperandConstantW, "*"},
	Invokestatic:    {"invokestatic", OperandConstantW, "*"},
	Invokeinterface: {"invokeinterface", OperandInvoke4, "*"},
	Invokedynamic:   {"invokedynamic", OperandInvoke4, "*"},
	New:             {"new", OperandConstantW, ">A"},
	Newarray:        {"newarray", OperandByte, "I>A"},
	Anewarray:       {"anewarray", OperandConstantW, "I>A"},
	Arraylength:     {"arraylength", OperandNone, "A>I"},
	Athrow:          {"athrow", OperandNone, "A>"},
	Checkcast:       {"checkcast", OperandConstantW, "A>A"},
	Instanceof:      {"instanceof", OperandConstantW, "A>I"},
	Monitorenter:    {"monitorenter", OperandNone, "A>"},
	Monitorexit:     {"monitorexit", OperandNone, "A>"},
	Wide:            {"wide", OperandWide, "*"},
	Multianewarray:  {"multianewarray", OperandMultiarray, "*"},
	Ifnull:          {"ifnull", OperandBranch, "A>"},
	Ifnonnull:       {"ifnonnull", OperandBranch, "A>"},
	GotoW:           {"goto_w", OperandBranchW, ">"},
	JsrW:            {"jsr_w", OperandBranchW, ">R"},
}

// Known reports whether the opcode may appear in a class file.
func (o Op) Known() bool { return int(o) < len(ops) }

// String returns the mnemonic of JVMS 6.5, or "opcode N".
func (o Op) String() string {
	if !o.Known() {
		return "opcode " + strconv.Itoa(int(o))
	}
	return ops[o].name
}

// sizes has the length of the instructions with each opcode, 0 where it varies and for an unknown opcode.
var sizes = func() (sizes [256]uint8) {
	for op := range ops {
		sizes[op] = operandSizes[ops[op].operand]
	}
	return sizes
}()

// Size returns the length in bytes of every instruction with this opcode, the opcode included. It is 0 for switches
// and wide, whose length varies, and for an unknown opcode.
func (o Op) Size() int { return int(sizes[o]) }

// Operand returns the form of the bytes that follow the opcode, which must be known.
func (o Op) Operand() Operand { return ops[o].operand }

// IsReturn reports whether the instruction returns from its method, with a value or without (JVMS 2.11.8).
func (o Op) IsReturn() bool { return o >= Ireturn && o <= Return }

// IsConditional reports whether the instruction is a conditional branch (JVMS 2.11.7) and not a switch.
func (o Op) IsConditional() bool {
	return o >= Ifeq && o <= IfAcmpne || o == Ifnull || o == Ifnonnull
}

// stackEffects are what instructions do to the operand stack, and where they lead, by opcode. Each fact has an array of
// its own, since [Depths.follow] reads many and an array of bytes is the fastest to index.
type stackEffects struct {
	pops, pushes [256]uint8 // stack words; without those of the member, if the operand names one
	size         [256]uint8 // in bytes, 0 where it varies
	known        [256]bool  // the opcode alone determines the effect
	flow         [256]flow
	// For flowMember: the kind of member, and masks for the words that the member adds to pops and to pushes.
	member                   [256]constantKind
	popsMember, pushesMember [256]uint8
}

// flow is the kind of instructions that may run after an instruction.
type flow uint8

const (
	flowOther  flow = iota // any, as the Instruction says: switches, subroutines, four-byte branches, unknown opcodes
	flowNext               // the next one
	flowMember             // the next one; the instruction names a field or method
	flowBranch             // the next one, or the target of the two-byte branch
	flowJump               // the target of the two-byte branch
	flowEnd                // none: returns and athrow
)

// effects has the effect of each opcode.
var effects = func() (e stackEffects) {
	width := map[rune]uint8{'J': 2, 'D': 2}
	e.size = sizes
	for op, row := range ops {
		before, after, known := strings.Cut(row.stack, ">")
		switch Op(op) {
		case Ldc, LdcW: // one word of any type
			after = "a"
		case Ldc2W:
			after = "J"
		}
		if !known || after == "*" {
			continue
		}
		e.known[op], e.flow[op] = true, flowOf(Op(op), row.operand)
		for _, letter := range before {
			e.pops[op] += max(1, width[letter])
		}
		for _, letter := range after {
			e.pushes[op] += max(1, width[letter])
		}
	}
	for op := Getstatic; op <= Invokedynamic; op++ {
		const all = 0xff
		e.flow[op], e.member[op] = flowMember, memberMethod
		if op <= Putfield {
			e.member[op] = memberField
		}
		if op != Getstatic && op != Getfield {
			e.popsMember[op] = all
		}
		if op != Putstatic && op != Putfield {
			e.pushesMember[op] = all
		}
		if op != Getstatic && op != Putstatic && op != Invokestatic && op != Invokedynamic {
			e.pops[op] = 1 // the object
		}
	}
	return e
}()

// flowOf returns the flow of the instructions with an opcode whose effect is known.
func flowOf(op Op, operand Operand) flow {
	switch operand {
	case OperandBranchW, OperandTableSwitch, OperandLookupSwitch:
		return flowOther
	}
	switch next := op != Wide && (Instruction{Op: op}).FallsThrough(); {
	case op == Jsr || op == Ret:
		return flowOther
	case operand == OperandBranch && next:
		return flowBranch
	case operand == OperandBranch:
		return flowJump
	case next:
		return flowNext
	}
	return flowEnd
}

// Stack returns the values that the instruction takes off the operand stack and the values that it puts on it, the top
// of the stack at the right. I, J, F and D are types as in descriptors, A is a reference, N null and R a
// returnAddress; a small letter is one stack word of any type, the same letter the same word. ok is false if the
// operand of the instruction determines the values. The opcode must be known.
func (o Op) Stack() (taken, left string, ok bool) {
	taken, left, ok = strings.Cut(ops[o].stack, ">")
	return taken, left, ok && left != "*"
}
