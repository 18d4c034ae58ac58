package crafted

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// Classes returns the crafted classes by what is special about them.
func Classes(t testing.TB) map[string]*classfile.Class {
	all := map[string]*classfile.Class{}
	for name, make := range map[string]func() *Class{
		"far branches":         farBranches,
		"far branches, wide":   farWideBranches,
		"subroutines":          subroutines,
		"activity":             func() *Class { return activity(true) },
		"activity without":     func() *Class { return activity(false) },
		"dead code":            deadCode,
		"two constructors":     twoConstructorCalls,
		"long frames":          longFrames,
		"uninitialised":        uninitialised,
		"loops to start":       loopToStart,
		"stack deeper":         stackDeeper,
		"variables everywhere": variablesEverywhere,
		"large pool":           largePool,
		"stamped":              mappingInfo,
		"posts":                posts,
		"state machine":        stateMachine,
		"suspend lambda":       suspendLambda,
	} {
		all[name] = make().Parse(t)
	}
	return all
}

// farBranches has branches over nearly as much code as two bytes span, forwards and backwards. Behind the first
// conditional one there is no frame, and a local that the method's start has not.
func farBranches() *Class {
	a := NewClass(52, "FarBranches", "java/lang/Object")
	const conditional, middle, far = 3, 11, 3 + 32700
	b := slices.Concat(Op(code.Iload0), Op(code.Istore1), Op(code.Iload0), Branch(code.Ifeq, conditional, far),
		Op(code.Iload0), Branch(code.Ifne, 7, middle), Op(code.Return))
	b = append(Nops(b, middle), byte(code.Iload1), byte(code.Pop))
	b = append(Nops(b, middle+20), Branch(code.Goto, middle+20, far-10)...)
	const inner = middle + 23
	b = Nops(b, far-10)
	b = Nops(b, far)
	b = append(b, slices.Concat(Op(code.Iload0), Branch(code.Ifle, far+1, inner), Op(code.Return))...)
	a.Add(Method{Static, "f", "(I)V", 1, 2, b, nil, []Attribute{Frames(
		append([]byte{252}, append(U2(middle), 1)...), // append_frame: an int
		[]byte{inner - middle - 1},
		SameExtended(far-10-inner-1),
		[]byte{9}, // at far
	)}})
	// A goto back to the method's start over a return.
	g := append(Op(code.Iload0), slices.Concat(Branch(code.Ifeq, 1, 32700), Op(code.Iload0), Branch(code.Ifne, 5, 9),
		Op(code.Return))...)
	g = append(Nops(g, 32697), Branch(code.Goto, 32697, 0)...)
	g = append(g, byte(code.Return))
	a.Add(Method{Static, "g", "(I)V", 1, 1, g, nil, []Attribute{Frames([]byte{0}, []byte{8}, SameExtended(32690))}})
	return a
}

// farWideBranches has what javac writes for far branches, but over less code than it need be for: goto_w, and
// negated conditional branches over a goto_w. A frame that nothing needs stands behind the latter.
func farWideBranches() *Class {
	a := NewClass(52, "FarWideBranches", "java/lang/Object")
	const far = 32760
	b := Op(code.Iload0)
	b = append(b, slices.Concat(Branch(code.Ifne, 1, 9), Branch(code.GotoW, 4, far))...) // behind it a frame at 9
	b = append(b, slices.Concat(Op(code.Iload0), Branch(code.Ifne, 10, 18), Branch(code.GotoW, 13, 32767+40))...)
	b = append(b, slices.Concat(Op(code.Iload0), Branch(code.Ifeq, 19, 23), Op(code.Return))...)
	b = append(Nops(b, 30), Branch(code.GotoW, 30, far)...)
	b = Nops(b, far)
	b = append(Nops(b, 32767+40), byte(code.Return))
	a.Add(Method{Static, "f", "(I)V", 1, 1, b, nil, []Attribute{Frames(
		[]byte{9}, []byte{8}, []byte{4}, // 9, 18, 23
		[]byte{11}, // 35
		SameExtended(far-36), []byte{46},
	)}})
	return a
}

// subroutines has jsr and ret, also far apart, and in an exception handler (JVMS 6.5 ret).
func subroutines() *Class {
	a := NewClass(48, "Subroutines", "java/lang/Object")
	b := slices.Concat(Branch(code.Jsr, 0, 7), Op(code.Iconst0), Op(code.Pop), Op(code.Nop), Op(code.Return),
		Op(code.Astore0), Op(code.Ret, 0))
	a.Add(Method{Static, "f", "()V", 1, 1, b, []Handler{{3, 5, 10, 0}}, nil})
	a.Methods[0].Code = append(b, slices.Concat(Op(code.Astore1), Branch(code.Jsr, 11, 7), Op(code.Aload1),
		Op(code.Athrow))...)
	a.Methods[0].MaxLocals = 2
	far := append(Branch(code.Jsr, 0, 32700), byte(code.Return))
	far = append(Nops(far, 32700), slices.Concat(Op(code.Astore0), Op(code.Wide, byte(code.Ret), 0, 0))...)
	a.Add(Method{Static, "far", "()V", 1, 1, far, nil, nil})
	wide := append(Branch(code.JsrW, 0, 32767), byte(code.Return))
	wide = append(Nops(wide, 32767), slices.Concat(Op(code.Astore0), Op(code.Ret, 0))...)
	a.Add(Method{Static, "wide", "()V", 1, 1, wide, nil, nil})
	return a
}

func activity(declares bool) *Class {
	a := NewClass(52, "Main", "android/app/Activity")
	init := a.Methodref("android/app/Activity", "<init>", "()V")
	a.Add(Method{classfile.AccPublic, "<init>", "()V", 1, 1,
		slices.Concat(Op(code.Aload0), Op(code.Invokespecial, U2(init)...), Op(code.Return)), nil, nil})
	if declares {
		b := slices.Concat(Op(code.Iload1), Branch(code.Ifne, 1, 5), Op(code.Return), Op(code.Iconst0),
			Op(code.Istore1),
			Branch(code.Goto, 7, 0))
		a.Add(Method{classfile.AccPublic, "onWindowFocusChanged", "(Z)V", 1, 2, b, nil,
			[]Attribute{Frames([]byte{0}, []byte{4}), {"LineNumberTable", U2(2, 0, 1, 5, 2)}}})
	}
	return a
}

// deadCode has returns that no path leads to, in a class without frames.
func deadCode() *Class {
	a := NewClass(49, "DeadCode", "java/lang/Object")
	a.Add(Method{Static, "f", "()J", 2, 0, slices.Concat(Op(code.Lconst0), Op(code.Lreturn), Op(code.Lreturn),
		Op(code.Nop), Op(code.Lreturn)), nil, nil})
	a.Add(Method{Static, "g", "(Ljava/lang/Throwable;)V", 1, 1,
		slices.Concat(Op(code.Aload0), Op(code.Athrow), Op(code.Return)), nil, nil})
	return a
}

// twoConstructorCalls calls super on either of two paths, returns early on one and throws before on another.
func twoConstructorCalls() *Class {
	a := NewClass(52, "Two", "java/lang/Object")
	super := a.Methodref("java/lang/Object", "<init>", "()V")
	call := append(Op(code.Aload0), Op(code.Invokespecial, U2(super)...)...)
	b := slices.Concat(Op(code.Iload1), Branch(code.Ifeq, 1, 9), // 0
		call, Op(code.Return), // 4
		Op(code.Aload2), Branch(code.Ifnull, 10, 15), // 9
		Op(code.Aload2), Op(code.Athrow), // 13
		call, Op(code.Nop), Op(code.Aload2), Branch(code.Ifnonnull, 21, 26), // 15
		Op(code.AconstNull), Op(code.Pop), // 24
		Op(code.Return)) // 26
	init := []byte{255, 0, 9, 0, 3, 6, 1, 7}
	init = append(append(init, U2(a.ClassIndex("java/lang/Throwable"))...), 0, 0)
	after := append([]byte{255, 0, 10, 0, 3, 7}, U2(a.ClassIndex("Two"))...)
	after = append(append(after, 1, 7), append(U2(a.ClassIndex("java/lang/Throwable")), 0, 0)...)
	a.Add(Method{classfile.AccPublic, "<init>", "(ILjava/lang/Throwable;)V", 1, 3, b, nil,
		[]Attribute{Frames(init, []byte{5}, after)}})
	return a
}

// longFrames has frames in a longer form than necessary.
func longFrames() *Class {
	a := NewClass(52, "LongFrames", "java/lang/Object")
	b := append(Op(code.Iload0), Branch(code.Ifeq, 1, 62)...)
	b = append(Nops(b, 61), byte(code.Return))
	b = append(b, Op(code.Return)...)
	a.Add(Method{Static, "f", "(I)V", 1, 1, b, nil, []Attribute{Frames(SameExtended(62))}})
	a.Add(Method{Static, "g", "(I)V", 1, 1, b, nil, []Attribute{Frames([]byte{62})}})
	a.Add(Method{Static, "h", "(I)V", 1, 1, slices.Concat(Op(code.Iload0), Branch(code.Ifeq, 1, 4), Op(code.Return)),
		nil,
		[]Attribute{Frames(SameExtended(4))}})
	a.Add(Method{Static, "empty", "()V", 0, 0, Op(code.Nop, byte(code.Return)), nil, []Attribute{Frames()}})
	return a
}

// uninitialised branches between new and its constructor's call, right at the entry and behind exits.
func uninitialised() *Class {
	a := NewClass(52, "Uninitialised", "java/lang/Object")
	init := a.Methodref("java/lang/Object", "<init>", "()V")
	object := U2(a.ClassIndex("java/lang/Object"))
	b := slices.Concat(Op(code.New, object...), Op(code.Dup), Op(code.Iload0), Branch(code.Ifeq, 5, 9), Op(code.Nop),
		Op(code.Invokespecial, U2(init)...), Op(code.Areturn))
	items := []byte{8, 0, 0, 8, 0, 0}
	frame := slices.Concat([]byte{255, 0, 9, 0, 1, 1, 0, 2}, items)
	a.Add(Method{Static, "f", "(I)Ljava/lang/Object;", 3, 1, b, nil, []Attribute{Frames(frame)}})
	return a
}

// loopToStart branches back to its first instruction, which is also in a handler's range, and whose handler
// it is not; and to a return.
func loopToStart() *Class {
	a := NewClass(52, "Loop", "java/lang/Object")
	b := slices.Concat(Op(code.Iload0), Branch(code.Ifeq, 1, 8), Op(code.Nop), Branch(code.Goto, 5, 0), Op(code.Return),
		Op(code.Pop), Branch(code.Goto, 10, 8), Op(code.Athrow), Op(code.Athrow))
	stack := func(delta int) []byte {
		return append(append([]byte{64 + byte(delta), 7}, U2(a.ClassIndex("java/lang/Throwable"))...), []byte{}...)
	}
	a.Add(Method{Static, "f", "(I)V", 1, 1, b, []Handler{{0, 8, 9, 0}, {8, 9, 13, a.ClassIndex("java/lang/Throwable")},
		{0, 14, 14, 0}},
		[]Attribute{Frames([]byte{0}, []byte{7}, stack(0), stack(3), stack(0)),
			{"LineNumberTable", U2(4, 0, 1, 5, 2, 8, 3, 0, 4)}}})
	return a
}

// stackDeeper has every relation of max_stack to what is needed.
func stackDeeper() *Class {
	a := NewClass(52, "Deep", "java/lang/Object")
	for i, name := range []string{"a", "b", "c"} {
		a.Add(Method{Static, name, "()V", uint16(i), 0, Op(code.Return), nil, nil})
		a.Add(Method{Static, name, "()I", uint16(i + 1), 0, Op(code.Iconst0, byte(code.Ireturn)), nil, nil})
	}
	a.Add(Method{Static, "left", "()J", 4, 0, Op(code.Lconst0, byte(code.Lconst0), byte(code.Lreturn)), nil, nil})
	return a
}

// variablesEverywhere has variables, lines, character ranges and annotations on and between all instructions.
func variablesEverywhere() *Class {
	a := NewClass(52, "Variables", "java/lang/Object")
	n, d := a.Utf8("v"), a.Utf8("I")
	b := slices.Concat(Op(code.Iload0), Op(code.Istore1), Op(code.Iload1), Branch(code.Ifeq, 3, 8), Op(code.Iload1),
		Op(code.Ireturn),
		Op(code.Iload0), Op(code.Ireturn))
	variables := U2(6, 0, 10, n, d, 0, 2, 8, n, d, 1, 7, 3, n, d, 2, 9, 1, n, d, 3, 10, 0, n, d, 4, 0, 0, n, d, 5)
	annotation := slices.Concat(U2(4),
		[]byte{0x40}, U2(2, 0, 7, 0, 7, 2, 1), []byte{0}, U2(d, 0),
		[]byte{0x43}, U2(0), []byte{0}, U2(d, 0),
		[]byte{0x47}, U2(7), []byte{0}, []byte{0}, U2(d, 1, n), []byte{'[', 0, 1, 'I', 0, 0},
		[]byte{0x44}, U2(9), []byte{1, 0, 0}, U2(d, 0))
	ranges := U2(3, 0, 9, 0, 0, 0, 0, 0, 7, 7, 0, 0, 0, 0, 0, 2, 6, 0, 0, 0, 0, 0)
	a.Add(Method{Static, "f", "(I)I", 1, 4, b, nil, []Attribute{
		Frames([]byte{252, 0, 8, 1}),
		{"LineNumberTable", U2(5, 0, 10, 2, 11, 7, 12, 9, 13, 4, 14)},
		{"LocalVariableTable", variables}, {"LocalVariableTypeTable", variables},
		{"RuntimeVisibleTypeAnnotations", annotation}, {"RuntimeInvisibleTypeAnnotations", annotation},
		{"CharacterRangeTable", ranges},
	}})
	return a
}

// largePool has more constants than ldc can reach, and a switch at each alignment.
func largePool() *Class {
	a := NewClass(52, "Large", "java/lang/Object")
	for i := range 300 {
		a.Constant(classfile.TagInteger, 0, 1, byte(i>>8), byte(i))
	}
	for before := range 4 {
		b := append(Nops(nil, before), byte(code.Iload0))
		pc := len(b)
		b = append(b, byte(code.Lookupswitch))
		b = Nops(b, (pc+4)&^3)
		end := len(b) + 8 + 8
		for _, v := range []int{end - pc, 1, 7, end + 1 - pc} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, byte(code.Return), byte(code.Return))
		a.Add(Method{Static, string(rune('a' + before)), "(I)V", 1, 1, b, nil,
			[]Attribute{Frames([]byte{byte(end)}, []byte{0})}})
	}
	return a
}

func mappingInfo() *Class {
	a := NewClass(52, "dev/tracegen/runtime/MappingInfo", "java/lang/Object")
	digest := a.Constant(classfile.TagString, U2(a.Utf8("0000000000000000"))...)
	a.Add(Method{Static, "digest", "()Ljava/lang/String;", 1, 0, Op(code.Ldc, byte(digest), byte(code.Areturn)), nil,
		nil})
	return a
}

// posts posts messages in every way that has its own form of probe, once behind a branch that leads to the call itself,
// and once in code with all handlers. The last method posts in the arguments of super().
func posts() *Class {
	a := NewClass(52, "Posts", "java/lang/Object")
	const handler, runnable, message = "android/os/Handler", "java/lang/Runnable", "android/os/Message"
	const parameters = "(L" + handler + ";L" + runnable + ";L" + message + ";IJ)V"
	virtual := func(class, name, descriptor string) []byte {
		return Op(code.Invokevirtual, U2(a.Methodref(class, name, descriptor))...)
	}
	load := slices.Concat(Op(code.Aload0), Op(code.Aload1))
	long := Op(code.Lload, 4)
	b := slices.Concat(
		load, virtual(handler, "post", "(L"+runnable+";)Z"), Op(code.Pop),
		load, long, virtual("app/View", "postDelayed", "(L"+runnable+";J)Z"), Op(code.Pop),
		Op(code.Aload0), Op(code.Aload2), long, virtual(handler, "sendMessageAtTime", "(L"+message+";J)Z"), Op(code.Pop),
		Op(code.Aload0), Op(code.Iload3), virtual(handler, "sendEmptyMessage", "(I)Z"), Op(code.Pop),
		Op(code.Aload0), Op(code.Iload3), long, virtual(handler, "sendEmptyMessageDelayed", "(IJ)Z"), Op(code.Pop),
		Op(code.Aload2), virtual(message, "sendToTarget", "()V"),
		// Not the ones that are looked for: another descriptor, and no receiver.
		load, Op(code.Pop), Op(code.Pop), Op(code.Aload1), Op(code.Pop),
		load, virtual(handler, "removeCallbacks", "(L"+runnable+";)V"),
		Op(code.Aload1), Op(code.Invokestatic, U2(a.Methodref("app/Bus", "execute", "(L"+runnable+";)V"))...),
	)
	// h.post(what != 0 ? r : null), whose branches meet at the call.
	start := len(b)
	b = slices.Concat(b, Op(code.Aload0), Op(code.Iload3), Branch(code.Ifeq, start+2, start+9), Op(code.Aload1),
		Branch(code.Goto, start+6, start+10), Op(code.AconstNull), virtual(handler, "post", "(L"+runnable+";)Z"),
		Op(code.Pop), Op(code.Return))
	object := func(name string) []byte { return append([]byte{7}, U2(a.ClassIndex(name))...) }
	full := slices.Concat([]byte{255}, U2(0, 5), object(handler), object(runnable), object(message), []byte{1, 4}, U2(2),
		object(handler), object(runnable))
	handlerFrame := slices.Concat([]byte{255}, U2(uint16(len(b)-(start+10)-1), 5), object(handler), object(runnable),
		object(message), []byte{1, 4}, U2(1), object("java/lang/Throwable"))
	end := uint16(len(b))
	a.Add(Method{Static, "f", parameters, 4, 6, append(b, byte(code.Athrow)), []Handler{{0, end, end, 0}},
		[]Attribute{Frames(slices.Concat([]byte{247}, U2(uint16(start+9)), object(handler)), full, handlerFrame)}})
	post := slices.Concat(Op(code.Aload1), Op(code.Aload2), virtual(handler, "post", "(L"+runnable+";)Z"), Op(code.Pop))
	super := slices.Concat(Op(code.Aload0), post,
		Op(code.Invokespecial, U2(a.Methodref("java/lang/Object", "<init>", "()V"))...), post, Op(code.Return))
	a.Add(Method{classfile.AccPublic, "<init>", "(L" + handler + ";L" + runnable + ";)V", 3, 3, super, nil, nil})
	return a
}
