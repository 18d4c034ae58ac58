package types_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/golden"
)

// bytecode joins opcodes, operands of one byte (int) and of two (uint16), and bytes.
func bytecode(parts ...any) (b []byte) {
	for _, part := range parts {
		switch p := part.(type) {
		case code.Op:
			b = append(b, byte(p))
		case int:
			b = append(b, byte(p))
		case uint16:
			b = binary.BigEndian.AppendUint16(b, p)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

// faulty is a static method with that code.
func faulty(stack, locals uint16, parts ...any) crafted.Method {
	return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: stack, MaxLocals: locals,
		Code: bytecode(parts...)}
}

// framed is the method with a StackMapTable of those frames.
func framed(m crafted.Method, frames ...[]byte) crafted.Method {
	m.Attributes = []crafted.Attribute{crafted.Frames(frames...)}
	return m
}

// asConstructor makes the method a constructor.
func asConstructor(m crafted.Method) crafted.Method {
	m.Access, m.Name = classfile.AccPublic, "<init>"
	return m
}

// returning is the method with another descriptor.
func returning(descriptor string, m crafted.Method) crafted.Method {
	m.Descriptor = descriptor
	return m
}

type faultCase struct {
	name string
	make func(a *crafted.Class) crafted.Method
}

// method is a faultCase that needs no constants.
func method(name string, m crafted.Method) faultCase {
	return faultCase{name, func(*crafted.Class) crafted.Method { return m }}
}

// interfaceMethod returns the index of a method of an interface.
func interfaceMethod(a *crafted.Class, name, descriptor string) uint16 {
	return a.Constant(classfile.TagInterfaceMethodref, crafted.U2(a.ClassIndex("far/Face"),
		a.NameAndType(name, descriptor))...)
}

// constantFaults are methods whose instructions use constants wrongly.
func constantFaults() []faultCase {
	const init, none = "<init>", "()V"
	number := func(a *crafted.Class) uint16 { return a.Constant(classfile.TagInteger, 0, 0, 0, 5) }
	long := func(a *crafted.Class) uint16 { // which takes two indexes
		i := a.Constant(classfile.TagLong, 0, 0, 0, 0, 0, 0, 0, 5)
		a.Count++
		return i
	}
	using := func(name string, stack uint16, constant func(a *crafted.Class) uint16,
		parts func(i uint16) []any) faultCase {
		return faultCase{name, func(a *crafted.Class) crafted.Method {
			return faulty(stack, 1,
				parts(constant(a))...)
		}}
	}
	field := func(class, descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return a.Fieldref(class, "x", descriptor) }
	}
	ref := func(class, name, descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return a.Methodref(class, name, descriptor) }
	}
	class := func(name string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return a.ClassIndex(name) }
	}
	between := func(before []any, op code.Op, after ...any) func(i uint16) []any {
		return func(i uint16) []any { return append(append(before[:len(before):len(before)], op, i), after...) }
	}
	one := []any{code.Iconst0}
	null := []any{code.AconstNull}
	cases := []faultCase{
		using("getstatic of a method", 1, ref("T", "x", none), between(nil, code.Getstatic, code.Return)),
		using("getstatic of a Class", 1, class("T"), between(nil, code.Getstatic, code.Pop, code.Return)),
		using("getfield of an array", 1, field("[I", "I"), between(null, code.Getfield, code.Pop, code.Return)),
		using("getfield of a method", 1, ref("T", "x", none), between(null, code.Getfield, code.Return)),
		using("getfield of another class", 1, field("java/lang/String", "I"), func(i uint16) []any {
			return []any{code.Aload0, code.Getfield, i, code.Pop, code.Return}
		}),
		using("putstatic of an Object as a String", 1, field("T", "Ljava/lang/String;"),
			between([]any{code.Aload0}, code.Putstatic, code.Return)),
		using("a result of two words where one is left", 1, ref("T", "g", "()J"),
			between(nil, code.Invokestatic, code.Return)),
		using("a result where none is left", 0, ref("T", "g", "()I"), between(nil, code.Invokestatic, code.Return)),
		using("invokestatic of a constructor", 1, ref("T", init, none), between(nil, code.Invokestatic, code.Return)),
		using("invokevirtual of a constructor", 1, ref("java/lang/Object", init, none),
			between(null, code.Invokevirtual, code.Return)),
		using("invokevirtual of a field", 1, field("T", "I"), between(null, code.Invokevirtual, code.Return)),
		using("invokestatic of a field", 1, field("T", "I"), between(nil, code.Invokestatic, code.Return)),
		using("an int as an Object", 1, ref("T", "g", "(Ljava/lang/Object;)V"), between(one, code.Invokestatic,
			code.Return)),
		using("invokeinterface of a constructor", 1, func(a *crafted.Class) uint16 {
			return interfaceMethod(a, init,
				none)
		},
			func(i uint16) []any { return []any{code.AconstNull, code.Invokeinterface, i, 1, 0, code.Return} }),
		using("invokeinterface of a class method", 1, ref("T", "g", none),
			func(i uint16) []any { return []any{code.AconstNull, code.Invokeinterface, i, 1, 0, code.Return} }),
		using("invokeinterface with another count", 1, func(a *crafted.Class) uint16 {
			return interfaceMethod(a, "g",
				none)
		},
			func(i uint16) []any { return []any{code.AconstNull, code.Invokeinterface, i, 2, 0, code.Return} }),
		using("invokeinterface with a byte that is not zero", 1,
			func(a *crafted.Class) uint16 { return interfaceMethod(a, "g", none) },
			func(i uint16) []any { return []any{code.AconstNull, code.Invokeinterface, i, 1, 1, code.Return} }),
		using("invokespecial of a method of another class", 1, ref("java/lang/String", "g", none),
			func(i uint16) []any {
				return []any{code.AconstNull, code.Invokespecial, i, code.Return}
			}),
		using("a constructor of an int", 2, ref("java/lang/Object", init, none), func(i uint16) []any {
			return []any{code.New, uint16(2), code.Pop, code.Iconst0, code.Invokespecial, i, code.Return}
		}),
		using("a constructor of null", 1, ref("java/lang/Object", init, none), between(null, code.Invokespecial,
			code.Return)),
		{"a constructor of another class", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, code.New, a.ClassIndex("java/lang/Error"), code.Invokespecial,
				a.Methodref("java/lang/Object", init, none), code.Return)
		}},
		{"an element of an uninitialized object", func(a *crafted.Class) crafted.Method {
			return faulty(2, 0, make([]byte, 200), code.New, a.ClassIndex("java/lang/Object"), code.Iconst0,
				code.Iaload,
				code.Return)
		}},
		{"invokespecial of a method of a class that is not the superclass", func(a *crafted.Class) crafted.Method {
			m := faulty(1, 1, code.Aload0, code.Invokespecial, a.Methodref("java/lang/String", "g", none), code.Return)
			m.Access = classfile.AccPublic
			return m
		}},
		{"getstatic of the constant behind the last", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, code.Getstatic, behindLast(a), code.Pop, code.Return)
		}},
		{"ldc_w of the constant behind the last", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, code.LdcW, behindLast(a), code.Pop, code.Return)
		}},
		using("new of an array", 1, class("[I"), between(nil, code.New, code.Pop, code.Return)),
		using("new of a field", 1, field("T", "I"), between(nil, code.New, code.Pop, code.Return)),
		using("anewarray of a number", 1, number, between(one, code.Anewarray, code.Pop, code.Return)),
		using("checkcast to a number", 1, number, between(null, code.Checkcast, code.Pop, code.Return)),
		using("checkcast to a field", 1, field("T", "I"), between(null, code.Checkcast, code.Pop, code.Return)),
		using("ldc2_w of an int", 2, number, between(nil, code.Ldc2W, code.Pop, code.Return)),
		using("ldc_w of a long", 2, long, between(nil, code.LdcW, code.Return)),
		using("ldc of a field", 1, field("T", "I"), between(nil, code.LdcW, code.Pop, code.Return)),
	}
	for i := range cases {
		make := cases[i].make
		cases[i].make = func(a *crafted.Class) crafted.Method {
			a.ClassIndex("java/lang/Object") // is constant 2
			m := make(a)
			if m.Code[0] == byte(code.Aload0) && m.Access == crafted.Static { // an Object
				m.Descriptor = "(Ljava/lang/Object;)V"
			}
			return m
		}
	}
	return cases
}

// uninitializedFaults are methods that use an object before its constructor was called, or call that twice.
func uninitializedFaults() []faultCase {
	const init, none = "<init>", "()V"
	made := func(a *crafted.Class) []any { return []any{code.New, a.ClassIndex("java/lang/Object")} }
	return []faultCase{
		{"a constructor called twice", func(a *crafted.Class) crafted.Method {
			i := a.Methodref("java/lang/Object", init, none)
			return faulty(2, 0, append(made(a), code.Dup, code.Invokespecial, i, code.Invokespecial, i,
				code.Return)...)
		}},
		{"an uninitialized argument", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, append(made(a), code.Invokestatic, a.Methodref("T", "g", "(Ljava/lang/Object;)V"),
				code.Return)...)
		}},
		{"an uninitialized object of a call", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, append(made(a), code.Invokevirtual, a.Methodref("java/lang/Object", "g", none),
				code.Return)...)
		}},
		{"an uninitialized object of a call of an interface", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, append(made(a), code.Invokeinterface, interfaceMethod(a, "g", none), 1, 0,
				code.Return)...)
		}},
		{"an uninitialized object of a field", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, append(made(a), code.Getfield, a.Fieldref("java/lang/Object", "x", "I"), code.Pop,
				code.Return)...)
		}},
		{"an uninitialized object that is cast", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, append(made(a), code.Checkcast, a.ClassIndex("T"), code.Pop, code.Return)...)
		}},
		{"an uninitialized object that is returned", func(a *crafted.Class) crafted.Method {
			return returning("()Ljava/lang/Object;", faulty(1, 0, append(made(a), code.Areturn)...))
		}},
		{"an uninitialized object that is thrown", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, code.New, a.ClassIndex("java/lang/Throwable"), code.Athrow)
		}},
		{"an uninitialized object in an array", func(a *crafted.Class) crafted.Method {
			return faulty(3, 0, append([]any{code.Iconst0, code.Anewarray, a.ClassIndex("java/lang/Object"),
				code.Iconst0},
				append(made(a), code.Aastore, code.Return)...)...)
		}},
	}
}

// behindLast returns the index behind the last constant of a class with one method.
func behindLast(a *crafted.Class) uint16 {
	for _, text := range []string{"Code", "f", "()V"} {
		a.Utf8(text)
	}
	a.ClassIndex(a.Name)
	a.ClassIndex(a.Super)
	return a.Count
}

// stackFaults are methods that take wrong values from the stack or from locals.
func stackFaults() []faultCase {
	return []faultCase{
		method("an array of no type", faulty(1, 0, code.Iconst0, code.Newarray, 3, code.Pop, code.Return)),
		method("an array of no type, after the last", faulty(1, 0, code.Iconst0, code.Newarray, 12, code.Pop,
			code.Return)),
		method("the end of the code reached", faulty(1, 0, code.Iconst0, code.Pop)),
		method("an instruction cut off", faulty(1, 0, code.Return, code.Sipush, 0)),
		method("a goto_w to the byte before the code", faulty(1, 0, code.GotoW, uint16(0xFFFF), uint16(0xFFFF))),
		method("a switch to the byte before the code", faulty(1, 0, code.Iconst0, code.Tableswitch, uint16(0),
			uint16(0xFFFF), uint16(0xFFFE), uint16(0), uint16(0), uint16(0), uint16(0), uint16(0xFFFF), uint16(0xFFFE))),
	}
}

// flowFaults are methods whose paths, frames or handlers are wrong.
func flowFaults() []faultCase {
	const object = "java/lang/Object"
	// caught has code with a handler at 4, whose frame has the type on its stack.
	caught := func(name string, h crafted.Handler, catch, inFrame string) faultCase {
		return faultCase{name, func(a *crafted.Class) crafted.Method {
			if catch != "" {
				h.Catch = a.ClassIndex(catch)
			}
			frame := bytecode(64+4, 7, a.ClassIndex(inFrame))
			return framed(handledBy(faulty(1, 0, code.Sipush, uint16(0), code.Pop, code.Return, code.Pop, code.Return),
				h), bytecode(64+5, frame[1:]))
		}}
	}
	variable := func(name string, start, length uint16) faultCase {
		return faultCase{name, func(a *crafted.Class) crafted.Method {
			m := faulty(1, 1, code.Sipush, uint16(0), code.Istore0, code.Return)
			m.Attributes = []crafted.Attribute{{Name: "LocalVariableTable",
				Info: crafted.U2(1, start, length, a.Utf8("f"), a.Utf8("I"), 0)}}
			return m
		}}
	}
	return []faultCase{
		caught("a handler that covers nothing", crafted.Handler{Start: 3, End: 3, Handler: 5}, "",
			"java/lang/Throwable"),
		caught("a handler that covers more than the code", crafted.Handler{Start: 0, End: 9, Handler: 5}, "",
			"java/lang/Throwable"),
		caught("a handler behind the code", crafted.Handler{Start: 0, End: 3, Handler: 9}, "", "java/lang/Throwable"),
		caught("a handler that begins to cover in an instruction", crafted.Handler{Start: 1, End: 4, Handler: 5}, "",
			"java/lang/Throwable"),
		caught("a handler that ends to cover in an instruction", crafted.Handler{Start: 0, End: 2, Handler: 5}, "",
			"java/lang/Throwable"),
		caught("a handler in an instruction", crafted.Handler{Start: 3, End: 4, Handler: 1}, "",
			"java/lang/Throwable"),
		caught("a handler of another class than in its frame", crafted.Handler{Start: 0, End: 3, Handler: 5},
			"java/lang/Throwable", "java/lang/Error"),
		caught("a handler of what is no Throwable", crafted.Handler{Start: 0, End: 3, Handler: 5}, "java/lang/String",
			object),
		{"a handler of a Utf8", func(a *crafted.Class) crafted.Method {
			return caught("", crafted.Handler{Start: 0, End: 3, Handler: 5, Catch: a.Utf8(object)}, "",
				"java/lang/Throwable").make(a)
		}},
		{"a handler without a frame", func(*crafted.Class) crafted.Method {
			return handledBy(faulty(1, 0, code.Nop, code.Return, code.Pop, code.Return),
				crafted.Handler{Start: 0, End: 1, Handler: 2})
		}},
		{"a handler where no word is left", func(a *crafted.Class) crafted.Method {
			return framed(handledBy(faulty(0, 0, code.Nop, code.Return, code.Return),
				crafted.Handler{Start: 0, End: 1, Handler: 2}), bytecode(64+2, 7, a.ClassIndex("java/lang/Throwable")))
		}},
		{"a frame changes what a handler may see", func(a *crafted.Class) crafted.Method {
			// 0: iconst_0, istore_0; 2: iconst_0, ifeq 6; 6 (covered): return; 7: pop, return
			return framed(handledBy(faulty(1, 1, code.Iconst0, code.Istore0, code.Iconst0, code.Ifeq, uint16(3),
				code.Nop,
				code.Return, code.Pop, code.Return), crafted.Handler{Start: 2, End: 7, Handler: 8}),
				[]byte{6}, bytecode(255, uint16(1), uint16(1), 1, uint16(1), 7, a.ClassIndex("java/lang/Throwable")))
		}},
		{"a store changes what a handler loads", func(a *crafted.Class) crafted.Method {
			return framed(handledBy(faulty(1, 1, code.Iconst0, code.Istore0, code.Nop, code.Fconst0, code.Fstore0,
				code.Nop,
				code.Return, code.Pop, code.Iload0, code.Pop, code.Return), crafted.Handler{Start: 2, End: 6,
				Handler: 7}),
				bytecode(255, uint16(7), uint16(1), 1, uint16(1), 7, a.ClassIndex("java/lang/Throwable")))
		}},
		variable("a variable that begins in an instruction", 1, 4),
		variable("a variable that ends in an instruction", 0, 2),
		variable("a variable that ends behind the code", 0, 9),

		method("code behind a goto without a frame", framed(faulty(1, 0, code.Goto, uint16(4), code.Nop, code.Return),
			[]byte{4})),
		method("code behind a return without a frame", faulty(1, 0, code.Return, code.Return)),
		method("code behind a goto_w without a frame", framed(faulty(1, 0, code.GotoW, uint16(0), uint16(6), code.Nop,
			code.Return), []byte{6})),
		method("a goto_w to where no frame is", framed(faulty(1, 0, code.GotoW, uint16(0), uint16(6), code.Nop,
			code.Return), []byte{5})),
		method("code behind a switch without a frame", framed(faulty(1, 0, code.Iconst0, code.Tableswitch, uint16(0),
			uint16(0), uint16(20), uint16(0), uint16(0), uint16(0), uint16(0), uint16(0), uint16(20), code.Nop,
			code.Return), []byte{21})),
		method("a default to where no frame is", framed(faulty(1, 0, code.Iconst0, code.Tableswitch, uint16(0),
			uint16(0), uint16(19), uint16(0), uint16(0), uint16(0), uint16(0), uint16(0), uint16(20), code.Nop,
			code.Return), []byte{21})),
		method("a case to where no frame is", framed(faulty(1, 0, code.Iconst0, code.Tableswitch, uint16(0),
			uint16(0), uint16(20), uint16(0), uint16(0), uint16(0), uint16(0), uint16(0), uint16(18), code.Nop,
			code.Return), []byte{21})),
		method("a branch to where no frame is", faulty(1, 0, code.Iconst0, code.Ifeq, uint16(4), code.Return,
			code.Return)),
		method("a branch into an instruction", framed(faulty(1, 0, code.Iconst0, code.Ifeq, uint16(4), code.Sipush,
			uint16(0),
			code.Pop, code.Return), []byte{5})),
		method("a branch behind the code", faulty(1, 0, code.Iconst0, code.Ifeq, uint16(4), code.Return)),
		method("ifnull of an int", framed(faulty(1, 0, code.Iconst0, code.Ifnull, uint16(3), code.Return), []byte{4})),
		method("ifeq of null", framed(faulty(1, 0, code.AconstNull, code.Ifeq, uint16(3), code.Return), []byte{4})),
		method("if_acmpeq of an int", framed(faulty(2, 0, code.AconstNull, code.Iconst0, code.IfAcmpeq, uint16(3),
			code.Return), []byte{5})),
		method("a frame of a word that is not there", framed(faulty(1, 0, code.Nop, code.Return), []byte{64 + 1, 1})),
		method("a frame of a local that is not there", framed(faulty(1, 1, code.Nop, code.Return), []byte{252, 0, 1,
			1})),
		{"what a frame made of a String on the stack", func(a *crafted.Class) crafted.Method {
			m := framed(returning("(Ljava/lang/String;)Ljava/lang/String;", faulty(1, 1, code.Aload0, code.Nop,
				code.Areturn)), bytecode(64+1, 7, a.ClassIndex(object)))
			return m
		}},
		{"what a frame made of a String in a local", func(a *crafted.Class) crafted.Method {
			return framed(returning("(Ljava/lang/String;)Ljava/lang/String;", faulty(1, 1, code.Nop, code.Aload0,
				code.Areturn)), bytecode(255, uint16(1), uint16(1), 7, a.ClassIndex(object), uint16(0)))
		}},
		method("a local that a frame left out", framed(faulty(1, 1, code.Iconst0, code.Istore0, code.Nop, code.Iload0,
			code.Pop, code.Return), []byte{2})),
	}
}

// handledBy is the method with an exception table.
func handledBy(m crafted.Method, handlers ...crafted.Handler) crafted.Method {
	m.Handlers = handlers
	return m
}

// frameOfLocals is a full_frame without values on the stack.
func frameOfLocals(delta uint16, locals ...byte) []byte {
	return bytecode(255, delta, uint16(len(locals)), locals, uint16(0))
}

// frameFaults are methods whose StackMapTable is malformed.
func frameFaults() []faultCase {
	table := func(name string, info ...byte) faultCase {
		m := faulty(2, 1, code.Nop, code.Goto, uint16(3), code.Return)
		m.Attributes = []crafted.Attribute{{Name: "StackMapTable", Info: info}}
		return method(name, m)
	}
	return []faultCase{
		{"a StackMapTable of one byte", func(*crafted.Class) crafted.Method {
			m := faulty(0, 0, code.Return)
			m.Attributes = []crafted.Attribute{{Name: "StackMapTable", Info: []byte{0}}}
			return m
		}},
		table("a frame too many in a StackMapTable", 0, 1, 4, 0),
		table("a frame too few in a StackMapTable", 0, 2, 4),
		table("a reserved frame", 0, 1, 200, 0, 4),
		table("a frame cut off", 0, 1, 251, 0),
		table("a local cut off", 0, 1, 252, 0, 4),
		table("an unknown local", 0, 1, 252, 0, 4, 9),
		table("a class cut off", 0, 1, 252, 0, 4, 7, 0),
		table("a local of no class", 0, 1, 252, 0, 4, 7, 0, 1),
		table("a local of a nop as a new", 0, 1, 252, 0, 4, 8, 0, 0),
		table("a full_frame without counts", 0, 1, 255, 0, 4),
		table("a full_frame without the count of its stack", 0, 1, 255, 0, 4, 0, 0),
		table("a chop_frame of more than there is", 0, 1, 250, 0, 4),
		method("a nop as the new of a local", framed(faulty(0, 1, code.Goto, uint16(4), code.Return, code.Return),
			[]byte{252, 0, 3, 8, 0, 3}, []byte{250, 0, 0})),
		method("a new behind the code", framed(faulty(0, 1, code.Goto, uint16(4), code.Return, code.Return),
			[]byte{252, 0, 3, 8, 0, 5}, []byte{250, 0, 0})),
		method("a word in a frame where none is left", framed(faulty(0, 0, code.Goto, uint16(4), code.Return,
			code.Return),
			[]byte{64 + 3, 1}, []byte{0})),
		method("a word in a longer frame where none is left", framed(faulty(0, 0, code.Goto, uint16(4), code.Return,
			code.Return), []byte{247, 0, 3, 1}, []byte{0})),
	}
}

// constructorFaults are constructors that do not call another once on each path.
func constructorFaults() []faultCase {
	call := func(a *crafted.Class) []any {
		return []any{code.Aload0, code.Invokespecial, a.Methodref("far/Base", "<init>", "()V")}
	}
	return []faultCase{
		{"a constructor that returns before it calls another", func(*crafted.Class) crafted.Method {
			return asConstructor(faulty(1, 1, code.Return))
		}},
		{"a constructor that returns where a frame says that it has called none",
			func(a *crafted.Class) crafted.Method {
				return asConstructor(framed(faulty(1, 1, append(call(a), code.Return, code.Return)...), frameOfLocals(5, 6)))
			}},
		{"a constructor that returns where a frame adds what it has not initialised",
			func(a *crafted.Class) crafted.Method {
				return asConstructor(framed(faulty(1, 1, append(call(a), code.Return, code.Goto, uint16(0),
					code.Return)...),
					frameOfLocals(5), bytecode(252, uint16(2), 6)))
			}},
		{"a constructor that returns where a frame adds to what it has not initialised",
			func(a *crafted.Class) crafted.Method {
				return asConstructor(framed(faulty(1, 2, append(call(a), code.Return, code.Goto, uint16(0),
					code.Return)...),
					frameOfLocals(5, 6), bytecode(252, uint16(2), 1)))
			}},
		{"a constructor whose frame has forgotten what it has not initialised", func(*crafted.Class) crafted.Method {
			return asConstructor(framed(faulty(1, 1, code.Nop, code.Goto, uint16(0)), bytecode(250, uint16(1))))
		}},
		{"a constructor whose frame has overwritten what it has not initialised", func(*crafted.Class) crafted.Method {
			return asConstructor(framed(faulty(1, 1, code.Iconst0, code.Istore0, code.Goto, uint16(4), code.Return,
				code.Goto, uint16(0)), frameOfLocals(5), bytecode(252, uint16(0), 1)))
		}},
		{"a constructor whose call of another is covered", func(a *crafted.Class) crafted.Method {
			return asConstructor(framed(handledBy(faulty(1, 1, append(call(a), code.Return, code.Athrow)...),
				crafted.Handler{Start: 1, End: 4, Handler: 5}),
				bytecode(255, uint16(5), uint16(1), 6, uint16(1), 7, a.ClassIndex("java/lang/Throwable"))))
		}},
		{"a constructor that calls another twice", func(a *crafted.Class) crafted.Method {
			return asConstructor(faulty(1, 1, append(call(a), append(call(a), code.Return)...)...))
		}},
		{"a constructor that calls one of a class that is not its superclass", func(a *crafted.Class) crafted.Method {
			return asConstructor(faulty(1, 1, code.Aload0, code.Invokespecial, a.Methodref("java/lang/Object",
				"<init>", "()V"),
				code.Return))
		}},
	}
}

// correctMethods are methods without a fault.
func correctMethods() []faultCase {
	const object = "java/lang/Object"
	made := func(a *crafted.Class, then ...any) []any {
		return append([]any{code.New, a.ClassIndex(object)}, then...)
	}
	return []faultCase{
		{"a handler of all code", func(a *crafted.Class) crafted.Method {
			m := framed(faulty(1, 0, code.Return, code.Pop, code.Return), bytecode(64+1, 7,
				a.ClassIndex("java/lang/Throwable")))
			m.Handlers = []crafted.Handler{{Start: 0, End: 3, Handler: 1}}
			return m
		}},
		{"a new in a local above others that are stored later", func(a *crafted.Class) crafted.Method {
			return returning("()Ljava/lang/Object;", faulty(3, 6, made(a, code.Dup, code.Astore, 5, code.Lconst0,
				code.Lstore0, code.Invokespecial, a.Methodref(object, "<init>", "()V"), code.Aload, 5, code.Areturn)...))
		}},
		{"a new in a local above another that is stored later", func(a *crafted.Class) crafted.Method {
			return returning("()Ljava/lang/Object;", faulty(2, 6, made(a, code.Dup, code.Astore, 5, code.Iconst0,
				code.Istore0, code.Invokespecial, a.Methodref(object, "<init>", "()V"), code.Aload, 5, code.Areturn)...))
		}},
		{"a constructor that uses what it initialised", func(a *crafted.Class) crafted.Method {
			return asConstructor(faulty(2, 1, code.Aload0, code.Invokespecial, a.Methodref("far/Base", "<init>",
				"()V"),
				code.Aload0, code.Iconst0, code.Putfield, a.Fieldref("T", "x", "I"), code.Return))
		}},
	}
}

// seenByHandlers are methods with faults that mutants seldom have.
var seenByHandlers = []faultCase{
	{"a store changes what a handler may see", func(a *crafted.Class) crafted.Method {
		return handled(a, 1, []byte{255, 0, 7, 0, 1, 1, 0, 1}, 2, 6, crafted.Op(code.Iconst0, byte(code.Istore0),
			byte(code.Nop), byte(code.Fconst0), byte(code.Fstore0), byte(code.Nop), byte(code.Return)))
	}},
	{"a store of two words changes what a handler may see", func(a *crafted.Class) crafted.Method {
		return handled(a, 2, []byte{255, 0, 7, 0, 1, 4, 0, 1}, 2, 6, crafted.Op(code.Lconst0, byte(code.Lstore0),
			byte(code.Nop), byte(code.Dconst0), byte(code.Dstore0), byte(code.Nop), byte(code.Return)))
	}},
	{"a constructor changes what a handler may see", func(a *crafted.Class) crafted.Method {
		class := crafted.U2(a.ClassIndex("java/lang/Object"))
		return handled(a, 1, []byte{255, 0, 9, 0, 1, 8, 0, 0, 0, 1}, 5, 8, slices.Concat(
			crafted.Op(code.New, class...), crafted.Op(code.Dup, byte(code.Astore0)),
			crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("java/lang/Object", "<init>", "()V"))...),
			crafted.Op(code.Return)))
	}},
	{"uninitialized refers to an operand", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Sipush, 0, byte(code.New), byte(code.Pop), byte(code.Return), byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 5, 0, 1, 8, 0, 2, 0, 0})}}
	}},
	{"a frame in an instruction", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Sipush, 0, 0, byte(code.Pop), byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{2})}}
	}},
	{"a frame behind the code", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Return),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{2})}}
	}},
	{"a frame of too many locals", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Return, byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{254, 0, 1, 1, 1, 1})}}
	}},
	{"a frame of too many words on the stack", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Return, byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 1, 0, 0, 0, 2, 1, 1})}}
	}},
	{"a protected constructor of another package", func(a *crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code: slices.Concat(crafted.Op(code.New, crafted.U2(a.ClassIndex("far/Base"))...),
				crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("far/Base", "<init>", "()V"))...),
				crafted.Op(code.Return))}
	}},
	{"a lookupswitch without cases at the end", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code: slices.Concat(crafted.Op(code.Iconst0, byte(code.Goto), 0, 3), crafted.Op(code.Lookupswitch, 0, 0, 0),
				[]byte{0xFF, 0xFF, 0xFF, 0xFC}, []byte{0, 0, 0, 0}),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{0}, []byte{64 + 3, 1})}}
	}},
}

// handled is a static method with a handler that catches everything from start to end and stands behind the code. The
// frame lacks only the class on its stack.
func handled(a *crafted.Class, words uint16, frame []byte, start, end uint16, bytecode []byte) crafted.Method {
	frame = slices.Concat(frame, []byte{7}, crafted.U2(a.ClassIndex("java/lang/Throwable")))
	return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 2, MaxLocals: words,
		Code:       append(bytecode, byte(code.Athrow)),
		Handlers:   []crafted.Handler{{Start: start, End: end, Handler: uint16(len(bytecode))}},
		Attributes: []crafted.Attribute{crafted.Frames(frame)}}
}

// TestFaults compares what is found in methods with a fault each, and in correct ones, by frames and by inference, with
// testdata/faults.txt.
//
// Invariant: The type checker finds each of some hundred faults by its rule, by frames and by inference.
func TestFaults(t *testing.T) {
	var b strings.Builder
	for _, cases := range [][]faultCase{seenByHandlers, constantFaults(), uninitializedFaults(), stackFaults(),
		flowFaults(), frameFaults(), constructorFaults(), dynamicFaults(), interfaceFaults(), specialFaults(),
		topFaults(), targetFaults(), mismatchFaults(), decodingFaults(), correctMethods(),
		correctFrames()} {
		for _, c := range cases {
			for _, major := range []uint16{52, 49} {
				a := crafted.NewClass(major, "T", "far/Base")
				a.Add(c.make(a))
				fmt.Fprintf(&b, "%s, version %d\n", c.name, major)
				for _, f := range types.Check(a.Parse(t), smallWorld(t)) {
					fmt.Fprintf(&b, "\t%v\n", f)
				}
			}
		}
	}
	golden.Compare(t, "testdata/faults.txt", b.String())
}
