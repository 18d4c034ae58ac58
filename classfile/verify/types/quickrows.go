package types

import "github.com/tracegen/tracegen/classfile/code"

// quickKind says how [method.run] and its callers apply the instructions with an opcode.
type quickKind uint8

const (
	notQuick   quickKind = iota
	quickFixed           // it pops and pushes values of fixed types
	quickPush            // quickFixed that only pushes one word
	quickLoad
	quickLoadTwo
	quickStore
	quickStoreTwo
	quickIinc
	quickPop
	quickPopTwo
	quickDup
	quickDupX1
	quickDupTwo
	quickSwap
	quickLdc
	quickField
	quickCall
	quickArrayLoad
	quickArrayStore
	quickArrayLength
	quickMonitor
	quickNew
	quickNewarray
	quickAnewarray
	quickCheckcast
	quickInstanceof

	// The instructions at which run stops.
	quickBranch  // quickFixed with a target in two bytes
	quickCompare // a branch that pops references
	quickReturn  // with a value of a primitive type
	quickAreturn
	quickReturnVoid
	quickAthrow
)

// kindSet has a bit for each kind of types.
type kindSet uint16

func setOf(kinds ...vtype) (set kindSet) {
	for _, kind := range kinds {
		set |= 1 << kind
	}
	return set
}

func (set kindSet) has(t vtype) bool { return set>>(t&(1<<kindBits-1))&1 != 0 }

const (
	references  kindSet = 1<<tNull | 1<<kindObject
	objects     kindSet = references | 1<<tUninitializedThis | 1<<kindUninitialized
	halves      kindSet = 1<<tLong | 1<<tLong2 | 1<<tDouble | 1<<tDouble2 // words of values that take two
	wholes      kindSet = ^halves &^ (1 << tTop)                          // values of one word
	secondWords kindSet = 1<<tLong2 | 1<<tDouble2
)

// quickRow is what [method.run] needs of an opcode. All types in it are less than 1<<kindBits.
type quickRow struct {
	kind  quickKind
	size  uint8 // of the instruction
	local int8  // the local that a load or store uses; -1 if the operand names it
	t     uint8 // the type that is loaded, stored or returned, or of the element of an array as it is on the stack
	// kinds are those that a load or store of one word moves, or of the components of arrays. The type of a component
	// that is no class is its kind.
	kinds kindSet
	// The words that are popped, and then pushed, lowest first.
	pops, pushes uint8
	popped       [4]uint8
	pushed       [4]uint8 // four, so that a row has 16 bytes
}

// quickRows has a row for each byte.
var quickRows = func() (rows [256]quickRow) {
	for op := code.Nop; op.Known(); op++ {
		row := &rows[op]
		row.size = uint8(op.Size())
		switch e := &effects[op]; {
		case quickKinds[op] != notQuick:
			row.kind = quickKinds[op]
			if row.pops = 2; op >= code.Ifnull { // how many references a branch compares
				row.pops = 1
			}
		case traits[op]&local != 0:
			row.setLocal(op)
		case op.IsReturn():
			row.kind = quickReturn
			row.t = uint8(returnTypes[op-code.Ireturn])
			row.pushes = uint8(copy(row.pushed[:], small(appendWords(nil, vtype(row.t)))))
		case op >= code.Iaload && op <= code.Saload:
			row.kind = quickArrayLoad
			row.setComponents(int(op - code.Iaload))
		case op >= code.Iastore && op <= code.Sastore:
			row.kind = quickArrayStore
			row.setComponents(int(op - code.Iastore))
		case e.known && row.size > 0 && op != code.GotoW:
			row.setFixed(op, e)
		}
	}
	return rows
}()

// quickKinds has the kinds that do not follow from the opcode table.
var quickKinds = [256]quickKind{
	code.Pop: quickPop, code.Pop2: quickPopTwo, code.Dup: quickDup, code.DupX1: quickDupX1, code.Dup2: quickDupTwo,
	code.Swap: quickSwap, code.Ldc: quickLdc, code.LdcW: quickLdc, code.Ldc2W: quickLdc,
	code.Getstatic: quickField, code.Putstatic: quickField, code.Getfield: quickField, code.Putfield: quickField,
	code.Invokevirtual: quickCall, code.Invokespecial: quickCall, code.Invokestatic: quickCall,
	code.Invokeinterface: quickCall, code.Invokedynamic: quickCall,
	code.Arraylength: quickArrayLength, code.Monitorenter: quickMonitor, code.Monitorexit: quickMonitor,
	code.New: quickNew, code.Newarray: quickNewarray, code.Anewarray: quickAnewarray, code.Checkcast: quickCheckcast,
	code.Instanceof: quickInstanceof, code.IfAcmpeq: quickCompare, code.IfAcmpne: quickCompare,
	code.Ifnull: quickCompare, code.Ifnonnull: quickCompare, code.Areturn: quickAreturn, code.Return: quickReturnVoid,
	code.Athrow: quickAthrow,
}

// returnTypes are the types that ireturn, lreturn, freturn and dreturn pop.
var returnTypes = [...]vtype{tInt, tLong, tFloat, tDouble}

// setLocal fills in the row of a load, store or iinc.
func (row *quickRow) setLocal(op code.Op) {
	plain, n := op, -1
	switch {
	case op >= code.Iload0 && op <= code.Aload3:
		plain, n = code.Iload+(op-code.Iload0)/4, int(op-code.Iload0)%4
	case op >= code.Istore0 && op <= code.Astore3:
		plain, n = code.Istore+(op-code.Istore0)/4, int(op-code.Istore0)%4
	}
	row.local = int8(n)
	var t vtype
	switch {
	case plain >= code.Iload && plain <= code.Aload:
		row.kind, t = quickLoad, localTypes[plain-code.Iload]
	case plain >= code.Istore && plain <= code.Astore:
		row.kind, t = quickStore, localTypes[plain-code.Istore]
	case plain == code.Iinc:
		row.kind, t = quickIinc, tInt
	}
	row.t, row.kinds = uint8(t), 1<<t
	if t == tNull {
		row.kinds = objects
	}
	if second, two := t.secondWord(); two {
		row.kind++
		row.pushes, row.pushed = 2, [4]uint8{uint8(t), uint8(second)}
	}
}

// setComponents fills in the row of load or store n of an element of an array.
func (row *quickRow) setComponents(n int) {
	components := arrayComponents[n]
	if components == nil {
		row.t, row.kinds = uint8(tNull), 1<<kindObject
		return
	}
	t := components[0]
	if t >= tBoolean {
		t = tInt
	}
	row.t = uint8(t)
	row.kinds = setOf(components...)
	row.pushes = uint8(copy(row.pushed[:], small(appendWords(nil, t))))
}

// setFixed fills in the row of an instruction that pops and pushes values of fixed types.
func (row *quickRow) setFixed(op code.Op, e *effect) {
	var popped, pushed []vtype
	for _, t := range e.popped {
		popped = appendWords(popped, t)
	}
	if e.pushed != tTop {
		pushed = appendWords(nil, e.pushed)
	}
	row.pops, row.pushes = uint8(copy(row.popped[:], small(popped))), uint8(copy(row.pushed[:], small(pushed)))
	switch {
	case traits[op]&branching != 0:
		row.kind = quickBranch
	case len(popped) == 0 && len(pushed) == 1:
		row.kind = quickPush
		row.t = row.pushed[0]
	default:
		row.kind = quickFixed
	}
}

// small returns types that are less than 1<<kindBits as bytes.
func small(words []vtype) (bytes []uint8) {
	for _, t := range words {
		bytes = append(bytes, uint8(t))
	}
	return bytes
}

func appendWords(words []vtype, t vtype) []vtype {
	words = append(words, t)
	if second, two := t.secondWord(); two {
		words = append(words, second)
	}
	return words
}
