package equivalence_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// handCase is a pair of classes with one method, which the check must accept or have a finding about.
type handCase struct {
	name string
	// constants are added to both classes, change then changes the method of each, and infos the Code attributes.
	constants func(a *crafted.Class)
	change    func(h *byHand)
	infos     func(before, after []byte) (was, now []byte)
	proven    bool
}

// checkHandCases checks each pair.
func checkHandCases(t *testing.T, cases []handCase) {
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
		checkAccepted(t, c.name, original, rewritten, h.want, c.proven)
	}
}

// checkAccepted checks whether a pair of classes has findings.
func checkAccepted(t *testing.T, name string, original, rewritten *classfile.Class, want equivalence.Instrumentation,
	proven bool) {
	t.Helper()
	if findings := equivalence.Check(original, rewritten, want); (len(findings) == 0) != proven {
		t.Errorf("%s: findings %v, want none: %t", name, findings, proven)
	}
}

func parsed(t *testing.T, data []byte) *classfile.Class {
	t.Helper()
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
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

// TestByHandCalls has faults of the calls and of what was asked for.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandCalls(t *testing.T) {
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
	checkHandCases(t, []handCase{
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

// TestByHandAttributes has faults of the attributes of a method: of how they are laid out, and of their contents.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandAttributes(t *testing.T) {
	const variables, grown = 47, 15 // where the variables begin in the original's info, and by how much that has grown
	both := func(change func(info []byte, end int) []byte) func(before, after []byte) (was, now []byte) {
		return func(before, after []byte) (was, now []byte) { return change(before, 14), change(after, 29) }
	}
	checkHandCases(t, []handCase{
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

// TestByHandTables has faults of exception tables, lines, variables and max_stack.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandTables(t *testing.T) {
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
	checkHandCases(t, []handCase{
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

// TestByHandMembers has instructions that name fields and methods by constants, most of them malformed in both
// classes.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandMembers(t *testing.T) {
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
		checkHandCases(t, []handCase{{name: c.name, constants: func(a *crafted.Class) { c.constant(a) },
			change: func(h *byHand) {
				own := crafted.Op(c.ops[0], crafted.U2(c.constant(h.original))...)
				for _, op := range c.ops[1:] {
					own = append(own, byte(op))
				}
				h.setCode(append(own, byte(code.Return)), len(own))
				h.before.MaxStack, h.after.MaxStack = 2, 2
			}, proven: c.proven}})
	}
	checkHandCases(t, []handCase{{name: "a field that is put", constants: func(a *crafted.Class) { field("I")(a) },
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
		checkHandCases(t, []handCase{{name: op.String() + " of a new constant", change: func(h *byHand) {
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

// TestByHandForgets has a second method that would have the right max_stack with the calls of the first.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandForgets(t *testing.T) {
	h := newByHand()
	h.want.IDs = []uint32{7, 7}
	h.setCode(crafted.Op(code.Iload0, byte(code.Return)), 1)
	h.after.MaxStack = 2
	h.original.Add(h.before)
	h.rewritten.Add(h.after)
	h.setCode(crafted.Op(code.Iload0, byte(code.Pop), byte(code.Return)), 2)
	original, rewritten := h.classes(t)
	checkAccepted(t, "two methods", original, rewritten, h.want, false)
}

// TestByHandMethodAttributes has methods with two Code attributes and with another attribute.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandMethodAttributes(t *testing.T) {
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
		checkAccepted(t, row.name, row.original, row.result, h.want, row.proven)
	}
}
