package filter

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// TestNotSmart compares the short cut with the rules of the mode smart, on random code: short methods of instructions
// of all kinds, some of them cut off, or with a byte changed.
func TestNotSmart(t *testing.T) {
	var a assembler
	constants := []uint16{
		a.ref(classfile.TagMethodref, "a/Odd", "work", "()V"),
		a.ref(classfile.TagMethodref, "java/lang/Object", "<init>", "()V"),
		a.ref(classfile.TagMethodref, "a/Other", "run", "()V"),
		a.ref(classfile.TagFieldref, "a/Odd", "f", "I"),
		a.pair(classfile.TagDynamic, 0, a.nameAndType("c", "I")),
		a.pair(classfile.TagString, a.utf8("s")),
	}
	a.add(method{flags: classfile.AccStatic, name: "work", descriptor: "()V", code: []byte{ret}})
	c := a.finish(t, "a/Odd", 0, 52, 0)
	forClass := New(Options{}).ForClass(c)

	r := rand.New(rand.NewPCG(5, 6))
	pick := func(ops ...code.Op) byte { return byte(ops[r.IntN(len(ops))]) }
	u2 := func(v uint16) []byte { return []byte{byte(v >> 8), byte(v)} }
	constant := func() uint16 { return constants[r.IntN(len(constants))] }
	instruction := func() []byte {
		switch r.IntN(9) {
		case 0, 1, 2:
			return []byte{pick(code.Aload0, code.Iload1, code.Iconst0, code.Dup, code.Iadd, code.Nop, code.Pop)}
		case 3:
			return append([]byte{pick(code.LdcW, code.Ldc2W)}, u2(constant())...)
		case 4:
			return []byte{byte(code.Ldc), byte(constant())}
		case 5:
			return append([]byte{pick(code.Getstatic, code.Getfield, code.Checkcast, code.New, code.Anewarray)},
				u2(constant())...)
		case 6:
			return append([]byte{pick(code.Invokestatic, code.Invokespecial, code.Invokevirtual)}, u2(constant())...)
		case 7:
			return append([]byte{pick(code.Goto, code.Ifeq, code.Ifnull, code.Jsr)}, u2(uint16(r.IntN(20)-8))...)
		}
		return []byte{pick(code.Ireturn, code.Return, code.Athrow, code.Monitorenter, code.Wide, code.Tableswitch,
			code.Ret, code.Op(r.IntN(256)))}
	}
	members := []*classfile.Member{{Name: "m"}, {Name: "<init>"}}
	short, trivial, traced, malformed := 0, 0, 0, 0
	for range 300_000 {
		var body []byte
		if r.IntN(8) == 0 {
			body = bytes.Repeat([]byte{byte(code.Aload0)}, 9+r.IntN(6))
			body = append(append(body, byte(code.Invokestatic)), u2(constants[0])...)
		}
		for range r.IntN(16) {
			body = append(body, instruction()...)
		}
		if r.IntN(2) == 0 {
			body = append(body, ret)
		}
		if len(body) == 0 {
			continue
		}
		switch r.IntN(8) {
		case 0:
			body = body[:1+r.IntN(len(body))]
		case 1:
			body[r.IntN(len(body))] = byte(r.IntN(256))
		}
		m := members[r.IntN(len(members))]
		not := notSmart(body)
		detail, err := forClass.smart(m, &classfile.Code{Bytecode: body})
		switch {
		case not && (detail != "" || err != nil):
			t.Fatalf("% x: notSmart, but %q, %v", body, detail, err)
		case not:
			short++
		case err != nil:
			malformed++
		case detail != "":
			trivial++
		default:
			traced++
		}
	}
	if trivial < 1000 || malformed < 1000 || short < 4*traced {
		t.Errorf("%d are trivial, %d malformed, %d not at the first look, %d not", trivial, malformed, short, traced)
	}
	t.Logf("%d are trivial, %d malformed, %d not at the first look, %d not", trivial, malformed, short, traced)
}
