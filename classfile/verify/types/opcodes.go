package types

import "github.com/tracegen/tracegen/classfile/code"

// form is how [method.step] applies the instructions with an opcode.
type form uint8

const (
	formFixed form = iota // it pops and pushes values of fixed types
	formMove              // it moves words of the stack
	formArrayLoad
	formArrayStore
	formArrayLength
	formReferences // it pops references, which need not be initialised
	formReturn

	// From here on, something is demanded of the operands whatever the types are (JVMS 4.9.1).
	formLoad
	formStore
	formIinc
	formRet
	formLdc
	formField
	formInvoke
	formNew
	formNewarray
	formClass // it pops values of fixed types, and what it pushes depends on a class
	formSwitch
	formJsr
)

// forms has those that do not follow from the values that the opcode table has.
var forms = [256]form{
	code.Pop: formMove, code.Pop2: formMove, code.Dup: formMove, code.DupX1: formMove, code.DupX2: formMove,
	code.Dup2: formMove, code.Dup2X1: formMove, code.Dup2X2: formMove, code.Swap: formMove,
	code.Arraylength: formArrayLength, code.Monitorenter: formReferences, code.Monitorexit: formReferences,
	code.IfAcmpeq: formReferences, code.IfAcmpne: formReferences, code.Ifnull: formReferences,
	code.Ifnonnull: formReferences, code.Iinc: formIinc, code.Ret: formRet, code.Ldc: formLdc, code.LdcW: formLdc,
	code.Ldc2W: formLdc, code.Getstatic: formField, code.Putstatic: formField, code.Getfield: formField,
	code.Putfield: formField, code.Invokevirtual: formInvoke, code.Invokespecial: formInvoke,
	code.Invokestatic: formInvoke, code.Invokeinterface: formInvoke, code.Invokedynamic: formInvoke, code.New: formNew,
	code.Newarray: formNewarray, code.Anewarray: formClass, code.Checkcast: formClass, code.Instanceof: formClass,
	code.Multianewarray: formClass, code.Tableswitch: formSwitch, code.Lookupswitch: formSwitch, code.Jsr: formJsr,
	code.JsrW: formJsr,
}

// moves has the instructions that move words of the stack. taken is how many words they take at once, from the top on:
// either a value of two words or two of one. pushed are the words that they push then, lowest first: 0 is the one that
// was on top, 1 the next.
var moves = [...]struct{ taken, pushed []int }{
	code.Pop: {taken: []int{1}}, code.Pop2: {taken: []int{2}}, code.Dup: {[]int{1}, []int{0, 0}},
	code.DupX1: {[]int{1, 1}, []int{0, 1, 0}}, code.DupX2: {[]int{1, 2}, []int{0, 2, 1, 0}},
	code.Dup2: {[]int{2}, []int{1, 0, 1, 0}}, code.Dup2X1: {[]int{2, 1}, []int{1, 0, 2, 1, 0}},
	code.Dup2X2: {[]int{2, 2}, []int{1, 0, 3, 2, 1, 0}}, code.Swap: {[]int{1, 1}, []int{0, 1}},
}

// opRow says what the instructions with an opcode do to the type state.
type opRow struct {
	op       code.Op
	form     form
	size     uint8    // of the instruction, 0 where it varies
	branches bool     // it has targets
	ends     bool     // it does not lead to the next instruction
	local    int8     // the local that it uses, -1 if the operand names it
	more     uint8    // 1 if it uses the next local, too
	pops     uint8    // the number of words in popped
	bit      uint16   // of constant.allowed, if the operand is a constant
	kinds    kindSet  // of the components of an array that it loads or stores
	value    vtype    // what it loads, stores, returns or pushes: tNull for any reference, tTop for nothing
	popped   [4]vtype // the words that it pops first, lowest first
}

// opRows has a row for each opcode, made from the opcode table of package code, and for other bytes one of size 0.
var opRows = func() (rows [256]opRow) {
	bit := uint16(1)
	for op := code.Nop; op.Known(); op++ {
		rows[op] = newRow(op)
		switch op.Operand() {
		case code.OperandConstant, code.OperandConstantW, code.OperandInvoke4:
			rows[op].bit = bit
			bit <<= 1
		}
	}
	return rows
}()

// newRow returns the row of an opcode, without bit.
func newRow(op code.Op) opRow {
	taken, left, known := op.Stack()
	if !known {
		taken, left = "", ""
	}
	row := opRow{op: op, form: forms[op], size: uint8(op.Size()), local: -1}
	if row.form == formMove {
		return row
	}
	row.value = letterType(left)
	switch op {
	case code.Goto, code.GotoW, code.Jsr, code.JsrW, code.Ret, code.Tableswitch, code.Lookupswitch, code.Athrow:
		row.ends = true
	}
	switch op.Operand() {
	case code.OperandBranch, code.OperandBranchW, code.OperandTableSwitch, code.OperandLookupSwitch:
		row.branches = true
	}
	switch {
	case op >= code.Iload && op <= code.Aload3:
		row.form, row.local = formLoad, ownLocal(op, code.Iload0)
	case op >= code.Istore && op <= code.Astore3:
		row.form, row.local, row.value = formStore, ownLocal(op, code.Istore0), letterType(taken)
	case op >= code.Iaload && op <= code.Saload:
		row.form, row.kinds, taken = formArrayLoad, arrayComponents[op-code.Iaload], taken[1:]
	case op >= code.Iastore && op <= code.Sastore:
		row.form, row.kinds, taken = formArrayStore, arrayComponents[op-code.Iastore], taken[1:]
	case op.IsReturn():
		row.form, row.ends, row.value = formReturn, true, letterType(taken)
	}
	if row.value.isWide() {
		row.more = 1
	}
	for i := range taken {
		t := letterType(taken[i:])
		switch {
		case op == code.Athrow:
			t = tThrowable
		case t == tNull:
			t = tObject
		}
		row.popped[row.pops] = t
		row.pops++
		if second, two := t.secondWord(); two {
			row.popped[row.pops] = second
			row.pops++
		}
	}
	return row
}

// ownLocal returns the local that a load or store names by its opcode, of which the first is given, -1 for others.
func ownLocal(op, first code.Op) int8 {
	if op < first {
		return -1
	}
	return int8(op-first) % 4
}

// letterType returns the type that the first letter of values in the opcode table stands for, tNull for any reference.
func letterType(values string) vtype {
	if values == "" {
		return tTop
	}
	switch values[0] {
	case 'J':
		return tLong
	case 'F':
		return tFloat
	case 'D':
		return tDouble
	case 'A', 'N':
		return tNull
	}
	return tInt
}

// arrayComponents are the kinds of the components for the eight array loads and stores, in the order of their opcodes.
var arrayComponents = [...]kindSet{1 << tInt, 1 << tLong, 1 << tFloat, 1 << tDouble, 1 << kindObject,
	1<<tByte | 1<<tBoolean, 1 << tChar, 1 << tShort}

// kindSet has a bit for each kind of types.
type kindSet uint16

func (set kindSet) has(t vtype) bool { return set>>t.kind()&1 != 0 }

const (
	references kindSet = 1<<tNull | 1<<kindObject // only these can be assigned by the class hierarchy
	objects    kindSet = references | 1<<tUninitializedThis | 1<<kindUninitialized
	halves     kindSet = 1<<tLong | 1<<tLong2 | 1<<tDouble | 1<<tDouble2 // words of values that take two
)
