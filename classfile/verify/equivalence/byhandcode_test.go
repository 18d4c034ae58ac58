package equivalence_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// TestByHandCode has faults of the code, some of them in both classes.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandCode(t *testing.T) {
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
	checkHandCases(t, []handCase{
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

// TestByHandThrows has methods with an athrow.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandThrows(t *testing.T) {
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
	checkHandCases(t, []handCase{
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

// TestByHandSwitches has faults of a switch.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestByHandSwitches(t *testing.T) {
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
	checkHandCases(t, []handCase{
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
