package filter

import (
	"encoding/binary"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// MaxBound is the greatest number of instructions that a call of a bounded method executes, those of the methods that
// it calls included.
//
// An interpreter of a slow phone needs about 50 ns for an instruction, and several times as much if caches are cold: so
// 200 instructions take 10 µs, and hardly ever 50 µs. That is a third of a percent of a frame, and far below the
// shortest stall that is reported. A method that calls a bounded one often has a loop, and is traced.
const MaxBound = 200

// maxArray is the greatest length of an array that a bounded method creates. Its elements have to be set to zero.
const maxArray = 64

// Outline is what the code of a method shows of how long a call can take. Of a method that has an outline, a call
// executes each instruction at most once: it has no loop. It locks nothing, creates no array of unknown length, throws
// nothing by itself, and runs nothing implicitly but class initialisers. The method is bounded if all that it calls is.
type Outline struct {
	// Size is the number of instructions, those of the methods of [knownClasses] that it calls included.
	Size int
	// Calls are those of all other methods, in the order of the code, each as often as it is there, and the
	// initialisers that may run.
	Calls []Call
}

// CallKind says how the method is found that a [Call] runs.
type CallKind uint8

// The kinds.
const (
	CallOwn         CallKind = iota // of the class itself, and no other method can run in its place
	CallStatic                      // by invokestatic
	CallSpecial                     // by invokespecial
	CallVirtual                     // by invokevirtual
	CallInitialiser                 // a class is initialised
)

// CallKinds is the number of kinds.
const CallKinds = 5

// Call is a call of a method, or what makes a class be initialised.
type Call struct {
	Kind CallKind // how it is found
	// Index is that of the method in the class, for CallOwn; else that of the constant that the instruction names, of
	// which CallInitialiser means the class.
	Index uint16
}

// Outliner makes outlines of the methods of one class, one at a time. It keeps working memory for the next class.
type Outliner struct {
	outline Outline
	class   *classfile.Class
	methods methodIndex // of the class
	targets []int       // of branches so far
}

// Class sets the class whose methods follow.
func (o *Outliner) Class(c *classfile.Class) {
	o.class = c
	o.methods.reset(c)
}

// Outlines reports whether decisions need outlines: whether the trivial mode is [Bounded].
func (f *Filter) Outlines() bool { return f.trivial == Bounded }

// Outline returns the outline of a method with this code, which is valid until the next call. ok is false if the method
// has none.
func (o *Outliner) Outline(m *classfile.Member, body *classfile.Code) (outline *Outline, ok bool) {
	if m.AccessFlags&classfile.AccSynchronized != 0 || o.class.IsFuture() || !handlersAhead(body) {
		return nil, false
	}
	o.targets = o.targets[:0]
	o.outline = Outline{Calls: o.outline.Calls[:0]}
	before := 0
	for pc := 0; pc < len(body.Bytecode); {
		op, size, err := code.Next(body.Bytecode, pc)
		if err != nil || o.outline.Size >= MaxBound {
			return nil, false
		}
		o.outline.Size++
		if !isHarmless(op) && !o.instruction(body.Bytecode, before, pc) {
			return nil, false
		}
		before, pc = pc, pc+size
	}
	return &o.outline, o.outline.Size <= MaxBound
}

// isHarmless reports whether an instruction only moves values, computes, reads or writes a field of an object or an
// element of an array, or returns. Nearly all instructions do.
func isHarmless(op code.Op) bool {
	return op <= code.Sipush || op > code.Ldc2W && op < code.Ifeq || op.IsReturn() || op == code.Getfield ||
		op == code.Putfield
}

// handlersAhead reports whether each exception handler lies behind the range that it covers. One that does not can form
// a loop without a backward branch.
func handlersAhead(body *classfile.Code) bool {
	for e := body.ExceptionTable; len(e) >= 8; e = e[8:] {
		if binary.BigEndian.Uint16(e[4:]) < binary.BigEndian.Uint16(e[2:]) {
			return false
		}
	}
	return true
}

// instruction adds the instruction at pc to the outline. It returns false if no method with it is bounded. The one
// before it is at before.
func (o *Outliner) instruction(bytecode []byte, before, pc int) bool {
	in, err := code.At(bytecode, pc)
	if err != nil {
		return false
	}
	switch in.Op {
	case code.Invokeinterface, code.Invokedynamic, code.Multianewarray, code.Monitorenter, code.Monitorexit,
		code.Athrow, code.Jsr, code.JsrW, code.Ret:
		return false
	case code.Wide:
		return code.Op(in.U1(0)) != code.Ret
	case code.Newarray, code.Anewarray:
		length := pushedBy(bytecode, before)
		return length >= 0 && length <= maxArray && before < pc && !slices.Contains(o.targets, pc)
	case code.Ldc, code.LdcW, code.Ldc2W:
		return o.isPlainConstant(in)
	case code.Getstatic, code.Putstatic:
		ref, err := o.class.ConstantPool().Ref(in.Constant())
		return err == nil && o.initialise(ref.Class, in.Constant())
	case code.New:
		name, err := o.class.ConstantPool().ClassName(in.Constant())
		return err == nil && o.initialise(name, in.Constant())
	case code.Invokestatic:
		return o.call(CallStatic, in)
	case code.Invokespecial:
		return o.call(CallSpecial, in)
	case code.Invokevirtual:
		return o.call(CallVirtual, in)
	case code.Tableswitch, code.Lookupswitch:
		for target := range in.Targets() {
			if !o.branch(in, target) {
				return false
			}
		}
		return true
	}
	target, branches := in.Branch()
	return !branches || o.branch(in, target)
}

// branch notes a branch. It returns false for one that may form a loop.
func (o *Outliner) branch(in code.Instruction, target int) bool {
	o.targets = append(o.targets, target)
	return target > in.PC
}

// isPlainConstant reports whether an ldc loads a constant without running code: no Dynamic, which runs a bootstrap
// method, and no MethodHandle or MethodType, which the JVM makes by Java code.
func (o *Outliner) isPlainConstant(in code.Instruction) bool {
	switch o.class.ConstantPool().Tag(in.Constant()) {
	case classfile.TagDynamic, classfile.TagMethodHandle, classfile.TagMethodType:
		return false
	}
	return true
}

// pushedBy returns the constant int that the instruction at pc pushes, -1 if it pushes none or a negative one.
func pushedBy(bytecode []byte, pc int) int {
	in, err := code.At(bytecode, pc)
	switch {
	case err != nil:
	case in.Op >= code.Iconst0 && in.Op <= code.Iconst5:
		return int(in.Op - code.Iconst0)
	case in.Op == code.Bipush:
		return int(int8(in.U1(0)))
	case in.Op == code.Sipush:
		return int(int16(in.U2(0)))
	}
	return -1
}

// call adds a call of a method. It returns false if the method is certainly not bounded.
func (o *Outliner) call(kind CallKind, in code.Instruction) bool {
	ref, err := o.class.ConstantPool().Ref(in.Constant())
	if err != nil || ref.Class == "" || ref.Class[0] == '[' {
		return false
	}
	if ref.Class == o.class.Name() {
		if i := o.methods.find(o.class, ref.Name, ref.Descriptor); i >= 0 {
			o.outline.Calls = append(o.outline.Calls, Call{CallOwn, uint16(i)})
			return o.isExact(kind, i)
		}
	}
	if size, known := KnownBound(ref.Class, ref.Name, ref.Descriptor); known {
		o.outline.Size += size
		return true
	}
	if isOfJDK(ref.Class) || kind == CallStatic && !o.initialise(ref.Class, in.Constant()) {
		return false
	}
	o.outline.Calls = append(o.outline.Calls, Call{kind, in.Constant()})
	return true
}

// isExact reports whether a call of method i of the class can run no other method.
func (o *Outliner) isExact(kind CallKind, i int) bool {
	access := o.class.Methods()[i].AccessFlags
	return access&(classfile.AccNative|classfile.AccAbstract) == 0 &&
		(kind != CallVirtual || IsExact(o.class.AccessFlags(), access))
}

// IsExact reports whether invokevirtual of a method that is in the class that the instruction names can run no other.
func IsExact(class, method uint16) bool {
	return method&(classfile.AccPrivate|classfile.AccFinal) != 0 || class&classfile.AccFinal != 0
}

// initialise adds that a class, which a constant names, may be initialised, unless it is the method's own, which has
// been. It returns false if that may take long.
func (o *Outliner) initialise(class string, constant uint16) bool {
	if class == o.class.Name() || KnownClass(class) {
		return true
	}
	if class == "" || isOfJDK(class) {
		return false
	}
	call := Call{CallInitialiser, constant}
	if !slices.Contains(o.outline.Calls, call) {
		o.outline.Calls = append(o.outline.Calls, call)
	}
	return true
}
