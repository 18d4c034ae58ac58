package equivalence_test

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

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

// far has a frame at a position that is now five bytes further.
func far(at int, was, now []byte) func(h *byHand) {
	return func(h *byHand) {
		h.setCode(append(make([]byte, at), byte(code.Return)), at)
		h.before.MaxStack = 0
		h.before.Attributes = []crafted.Attribute{crafted.Frames(was)}
		h.after.Attributes = []crafted.Attribute{crafted.Frames(now)}
	}
}

// TestByHandFrames has faults of the forms of frames, some of them in both classes.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandFrames(t *testing.T) {
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
	checkHandCases(t, []handCase{
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

// TestByHandFrameTypes has faults of the types in frames.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandFrameTypes(t *testing.T) {
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
	checkHandCases(t, []handCase{
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
