package types_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// named makes a faultCase of code with a constant.
func named(name, descriptor string, stack uint16, constant func(a *crafted.Class) uint16,
	parts func(i uint16) []any) faultCase {
	return faultCase{name, func(a *crafted.Class) crafted.Method {
		return returning(descriptor, faulty(stack, 2, parts(constant(a))...))
	}}
}

// dynamicFaults are methods that use a Dynamic or InvokeDynamic wrongly.
func dynamicFaults() []faultCase {
	condy := func(descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 {
			a.Major = max(a.Major, 55)
			return a.Bootstrapped(classfile.TagDynamic, "d", descriptor)
		}
	}
	indy := func(name, descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return a.Bootstrapped(classfile.TagInvokeDynamic, name, descriptor) }
	}
	call := func(before []any, operand ...any) func(i uint16) []any {
		return func(i uint16) []any {
			return slices.Concat(before, []any{code.Invokedynamic, i}, operand, []any{code.Return})
		}
	}
	const object = "()Ljava/lang/Object;"
	return []faultCase{
		named("ldc of a Dynamic of two words", "()V", 2, condy("J"), func(i uint16) []any {
			return []any{code.Ldc, int(i), code.Return}
		}),
		named("ldc_w of a Dynamic of two words", "()V", 2, condy("D"), func(i uint16) []any {
			return []any{code.LdcW, i, code.Return}
		}),
		named("ldc2_w of a Dynamic of one word", "()V", 2, condy("I"), func(i uint16) []any {
			return []any{code.Ldc2W, i, code.Pop, code.Return}
		}),
		named("ldc2_w of a Dynamic of an object", "()V", 2, condy("Ljava/lang/String;"), func(i uint16) []any {
			return []any{code.Ldc2W, i, code.Pop, code.Return}
		}),
		named("a Dynamic of an int as an object", object, 1, condy("I"), func(i uint16) []any {
			return []any{code.LdcW, i, code.Areturn}
		}),
		named("a Dynamic of an object as a String", "()Ljava/lang/String;", 1, condy("Ljava/lang/Object;"),
			func(i uint16) []any { return []any{code.LdcW, i, code.Areturn} }),
		named("a Dynamic of a long as a double", "()D", 2, condy("J"), func(i uint16) []any {
			return []any{code.Ldc2W, i, code.Dreturn}
		}),
		named("a Dynamic where no word is left", "()V", 1, condy("I"), func(i uint16) []any {
			return []any{code.LdcW, i, code.LdcW, i, code.Return}
		}),
		named("a Dynamic of two words where one is left", "()V", 1, condy("J"), func(i uint16) []any {
			return []any{code.Ldc2W, i, code.Return}
		}),
		named("ldc_w of an InvokeDynamic", object, 1, indy("d", "()V"), func(i uint16) []any {
			return []any{code.LdcW, i, code.Areturn}
		}),
		named("invokedynamic of a Dynamic", "()V", 1, condy("I"), call(nil, 0, 0)),
		named("invokedynamic with a first byte that is not zero", "()V", 1, indy("d", "()V"), call(nil, 1, 0)),
		named("invokedynamic with a second byte that is not zero", "()V", 1, indy("d", "()V"), call(nil, 0, 1)),
		named("invokedynamic with bytes of 255", "()V", 1, indy("d", "()V"), call(nil, 255, 255)),
		named("invokedynamic with a second byte that is not zero, and nop", "()V", 1, indy("d", "()V"), call(nil, 0, 1,
			code.Nop, code.Nop)),
		named("invokedynamic with a first byte that is not zero, and nop", "()V", 1, indy("d", "()V"), call(nil, 1, 0,
			code.Nop, code.Nop)),
		{"invokedynamic of constant 256 with a second byte that is not zero", func(a *crafted.Class) crafted.Method {
			pair := a.NameAndType("d", "()V")
			a.Bootstrapped(classfile.TagInvokeDynamic, "other", "()V")
			fillPool(a, 0x0100)
			i := a.Constant(classfile.TagInvokeDynamic, crafted.U2(0, pair)...)
			return faulty(1, 0, code.Invokedynamic, i, 0, 1, code.Return)
		}},
		named("invokedynamic again, with a byte that is not zero", "()V", 1, indy("d", "()V"), func(i uint16) []any {
			return []any{code.Invokedynamic, i, 0, 0, code.Invokedynamic, i, 0, 1, code.Return}
		}),
		named("invokedynamic of a constructor", "()V", 1, indy("<init>", "()V"), call(nil, 0, 0)),
		named("invokedynamic of a class initializer", "()V", 1, indy("<clinit>", "()V"), call(nil, 0, 0)),
		named("invokedynamic without an argument", "()V", 1, indy("d", "(I)V"), call(nil, 0, 0)),
		named("invokedynamic of an int and null as a float", "()V", 2, indy("d", "(F)V"),
			call([]any{code.AconstNull, code.Iconst0}, 0, 0)),
		named("invokedynamic of a float as an int", "()V", 1, indy("d", "(I)V"), call([]any{code.Fconst0}, 0, 0)),
		named("invokedynamic with a result where no word is left", "()V", 0, indy("d", "()I"), call(nil, 0, 0)),
	}
}

// interfaceFaults are methods that call a method of an interface wrongly.
func interfaceFaults() []faultCase {
	method := func(name, descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return interfaceMethod(a, name, descriptor) }
	}
	cases := []faultCase{
		named("invokeinterface of a class initializer", "()V", 1, method("<clinit>", "()V"), func(i uint16) []any {
			return []any{code.AconstNull, code.Invokeinterface, i, 1, 0, code.Return}
		}),
		named("invokeinterface of a constructor", "()V", 1, method("<init>", "()V"), func(i uint16) []any {
			return []any{code.AconstNull, code.Invokeinterface, i, 1, 0, code.Return}
		}),
		named("invokeinterface again, with another count", "()V", 1, method("g", "()V"), func(i uint16) []any {
			return []any{code.AconstNull, code.Invokeinterface, i, 1, 0, code.AconstNull, code.Invokeinterface, i, 2, 0,
				code.Return}
		}),
		named("invokeinterface again, with a byte that is not zero", "()V", 1, method("g", "()V"), func(i uint16) []any {
			return []any{code.AconstNull, code.Invokeinterface, i, 1, 0, code.AconstNull, code.Invokeinterface, i, 1, 1,
				code.Return}
		}),
		named("invokeinterface with a byte that is not zero, before nop", "()V", 1, method("g", "()V"),
			func(i uint16) []any {
				return []any{code.AconstNull, code.Invokeinterface, i, 1, 1, code.Nop, code.Return}
			}),
		named("invokeinterface with a byte of 255", "()V", 1, method("g", "()V"), func(i uint16) []any {
			return []any{code.AconstNull, code.Invokeinterface, i, 1, 255, code.Return}
		}),
		named("invokeinterface of an array", "([I)V", 1, method("g", "()V"), func(i uint16) []any {
			return []any{code.Aload0, code.Invokeinterface, i, 1, 0, code.Return}
		}),
		{"invokeinterface with a count that is its constant's index", func(a *crafted.Class) crafted.Method {
			owner, pair := a.ClassIndex("far/Face"), a.NameAndType("g", "()V")
			fillPool(a, 0x0101)
			i := a.Constant(classfile.TagInterfaceMethodref, crafted.U2(owner, pair)...)
			return faulty(1, 0, code.AconstNull, code.Invokeinterface, i, 9, 0, code.Return)
		}},
	}
	for count := range 6 {
		if count != 3 {
			cases = append(cases, named(fmt.Sprintf("invokeinterface of a long with a count of %d", count), "()V", 3,
				method("g", "(J)V"), func(i uint16) []any {
					return []any{code.AconstNull, code.Lconst0, code.Invokeinterface, i, count, 0, code.Return}
				}))
		}
	}
	return cases
}

// fillPool adds constants up to an index.
func fillPool(a *crafted.Class, to uint16) {
	for a.Count < to {
		a.Constant(classfile.TagFloat, crafted.U2(1, a.Count)...)
	}
}

// specialFaults are methods that call one of a superclass or superinterface by invokespecial wrongly.
func specialFaults() []faultCase {
	base := func(a *crafted.Class) uint16 { return a.Methodref("far/Base", "g", "()V") }
	face := func(a *crafted.Class) uint16 { return interfaceMethod(a, "g", "()V") }
	special := func(before ...any) func(i uint16) []any {
		return func(i uint16) []any {
			return append(before[:len(before):len(before)], code.Invokespecial, i, code.Return)
		}
	}
	ofClass := func(c faultCase, major uint16, super string, interfaces ...string) faultCase {
		return faultCase{c.name, func(a *crafted.Class) crafted.Method {
			a.Major, a.Super, a.Interfaces = min(a.Major, major), super, interfaces
			m := c.make(a)
			m.Access = classfile.AccPublic
			return m
		}}
	}
	const own = "far/Base"
	return []faultCase{
		ofClass(named("invokespecial of a superinterface's method before version 52", "()V", 1, face,
			special(code.Aload0)), 51, own, "far/Face"),
		ofClass(named("invokestatic of an interface's method before version 52", "()V", 1, face, func(i uint16) []any {
			return []any{code.Invokestatic, i, code.Return}
		}), 51, own, "far/Face"),
		ofClass(named("invokespecial of an interface's method that is no superinterface", "()V", 1, face,
			special(code.Aload0)), 52, own),
		named("invokespecial of an object of the superclass", "(Lfar/Base;)V", 1, base, special(code.Aload0)),
		named("invokespecial of an int", "()V", 1, base, special(code.Iconst0)),
		named("invokespecial without an object", "()V", 1, base, special()),
		{"invokespecial of an uninitialized object", func(a *crafted.Class) crafted.Method {
			return faulty(1, 0, code.New, a.ClassIndex(own), code.Invokespecial, base(a), code.Return)
		}},
		{"invokespecial in a constructor before another", func(a *crafted.Class) crafted.Method {
			return asConstructor(faulty(1, 1, code.Aload0, code.Invokespecial, base(a), code.Aload0, code.Invokespecial,
				a.Methodref(own, "<init>", "()V"), code.Return))
		}},
		{"a result of two words of an interface's constructor where one is left", func(a *crafted.Class) crafted.Method {
			a.Major = max(a.Major, 65)
			return faulty(1, 0, code.New, a.ClassIndex("far/Face"), code.Invokespecial,
				interfaceMethod(a, "<init>", "()J"), code.Return)
		}},
	}
}

// indexFaults are methods that use the one constant of its index that is wrong: all others would be right.
func indexFaults() []faultCase {
	const n, wide = 700, 258
	// pool has constants for floats, up to index n, but for one of an int.
	pool := func(a *crafted.Class, wrong uint16) {
		for i := uint16(1); i <= n; i++ {
			tag := classfile.TagFloat
			if i == wrong {
				tag = classfile.TagInteger
			}
			a.Constant(tag, crafted.U2(1, i)...)
		}
	}
	loading := func(name string, wrong uint16, parts ...any) faultCase {
		return faultCase{name, func(a *crafted.Class) crafted.Method {
			pool(a, wrong)
			return faulty(1, 1, parts...)
		}}
	}
	return []faultCase{
		loading("ldc_w of an int as a float", wide, code.LdcW, uint16(wide), code.Fstore0, code.Return),
		loading("ldc of an int as a float", 1, code.Ldc, 1, code.Fstore0, code.Return),
		loading("ldc_w of an int as a float again", wide, code.LdcW, uint16(wide), code.Pop, code.LdcW, uint16(wide),
			code.Fstore0, code.Return),
		loading("ldc of an int as a float again", 1, code.Ldc, 1, code.Pop, code.Ldc, 1, code.Fstore0, code.Return),
		{"ldc2_w of a long as a double", func(a *crafted.Class) crafted.Method {
			for a.Count < n {
				tag := classfile.TagDouble
				if a.Count == wide-1 {
					tag = classfile.TagLong
				}
				a.Constant(tag, crafted.U2(1, 2, 3, a.Count)...)
				a.Count++
			}
			return faulty(2, 2, code.Ldc2W, uint16(wide-1), code.Dstore0, code.Return)
		}},
		{"a field of an int as a float, where all others have floats", func(a *crafted.Class) crafted.Method {
			var parts []any
			class, float, int := a.ClassIndex("T"), a.NameAndType("x", "F"), a.NameAndType("x", "I")
			for i := a.Count; i <= n; i++ {
				known := a.Known
				a.Known = map[string]uint16{} // so that there are equal ones
				if i == wide {
					a.Constant(classfile.TagFieldref, crafted.U2(class, int)...)
				} else {
					a.Constant(classfile.TagFieldref, crafted.U2(class, float)...)
				}
				a.Known = known
				parts = append(parts, code.Getstatic, i, code.Pop)
			}
			return faulty(1, 1, append(parts, code.Getstatic, uint16(wide), code.Fstore0, code.Return)...)
		}},
		{"anewarray by an index that looks like the type of an array", func(a *crafted.Class) crafted.Method {
			fillPool(a, 0x0401)
			class := a.Constant(classfile.TagClass, crafted.U2(a.Utf8("T"))...)
			return faulty(2, 0, code.Iconst0, code.Anewarray, class, code.Iconst0, code.Baload, code.Return)
		}},
		method("newarray of no type before iconst_1", faulty(2, 0, code.Iconst0, code.Newarray, 3, code.Iconst1,
			code.Return)),
		method("an array of a float's length above an int", faulty(2, 0, code.Iconst0, code.Fconst0, code.Newarray, 10,
			code.Return)),
		{"checkcast of an int above an object", func(a *crafted.Class) crafted.Method {
			return faulty(2, 0, code.AconstNull, code.Iconst0, code.Checkcast, a.ClassIndex("T"), code.Return)
		}},
		{"instanceof of an int above an object", func(a *crafted.Class) crafted.Method {
			return faulty(2, 0, code.AconstNull, code.Iconst0, code.Instanceof, a.ClassIndex("T"), code.Return)
		}},
		{"a store of two words changes ints that a handler may see", func(a *crafted.Class) crafted.Method {
			return handled(a, 2, []byte{255, 0, 7, 0, 1, 1, 0, 1}, 2, 6, crafted.Op(code.Iconst0, byte(code.Istore0),
				byte(code.Nop), byte(code.Dconst0), byte(code.Dstore0), byte(code.Nop), byte(code.Return)))
		}},
		method("a long that a frame left out", framed(faulty(2, 2, code.Lconst0, code.Lstore0, code.Nop, code.Lload0,
			code.Return), []byte{2})),
		method("iload_0 of nothing before 4, as which local 4 would fit", faulty(2, 5, code.Iconst0, code.Istore, 4,
			code.Iload0, code.Iconst1, code.Return)),
		method("iload of nothing before 4, as which local 4 would fit", faulty(2, 9, code.Iconst0, code.Istore, 4,
			code.Iload, 8, code.Iconst1, code.Return)),
		method("iload of nothing behind 4, as which local 4 would fit", faulty(2, 9, code.Iconst0, code.Istore, 4,
			code.Iconst1, code.Iload, 8, code.Return)),
		method("iload of nothing, where the local of its opcode would fit", faulty(2, 22, code.Iconst0, code.Istore,
			int(code.Iload), code.Iload, 8, code.Return)),
		method("istore_0 before 4, and a load of local 4", faulty(2, 5, code.Iconst0, code.Istore0, code.Iconst1,
			code.Iload, 4, code.Return)),
		method("lstore_0 before 4, and a load of local 4", faulty(3, 6, code.Lconst0, code.Lstore0, code.Iconst1,
			code.Lload, 4, code.Return)),
		{"putstatic of a long without a value", func(a *crafted.Class) crafted.Method {
			return faulty(2, 0, code.Putstatic, a.Fieldref("T", "x", "J"), code.Return)
		}},
	}
}

// topFaults are methods that use a word of no type, which a frame has put on the stack.
func topFaults() (cases []faultCase) {
	add := func(name string, words int, parts func(a *crafted.Class) []any) {
		cases = append(cases, faultCase{name + " of no type", func(a *crafted.Class) crafted.Method {
			m := faulty(6, 1, append([]any{code.Goto, uint16(0)}, parts(a)...)...)
			m.Code = append(m.Code, byte(code.Return))
			end := uint16(len(m.Code) - 1)
			copy(m.Code[1:], crafted.U2(end)) // nothing leads to the first frame
			return framed(m, bytecode(255, uint16(3), uint16(0), uint16(words), make([]byte, words)),
				frameOfLocals(end-4))
		}})
	}
	for _, op := range []code.Op{code.Pop, code.Dup, code.Istore0, code.Astore0, code.Ifeq, code.Ifnull, code.Arraylength,
		code.Monitorenter, code.Areturn, code.Athrow, code.Ireturn, code.I2l} {
		add(op.String(), 1, func(*crafted.Class) []any {
			if op.Size() == 3 {
				return []any{op, uint16(3), code.Return}
			}
			return []any{op, code.Return}
		})
	}
	for _, op := range []code.Op{code.Pop2, code.Dup2, code.DupX1, code.Swap, code.Iadd, code.Lstore0, code.Iaload,
		code.Aaload, code.IfAcmpeq, code.IfIcmpeq} {
		add(op.String(), 2, func(*crafted.Class) []any {
			if op.Size() == 3 {
				return []any{op, uint16(3), code.Return}
			}
			return []any{op, code.Return}
		})
	}
	for _, op := range []code.Op{code.Iastore, code.Aastore} {
		add(op.String(), 3, func(*crafted.Class) []any { return []any{op, code.Return} })
	}
	add("newarray", 1, func(*crafted.Class) []any { return []any{code.Newarray, 10, code.Return} })
	for _, op := range []code.Op{code.Anewarray, code.Checkcast, code.Instanceof} {
		add(op.String(), 1, func(a *crafted.Class) []any { return []any{op, a.ClassIndex("T"), code.Return} })
	}
	for _, op := range []code.Op{code.Putstatic, code.Getfield} {
		for _, descriptor := range []string{"I", "Ljava/lang/Object;"} {
			add(op.String()+" "+descriptor, 1, func(a *crafted.Class) []any {
				return []any{op, a.Fieldref("T", "x", descriptor), code.Return}
			})
		}
	}
	for _, descriptor := range []string{"(I)V", "(Ljava/lang/Object;)V", "(J)V"} {
		add("invokestatic "+descriptor, 2, func(a *crafted.Class) []any {
			return []any{code.Invokestatic, a.Methodref("T", "g", descriptor), code.Return}
		})
	}
	for _, op := range []code.Op{code.Invokevirtual, code.Invokespecial} {
		add(op.String(), 1, func(a *crafted.Class) []any {
			return []any{op, a.Methodref("java/lang/Object", "g", "()V"), code.Return}
		})
	}
	add("invokeinterface", 1, func(a *crafted.Class) []any {
		return []any{code.Invokeinterface, interfaceMethod(a, "g", "()V"), 1, 0, code.Return}
	})
	return cases
}

// TestHandlersForgotten: what is known of the handlers of a method is not taken for those of the next one.
func TestHandlersForgotten(t *testing.T) {
	a := crafted.NewClass(52, "T", "far/Base")
	throwable := bytecode(7, a.ClassIndex("java/lang/Throwable"))
	// One handler covers all code.
	a.Add(framed(handledBy(faulty(1, 0, code.Return, code.Pop, code.Return, code.Nop, code.Nop, code.Return),
		crafted.Handler{Start: 0, End: 6, Handler: 1}), bytecode(64+1, throwable), []byte{1}))
	if findings := types.Check(a.Parse(t), smallWorld(t)); len(findings) > 0 {
		t.Fatalf("the first method: %v", findings)
	}
	// Of two handlers, the second has a frame with an int.
	a.Add(framed(handledBy(faulty(1, 0, code.Nop, code.Return, code.Athrow, code.Pop, code.Return),
		crafted.Handler{Start: 0, End: 1, Handler: 2}, crafted.Handler{Start: 0, End: 1, Handler: 3}),
		bytecode(64+2, throwable), []byte{64 + 0, 1}))
	a.Methods[1].Name = "g"
	if len(types.Check(a.Parse(t), smallWorld(t))) == 0 {
		t.Error("no finding in the second method")
	}
}
