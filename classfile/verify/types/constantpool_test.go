package types_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// poolCase is a class of some version with constants, and a part of each finding that they make.
type poolCase struct {
	name  string
	major uint16
	make  func(a *crafted.Class)
	want  []string
}

// comparePoolCases checks that each class has the findings that it must have, and no other.
func comparePoolCases(t *testing.T, cases []poolCase) {
	for _, c := range cases {
		a := crafted.NewClass(c.major, "A", "java/lang/Object")
		c.make(a)
		checkFindings(t, fmt.Sprintf("%s, version %d", c.name, c.major), a, nil, c.want...)
	}
}

// TestPoolKinds: a kind of constant is refused by the versions that do not have it yet, and outside of modules.
//
// Invariant: The type checker reports every kind of fault in a constant pool, and nothing about a correct one.
func TestPoolKinds(t *testing.T) {
	var cases []poolCase
	add := func(name string, first uint16, make func(a *crafted.Class)) {
		cases = append(cases, poolCase{name, first, make, nil},
			poolCase{name, first - 1, make, []string{fmt.Sprintf("a kind that version %d has", first-1)}})
	}
	add("MethodType", 51, func(a *crafted.Class) { a.Constant(classfile.TagMethodType, crafted.U2(a.Utf8("()V"))...) })
	add("MethodHandle", 51, func(a *crafted.Class) {
		a.Constant(classfile.TagMethodHandle, append([]byte{6}, crafted.U2(a.Methodref("A", "f", "()V"))...)...)
	})
	for _, k := range []struct {
		tag        classfile.Tag
		major      uint16
		descriptor string
	}{{classfile.TagInvokeDynamic, 51, "()V"}, {classfile.TagDynamic, 55, "I"}} {
		bootstrapped := func(a *crafted.Class) { a.Bootstrapped(k.tag, "f", k.descriptor) }
		cases = append(cases, poolCase{k.tag.String(), k.major, bootstrapped, nil},
			poolCase{k.tag.String() + " without its bootstrap method", k.major, func(a *crafted.Class) {
				bootstrapped(a)
				a.Attributes = nil
			}, []string{"a bootstrap method at constant pool index"}})
		add(k.tag.String(), k.major, bootstrapped)
	}
	for i := range cases { // of InvokeDynamic, the handle of the bootstrap method is too new, too
		if c := &cases[i]; c.name == "InvokeDynamic" && len(c.want) > 0 {
			c.want = append(c.want, c.want[0])
		}
	}
	for _, tag := range []classfile.Tag{classfile.TagModule, classfile.TagPackage} {
		cases = append(cases, poolCase{tag.String(), 53, func(a *crafted.Class) {
			a.Constant(tag, crafted.U2(a.Utf8("m"))...)
		}, []string{"no Module or Package outside of a module declaration"}},
			poolCase{tag.String() + " of a Class, in a class with the flag of a module", 52, func(a *crafted.Class) {
				a.Access |= classfile.AccModule
				a.Constant(tag, crafted.U2(a.ClassIndex("m"))...)
			}, []string{"a reference to Utf8"}},
			poolCase{tag.String() + " in a class with the flag of a module", 52, func(a *crafted.Class) {
				a.Access |= classfile.AccModule
				a.Constant(tag, crafted.U2(a.Utf8("m"))...)
			}, nil})
	}
	comparePoolCases(t, cases)
}

// TestPoolReferences: every reference of an entry to an entry of another kind is found, also if it is that of the first
// constant, and each of several.
//
// Invariant: The type checker reports every kind of fault in a constant pool, and nothing about a correct one.
func TestPoolReferences(t *testing.T) {
	const utf8, class, pair = classfile.TagUtf8, classfile.TagClass, classfile.TagNameAndType
	var targets []func(a *crafted.Class) uint16
	for _, tag := range []classfile.Tag{classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble} {
		targets = append(targets, func(a *crafted.Class) uint16 {
			if tag == classfile.TagLong || tag == classfile.TagDouble {
				a.Count++
				return a.Constant(tag, 0, 0, 0, 0, 0, 0, 0, 1)
			}
			return a.Constant(tag, 0, 0, 0, 1)
		})
	}
	targets = append(targets,
		func(*crafted.Class) uint16 { return 0 },
		func(*crafted.Class) uint16 { return 999 },
		func(a *crafted.Class) uint16 { return a.Utf8("f") },
		func(a *crafted.Class) uint16 { return a.ClassIndex("A") },
		func(a *crafted.Class) uint16 { return a.NameAndType("f", "I") },
		func(a *crafted.Class) uint16 { return a.Constant(classfile.TagString, crafted.U2(a.Utf8("f"))...) },
		func(a *crafted.Class) uint16 { return a.Fieldref("A", "f", "I") },
		func(a *crafted.Class) uint16 { return a.Methodref("A", "f", "()V") },
		func(a *crafted.Class) uint16 {
			return a.Constant(classfile.TagInterfaceMethodref, crafted.U2(a.ClassIndex("A"), a.NameAndType("f", "()V"))...)
		},
		func(a *crafted.Class) uint16 {
			return a.Constant(classfile.TagMethodType, crafted.U2(a.Utf8("()V"))...)
		},
		func(a *crafted.Class) uint16 { return a.Bootstrapped(classfile.TagDynamic, "f", "I") },
		func(a *crafted.Class) uint16 { return a.Bootstrapped(classfile.TagInvokeDynamic, "f", "()V") },
		func(a *crafted.Class) uint16 {
			return a.Constant(classfile.TagMethodHandle, append([]byte{6}, crafted.U2(a.Methodref("A", "f", "()V"))...)...)
		})
	checked := 0
	for _, form := range []struct {
		tag        classfile.Tag
		before     []byte
		references []classfile.Tag
		descriptor string
	}{
		{class, nil, []classfile.Tag{utf8}, ""},
		{classfile.TagString, nil, []classfile.Tag{utf8}, ""},
		{classfile.TagMethodType, nil, []classfile.Tag{utf8}, "()V"},
		{classfile.TagFieldref, nil, []classfile.Tag{class, pair}, "I"},
		{classfile.TagMethodref, nil, []classfile.Tag{class, pair}, "()V"},
		{classfile.TagInterfaceMethodref, nil, []classfile.Tag{class, pair}, "()V"},
		{pair, nil, []classfile.Tag{utf8, utf8}, "I"},
		{classfile.TagDynamic, []byte{0, 0}, []classfile.Tag{pair}, "I"},
		{classfile.TagInvokeDynamic, []byte{0, 0}, []classfile.Tag{pair}, "()V"},
	} {
		for position, want := range form.references {
			for _, target := range targets {
				a := crafted.NewClass(55, "A", "java/lang/Object")
				indexes := []uint16{a.Utf8("f"), a.Utf8(form.descriptor)}
				if len(form.references) == 1 {
					indexes = indexes[:1]
				} else if form.tag != pair {
					indexes = []uint16{a.ClassIndex("A"), a.NameAndType("f", form.descriptor)}
				}
				indexes[position] = target(a)
				i := a.Constant(form.tag, append(form.before[:len(form.before):len(form.before)],
					crafted.U2(indexes...)...)...)
				if got := a.Parse(t).ConstantPool().Tag(indexes[position]); got == want {
					continue
				}
				checked++
				checkFindings(t, fmt.Sprintf("reference %d of %v", position, form.tag), a, nil,
					fmt.Sprintf("a reference to %v at constant pool index %d", want, i))
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d references", checked)
	}
	first := func(a *crafted.Class) { a.Constant(class, 0, 1) }
	comparePoolCases(t, []poolCase{
		{"the first constant", 52, first, []string{"a reference to Utf8 at constant pool index 1"}},
		{"the first constant and two others", 52, func(a *crafted.Class) {
			first(a)
			a.Constant(classfile.TagString, 0, 0)
			a.Constant(pair, 0, 0, 0, 0)
		}, []string{"a reference to Utf8 at constant pool index 1", "a reference to Utf8 at constant pool index 2",
			"a reference to Utf8 at constant pool index 3", "a reference to Utf8 at constant pool index 3"}},
	})
}

// TestPoolStrings: a byte that modified UTF-8 does not have is found in a Utf8 of any length, at any position, also in
// the last constant.
//
// Invariant: The type checker reports every kind of fault in a constant pool, and nothing about a correct one.
func TestPoolStrings(t *testing.T) {
	const longest = 17 // two times eight, and one
	for _, odd := range []byte{0, 0x80, 0x81} {
		for length := 1; length <= longest; length++ {
			for at := range length {
				for _, last := range []bool{false, true} {
					a := crafted.NewClass(52, "A", "java/lang/Object")
					a.ClassIndex(a.Name)
					a.ClassIndex(a.Super)
					text := []byte(strings.Repeat("x", length))
					text[at] = odd
					i := a.Utf8(string(text))
					if !last {
						a.Utf8("é" + strings.Repeat("x", length)) // which is correct, though it has other bytes
						a.Utf8("another")
					}
					checkFindings(t, fmt.Sprintf("%q", text), a, nil, fmt.Sprintf("modified UTF-8 at constant pool index %d", i))
				}
			}
		}
	}
}

// handleCase is a MethodHandle of one reference_kind, with the kinds of constants that it may refer to (JVMS 4.4.8).
type handleCase struct {
	kind  byte
	major uint16
	to    []classfile.Tag
}

// TestPoolHandles: a MethodHandle refers only to what its reference_kind allows.
//
// Invariant: The type checker reports every kind of fault in a constant pool, and nothing about a correct one.
func TestPoolHandles(t *testing.T) {
	const field, method, face = classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref
	handle := func(a *crafted.Class, kind byte, to uint16) {
		a.Constant(classfile.TagMethodHandle, append([]byte{kind}, crafted.U2(to)...)...)
	}
	target := func(a *crafted.Class, tag classfile.Tag, name string) uint16 {
		switch tag {
		case field:
			return a.Fieldref("A", name, "I")
		case method, face:
			return a.Constant(tag, crafted.U2(a.ClassIndex("A"), a.NameAndType(name, "()V"))...)
		case classfile.TagClass:
			return a.ClassIndex("A")
		}
		return 0
	}
	var cases []poolCase
	for _, c := range []handleCase{
		{0, 52, nil}, {1, 52, []classfile.Tag{field}}, {2, 52, []classfile.Tag{field}}, {3, 52, []classfile.Tag{field}},
		{4, 52, []classfile.Tag{field}}, {5, 52, []classfile.Tag{method}}, {6, 52, []classfile.Tag{method, face}},
		{7, 52, []classfile.Tag{method, face}}, {8, 52, []classfile.Tag{method}}, {9, 52, []classfile.Tag{face}},
		{10, 52, nil}, {255, 52, nil}, {5, 51, []classfile.Tag{method}}, {6, 51, []classfile.Tag{method}},
		{7, 51, []classfile.Tag{method}}, {8, 51, []classfile.Tag{method}}, {9, 51, []classfile.Tag{face}},
	} {
		for _, tag := range []classfile.Tag{field, method, face, classfile.TagClass, 0} {
			name := "f"
			if c.kind == 8 && tag != field {
				name = "<init>"
			}
			var want []string
			if c.kind == 0 || c.kind > 9 {
				want = []string{"a reference_kind from 1 to 9"}
			} else if !slices.Contains(c.to, tag) {
				want = []string{fmt.Sprintf("a member that a handle of kind %d can refer to", c.kind)}
			}
			cases = append(cases, poolCase{fmt.Sprintf("kind %d of %v", c.kind, tag), c.major,
				func(a *crafted.Class) { handle(a, c.kind, target(a, tag, name)) }, want})
		}
		for _, name := range []string{"f", "<init>"} {
			if c.kind < 5 || len(c.to) == 0 {
				continue
			}
			var want []string
			if c.kind < 9 && (name == "<init>") != (c.kind == 8) {
				want = []string{fmt.Sprintf("a method that a handle of kind %d can refer to", c.kind)}
			}
			for _, tag := range c.to {
				cases = append(cases, poolCase{fmt.Sprintf("kind %d of %v %s", c.kind, tag, name), c.major,
					func(a *crafted.Class) { handle(a, c.kind, target(a, tag, name)) }, want})
			}
		}
	}
	comparePoolCases(t, cases)
}

// TestPoolNames: names and descriptors are found to be wrong by each kind of constant that leads to them.
//
// Invariant: The type checker reports every kind of fault in a constant pool, and nothing about a correct one.
func TestPoolNames(t *testing.T) {
	class := func(name string) func(a *crafted.Class) { return func(a *crafted.Class) { a.ClassIndex(name) } }
	pair := func(name, descriptor string) func(a *crafted.Class) {
		return func(a *crafted.Class) { a.NameAndType(name, descriptor) }
	}
	member := func(tag classfile.Tag, name, descriptor string) func(a *crafted.Class) {
		return func(a *crafted.Class) {
			a.Constant(tag, crafted.U2(a.ClassIndex("A"), a.NameAndType(name, descriptor))...)
		}
	}
	bootstrapped := func(tag classfile.Tag, name, descriptor string) func(a *crafted.Class) {
		return func(a *crafted.Class) { a.Bootstrapped(tag, name, descriptor) }
	}
	methodType := func(descriptor string) func(a *crafted.Class) {
		return func(a *crafted.Class) { a.Constant(classfile.TagMethodType, crafted.U2(a.Utf8(descriptor))...) }
	}
	twice := func(first, second func(a *crafted.Class)) func(a *crafted.Class) {
		return func(a *crafted.Class) { first(a); second(a) }
	}
	const field, method, face = classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref
	const indy, condy = classfile.TagInvokeDynamic, classfile.TagDynamic
	want := func(parts ...string) []string { return parts }
	const className, empty, fieldPair, methodPair = "a class name", "a name and a descriptor at",
		"a field name and a descriptor", "a method name and a descriptor"
	comparePoolCases(t, []poolCase{
		{"a class", 52, class("a/b<c>"), nil}, {"an array", 52, class("[[La/b;"), nil},
		{"no class name", 52, class(""), want(className)}, {"a.b", 52, class("a.b"), want(className)},
		{"a;b", 52, class("a;b"), want(className)}, {"a//b", 52, class("a//b"), want(className)},
		{"/a", 52, class("/a"), want(className)}, {"a/", 52, class("a/"), want(className)},
		{"an array of nothing", 52, class("["), want(className)},
		{"a[b", 52, class("a[b"), want(className)},
		{"a class in version 48", 48, class("a/b"), nil}, {"a-b in version 48", 48, class("a-b"), want(className)},
		{"a-b in version 49", 49, class("a-b"), nil},

		{"a field", 52, pair("a<b>", "I"), nil}, {"a/b", 52, pair("a/b", "I"), want(fieldPair)},
		{"a field a-b in version 48", 48, pair("a-b", "I"), want(fieldPair)},
		{"a method a-b in version 48", 48, pair("a-b", "()V"), want(methodPair)},
		{"a field a-b in version 49", 49, pair("a-b", "I"), nil},
		{"a method a-b in version 49", 49, pair("a-b", "()V"), nil},
		{"no field name", 52, pair("", "I"), want(empty)}, {"no descriptor", 52, pair("a", ""), want(empty)},
		{"no method name", 52, pair("", "()V"), want(empty)},
		{"a field of no type", 52, pair("a", "X"), want(fieldPair)},
		{"a field of void", 52, pair("a", "V"), want(fieldPair)},
		{"a field of two types", 52, pair("a", "II"), want(fieldPair)},
		{"a method", 52, pair("f", "(IJ)V"), nil}, {"a method a<b", 52, pair("a<b", "()V"), want(methodPair)},
		{"a method a/b", 52, pair("a/b", "()V"), want(methodPair)},
		{"a method without a result", 52, pair("f", "()"), want(methodPair)},
		{"a method cut off", 52, pair("f", "(I"), want(methodPair)},
		{"a method of void", 52, pair("f", "(V)V"), want(methodPair)},
		{"two faults", 52, twice(pair("a/b", "I"), pair("f", "(")), want(fieldPair, methodPair)},
		{"a fault of a class behind another", 52, twice(pair("f", "("), class("a.b")), want(methodPair, className)},
		{"a fault of a class before another", 52, twice(class("a.b"), pair("f", "(")), want(className, methodPair)},

		{"a constructor", 52, pair("<init>", "(I)V"), nil}, {"<clinit>", 52, pair("<clinit>", "()V"), nil},
		{"<other>", 52, pair("<other>", "()V"), want(methodPair)},
		{"<clinit> with arguments", 51, pair("<clinit>", "(LA;)V"), want(methodPair)},
		{"<clinit> with arguments in version 50", 50, pair("<clinit>", "(LA;)V"), nil},
		// What is known of the descriptor of one must not be taken for the other.
		{"<clinit> with arguments behind <init>", 61, twice(pair("<init>", "(LA;)V"), pair("<clinit>", "(LA;)V")),
			want(methodPair)},
		{"<clinit> with arguments before <init>", 52, twice(pair("<clinit>", "(LA;)V"), pair("<init>", "(LA;)V")),
			want(methodPair)},
		{"a constructor with a result in version 45", 45, pair("<init>", "()LA;"), want(methodPair)},
		{"a constructor with a result in version 48", 48, twice(member(method, "<init>", "()V"),
			twice(member(method, "f", "()LA;"), member(method, "<init>", "()LA;"))), want(methodPair)},
		{"a constructor with a result", 52, pair("<init>", "()I"), want(methodPair)},
		{"a constructor with a result in version 61", 61, pair("<init>", "()I"), want(methodPair)},
		{"a constructor with a result in version 62", 62, pair("<init>", "()I"), nil},

		{"a Fieldref", 52, member(field, "a", "I"), nil},
		{"a Fieldref of a method", 52, member(field, "a", "()V"), want("a field descriptor")},
		{"a Methodref", 52, member(method, "a", "()V"), nil},
		{"a Methodref of a constructor", 52, member(method, "<init>", "()V"), nil},
		{"a Methodref of a field", 52, member(method, "a", "I"), want("a method descriptor")},
		{"a Methodref of <clinit>", 52, member(method, "<clinit>", "()V"), want("a name other than <clinit>")},
		{"a Methodref of <clinit> in version 62", 62, member(method, "<clinit>", "()V"),
			want("a name other than <clinit>")},
		{"a Methodref of a constructor with a result in version 61", 61, member(method, "<init>", "()I"),
			want(methodPair)},
		{"a Methodref of a constructor with a result in version 62", 62, member(method, "<init>", "()I"),
			want("a constructor without a result")},
		{"an InterfaceMethodref", 52, member(face, "a", "()V"), nil},
		{"an InterfaceMethodref of a field", 52, member(face, "a", "I"), want("a method descriptor")},
		{"an InterfaceMethodref of <clinit>", 52, member(face, "<clinit>", "()V"), nil},
		{"an InvokeDynamic of a field", 52, bootstrapped(indy, "a", "I"), want("a method descriptor")},
		{"a Dynamic of a method", 55, bootstrapped(condy, "a", "()V"), want("a field descriptor")},
		{"a MethodType of a field", 52, methodType("I"), want("a method descriptor")},
		{"a MethodType cut off", 52, methodType("(I"), want("a method descriptor")},
		{"a MethodType of nothing", 52, methodType(""), want("a method descriptor")},
	})
}

// TestPoolNamesAgain: what one constant may use as a name or descriptor, another may not, and the other way round. The
// string is kept as correct for one use only.
//
// Invariant: The type checker reports every kind of fault in a constant pool, and nothing about a correct one.
func TestPoolNamesAgain(t *testing.T) {
	uses := []func(a *crafted.Class, text string){
		func(a *crafted.Class, text string) { a.ClassIndex(text) },
		func(a *crafted.Class, text string) { a.NameAndType(text, "Z") },
		func(a *crafted.Class, text string) { a.NameAndType(text, "()Z") },
		func(a *crafted.Class, text string) { a.NameAndType("x", text) },
		func(a *crafted.Class, text string) { a.NameAndType("<init>", text) },
		func(a *crafted.Class, text string) { a.NameAndType("<clinit>", text) },
		func(a *crafted.Class, text string) { a.Constant(classfile.TagMethodType, crafted.U2(a.Utf8(text))...) },
	}
	var checker types.Checker
	findings := func(major uint16, text string, uses ...func(a *crafted.Class, text string)) int {
		a := crafted.NewClass(major, "A", "java/lang/Object")
		for _, use := range uses {
			use(a, text)
		}
		return len(checker.Check(a.Parse(t)).Findings)
	}
	for _, text := range []string{"a", "a/b", "a<b", "<init>", "[", "[I", "[a", "I", "V", "La;", "()V", "()I", "(I", "(",
		"", "a;b", "x-y", "()Va", "(La;)V", "(La.b;)V"} {
		for _, major := range []uint16{47, 52, 61, 62} {
			uses := uses
			if major == 47 {
				uses = uses[:len(uses)-1] // it has no MethodType
			}
			for i, first := range uses {
				for j, second := range uses {
					want := findings(major, text, first)
					if j != i {
						want += findings(major, text, second)
					}
					if got := findings(major, text, first, second); got != want {
						t.Errorf("version %d, %q, uses %d and %d: %d findings, want %d", major, text, i, j, got, want)
					}
				}
			}
		}
	}
}
