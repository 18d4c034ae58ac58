package filter

import "github.com/tracegen/tracegen/classfile/code"

// opKind says what an instruction means for [notSmart], whatever its operands are.
type opKind uint8

const (
	unclear  opKind = iota // its size varies, or the opcode is unknown
	loads                  // it only pushes a local or a constant, as isLoad says; the constant may be Dynamic
	calls                  // it is a call, but not invokedynamic: neither is a plain method, but a delegation may have one
	excludes               // neither a plain method nor a delegation has one
	others                 // a plain method may have one, a delegation has not, or only behind its call
)

var opKinds = func() (kinds [256]opKind) {
	for i := range kinds {
		op := code.Op(i)
		switch {
		case !op.Known() || op.Size() == 0:
			continue
		case isLoad(code.Instruction{Op: op}):
			kinds[i] = loads
		case op >= code.Invokevirtual && op <= code.Invokeinterface:
			kinds[i] = calls
		default:
			kinds[i] = others
		}
	}
	for _, op := range []code.Op{code.Invokedynamic, code.New, code.Newarray, code.Anewarray, code.Multianewarray,
		code.Monitorenter, code.Monitorexit, code.Athrow, code.Jsr, code.JsrW, code.Ret} {
		kinds[op] = excludes
	}
	return kinds
}()

// notSmart reports that code is neither a plain method nor a delegation (see [Smart]), and that its first instructions
// show it. If it is false, plainSize and delegation decide. Of most methods that are traced, it is true.
func notSmart(bytecode []byte) bool {
	onlyLoads := true
	pc := 0
	for range maxSmart {
		if pc >= len(bytecode) {
			return false
		}
		op := code.Op(bytecode[pc])
		kind := opKinds[op]
		pc += op.Size()
		switch {
		case kind == unclear || pc > len(bytecode):
			return false
		case kind == calls:
			return !onlyLoads || !endsCall(bytecode[pc:])
		case kind == excludes:
			return true
		case kind == others:
			onlyLoads = false
		}
	}
	return !onlyLoads && pc < len(bytecode)
}

// endsCall reports whether code may be what follows the call of a delegation: casts, and a return at the end.
func endsCall(bytecode []byte) bool {
	for pc := 0; pc < len(bytecode); {
		op := code.Op(bytecode[pc])
		size := op.Size()
		switch {
		case size == 0 || size > len(bytecode)-pc:
			return true // it may be malformed
		case op.IsReturn():
			return pc+size == len(bytecode)
		case op != code.Checkcast:
			return false
		}
		pc += size
	}
	return false
}
