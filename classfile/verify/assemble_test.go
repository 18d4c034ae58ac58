package verify_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// assembler writes class files that no compiler would, or not of this size.
type assembler struct {
	major   uint16
	access  uint16
	name    string
	super   string
	pool    []byte
	count   uint16
	known   map[string]uint16
	methods []method
}

type method struct {
	access              uint16
	name, descriptor    string
	maxStack, maxLocals uint16
	code                []byte
	handlers            []handler
	attributes          []attribute
}

type handler struct{ start, end, handler, catch uint16 }

type attribute struct {
	name string
	info []byte
}

func newAssembler(major uint16, name, super string) *assembler {
	return &assembler{major: major, access: classfile.AccPublic, name: name, super: super, count: 1, known: map[string]uint16{}}
}

// constant gives the index of the constant with these bytes, which it adds if there is none.
func (a *assembler) constant(tag classfile.Tag, operands ...byte) uint16 {
	entry := append([]byte{byte(tag)}, operands...)
	if i, ok := a.known[string(entry)]; ok {
		return i
	}
	a.known[string(entry)] = a.count
	a.pool = append(a.pool, entry...)
	a.count++
	return a.count - 1
}

func u2(values ...uint16) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

func (a *assembler) utf8(s string) uint16 {
	return a.constant(classfile.TagUtf8, append(u2(uint16(len(s))), s...)...)
}

func (a *assembler) class(name string) uint16 {
	return a.constant(classfile.TagClass, u2(a.utf8(name))...)
}

func (a *assembler) methodref(class, name, descriptor string) uint16 {
	nameAndType := a.constant(classfile.TagNameAndType, u2(a.utf8(name), a.utf8(descriptor))...)
	return a.constant(classfile.TagMethodref, u2(a.class(class), nameAndType)...)
}

func (a *assembler) add(m method) { a.methods = append(a.methods, m) }

func (a *assembler) bytes() []byte {
	body := u2(a.access, a.class(a.name), a.class(a.super), 0, 0, uint16(len(a.methods)))
	for _, m := range a.methods {
		body = append(body, u2(m.access, a.utf8(m.name), a.utf8(m.descriptor))...)
		if m.code == nil {
			body = append(body, 0, 0)
			continue
		}
		info := append(u2(m.maxStack, m.maxLocals), binary.BigEndian.AppendUint32(nil, uint32(len(m.code)))...)
		info = append(append(info, m.code...), u2(uint16(len(m.handlers)))...)
		for _, h := range m.handlers {
			info = append(info, u2(h.start, h.end, h.handler, h.catch)...)
		}
		info = append(info, u2(uint16(len(m.attributes)))...)
		for _, t := range m.attributes {
			info = append(info, a.attribute(t)...)
		}
		body = append(append(body, 0, 1), a.attribute(attribute{"Code", info})...)
	}
	body = append(body, 0, 0)
	head := append([]byte{0xCA, 0xFE, 0xBA, 0xBE}, u2(0, a.major, a.count)...)
	return slices.Concat(head, a.pool, body)
}

func (a *assembler) attribute(t attribute) []byte {
	return append(binary.BigEndian.AppendUint32(u2(a.utf8(t.name)), uint32(len(t.info))), t.info...)
}

func (a *assembler) parse(t testing.TB) *classfile.Class {
	t.Helper()
	c, err := classfile.Parse(a.bytes())
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	return c
}

// op writes one instruction.
func op(o code.Op, operands ...byte) []byte { return append([]byte{byte(o)}, operands...) }

// branch writes a branch of either width from position pc to target.
func branch(o code.Op, pc, target int) []byte {
	if o == code.GotoW || o == code.JsrW {
		return binary.BigEndian.AppendUint32(op(o), uint32(target-pc))
	}
	return op(o, u2(uint16(target-pc))...)
}

// nops fills the code up to position to.
func nops(bytecode []byte, to int) []byte {
	return append(bytecode, make([]byte, to-len(bytecode))...)
}

const static = classfile.AccPublic | classfile.AccStatic

// frames writes a StackMapTable.
func frames(entries ...[]byte) attribute {
	return attribute{"StackMapTable", append(u2(uint16(len(entries))), slices.Concat(entries...)...)}
}

func sameExtended(delta int) []byte { return append([]byte{251}, u2(uint16(delta))...) }

// crafted gives the classes by what is special about them.
func crafted(t testing.TB) map[string]*classfile.Class {
	all := map[string]*classfile.Class{}
	for name, make := range map[string]func() *assembler{
		"far branches":         farBranches,
		"far branches, wide":   farWideBranches,
		"far types":            farTypes,
		"subroutines":          subroutines,
		"StackMap":             cldcStackMap,
		"activity":             func() *assembler { return activity(true) },
		"activity without":     func() *assembler { return activity(false) },
		"dead code":            deadCode,
		"two constructors":     twoConstructorCalls,
		"long frames":          longFrames,
		"uninitialised":        uninitialised,
		"loops to start":       loopToStart,
		"stack deeper":         stackDeeper,
		"variables everywhere": variablesEverywhere,
		"large pool":           largePool,
		"stamped":              mappingInfo,
	} {
		all[name] = make().parse(t)
	}
	return all
}

// farBranches has branches over as much code as two bytes span, forwards and backwards, so that any
// insertion makes them too long. Behind the first conditional one there is no frame, and a local that the
// method's start has not.
func farBranches() *assembler {
	a := newAssembler(52, "FarBranches", "java/lang/Object")
	const conditional, middle, far = 3, 11, 3 + 32767
	b := slices.Concat(op(code.Iload0), op(code.Istore1), op(code.Iload0), branch(code.Ifeq, conditional, far),
		op(code.Iload0), branch(code.Ifne, 7, middle), op(code.Return))
	b = append(nops(b, middle), byte(code.Iload1), byte(code.Pop))
	b = append(nops(b, middle+20), branch(code.Goto, middle+20, far-10)...)
	const inner = middle + 23
	b = nops(b, far-10)
	b = nops(b, far) // 32770
	b = append(b, slices.Concat(op(code.Iload0), branch(code.Ifle, far+1, inner), op(code.Return))...)
	a.add(method{static, "f", "(I)V", 1, 2, b, nil, []attribute{frames(
		append([]byte{252}, append(u2(middle), 1)...), // append_frame: an int
		[]byte{inner - middle - 1},
		sameExtended(far-10-inner-1),
		[]byte{9}, // at far
	)}})
	// A goto back to the method's start over a return.
	g := append(op(code.Iload0), slices.Concat(branch(code.Ifeq, 1, 32767), op(code.Iload0), branch(code.Ifne, 5, 9), op(code.Return))...)
	g = append(nops(g, 32764), branch(code.Goto, 32764, 0)...)
	g = append(g, byte(code.Return))
	a.add(method{static, "g", "(I)V", 1, 1, g, nil, []attribute{frames([]byte{0}, []byte{8}, sameExtended(32757))}})
	return a
}

// farTypes has far conditional branches with no frame behind them, among locals of all types, with a frame of
// each delta form as the next one.
func farTypes() *assembler {
	a := newAssembler(52, "FarTypes", "java/lang/Object")
	text, throwable := u2(a.class("java/lang/String")), u2(a.class("java/lang/Throwable"))
	b := slices.Concat(op(code.Lload1), op(code.Lstore, 5), op(code.Aload3), op(code.Astore, 7), op(code.Fconst0),
		op(code.Fstore, 8), op(code.Dconst0), op(code.Wide, byte(code.Dstore), 1, 44), op(code.Iconst0), op(code.Istore, 9))
	var table [][]byte
	previous := -1
	frame := func(pc, short int, kind byte, body ...byte) { // short: how the form writes small deltas, or -1
		delta := pc - previous - 1
		entry := append([]byte{kind}, u2(uint16(delta))...)
		if short >= 0 && delta <= 63 {
			entry = []byte{byte(short + delta)}
		}
		table = append(table, append(entry, body...))
		previous = pc
	}
	var targets []int
	far := func() {
		targets = append(targets, len(b)+1+32767)
		b = append(b, slices.Concat(op(code.Aload0), op(code.Ifnull, 0x7F, 0xFF))...)
	}
	leave := func() { // returns, or goes on behind it
		b = append(b, slices.Concat(op(code.Aload0), branch(code.Ifnonnull, len(b)+1, len(b)+5), op(code.Return))...)
	}
	far()
	leave()
	frame(len(b), -1, 254, slices.Concat([]byte{4, 7}, text, []byte{2})...)
	far()
	leave()
	frame(len(b), -1, 248) // chop_frame by three
	far()
	leave()
	frame(len(b), 0, 251)
	far()
	b = append(b, byte(code.Return))
	handlerAt := len(b)
	frame(handlerAt, 64, 247, append([]byte{7}, throwable...)...)
	b = append(b, byte(code.Pop), byte(code.Return))
	for _, target := range targets {
		b = nops(b, target)
		frame(target, 0, 251)
	}
	b = append(b, byte(code.Return))
	a.add(method{classfile.AccPublic, "f", "(JLjava/lang/String;[I)V", 2, 302, b,
		[]handler{{0, uint16(handlerAt), uint16(handlerAt), 0}}, []attribute{frames(table...)}})

	super := a.methodref("java/lang/Object", "<init>", "()V")
	c := slices.Concat(op(code.Iload1), branch(code.Ifne, 1, 32765), op(code.Iload1), branch(code.Iflt, 5, 14), op(code.Aload0),
		op(code.Invokespecial, u2(super)...), op(code.Return), op(code.Nop))
	c = nops(c, 32765)
	c = append(c, slices.Concat(op(code.Aload0), op(code.Invokespecial, u2(super)...), op(code.Return))...)
	a.add(method{classfile.AccPublic, "<init>", "(I)V", 1, 2, c, nil, []attribute{frames([]byte{14}, sameExtended(32750))}})
	return a
}

// farWideBranches has what javac writes for far branches, but over less code than it need be for: goto_w, and
// negated conditional branches over a goto_w. A frame that nothing needs stands behind the latter.
func farWideBranches() *assembler {
	a := newAssembler(52, "FarWideBranches", "java/lang/Object")
	const far = 32760
	b := op(code.Iload0)
	b = append(b, slices.Concat(branch(code.Ifne, 1, 9), branch(code.GotoW, 4, far))...) // behind it a frame at 9
	b = append(b, slices.Concat(op(code.Iload0), branch(code.Ifne, 10, 18), branch(code.GotoW, 13, 32767+40))...)
	b = append(b, slices.Concat(op(code.Iload0), branch(code.Ifeq, 19, 23), op(code.Return))...)
	b = append(nops(b, 30), branch(code.GotoW, 30, far)...)
	b = nops(b, far)
	b = append(nops(b, 32767+40), byte(code.Return))
	a.add(method{static, "f", "(I)V", 1, 1, b, nil, []attribute{frames(
		[]byte{9}, []byte{8}, []byte{4}, // 9, 18, 23
		[]byte{11}, // 35
		sameExtended(far-36), []byte{46},
	)}})
	return a
}

// subroutines has jsr and ret, also far apart, and in an exception handler (JVMS 6.5 ret).
func subroutines() *assembler {
	a := newAssembler(48, "Subroutines", "java/lang/Object")
	b := slices.Concat(branch(code.Jsr, 0, 7), op(code.Iconst0), op(code.Pop), op(code.Nop), op(code.Return),
		op(code.Astore0), op(code.Ret, 0))
	a.add(method{static, "f", "()V", 1, 1, b, []handler{{3, 5, 10, 0}}, nil})
	a.methods[0].code = append(b, slices.Concat(op(code.Astore1), branch(code.Jsr, 11, 7), op(code.Aload1), op(code.Athrow))...)
	a.methods[0].maxLocals = 2
	far := append(branch(code.Jsr, 0, 32767), byte(code.Return))
	far = append(nops(far, 32767), slices.Concat(op(code.Astore0), op(code.Wide, byte(code.Ret), 0, 0))...)
	a.add(method{static, "far", "()V", 1, 1, far, nil, nil})
	wide := append(branch(code.JsrW, 0, 32767), byte(code.Return))
	wide = append(nops(wide, 32767), slices.Concat(op(code.Astore0), op(code.Ret, 0))...)
	a.add(method{static, "wide", "()V", 1, 1, wide, nil, nil})
	return a
}

// cldcStackMap has a class of CLDC with frames at absolute positions and an Uninitialized item in one.
func cldcStackMap() *assembler {
	a := newAssembler(46, "CLDC", "java/lang/Object")
	init := a.methodref("java/lang/Object", "<init>", "()V")
	object := a.class("java/lang/Object")
	b := slices.Concat(op(code.New, u2(object)...), op(code.Dup), op(code.Iload0), branch(code.Ifeq, 5, 9), op(code.Nop),
		op(code.Invokespecial, u2(init)...), op(code.Areturn))
	info := slices.Concat(u2(1), u2(9, 1), []byte{1}, u2(2), []byte{8}, u2(0), []byte{8}, u2(0))
	a.add(method{static, "f", "(I)Ljava/lang/Object;", 3, 1, b, nil, []attribute{{"StackMap", info}}})
	return a
}

func activity(declares bool) *assembler {
	a := newAssembler(52, "Main", "android/app/Activity")
	init := a.methodref("android/app/Activity", "<init>", "()V")
	a.add(method{classfile.AccPublic, "<init>", "()V", 1, 1,
		slices.Concat(op(code.Aload0), op(code.Invokespecial, u2(init)...), op(code.Return)), nil, nil})
	if declares {
		b := slices.Concat(op(code.Iload1), branch(code.Ifne, 1, 5), op(code.Return), op(code.Iconst0), op(code.Istore1),
			branch(code.Goto, 7, 0))
		a.add(method{classfile.AccPublic, "onWindowFocusChanged", "(Z)V", 1, 2, b, nil,
			[]attribute{frames([]byte{0}, []byte{4}), {"LineNumberTable", u2(2, 0, 1, 5, 2)}}})
	}
	return a
}

// deadCode has returns that no path leads to, in a class without frames.
func deadCode() *assembler {
	a := newAssembler(49, "DeadCode", "java/lang/Object")
	a.add(method{static, "f", "()J", 2, 0, slices.Concat(op(code.Lconst0), op(code.Lreturn), op(code.Lreturn), op(code.Nop), op(code.Lreturn)), nil, nil})
	a.add(method{static, "g", "(Ljava/lang/Throwable;)V", 1, 1, slices.Concat(op(code.Aload0), op(code.Athrow), op(code.Return)), nil, nil})
	return a
}

// twoConstructorCalls calls super on either of two paths, returns early on one and throws before on another.
func twoConstructorCalls() *assembler {
	a := newAssembler(52, "Two", "java/lang/Object")
	super := a.methodref("java/lang/Object", "<init>", "()V")
	call := append(op(code.Aload0), op(code.Invokespecial, u2(super)...)...)
	b := slices.Concat(op(code.Iload1), branch(code.Ifeq, 1, 9), // 0
		call, op(code.Return), // 4
		op(code.Aload2), branch(code.Ifnull, 10, 15), // 9
		op(code.Aload2), op(code.Athrow), // 13
		call, op(code.Nop), op(code.Aload2), branch(code.Ifnonnull, 21, 26), // 15
		op(code.AconstNull), op(code.Pop), // 24
		op(code.Return)) // 26
	init := []byte{255, 0, 9, 0, 3, 6, 1, 7}
	init = append(append(init, u2(a.class("java/lang/Throwable"))...), 0, 0)
	after := append([]byte{255, 0, 10, 0, 3, 7}, u2(a.class("Two"))...)
	after = append(append(after, 1, 7), append(u2(a.class("java/lang/Throwable")), 0, 0)...)
	a.add(method{classfile.AccPublic, "<init>", "(ILjava/lang/Throwable;)V", 1, 3, b, nil,
		[]attribute{frames(init, []byte{5}, after)}})
	return a
}

// longFrames has frames in a longer form than necessary.
func longFrames() *assembler {
	a := newAssembler(52, "LongFrames", "java/lang/Object")
	b := append(op(code.Iload0), branch(code.Ifeq, 1, 62)...)
	b = append(nops(b, 61), byte(code.Return))
	b = append(b, op(code.Return)...)
	a.add(method{static, "f", "(I)V", 1, 1, b, nil, []attribute{frames(sameExtended(62))}})
	a.add(method{static, "g", "(I)V", 1, 1, b, nil, []attribute{frames([]byte{62})}})
	a.add(method{static, "h", "(I)V", 1, 1, slices.Concat(op(code.Iload0), branch(code.Ifeq, 1, 4), op(code.Return)), nil,
		[]attribute{frames(sameExtended(4))}})
	a.add(method{static, "empty", "()V", 0, 0, op(code.Nop, byte(code.Return)), nil, []attribute{frames()}})
	return a
}

// uninitialised branches between new and its constructor's call, right at the entry and behind exits.
func uninitialised() *assembler {
	a := newAssembler(52, "Uninitialised", "java/lang/Object")
	init := a.methodref("java/lang/Object", "<init>", "()V")
	object := u2(a.class("java/lang/Object"))
	b := slices.Concat(op(code.New, object...), op(code.Dup), op(code.Iload0), branch(code.Ifeq, 5, 9), op(code.Nop),
		op(code.Invokespecial, u2(init)...), op(code.Areturn))
	items := []byte{8, 0, 0, 8, 0, 0}
	frame := slices.Concat([]byte{255, 0, 9, 0, 1, 1, 0, 2}, items)
	a.add(method{static, "f", "(I)Ljava/lang/Object;", 3, 1, b, nil, []attribute{frames(frame)}})
	return a
}

// loopToStart branches back to its first instruction, which is also in a handler's range, and whose handler
// it is not; and to a return.
func loopToStart() *assembler {
	a := newAssembler(52, "Loop", "java/lang/Object")
	b := slices.Concat(op(code.Iload0), branch(code.Ifeq, 1, 8), op(code.Nop), branch(code.Goto, 5, 0), op(code.Return),
		op(code.Pop), branch(code.Goto, 10, 8), op(code.Athrow), op(code.Athrow))
	stack := func(delta int) []byte {
		return append(append([]byte{64 + byte(delta), 7}, u2(a.class("java/lang/Throwable"))...), []byte{}...)
	}
	a.add(method{static, "f", "(I)V", 1, 1, b, []handler{{0, 8, 9, 0}, {8, 9, 13, a.class("java/lang/Throwable")}, {0, 14, 14, 0}},
		[]attribute{frames([]byte{0}, []byte{7}, stack(0), stack(3), stack(0)),
			{"LineNumberTable", u2(4, 0, 1, 5, 2, 8, 3, 0, 4)}}})
	return a
}

// stackDeeper has every relation of max_stack to what is needed.
func stackDeeper() *assembler {
	a := newAssembler(52, "Deep", "java/lang/Object")
	for i, name := range []string{"a", "b", "c"} {
		a.add(method{static, name, "()V", uint16(i), 0, op(code.Return), nil, nil})
		a.add(method{static, name, "()I", uint16(i + 1), 0, op(code.Iconst0, byte(code.Ireturn)), nil, nil})
	}
	a.add(method{static, "left", "()J", 4, 0, op(code.Lconst0, byte(code.Lconst0), byte(code.Lreturn)), nil, nil})
	return a
}

// variablesEverywhere has variables, lines, character ranges and annotations on and between all instructions.
func variablesEverywhere() *assembler {
	a := newAssembler(52, "Variables", "java/lang/Object")
	n, d := a.utf8("v"), a.utf8("I")
	b := slices.Concat(op(code.Iload0), op(code.Istore1), op(code.Iload1), branch(code.Ifeq, 3, 8), op(code.Iload1), op(code.Ireturn),
		op(code.Iload0), op(code.Ireturn))
	variables := u2(6, 0, 10, n, d, 0, 2, 8, n, d, 1, 7, 3, n, d, 2, 9, 1, n, d, 3, 10, 0, n, d, 4, 0, 0, n, d, 5)
	annotation := slices.Concat(u2(4),
		[]byte{0x40}, u2(2, 0, 7, 0, 7, 2, 1), []byte{0}, u2(d, 0),
		[]byte{0x43}, u2(0), []byte{0}, u2(d, 0),
		[]byte{0x47}, u2(7), []byte{0}, []byte{0}, u2(d, 1, n), []byte{'[', 0, 1, 'I', 0, 0},
		[]byte{0x44}, u2(9), []byte{1, 0, 0}, u2(d, 0))
	ranges := u2(3, 0, 9, 0, 0, 0, 0, 0, 7, 7, 0, 0, 0, 0, 0, 2, 6, 0, 0, 0, 0, 0)
	a.add(method{static, "f", "(I)I", 1, 4, b, nil, []attribute{
		frames([]byte{252, 0, 8, 1}),
		{"LineNumberTable", u2(5, 0, 10, 2, 11, 7, 12, 9, 13, 4, 14)},
		{"LocalVariableTable", variables}, {"LocalVariableTypeTable", variables},
		{"RuntimeVisibleTypeAnnotations", annotation}, {"RuntimeInvisibleTypeAnnotations", annotation},
		{"CharacterRangeTable", ranges},
	}})
	return a
}

// largePool has more constants than ldc can reach, and a switch at each alignment.
func largePool() *assembler {
	a := newAssembler(52, "Large", "java/lang/Object")
	for i := range 300 {
		a.constant(classfile.TagInteger, 0, 1, byte(i>>8), byte(i))
	}
	for before := range 4 {
		b := append(nops(nil, before), byte(code.Iload0))
		pc := len(b)
		b = append(b, byte(code.Lookupswitch))
		b = nops(b, (pc+4)&^3)
		end := len(b) + 8 + 8
		for _, v := range []int{end - pc, 1, 7, end + 1 - pc} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, byte(code.Return), byte(code.Return))
		a.add(method{static, string(rune('a' + before)), "(I)V", 1, 1, b, nil, []attribute{frames([]byte{byte(end)}, []byte{0})}})
	}
	return a
}

func mappingInfo() *assembler {
	a := newAssembler(52, "dev/tracegen/runtime/MappingInfo", "java/lang/Object")
	digest := a.constant(classfile.TagString, u2(a.utf8("0000000000000000"))...)
	a.add(method{static, "digest", "()Ljava/lang/String;", 1, 0, op(code.Ldc, byte(digest), byte(code.Areturn)), nil, nil})
	return a
}
