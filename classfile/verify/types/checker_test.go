package types_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// world is a hierarchy of crafted classes.
type world map[string]*types.ClassInfo

func (w world) Lookup(name string) *types.ClassInfo { return w[name] }

// smallWorld has what the crafted classes refer to: some of java.lang, a class in another package with protected
// members, an interface, a final class and one with a final method.
func smallWorld(t testing.TB) world {
	w := world{}
	add := func(name, super string, access uint16, members ...crafted.Method) {
		a := crafted.NewClass(52, name, super)
		a.Access = access
		if super == "" {
			a.Super = name // there is no super_class 0 in the assembler
		}
		for _, m := range members {
			a.Add(m)
		}
		info := types.NewClassInfo(a.Parse(t))
		info.Super = super
		w[name] = info
	}
	const public, protected = classfile.AccPublic, classfile.AccProtected
	add("java/lang/Object", "", public, crafted.Method{Access: protected, Name: "clone",
		Descriptor: "()Ljava/lang/Object;"},
		crafted.Method{Access: public | classfile.AccFinal, Name: "notify", Descriptor: "()V"})
	add("java/lang/String", "java/lang/Object", public|classfile.AccFinal)
	add("java/lang/Class", "java/lang/Object", public|classfile.AccFinal)
	add("java/lang/Throwable", "java/lang/Object", public)
	add("java/lang/Error", "java/lang/Throwable", public)
	add("java/lang/Cloneable", "java/lang/Object", public|classfile.AccInterface|classfile.AccAbstract)
	add("far/Base", "java/lang/Object", public, crafted.Method{Access: protected, Name: "guarded", Descriptor: "()V"},
		crafted.Method{Access: protected, Name: "<init>", Descriptor: "()V"})
	add("far/Face", "java/lang/Object", public|classfile.AccInterface|classfile.AccAbstract)
	add("sub/T", "T", public)
	add("sub/U", "sub/T", public, crafted.Method{Access: public | classfile.AccAbstract, Name: "last", Descriptor: "()V"})
	add("far/Hidden", "java/lang/Object", 0)
	return w
}

// bodyCase is a method of class T and the finding it makes, "" for none.
type bodyCase struct {
	name  string
	major uint16 // 0: 52
	super string // "": Object
	make  func(a *crafted.Class) crafted.Method
	want  string
}

// simple is a static method without locals.
func simple(descriptor string, maxStack, maxLocals uint16, parts ...[]byte) func(*crafted.Class) crafted.Method {
	return func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: descriptor, MaxStack: maxStack,
			MaxLocals: maxLocals, Code: slices.Concat(parts...)}
	}
}

var bodyCases = []bodyCase{
	{name: "half a long", make: simple("()V", 2, 0, crafted.Op(code.Lconst0, byte(code.Pop), byte(code.Return))),
		want: "T#f()V@1: JVMS 4.10.1.9: expected a value of one word on the stack, found long's second word"},
	{name: "result", make: simple("()V", 1, 0, crafted.Op(code.Iconst0, byte(code.Ireturn))),
		want: "T#f()V@1: JVMS 4.10.1.9: expected no result, found int"},
	{name: "null is a String", make: simple("()Ljava/lang/String;", 1, 0,
		crafted.Op(code.AconstNull, byte(code.Areturn)))},
	{name: "Object is no String", make: simple("(Ljava/lang/Object;)Ljava/lang/String;", 1, 1,
		crafted.Op(code.Aload0, byte(code.Areturn))),
		want: "T#f(Ljava/lang/Object;)Ljava/lang/String;@1: JVMS 4.10.1.9: expected java/lang/String, " +
			"found java/lang/Object"},
	{name: "Object is an interface", make: simple("(Ljava/lang/Object;)Lfar/Face;", 1, 1,
		crafted.Op(code.Aload0, byte(code.Areturn)))},
	{name: "an array is no interface", make: simple("([I)Lfar/Face;", 1, 1,
		crafted.Op(code.Aload0, byte(code.Areturn))),
		want: "T#f([I)Lfar/Face;@1: JVMS 4.10.1.9: expected far/Face, found [I"},
	{name: "but Cloneable", make: simple("([I)Ljava/lang/Cloneable;", 1, 1,
		crafted.Op(code.Aload0, byte(code.Areturn)))},
	{name: "String[] is Object[]", make: simple("([Ljava/lang/String;)[Ljava/lang/Object;", 1, 1,
		crafted.Op(code.Aload0, byte(code.Areturn)))},
	{name: "int[][] is Object[]", make: simple("([[I)[Ljava/lang/Object;", 1, 1,
		crafted.Op(code.Aload0, byte(code.Areturn)))},
	{name: "byte[] is no int[]", make: simple("([B)[I", 1, 1, crafted.Op(code.Aload0, byte(code.Areturn))),
		want: "T#f([B)[I@1: JVMS 4.10.1.9: expected [I, found [B"},
	{name: "overwritten half", make: simple("(J)J", 2, 2,
		crafted.Op(code.Iconst0, byte(code.Istore1), byte(code.Lload0), byte(code.Lreturn))),
		want: "T#f(J)J@2: JVMS 4.10.1.9: expected long in local 0, found top"},
	{name: "no frame", make: simple("(I)V", 1, 1, crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 4),
		crafted.Op(code.Return)),
		want: "T#f(I)V@1: JVMS 4.10.1.6: expected a frame at the branch target 4, found none"},
	{name: "chop of nothing", make: withFrames("()V", []byte{250, 0, 0}, crafted.Op(code.Return)),
		want: "T#f()V@0: JVMS 4.7.4: expected a local to chop, found none"},
	{name: "jsr in a class with frames", make: simple("()V", 1, 0, crafted.Branch(code.Jsr, 0, 3),
		crafted.Op(code.Return)),
		want: "T#f()V@0: JVMS 4.9.1: expected no jsr from class file version 51 on, found one"},
}

// withFrames is simple with one frame.
func withFrames(descriptor string, frame []byte, parts ...[]byte) func(*crafted.Class) crafted.Method {
	return func(a *crafted.Class) crafted.Method {
		m := simple(descriptor, 2, 2, parts...)(a)
		m.Attributes = []crafted.Attribute{crafted.Frames(frame)}
		return m
	}
}

func call(a *crafted.Class, o code.Op, class, name, descriptor string) []byte {
	return crafted.Op(o, crafted.U2(a.Methodref(class, name, descriptor))...)
}

var objectCases = []bodyCase{
	{name: "protected on a stranger", super: "far/Base", make: func(a *crafted.Class) crafted.Method {
		return simple("(Lfar/Base;)V", 1, 1, crafted.Op(code.Aload0),
			call(a, code.Invokevirtual, "far/Base", "guarded", "()V"), crafted.Op(code.Return))(a)
	}, want: "T#f(Lfar/Base;)V@1: JVMS 4.10.1.8: expected T or a subclass, as the method is protected, found far/Base"},
	{name: "protected on itself", super: "far/Base", make: func(a *crafted.Class) crafted.Method {
		return simple("(LT;)V", 1, 1, crafted.Op(code.Aload0),
			call(a, code.Invokevirtual, "far/Base", "guarded", "()V"), crafted.Op(code.Return))(a)
	}},
	{name: "clone of an array", make: func(a *crafted.Class) crafted.Method {
		return simple("([I)V", 1, 1, crafted.Op(code.Aload0),
			call(a, code.Invokevirtual, "java/lang/Object", "clone", "()Ljava/lang/Object;"), crafted.Op(code.Pop,
				byte(code.Return)))(a)
	}},
	{name: "clone of a String", make: func(a *crafted.Class) crafted.Method {
		return simple("(Ljava/lang/String;)V", 1, 1, crafted.Op(code.Aload0),
			call(a, code.Invokevirtual, "java/lang/Object", "clone", "()Ljava/lang/Object;"), crafted.Op(code.Pop,
				byte(code.Return)))(a)
	}, want: "T#f(Ljava/lang/String;)V@1: JVMS 4.10.1.8: expected T or a subclass, as the method is protected, " +
		"found java/lang/String"},
	{name: "indirect interface by a Methodref, 17", major: 61,
		make: specialOfInterface(classfile.TagMethodref, "far/Face")},
	{name: "indirect interface by a Methodref, 25", major: 65,
		make: specialOfInterface(classfile.TagMethodref, "far/Face"),
		want: "T#g(LT;)V@1: JVMS 4.9.1: expected a direct superinterface, found far/Face"},
	{name: "indirect superclass by an InterfaceMethodref, 17", super: "java/lang/Error", major: 61,
		make: specialOfInterface(classfile.TagInterfaceMethodref, "java/lang/Throwable"),
		want: "T#g(LT;)V@1: JVMS 4.9.1: expected a direct superinterface, found java/lang/Throwable"},
	{name: "indirect superclass by an InterfaceMethodref, 25", super: "java/lang/Error", major: 65,
		make: specialOfInterface(classfile.TagInterfaceMethodref, "java/lang/Throwable")},
	{name: "overrides final", make: func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: classfile.AccPublic | classfile.AccAbstract, Name: "notify", Descriptor: "()V"}
	}, want: "T#notify()V: JVMS 5.3.5: expected no final method to be overridden, found that of java/lang/Object"},
	{name: "malformed descriptor of its own", make: func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(I", MaxStack: 1, MaxLocals: 1,
			Code: crafted.Op(code.Return)}
	}, want: `T#f(I: JVMS 4.3: expected a method descriptor, found "(I"`},
	{name: "call of nothing", make: func(a *crafted.Class) crafted.Method {
		return simple("()V", 0, 0, call(a, code.Invokestatic, "T", "", "()V"), crafted.Op(code.Return))(a)
	}, want: "T: JVMS 4.2: expected a name and a descriptor at constant pool index 3, found an empty one"},
	{name: "extends final", super: "java/lang/String", make: simple("()V", 0, 0, crafted.Op(code.Return)),
		want: "T: JVMS 5.3.5: expected a superclass that is not final, found java/lang/String"},
	{name: "is extended, and final", make: func(a *crafted.Class) crafted.Method {
		a.Access |= classfile.AccFinal
		return simple("(Lsub/T;)Ljava/lang/String;", 1, 1, crafted.Op(code.Aload0, byte(code.Areturn)))(a)
	}, want: "T: JVMS 5.3.5: expected a class that is not final, as sub/T extends it, found a final one\n" +
		"T#f(Lsub/T;)Ljava/lang/String;@1: JVMS 4.10.1.9: expected java/lang/String, found sub/T"},
	{name: "a final method that a subclass's subclass overrides", make: func(a *crafted.Class) crafted.Method {
		a.Add(crafted.Method{Access: classfile.AccPublic | classfile.AccFinal, Name: "last", Descriptor: "()V",
			MaxLocals: 1, Code: crafted.Op(code.Return)})
		return simple("(Lsub/U;)LT;", 1, 1, crafted.Op(code.Aload0, byte(code.Areturn)))(a)
	}, want: "T: JVMS 5.3.5: expected no final method last()V, as sub/U overrides it, found one"},
	{name: "extends hidden", super: "far/Hidden", make: simple("()V", 0, 0, crafted.Op(code.Return)),
		want: "T: JVMS 5.3.5: expected a superclass or superinterface that the class can access, found far/Hidden"},
	{name: "extends an interface", super: "far/Face", make: simple("()V", 0, 0, crafted.Op(code.Return)),
		want: "T: JVMS 5.3.5: expected a superclass, found interface far/Face"},
}

// specialOfInterface calls a method of another class by invokespecial and a constant of that kind.
func specialOfInterface(tag classfile.Tag, owner string) func(*crafted.Class) crafted.Method {
	return func(a *crafted.Class) crafted.Method {
		nameAndType := a.Constant(classfile.TagNameAndType, crafted.U2(a.Utf8("g"), a.Utf8("()V"))...)
		ref := a.Constant(tag, crafted.U2(a.ClassIndex(owner), nameAndType)...)
		return crafted.Method{Access: crafted.Static, Name: "g", Descriptor: "(LT;)V", MaxStack: 1, MaxLocals: 1,
			Code: slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Invokespecial, crafted.U2(ref)...),
				crafted.Op(code.Return))}
	}
}

var inferenceCases = []bodyCase{
	{name: "joins", make: simple("(I)Ljava/lang/Throwable;", 1, 2, crafted.Op(code.Iload0),
		crafted.Branch(code.Ifeq, 1, 9), crafted.Op(code.AconstNull), crafted.Op(code.Astore1),
		crafted.Branch(code.Goto, 6,
			11), crafted.Op(code.AconstNull), crafted.Op(code.Astore1), crafted.Op(code.Aload1), crafted.Op(code.Areturn))},
	{name: "joins nothing", make: simple("(I)I", 1, 2, crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 9),
		crafted.Op(code.AconstNull), crafted.Op(code.Astore1),
		crafted.Branch(code.Goto, 6,
			11), crafted.Op(code.Iconst0), crafted.Op(code.Istore1), crafted.Op(code.Iload1), crafted.Op(code.Ireturn)),
		want: "T#f(I)I@11: JVMS 4.10.1.9: expected int in local 1, found top"},
	{name: "depths differ", make: simple("(I)V", 2, 1, crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 5),
		crafted.Op(code.Iconst0), crafted.Op(code.Return)),
		want: "T#f(I)V@4: JVMS 4.10.2: expected 0 words on the stack, as on another path to 5, found 1"},
	{name: "dead code is not checked", make: simple("()V", 0, 0, crafted.Op(code.Return, byte(code.Pop)))},
	{name: "but its operands are", make: simple("()V", 0, 0,
		crafted.Op(code.Return, byte(code.Iload0), byte(code.Return))),
		want: "T#f()V@1: JVMS 4.9.1: expected a local below max_locals 0, found 0"},
	{name: "subroutine", make: simple("()V", 1, 1, crafted.Branch(code.Jsr, 0, 4), crafted.Op(code.Return),
		crafted.Op(code.Astore0), crafted.Op(code.Ret, 0))},
	{name: "recursive subroutine", make: simple("()V", 1, 1, crafted.Branch(code.Jsr, 0, 3), crafted.Op(code.Pop),
		crafted.Branch(code.Jsr, 4, 3), crafted.Op(code.Return)),
		want: "T#f()V@4: JVMS 4.10.2.5: expected no subroutine that calls itself, found one"},
	{name: "ret by an int", make: simple("()V", 1, 1, crafted.Op(code.Iconst0, byte(code.Istore0)),
		crafted.Op(code.Ret, 0)),
		want: "T#f()V@2: JVMS 4.10.1.9: expected a return address in local 0, found int"},
	{name: "local kept across a subroutine", make: simple("()I", 1, 2, crafted.Op(code.Iconst0, byte(code.Istore1)),
		crafted.Branch(code.Jsr, 2, 7),
		crafted.Op(code.Iload1, byte(code.Ireturn)), crafted.Op(code.Astore0), crafted.Op(code.Ret, 0))},
	{name: "half a long kept across a subroutine", make: simple("()V", 2, 3,
		crafted.Op(code.Lconst0, byte(code.Lstore1)), crafted.Branch(code.Jsr, 2, 8),
		crafted.Op(code.Lload1, byte(code.Pop2), byte(code.Return)),
		crafted.Op(code.Astore0, byte(code.Iconst0), byte(code.Istore2)), crafted.Op(code.Ret, 0)),
		want: "T#f()V@5: JVMS 4.10.1.9: expected long's second word in local 2, found int"},
	{name: "ldc of a class", major: 48, make: func(a *crafted.Class) crafted.Method {
		return simple("()V", 1, 0, crafted.Op(code.Ldc, byte(a.ClassIndex("T"))),
			crafted.Op(code.Pop, byte(code.Return)))(a)
	}, want: "T#f()V@0: JVMS 4.9.1: expected a constant of kind Integer or Float or String at index 2, found Class"},
}

// Invariant: The type checker reports a finding for each kind of fault in code, and none for correct code.
func TestCheckBodies(t *testing.T) {
	w := smallWorld(t)
	run := func(cases []bodyCase, major uint16) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				a := crafted.NewClass(max(c.major, major), "T", "java/lang/Object")
				if c.major != 0 {
					a.Major = c.major
				}
				if c.super != "" {
					a.Super = c.super
				}
				a.Access |= 0x20
				m := c.make(a)
				if m.Access&classfile.AccAbstract != 0 {
					a.Access |= classfile.AccAbstract
				}
				a.Add(m)
				var got []string
				for _, f := range types.Check(a.Parse(t), w) {
					got = append(got, f.String())
				}
				if strings.Join(got, "\n") != c.want {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			})
		}
	}
	run(bodyCases, 52)
	run(objectCases, 52)
	run(inferenceCases, 49)
}

// TestCheckFailover: a class of version 50 has findings if inference finds faults; the findings are those about its
// frames.
func TestCheckFailover(t *testing.T) {
	w := smallWorld(t)
	for _, c := range []struct {
		name     string
		frame    []byte
		code     []byte
		inferred bool
		want     string
	}{
		{"right frame", []byte{4}, slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 4),
			crafted.Op(code.Return)), false, ""},
		{"wrong frame", []byte{255, 0, 4, 0, 1, 2, 0, 0},
			slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 4), crafted.Op(code.Return)), true, ""},
		{"malformed frame", []byte{200}, slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 4),
			crafted.Op(code.Return)), false,
			"T#f(I)V: JVMS 4.7.4: expected a known frame_type, found 200"},
		{"no new at an offset", []byte{255, 0, 4, 0, 1, 1, 0, 1, 8, 0, 9},
			slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 4), crafted.Op(code.Return)), true, ""},
		// HotSpot reads such a frame to its end, and has no second chance for what it meets there.
		{"no new at an offset, and malformed", []byte{255, 0, 4, 0, 1, 1, 0, 2, 8, 0, 9, 8},
			slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 4), crafted.Op(code.Return)), false,
			"T#f(I)V: JVMS 4.7.4: expected more of StackMapTable, found its end"},
		{"wrong code", []byte{4}, slices.Concat(crafted.Op(code.Fload0), crafted.Branch(code.Ifeq, 1, 4),
			crafted.Op(code.Return)), false,
			"T#f(I)V@0: JVMS 4.10.1.9: expected float in local 0, found int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := crafted.NewClass(50, "T", "java/lang/Object")
			a.Add(withFrames("(I)V", c.frame, c.code)(a))
			k := types.Checker{Hierarchy: w}
			r := k.Check(a.Parse(t))
			got := ""
			for _, f := range r.Findings {
				got += f.String()
			}
			if got != c.want || r.Inferred != c.inferred {
				t.Errorf("got %q, inferred %v; want %q, %v", got, r.Inferred, c.want, c.inferred)
			}
		})
	}
}

// checkInnerClasses adds an InnerClasses attribute to a class, and returns what Check finds.
func checkInnerClasses(t *testing.T, a *crafted.Class, info []byte) (findings string) {
	t.Helper()
	attribute := a.AttributeInfo(crafted.Attribute{Name: "InnerClasses", Info: info})
	data := a.Bytes()
	parsed := assembly.Parse(t, slices.Concat(data[:len(data)-2], crafted.U2(1), attribute))
	for _, f := range types.Check(parsed, smallWorld(t)) {
		findings += f.String()
	}
	return findings
}

// TestCheckInnerClassesLength: before version 49, HotSpot reads as many rows as the count says from the bytes that
// follow, whatever the length of the attribute is.
func TestCheckInnerClassesLength(t *testing.T) {
	for _, c := range []struct {
		major uint16
		count uint16
		want  string
	}{
		{49, 1, ""},
		{48, 1, ""},
		{49, 0, "T: JVMS 4.7: expected InnerClasses as long as its count says, found 10"},
		{48, 0, ""},
		{48, 9, "T: JVMS 4.7: expected InnerClasses as long as its count says, found 10"},
	} {
		a := crafted.NewClass(c.major, "T", "java/lang/Object")
		a.Access |= 0x20
		got := checkInnerClasses(t, a, crafted.U2(c.count, a.ClassIndex("T$I"), a.ClassIndex("T"), 0, classfile.AccPublic))
		if got != c.want {
			t.Errorf("version %d, %d rows: got %q, want %q", c.major, c.count, got, c.want)
		}
	}
}

// TestCheckUnknown: classes that cannot be found are assumed to fit and listed, each once.
func TestCheckUnknown(t *testing.T) {
	a := crafted.NewClass(52, "T", "x/Super")
	a.Add(simple("(Lx/Y;)Lx/Z;", 1, 1, crafted.Op(code.Aload0, byte(code.Areturn)))(a))
	k := types.Checker{Hierarchy: smallWorld(t)}
	r := k.Check(a.Parse(t))
	if len(r.Findings) > 0 || !slices.Equal(r.Unknown, []string{"x/Super", "x/Z"}) {
		t.Errorf("findings %v, unknown %v", r.Findings, r.Unknown)
	}
	k.Strict = true
	r = k.Check(a.Parse(t))
	if len(r.Findings) != 2 ||
		r.Findings[1].String() != "T: JVMS 5.3: expected class x/Z, found none on the class path" {
		t.Errorf("strictly: findings %v", r.Findings)
	}
}

// TestCheckFrame: a finding has the types at its place if they are asked for.
func TestCheckFrame(t *testing.T) {
	a := crafted.NewClass(52, "T", "java/lang/Object")
	a.Add(simple("(JLjava/lang/String;)V", 2, 4, crafted.Op(code.Aload2, byte(code.Lload0), byte(code.Return)))(a))
	k := types.Checker{Hierarchy: smallWorld(t), Frames: true}
	r := k.Check(a.Parse(t))
	const want = "locals [long, java/lang/String] stack [java/lang/String, long]"
	if len(r.Findings) != 1 || r.Findings[0].Frame != want {
		t.Errorf("got %+v, want one with the frame %q", r.Findings, want)
	}
}

// TestCheckTogether: a checker that many goroutines share says of each class what one of its own says.
func TestCheckTogether(t *testing.T) {
	w := smallWorld(t)
	all := crafted.All(t)
	want := make([]types.Result, len(all))
	for i, c := range all {
		k := types.Checker{Hierarchy: w, Frames: true}
		want[i] = k.Check(c)
	}
	shared := types.Checker{Hierarchy: w, Frames: true}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i, c := range all {
				got := shared.Check(c)
				if !slices.Equal(got.Findings, want[i].Findings) || !slices.Equal(got.Unknown, want[i].Unknown) ||
					got.Inferred != want[i].Inferred {
					t.Errorf("%s: got %v, want %v", c.Name(), got, want[i])
				}
			}
		})
	}
	workers.Wait()
}

// TestCheckInSharedMemory: checkers with other hierarchies and options that share their memory, and check in turns, say
// of each class what each says in memory of its own.
func TestCheckInSharedMemory(t *testing.T) {
	var memory types.Memory
	own := []*types.Checker{{Hierarchy: smallWorld(t), Frames: true}, {Hierarchy: world{}}, {}}
	var sharing []*types.Checker
	for _, c := range own {
		sharing = append(sharing, &types.Checker{Hierarchy: c.Hierarchy, Frames: c.Frames, Memory: &memory})
	}
	for _, c := range crafted.All(t) {
		for i := range own {
			got, want := sharing[i].Check(c), own[i].Check(c)
			if !slices.Equal(got.Findings, want.Findings) || !slices.Equal(got.Unknown, want.Unknown) {
				t.Errorf("%s: checker %d got %v, want %v", c.Name(), i, got, want)
			}
		}
	}
}

// TestCheckAcceptsCompilers: what compilers made has no findings, before instrumentation and after.
func TestCheckAcceptsCompilers(t *testing.T) {
	w := smallWorld(t)
	for name, data := range crafted.Committed(t) {
		c := assembly.Parse(t, data)
		for _, f := range types.Check(c, w) {
			t.Errorf("%s: %v", name, f)
		}
		for _, m := range crafted.Modes {
			rewritten, _, ok := m.Instrument(t, c)
			if !ok {
				continue
			}
			r := assembly.Parse(t, rewritten)
			for _, f := range types.Check(r, w) {
				t.Errorf("%s, instrumented: %v", name, f)
			}
		}
	}
}

// TestCheckInnerClasses: what HotSpot reads of the attribute.
func TestCheckInnerClasses(t *testing.T) {
	for _, c := range []struct {
		inner, outer string
		want         string
	}{
		{"T$I", "T", ""},
		{"T$I", "[LT;", "T: JVMS 4.7: expected an outer class, found an array"},
		{"T", "T", "T: JVMS 4.7: expected an inner class other than its outer one, found the same"},
	} {
		a := crafted.NewClass(52, "T", "java/lang/Object")
		a.Access |= 0x20
		got := checkInnerClasses(t, a, crafted.U2(1, a.ClassIndex(c.inner), a.ClassIndex(c.outer), 0, classfile.AccPublic))
		if got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.inner, c.outer, got, c.want)
		}
	}
}
