package code_test

import (
	"fmt"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// TestAddedFrame checks the types in the frame behind a widened branch that follows some straight-line code at a
// method's start.
func TestAddedFrame(t *testing.T) {
	for _, test := range []struct {
		name       string
		descriptor string
		method     string // "" for a static one
		code       []byte
		want       string // locals and stack
	}{
		{"parameters", "(ZBCSIFJDLa/B;[[J[La/B;)V", "", nil, "[I I I I I F J D La/B L[[J L[La/B;] []"},
		{"this", "(J)V", "f", nil, "[LT J] []"},
		{"this of a constructor", "()V", "<init>", nil, "[this] []"},
		{"this initialised", "()V", "<init>", asm(code.Aload0, code.Dup, code.Invokespecial, superInit), "[LT] [LT]"},
		{"long over int", "(I)V", "", asm(code.Lconst0, code.Lstore0), "[J] []"},
		{"int over the first half of a long", "(J)V", "", asm(code.Iconst0, code.Istore0), "[I] []"},
		{"int over the first half, and more behind", "(JI)V", "", asm(code.Iconst0, code.Istore0), "[I top I] []"},
		{"int over the second half of a long", "(J)V", "", asm(code.Iconst0, code.Istore1), "[top I] []"},
		{"long over halves of two", "(JD)V", "", asm(code.Lconst0, code.Lstore1), "[top J] []"},
		{"a gap", "()V", "", asm(code.Fconst0, code.Fstore2), "[top top F] []"},
		{"constants", "()V", "", asm(code.AconstNull, code.IconstM1, code.Sipush, 1, code.Lconst0, code.Fconst0,
			code.Dconst0),
			"[] [null I I J F D]"},
		{"shuffles", "()V", "", asm(code.Iconst0, code.Fconst0, code.AconstNull, code.DupX2, code.Pop, code.Swap),
			"[] [null F I]"},
		{"shuffles of two", "()V", "", asm(code.Lconst0, code.Dconst0, code.Dup2X2, code.Fconst0, code.DupX2),
			"[] [D J F D F]"},
		{"arithmetic", "()V", "", asm(code.Lconst0, code.Iconst0, code.Lshl, code.Lconst0, code.Lcmp, code.I2d,
			code.Dconst0, code.Dadd),
			"[] [D]"},
		{"objects", "()V", "", asm(code.New, classT, code.Dup, code.Iconst0, code.Invokespecial, thisInit, code.New,
			classT), "[] [LT new 8]"},
		{"two new objects", "()V", "", asm(code.New, classT, code.New, classT, code.Dup, code.Iconst0,
			code.Invokespecial, thisInit),
			"[] [new 0 LT]"},
		{"arrays", "()V", "", asm(code.Iconst0, code.Newarray, byte(7), code.Iconst0, code.Anewarray, classT, code.Dup,
			code.Iconst0, code.Aaload), "[] [L[D L[LT; LT]"},
		{"array of arrays", "([[[I)V", "", asm(code.Aload0, code.Iconst0, code.Aaload, code.Dup, code.Iconst0,
			code.Aaload, code.Iconst0, code.Iaload), "[L[[[I] [L[[I I]"},
		{"an array of null", "()V", "", asm(code.AconstNull, code.Iconst0, code.Aaload), "[] [null]"},
		{"a cast", "()V", "", asm(code.AconstNull, code.Checkcast, classT, code.Dup, code.Instanceof, classT),
			"[] [LT I]"},
		{"many dimensions", "()V", "", asm(code.Iconst0, code.Iconst0, code.Multianewarray, firstClass, byte(2)),
			"[] [L[[J]"},
		{"calls", "()V", "", asm(code.Lconst0, code.Dconst0, code.Invokestatic, callWide), "[] [J]"},
		{"wide locals", "()V", "", asm(code.Lconst0, code.Wide, code.Lstore, 2, code.Wide, code.Lload, 2, code.Wide,
			code.Iinc, 1, 1),
			"[top top J] [J]"},
		{"a local's own type", "(La/B;)V", "", asm(code.Aload0, code.Astore2, code.Aload2), "[La/B top La/B] [La/B]"},
	} {
		bytecode := asm(test.code, code.Iconst0, code.Ifeq, 4, code.Nop, code.Return)
		a := assembly{name: test.method, descriptor: test.descriptor, maxStack: 20, maxLocals: 20, bytecode: bytecode,
			classes: []string{"[[J"}}
		if test.method == "" {
			a.access = classfile.AccStatic
		}
		// The branch leads to the return, where there must be a frame; its types do not matter here.
		delta := len(bytecode) - 1
		a.attributes = map[string][]byte{"StackMapTable": asm(1, byte(255), delta, 0, 0)}
		r, err := moved(t, a, len(bytecode)-2, 33000)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		r.check()
		frames := plainFrames(t, r.new, r.new.code.Attributes[0].Info, func(p int) int { return p })
		if got := fmt.Sprint(frames[0].locals, " ", frames[0].stack); len(frames) != 2 || got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
