package equivalence_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// TestByHandBits has calls that differ in one bit from those that there must be, and calls of every size.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandBits(t *testing.T) {
	pushed := func(id uint32, push ...byte) func(h *byHand) {
		return func(h *byHand) {
			h.push, h.want.IDs = push, []uint32{id}
			h.setCode(crafted.Op(code.Return), 0)
			h.before.MaxStack = 0
		}
	}
	many := func(a *crafted.Class) {
		for a.Count < 300 {
			a.Constant(classfile.TagInteger, crafted.U2(1, a.Count)...)
		}
		a.Fieldref("Hand", "f", "I")
	}
	checkHandCases(t, []handCase{
		{name: "an ID of one byte", change: pushed(3, byte(code.Iconst3)), proven: true},
		{name: "an ID of two bytes with its upper bits", change: pushed(100, byte(code.Bipush), 100), proven: true},
		{name: "an ID of three bytes", change: pushed(300, byte(code.Sipush), 1, 44), proven: true},
		{name: "calls of constants above 255", constants: many, proven: true},
		{name: "a field above 255", constants: many, change: func(h *byHand) {
			field := crafted.U2(h.original.Fieldref("Hand", "f", "I"))
			h.setCode(slices.Concat(crafted.Op(code.Getstatic, field...), crafted.Op(code.Pop, byte(code.Return))), 4)
		}, proven: true},
		{name: "an exit call of a constant that differs in its last byte's highest bit",
			change: func(h *byHand) { h.after.Code[13] ^= 0x80 }},
		{name: "an exit call of a constant that differs in its first byte's lowest bit",
			change: func(h *byHand) { h.after.Code[12] ^= 1 }},
		{name: "an exit call whose first opcode differs in its lowest bit",
			change: func(h *byHand) { h.after.Code[9] ^= 1 }},
		{name: "an exit call of an ID that differs in its highest bit",
			change: func(h *byHand) { h.after.Code[10] ^= 0x80 }},
		{name: "a max_stack too small for the entry call, without an exit call", change: func(h *byHand) {
			h.setCode(crafted.Branch(code.Goto, 0, 0))
			h.before.MaxStack, h.after.MaxStack = 0, 0
		}},
	})
}

// TestByHandCutAttributes has Code attributes that lack a byte, or have one too many, in one of their parts.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandCutAttributes(t *testing.T) {
	const variables, grown = 47, 15 // as in TestByHandAttributes
	both := func(change func(info []byte, end int) []byte) func(before, after []byte) (was, now []byte) {
		return func(before, after []byte) (was, now []byte) { return change(before, 14), change(after, 29) }
	}
	lines := newByHand().original.Utf8("LineNumberTable")
	firstNew := newByHand().firstNew()
	checkHandCases(t, []handCase{
		{name: "one byte too much code with the calls", infos: func(_, after []byte) (was, now []byte) {
			own := append(make([]byte, 65525), byte(code.Return))
			entry, exit := after[8:13], after[17:22]
			return rawCode(0, own), rawCode(1, slices.Concat(entry, own[:65525], exit, own[65525:]))
		}},
		{name: "as much code as there may be", infos: func(_, after []byte) (was, now []byte) {
			own := append(make([]byte, 65524), byte(code.Return))
			entry, exit := after[8:13], after[17:22]
			return rawCode(0, own), rawCode(1, slices.Concat(entry, own[:65524], exit, own[65524:]))
		}, proven: true},
		{name: "half of exception_table_length", infos: both(func(info []byte, end int) []byte { return info[:end+1] })},
		{name: "half of attributes_count", infos: both(func(info []byte, end int) []byte { return info[:end+3] })},
		{name: "half of attributes_count in the rewritten class", infos: func(before, after []byte) (was, now []byte) {
			return before, after[:29+3]
		}},
		{name: "five bytes of another attribute", infos: both(func(info []byte, end int) []byte {
			info[end+3]++
			return append(info, 0, 0, 0, 0, 0)
		})},
		{name: "five bytes of another attribute in the original", infos: func(before, after []byte) (was,
			now []byte) {
			before[14+3]++
			after[29+3]++
			return append(before, 0, 0, 0, 0, 0), append(append(after, crafted.U2(lines)...), 0, 0, 0, 0)
		}},
		{name: "five bytes of another attribute in the rewritten class", infos: func(before, after []byte) (was,
			now []byte) {
			before[14+3]++
			after[29+3]++
			return append(append(before, crafted.U2(lines)...), 0, 0, 0, 0), append(after, 0, 0, 0, 0, 0)
		}},
		{name: "an attribute a byte longer than the rest in the original", infos: func(before, after []byte) (was,
			now []byte) {
			before[variables+5]++
			return before, after
		}},
		{name: "an attribute a byte longer than the rest in the rewritten class", infos: func(before,
			after []byte) (was, now []byte) {
			after[variables+grown+5]++
			return before, after
		}},
		{name: "an attribute whose name is a new constant", infos: both(func(info []byte, end int) []byte {
			binary.BigEndian.PutUint16(info[end+4:], firstNew)
			return info
		})},
	})
}

// TestByHandSecondEntries has tables of several entries, of which one is wrong.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandSecondEntries(t *testing.T) {
	type variable struct{ start, length, index uint16 }
	variables := func(was, now []variable) func(h *byHand) {
		return func(h *byHand) {
			info := func(all []variable) []byte {
				b := crafted.U2(uint16(len(all)))
				for _, v := range all {
					b = append(b, crafted.U2(v.start, v.length, h.original.Utf8("v"), h.original.Utf8("I"), v.index)...)
				}
				return b
			}
			h.before.Attributes[2].Info, h.after.Attributes[2].Info = info(was), info(now)
		}
	}
	was := []variable{{0, 6, 0}, {4, 2, 0x0102}, {4, 1, 1}, {5, 0, 2}}
	now := []variable{{0, 21, 0}, {9, 12, 0x0102}, {9, 6, 1}, {15, 0, 2}}
	but := func(n int, v variable) []variable {
		all := slices.Clone(now)
		all[n] = v
		return all
	}
	lines := func(was, now []uint16) func(h *byHand) {
		return func(h *byHand) {
			h.before.Attributes[1].Info, h.after.Attributes[1].Info = crafted.U2(was...), crafted.U2(now...)
		}
	}
	// uncalled has a handler for which there is no code.
	uncalled := func(was, now crafted.Handler) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(code.Iload0, byte(code.Pop), byte(code.Return)), 2)
			h.before.Handlers, h.after.Handlers = []crafted.Handler{was}, []crafted.Handler{now}
		}
	}
	// covered has an athrow at 3, with these handlers at 4, and no exit call before it.
	covered := func(handlers ...crafted.Handler) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(code.Iload0, byte(code.Nop), byte(code.Nop), byte(code.Athrow), byte(code.Pop),
				byte(code.Return)), 5)
			h.before.Handlers = handlers
			for _, n := range handlers {
				n.Start, n.End, n.Handler = n.Start+5, n.End+5, n.Handler+5
				h.after.Handlers = append(h.after.Handlers, n)
			}
		}
	}
	checkHandCases(t, []handCase{
		{name: "four variables", change: variables(was, now), proven: true},
		{name: "another index of the second variable", change: variables(was, but(1, variable{9, 12, 0x0103}))},
		{name: "another upper byte of the second variable", change: variables(was, but(1, variable{9, 12, 2}))},
		{name: "another start of the second variable", change: variables(was, but(1, variable{5, 16, 0x0102}))},
		{name: "a variable of length 1 that ends elsewhere", change: variables(was, but(2, variable{9, 12, 1}))},
		{name: "a variable without length that has length 1", change: variables(was, but(3, variable{15, 1, 2}))},
		{name: "a handler behind the code, where nothing else stands",
			change: uncalled(crafted.Handler{Start: 0, End: 2, Handler: 9}, crafted.Handler{Start: 5, End: 7, Handler: 19})},
		{name: "a handler at the end of the code",
			change: uncalled(crafted.Handler{Start: 0, End: 2, Handler: 3}, crafted.Handler{Start: 5, End: 7, Handler: 13})},
		{name: "another second line", change: lines([]uint16{2, 0, 1, 5, 2}, []uint16{2, 0, 1, 15, 3})},
		{name: "a line one behind the end", change: lines([]uint16{1, 7, 1}, []uint16{1, 22, 1})},
		{name: "an athrow that the second handler covers",
			change: covered(crafted.Handler{Start: 0, End: 1, Handler: 4}, crafted.Handler{Start: 3, End: 4, Handler: 4}),
			proven: true},
		{name: "an athrow behind what a handler covers from 1 on",
			change: covered(crafted.Handler{Start: 1, End: 2, Handler: 4})},
		{name: "an athrow behind what two handlers cover",
			change: covered(crafted.Handler{Start: 1, End: 3, Handler: 4}, crafted.Handler{Start: 2, End: 3, Handler: 4})},
	})
}

// TestByHandMoreFrames has frames in which bytes are missing, and forms at the limits.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandMoreFrames(t *testing.T) {
	checkHandCases(t, []handCase{
		{name: "three locals", change: oneFrame([]byte{254, 0, 5, 1, 1, 1}, []byte{254, 0, 15, 1, 1, 1}), proven: true},
		{name: "an uninitialised this", change: oneFrame([]byte{252, 0, 5, 6}, []byte{252, 0, 15, 6}), proven: true},
		{name: "a local cut off in both", change: oneFrame([]byte{252, 0, 5}, []byte{252, 0, 15})},
		{name: "a word on the stack cut off in both", change: oneFrame([]byte{64 + 5}, []byte{64 + 15})},
		{name: "half of a class in both", change: oneFrame([]byte{252, 0, 5, 7, 0}, []byte{252, 0, 15, 7, 0})},
		{name: "half of the count of locals", change: oneFrame([]byte{255, 0, 5, 0}, []byte{255, 0, 15, 0})},
		{name: "half of the count of locals before", change: oneFrame([]byte{255, 0, 5, 0}, fullFrame(15, 0, 0))},
		{name: "half of the count of locals now", change: oneFrame(fullFrame(5, 0, 0), []byte{255, 0, 15, 0})},
		{name: "half of the count of the stack",
			change: oneFrame([]byte{255, 0, 5, 0, 0, 0}, []byte{255, 0, 15, 0, 0, 0})},
		{name: "a frame that stays short at 63", change: far(58, []byte{58}, []byte{63}), proven: true},
		{name: "a frame that stays extended at 64", change: far(64, []byte{251, 0, 64}, []byte{251, 0, 69}), proven: true},
		{name: "a frame that was extended without need before 64", change: far(59, []byte{251, 0, 59},
			[]byte{251, 0, 64})},
		{name: "a frame with 65535 words on the stack that nothing leads to", change: func(h *byHand) {
			deep := func(delta byte) crafted.Attribute {
				return crafted.Frames(fullFrame(delta, append([]byte{0xFF, 0xFF}, slices.Repeat([]byte{1}, 65535)...)...))
			}
			h.setCode(crafted.Op(code.Goto, 0, 4, byte(code.Return), byte(code.Return)), 3, 4)
			h.after.Code[7] = 9
			h.before.MaxStack, h.after.MaxStack = 0, 1
			h.before.Attributes, h.after.Attributes = []crafted.Attribute{deep(3)}, []crafted.Attribute{deep(8)}
		}},
		// One frame, at 5 and now at 10, of five. Read on from the table's start, its count is two frames more.
		{name: "four frames that are missing, where the table's start would fit", change: func(h *byHand) {
			h.setCode(crafted.Op(code.Nop, byte(code.Nop), byte(code.Nop), byte(code.Nop), byte(code.Nop), byte(code.Nop),
				byte(code.Nop), byte(code.Nop), byte(code.Nop), byte(code.Nop), byte(code.Nop), byte(code.Nop),
				byte(code.Nop), byte(code.Iload0), byte(code.Ifeq), 0, 5, byte(code.Nop), byte(code.Return),
				byte(code.Return)), 18, 19)
			h.after.Code[21] += 5
			h.before.Attributes = []crafted.Attribute{{Name: "StackMapTable", Info: []byte{0, 5, 5}}}
			h.after.Attributes = []crafted.Attribute{{Name: "StackMapTable", Info: []byte{0, 5, 10}}}
		}},
	})
}

// TestByHandDepths has code in which the depth of the stack is wrong for a while only.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandDepths(t *testing.T) {
	const iload, pop, leave, nop = byte(code.Iload0), byte(code.Pop), byte(code.Return), byte(code.Nop)
	static := func(op code.Op, descriptor string, before ...byte) handCase {
		add := func(a *crafted.Class) uint16 {
			if op == code.Putstatic {
				return a.Fieldref("Hand", "x", descriptor)
			}
			return a.Methodref("Hand", "x", descriptor)
		}
		return handCase{name: op.String() + " of " + descriptor + " without a word, which follows",
			constants: func(a *crafted.Class) { add(a) }, change: func(h *byHand) {
				own := slices.Concat(before, crafted.Op(op, crafted.U2(add(h.original))...), []byte{iload, leave})
				h.setCode(own, len(own)-1)
			}}
	}
	own := func(exit int, code ...byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(code, exit)
			h.before.MaxStack = 0 // as deep as it seems to be
		}
	}
	checkHandCases(t, []handCase{
		{name: "a pop of nothing, and a load", change: own(2, pop, iload, leave)},
		{name: "a sum of nothing, and a load", change: own(2, byte(code.Iadd), iload, leave)},
		static(code.Invokestatic, "(I)V"), static(code.Invokestatic, "(II)V", iload), static(code.Putstatic, "I"),
		static(code.Putstatic, "J", iload),
		{name: "an array of more dimensions than there are words, popped", change: func(h *byHand) {
			h.setCode(crafted.Op(code.Iload0, byte(code.Multianewarray), 0, 2, 2, pop, leave), 6)
		}},
		{name: "a branch forward to another depth before another instruction", change: func(h *byHand) {
			h.setCode([]byte{iload, byte(code.Ifeq), 0, 4, iload, nop, leave}, 6)
			h.after.MaxStack = 2
		}},
		{name: "a frame of another depth before another instruction", change: func(h *byHand) {
			h.setCode([]byte{nop, nop, leave}, 2)
			h.before.Attributes = []crafted.Attribute{crafted.Frames([]byte{64 + 1, 1})}
			h.after.Attributes = []crafted.Attribute{crafted.Frames([]byte{64 + 6, 1})}
		}},
		{name: "a getstatic cut off by a byte", change: own(1, iload, byte(code.Getstatic), 0)},
		{name: "a branch behind the code that now leads into it", change: func(h *byHand) {
			h.setCode([]byte{byte(code.Goto), 0, 9, leave}, 3)
			h.before.MaxStack = 0
			h.after.Code[7] = 8
		}},
		{name: "a goto_w over an exit call whose offset is as it was", change: func(h *byHand) {
			h.setCode([]byte{byte(code.GotoW), 0, 0, 0, 6, leave, leave}, 5, 6)
			h.before.MaxStack = 0
			h.before.Attributes = []crafted.Attribute{crafted.Frames([]byte{6})}
			h.after.Attributes = []crafted.Attribute{crafted.Frames([]byte{16})}
		}},
		{name: "a tableswitch that was a lookupswitch with the same operands", change: func(h *byHand) {
			h.push, h.want.IDs = crafted.Op(code.Iconst4), []uint32{4}
			h.setCode(slices.Concat([]byte{iload, byte(code.Lookupswitch), 0, 0}, []byte{0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1,
				0, 0, 0, 19}, []byte{leave, leave}), 20, 21)
			h.after.Code[5], h.after.Code[8+3] = byte(code.Tableswitch), 24
		}},
	})
}

// TestByHandUsualMembers has correct code with every instruction that names a constant.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandUsualMembers(t *testing.T) {
	const iload, pop = byte(code.Iload0), byte(code.Pop)
	number := func(a *crafted.Class) uint16 { return a.Constant(classfile.TagInteger, 0, 0, 0, 9) }
	field := func(a *crafted.Class) uint16 { return a.Fieldref("Hand", "x", "I") }
	method := func(a *crafted.Class) uint16 { return a.Methodref("Hand", "x", "(J)I") }
	face := func(a *crafted.Class) uint16 {
		return a.Constant(classfile.TagInterfaceMethodref, crafted.U2(2, a.NameAndType("x", "(J)I"))...)
	}
	indy := func(a *crafted.Class) uint16 {
		return a.Constant(classfile.TagInvokeDynamic, crafted.U2(0, a.NameAndType("x", "()I"))...)
	}
	long := byte(code.Lconst0)
	for _, c := range []struct {
		op            code.Op
		constant      func(a *crafted.Class) uint16
		before, after []byte
	}{
		{code.Ldc, number, nil, []byte{pop}}, {code.LdcW, number, nil, []byte{pop}},
		{code.Getfield, field, []byte{iload}, []byte{pop}}, {code.Putfield, field, []byte{iload, iload}, nil},
		{code.Invokevirtual, method, []byte{iload, long}, []byte{pop}},
		{code.Invokespecial, method, []byte{iload, long}, []byte{pop}},
		{code.Invokestatic, method, []byte{long}, []byte{pop}},
		{code.Invokeinterface, face, []byte{iload, long}, []byte{3, 0, pop}},
		{code.Invokedynamic, indy, nil, []byte{0, 0, pop}},
	} {
		checkHandCases(t, []handCase{{name: c.op.String(), constants: func(a *crafted.Class) { c.constant(a) },
			change: func(h *byHand) {
				operand := crafted.U2(c.constant(h.original))
				if c.op == code.Ldc {
					operand = operand[1:]
				}
				own := slices.Concat(c.before, crafted.Op(c.op, operand...), c.after, crafted.Op(code.Return))
				h.setCode(own, len(own)-1)
				h.before.MaxStack, h.after.MaxStack = 3, 3
			}, proven: true}})
	}
}

// TestByHandSecondMethods has two methods, of which the first leaves something that the second must not use.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandSecondMethods(t *testing.T) {
	const leave = byte(code.Return)
	twoFrames := func(h *byHand) {
		h.before.Attributes = []crafted.Attribute{crafted.Frames([]byte{4}, []byte{0})}
		h.after.Attributes = []crafted.Attribute{crafted.Frames([]byte{9}, []byte{5})}
	}
	hidden := func(h *byHand) { h.setCode([]byte{leave}, 0) } // a max_stack of 1 that the calls hide
	read := func(h *byHand) {
		h.setCode(slices.Concat(crafted.Op(code.Getstatic, crafted.U2(h.original.Fieldref("Hand", "x", "I"))...),
			[]byte{byte(code.Pop), leave}), 4)
	}
	named := func(h *byHand) {
		h.setCode([]byte{leave}, 0)
		h.before.MaxStack = 0
		h.before.Attributes = []crafted.Attribute{{Name: "v", Info: []byte{1, 2}}}
		h.after.Attributes = []crafted.Attribute{{Name: "v", Info: []byte{3, 4}}}
	}
	for _, c := range []struct {
		name          string
		notes         string
		first, second func(h *byHand)
		attribute     uint16 // the name of the second method's attribute, if it is not 0
	}{
		{"a note about the second method, where the first lacks it", "tracegen:1s1", hidden, func(*byHand) {}, 0},
		{"a note about the second method behind one about the first", "tracegen:0s1;1f1=251", twoFrames, twoFrames, 0},
		{"an attribute whose name is a Class that the first method uses", "", read, named, 2},
	} {
		h := newByHand(func(a *crafted.Class) { a.Fieldref("Hand", "x", "I") })
		h.want.IDs = []uint32{7, 7}
		plain := *h
		c.first(h)
		h.original.Add(h.before)
		h.rewritten.Add(h.after)
		h.before, h.after = plain.before, plain.after
		c.second(h)
		if c.notes != "" {
			h.rewritten.Utf8(c.notes)
		}
		original, rewritten := h.classes(t)
		if c.attribute != 0 {
			original, rewritten = renamed(t, original, c.attribute), renamed(t, rewritten, c.attribute)
		}
		checkAccepted(t, c.name, original, rewritten, h.want, false)
	}
}

// renamed returns a class in which another constant names the one attribute inside of the second method's Code.
func renamed(t *testing.T, c *classfile.Class, name uint16) *classfile.Class {
	info, _ := classfile.FindAttribute(c.Methods()[1].Attributes, "Code")
	body, _, err := c.Code(&c.Methods()[1])
	if err != nil {
		t.Fatal(err)
	}
	data := slices.Clone(c.Bytes())
	const header, counts = 8, 4
	binary.BigEndian.PutUint16(data[info.Offset+header+len(body.Bytecode)+counts:], name)
	return parsed(t, data)
}
