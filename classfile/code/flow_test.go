package code_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile/code"
)

// growth lists by how many words the operand stack grows (JVMS 6.5) with each opcode from the one listed to the
// next one listed; 99 if that depends on the operand.
var growth = []struct{ from, words int }{
	{0x00, 0}, {0x01, 1}, {0x09, 2}, {0x0B, 1}, {0x0E, 2}, {0x10, 1}, {0x14, 2}, {0x15, 1}, {0x16, 2}, {0x17, 1},
	{0x18, 2},
	{0x19, 1}, {0x1E, 2}, {0x22, 1}, {0x26, 2}, {0x2A, 1}, {0x2E, -1}, {0x2F, 0}, {0x30, -1}, {0x31, 0}, {0x32, -1},
	{0x37, -2}, {0x38, -1}, {0x39, -2}, {0x3A, -1}, {0x3F, -2}, {0x43, -1}, {0x47, -2}, {0x4B, -1}, {0x4F, -3},
	{0x50, -4},
	{0x51, -3}, {0x52, -4}, {0x53, -3}, {0x57, -1}, {0x58, -2}, {0x59, 1}, {0x5C, 2}, {0x5F, 0}, {0x60, -1}, {0x61, -2},
	{0x62, -1}, {0x63, -2}, {0x64, -1}, {0x65, -2}, {0x66, -1}, {0x67, -2}, {0x68, -1}, {0x69, -2}, {0x6A, -1},
	{0x6B, -2},
	{0x6C, -1}, {0x6D, -2}, {0x6E, -1}, {0x6F, -2}, {0x70, -1}, {0x71, -2}, {0x72, -1}, {0x73, -2}, {0x74, 0},
	{0x78, -1},
	{0x7F, -2}, {0x80, -1}, {0x81, -2}, {0x82, -1}, {0x83, -2}, {0x84, 0}, {0x85, 1}, {0x86, 0}, {0x87, 1}, {0x88, -1},
	{0x8A, 0}, {0x8C, 1}, {0x8E, -1}, {0x8F, 0}, {0x90, -1}, {0x91, 0}, {0x94, -3}, {0x95, -1}, {0x97, -3}, {0x99, -1},
	{0x9F, -2}, {0xA7, 0}, {0xA8, 1}, {0xA9, 0}, {0xAA, -1}, {0xAD, -2}, {0xAE, -1}, {0xAF, -2}, {0xB0, -1}, {0xB1, 0},
	{0xB2, 99}, {0xBB, 1}, {0xBC, 0}, {0xBF, -1}, {0xC0, 0}, {0xC2, -1}, {0xC4, 99}, {0xC6, -1}, {0xC8, 0}, {0xC9, 1},
}

func TestStackWords(t *testing.T) {
	m := assembled{bytecode: asm(code.Return)}.sample(t)
	pool := m.class.ConstantPool()
	for op := range 0xCA {
		i, _ := slices.BinarySearchFunc(growth, op+1,
			func(row struct{ from, words int }, op int) int { return row.from - op })
		want := growth[i-1].words
		if want == 99 {
			continue
		}
		in, err := code.At(append([]byte{byte(op)}, nops(20)...), 0)
		if err != nil {
			t.Fatal(err)
		}
		pops, pushes, err := in.StackWords(pool)
		if err != nil || pushes-pops != want {
			t.Errorf("%v takes %d and puts %d (%v), want a growth of %d", in.Op, pops, pushes, err, want)
		}
	}
	for _, test := range []struct {
		code         []byte
		pops, pushes int
		fails        string
	}{
		{asm(code.Invokevirtual, callVoid), 1, 0, ""},
		{asm(code.Invokestatic, callVoid), 0, 0, ""},
		{asm(code.Invokespecial, thisInit), 2, 0, ""},
		{asm(code.Invokestatic, callWide), 4, 2, ""},
		{asm(code.Invokeinterface, callWide, 0), 5, 2, ""},
		{asm(code.Multianewarray, classT, byte(3)), 3, 1, ""},
		{asm(code.Wide, code.Lload, 300), 0, 2, ""},
		{asm(code.Wide, code.Dstore, 300), 2, 0, ""},
		{asm(code.Wide, code.Iinc, 300, 1), 0, 0, ""},
		{asm(code.Wide, code.Ret, 300), 0, 0, ""},
		{asm(code.Getfield, callVoid), 0, 0, `getfield at 0: malformed field descriptor "()V"`},
		{asm(code.Invokestatic, classT), 0, 0,
			"invokestatic at 0: constant pool index 2 does not refer to a member (Class)"},
		{asm(code.Invokestatic, 0), 0, 0,
			"invokestatic at 0: constant pool index 0 does not refer to a member (tag 0)"},
	} {
		in, err := code.At(test.code, 0)
		if err != nil {
			t.Fatal(err)
		}
		pops, pushes, err := in.StackWords(pool)
		if pops != test.pops || pushes != test.pushes || fmt.Sprint(err) != errorText(test.fails) {
			t.Errorf("%v: %d, %d, %v; want %d, %d, %s",
				in.Op, pops, pushes, err, test.pops, test.pushes, errorText(test.fails))
		}
	}
}

// errorText returns what fmt prints for an error with that text, or for nil if it is "".
func errorText(text string) string {
	if text == "" {
		return "<nil>"
	}
	return text
}

func TestDescriptorWords(t *testing.T) {
	for _, test := range []struct {
		descriptor        string
		arguments, result int
		ok                bool
	}{
		{"()V", 0, 0, true}, {"(BCDFIJSZ)J", 10, 2, true}, {"(La/B;[D[[Ljava/lang/String;)[J", 3, 1, true},
		{"()D", 0, 2, true}, {"(J)Z", 2, 1, true}, {"(" + strings.Repeat("I", 255) + ")V", 255, 0, true},
		{"([" + strings.Repeat("[", 254) + "I)V", 1, 0, true},
		{"(" + strings.Repeat("I", 256) + ")V", 0, 0, false}, {"(" + strings.Repeat("[", 256) + "I)V", 0, 0, false},
		{"", 0, 0, false}, {"(", 0, 0, false}, {"()", 0, 0, false}, {"V", 0, 0, false}, {"(V)V", 0, 0, false},
		{"()VV", 0, 0, false},
		{"(L)V", 0, 0, false}, {"(La/B)V", 0, 0, false}, {"([)V", 0, 0, false}, {"()[", 0, 0, false},
		{"()X", 0, 0, false},
		{"()La/B", 0, 0, false}, {"()II", 0, 0, false}, {"(I", 0, 0, false},
	} {
		arguments, result, err := code.DescriptorWords(test.descriptor)
		if arguments != test.arguments || result != test.result || (err == nil) != test.ok {
			t.Errorf("%.40s: %d, %d, %v", test.descriptor, arguments, result, err)
		}
	}
}

func TestStackDepths(t *testing.T) {
	var depths code.Depths // one for all methods, which must not influence each other
	for _, test := range []struct {
		name string
		assembled
		want string // the depth at each position, or "-", then the greatest; or the error
	}{
		{"straight", assembled{bytecode: asm(code.Iconst0, code.Lconst0, code.Pop2, code.Pop, code.Return)},
			"0 1 3 1 0 max 3"},
		{"branch", assembled{bytecode: asm(code.Iconst0, code.Ifeq, 4, code.Nop, code.Return)}, "0 1 - - 0 0 max 1"},
		{"dead code", assembled{bytecode: asm(code.Return, code.Iconst0, code.Pop)}, "0 - - max 0"},
		{"dead code with a frame", assembled{bytecode: asm(code.Return, code.Iconst0, code.Pop, code.Return),
			attributes: map[string][]byte{"StackMapTable": asm(1, byte(255), 1, 0, 2, byte(1), byte(4))}},
			"0 3 4 3 max 4"},
		{"handler", assembled{bytecode: asm(code.Return, code.Athrow), handlers: u2s(0, 1, 1, 0)}, "0 1 max 1"},
		{"subroutine", assembled{bytecode: asm(code.Jsr, 4, code.Return, code.Astore0, code.Ret, byte(0))},
			"0 - - 0 1 0 - max 1"},
		{"switch", assembled{bytecode: asm(code.Iconst0, code.Tableswitch, nops(2), 0, 19, 0, 0, 0, 0, 0, 19,
			code.Return)},
			"0 1 - - - - - - - - - - - - - - - - - - 0 max 1"},
		{"underflow", assembled{bytecode: asm(code.Iconst0, code.Pop2)}, "pop2 at 1 takes 2 words off a stack of 1"},
		{"falls off", assembled{bytecode: asm(code.Nop)}, "control leaves the code: target 1 of 1 bytes"},
		{"jumps out", assembled{bytecode: asm(code.Goto, 3)}, "goto at 0: control leaves the code: target 3 of 3 bytes"},
		{"jumps out backwards", assembled{bytecode: asm(code.Goto, 0xFFFF)},
			"goto at 0: control leaves the code: target -1 of 3 bytes"},
		{"handler outside", assembled{bytecode: asm(code.Return), handlers: u2s(0, 1, 1, 0)},
			"exception handler: control leaves the code: target 1 of 1 bytes"},
		{"two depths", assembled{bytecode: asm(code.Iconst0, code.Iconst0, code.Ifeq, 4, code.Pop, code.Return)},
			"operand stack at 6 is 1 words deep on one path and 0 on another"},
		{"two depths at a goto", assembled{bytecode: asm(code.Iconst0, code.Ifeq, 8, code.Iconst0, code.Iconst0,
			code.Goto, 0xFFFB, code.Return)}, "goto at 6: operand stack at 1 is 1 words deep on one path and 2 on another"},
		{"two depths at a branch", assembled{bytecode: asm(code.Iconst0, code.Iconst0, code.Ifeq, 0xFFFE, code.Pop,
			code.Return)}, "ifeq at 2: operand stack at 0 is 0 words deep on one path and 1 on another"},
		{"no code", assembled{}, "control leaves the code: target 0 of 0 bytes"},
		{"unknown opcode", assembled{bytecode: asm(code.Nop, byte(0xFE))}, "unknown opcode 0xfe at 1"},
		{"cut off", assembled{bytecode: asm(code.Iconst0, code.Ifeq, byte(0))},
			"ifeq at 1 is malformed or runs past the end of the code (3 bytes)"},
		{"goto_w", assembled{bytecode: asm(code.GotoW, 0, 5, code.Return)}, "0 - - - - 0 max 0"},
		{"wide", assembled{bytecode: asm(code.Wide, code.Lload, 300, code.Pop2, code.Return)}, "0 - - - 2 0 max 2"},
		{"members", assembled{bytecode: asm(code.Getstatic, fieldInt, code.Dup, code.Putfield, fieldInt, code.Lconst0,
			code.Dconst0, code.Invokestatic, callWide, code.Pop2, code.Return)}, "0 - - 1 2 - - 0 2 4 - - 2 0 max 4"},
		{"a value below the stack", assembled{bytecode: asm(code.Putstatic, fieldInt, code.Return)},
			"putstatic at 0 takes 1 words off a stack of 0"},
		{"arguments below the stack", assembled{bytecode: asm(code.Aload0, code.Invokevirtual, callWide)},
			"invokevirtual at 1 takes 5 words off a stack of 1"},
		{"a method as a field", assembled{bytecode: asm(code.Getstatic, callVoid)},
			`getstatic at 0: malformed field descriptor "()V"`},
		{"a field as a method", assembled{bytecode: asm(code.Invokestatic, fieldInt)},
			`invokestatic at 0: "I" is not a method descriptor`},
		{"no member", assembled{bytecode: asm(code.Getstatic, 0xFFFF)},
			"getstatic at 0: constant pool index 65535 does not refer to a member (tag 0)"},
	} {
		m := test.sample(t)
		var got string
		if err := depths.Follow(m.class.ConstantPool(), &m.code); err != nil {
			got = err.Error()
		} else {
			for pc := range m.code.Bytecode {
				if depth, ok := depths.At(pc); ok {
					got += fmt.Sprint(depth, " ")
				} else {
					got += "- "
				}
			}
			got += fmt.Sprint("max ", depths.Max)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// checkDepths checks that the depth before each instruction is the one to which StackWords of the instruction before it
// leads. In a method with a jsr the depths are only assumed.
func checkDepths(t testing.TB, m sample, depths *code.Depths) {
	t.Helper()
	if depth, ok := depths.At(0); !ok || depth != 0 && !depths.Subroutines {
		t.Errorf("%s: starts with a stack of %d words, %t", m.name, depth, ok)
	}
	for pc := 0; pc < len(m.code.Bytecode) && !depths.Subroutines; pc++ {
		depth, ok := depths.At(pc)
		if !ok {
			continue
		}
		in, err := code.At(m.code.Bytecode, pc)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			return
		}
		pops, pushes, err := in.StackWords(m.class.ConstantPool())
		after := depth - pops + pushes
		if err != nil || depth < pops || max(depth, after) > depths.Max {
			t.Errorf("%s: depth %d at %d, %d words taken and %d pushed, at most %d, %v", m.name, depth, pc, pops, pushes,
				depths.Max, err)
		}
		next := slices.Collect(in.Targets())
		if in.FallsThrough() {
			next = append(next, pc+in.Size)
		}
		for _, to := range next {
			if got, ok := depths.At(to); !ok || got != after {
				t.Errorf("%s: from %d with a depth of %d to %d with %d, %t", m.name, pc, after, to, got, ok)
			}
		}
	}
}

func TestInitialisation(t *testing.T) {
	call := asm(code.Invokespecial, superInit)
	for _, test := range []struct {
		name string
		assembled
		calls []int
		at    []int // instructions where this is initialised on all paths
		fails string
	}{
		{"plain", assembled{bytecode: asm(code.Aload0, call, code.Nop, code.Return)}, []int{1}, []int{4, 5}, ""},
		{"another object first", assembled{bytecode: asm(code.Aload0, code.New, classT, code.Dup, code.Iconst0,
			code.Invokespecial, thisInit, code.Pop, call, code.Return)}, []int{10}, []int{13}, ""},
		{"through a local and back", assembled{bytecode: asm(code.Aload0, code.Astore, byte(5), code.Iconst0,
			code.Istore0, code.Aload, byte(5), code.Dup, code.Pop, call, code.Return)}, []int{9}, []int{12}, ""},
		{"shuffled on the stack", assembled{bytecode: asm(code.Iconst0, code.Aload0, code.DupX1, code.Pop2, code.Iconst1,
			code.Swap, code.Pop, call, code.Return)}, nil, nil, ""},
		{"below on the stack", assembled{bytecode: asm(code.Aload0, code.Iconst0, code.Dup2, code.Pop, code.Swap,
			code.Pop2, call, code.Return)}, []int{6}, []int{9}, ""},
		{"two calls", assembled{bytecode: asm(code.Iload1, code.Ifeq, 10, code.Aload0, call, code.Goto, 7, code.Aload0,
			call, code.Return)}, []int{5, 12}, []int{8, 15}, ""},
		{"a throw first", assembled{bytecode: asm(code.Iload1, code.Ifeq, 5, code.AconstNull, code.Athrow, code.Aload0,
			call, code.Return)}, []int{7}, []int{10}, ""},
		{"a loop first", assembled{bytecode: asm(code.Iload1, code.Ifne, 0xFFFF, code.Aload0, call, code.Return)},
			[]int{5}, []int{8}, ""},
		{"a handler over both sides", assembled{bytecode: asm(code.Aload0, call, code.Return, code.Athrow),
			handlers: u2s(0, 5, 5, 0)}, []int{1}, []int{4}, ""},
		{"a handler behind", assembled{bytecode: asm(code.Aload0, call, code.Return, code.Athrow),
			handlers: u2s(4, 5, 5, 0)}, []int{1}, []int{4, 5}, ""},
		{"never", assembled{bytecode: asm(code.Goto, 0)}, nil, nil, ""},
		{"not everywhere", assembled{bytecode: asm(code.Iload1, code.Ifeq, 7, code.Aload0, call, code.Return)}, []int{5},
			nil, ""},
		{"joined late", assembled{bytecode: asm(code.Iload1, code.Ifeq, 11, code.Aload0, call, code.Goto, 7, code.Nop,
			code.Goto, 3, code.Return)}, []int{5}, []int{8}, ""},
		{"again", assembled{bytecode: asm(code.Aload0, call, code.Aload0, call, code.Return)}, []int{1}, []int{4, 5, 8},
			""},
		{"of another object alone", assembled{bytecode: asm(code.AconstNull, call, code.Return)}, nil, nil, ""},
		{"underflow", assembled{bytecode: asm(call)}, nil, nil, "invokespecial at 0 takes 1 words off a stack of 0"},
		{"a local beyond all", assembled{bytecode: asm(code.Aload, byte(9), code.Return)}, nil, nil,
			"aload at 0 uses local 9 of 8"},
		{"unknown opcode", assembled{bytecode: []byte{0xFE}}, nil, nil, "unknown opcode 0xfe at 0"},
		{"falls off", assembled{bytecode: asm(code.Nop)}, nil, nil, "control leaves the code: target 1 of 1 bytes"},
	} {
		test.assembled.name, test.maxLocals = "<init>", 8
		m := test.sample(t)
		got, err := code.Initialisation(m.class.ConstantPool(), &m.code)
		if fmt.Sprint(err) != errorText(test.fails) {
			t.Errorf("%s: %v, want %s", test.name, err, errorText(test.fails))
			continue
		}
		var at []int
		for in := range code.Instructions(m.code.Bytecode) {
			if got.At(in.PC) {
				at = append(at, in.PC)
			}
		}
		if !slices.Equal(got.Calls, test.calls) || !slices.Equal(at, test.at) {
			t.Errorf("%s: calls at %v, initialised at %v; want %v, %v", test.name, got.Calls, at, test.calls, test.at)
		}
		if got.At(-1) || got.At(len(m.code.Bytecode)) {
			t.Errorf("%s: initialised outside of the code", test.name)
		}
	}
}
