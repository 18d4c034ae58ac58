package equivalence_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// handCase is a pair of classes with one method that the lockstep must accept, or leave to the exact path because that
// has a finding.
type handCase struct {
	name string
	// constants are added to both classes, change then changes the method of each, and infos the Code attributes.
	constants func(a *crafted.Class)
	change    func(h *byHand)
	infos     func(before, after []byte) (was, now []byte)
	proven    bool
}

// compareHandCases checks each pair with the lockstep and without.
func compareHandCases(t *testing.T, cases []handCase) {
	for _, c := range cases {
		h := newByHand()
		if c.constants != nil {
			h = newByHand(c.constants)
		}
		if c.change != nil {
			c.change(h)
		}
		original, rewritten := h.classes(t)
		if c.infos != nil {
			was, now := c.infos(slices.Clone(codeInfo(original)), slices.Clone(codeInfo(rewritten)))
			original, rewritten = withCode(t, original, was), withCode(t, rewritten, now)
		}
		var n compared
		n.compare(t, c.name, original, rewritten, h.want)
		if (n.accepted == 1) != c.proven || c.proven && n.sure != 1 {
			t.Errorf("%s: accepted %t, by the lockstep %t", c.name, n.accepted == 1, n.sure == 1)
		}
	}
}

// codeInfo returns the info of the Code attribute of a class's only method.
func codeInfo(c *classfile.Class) []byte {
	a, _ := classfile.FindAttribute(c.Methods()[0].Attributes, "Code")
	return a.Info
}

// withCode returns a class whose only method has that Code attribute.
func withCode(t *testing.T, c *classfile.Class, info []byte) *classfile.Class {
	data, err := c.Rewrite(classfile.Edit{KeepConstants: c.ConstantPool().Len(),
		Codes: []classfile.CodeEdit{{Info: info}}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, data)
}

// TestLockstepOfCalls has faults of the calls and of what was asked for.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfCalls(t *testing.T) {
	const post = "(Ljava/lang/Runnable;)Z"
	aReturn := crafted.Op(code.Return)
	twoFrames := func(h *byHand, notes string) {
		h.before.Attributes = []crafted.Attribute{crafted.Frames([]byte{4}, []byte{0})}
		h.after.Attributes = []crafted.Attribute{crafted.Frames([]byte{9}, []byte{5})}
		if notes != "" {
			h.rewritten.Utf8(notes)
		}
	}
	bigID := func(h *byHand, index uint16) {
		h.want.IDs[0] = 40000
		h.push = crafted.Op(code.Ldc, byte(index))
		h.setCode(aReturn, 0)
		h.before.MaxStack = 0
	}
	integer := func(a *crafted.Class) uint16 { return a.Constant(classfile.TagInteger, 0, 0, 0x9C, 0x40) }
	compareHandCases(t, []handCase{
		{name: "nothing", proven: true},
		{name: "another ID in all calls", change: func(h *byHand) { h.want.IDs[0] = 8 }},
		{name: "an ID pushed by a longer instruction in all calls", change: func(h *byHand) {
			h.push = crafted.Op(code.Sipush, 0, 7)
			h.setCode(aReturn, 0)
			h.before.MaxStack = 0
		}},
		{name: "an ID of the block", change: func(h *byHand) {
			h.rewritten.Known = map[string]uint16{}
			bigID(h, integer(h.rewritten))
			h.rewritten.Known = h.original.Known
		}, proven: true},
		{name: "an ID that the original's pool had", constants: func(a *crafted.Class) { integer(a) },
			change: func(h *byHand) { bigID(h, integer(h.original)) }},
		{name: "no ID", change: func(h *byHand) {
			h.push = nil
			h.setCode(aReturn, 0)
		}},
		{name: "an entry call that is an exit call", change: func(h *byHand) {
			h.setCode(aReturn, 0)
			h.before.MaxStack = 0
			h.after.Code[4] = byte(h.exit)
		}},
		{name: "no method i, and an entry call of constant 0", change: func(h *byHand) {
			h.onlyBlock("o")
			h.setCode(aReturn, 0)
			h.before.MaxStack = 0
		}},
		{name: "no method o, and an exit call of constant 0", change: func(h *byHand) {
			h.onlyBlock("i")
			h.setCode(aReturn, 0)
			h.before.MaxStack = 0
		}},
		{name: "a method o that nothing calls", change: func(h *byHand) {
			h.setCode(crafted.Branch(code.Goto, 0, 0))
			h.before.MaxStack = 0
		}},
		{name: "no probe", constants: func(a *crafted.Class) { a.Methodref("H", "post", post) },
			change: func(h *byHand) {
				h.setCode(slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Aload0),
					crafted.Op(code.Invokevirtual, crafted.U2(h.original.Methodref("H", "post", post))...),
					crafted.Op(code.Pop), aReturn), 6)
				h.before.MaxStack, h.after.MaxStack = 2, 2
				h.want.Posts = true
			}},
		{name: "no exact handler", change: func(h *byHand) { h.want.Exits.Handler = true }},
		{name: "an entry call before a constructor's call", constants: func(a *crafted.Class) {
			a.Methodref("java/lang/Object", "<init>", "()V")
		}, change: func(h *byHand) {
			constructor := h.original.Methodref("java/lang/Object", "<init>", "()V")
			h.setCode(slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Invokespecial,
				crafted.U2(constructor)...),
				aReturn), 4)
			for _, m := range []*crafted.Method{&h.before, &h.after} {
				m.Access, m.Name, m.Descriptor = classfile.AccPublic, "<init>", "()V"
			}
			h.want.EntryAfterSuper = true
		}},
		{name: "no focus hook", constants: func(a *crafted.Class) { a.NameAndType("onWindowFocusChanged", "(Z)V") },
			change: func(h *byHand) {
				h.setCode(aReturn, 0)
				h.before.MaxStack = 0
				for _, m := range []*crafted.Method{&h.before, &h.after} {
					m.Access, m.Name, m.Descriptor = classfile.AccPublic, "onWindowFocusChanged", "(Z)V"
				}
				h.want.FocusHooked = true
			}},
		{name: "two frames", change: func(h *byHand) { twoFrames(h, "") }, proven: true},
		{name: "a note about max_stack", change: func(h *byHand) { twoFrames(h, "tracegen:0s1") }, proven: true},
		{name: "a note about another max_stack", change: func(h *byHand) { twoFrames(h, "tracegen:0s0") }},
		{name: "a note about a frame", change: func(h *byHand) { twoFrames(h, "tracegen:0f1=251") }},
		{name: "notes about a frame and max_stack", change: func(h *byHand) { twoFrames(h, "tracegen:0f1=251;0s1") }},
		{name: "an exit call of another method", change: func(h *byHand) { h.after.Code[13] = byte(h.entry) }},
		{name: "an exit call after which one is missing", change: func(h *byHand) {
			h.setCode(crafted.Op(code.Iload0, byte(code.Ifeq), 0, 4, byte(code.Return), byte(code.Return)), 4)
			h.after.Code[8] = 9
		}},
	})
}

// firstNew is the index of the first constant that only the rewritten class has.
func (h *byHand) firstNew() uint16 { return h.original.Count }

// onlyBlock leaves one of the two methods in the block.
func (h *byHand) onlyBlock(name string) {
	known := h.rewritten.Known
	h.rewritten.Pool = slices.Clone(h.original.Pool)
	h.rewritten.Count = h.original.Count
	h.rewritten.Known = map[string]uint16{}
	ref := methodref2(h.rewritten, beat, name, "(I)V")
	if h.entry, h.exit = ref, 0; name == "o" {
		h.entry, h.exit = 0, ref
	}
	h.rewritten.Known = known
}

// TestLockstepOfAttributes has faults of the attributes of a method: of how they are laid out, and of their contents.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfAttributes(t *testing.T) {
	const variables, grown = 47, 15 // where the variables begin in the original's info, and by how much that has grown
	both := func(change func(info []byte, end int) []byte) func(before, after []byte) (was, now []byte) {
		return func(before, after []byte) (was, now []byte) { return change(before, 14), change(after, 29) }
	}
	compareHandCases(t, []handCase{
		{name: "infos as they are", infos: func(before, after []byte) (was, now []byte) { return before, after },
			proven: true},
		{name: "no bytes", infos: both(func([]byte, int) []byte { return nil })},
		{name: "no code_length", infos: both(func(info []byte, _ int) []byte { return info[:7] })},
		{name: "a code_length that is cut off in the rewritten class",
			infos: func(before, after []byte) (was, now []byte) { return before, after[:7] }},
		{name: "no code", infos: both(func(info []byte, _ int) []byte {
			return append(slices.Clone(info[:4]), 0, 0, 0, 0, 0, 0, 0, 0)
		})},
		{name: "no code in the rewritten class", infos: func(before, after []byte) (was, now []byte) {
			return before, append(slices.Clone(after[:4]), 0, 0, 0, 0, 0, 0, 0, 0)
		}},
		{name: "too much code with the calls", infos: func(_, after []byte) (was, now []byte) {
			own := append(make([]byte, 65529), byte(code.Return))
			entry, exit := after[8:13], after[17:22]
			return rawCode(0, own), rawCode(1, slices.Concat(entry, own[:65529], exit, own[65529:]))
		}},
		{name: "less than the code", infos: both(func(info []byte, end int) []byte { return info[:end] })},
		{name: "less than the code in the original", infos: func(before, after []byte) (was, now []byte) {
			return before[:14], after
		}},
		{name: "less than the exception table", infos: both(func(info []byte, end int) []byte {
			info[end+1] = 5
			return info[:end+10]
		})},
		{name: "no attributes_count", infos: both(func(info []byte, end int) []byte { return info[:end+2] })},
		{name: "another max_locals", change: func(h *byHand) { h.after.MaxLocals++ }},
		{name: "an attribute more by its count", infos: func(before, after []byte) (was, now []byte) {
			after[32]++
			return before, after
		}},
		{name: "an attribute less by its count", infos: func(before, after []byte) (was, now []byte) {
			after[32]--
			return before, after
		}},
		{name: "an attribute that is missing in both", infos: both(func(info []byte, end int) []byte {
			info[end+3]++
			return info
		})},
		{name: "an attribute that is missing in the original", infos: func(before, after []byte) (was, now []byte) {
			before[17]++
			after[32]++
			return before, append(after, after[variables+grown:]...)
		}},
		{name: "an attribute that is cut off in the rewritten class", infos: func(before, after []byte) (was,
			now []byte) {
			return before, after[:len(after)-15]
		}},
		{name: "an attribute that is longer than the rest in the original", infos: func(before, after []byte) (was,
			now []byte) {
			before[variables+5] = 200
			return before, after
		}},
		{name: "an attribute that is longer than the rest in the rewritten class",
			infos: func(before, after []byte) (was, now []byte) {
				after[variables+grown+5] = 200
				return before, after
			}},
		{name: "a byte after the attributes of both", infos: both(func(info []byte,
			_ int) []byte {
			return append(info, 0)
		})},
		{name: "a byte after the attributes of the rewritten class", infos: func(before, after []byte) (was,
			now []byte) {
			return before, append(after, 0)
		}},
		{name: "an attribute of unknown layout", change: func(h *byHand) {
			h.before.Attributes[2].Name, h.after.Attributes[2].Name = "v", "v"
		}},
		{name: "an attribute whose name no constant has", infos: both(func(info []byte, end int) []byte {
			binary.BigEndian.PutUint16(info[end+4:], 0xFFFF)
			return info
		})},
		{name: "a table of types of variables", constants: func(a *crafted.Class) { a.Utf8("LocalVariableTypeTable") },
			change: func(h *byHand) { h.after.Attributes[2].Name = "LocalVariableTypeTable" }},
	})
}

// rawCode returns a Code attribute with nothing but max_stack and the code.
func rawCode(stack uint16, own []byte) []byte {
	info := binary.BigEndian.AppendUint32(crafted.U2(stack, 1), uint32(len(own)))
	return append(append(info, own...), 0, 0, 0, 0)
}

// TestLockstepOfTables has faults of exception tables, lines, variables and max_stack.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfTables(t *testing.T) {
	// handled has a handler of its first two instructions at position 3, and as many other entries as are given.
	handled := func(h *byHand, last code.Op, was, now crafted.Handler, more ...crafted.Handler) {
		own := crafted.Op(code.Iload0, byte(code.Pop), byte(code.Return), byte(code.Pop), byte(code.Return))
		if last == code.Athrow {
			own = append(own[:3], byte(code.Athrow))
		}
		h.setCode(own, 2, len(own)-1)
		h.before.Handlers = []crafted.Handler{was}
		h.after.Handlers = []crafted.Handler{now}
		for i := range more {
			side := []*crafted.Method{&h.before, &h.after}[i%2]
			side.Handlers = append(side.Handlers, more[i])
		}
	}
	was, now := crafted.Handler{Start: 0, End: 2, Handler: 3}, crafted.Handler{Start: 5, End: 7, Handler: 13}
	handler := func(change func(was, now *crafted.Handler)) func(h *byHand) {
		return func(h *byHand) {
			was, now := was, now
			change(&was, &now)
			handled(h, code.Return, was, now)
		}
	}
	table := func(n int, was, now []byte) func(h *byHand) {
		return func(h *byHand) { h.before.Attributes[n].Info, h.after.Attributes[n].Info = was, now }
	}
	variable := func(at int, both bool) func(h *byHand) {
		return func(h *byHand) {
			if h.after.Attributes[2].Info[at]++; both {
				h.before.Attributes[2].Info[at]++
			}
		}
	}
	lines := crafted.U2(3, 0, 1, 9, 2, 15, 3)
	stack := func(was, now uint16, exit int, own ...byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(own, exit)
			h.before.MaxStack, h.after.MaxStack = was, now
		}
	}
	iload, pop, leave := byte(code.Iload0), byte(code.Pop), byte(code.Return)
	compareHandCases(t, []handCase{
		{name: "a handler", change: handler(func(was, now *crafted.Handler) {}), proven: true},
		{name: "a handler of a class", change: handler(func(was, now *crafted.Handler) {
			was.Catch, now.Catch = 2,
				2
		}),
			proven: true},
		{name: "a handler of another class", change: handler(func(was, now *crafted.Handler) { now.Catch = 2 })},
		{name: "a handler of a new constant", change: func(h *byHand) {
			was, now := was, now
			was.Catch, now.Catch = h.firstNew(), h.firstNew()
			handled(h, code.Return, was, now)
		}},
		{name: "a handler that begins to cover elsewhere", change: handler(func(was,
			now *crafted.Handler) {
			now.Start = 6
		})},
		{name: "a handler that ends to cover elsewhere", change: handler(func(was,
			now *crafted.Handler) {
			now.End = 12
		})},
		{name: "a handler elsewhere", change: handler(func(was, now *crafted.Handler) { now.Handler = 14 })},
		{name: "a handler at its instruction", change: handler(func(was, now *crafted.Handler) { now.Handler = 18 })},
		{name: "a handler that covers nothing, from the end on",
			change: handler(func(was, now *crafted.Handler) {
				was.Start, was.End, now.Start, now.End = 5, 5, 20,
					20
			})},
		{name: "a handler that begins behind the code",
			change: handler(func(was, now *crafted.Handler) {
				was.Start, was.End, now.Start, now.End = 9, 9, 24,
					24
			})},
		{name: "a handler that covers more than the code",
			change: handler(func(was, now *crafted.Handler) { was.End, now.End = 9, 24 })},
		{name: "a handler behind the code",
			change: handler(func(was, now *crafted.Handler) { was.Handler, now.Handler = 9, 24 })},
		{name: "two handlers", change: func(h *byHand) { handled(h, code.Return, was, now, was, now) }, proven: true},
		{name: "a handler that is not the original's", change: func(h *byHand) {
			handled(h, code.Return, was, now, was, now)
			h.before.Handlers = h.before.Handlers[:1]
		}},
		{name: "a second handler elsewhere", change: func(h *byHand) {
			handled(h, code.Return, was, now, was, crafted.Handler{Start: 5, End: 7, Handler: 19})
		}},
		{name: "a handler that looks like the exact one", change: func(h *byHand) {
			handled(h, code.Athrow, was, now)
			h.after.MaxStack = 2
		}},
		{name: "a handler that only looks like the exact one, but for its class", change: func(h *byHand) {
			was, now := was, now
			was.Catch, now.Catch = 2, 2
			handled(h, code.Athrow, was, now)
			h.after.MaxStack = 2
		}, proven: true},

		{name: "a line behind the code", change: table(1, crafted.U2(1, 99, 1), crafted.U2(1, 114, 1))},
		{name: "lines of another number", change: table(1, crafted.U2(3, 0, 1, 4, 2, 5, 3), crafted.U2(2, 0, 1, 9, 2,
			15, 3))},
		{name: "lines with more bytes", change: table(1, crafted.U2(3, 0, 1, 4, 2, 5, 3), append(lines, 0, 0, 0, 0))},
		{name: "lines with fewer bytes", change: table(1, crafted.U2(3, 0, 1, 4, 2, 5, 3), lines[:10])},
		{name: "lines whose number is less in both", change: table(1, crafted.U2(2, 0, 1, 4, 2, 5, 3),
			crafted.U2(2, 0, 1, 9, 2, 15, 3))},
		{name: "lines of one byte", change: table(1, []byte{0}, []byte{0})},
		{name: "a line at the end", change: table(1, crafted.U2(1, 6, 1), crafted.U2(1, 21, 1)), proven: true},
		{name: "a variable of another name", change: variable(7, false)},
		{name: "a variable of another type", change: variable(9, false)},
		{name: "another variable", change: variable(11, false)},
		{name: "another variable of more than 255", change: variable(10, false)},
		{name: "a variable that ends behind the code", change: variable(5, true)},
		{name: "a variable that begins elsewhere", change: func(h *byHand) {
			h.after.Attributes[2].Info[3], h.after.Attributes[2].Info[5] = 5, 16
		}},
		{name: "a variable that ends elsewhere", change: variable(5, false)},
		{name: "a variable without length", change: func(h *byHand) {
			h.before.Attributes[2].Info[5], h.after.Attributes[2].Info[5] = 0, 0
		}, proven: true},
		{name: "variables of another number", change: variable(1, false)},
		{name: "a line inside of an instruction that begins with the method", change: func(h *byHand) {
			h.before.Attributes[1].Info[7], h.after.Attributes[1].Info[7] = 2, 0
		}},
		{name: "a variable that had no length", change: func(h *byHand) { h.before.Attributes[2].Info[5] = 0 }},

		{name: "max_stack for the calls", change: stack(0, 1, 0, leave), proven: true},
		{name: "max_stack for an exit call over a word", change: stack(1, 2, 1, iload, leave), proven: true},
		{name: "max_stack too small for that", change: stack(1, 1, 1, iload, leave)},
		{name: "a greater max_stack than all need", change: stack(5, 5, 0, leave), proven: true},
		{name: "a greater max_stack than it was", change: stack(5, 6, 0, leave)},
		{name: "a max_stack that the calls hide", change: stack(1, 1, 0, leave)},
		{name: "a max_stack less than the code needs", change: stack(0, 1, 2, iload, pop, leave)},
	})
}

// TestLockstepOfMembers has instructions that name fields and methods by constants, most of them malformed in both
// classes.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfMembers(t *testing.T) {
	const fieldref = classfile.TagFieldref
	pair := func(name, descriptor uint16) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 {
			return a.Constant(fieldref, crafted.U2(2, a.Constant(classfile.TagNameAndType, crafted.U2(name,
				descriptor)...))...)
		}
	}
	field := func(descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return a.Fieldref("Hand", "f", descriptor) }
	}
	method := func(descriptor string) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 { return a.Methodref("Hand", "f", descriptor) }
	}
	fieldOf := func(class func(a *crafted.Class) uint16) func(a *crafted.Class) uint16 {
		return func(a *crafted.Class) uint16 {
			return a.Constant(fieldref, crafted.U2(class(a), a.NameAndType("f", "I"))...)
		}
	}
	many := make([]byte, 256)
	for i := range many {
		many[i] = 'I'
	}
	get := []code.Op{code.Getstatic, code.Pop}
	for _, c := range []struct {
		name     string
		ops      []code.Op // the first names the constant
		constant func(a *crafted.Class) uint16
		proven   bool
	}{
		{"a field", get, field("I"), true},
		{"a field of two words", []code.Op{code.Getstatic, code.Pop2}, field("J"), true},
		{"a field that is read and stored", []code.Op{code.Getstatic, code.Dup, code.Iadd, code.Pop}, field("I"),
			true},
		{"a method", []code.Op{code.Invokestatic, code.Pop}, method("()I"), true},
		{"a field with a malformed descriptor", []code.Op{code.Getstatic, code.Nop}, field("Q"), false},
		{"a field with the descriptor of a method", get, field("()I"), false},
		{"a method with the descriptor of a field", []code.Op{code.Invokestatic, code.Nop}, field("I"), false},
		{"a method with a malformed descriptor", []code.Op{code.Invokestatic, code.Nop}, method("(Q)V"), false},
		{"a method with too many arguments", []code.Op{code.Invokestatic, code.Nop},
			method("(" + string(many) + ")V"), false},
		{"a method with more arguments than there are words", []code.Op{code.Invokestatic, code.Nop}, method("(I)V"),
			false},
		{"a field that is put without a value", []code.Op{code.Putstatic, code.Nop}, field("I"), false},
		{"a field that is got from no object", []code.Op{code.Getfield, code.Pop}, field("I"), false},
		{"a Class", get, func(*crafted.Class) uint16 { return 2 }, false},
		{"constant 0", get, func(*crafted.Class) uint16 { return 0 }, false},
		{"no constant", get, func(*crafted.Class) uint16 { return 0xFFFF }, false},
		{"a field of a Utf8", get, fieldOf(func(a *crafted.Class) uint16 { return a.Utf8("Hand") }), false},
		{"a field of no constant", get, fieldOf(func(*crafted.Class) uint16 { return 0xFFFF }), false},
		{"a field of a String", get, fieldOf(func(a *crafted.Class) uint16 {
			return a.Constant(classfile.TagString, crafted.U2(1)...)
		}), false},
		{"a field of a Class without a name", get, fieldOf(func(a *crafted.Class) uint16 {
			return a.Constant(classfile.TagClass, crafted.U2(2)...)
		}), false},
		{"a field without NameAndType", get, func(a *crafted.Class) uint16 {
			return a.Constant(fieldref, crafted.U2(2, a.Constant(classfile.TagInteger, crafted.U2(1,
				a.Utf8("I"))...))...)
		}, false},
		{"a field whose name is a Class", get, func(a *crafted.Class) uint16 { return pair(2, a.Utf8("I"))(a) },
			false},
		{"a field whose descriptor is a Class", get, pair(1, 2), false},
		{"a field whose descriptor is no constant", get, pair(1, 0xFFFF), false},
	} {
		compareHandCases(t, []handCase{{name: c.name, constants: func(a *crafted.Class) { c.constant(a) },
			change: func(h *byHand) {
				own := crafted.Op(c.ops[0], crafted.U2(c.constant(h.original))...)
				for _, op := range c.ops[1:] {
					own = append(own, byte(op))
				}
				h.setCode(append(own, byte(code.Return)), len(own))
				h.before.MaxStack, h.after.MaxStack = 2, 2
			}, proven: c.proven}})
	}
	compareHandCases(t, []handCase{{name: "a field that is put", constants: func(a *crafted.Class) { field("I")(a) },
		change: func(h *byHand) {
			h.setCode(slices.Concat(crafted.Op(code.Iload0), crafted.Op(code.Putstatic,
				crafted.U2(field("I")(h.original))...),
				crafted.Op(code.Return)), 4)
		}, proven: true}, {name: "a long that is loaded", constants: func(a *crafted.Class) {
		a.Constant(classfile.TagLong, make([]byte, 8)...)
		a.Count++
	}, change: func(h *byHand) {
		h.setCode(slices.Concat(crafted.Op(code.Ldc2W, crafted.U2(h.firstNew()-2)...), crafted.Op(code.Pop2,
			byte(code.Return))), 4)
		h.before.MaxStack, h.after.MaxStack = 2, 2
	}, proven: true}})
	for _, op := range []code.Op{code.Getstatic, code.Ldc, code.LdcW, code.New} {
		compareHandCases(t, []handCase{{name: op.String() + " of a new constant", change: func(h *byHand) {
			operand := crafted.U2(h.firstNew())
			if op == code.Ldc {
				operand = operand[1:]
			}
			own := append(crafted.Op(op, operand...), byte(code.Pop), byte(code.Return))
			h.setCode(own, len(own)-1)
		}}})
	}
}

// tableInfos makes these the StackMapTables of the method with one frame, which is at 5 and now at 15.
func tableInfos(was, now []byte) func(h *byHand) {
	return func(h *byHand) { h.before.Attributes[0].Info, h.after.Attributes[0].Info = was, now }
}

func oneFrame(was, now []byte) func(h *byHand) {
	return tableInfos(append([]byte{0, 1}, was...), append([]byte{0, 1}, now...))
}

func twoFrames(was, now []byte) func(h *byHand) {
	return tableInfos(append([]byte{0, 2}, was...), append([]byte{0, 2}, now...))
}

// fullFrame is a full_frame without locals.
func fullFrame(delta byte, stack ...byte) []byte {
	return slices.Concat([]byte{255, 0, delta, 0, 0}, stack)
}

// TestLockstepOfFrames has faults of the forms of frames, some of them in both classes.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfFrames(t *testing.T) {
	// far has a frame at a position that is now five bytes further.
	far := func(at int, was, now []byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(append(make([]byte, at), byte(code.Return)), at)
			h.before.MaxStack = 0
			h.before.Attributes = []crafted.Attribute{crafted.Frames(was)}
			h.after.Attributes = []crafted.Attribute{crafted.Frames(now)}
		}
	}
	thrown := func(was, now []byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(code.Iload0, byte(code.Pop), byte(code.Return), byte(code.Pop), byte(code.Return)),
				2, 4)
			h.before.Handlers = []crafted.Handler{{Start: 0, End: 2, Handler: 3}}
			h.after.Handlers = []crafted.Handler{{Start: 5, End: 7, Handler: 13}}
			h.before.Attributes = []crafted.Attribute{crafted.Frames(was)}
			h.after.Attributes = []crafted.Attribute{crafted.Frames(now)}
		}
	}
	compareHandCases(t, []handCase{
		{name: "a frame", change: oneFrame([]byte{5}, []byte{15}), proven: true},
		{name: "a frame elsewhere", change: oneFrame([]byte{5}, []byte{16})},
		{name: "a frame behind the code", change: oneFrame([]byte{6}, []byte{21})},
		{name: "a frame far behind the code", change: oneFrame([]byte{60}, []byte{63})},
		{name: "no frames by their number", change: tableInfos([]byte{0, 1, 5}, []byte{0, 0, 15})},
		{name: "256 frames more by their number", change: tableInfos([]byte{0, 1, 5}, []byte{1, 1, 15})},
		{name: "no bytes", change: tableInfos(nil, nil)},
		{name: "one byte before", change: tableInfos([]byte{0}, []byte{0, 0})},
		{name: "one byte now", change: tableInfos([]byte{0, 0}, []byte{0})},
		{name: "no frames", change: tableInfos([]byte{0, 0}, []byte{0, 0}), proven: true},
		{name: "a frame that is missing", change: twoFrames([]byte{5}, []byte{15})},
		{name: "more bytes", change: oneFrame([]byte{5, 0}, []byte{15, 0})},
		{name: "more bytes before", change: oneFrame([]byte{5, 0}, []byte{15})},
		{name: "more bytes now", change: oneFrame([]byte{5}, []byte{15, 0})},
		{name: "a reserved form", change: oneFrame([]byte{128, 0, 5}, []byte{128, 0, 15})},
		{name: "the last reserved form", change: oneFrame([]byte{245, 0, 5}, []byte{245, 0, 15})},
		{name: "an early_larval_frame without base", change: oneFrame([]byte{246, 0, 5}, []byte{246, 0, 15})},
		{name: "a form cut off", change: oneFrame([]byte{251, 0}, []byte{251, 0})},
		{name: "a form cut off now", change: oneFrame([]byte{251, 0, 5}, []byte{251, 0})},
		{name: "another form", change: oneFrame([]byte{250, 0, 5}, []byte{249, 0, 15})},
		{name: "a frame that is extended as before", change: oneFrame([]byte{251, 0, 5}, []byte{251, 0, 15}),
			proven: true},
		{name: "a frame that became short", change: oneFrame([]byte{251, 0, 5}, []byte{15})},
		{name: "a frame that became extended without need", change: oneFrame([]byte{5}, []byte{251, 0, 15})},
		{name: "a frame that became extended", change: far(60, []byte{60}, []byte{251, 0, 65}), proven: true},
		{name: "a frame that was extended without need", change: far(63, []byte{251, 0, 63}, []byte{251, 0, 68})},
		{name: "a frame that became extended at 63", change: far(58, []byte{58}, []byte{251, 0, 63})},
		{name: "a frame at 64 in the form of another", change: far(59, []byte{59}, []byte{64})},
		{name: "a frame with an int at 64 in a reserved form", change: func(h *byHand) {
			h.setCode(append(make([]byte, 55), byte(code.Iconst0), byte(code.Goto), 0, 3, byte(code.Pop),
				byte(code.Return)), 60)
			h.before.Attributes = []crafted.Attribute{crafted.Frames([]byte{64 + 59, 1})}
			h.after.Attributes = []crafted.Attribute{crafted.Frames([]byte{128, 1})}
		}},
		{name: "a frame of an exception", change: thrown([]byte{67, 7, 0, 2}, []byte{77, 7, 0, 2}), proven: true},
		{name: "a frame of another exception", change: thrown([]byte{67, 7, 0, 2}, []byte{77, 7, 0, 4})},
		{name: "a frame of an exception that became extended without need",
			change: thrown([]byte{67, 7, 0, 2}, []byte{247, 0, 13, 7, 0, 2})},
		{name: "a frame of an exception that is extended as before",
			change: thrown([]byte{247, 0, 3, 7, 0, 2}, []byte{247, 0, 13, 7, 0, 2}), proven: true},
		{name: "a full_frame of an exception", change: thrown(fullFrame(3, 0, 1, 7, 0, 2), fullFrame(13, 0, 1, 7, 0,
			2)),
			proven: true},
		{name: "a frame of no exception elsewhere", change: thrown([]byte{3}, []byte{15})},
	})
}

// TestLockstepOfFrameTypes has faults of the types in frames.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfFrameTypes(t *testing.T) {
	// onStack has a frame with a value on the stack behind a goto, at 4 and now at 9.
	onStack := func(push, pop code.Op, was, now []byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(push, byte(code.Goto), 0, 3, byte(pop), byte(code.Return)), 5)
			h.before.MaxStack, h.after.MaxStack = 2, 2
			h.before.Attributes = []crafted.Attribute{crafted.Frames(was)}
			h.after.Attributes = []crafted.Attribute{crafted.Frames(now)}
		}
	}
	// unreached has code that only a frame leads to, at 3 and now at 8.
	unreached := func(stack uint16, was, now []crafted.Attribute) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(code.Goto, 0, 4, byte(code.Return), byte(code.Return)), 3, 4)
			h.after.Code[7] = 9
			h.before.MaxStack, h.after.MaxStack = stack, stack+1
			h.before.Attributes, h.after.Attributes = was, now
		}
	}
	list := func(all ...crafted.Attribute) []crafted.Attribute { return all }
	ints := func(n int) []byte { return slices.Repeat([]byte{1}, n) }
	// deep has a stack of 65535 values, the first a long, of which one might see the lower two bytes of the depth only.
	deep := func(delta byte) crafted.Attribute {
		return crafted.Frames(fullFrame(delta, slices.Concat([]byte{0xFF, 0xFF, 4}, ints(65534))...))
	}
	// made has a new on the stack behind a goto. Its position is the last byte of the frame.
	made := func(at byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(code.New, 0, 2, byte(code.Goto), 0, 3, byte(code.Pop), byte(code.Return)), 7)
			h.before.Attributes = []crafted.Attribute{crafted.Frames(fullFrame(6, 0, 1, 8, 0, 0))}
			h.after.Attributes = []crafted.Attribute{crafted.Frames(fullFrame(11, 0, 1, 8, 0, at))}
		}
	}
	compareHandCases(t, []handCase{
		{name: "a local", change: oneFrame([]byte{252, 0, 5, 1}, []byte{252, 0, 15, 1}), proven: true},
		{name: "two locals", change: oneFrame([]byte{253, 0, 5, 1, 4}, []byte{253, 0, 15, 1, 4}), proven: true},
		{name: "another local", change: oneFrame([]byte{252, 0, 5, 1}, []byte{252, 0, 15, 2})},
		{name: "another second local", change: oneFrame([]byte{253, 0, 5, 1, 1}, []byte{253, 0, 15, 1, 2})},
		{name: "a local cut off before", change: oneFrame([]byte{252, 0, 5}, []byte{252, 0, 15, 1})},
		{name: "a local cut off now", change: oneFrame([]byte{252, 0, 5, 1}, []byte{252, 0, 15})},
		{name: "a class cut off before", change: oneFrame([]byte{252, 0, 5, 7, 0}, []byte{252, 0, 15, 7, 0, 2})},
		{name: "a class cut off now", change: oneFrame([]byte{252, 0, 5, 7, 0, 2}, []byte{252, 0, 15, 7, 0})},
		{name: "another class", change: oneFrame([]byte{252, 0, 5, 7, 0, 2}, []byte{252, 0, 15, 7, 0, 4})},
		{name: "a class that is a new constant", change: func(h *byHand) {
			oneFrame(append([]byte{252, 0, 5, 7}, crafted.U2(h.firstNew())...), append([]byte{252, 0, 15, 7},
				crafted.U2(h.firstNew())...))(h)
		}},
		{name: "an unknown type", change: oneFrame([]byte{252, 0, 5, 9, 0, 2}, []byte{252, 0, 15, 9, 0, 2})},
		{name: "a chop_frame", change: oneFrame([]byte{250, 0, 5}, []byte{250, 0, 15}), proven: true},
		{name: "counts of a full_frame cut off", change: oneFrame([]byte{255, 0, 5}, []byte{255, 0, 15})},
		{name: "counts of a full_frame cut off before", change: oneFrame([]byte{255, 0, 5}, fullFrame(15, 0, 0))},
		{name: "counts of a full_frame cut off now", change: oneFrame(fullFrame(5, 0, 0), []byte{255, 0, 15})},
		{name: "another count of a full_frame", change: oneFrame(fullFrame(5, 0, 0), fullFrame(15, 0, 1))},
		{name: "an unknown type on the stack that looks like a frame",
			change: twoFrames([]byte{64 + 4, 255, 0, 0, 0, 0, 0, 0}, []byte{64 + 9, 255, 0, 5, 0, 0, 0, 0})},
		{name: "an unknown type of a local that looks like a frame",
			change: twoFrames([]byte{252, 0, 4, 255, 0, 0, 0, 0, 0, 0}, []byte{252, 0, 9, 255, 0, 5, 0, 0, 0, 0})},
		{name: "an unknown type of a full_frame that looks like a count",
			change: twoFrames([]byte{255, 0, 4, 0, 1, 255, 0, 0}, []byte{255, 0, 9, 0, 1, 255, 0, 5})},

		{name: "an int on the stack", change: onStack(code.Iconst0, code.Pop, []byte{64 + 4, 1}, []byte{64 + 9, 1}),
			proven: true},
		{name: "a long on the stack", change: onStack(code.Lconst0, code.Pop2, []byte{64 + 4, 4}, []byte{64 + 9, 4}),
			proven: true},
		{name: "a double on the stack", change: onStack(code.Dconst0, code.Pop2, []byte{64 + 4, 3}, []byte{64 + 9, 3}),
			proven: true},
		{name: "a new on the stack", change: made(5), proven: true},
		{name: "a new at the start of the method", change: made(0)},
		{name: "a new elsewhere", change: made(8)},
		{name: "a return as the new of a local", change: oneFrame([]byte{252, 0, 5, 8, 0, 4}, []byte{252, 0, 15, 8, 0,
			9})},
		{name: "a new of a local behind the code",
			change: oneFrame([]byte{252, 0, 5, 8, 0, 99}, []byte{252, 0, 15, 8, 0, 114})},

		{name: "a new of a local at the end of the code, where the number of handlers begins like a new",
			change: func(h *byHand) {
				const handlers = int(code.New) << 8
				oneFrame([]byte{252, 0, 5, 8, 0, 6}, []byte{252, 0, 15, 8, 0, 21})(h)
				h.before.Handlers = slices.Repeat([]crafted.Handler{{Start: 0, End: 1, Handler: 4}}, handlers)
				h.after.Handlers = slices.Repeat([]crafted.Handler{{Start: 5, End: 6, Handler: 9}}, handlers)
				copy(h.before.Code, crafted.Op(code.Nop, byte(code.Goto)))
				copy(h.after.Code[5:], crafted.Op(code.Nop, byte(code.Goto)))
				h.after.MaxStack = 2
			}},

		{name: "code that only a frame leads to", change: unreached(0, list(crafted.Frames([]byte{3}, []byte{0})),
			list(crafted.Frames([]byte{8}, []byte{5}))), proven: true},
		{name: "code that only a frame leads to, with a word on the stack", change: unreached(1,
			list(crafted.Frames([]byte{64 + 3, 1}, []byte{0})), list(crafted.Frames([]byte{64 + 8, 1}, []byte{5}))),
			proven: true},
		{name: "code that only a frame leads to, with 65536 words on the stack",
			change: unreached(0, list(deep(3)), list(deep(8)))},
		{name: "code that only a second StackMapTable leads to", change: unreached(5,
			list(crafted.Frames([]byte{4}), crafted.Frames(fullFrame(3, append([]byte{0, 5}, ints(5)...)...))),
			list(crafted.Frames([]byte{14}), crafted.Frames(fullFrame(8, append([]byte{0, 5}, ints(5)...)...))))},
	})
}

// TestLockstepOfCode has faults of the code, some of them in both classes.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfCode(t *testing.T) {
	const iload, pop, leave, nop, athrow = byte(code.Iload0), byte(code.Pop), byte(code.Return), byte(code.Nop),
		byte(code.Athrow)
	own := func(stack uint16, exit int, code ...byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(code, exit)
			h.before.MaxStack, h.after.MaxStack = stack, max(1, stack)
		}
	}
	// cut leaves only the beginning of the rewritten code.
	cut := func(n int, code ...byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(code, len(code)-1)
			h.after.Code = h.after.Code[:n]
		}
	}
	zeros := func(n int) []byte { return make([]byte, n) }
	array := func(constant func(h *byHand) uint16, dimensions byte, then code.Op) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(slices.Concat([]byte{iload}, crafted.Op(code.Multianewarray, crafted.U2(constant(h))...),
				[]byte{dimensions, byte(then), leave}), 6)
		}
	}
	class := func(*byHand) uint16 { return 2 }
	table := code.Tableswitch
	compareHandCases(t, []handCase{
		{name: "a word too few", change: own(0, 1, pop, leave)},
		{name: "a word too few for a return", change: own(0, 0, byte(code.Ireturn))},
		{name: "a word too few for a branch", change: own(0, 3, byte(code.Ifeq), 0, 3, leave)},
		{name: "no end", change: own(1, 2, iload, pop)},
		{name: "an instruction cut off", change: own(1, 0, leave, byte(code.Sipush), 0)},
		{name: "an invokeinterface cut off", change: own(1, 1, iload, byte(code.Invokeinterface))},
		{name: "a goto cut off", change: own(1, 1, iload, byte(code.Goto))},
		{name: "no instruction", change: own(1, 1, nop, 0xFF, leave)},
		{name: "a jsr with the max_stack of a branch", change: own(1, 4, byte(code.Jsr), 0, 3, pop, leave)},
		{name: "a ret with the max_stack of the code behind it", change: func(h *byHand) {
			own(1, 3, iload, byte(code.Ret), 0, leave)(h)
			h.after.MaxStack = 2
		}},
		{name: "an exit call in a wide instruction", change: func(h *byHand) {
			h.setCode([]byte{byte(code.Wide), byte(code.Iload), 0, leave, pop, leave}, 3, 5)
			h.before.Attributes = []crafted.Attribute{crafted.Frames([]byte{64 + 4, 1})}
			h.after.Attributes = []crafted.Attribute{crafted.Frames([]byte{64 + 14, 1})}
			h.after.MaxStack = 2
		}},
		{name: "an instruction more at the end", change: func(h *byHand) {
			own(0, 0, leave)(h)
			h.after.Code = append(h.after.Code, leave)
		}},
		{name: "another instruction", change: func(h *byHand) {
			own(1, 2, iload, pop, leave)(h)
			h.after.Code[5]++
		}},
		{name: "another instruction before a branch", change: func(h *byHand) { h.after.Code[5]++ }},
		{name: "another branch", change: func(h *byHand) { h.after.Code[6] = byte(code.Ifne) }},
		{name: "another return", change: func(h *byHand) { h.after.Code[20] = byte(code.Areturn) }},
		{name: "a rewritten method of an entry call", change: cut(5, leave)},
		{name: "a rewritten method that ends before a branch",
			change: cut(5, append(zeros(40), byte(code.Goto), 0, 3, leave)...)},
		{name: "a rewritten method that ends before a switch",
			change: cut(5, slices.Concat(zeros(40), []byte{iload, byte(table)}, zeros(2), zeros(16),
				[]byte{leave})...)},
		{name: "a rewritten method that ends before an exit call", change: cut(5, append(zeros(40), leave)...)},

		{name: "a branch behind the code", change: own(0, 3, byte(code.Goto), 0, 9, leave)},
		{name: "a branch before the code", change: own(0, 4, nop, byte(code.Goto), 0xFF, 0xF0, leave)},
		{name: "a branch to the end of the code", change: own(0, 3, byte(code.Goto), 0, 4, leave)},
		{name: "a conditional branch to the end of the code", change: own(1, 4, iload, byte(code.Ifeq), 0, 4, leave)},
		{name: "a branch into an instruction", change: own(1, 4, iload, byte(code.Ifeq), 0, 2, leave)},
		{name: "a branch into a later instruction",
			change: own(1, 8, iload, byte(code.Ifeq), 0, 4, byte(code.Sipush), 0, 0, pop, leave)},
		{name: "a branch back into an instruction", change: own(1, 7, byte(code.Sipush), 0, 0, byte(code.Ifeq), 0xFF,
			0xFE,
			nop, leave)},
		{name: "a branch forward to another depth",
			change: own(1, 5, iload, byte(code.Ifeq), 0, 4, iload, leave)},
		{name: "a branch back to another depth", change: own(2, 5, iload, iload, byte(code.Ifeq), 0xFF, 0xFE, leave)},
		{name: "a goto back to another depth", change: func(h *byHand) {
			h.setCode([]byte{iload, byte(code.Ifeq), 0, 8, iload, byte(code.Goto), 0xFF, 0xFB, nop, leave}, 9)
			h.before.MaxStack = 1
		}},
		{name: "a loop in which the stack grows by 65536 words", change: func(h *byHand) {
			deep := slices.Repeat([]byte{byte(code.Lconst0)}, 1<<15)
			h.setCode(slices.Concat([]byte{iload, byte(code.Ifeq), 0, 4, leave}, deep,
				[]byte{byte(code.Goto), 0x80, 0}), 4)
			h.after.Code[8] += 5
		}},
		{name: "a branch whose offset no longer fits", change: func(h *byHand) {
			h.setCode(slices.Concat([]byte{iload, byte(code.Ifeq), 0x7F, 0xFF}, zeros(1<<15-5), []byte{leave, leave}),
				1<<15-1, 1<<15)
			h.after.Code[7], h.after.Code[8] = 0x80, 4
			h.before.MaxStack, h.after.MaxStack = 65534, 65535
		}},

		{name: "a switch cut off", change: own(1, 1, iload, byte(table), 0, 0, 0, 0)},
		{name: "an array", change: array(class, 1, code.Pop), proven: true},
		{name: "an array of more dimensions than there are words", change: array(class, 2, code.Nop)},
		{name: "an array whose class is a new constant", change: array(func(h *byHand) uint16 { return h.firstNew() },
			1,
			code.Pop)},
	})
}

// TestLockstepOfThrows has methods with an athrow.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfThrows(t *testing.T) {
	const iload, pop, leave, athrow = byte(code.Iload0), byte(code.Pop), byte(code.Return), byte(code.Athrow)
	// thrown has an athrow at 1 that an entry of the exception table may cover, and if exits is set an exit call before.
	thrown := func(start, end uint16, exits bool) func(h *byHand) {
		return func(h *byHand) {
			where := []int{3}
			if exits {
				where = []int{1, 3}
			}
			h.setCode([]byte{iload, athrow, pop, leave}, where...)
			grown := uint16(len(h.after.Code) - len(h.before.Code) - 5)
			h.before.Handlers = []crafted.Handler{{Start: start, End: end, Handler: 2}}
			at := func(pc uint16) uint16 {
				if pc > 1 {
					return pc + grown
				}
				return pc + 5
			}
			h.after.Handlers = []crafted.Handler{{Start: at(start), End: at(end), Handler: at(2)}}
			if exits {
				h.after.MaxStack = 2
			}
		}
	}
	compareHandCases(t, []handCase{
		{name: "an athrow with an exit call", change: thrown(0, 1, true), proven: true},
		{name: "an athrow without behind what is covered", change: thrown(0, 1, false)},
		{name: "an athrow without before what is covered", change: thrown(2, 3, false)},
		{name: "a covered athrow without an exit call", change: thrown(1, 2, false), proven: true},
		{name: "a covered athrow with an exit call", change: thrown(1, 2, true)},
		{name: "an athrow with an exit call that is not wanted", change: func(h *byHand) {
			thrown(0, 1, true)(h)
			h.want.Exits.UncaughtThrows = false
		}},
		{name: "an athrow where no exit call is wanted", change: func(h *byHand) {
			thrown(0, 1, false)(h)
			h.want.Exits.UncaughtThrows = false
		}, proven: true},
	})
}

// TestLockstepOfSwitches has faults of a switch.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfSwitches(t *testing.T) {
	const iload, leave = byte(code.Iload0), byte(code.Return)
	// switched has a switch at 1, with that padding before and now, and operands before and now.
	switched := func(op code.Op, wasPad, nowPad []byte, was, now []int32) func(h *byHand) {
		return func(h *byHand) {
			words := func(all []int32) (b []byte) {
				for _, w := range all {
					b = binary.BigEndian.AppendUint32(b, uint32(w))
				}
				return b
			}
			rest := []byte{leave, leave}
			h.before.Code = slices.Concat([]byte{iload, byte(op)}, wasPad, words(was), rest)
			h.after.Code = slices.Concat(h.call(h.entry), []byte{iload, byte(op)}, nowPad, words(now),
				h.call(h.exit), rest[:1], h.call(h.exit), rest[1:])
			h.before.Attributes, h.after.Attributes = nil, nil
		}
	}
	zeros := func(n int) []byte { return make([]byte, n) }
	// short is a method whose ID takes one byte to push, so that a switch at 1 keeps its padding.
	short := func(change func(h *byHand)) func(h *byHand) {
		return func(h *byHand) {
			h.push, h.want.IDs = crafted.Op(code.Iconst4), []uint32{4}
			change(h)
		}
	}
	table, lookup := code.Tableswitch, code.Lookupswitch
	compareHandCases(t, []handCase{
		{name: "a tableswitch", change: short(switched(table, zeros(2), zeros(2), []int32{20, 0, 0, 19},
			[]int32{24, 0, 0, 19})), proven: true},
		{name: "a lookupswitch", change: short(switched(lookup, zeros(2), zeros(2), []int32{20, 1, 9, 19},
			[]int32{24, 1, 9, 19})), proven: true},
		{name: "a lookupswitch of two cases", change: short(switched(lookup, zeros(2), zeros(2),
			[]int32{28, 2, 9, 27, 10, 28}, []int32{32, 2, 9, 27, 10, 32})), proven: true},
		{name: "a tableswitch of which the padding changes", change: switched(table, zeros(2), zeros(1),
			[]int32{20, 0, 0, 19}, []int32{24, 0, 0, 18}), proven: true},
		{name: "a default that leads elsewhere", change: short(switched(table, zeros(2), zeros(2), []int32{20, 0, 0,
			19},
			[]int32{19, 0, 0, 19}))},
		{name: "a case that leads elsewhere", change: short(switched(table, zeros(2), zeros(2), []int32{20, 0, 0, 19},
			[]int32{24, 0, 0, 24}))},
		{name: "a second case that leads elsewhere", change: short(switched(table, zeros(2), zeros(2),
			[]int32{24, 0, 1, 23, 24}, []int32{28, 0, 1, 23, 24}))},
		{name: "a second case", change: short(switched(table, zeros(2), zeros(2),
			[]int32{24, 0, 1, 23, 24}, []int32{28, 0, 1, 23, 28})), proven: true},
		{name: "other cases", change: short(switched(table, zeros(2), zeros(2), []int32{20, 0, 0, 19},
			[]int32{24, 1, 1, 19}))},
		{name: "a case of a lookupswitch that leads elsewhere", change: short(switched(lookup, zeros(2), zeros(2),
			[]int32{20, 1, 9, 19}, []int32{24, 1, 9, 24}))},
		{name: "another key", change: short(switched(lookup, zeros(2), zeros(2), []int32{20, 1, 9, 19},
			[]int32{24, 1, 8, 19}))},
		{name: "fewer cases", change: short(switched(lookup, zeros(2), zeros(2), []int32{20, 2, 9, 19, 10, 19},
			[]int32{24, 1, 9, 19}))},
		{name: "a switch to the start of the method", change: short(switched(table, zeros(2), zeros(2),
			[]int32{20, 0, 0, -1}, []int32{24, 0, 0, -5}))},
		{name: "other padding", change: short(switched(table, zeros(2), []byte{0, 1}, []int32{20, 0, 0, 19},
			[]int32{24, 0, 0, 19}))},
		{name: "padding that is not zero", change: short(switched(table, []byte{0, 1}, []byte{0, 1},
			[]int32{20, 0, 0, 19}, []int32{24, 0, 0, 19})), proven: true},
		{name: "padding that changes and was not zero", change: switched(table, []byte{1, 1}, zeros(1),
			[]int32{20, 0, 0, 19}, []int32{24, 0, 0, 18})},
		{name: "padding that changes and is not zero", change: switched(table, zeros(2), []byte{1},
			[]int32{20, 0, 0, 19}, []int32{24, 0, 0, 18})},
		{name: "a switch of no cases by its bounds", change: short(switched(table, zeros(2), zeros(2),
			[]int32{20, 2, 0, 19}, []int32{24, 2, 0, 19}))},
		{name: "another instruction before a switch", change: func(h *byHand) {
			short(switched(table, zeros(2), zeros(2), []int32{20, 0, 0, 19}, []int32{24, 0, 0, 19}))(h)
			h.after.Code[4] = byte(code.Iload1)
		}},
	})
}

// TestLockstepForgets has a second method that would have the right max_stack with the calls of the first.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepForgets(t *testing.T) {
	h := newByHand()
	h.want.IDs = []uint32{7, 7}
	h.setCode(crafted.Op(code.Iload0, byte(code.Return)), 1)
	h.after.MaxStack = 2
	h.original.Add(h.before)
	h.rewritten.Add(h.after)
	h.setCode(crafted.Op(code.Iload0, byte(code.Pop), byte(code.Return)), 2)
	original, rewritten := h.classes(t)
	var n compared
	n.compare(t, "two methods", original, rewritten, h.want)
	if n.accepted != 0 || n.sure != 1 {
		t.Errorf("accepted %t, %d methods by the lockstep", n.accepted == 1, n.sure)
	}
}

// TestLockstepOfMethodAttributes has methods with two Code attributes and with another attribute.
//
// Invariant: The equivalence check's lockstep accepts no method that its exact path does not accept.
func TestLockstepOfMethodAttributes(t *testing.T) {
	// withAttribute appends an attribute to the only method, which is the last thing in the class but for two zeros.
	withAttribute := func(c *classfile.Class, name uint16, info []byte) *classfile.Class {
		data := slices.Clone(c.Bytes()[:len(c.Bytes())-2])
		data[c.Methods()[0].Offset+7]++
		data = binary.BigEndian.AppendUint32(append(data, crafted.U2(name)...), uint32(len(info)))
		return parsed(t, slices.Concat(data, info, []byte{0, 0}))
	}
	h := newByHand()
	code, other := h.original.Utf8("Code"), h.original.Utf8("v")
	original, rewritten := h.classes(t)
	for _, row := range []struct {
		name             string
		original, result *classfile.Class
		proven           bool
	}{
		{"another attribute", withAttribute(original, other, []byte{1}), withAttribute(rewritten, other, []byte{1}),
			true},
		{"another attribute that differs", withAttribute(original, other, []byte{1}),
			withAttribute(rewritten, other, []byte{2}), false},
		{"another attribute of another name", withAttribute(original, other, []byte{1}),
			withAttribute(rewritten, other+1, []byte{1}), false},
		{"two Code attributes", withAttribute(original, code, codeInfo(original)),
			withAttribute(rewritten, code, codeInfo(rewritten)), false},
	} {
		var n compared
		n.compare(t, row.name, row.original, row.result, h.want)
		if (n.accepted == 1) != row.proven || row.proven && n.sure != 1 {
			t.Errorf("%s: accepted %t, by the lockstep %t", row.name, n.accepted == 1, n.sure == 1)
		}
	}
}
