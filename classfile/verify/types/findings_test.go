package types_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// typeFault is a piece of code that is wrong in one way, in a method with an int in local 0, nothing in local 1, and
// room for two words on the stack. at is where in it the finding is.
type typeFault struct {
	code []byte
	at   int
	want string
}

var typeFaults = []typeFault{
	{crafted.Op(code.Fload0, byte(code.Pop)), 0, "JVMS 4.10.1.9: expected float in local 0, found int"},
	{crafted.Op(code.Pop, byte(code.Pop), byte(code.Fload0), byte(code.Pop)), 0,
		"JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
	{crafted.Op(code.Iconst0, byte(code.Iconst0), byte(code.Iconst0), byte(code.Istore1), byte(code.Pop2)), 2,
		"JVMS 4.10.1.9: expected at most 2 words on the stack (max_stack), found 3"},
	{crafted.Op(code.Iload, 9, byte(code.Pop)), 0, "JVMS 4.9.1: expected a local below max_locals 2, found 9"},
	{crafted.Op(code.AconstNull, byte(code.Iconst1), byte(code.Ishl), byte(code.Pop)), 2,
		"JVMS 4.10.1.9: expected int on the stack, found null"},
	{crafted.Op(code.Lconst0, byte(code.Pop), byte(code.Pop)), 1,
		"JVMS 4.10.1.9: expected a value of one word on the stack, found long's second word"},
	{crafted.Op(code.Newarray, 3), 0, "JVMS 4.9.1: expected an array type from 4 to 11, found 3"},
	{crafted.Op(code.Iload1, byte(code.Istore0)), 0, "JVMS 4.10.1.9: expected int in local 1, found top"},
}

// withFaults is a method of as many parts as chosen has bits, each of which is jumped over or run; those with their bit
// set hold a fault. want are the findings.
func withFaults(name string, chosen uint) (m crafted.Method, want []string) {
	var b []byte
	var table [][]byte
	last := -1
	for i, f := range typeFaults {
		body := crafted.Op(code.Nop)
		if chosen>>i&1 != 0 {
			body = f.code
			want = append(want, fmt.Sprintf("T#%s(I)V@%d: %s", name, len(b)+4+f.at, f.want))
		}
		next := len(b) + 4 + len(body)
		b = slices.Concat(b, crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, len(b)+1, next), body)
		table = append(table, []byte{byte(next - last - 1)})
		last = next
	}
	b = append(b, byte(code.Return))
	return crafted.Method{Access: crafted.Static, Name: name, Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2, Code: b,
		Attributes: []crafted.Attribute{crafted.Frames(table...)}}, want
}

func foundIn(a *crafted.Class, t *testing.T) []string {
	var got []string
	for _, f := range types.Check(a.Parse(t), smallWorld(t)) {
		got = append(got, f.String())
	}
	return got
}

// TestCheckCollects plants every choice of faults in two methods: all are found, in order, and nothing else.
//
// Invariant: The type checker reports every fault of a class, in every method, with one finding for each cause.
func TestCheckCollects(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, major := range []uint16{49, 50, 52, 61} {
		for chosen := range uint(1) << len(typeFaults) {
			a := crafted.NewClass(major, "T", "java/lang/Object")
			f, want := withFaults("f", chosen)
			g, more := withFaults("g", rng.UintN(1<<len(typeFaults)))
			a.Add(f)
			a.Add(g)
			if got := foundIn(a, t); !slices.Equal(got, append(want, more...)) {
				t.Fatalf("version %d, faults %#b: got\n%s\nwant\n%s", major, chosen, strings.Join(got, "\n"),
					strings.Join(append(want, more...), "\n"))
			}
		}
	}
}

// TestCheckOneCause: what follows from one fault has no finding, and a second fault beside it has one.
//
// Invariant: The type checker reports every fault of a class, in every method, with one finding for each cause.
func TestCheckOneCause(t *testing.T) {
	jump := func(at, to int) []byte {
		return slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, at+1, to))
	}
	float := []byte{255, 0, 0, 0, 1, 2, 0, 0} // a frame with a float in local 0
	at := func(frame []byte, delta int) []byte {
		f := slices.Clone(frame)
		f[2] = byte(delta)
		return f
	}
	for _, c := range []struct {
		name  string
		major uint16
		make  func(a *crafted.Class) crafted.Method
		want  string
	}{
		{"a wrong frame that three branches lead to, and what it holds is used", 52,
			func(*crafted.Class) crafted.Method {
				return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
					Code: slices.Concat(jump(0, 12), jump(4, 12), jump(8, 12), crafted.Op(code.Iload0),
						crafted.Op(code.Istore1), crafted.Op(code.Return)),
					Attributes: []crafted.Attribute{crafted.Frames(at(float, 12))}}
			}, "T#f(I)V@1: JVMS 4.10.1.4: expected float in local 0, as in the frame at 12, found int"},
		{"a wrong store before three frames", 52, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(crafted.Op(code.Fconst0), crafted.Op(code.Fstore1), crafted.Op(code.Iconst1),
					crafted.Branch(code.Ifeq, 3, 20), jump(6, 20), jump(10, 21), jump(14, 22),
					crafted.Op(code.Nop), crafted.Op(code.Nop), crafted.Op(code.Nop), crafted.Op(code.Nop), crafted.Op(code.Return)),
				Attributes: []crafted.Attribute{crafted.Frames([]byte{252, 0, 20, 1}, []byte{0}, []byte{0})}}
		}, "T#f(I)V@3: JVMS 4.10.1.4: expected int in local 1, as in the frame at 20, found float"},
		{"two frames that are missing, with three branches to them", 52, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(jump(0, 12), jump(4, 12), jump(8, 13), crafted.Op(code.Nop), crafted.Op(code.Nop),
					crafted.Op(code.Return))}
		}, "T#f(I)V@1: JVMS 4.10.1.6: expected a frame at the branch target 12, found none\n" +
			"T#f(I)V@9: JVMS 4.10.1.6: expected a frame at the branch target 13, found none"},
		{"another depth on the way to a frame, and a fault after the next", 52, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(crafted.Op(code.Iconst0), jump(1, 6), crafted.Op(code.Pop), crafted.Op(code.Pop),
					crafted.Op(code.Fload0), crafted.Op(code.Return)),
				Attributes: []crafted.Attribute{crafted.Frames([]byte{6}, []byte{0})}}
		}, "T#f(I)V@2: JVMS 4.10.1.4: expected 0 words on the stack, as in the frame at 6, found 1\n" +
			"T#f(I)V@7: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"a table that breaks off, and a fault before", 52, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(crafted.Op(code.Fload0), crafted.Op(code.Pop), jump(2, 6), crafted.Op(code.Fload0),
					crafted.Op(code.Return)),
				Attributes: []crafted.Attribute{crafted.Frames([]byte{200})}}
		}, "T#f(I)V: JVMS 4.7.4: expected a known frame_type, found 200\n" +
			"T#f(I)V@0: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"an operand that is the descriptor of a call, and a fault after the call", 52,
			func(a *crafted.Class) crafted.Method {
				call := a.Methodref("T", "g", "(F)V")
				return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
					Code: slices.Concat(crafted.Op(code.New), crafted.U2(a.Utf8("(F)V")), crafted.Op(code.Pop),
						jump(4, 8),
						crafted.Op(code.Fconst0), crafted.Op(code.Invokestatic), crafted.U2(call), crafted.Op(code.Pop),
						crafted.Op(code.Return)),
					Attributes: []crafted.Attribute{crafted.Frames([]byte{8})}}
			}, "T#f(I)V@0: JVMS 4.9.1: expected a constant of kind Class at index 2, found Utf8\n" +
				"T#f(I)V@12: JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
		{"handlers of one wrong type, and a fault in the code", 52, func(a *crafted.Class) crafted.Method {
			name := a.ClassIndex("java/lang/String")
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 1, MaxLocals: 1,
				Code: crafted.Op(code.Nop, byte(code.Nop), byte(code.Fload0), byte(code.Return), byte(code.Athrow)),
				Handlers: []crafted.Handler{{Start: 0, End: 1, Handler: 4, Catch: name},
					{Start: 1, End: 2, Handler: 4, Catch: name}},
				Attributes: []crafted.Attribute{crafted.Frames(slices.Concat([]byte{68, 7}, crafted.U2(name)))}}
		}, "T#f(I)V@4: JVMS 4.10.1.5: expected a subclass of java/lang/Throwable, found java/lang/String\n" +
			"T#f(I)V@2: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"a range that ends between instructions, and a fault after it", 52, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 1, MaxLocals: 1,
				Code: crafted.Op(code.Bipush, 1, byte(code.Pop), byte(code.Fload0), byte(code.Return),
					byte(code.Athrow)), Handlers: []crafted.Handler{{Start: 0, End: 1, Handler: 5, Catch: 0}},
				Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 5, 0, 1, 1, 0, 0})}}
		}, "T#f(I)V@0: JVMS 4.7.3: expected a range from one instruction to another, found 0 to 1\n" +
			"T#f(I)V@3: JVMS 4.10.1.9: expected float in local 0, found int\n" +
			"T#f(I)V@5: JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
		{"a wrong frame of a handler, seen by every instruction", 52, func(a *crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 1, MaxLocals: 1,
				Code: crafted.Op(code.Nop, byte(code.Nop), byte(code.Nop), byte(code.Return), byte(code.Pop),
					byte(code.Fload0), byte(code.Return)),
				Handlers: []crafted.Handler{{Start: 0, End: 3, Handler: 4, Catch: 0}},
				Attributes: []crafted.Attribute{crafted.Frames(slices.Concat([]byte{255, 0, 4, 0, 1, 2, 0, 1, 7},
					crafted.U2(a.ClassIndex("java/lang/Throwable"))))}}
		}, "T#f(I)V@0: JVMS 4.10.1.4: expected float in local 0, as in the frame at 4, found int"},
		{"a final method is overridden, by code that is wrong", 52, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: classfile.AccPublic, Name: "notify", Descriptor: "()V", MaxStack: 1,
				MaxLocals: 1, Code: crafted.Op(code.Pop, byte(code.Return))}
		}, "T#notify()V: JVMS 5.3.5: expected no final method to be overridden, found that of java/lang/Object\n" +
			"T#notify()V@0: JVMS 4.10.1.9: expected a value on the stack, found an empty stack"},
		{"inference: two paths of another depth to one place", 49, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(jump(0, 18), jump(4, 13), crafted.Op(code.Iconst0), jump(9, 18),
					crafted.Op(code.Iconst0), jump(14, 18), crafted.Op(code.Return))}
		}, "T#f(I)V@10: JVMS 4.10.2: expected 0 words on the stack, as on another path to 18, found 1"},
		{"inference: another depth, and a fault on another path", 49, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(jump(0, 15), jump(4, 9), crafted.Op(code.Iconst0), jump(9, 15),
					crafted.Op(code.Fload0), crafted.Op(code.Pop), crafted.Op(code.Return))}
		}, "T#f(I)V@8: JVMS 4.10.2: expected 0 words on the stack, as on another path to 9, found 1\n" +
			"T#f(I)V@13: JVMS 4.10.1.9: expected float in local 0, found int"},
		{"inference: one wrong instruction on two paths", 49, func(*crafted.Class) crafted.Method {
			return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
				Code: slices.Concat(jump(0, 6), crafted.Op(code.Fconst0), crafted.Op(code.Fstore1),
					crafted.Op(code.Iload1), crafted.Op(code.Pop), crafted.Op(code.Return))}
		}, "T#f(I)V@6: JVMS 4.10.1.9: expected int in local 1, found top"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := crafted.NewClass(c.major, "T", "java/lang/Object")
			a.Access |= 0x20
			a.Add(c.make(a))
			if got := strings.Join(foundIn(a, t), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestCheckMost: a method has a bounded number of findings, and those after it have theirs.
//
// Invariant: The type checker reports a bounded number of findings for a method, and a method with too many does not
// hide those of the next one.
func TestCheckMost(t *testing.T) {
	const most = 16
	for _, major := range []uint16{49, 52} {
		a := crafted.NewClass(major, "T", "java/lang/Object")
		m := crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I)V", MaxStack: 1, MaxLocals: 1}
		var table [][]byte
		for range 3 * most {
			at := len(m.Code)
			m.Code = slices.Concat(m.Code, crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, at+1, at+5),
				crafted.Op(code.Pop))
			table = append(table, []byte{4})
		}
		table[0] = []byte{5}
		m.Code = append(m.Code, byte(code.Return))
		m.Attributes = []crafted.Attribute{crafted.Frames(table...)}
		a.Add(m)
		m.Name = "g"
		a.Add(m)
		if got := foundIn(a, t); len(got) != 2*most || !strings.HasPrefix(got[most], "T#g(I)V@4:") {
			t.Errorf("version %d: %d findings, want %d of each method:\n%s", major, len(got), most,
				strings.Join(got, "\n"))
		}
	}
}
