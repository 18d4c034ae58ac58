package types_test

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// targetFaults are methods that go where no frame is, though one is near.
func targetFaults() []faultCase {
	const none = 20 // behind the switch, where a return stands
	// switched has a switch of one int at 1 with that default and those cases. Position 0 has no frame, 20 or 24 has one.
	switched := func(name string, op code.Op, words ...int32) faultCase {
		b := bytecode(code.Iconst0, op, 0, 0)
		for _, w := range words {
			b = binary.BigEndian.AppendUint32(b, uint32(w))
		}
		return method(name, framed(faulty(1, 0, b, code.Return), []byte{byte(len(b))}))
	}
	cases := []faultCase{
		switched("a default of a lookupswitch back to where no frame is", code.Lookupswitch, -1, 1, 7, none-1),
		switched("a case of a lookupswitch back to where no frame is", code.Lookupswitch, none-1, 1, 7, -1),
		method("a goto cut off", faulty(1, 0, code.Goto, 0)),
		method("an ifeq cut off", faulty(1, 0, code.Iconst0, code.Ifeq, 0)),
		method("a frame behind code that does not end", framed(faulty(1, 0, code.Nop, code.Nop), []byte{9})),
		method("a handler where no frame is, though the code leads there", handledBy(faulty(1, 0, code.Nop, code.Return),
			crafted.Handler{Start: 0, End: 1, Handler: 1})),
	}
	for _, tag := range []classfile.Tag{classfile.TagFieldref, classfile.TagMethodref} {
		cases = append(cases, faultCase{fmt.Sprintf("a handler of a %v", tag), func(a *crafted.Class) crafted.Method {
			catch := a.Fieldref("java/lang/Throwable", "x", "I")
			if tag == classfile.TagMethodref {
				catch = a.Methodref("java/lang/Throwable", "x", "()V")
			}
			return framed(handledBy(faulty(1, 0, code.Nop, code.Return, code.Pop, code.Return),
				crafted.Handler{Start: 0, End: 1, Handler: 2, Catch: catch}),
				bytecode(64+2, 7, a.ClassIndex("java/lang/Throwable")))
		}})
	}
	return cases
}

// mismatchFaults are methods in which a frame has another type than the code before it, on the stack and in a local.
func mismatchFaults() (cases []faultCase) {
	type typed struct {
		name        string
		push, store code.Op
		item        []byte
	}
	all := []typed{{"an int", code.Iconst0, code.Istore0, []byte{1}}, {"a float", code.Fconst0, code.Fstore0, []byte{2}},
		{"a double", code.Dconst0, code.Dstore0, []byte{3}}, {"a long", code.Lconst0, code.Lstore0, []byte{4}},
		{"null", code.AconstNull, code.Astore0, []byte{5}}, {"an uninitialised this", 0, 0, []byte{6}},
		{"an uninitialised object", 0, 0, []byte{8, 0, 0}}}
	for _, got := range all {
		for _, want := range all {
			if got.push == 0 || got.name == want.name {
				continue
			}
			what := fmt.Sprintf("%s where a frame has %s", got.name, want.name)
			cases = append(cases, method(what+" on the stack", framed(faulty(2, 0, got.push, code.Nop, code.Return),
				append([]byte{64 + 1}, want.item...))),
				method(what+" in a local", framed(faulty(2, 2, got.push, got.store, code.Nop, code.Return),
					slices.Concat([]byte{255, 0, 2, 0, 1}, want.item, []byte{0, 0}))))
		}
	}
	return cases
}

// decodingFaults are methods with frames of unusual or of wrong form, most of them where nothing leads.
func decodingFaults() []faultCase {
	// beside has code at 3 to which only those frames lead.
	beside := func(name string, stack, locals uint16, parts []any, frames ...[]byte) faultCase {
		m := faulty(stack, locals, append([]any{code.Goto, uint16(0)}, parts...)...)
		return method(name, framed(m, append([][]byte{{0}}, frames...)...))
	}
	table := func(name string, info ...byte) faultCase {
		m := faulty(2, 1, code.Nop, code.Goto, uint16(3), code.Return)
		m.Attributes = []crafted.Attribute{{Name: "StackMapTable", Info: info}}
		return method(name, m)
	}
	cases := []faultCase{
		beside("a local that the second of two frames has not", 1, 2, []any{code.Nop, code.Iload1, code.Return},
			[]byte{253, 0, 2, 1, 1}, []byte{249, 0, 0}),
		beside("more locals in a full_frame than there are", 1, 1, []any{code.Return},
			bytecode(255, uint16(2), uint16(2), 1, 1, uint16(0))),
		beside("a long in a full_frame where one local is", 1, 1, []any{code.Return},
			bytecode(255, uint16(2), uint16(1), 4, uint16(0))),
		beside("half of a long that a frame has chopped", 2, 3, []any{code.Nop, code.Lload0, code.Return},
			[]byte{252, 0, 2, 4}, []byte{250, 0, 0}),
		beside("an int behind half of a long that a frame has chopped", 1, 3, []any{code.Goto, uint16(0), code.Goto,
			uint16(0), code.Iload1, code.Return}, []byte{252, 0, 2, 4}, []byte{250, 0, 2}, []byte{252, 0, 2, 1}),
		beside("an element of null that is of no type", 3, 0, []any{code.Aastore, code.Return},
			bytecode(255, uint16(2), uint16(0), uint16(3), 5, 1, 0)),
		beside("an index of null that is of no type", 2, 0, []any{code.Iaload, code.Return},
			bytecode(255, uint16(2), uint16(0), uint16(2), 5, 0)),
		beside("an index of null that is of no type, for a store", 3, 0, []any{code.Iastore, code.Return},
			bytecode(255, uint16(2), uint16(0), uint16(3), 5, 0, 1)),
		table("half of the count of locals", 0, 1, 255, 0, 4, 0),
		table("half of the count of words on the stack", 0, 1, 255, 0, 4, 0, 0, 0),
		{"a local of an unknown type that names a class", func(a *crafted.Class) crafted.Method {
			return framed(faulty(1, 1, code.Goto, uint16(0), code.Return), []byte{0}, bytecode(252, uint16(2), 9,
				a.ClassIndex("T")))
		}},
		{"a constructor that returns where a frame has chopped an int, and it has called none",
			func(a *crafted.Class) crafted.Method {
				m := asConstructor(framed(faulty(1, 2, code.Aload0, code.Invokespecial, a.Methodref("far/Base", "<init>",
					"()V"), code.Return, code.Goto, uint16(0), code.Return), frameOfLocals(5, 6, 1),
					bytecode(250, uint16(2))))
				m.Descriptor = "(I)V"
				return m
			}},
	}
	for op := code.Iaload; op <= code.Saload; op++ {
		for _, parts := range [][]any{{code.Aload0, code.Iconst0, op}, {code.Aload0, code.Iconst0, code.Iconst0,
			op - code.Iaload + code.Iastore}} {
			cases = append(cases, faultCase{fmt.Sprintf("an uninitialised this as the array, %v", parts),
				func(a *crafted.Class) crafted.Method {
					return asConstructor(faulty(6, 1, append(slices.Clone(parts), code.Aload0, code.Invokespecial,
						a.Methodref("far/Base", "<init>", "()V"), code.Return)...))
				}})
		}
	}
	for _, op := range []code.Op{code.Pop2, code.Dup2, code.DupX1, code.Swap} {
		for _, items := range [][]byte{{1, 0}, {0, 1}} {
			cases = append(cases, beside(fmt.Sprintf("%v of words of types %d", op, items), 4, 0, []any{op, code.Return},
				bytecode(255, uint16(2), uint16(0), uint16(2), items)))
		}
	}
	for kind := byte(128); kind < 247; kind++ { // read as a chop_frame, they would leave locals
		m := returning("("+string(slices.Repeat([]byte{'I'}, 130))+")V", faulty(1, 130, code.Nop, code.Return))
		m.Attributes = []crafted.Attribute{crafted.Frames([]byte{kind, 0, 1})}
		cases = append(cases, method(fmt.Sprintf("a reserved frame %d", kind), m))
	}
	return cases
}

// correctFrames are methods with frames of each form that are right.
func correctFrames() []faultCase {
	ints := func(name, descriptor string, locals uint16, frame ...byte) faultCase {
		m := framed(faulty(1, locals, make([]byte, int(frame[0])%64), code.Nop, code.Return), frame)
		if frame[0] >= 128 {
			m = framed(faulty(1, locals, code.Nop, code.Return), frame)
		}
		return method(name, returning(descriptor, m))
	}
	onStack := func(name string, frame ...byte) faultCase {
		return method(name, framed(faulty(1, 0, make([]byte, 62), code.Iconst0, code.Nop, code.Pop, code.Return), frame))
	}
	return []faultCase{
		ints("a same_frame of 63", "()V", 0, 63), onStack("a same_locals_1_stack_item_frame of 63", 64+63, 1),
		onStack("a same_locals_1_stack_item_frame_extended", 247, 0, 63, 1),
		ints("a same_frame_extended", "()V", 0, 251, 0, 1), ints("a chop_frame of three", "(III)V", 3, 248, 0, 1),
		ints("a chop_frame of a long", "(J)V", 2, 250, 0, 1), ints("a chop_frame of an int", "(JI)V", 3, 250, 0, 1),
		method("an append_frame of three", framed(faulty(1, 3, code.Iconst0, code.Istore0, code.Iconst0, code.Istore1,
			code.Iconst0, code.Istore2, code.Nop, code.Iload2, code.Pop, code.Return), []byte{254, 0, 6, 1, 1, 1})),
	}
}
