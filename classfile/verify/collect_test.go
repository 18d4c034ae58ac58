package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
)

// typeFault is a piece of code that is wrong in one way, in a method with an int in local 0, nothing in local 1, and room for
// two words on the stack. at is where in it the finding is.
type typeFault struct {
	code []byte
	at   int
	want string
}

var typeFaults = []typeFault{
	{op(code.Fload0, byte(code.Pop)), 0, "JVMS 4.10.1.9: expected float in local 0, found int"},
	{op(code.Pop, byte(code.Pop), byte(code.Fload0), byte(code.Pop)), 0, "JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
	{op(code.Iconst0, byte(code.Iconst0), byte(code.Iconst0), byte(code.Iadd), byte(code.Pop2)), 2, "JVMS 4.10.1.9: expected at most 2 words on the stack (max_stack), found a push of int onto 2"},
	{op(code.Iload, 9, byte(code.Pop)), 0, "JVMS 4.9.1: expected a local below max_locals 2, found 9"},
	{op(code.AconstNull, byte(code.Iconst1), byte(code.Ishl), byte(code.Pop)), 2, "JVMS 4.10.1.9: expected int on the stack, found null"},
	{op(code.Lconst0, byte(code.Pop), byte(code.Pop)), 1, "JVMS 4.10.1.9: expected a value of one word on the stack, found long's second word"},
	{op(code.Newarray, 3), 0, "JVMS 4.9.1: expected an array type from 4 to 11, found 3"},
	{op(code.Iload1, byte(code.Istore0)), 0, "JVMS 4.10.1.9: expected int in local 1, found top"},
}

// withFaults is a method of as many parts as chosen has bits, each of which is jumped over or run; those with their bit set
// hold a fault. want are the findings.
func withFaults(name string, chosen uint) (m method, want []string) {
	var b []byte
	var table [][]byte
	last := -1
	for i, f := range typeFaults {
		body := op(code.Nop)
		if chosen>>i&1 != 0 {
			body = f.code
			want = append(want, fmt.Sprintf("T#%s(I)V@%d: %s", name, len(b)+4+f.at, f.want))
		}
		next := len(b) + 4 + len(body)
		b = slices.Concat(b, op(code.Iload0), branch(code.Ifeq, len(b)+1, next), body)
		table = append(table, []byte{byte(next - last - 1)})
		last = next
	}
	b = append(b, byte(code.Return))
	return method{static, name, "(I)V", 2, 2, b, nil, []attribute{frames(table...)}}, want
}

func foundIn(a *assembler, t *testing.T) []string {
	var got []string
	for _, f := range types.Check(a.parse(t), smallWorld(t)) {
		got = append(got, f.String())
	}
	return got
}

// TestCheckCollects plants every choice of faults in two methods: all are found, in order, and nothing else.
func TestCheckCollects(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, major := range []uint16{49, 50, 52, 61} {
		for chosen := range uint(1) << len(typeFaults) {
			a := newAssembler(major, "T", "java/lang/Object")
			f, want := withFaults("f", chosen)
			g, more := withFaults("g", rng.UintN(1<<len(typeFaults)))
			a.add(f)
			a.add(g)
			if got := foundIn(a, t); !slices.Equal(got, append(want, more...)) {
				t.Fatalf("version %d, faults %#b: got\n%s\nwant\n%s", major, chosen, strings.Join(got, "\n"), strings.Join(append(want, more...), "\n"))
			}
		}
	}
}

// TestCheckOneCause: what follows from one fault is not told, and a second fault beside it is.
func TestCheckOneCause(t *testing.T) {
	jump := func(at, to int) []byte { return slices.Concat(op(code.Iload0), branch(code.Ifeq, at+1, to)) }
	float := []byte{255, 0, 0, 0, 1, 2, 0, 0} // a frame with a float in local 0
	at := func(frame []byte, delta int) []byte {
		f := slices.Clone(frame)
		f[2] = byte(delta)
		return f
	}
	for _, c := range []struct {
		name  string
		major uint16
		make  func(a *assembler) method
		want  string
	}{
		{"a wrong frame that three branches lead to, and what it holds is used", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(jump(0, 12), jump(4, 12), jump(8, 12), op(code.Iload0), op(code.Istore1), op(code.Return)), nil,
				[]attribute{frames(at(float, 12))}}
		}, "T#f(I)V@1: JVMS 4.10.1.4: expected float in local 0, as in the frame at 12, found int"},
		{"a wrong store before three frames", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(op(code.Fconst0), op(code.Fstore1), op(code.Iconst1), branch(code.Ifeq, 3, 20), jump(6, 20), jump(10, 21), jump(14, 22),
				op(code.Nop), op(code.Nop), op(code.Nop), op(code.Nop), op(code.Return)), nil,
				[]attribute{frames([]byte{252, 0, 20, 1}, []byte{0}, []byte{0})}}
		}, "T#f(I)V@3: JVMS 4.10.1.4: expected int in local 1, as in the frame at 20, found float"},
		{"two frames that are missing, with three branches to them", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(jump(0, 12), jump(4, 12), jump(8, 13), op(code.Nop), op(code.Nop), op(code.Return)), nil, nil}
		}, "T#f(I)V@1: JVMS 4.10.1.6: expected a frame at the branch target 12, found none\n" +
			"T#f(I)V@9: JVMS 4.10.1.6: expected a frame at the branch target 13, found none"},
		{"frames that have slipped", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(jump(0, 12), jump(4, 14), jump(8, 16), repeat(op(code.Nop), 6), op(code.Return)), nil,
				[]attribute{frames([]byte{13}, []byte{1}, []byte{1})}}
		}, "T#f(I)V@1: JVMS 4.10.1.6: expected a frame at the branch target 12, found none"},
		{"another depth on the way to a frame, and a fault behind the next", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(op(code.Iconst0), jump(1, 6), op(code.Pop), op(code.Pop), op(code.Fload0), op(code.Return)), nil,
				[]attribute{frames([]byte{6}, []byte{0})}}
		}, "T#f(I)V@2: JVMS 4.10.1.4: expected 0 words on the stack, as in the frame at 6, found 1\n" +
			"T#f(I)V@7: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"a table that breaks off, and a fault before", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(op(code.Fload0), op(code.Pop), jump(2, 6), op(code.Fload0), op(code.Return)), nil,
				[]attribute{frames([]byte{200})}}
		}, "T#f(I)V: JVMS 4.7.4: expected a known frame_type, found 200\n" +
			"T#f(I)V@0: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"an operand that is the descriptor of a call, and a fault behind the call", 52, func(a *assembler) method {
			call := a.methodref("T", "g", "(F)V")
			return method{static, "f", "(I)V", 2, 2, slices.Concat(op(code.New), u2(a.utf8("(F)V")), op(code.Pop), jump(4, 8),
				op(code.Fconst0), op(code.Invokestatic), u2(call), op(code.Pop), op(code.Return)), nil, []attribute{frames([]byte{8})}}
		}, "T#f(I)V@0: JVMS 4.9.1: expected a constant of kind Class at index 2, found Utf8\n" +
			"T#f(I)V@12: JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
		{"handlers of one wrong type, and a fault in the code", 52, func(a *assembler) method {
			name := a.class("java/lang/String")
			return method{static, "f", "(I)V", 1, 1, op(code.Nop, byte(code.Nop), byte(code.Fload0), byte(code.Return), byte(code.Athrow)),
				[]handler{{0, 1, 4, name}, {1, 2, 4, name}},
				[]attribute{frames(slices.Concat([]byte{68, 7}, u2(name)))}}
		}, "T#f(I)V@4: JVMS 4.10.1.5: expected a subclass of java/lang/Throwable, found java/lang/String\n" +
			"T#f(I)V@2: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"a range that ends between instructions, and a fault behind it", 52, func(*assembler) method {
			return method{static, "f", "(I)V", 1, 1, op(code.Bipush, 1, byte(code.Pop), byte(code.Fload0), byte(code.Return), byte(code.Athrow)), []handler{{0, 1, 5, 0}},
				[]attribute{frames([]byte{255, 0, 5, 0, 1, 1, 0, 0})}}
		}, "T#f(I)V@0: JVMS 4.7.3: expected a range from one instruction to another, found 0 to 1\n" +
			"T#f(I)V@3: JVMS 4.10.1.9: expected float in local 0, found int\n" +
			"T#f(I)V@5: JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
		{"a wrong frame of a handler, seen by every instruction", 52, func(a *assembler) method {
			return method{static, "f", "(I)V", 1, 1, op(code.Nop, byte(code.Nop), byte(code.Nop), byte(code.Return), byte(code.Pop), byte(code.Fload0), byte(code.Return)),
				[]handler{{0, 3, 4, 0}},
				[]attribute{frames(slices.Concat([]byte{255, 0, 4, 0, 1, 2, 0, 1, 7}, u2(a.class("java/lang/Throwable"))))}}
		}, "T#f(I)V@0: JVMS 4.10.1.4: expected float in local 0, as in the frame at 4, found int"},
		{"a final method is overridden, by code that is wrong", 52, func(*assembler) method {
			return method{classfile.AccPublic, "notify", "()V", 1, 1, op(code.Pop, byte(code.Return)), nil, nil}
		}, "T#notify()V: JVMS 5.3.5: expected no final method to be overridden, found that of java/lang/Object\n" +
			"T#notify()V@0: JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
		{"inference: two paths of another depth to one place", 49, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(jump(0, 18), jump(4, 13), op(code.Iconst0), jump(9, 18), op(code.Iconst0), jump(14, 18), op(code.Return)), nil, nil}
		}, "T#f(I)V@10: JVMS 4.10.2: expected 0 words on the stack, as on another path to 18, found 1"},
		{"inference: another depth, and a fault on another path", 49, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(jump(0, 15), jump(4, 9), op(code.Iconst0), jump(9, 15), op(code.Fload0), op(code.Pop), op(code.Return)), nil, nil}
		}, "T#f(I)V@8: JVMS 4.10.2: expected 0 words on the stack, as on another path to 9, found 1\n" +
			"T#f(I)V@13: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"inference: one wrong instruction on two paths", 49, func(*assembler) method {
			return method{static, "f", "(I)V", 2, 2, slices.Concat(jump(0, 6), op(code.Fconst0), op(code.Fstore1), op(code.Iload1), op(code.Pop), op(code.Return)), nil, nil}
		}, "T#f(I)V@6: JVMS 4.10.1.9: expected int in local 1, found top"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAssembler(c.major, "T", "java/lang/Object")
			a.access |= 0x20
			a.add(c.make(a))
			if got := strings.Join(foundIn(a, t), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestCheckMost: a method has a bounded number of findings, and those after it have theirs.
func TestCheckMost(t *testing.T) {
	const most = 16
	for _, major := range []uint16{49, 52} {
		a := newAssembler(major, "T", "java/lang/Object")
		m := method{access: static, name: "f", descriptor: "(I)V", maxStack: 1, maxLocals: 1}
		var table [][]byte
		for range 3 * most {
			at := len(m.code)
			m.code = slices.Concat(m.code, op(code.Iload0), branch(code.Ifeq, at+1, at+5), op(code.Pop))
			table = append(table, []byte{4})
		}
		table[0] = []byte{5}
		m.code = append(m.code, byte(code.Return))
		m.attributes = []attribute{frames(table...)}
		a.add(m)
		m.name = "g"
		a.add(m)
		if got := foundIn(a, t); len(got) != 2*most || !strings.HasPrefix(got[most], "T#g(I)V@4:") {
			t.Errorf("version %d: %d findings, want %d of each method:\n%s", major, len(got), most, strings.Join(got, "\n"))
		}
	}
}
