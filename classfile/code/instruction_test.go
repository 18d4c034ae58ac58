package code_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile/code"
)

// sizes repeats JVMS 6.5 independently of the opcode table: the length of the instructions with each opcode from
// the one listed to the next one listed.
var sizes = []struct{ from, size int }{
	{0x00, 1}, {0x10, 2}, {0x11, 3}, {0x12, 2}, {0x13, 3}, {0x15, 2}, {0x1A, 1}, {0x36, 2}, {0x3B, 1}, {0x84, 3},
	{0x85, 1}, {0x99, 3}, {0xA9, 2}, {0xAA, -1}, {0xAC, 1}, {0xB2, 3}, {0xB9, 5}, {0xBB, 3}, {0xBC, 2}, {0xBD, 3},
	{0xBE, 1}, {0xC0, 3}, {0xC2, 1}, {0xC4, -1}, {0xC5, 4}, {0xC6, 3}, {0xC8, 5}, {0xCA, 0},
}

// mnemonics are those of JVMS 6.5, in the order of their opcodes.
const mnemonics = "nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5 lconst_0 " +
	"lconst_1 fconst_0 fconst_1 fconst_2 dconst_0 dconst_1 bipush sipush ldc ldc_w ldc2_w iload lload fload " +
	"dload aload iload_0 iload_1 iload_2 iload_3 lload_0 lload_1 lload_2 lload_3 fload_0 fload_1 fload_2 " +
	"fload_3 dload_0 dload_1 dload_2 dload_3 aload_0 aload_1 aload_2 aload_3 iaload laload faload daload " +
	"aaload baload caload saload istore lstore fstore dstore astore istore_0 istore_1 istore_2 istore_3 " +
	"lstore_0 lstore_1 lstore_2 lstore_3 fstore_0 fstore_1 fstore_2 fstore_3 dstore_0 dstore_1 dstore_2 " +
	"dstore_3 astore_0 astore_1 astore_2 astore_3 iastore lastore fastore dastore aastore bastore castore " +
	"sastore pop pop2 dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap iadd ladd fadd dadd isub lsub fsub dsub " +
	"imul lmul fmul dmul idiv ldiv fdiv ddiv irem lrem frem drem ineg lneg fneg dneg ishl lshl ishr lshr " +
	"iushr lushr iand land ior lor ixor lxor iinc i2l i2f i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f i2b i2c i2s " +
	"lcmp fcmpl fcmpg dcmpl dcmpg ifeq ifne iflt ifge ifgt ifle if_icmpeq if_icmpne if_icmplt if_icmpge " +
	"if_icmpgt if_icmple if_acmpeq if_acmpne goto jsr ret tableswitch lookupswitch ireturn lreturn freturn " +
	"dreturn areturn return getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic " +
	"invokeinterface invokedynamic new newarray anewarray arraylength athrow checkcast instanceof " +
	"monitorenter monitorexit wide multianewarray ifnull ifnonnull goto_w jsr_w"

func TestInstructionSizes(t *testing.T) {
	for i, name := range strings.Fields(mnemonics) {
		if got := code.Op(i).String(); got != name {
			t.Errorf("opcode %#x is %s, want %s", i, got, name)
		}
	}
	for op := range 256 {
		i, _ := slices.BinarySearchFunc(sizes, op+1,
			func(row struct{ from, size int }, op int) int { return row.from - op })
		want := sizes[i-1].size
		bytecode := append([]byte{byte(op)}, make([]byte, 20)...)
		in, err := code.At(bytecode, 0)
		switch {
		case want < 0:
			continue // has its own test
		case want == 0:
			if err == nil || code.Op(op).Known() || !strings.Contains(err.Error(), "unknown opcode") {
				t.Errorf("opcode %#x: %+v, %v", op, in, err)
			}
			continue
		case err != nil || in.Size != want || in.Op != code.Op(op) || in.PC != 0 || len(in.Bytes()) != want:
			t.Errorf("opcode %#x has %d bytes (%v), want %d", op, in.Size, err, want)
		}
		for n := range want {
			if _, err := code.At(bytecode[:n], 0); err == nil {
				t.Errorf("%v is found in %d of its %d bytes", in.Op, n, want)
			}
		}
	}
}

func TestAtErrors(t *testing.T) {
	for _, test := range []struct {
		bytecode []byte
		pc       int
		want     string
	}{
		{nil, 0, "no instruction at 0: the code has 0 bytes"},
		{[]byte{0}, 1, "no instruction at 1: the code has 1 bytes"},
		{[]byte{0}, -1, "no instruction at -1: the code has 1 bytes"},
		{[]byte{0, 0xCA}, 1, "unknown opcode 0xca at 1"},
		{[]byte{0, 0xFF, 0}, 1, "unknown opcode 0xff at 1"},
		{[]byte{0x11, 0}, 0, "sipush at 0 is malformed or runs past the end of the code (2 bytes)"},
		{[]byte{0, 0xC4}, 1, "wide at 1 is malformed or runs past the end of the code (2 bytes)"},
		{[]byte{0xC4, 0x84, 0, 1, 0}, 0, "wide at 0 is malformed or runs past the end of the code (5 bytes)"},
		{[]byte{0xC4, 0x00, 0, 1, 0, 0}, 0, "wide at 0 is malformed or runs past the end of the code (6 bytes)"},
		{[]byte{0xC4, 0x1A, 0, 1, 0, 0}, 0, "wide at 0 is malformed or runs past the end of the code (6 bytes)"},
		{[]byte{0xC4, 0xC4, 0, 1, 0, 0}, 0, "wide at 0 is malformed or runs past the end of the code (6 bytes)"},
		{[]byte{0xC4, 0xFF, 0, 1, 0, 0}, 0, "wide at 0 is malformed or runs past the end of the code (6 bytes)"},
	} {
		if _, err := code.At(test.bytecode, test.pc); err == nil || err.Error() != test.want {
			t.Errorf("% x: got %v, want %s", test.bytecode, err, test.want)
		}
	}
}

func TestWide(t *testing.T) {
	for op := range 256 {
		want := 0
		switch {
		case op >= 0x15 && op <= 0x19, op >= 0x36 && op <= 0x3A, op == 0xA9:
			want = 4
		case op == 0x84:
			want = 6
		}
		in, err := code.At([]byte{0xC4, byte(op), 0x12, 0x34, 0x56, 0x78}, 0)
		if (err == nil) != (want > 0) || err == nil && in.Size != want {
			t.Errorf("wide %v has %d bytes (%v), want %d", code.Op(op), in.Size, err, want)
			continue
		}
		if err != nil {
			continue
		}
		if local, ok := in.Local(); local != 0x1234 || !ok {
			t.Errorf("wide %v uses local %d, %v", code.Op(op), local, ok)
		}
		if in.FallsThrough() != (code.Op(op) != code.Ret) {
			t.Errorf("wide %v falls through: %v", code.Op(op), in.FallsThrough())
		}
	}
}

// switchCode returns a code array with nops up to pc and there a switch, whose operands are words.
func switchCode(op code.Op, pc int, words ...int32) []byte {
	b := append(make([]byte, pc), byte(op))
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, uint32(w))
	}
	return b
}

func TestSwitches(t *testing.T) {
	for pc := range 9 {
		first := pc + 1 + (4-(pc+1)%4)%4
		table := switchCode(code.Tableswitch, pc, 20, -1, 1, 30, -int32(pc), 50)
		checkSwitch(t, table, pc, first+24, []int{first, first + 12, first + 16, first + 20},
			[]int{pc + 20, pc + 30, 0, pc + 50})
		lookup := switchCode(code.Lookupswitch, pc, 20, 2, -5, 30, 7, 40)
		checkSwitch(t, lookup, pc, first+24, []int{first, first + 12, first + 20}, []int{pc + 20, pc + 30, pc + 40})
		empty := switchCode(code.Lookupswitch, pc, 20, 0)
		checkSwitch(t, empty, pc, first+8, []int{first}, []int{pc + 20})
	}
}

func checkSwitch(t *testing.T, bytecode []byte, pc, end int, places, targets []int) {
	t.Helper()
	in, err := code.At(append(bytecode, 0xFF, 0xFF, 0xFF, 0xFF), pc)
	if err != nil || in.PC+in.Size != end || in.FallsThrough() {
		t.Fatalf("%+v (%v), want an end of %d", in, err, end)
	}
	var gotPlaces, gotTargets []int
	for place, target := range in.SwitchOffsets() {
		gotPlaces, gotTargets = append(gotPlaces, place), append(gotTargets, target)
	}
	if diff := cmp.Diff(places, gotPlaces); diff != "" {
		t.Errorf("%v at %d: places of offsets (-want +got):\n%s", in.Op, pc, diff)
	}
	if diff := cmp.Diff(targets, gotTargets); diff != "" {
		t.Errorf("%v at %d: targets (-want +got):\n%s", in.Op, pc, diff)
	}
	if diff := cmp.Diff(targets, slices.Collect(in.Targets())); diff != "" {
		t.Errorf("%v at %d: Targets (-want +got):\n%s", in.Op, pc, diff)
	}
	for range in.Targets() {
		break // an iteration may be left early
	}
	for n := pc; n < end; n++ {
		if _, err := code.At(bytecode[:n], pc); err == nil {
			t.Errorf("%v at %d is found in a code of %d bytes, it ends at %d", in.Op, pc, n, end)
		}
	}
}

func TestSwitchesMalformed(t *testing.T) {
	const most, least = 1<<31 - 1, -1 << 31
	for _, test := range []struct {
		op    code.Op
		words []int32
	}{
		{code.Tableswitch, []int32{0, 1, 0}},
		{code.Tableswitch, []int32{0, 2, 0, 0, 0, 0}},
		{code.Tableswitch, []int32{0, most, least}},
		{code.Tableswitch, []int32{0, least, most}},
		{code.Tableswitch, []int32{0, 0, most}},
		{code.Tableswitch, []int32{0, 0, 1, 0}},
		{code.Tableswitch, []int32{0, 0}},
		{code.Lookupswitch, []int32{0, -1}},
		{code.Lookupswitch, []int32{0, least}},
		{code.Lookupswitch, []int32{0, most, 0, 0}},
		{code.Lookupswitch, []int32{0, 0x20000000, 0, 0}},
		{code.Lookupswitch, []int32{0, 1, 0}},
		{code.Lookupswitch, []int32{0}},
	} {
		for pc := range 4 {
			if in, err := code.At(switchCode(test.op, pc, test.words...), pc); err == nil {
				t.Errorf("%v %v at %d has %d bytes", test.op, test.words, pc, in.Size)
			}
		}
	}
}

func TestOperands(t *testing.T) {
	type facts struct {
		constant  uint16
		local     int
		branch    int
		falls     bool
		isReturn  bool
		condition bool
	}
	const none = -1
	plain := facts{0, none, none, true, false, false}
	with := func(change func(*facts)) facts { f := plain; change(&f); return f }
	constant := with(func(f *facts) { f.constant = 0x1234 })
	local := func(n int) facts { return with(func(f *facts) { f.local = n }) }
	branch := with(func(f *facts) { f.branch, f.condition = 1+0x1234, true })
	jump := with(func(f *facts) { f.branch, f.falls = 1+0x1234, false })
	far := with(func(f *facts) { f.branch, f.falls = 1+0x12345678, false })
	ends := with(func(f *facts) { f.falls = false })
	returns := with(func(f *facts) { f.falls, f.isReturn = false, true })
	want := map[string]facts{
		"ldc": with(func(f *facts) { f.constant = 0x12 }), "ldc_w": constant, "ldc2_w": constant,
		"getstatic": constant, "putstatic": constant, "getfield": constant, "putfield": constant,
		"invokevirtual": constant, "invokespecial": constant, "invokestatic": constant, "invokeinterface": constant,
		"invokedynamic": constant, "new": constant, "anewarray": constant, "checkcast": constant,
		"instanceof": constant, "multianewarray": constant,
		"goto": jump, "jsr": jump, "goto_w": far, "jsr_w": far, "athrow": ends,
		"ret": with(func(f *facts) { f.local, f.falls = 0x12, false }), "iinc": local(0x12),
		"return": returns,
	}
	for _, kind := range "ilfda" {
		for n := range 4 {
			want[fmt.Sprintf("%cload_%d", kind, n)] = local(n)
			want[fmt.Sprintf("%cstore_%d", kind, n)] = local(n)
		}
		want[fmt.Sprintf("%cload", kind)] = local(0x12)
		want[fmt.Sprintf("%cstore", kind)] = local(0x12)
		want[fmt.Sprintf("%creturn", kind)] = returns
	}
	for _, condition := range strings.Fields("eq ne lt ge gt le null nonnull _icmpeq _icmpne _icmplt _icmpge _icmpgt " +
		"_icmple _acmpeq _acmpne") {
		want["if"+condition] = branch
	}
	seen := 0
	for op := range code.Op(0xCA) {
		if op == code.Wide || op == code.Tableswitch || op == code.Lookupswitch {
			continue
		}
		in, err := code.At([]byte{0, byte(op), 0x12, 0x34, 0x56, 0x78}, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := facts{in.Constant(), none, none, in.FallsThrough(), op.IsReturn(), op.IsConditional()}
		if n, ok := in.Local(); ok {
			got.local = n
		}
		if target, ok := in.Branch(); ok {
			got.branch = target
			if all := slices.Collect(in.Targets()); len(all) != 1 || all[0] != target {
				t.Errorf("%v: targets %v, branch to %d", op, all, target)
			}
		} else if all := slices.Collect(in.Targets()); len(all) != 0 {
			t.Errorf("%v: targets %v", op, all)
		}
		w, ok := want[op.String()]
		if !ok {
			w = plain
		} else {
			seen++
		}
		if got != w {
			t.Errorf("%v: got %+v, want %+v", op, got, w)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of the %d instructions listed exist", seen, len(want))
	}
	back, err := code.At([]byte{0, 0, 0xA7, 0xFF, 0xFE}, 2)
	if target, ok := back.Branch(); err != nil || !ok || target != 0 {
		t.Errorf("a branch back leads to %d (%v)", target, err)
	}
	far2, err := code.At([]byte{0, 0, 0xC8, 0xFF, 0xFF, 0xFF, 0xFE}, 2)
	if target, ok := far2.Branch(); err != nil || !ok || target != 0 {
		t.Errorf("a wide branch back leads to %d (%v)", target, err)
	}
}

func TestInstructions(t *testing.T) {
	var got []string
	for in, err := range code.Instructions([]byte{0x10, 5, 0xAC, 0xFE, 0x00}) {
		got = append(got, fmt.Sprint(in.PC, " ", in.Size, " ", err))
	}
	want := []string{"0 2 <nil>", "2 1 <nil>", "3 0 unknown opcode 0xfe at 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instructions (-want +got):\n%s", diff)
	}
	for range code.Instructions(nil) {
		t.Error("an empty code has an instruction")
	}
	for range code.Instructions([]byte{0, 0}) {
		break
	}
}

// FuzzInstructions checks that any bytes decode without a panic, that instructions follow each other without a gap,
// and that the positions an Instruction returns are within its bytes.
//
// Invariant: No method makes the analysis of code panic, and a malicious method costs no more than an ordinary one
// of its size.
func FuzzInstructions(f *testing.F) {
	for pc := range 4 {
		f.Add(switchCode(code.Tableswitch, pc, 20, -1, 1, 30, 40, 50))
		f.Add(switchCode(code.Lookupswitch, pc, 20, 1, -1, 30))
	}
	f.Add([]byte{0xC4, 0x84, 1, 2, 3, 4, 0xB1})
	for _, m := range sampleMethods(f) {
		if len(m.code.Bytecode) < 300 {
			f.Add(m.code.Bytecode)
		}
	}
	f.Fuzz(func(t *testing.T, bytecode []byte) {
		end := 0
		for in, err := range code.Instructions(bytecode) {
			if in.PC != end {
				t.Fatalf("an instruction at %d follows one that ends at %d", in.PC, end)
			}
			if err != nil {
				if in.Size != 0 {
					t.Fatalf("%v, and yet %d bytes", err, in.Size)
				}
				return
			}
			end += in.Size
			if end > len(bytecode) || in.Size <= 0 || len(in.Bytes()) != in.Size || !in.Op.Known() {
				t.Fatalf("%v of %d bytes ends at %d of %d", in.Op, in.Size, end, len(bytecode))
			}
			in.Constant()
			in.Local()
			in.FallsThrough()
			targets := slices.Collect(in.Targets())
			places := 0
			for place := range in.SwitchOffsets() {
				if place <= in.PC || place+4 > end {
					t.Fatalf("%v at %d has an offset at %d, it ends at %d", in.Op, in.PC, place, end)
				}
				places++
			}
			if places > 0 && places != len(targets) {
				t.Fatalf("%v at %d has %d offsets, %d targets", in.Op, in.PC, places, len(targets))
			}
		}
		if end != len(bytecode) {
			t.Fatalf("the last instruction ends at %d of %d", end, len(bytecode))
		}
	})
}
