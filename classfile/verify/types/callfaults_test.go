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
		named("a Dynamic of two words where one is left", "()V", 1, condy("J"), func(i uint16) []any {
			return []any{code.Ldc2W, i, code.Return}
		}),
		named("ldc_w of an InvokeDynamic", object, 1, indy("d", "()V"), func(i uint16) []any {
			return []any{code.LdcW, i, code.Areturn}
		}),
		named("invokedynamic of a Dynamic", "()V", 1, condy("I"), call(nil, 0, 0)),
		named("invokedynamic with a first byte that is not zero", "()V", 1, indy("d", "()V"), call(nil, 1, 0)),
		named("invokedynamic with a second byte that is not zero", "()V", 1, indy("d", "()V"), call(nil, 0, 1)),
		named("invokedynamic of a constructor", "()V", 1, indy("<init>", "()V"), call(nil, 0, 0)),
		named("invokedynamic of a class initializer", "()V", 1, indy("<clinit>", "()V"), call(nil, 0, 0)),
		named("invokedynamic without an argument", "()V", 1, indy("d", "(I)V"), call(nil, 0, 0)),
		named("invokedynamic of an int and null as a float", "()V", 2, indy("d", "(F)V"),
			call([]any{code.AconstNull, code.Iconst0}, 0, 0)),
		named("invokedynamic of a float as an int", "()V", 1, indy("d", "(I)V"), call([]any{code.Fconst0}, 0, 0)),
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
		named("invokeinterface of an array", "([I)V", 1, method("g", "()V"), func(i uint16) []any {
			return []any{code.Aload0, code.Invokeinterface, i, 1, 0, code.Return}
		}),
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
