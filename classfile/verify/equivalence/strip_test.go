package equivalence_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// TestStripForeign has classes that call the runtime, or name it, without being tracegen's work.
func TestStripForeign(t *testing.T) {
	hand := func(change func(h *byHand)) func(t *testing.T) *classfile.Class {
		return func(t *testing.T) *classfile.Class {
			h := newByHand()
			change(h)
			_, rewritten := h.classes(t)
			return rewritten
		}
	}
	caller := func(name, descriptor string, bytecode func(ref uint16) []byte) func(t *testing.T) *classfile.Class {
		return func(t *testing.T) *classfile.Class {
			a := crafted.NewClass(52, "Caller", "java/lang/Object")
			ref := a.Methodref(beat, name, descriptor)
			a.Constant(classfile.TagFloat, 0, 0, 0, 0) // so that nothing looks like a block
			a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 3, MaxLocals: 3,
				Code: bytecode(ref)})
			return a.Parse(t)
		}
	}
	call := func(before ...byte) func(ref uint16) []byte {
		return func(ref uint16) []byte {
			return append(append(before, crafted.Op(code.Invokestatic, crafted.U2(ref)...)...), byte(code.Return))
		}
	}
	for _, row := range []struct {
		name  string
		class func(t *testing.T) *classfile.Class
		want  string // in the error; "" if the class is returned as it is
	}{
		{"an entry by hand", caller("i", "(I)V", call(byte(code.Iconst1))), "a Float at index"},
		{"an exit by hand", caller("o", "(I)V", call(byte(code.Iconst1))), "a Float at index"},
		{"a focus call by hand", caller("at", "(Landroid/app/Activity;Z)V",
			call(byte(code.AconstNull), byte(code.Iconst1))), "a Float at index"},
		{"another method of the runtime", caller("flush", "()V", call()), ""},
		{"a method of another type", caller("i", "(J)V", call(byte(code.Lconst1))), ""},
		{"a method that is named and not called", caller("i", "(I)V",
			func(uint16) []byte { return crafted.Op(code.Return) }), ""},
		{"an entry by hand in a class of another compiler", func(t *testing.T) *classfile.Class {
			a := crafted.NewClass(52, "Caller", "java/lang/Object")
			a.Constant(classfile.TagClass, 0, 2) // its name stands after it, as javac writes them
			a.Utf8(beat)
			ref := a.Methodref(beat, "i", "(I)V")
			a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 0,
				Code: call(byte(code.Iconst1))(ref)})
			return a.Parse(t)
		}, "Caller#f()V@1: a call of i(I)V"},
		{"constants like a block that are not used", func(t *testing.T) *classfile.Class {
			a := crafted.NewClass(52, "Caller", "java/lang/Object")
			a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 0, MaxLocals: 0,
				Code: crafted.Op(code.Return)})
			a.Bytes() // adds the class's own constants
			a.Methodref(beat, "i", "(I)V")
			return a.Parse(t)
		}, ""},
		{"a class whose last constant is the runtime", func(t *testing.T) *classfile.Class {
			a := crafted.NewClass(52, "Caller", "java/lang/Object")
			a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 0,
				Code: crafted.Op(code.Ldc, 8, byte(code.Pop), byte(code.Return))})
			a.Bytes()
			if i := a.ClassIndex(beat); i != 9 {
				t.Fatalf("the constant is %d", i)
			}
			a.Methods[0].Code[1] = 9
			return a.Parse(t)
		}, ""},
		{"calls that share constants with others", func(t *testing.T) *classfile.Class {
			h := newByHand()
			_, rewritten := h.classes(t)
			data := slices.Clone(rewritten.Bytes())
			data[rewritten.ConstantPool().Offset(2)+2] = byte(h.entry - 2) // another name of this class
			c := assembly.Parse(t, data)
			return c
		}, "no earlier constant to refer to"},
		{"a method named by a constant after the block", hand(func(h *byHand) {
			h.rewritten.Known[string(append([]byte{byte(classfile.TagUtf8), 0, 1}, 'i'))] = h.entry - 3
			h.rewritten.Add(crafted.Method{Access: crafted.Static | classfile.AccNative, Name: "i", Descriptor: "(I)V"})
		}), "without its last constants the class is malformed"},
		{"an ID pushed in a longer way", hand(func(h *byHand) { h.after.Code = pushWide(h.after.Code) }),
			"7 pushed by bipush"},
		{"an exit of another ID", hand(func(h *byHand) { h.after.Code[10] = 9 }), "the method's ID 7, found 9"},
		{"exits alone", hand(func(h *byHand) {
			// Entry and the code up to the first exit become what does not report.
			copy(h.after.Code, make([]byte, 5))
		}), "an entry before the first exit"},
		{"an exit before something else", hand(func(h *byHand) { h.after.Code[14] = byte(code.Nop) }),
			"exit code directly before a return or athrow"},
		{"an entry in the middle", hand(func(h *byHand) { h.after.Code[13] = byte(h.entry) }),
			"entry code at the start of the method"},
		{"calls of other values", hand(func(h *byHand) { h.after.Code[0] = byte(code.Iload) }),
			"only inserted code to use constants from"},
		{"constants of other kinds after the block",
			hand(func(h *byHand) { h.rewritten.Constant(classfile.TagFloat, 0, 0, 0, 0) }), "a Float at index"},
		{"notes that are none", hand(func(h *byHand) { h.rewritten.Utf8("tracegen:0s1;") }), "malformed strip notes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := row.class(t)
			stripped, removed, err := equivalence.Strip(c, beat)
			if row.want == "" {
				if err != nil || removed != 0 || &stripped[0] != &c.Bytes()[0] {
					t.Errorf("removed %d, error %v; want the class as it is", removed, err)
				}
				return
			}
			if !errors.Is(err, equivalence.ErrForeignCalls) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want ErrForeignCalls with %q", err, row.want)
			}
		})
	}
}

// TestStripOriginals: a class that was never instrumented is not touched, and costs no copy.
func TestStripOriginals(t *testing.T) {
	for _, c := range crafted.All(t) {
		stripped, removed, err := equivalence.Strip(c, beat)
		if err != nil || removed != 0 || &stripped[0] != &c.Bytes()[0] {
			t.Errorf("%s: removed %d, error %v", c.Name(), removed, err)
		}
	}
}

func TestStripStamp(t *testing.T) {
	c := crafted.Classes(t)["stamped"]
	stamped, err := c.Rewrite(classfile.Edit{Utf8: map[uint16]string{1: "0123456789abcdef"}})
	if err != nil {
		t.Fatal(err)
	}
	s := assembly.Parse(t, stamped)
	stripped, removed, err := equivalence.Strip(s, beat)
	if err != nil || removed != 1 || string(stripped) != string(c.Bytes()) {
		t.Errorf("removed %d, error %v", removed, err)
	}
}
