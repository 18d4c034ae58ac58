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
	name      string
	constants func(a *crafted.Class) // adds constants to both classes
	change    func(h *byHand)        // changes the method of each
	proven    bool                   // whether the check must accept it
}

func checkHandCases(t *testing.T, cases []handCase) {
	for _, c := range cases {
		h := newByHand()
		if c.constants != nil {
			h = newByHand(c.constants)
		}
		c.change(h)
		original, rewritten := h.classes(t)
		if findings := equivalence.Check(original, rewritten, h.want); (len(findings) == 0) != c.proven {
			t.Errorf("%s: findings %v, want none: %t", c.name, findings, c.proven)
		}
	}
}

// firstNew is the index of the first constant that only the rewritten class has.
func (h *byHand) firstNew() uint16 { return h.original.Count }

// The instructions that most methods of the cases consist of.
const (
	iload, pop, leave, athrow = byte(code.Iload0), byte(code.Pop), byte(code.Return), byte(code.Athrow)
)

// TestByHandCalls has faults of the calls and of what was asked for.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandCalls(t *testing.T) {
	const post = "(Ljava/lang/Runnable;)Z"
	integer := func(a *crafted.Class) uint16 { return a.Constant(classfile.TagInteger, 0, 0, 0x9C, 0x40) }
	empty := func(h *byHand) {
		h.setCode([]byte{leave}, 0)
		h.before.MaxStack = 0
	}
	named := func(h *byHand, name, descriptor string) {
		for _, m := range []*crafted.Method{&h.before, &h.after} {
			m.Access, m.Name, m.Descriptor = classfile.AccPublic, name, descriptor
		}
	}
	// thrown has an athrow at 1 that an entry of the exception table may cover, and if exits is set an exit call before.
	thrown := func(start, end uint16, exits bool) func(h *byHand) {
		return func(h *byHand) {
			where := []int{3}
			if exits {
				where = []int{1, 3}
			}
			h.setCode([]byte{iload, athrow, pop, leave}, where...)
			grown := uint16(len(h.after.Code) - len(h.before.Code) - 5)
			at := func(pc uint16) uint16 {
				if pc > 1 {
					return pc + grown
				}
				return pc + 5
			}
			h.before.Handlers = []crafted.Handler{{Start: start, End: end, Handler: 2}}
			h.after.Handlers = []crafted.Handler{{Start: at(start), End: at(end), Handler: at(2)}}
			h.after.MaxStack = uint16(len(where))
		}
	}
	checkHandCases(t, []handCase{
		{name: "an ID that the original's pool had", constants: func(a *crafted.Class) { integer(a) },
			change: func(h *byHand) {
				h.want.IDs[0], h.push = 40000, crafted.Op(code.Ldc, byte(integer(h.original)))
				empty(h)
			}},
		{name: "no method i, and an entry call of constant 0", change: func(h *byHand) {
			known := h.rewritten.Known
			h.rewritten.Pool, h.rewritten.Count = slices.Clone(h.original.Pool), h.original.Count
			h.rewritten.Known = map[string]uint16{}
			h.entry, h.exit = 0, methodref2(h.rewritten, beat, "o", "(I)V")
			h.rewritten.Known = known
			empty(h)
		}},
		{name: "no probe", constants: func(a *crafted.Class) { a.Methodref("H", "post", post) },
			change: func(h *byHand) {
				h.setCode(slices.Concat(crafted.Op(code.Aload0, byte(code.Aload0)), crafted.Op(code.Invokevirtual,
					crafted.U2(h.original.Methodref("H", "post", post))...), []byte{pop, leave}), 6)
				h.before.MaxStack, h.after.MaxStack = 2, 2
				h.want.Posts = true
			}},
		{name: "an entry call before a constructor's call", constants: func(a *crafted.Class) {
			a.Methodref("java/lang/Object", "<init>", "()V")
		}, change: func(h *byHand) {
			constructor := crafted.U2(h.original.Methodref("java/lang/Object", "<init>", "()V"))
			h.setCode(slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Invokespecial, constructor...),
				[]byte{leave}), 4)
			named(h, "<init>", "()V")
			h.want.EntryAfterSuper = true
		}},
		{name: "no focus hook", constants: func(a *crafted.Class) { a.NameAndType("onWindowFocusChanged", "(Z)V") },
			change: func(h *byHand) {
				empty(h)
				named(h, "onWindowFocusChanged", "(Z)V")
				h.want.FocusHooked = true
			}},
		{name: "an athrow with an exit call", change: thrown(0, 1, true), proven: true},
		{name: "an athrow without before what is covered", change: thrown(2, 3, false)},
		{name: "a covered athrow with an exit call", change: thrown(1, 2, true)},
	})
}

// TestByHandCode has faults of the code, and code at the limits.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandCode(t *testing.T) {
	// long is a method of that many bytes.
	long := func(length int) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(append(make([]byte, length-1), leave), length-1)
			h.before.MaxStack = 0
		}
	}
	// switched has a switch at 1, with that padding before and now.
	switched := func(id byte, was, now []byte, operandsWas, operandsNow []int32) func(h *byHand) {
		return func(h *byHand) {
			h.push, h.want.IDs = crafted.Op(code.Iconst0+code.Op(id)), []uint32{uint32(id)}
			if id > 5 {
				h.push = crafted.Op(code.Bipush, id)
			}
			own := func(pad []byte, operands []int32) []byte {
				b := append([]byte{iload, byte(code.Tableswitch)}, pad...)
				for _, v := range operands {
					b = binary.BigEndian.AppendUint32(b, uint32(v))
				}
				return b
			}
			h.setCode(append(own(was, operandsWas), leave, leave))
			h.after.Code = slices.Concat(h.call(h.entry), own(now, operandsNow), h.call(h.exit), []byte{leave},
				h.call(h.exit), []byte{leave})
		}
	}
	const most = 65525 // with two calls of five bytes
	checkHandCases(t, []handCase{
		{name: "an instruction more at the end", change: func(h *byHand) {
			h.setCode([]byte{leave}, 0)
			h.before.MaxStack = 0
			h.after.Code = append(h.after.Code, leave)
		}},
		{name: "as much code as there may be", change: long(most), proven: true},
		{name: "one byte too much code with the calls", change: long(most + 1)},
		{name: "padding that is not zero", change: switched(4, []byte{0, 1}, []byte{0, 1}, []int32{20, 0, 0, 19},
			[]int32{24, 0, 0, 19}), proven: true},
		{name: "padding that changes and is not zero", change: switched(7, []byte{0, 0}, []byte{1},
			[]int32{20, 0, 0, 19}, []int32{24, 0, 0, 18})},
		{name: "a value below the stack", constants: func(a *crafted.Class) { a.Fieldref("Hand", "x", "J") },
			change: func(h *byHand) {
				field := crafted.U2(h.original.Fieldref("Hand", "x", "J"))
				h.setCode(slices.Concat([]byte{iload}, crafted.Op(code.Putstatic, field...), []byte{iload, leave}), 5)
			}},
	})
}

// TestByHandTables has faults of exception tables, lines and max_stack.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandTables(t *testing.T) {
	handled := func(last byte, was, now crafted.Handler) func(h *byHand) {
		return func(h *byHand) {
			own := []byte{iload, pop, leave, pop, leave}
			if last == athrow {
				own = []byte{iload, pop, leave, athrow}
			}
			h.setCode(own, 2, len(own)-1)
			h.before.Handlers, h.after.Handlers = []crafted.Handler{was}, []crafted.Handler{now}
			if last == athrow {
				h.after.MaxStack = 2
			}
		}
	}
	handler := func(catchWas, catchNow uint16) (was, now crafted.Handler) {
		return crafted.Handler{Start: 0, End: 2, Handler: 3, Catch: catchWas},
			crafted.Handler{Start: 5, End: 7, Handler: 13, Catch: catchNow}
	}
	caught := func(last byte, was, now uint16) func(h *byHand) {
		a, b := handler(was, now)
		return handled(last, a, b)
	}
	checkHandCases(t, []handCase{
		{name: "a handler", change: caught(leave, 0, 0), proven: true},
		{name: "a handler that covers a return and the exit call before it", change: handled(leave,
			crafted.Handler{Start: 2, End: 3, Handler: 3}, crafted.Handler{Start: 7, End: 13, Handler: 13}), proven: true},
		{name: "a handler that begins to cover behind an exit call", change: handled(leave,
			crafted.Handler{Start: 2, End: 3, Handler: 3}, crafted.Handler{Start: 12, End: 13, Handler: 13})},
		{name: "a handler that covers the exit call behind it", change: handled(leave,
			crafted.Handler{Start: 0, End: 2, Handler: 3}, crafted.Handler{Start: 5, End: 12, Handler: 13})},
		{name: "a handler elsewhere", change: handled(leave,
			crafted.Handler{Start: 0, End: 2, Handler: 3}, crafted.Handler{Start: 5, End: 7, Handler: 14})},
		{name: "a handler of a new constant", change: func(h *byHand) { caught(leave, h.firstNew(), h.firstNew())(h) }},
		{name: "a handler at the end of the code", change: func(h *byHand) {
			h.setCode([]byte{iload, pop, leave}, 2)
			h.before.Handlers = []crafted.Handler{{Start: 0, End: 2, Handler: 3}}
			h.after.Handlers = []crafted.Handler{{Start: 5, End: 7, Handler: 13}}
		}},
		{name: "a handler that looks like the exact one", change: caught(athrow, 0, 0)},
		{name: "a handler that only looks like the exact one, but for its class", change: caught(athrow, 2, 2), proven: true},
		{name: "lines of one byte", change: func(h *byHand) {
			h.before.Attributes[1].Info, h.after.Attributes[1].Info = []byte{0}, []byte{0}
		}},
		{name: "max_stack too small for an exit call over a word", change: func(h *byHand) {
			h.setCode([]byte{iload, leave}, 1)
		}},
	})
}

// TestByHandFrames has faults of frames, some of them in both classes, and frames whose forms are at the limits.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandFrames(t *testing.T) {
	frame := func(was, now []byte) func(h *byHand) {
		return func(h *byHand) {
			h.before.Attributes[0], h.after.Attributes[0] = crafted.Frames(was), crafted.Frames(now)
		}
	}
	// far has a frame at a position that is now five bytes further.
	far := func(at int, was, now []byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(append(make([]byte, at), leave), at)
			h.before.MaxStack = 0
			h.before.Attributes = []crafted.Attribute{crafted.Frames(was)}
			h.after.Attributes = []crafted.Attribute{crafted.Frames(now)}
		}
	}
	// thrown has a frame at a handler, which is at 3 and now at 13.
	thrown := func(was, now []byte) func(h *byHand) {
		return func(h *byHand) {
			h.setCode([]byte{iload, pop, leave, pop, leave}, 2, 4)
			h.before.Handlers = []crafted.Handler{{Start: 0, End: 2, Handler: 3}}
			h.after.Handlers = []crafted.Handler{{Start: 5, End: 7, Handler: 13}}
			h.before.Attributes = []crafted.Attribute{crafted.Frames(was)}
			h.after.Attributes = []crafted.Attribute{crafted.Frames(now)}
		}
	}
	// unreached has code that only a frame leads to, at 3 and now at 8.
	unreached := func(stack uint16, was, now []crafted.Attribute) func(h *byHand) {
		return func(h *byHand) {
			h.setCode(crafted.Op(code.Goto, 0, 4, leave, leave), 3, 4)
			h.after.Code[7] = 9
			h.before.MaxStack, h.after.MaxStack = stack, stack+1
			h.before.Attributes, h.after.Attributes = was, now
		}
	}
	list := func(all ...crafted.Attribute) []crafted.Attribute { return all }
	deep := func(delta byte) crafted.Attribute { // a full_frame with five ints on the stack
		return crafted.Frames([]byte{255, 0, delta, 0, 0, 0, 5, 1, 1, 1, 1, 1})
	}
	checkHandCases(t, []handCase{
		{name: "more bytes now", change: func(h *byHand) {
			frame([]byte{5}, []byte{15})(h)
			h.after.Attributes[0].Info = append(h.after.Attributes[0].Info, 0)
		}},
		{name: "a reserved form", change: frame([]byte{128, 0, 5}, []byte{128, 0, 15})},
		{name: "the last reserved form", change: frame([]byte{245, 0, 5}, []byte{245, 0, 15})},
		{name: "an int at 64 in a reserved form", change: func(h *byHand) {
			h.setCode(append(make([]byte, 55), byte(code.Iconst0), byte(code.Goto), 0, 3, pop, leave), 60)
			h.before.Attributes = list(crafted.Frames([]byte{64 + 59, 1}))
			h.after.Attributes = list(crafted.Frames([]byte{128, 1}))
		}},
		{name: "a word on the stack cut off in both", change: frame([]byte{64 + 5}, []byte{64 + 15})},
		{name: "an unknown type", change: frame([]byte{252, 0, 5, 9, 0, 2}, []byte{252, 0, 15, 9, 0, 2})},
		{name: "a class that is a new constant", change: func(h *byHand) {
			class := crafted.U2(h.firstNew())
			frame(append([]byte{252, 0, 5, 7}, class...), append([]byte{252, 0, 15, 7}, class...))(h)
		}},

		{name: "a frame that became extended", change: far(60, []byte{60}, []byte{251, 0, 65}), proven: true},
		{name: "a frame that became extended at 63", change: far(58, []byte{58}, []byte{251, 0, 63})},
		{name: "a frame that was extended without need", change: far(63, []byte{251, 0, 63}, []byte{251, 0, 68})},
		{name: "an exception's that is extended as before",
			change: thrown([]byte{247, 0, 3, 7, 0, 2}, []byte{247, 0, 13, 7, 0, 2}), proven: true},
		{name: "an exception's that became extended without need",
			change: thrown([]byte{67, 7, 0, 2}, []byte{247, 0, 13, 7, 0, 2})},

		{name: "code that only a frame leads to, with a word on the stack", change: unreached(1,
			list(crafted.Frames([]byte{64 + 3, 1}, []byte{0})), list(crafted.Frames([]byte{64 + 8, 1}, []byte{5}))),
			proven: true},
		{name: "code that only a second StackMapTable leads to", change: unreached(5,
			list(crafted.Frames([]byte{4}), deep(3)), list(crafted.Frames([]byte{14}), deep(8)))},
	})
}
