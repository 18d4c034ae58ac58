package filter

import (
	"errors"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// TrivialMode is a definition of methods that are too small to be worth measuring. All modes but [Bounded] look only at
// the bytes of the method, and at names and flags in its class.
type TrivialMode uint8

const (
	// Bounded skips what Smart skips, and a method of which all classes together prove that a call executes at most
	// [MaxBound] instructions: see [Outline]. These have the reason [ReasonBounded]; package plan finds them.
	Bounded TrivialMode = iota
	// Smart skips a method that is not synchronized and has one of three forms:
	//
	//   - A plain method: at most 12 instructions that do not loop, call, allocate, lock or throw, and that cannot
	//     run other code implicitly (invokedynamic, a Dynamic constant, or a static field of another class, whose
	//     initialiser may run).
	//   - A constructor that only passes arguments and constants to a constructor of its superclass.
	//   - A delegation: a method that only passes arguments and constants to a private or static method of its own
	//     class. That method is traced in its place, and must therefore not be native.
	Smart
	// Matrix is the rule of the Matrix plugin. It skips a method without any call, loops or not, and a method that
	// consists of loads, field accesses and returns only; a constructor may have one invokespecial besides.
	Matrix
	// None skips no method as trivial.
	None
)

// trivialModes are the names of the modes.
var trivialModes = [...]string{Bounded: "bounded", Smart: "smart", Matrix: "matrix", None: "none"}

// String returns the name of the mode: bounded, smart, matrix or none.
func (t TrivialMode) String() string {
	if int(t) < len(trivialModes) {
		return trivialModes[t]
	}
	return fmt.Sprintf("trivial mode %d", uint8(t))
}

// maxSmart is the greatest number of instructions of a plain method.
const maxSmart = 12

var errNoCode = errors.New("code_length is 0 (JVMS 4.7.3)")

// trivial returns the detail of the reason why a method is trivial; "" if it is not. It fails if the code cannot be
// decoded.
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
	return cf.smart(m, c)
}

// smart is trivial for the modes Bounded and Smart, and a method that is not synchronized.
func (cf *ClassFilter) smart(m *classfile.Member, c *classfile.Code) (string, error) {
	if n, err := cf.plainSize(c); n > 0 || err != nil {
		return plainDetails[n], err
	}
	return cf.delegation(m, c)
}

// plainDetails are the details for plain methods, by number of instructions. They are made once because there are
// many such methods.
var plainDetails = func() (details [maxSmart + 1]string) {
	for n := range details {
		details[n] = fmt.Sprintf("smart: %d instructions, no loop, call or allocation", n)
	}
	details[1] = "smart: 1 instruction, no loop, call or allocation"
	return details
}()

// plainSize returns the number of instructions of a plain method (see [Smart]); 0 for any other method.
func (cf *ClassFilter) plainSize(c *classfile.Code) (int, error) {
	if !handlersAhead(c) {
		return 0, nil
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
		if !cf.allowedInPlain(in) {
			return 0, nil
		}
		pc += in.Size
	}
	return n, nil
}

// allowedInPlain reports whether the instruction is allowed in a plain method.
func (cf *ClassFilter) allowedInPlain(in code.Instruction) bool {
	switch in.Op {
	case code.Invokevirtual, code.Invokespecial, code.Invokestatic, code.Invokeinterface, code.Invokedynamic,
		code.New, code.Newarray, code.Anewarray, code.Multianewarray,
		code.Monitorenter, code.Monitorexit, code.Athrow:
		return false
	case code.Jsr, code.JsrW, code.Ret:
		// A ret jumps back to the instruction after its jsr: a backward branch, whose target is not in the code.
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

// isDynamic reports whether an ldc loads a Dynamic constant (JVMS 4.4.10). Loading it runs a bootstrap method.
func (cf *ClassFilter) isDynamic(in code.Instruction) bool {
	return cf.class.ConstantPool().Tag(in.Constant()) == classfile.TagDynamic
}

// delegation returns the detail for the second and third form of [Smart]: loads of locals and constants, one call, an
// optional checkcast of the result, and a return. As such a method stores nothing, the locals that it loads are its
// parameters. "" if the method has another form.
func (cf *ClassFilter) delegation(m *classfile.Member, c *classfile.Code) (string, error) {
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
			if detail = cf.delegationDetail(m, in); detail == "" {
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

// delegationDetail returns the detail for a method m whose only call is the given one; "" if the time of the call
// would be lost without m. A native method cannot be traced: if its only caller were not traced either, its time
// would show nowhere.
func (cf *ClassFilter) delegationDetail(m *classfile.Member, call code.Instruction) string {
	ref, err := cf.class.ConstantPool().Ref(call.Constant())
	if err != nil {
		return ""
	}
	if call.Op == code.Invokespecial && m.Name == "<init>" && ref.Name == "<init>" &&
		ref.Class == cf.class.SuperName() {
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

// isLoad reports whether an instruction only pushes a constant or a local.
func isLoad(in code.Instruction) bool {
	op := in.Op
	if op == code.Wide {
		op = code.Op(in.U1(0))
	}
	return op >= code.AconstNull && op <= code.Aload3
}

// matrixTrivial does what isGetSetMethod and isSingleMethod of Matrix's MethodCollector do. These read the code
// through ASM, for which a wide load is a load; all opcodes up to saload count as loads, also nop.
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
