package types_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// known is a hierarchy of some classes.
type known map[string]*types.ClassInfo

// Lookup implements types.Hierarchy.
func (k known) Lookup(name string) *types.ClassInfo { return k[name] }

// checkFindings checks a class, and that a part of each finding is as wanted.
func checkFindings(t *testing.T, what string, a *crafted.Class, h types.Hierarchy, want ...string) {
	t.Helper()
	found := types.Check(a.Parse(t), h)
	if !slices.EqualFunc(found, want, func(f verify.Finding, part string) bool {
		return strings.Contains(f.String(), part)
	}) {
		t.Errorf("%s: %v, want %q", what, found, want)
	}
}

// TestDuplicates: a second member of a name and descriptor is found, however many there are, and nothing else.
func TestDuplicates(t *testing.T) {
	for _, n := range []int{1, 2, 12, 13, 30, 70, 300} {
		for _, twice := range []int{-1, 0, n - 1} {
			a := crafted.NewClass(52, "A", "java/lang/Object")
			add := func(name string) {
				a.Add(crafted.Method{Access: crafted.Static | classfile.AccNative, Name: name, Descriptor: "()V"})
				a.Fields = append(a.Fields, crafted.Field{Name: name, Descriptor: "I"})
			}
			name := func(i int) string { return fmt.Sprintf("beginning%03dend of the name", i) }
			for i := range n {
				add(name(i))
			}
			var want []string
			if twice >= 0 {
				add(name(twice))
				want = []string{"one field of a name and descriptor", "one method of a name and descriptor"}
			}
			checkFindings(t, fmt.Sprintf("%d members, number %d twice", n, twice), a, nil, want...)
		}
	}
}

// TestFieldName: the name of a field is checked, also if no constant refers to it.
func TestFieldName(t *testing.T) {
	a := crafted.NewClass(52, "A", "java/lang/Object")
	a.Fields = []crafted.Field{{Name: "a/b", Descriptor: "I"}, {Name: "a<b>", Descriptor: "I"}}
	checkFindings(t, "a/b", a, nil, "a field name")
}

// TestInterfacesTwice: a superinterface that is there again is found, and the first is not.
func TestInterfacesTwice(t *testing.T) {
	a := crafted.NewClass(52, "A", "java/lang/Object")
	a.Interfaces = []string{"I", "J", "K", "J", "J"}
	checkFindings(t, "I J K J J", a, nil, "J twice", "J twice")
}

// TestOwnSuperclass: of a class that is its own superclass, only that is found, and the final methods that it
// overrides.
func TestOwnSuperclass(t *testing.T) {
	super := crafted.NewClass(49, "U", "A")
	super.Add(crafted.Method{Access: classfile.AccPublic | classfile.AccFinal | classfile.AccNative, Name: "f",
		Descriptor: "()V"})
	a := crafted.NewClass(49, "A", "U")
	a.Access |= 0x20
	other := a.Methodref("q/Other", "f", "()V") // not found among superclasses, of which there is no end
	call := slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Invokespecial, crafted.U2(other)...),
		crafted.Op(code.Return))
	a.Add(crafted.Method{Access: classfile.AccPublic, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
		Code: call})
	checkFindings(t, "A extends U extends A", a, known{"U": types.NewClassInfo(super.Parse(t))},
		"a class that does not extend itself", "no final method to be overridden")
}

// TestVariables checks LocalVariableTable and LocalVariableTypeTable of a method with one local.
func TestVariables(t *testing.T) {
	tests := []struct {
		name, table string
		descriptors []string // of variables in local 0; "" for a constant that is no string
		want        []string
	}{
		{"one word", "LocalVariableTable", []string{"I", "F"}, nil},
		{"two words", "LocalVariableTable", []string{"J"}, []string{"variables below max_locals"}},
		{"two words after one", "LocalVariableTable", []string{"I", "D"}, []string{"variables below max_locals"}},
		{"no type", "LocalVariableTable", []string{"I", "X"}, []string{"a variable's name and descriptor"}},
		{"no string", "LocalVariableTable", []string{"I", ""}, []string{"a variable's name and descriptor"}},
		{"a signature", "LocalVariableTypeTable", []string{"TX;"}, nil},
		{"no string as a signature", "LocalVariableTypeTable", []string{""},
			[]string{"a variable's name and descriptor"}},
	}
	for _, test := range tests {
		a := crafted.NewClass(52, "A", "java/lang/Object")
		info := crafted.U2(uint16(len(test.descriptors)))
		for i, descriptor := range test.descriptors {
			index := a.ClassIndex("A")
			if descriptor != "" {
				index = a.Utf8(descriptor)
			}
			info = append(info, crafted.U2(0, 1, a.Utf8(fmt.Sprint("v", i)), index, 0)...)
		}
		a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxLocals: 1,
			Code: crafted.Op(code.Return), Attributes: []crafted.Attribute{{Name: test.table, Info: info}}})
		checkFindings(t, test.name, a, nil, test.want...)
	}
}

// TestUnknownIsRemembered: that a class is unknown is remembered by a copy of its name. The memory of the class file
// that mentions it may have another name afterwards.
func TestUnknownIsRemembered(t *testing.T) {
	const missing, present = "beginning/x/theending", "beginning/y/theending"
	other := crafted.NewClass(52, present, "java/lang/Object")
	k := types.Checker{Hierarchy: known{present: types.NewClassInfo(other.Parse(t)),
		"java/lang/Object": types.NewClassInfo(crafted.NewClass(52, "java/lang/Object", "").Parse(t))}}
	data := crafted.NewClass(52, "A", missing).Bytes()
	for _, want := range [][]string{{missing}, nil} {
		c := assembly.Parse(t, data)
		if got := k.Check(c).Unknown; !slices.Equal(got, want) {
			t.Errorf("with superclass %s, %q are unknown, want %q", c.SuperName(), got, want)
		}
		copy(data, bytes.ReplaceAll(data, []byte(missing), []byte(present)))
	}
}
