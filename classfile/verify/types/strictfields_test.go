package types_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// strictClass is a class with the strict fields x and y, and a constructor (int) with this code and these frames.
func strictClass(major uint16, bytecode func(a *crafted.Class) []byte,
	frames func(a *crafted.Class) [][]byte) *crafted.Class {
	a := crafted.NewClass(major, "T", "java/lang/Object")
	const strict = classfile.AccFinal | classfile.AccStrictInit
	a.Fields = []crafted.Field{{Access: strict, Name: "x", Descriptor: "I"}, {Access: strict, Name: "y", Descriptor: "I"},
		{Access: classfile.AccFinal, Name: "z", Descriptor: "I"}}
	m := crafted.Method{Access: classfile.AccPublic, Name: "<init>", Descriptor: "(I)V", MaxStack: 2, MaxLocals: 2,
		Code: bytecode(a)}
	if frames != nil {
		m.Attributes = []crafted.Attribute{crafted.Frames(frames(a)...)}
	}
	a.Add(m)
	return a
}

// put sets a field of this to the argument.
func put(a *crafted.Class, field string) []byte {
	return slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Iload1),
		crafted.Op(code.Putfield, crafted.U2(a.Fieldref("T", field, "I"))...))
}

func super(a *crafted.Class) []byte {
	return slices.Concat(crafted.Op(code.Aload0),
		crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("java/lang/Object", "<init>", "()V"))...),
		crafted.Op(code.Return))
}

// larval is an early_larval_frame (JEP 401) of these fields, before a base frame.
func larval(a *crafted.Class, base []byte, fields ...string) []byte {
	b := append([]byte{246}, crafted.U2(uint16(len(fields)))...)
	for _, f := range fields {
		b = append(b, crafted.U2(a.NameAndType(f, "I"))...)
	}
	return append(b, base...)
}

// TestStrictFields has the rules about strict fields and early_larval_frame of JEP 401. No JVM here reads classes of
// these versions, so that no oracle is asked.
func TestStrictFields(t *testing.T) {
	setX := func(a *crafted.Class) []byte { // sets x, and y if the argument is not 0
		return slices.Concat(put(a, "x"), crafted.Op(code.Iload1), crafted.Branch(code.Ifeq, 6, 14), put(a, "y"), super(a))
	}
	branch := func(a *crafted.Class) []byte { // sets x or y first, then the other
		return slices.Concat(crafted.Op(code.Iload1), crafted.Branch(code.Ifeq, 1, 4), put(a, "x"), put(a, "y"), super(a))
	}
	for _, row := range []struct {
		name     string
		major    uint16
		bytecode func(a *crafted.Class) []byte
		frames   func(a *crafted.Class) [][]byte
		want     string // in the first finding; "" for none
	}{
		{"all set", 71, func(a *crafted.Class) []byte { return slices.Concat(put(a, "x"), put(a, "y"), super(a)) }, nil, ""},
		{"set twice", 72, func(a *crafted.Class) []byte {
			return slices.Concat(put(a, "x"), put(a, "y"), put(a, "x"), super(a))
		}, nil, ""},
		{"one not set", 71, func(a *crafted.Class) []byte { return slices.Concat(put(a, "x"), super(a)) }, nil,
			`found "y" not set`},
		{"not strict before", 70, super, nil, ""},
		{"another constructor", 71, func(a *crafted.Class) []byte {
			return slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Iload1),
				crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("T", "<init>", "(I)V"))...), crafted.Op(code.Return))
		}, nil, ""},
		{"a frame that inherits", 71, branch, func(*crafted.Class) [][]byte { return [][]byte{{4}} }, ""},
		{"a frame of fewer fields", 71, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, []byte{4}, "x")}
		}, `expected the field "y" to be set, as in the frame at 4, found not set`},
		{"a frame of all fields", 71, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, []byte{4}, "y", "x")}
		}, ""},
		{"set on one path only", 71, setX, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, []byte{14}, "y")}
		}, `found "y" not set`},
		{"no strict field", 71, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, []byte{4}, "x", "y", "z")}
		}, "expected the NameAndType of a field with ACC_STRICT_INIT"},
		{"no NameAndType", 71, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{append(append([]byte{246, 0, 1}, crafted.U2(a.Utf8("x"))...), 4)}
		}, "expected the NameAndType of a field with ACC_STRICT_INIT"},
		{"cut off", 71, branch, func(*crafted.Class) [][]byte { return [][]byte{{246, 0, 9}} },
			"expected more of StackMapTable"},
		{"twice", 71, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, larval(a, []byte{4}, "x", "y"), "x", "y")}
		}, "expected a known frame_type, found 246"},
		{"without an uninitialised this", 71, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, append(append([]byte{255, 0, 4, 0, 2, 7}, crafted.U2(a.ClassIndex("T"))...), 1, 0, 0))}
		}, "expected an uninitialised this in an early_larval_frame"},
		{"a reserved type before", 70, branch, func(a *crafted.Class) [][]byte {
			return [][]byte{larval(a, []byte{4}, "x", "y")}
		}, "expected a known frame_type, found 246"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := strictClass(row.major, row.bytecode, row.frames)
			c := a.Parse(t)
			findings := types.Check(c, smallWorld(t))
			switch {
			case row.want == "" && len(findings) > 0:
				t.Errorf("found %v", findings)
			case row.want != "" && (len(findings) == 0 || !strings.Contains(findings[0].String(), row.want)):
				t.Errorf("found %v, want %s", findings, row.want)
			}
			if row.want != "" {
				return
			}
			for _, mode := range crafted.Modes {
				in := inject.New(mode.Options)
				request := mode.Request(in, c)
				if len(request.Methods) != 1 {
					t.Fatalf("%s: no room for the calls", mode.Name)
				}
				if _, err := mode.RoundTrip(in, c, request); err != nil {
					t.Errorf("%s: %v", mode.Name, err)
				}
				rewritten, err := in.Rewrite(c, request)
				if err != nil {
					t.Fatal(err)
				}
				again, err := classfile.Parse(rewritten)
				if err != nil {
					t.Fatal(err)
				}
				if introduced := types.Check(again, smallWorld(t)); len(introduced) > 0 {
					t.Errorf("%s: introduced %v", mode.Name, introduced)
				}
			}
		})
	}
}

// TestThisOnStack: from version 71, an uninitialised this that is only on the stack of a frame sets flagThisUninit
// (JVMS 4.7.4); before, it does not, as HotSpot 25 has it.
func TestThisOnStack(t *testing.T) {
	for _, major := range []uint16{70, 71} {
		a := crafted.NewClass(major, "T", "java/lang/Object")
		bytecode := slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Iconst0), crafted.Branch(code.Ifeq, 2, 5),
			crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("java/lang/Object", "<init>", "()V"))...),
			crafted.Op(code.Return))
		a.Add(crafted.Method{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", MaxStack: 2, MaxLocals: 1,
			Code: bytecode, Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 5, 0, 0, 0, 1, 6})}})
		findings := types.Check(a.Parse(t), smallWorld(t))
		if refused := major < 71; refused != (len(findings) > 0) {
			t.Errorf("version %d: %v", major, findings)
		}
	}
}
