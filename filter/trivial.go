package filter

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// TrivialMode is a definition of "too small to be worth measuring". Each looks at the bytes of one method,
// and of its class at names and flags only.
type TrivialMode uint8

const (
	// Smart takes these three for trivial, unless they are synchronized:
	// at most 12 instructions that neither loop, call, allocate, lock, throw, nor run code unseen (by
	// invokedynamic, a Dynamic constant, or the initialiser of another class behind a static field);
	// a constructor that only hands arguments and constants to the one of its superclass;
	// a method that only hands them to a private or static method of its own class, which is measured itself, and
	// so may not be native.
	Smart TrivialMode = iota
	// Matrix is the rule of the Matrix plugin: no call at all, loops or not; or nothing but loads, field
	// accesses and returns, with one invokespecial in a constructor.
	Matrix
	// None takes nothing for trivial.
	None
)

// trivialModes are the names of the modes, as options have them.
var trivialModes = [...]string{Smart: "smart", Matrix: "matrix", None: "none"}

// String gives the name of the mode, as options have it.
func (t TrivialMode) String() string {
	if int(t) < len(trivialModes) {
		return trivialModes[t]
	}
	return fmt.Sprintf("trivial mode %d", uint8(t))
}

// maxSmart is the most instructions that a plain method may have to be trivial.
const maxSmart = 12

var errNoCode = errors.New("code_length is 0 (JVMS 4.7.3)")

// trivial says by what a method is trivial; "" if it is not. An error is code that cannot be decoded.
func (cf *ClassFilter) trivial(m *classfile.Member, c *classfile.Code) (string, error) {
	mode := cf.filter.trivial
	switch {
	case mode == None:
		return "", nil
	case len(c.Bytecode) == 0:
		return "", errNoCode
	case mode == Matrix:
		return matrixTrivial(m, c)
	case m.AccessFlags&classfile.AccSynchronized != 0:
		return "", nil
	}
	if n, err := cf.plain(c); n > 0 || err != nil {
		return plainDetails[n], err
	}
	return cf.passesOn(m, c)
}

// plainDetails are what to say of a plain method, by its number of instructions: once, as there are so many.
var plainDetails = func() (details [maxSmart + 1]string) {
	for n := range details {
		details[n] = fmt.Sprintf("smart: %d instructions, no loop, call or allocation", n)
	}
	details[1] = "smart: 1 instruction, no loop, call or allocation"
	return details
}()

// plain gives the number of instructions of a method of the first of the three forms of [Smart]; 0 for another.
func (cf *ClassFilter) plain(c *classfile.Code) (int, error) {
	// A handler that starts before the end of what it covers can make a loop without a backward branch.
	for e := c.ExceptionTable; len(e) >= 8; e = e[8:] {
		if binary.BigEndian.Uint16(e[4:]) < binary.BigEndian.Uint16(e[2:]) {
			return 0, nil
		}
	}
	n := 0
	for pc := 0; pc < len(c.Bytecode); n++ {
		if n == maxSmart {
			return 0, nil
		}
		in, err := code.At(c.Bytecode, pc)
		if err != nil {
			return 0, err
		}
		if !cf.isHarmless(in) {
			return 0, nil
		}
		pc += in.Size
	}
	return n, nil
}

// isHarmless says whether the instruction may stand in a plain method.
func (cf *ClassFilter) isHarmless(in code.Instruction) bool {
	switch in.Op {
	case code.Invokevirtual, code.Invokespecial, code.Invokestatic, code.Invokeinterface, code.Invokedynamic,
		code.New, code.Newarray, code.Anewarray, code.Multianewarray,
		code.Monitorenter, code.Monitorexit, code.Athrow:
		return false
	case code.Jsr, code.JsrW, code.Ret:
		// A ret goes back to behind its jsr: it is a backward branch without a target to see.
		return false
	case code.Wide:
		return code.Op(in.U1(0)) != code.Ret
	case code.Ldc, code.LdcW, code.Ldc2W:
		return !cf.isDynamic(in)
	case code.Getstatic, code.Putstatic:
		ref, err := cf.class.ConstantPool().Ref(in.Constant())
		return err == nil && ref.Class == cf.class.Name()
	case code.Tableswitch, code.Lookupswitch:
		for target := range in.Targets() {
			if target <= in.PC {
				return false
			}
		}
		return true
	}
	target, branches := in.Branch()
	return !branches || target > in.PC
}

// isDynamic says whether an ldc loads a Dynamic constant (JVMS 4.4.10), for which a bootstrap method runs.
func (cf *ClassFilter) isDynamic(in code.Instruction) bool {
	return cf.class.ConstantPool().Tag(in.Constant()) == classfile.TagDynamic
}

// passesOn is the second and third form of [Smart]: loads of locals and constants, one call, perhaps a
// checkcast of what it returned, and a return. As nothing is stored, the locals are parameters.
func (cf *ClassFilter) passesOn(m *classfile.Member, c *classfile.Code) (string, error) {
	detail := ""
	for pc := 0; pc < len(c.Bytecode); {
		in, err := code.At(c.Bytecode, pc)
		if err != nil {
			return "", err
		}
		pc += in.Size
		switch {
		case detail == "" && isLoad(in) && !(in.Op >= code.Ldc && in.Op <= code.Ldc2W && cf.isDynamic(in)):
		case detail == "" && in.Op >= code.Invokevirtual && in.Op <= code.Invokeinterface:
			if detail = cf.passedOnTo(m, in); detail == "" {
				return "", nil
			}
		case detail != "" && in.Op == code.Checkcast:
		case detail != "" && in.Op.IsReturn() && pc == len(c.Bytecode):
			return detail, nil
		default:
			return "", nil
		}
	}
	return "", nil
}

// passedOnTo says what kind of delegation the one call of method m is; "" for one that hides time. A native
// method cannot be traced, so that its time would be lost with its caller.
func (cf *ClassFilter) passedOnTo(m *classfile.Member, call code.Instruction) string {
	ref, err := cf.class.ConstantPool().Ref(call.Constant())
	if err != nil {
		return ""
	}
	if call.Op == code.Invokespecial && m.Name == "<init>" && ref.Name == "<init>" && ref.Class == cf.class.SuperName() {
		return "smart: only calls super"
	}
	if ref.Class != cf.class.Name() {
		return ""
	}
	const oneOf = classfile.AccPrivate | classfile.AccStatic
	flags, ok := cf.flagsOf(ref.Name, ref.Descriptor)
	if !ok || flags&oneOf == 0 || flags&classfile.AccNative != 0 {
		return ""
	}
	return "smart: only calls a private or static method of its class"
}

// isLoad says whether an instruction does no more than push a constant or a local.
func isLoad(in code.Instruction) bool {
	op := in.Op
	if op == code.Wide {
		op = code.Op(in.U1(0))
	}
	return op >= code.AconstNull && op <= code.Aload3
}

// matrixTrivial has the semantics of isGetSetMethod and isSingleMethod of Matrix's MethodCollector. These see
// the code through ASM, for which a wide load is a load; opcodes up to saload count as loads, nop among them.
func matrixTrivial(m *classfile.Member, c *classfile.Code) (string, error) {
	calls, specials := 0, 0
	onlyAccess := true
	for pc := 0; pc < len(c.Bytecode); {
		in, err := code.At(c.Bytecode, pc)
		if err != nil {
			return "", err
		}
		pc += in.Size
		op := in.Op
		if op == code.Wide {
			op = code.Op(in.U1(0))
		}
		switch {
		case op == code.Invokespecial && m.Name == "<init>":
			calls++
			specials++
		case op >= code.Invokevirtual && op <= code.Invokedynamic:
			calls++
			onlyAccess = false
		case op <= code.Saload || op.IsReturn() || op >= code.Getstatic && op <= code.Putfield:
		default:
			onlyAccess = false
		}
		if calls > 0 && (!onlyAccess || specials > 1) {
			return "", nil
		}
	}
	if calls == 0 {
		return "matrix: no call", nil
	}
	return "matrix: only field accesses", nil
}
