package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

const (
	ret = byte(code.Return)
	acc = classfile.AccStatic | classfile.AccSynthetic
)

// TestAssembledMethods checks the decisions, in each mode, on methods that javac does not
// write.
func TestAssembledMethods(t *testing.T) {
	var a assembler
	long := a.Constant(classfile.TagDynamic, assembly.U2(0, a.NameAndType("c", "J"))...)
	dynamic := byte(a.Constant(classfile.TagDynamic, assembly.U2(0, a.NameAndType("c", "I"))...))
	text := byte(a.Constant(classfile.TagString, assembly.U2(a.Utf8("s"))...))
	call := a.Methodref("a/Other", "run", "()V")
	field := a.Fieldref("a/Odd", "f", "I")
	own := a.Methodref("a/Odd", "work", "(I)I")
	index := func(op code.Op, i uint16) []byte { return []byte{byte(op), byte(i >> 8), byte(i)} }
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	trivial, traced := [4]Reason{Smart: ReasonTrivial, Matrix: ReasonTrivial}, [4]Reason{}
	loop := [4]Reason{Smart: "", Matrix: ReasonTrivial}
	all := func(r Reason) [4]Reason { return [4]Reason{r, r, r, r} }
	iconst1, ireturn := byte(code.Iconst1), byte(code.Ireturn)

	cases := []struct {
		about string
		m     method
		want  [4]Reason // by mode
	}{
		{"the delegate", method{flags: classfile.AccStatic, name: "work", descriptor: "(I)I",
			code: join(index(code.Invokestatic, call), []byte{iconst1, ireturn})}, traced},
		{"condy", method{code: []byte{byte(code.Ldc), dynamic, ireturn}}, loop},
		{"condy by ldc_w", method{code: []byte{byte(code.LdcW), 0, dynamic, ireturn}}, loop},
		{"condy of two words", method{code: append(index(code.Ldc2W, long), byte(code.Lreturn))}, loop},
		{"ldc of a string", method{code: []byte{byte(code.Ldc), text, byte(code.Areturn)}}, trivial},
		{"jsr and ret", method{code: []byte{byte(code.Jsr), 0, 4, ret, byte(code.Astore1), byte(code.Ret), 1}}, loop},
		{"jsr_w", method{code: []byte{byte(code.JsrW), 0, 0, 0, 6, ret, byte(code.Pop), ret}}, loop},
		{"a ret alone", method{code: []byte{byte(code.Ret), 1}}, loop},
		{"a wide ret", method{code: []byte{byte(code.Wide), byte(code.Ret), 1, 1}}, loop},
		{"a wide load", method{code: []byte{byte(code.Wide), byte(code.Iload), 1, 1, ireturn}}, trivial},
		{"goto_w forward", method{code: []byte{byte(code.GotoW), 0, 0, 0, 5, ret}}, trivial},
		{"goto_w backward", method{code: []byte{0, byte(code.GotoW), 0xff, 0xff, 0xff, 0xff}}, loop},
		{"goto itself", method{code: []byte{byte(code.Goto), 0, 0}}, loop},
		{"switch whose default goes back", method{code: []byte{0, iconst1, byte(code.Lookupswitch), 0,
			0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0}}, loop},
		{"switch whose case goes back", method{code: []byte{0, iconst1, byte(code.Tableswitch), 0,
			0, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xfe, ret}}, loop},
		{"handler that covers itself", method{code: []byte{0, ret, byte(code.Pop), ret},
			handlers: []byte{0, 0, 0, 3, 0, 2, 0, 0}}, loop},
		{"handler behind its range", method{code: []byte{0, ret, byte(code.Pop), ret},
			handlers: []byte{0, 0, 0, 2, 0, 2, 0, 0}}, trivial},
		{"twelve", method{code: append(make([]byte, 11), ret)}, trivial},
		{"thirteen", method{code: append(make([]byte, 12), ret)}, loop},
		{"no code", method{code: []byte{}}, [4]Reason{Smart: ReasonMalformed, Matrix: ReasonMalformed}},
		{"unknown opcode", method{code: []byte{iconst1, 0xfd, ireturn}},
			[4]Reason{Smart: ReasonMalformed, Matrix: ReasonMalformed}},
		{"cut off", method{code: []byte{byte(code.Sipush), 1}}, [4]Reason{Smart: ReasonMalformed, Matrix: ReasonMalformed}},
		{"own field through a bad index", method{code: append(index(code.Getstatic, 60000), ireturn)}, loop},
		{"own static field", method{code: append(index(code.Getstatic, field), ireturn)}, trivial},
		{"delegation by wide load", method{code: join([]byte{byte(code.Wide), byte(code.Iload), 1, 1},
			index(code.Invokestatic, own), []byte{ireturn})}, [4]Reason{Smart: ReasonTrivial}},
		{"delegation of a Dynamic constant", method{code: join([]byte{byte(code.Ldc), dynamic},
			index(code.Invokestatic, own), []byte{ireturn})}, traced},
		{"delegation, then dead code", method{code: join([]byte{iconst1}, index(code.Invokestatic, own),
			[]byte{ireturn, ret})}, traced},
		{"delegation cut off", method{code: join([]byte{iconst1}, index(code.Invokestatic, own))}, traced},
		{"delegation through a bad index", method{code: append(index(code.Invokestatic, 60000), ret)}, traced},

		{"bridge", method{flags: classfile.AccBridge | classfile.AccSynthetic, name: "get",
			descriptor: "()Ljava/lang/Object;",
			code:       append(index(code.Invokestatic, call), ret)}, all(ReasonBridge)},
		{"accessor", method{flags: acc, name: "access$run", code: append(index(code.Invokestatic, call), ret)},
			all(ReasonSyntheticAccessor)},
		{"accessor that is not static", method{flags: classfile.AccSynthetic, name: "access$run",
			code: append(index(code.Invokestatic, call), ret)}, traced},
		{"accessor that is not synthetic", method{flags: classfile.AccStatic, name: "access$run",
			code: append(index(code.Invokestatic, call), ret)}, traced},
		{"accessor with two accesses", method{flags: acc, name: "access$run",
			code: join(index(code.Invokestatic, call), index(code.Invokestatic, call), []byte{ret})}, traced},
		{"accessor without any", method{flags: acc, name: "access$run", code: []byte{ret}}, trivial},
		{"accessor that computes", method{flags: acc, name: "access$run",
			code: join([]byte{iconst1, iconst1, byte(code.Iadd)}, index(code.Invokestatic, call), []byte{ret})},
			traced},
		{"accessor that cannot be decoded", method{flags: acc, name: "access$run", code: []byte{0xfd}},
			all(ReasonMalformed)},
		{"inline template", method{name: "run$$forInline", code: append(index(code.Invokestatic, call), ret)},
			all(ReasonInlineTemplate)},
		{"$default", method{flags: acc, name: "run$default", code: append(index(code.Invokestatic, call), ret)},
			traced},
		{"invokeSuspend", method{name: "invokeSuspend", descriptor: "(Ljava/lang/Object;)Ljava/lang/Object;",
			code: append(index(code.Invokestatic, call), ret)}, traced},
		{"class initialiser", method{flags: classfile.AccStatic, name: "<clinit>",
			code: append(index(code.Invokestatic, call), ret)}, traced},
		{"unknown attribute", method{code: append(index(code.Invokestatic, call), ret),
			attribute: "com.example.Offsets"},
			all(ReasonUnknownAttribute)},
		{"known attribute of another place", method{code: append(index(code.Invokestatic, call), ret),
			attribute: "Signature"},
			all(ReasonUnknownAttribute)},
		{"known attribute", method{code: append(index(code.Invokestatic, call), ret), attribute: "StackMapTable"}, traced},
		{"unknown attribute of a trivial method", method{code: []byte{ret}, attribute: "com.example.Offsets"},
			[4]Reason{Smart: ReasonTrivial, Matrix: ReasonTrivial, None: ReasonUnknownAttribute}},
	}
	for i, c := range cases {
		cases[i].want[Bounded] = c.want[Smart] // the class alone does not show more
		if c.m.name == "" {
			c.m.name = fmt.Sprintf("m%d", i)
		}
		if c.m.descriptor == "" {
			c.m.descriptor = "()V"
		}
		a.add(c.m)
	}
	class := a.finish(t, "a/Odd", 0, 52, 0)
	for mode := range TrivialMode(len(trivialModes)) {
		for i, got := range decideAll(t, New(Options{Trivial: mode}), class) {
			if want := cases[i].want[mode]; got.Reason != want {
				t.Errorf("%s: --trivial %v: got %q (%s), want %q", cases[i].about, mode, got.Reason, got.Detail, want)
			}
		}
	}
	t.Logf("measured: %d assembled methods in %d trivial modes", len(cases), len(trivialModes))
}

// busy adds methods that are traced unless their class or a rule prevents it.
func (a *assembler) busy(names ...string) {
	i := a.Methodref("a/Other", "run", "()V")
	for _, name := range names {
		a.add(method{name: name, descriptor: "()V", code: []byte{byte(code.Invokestatic), byte(i >> 8), byte(i), ret}})
	}
}

func TestClasses(t *testing.T) {
	matrix := Options{MatrixRuntime: true, RuntimeClass: "com.tencent.matrix.trace.core.AppMethodBeat"}
	cases := []struct {
		about        string
		options      Options
		class        string
		minor, major uint16
		flags        uint16
		methods      string
		want         Reason
		detail       string
	}{
		{about: "plain", class: "a/B", methods: "run"},
		{about: "preview", class: "a/B", minor: 0xFFFF, major: 61, methods: "run"},
		{about: "module-info", class: "module-info", major: 53, flags: classfile.AccModule, methods: "run",
			want: ReasonModuleInfo},
		{about: "its name without the flag", class: "module-info", methods: "run", want: ReasonModuleInfo},
		{about: "a class of that name in a package", class: "a/module-info", methods: "run"},

		{about: "R", class: "com/example/R", methods: "<init> <clinit>", want: ReasonGenerated,
			detail: "only constants and initialisers"},
		{about: "R without a package", class: "R", methods: "<clinit>", want: ReasonGenerated,
			detail: "only constants and initialisers"},
		{about: "R$id", class: "com/example/R$id", methods: "<init>", want: ReasonGenerated,
			detail: "only constants and initialisers"},
		{about: "BuildConfig", class: "com/example/BuildConfig", methods: "<clinit>", want: ReasonGenerated,
			detail: "only constants and initialisers"},
		{about: "Manifest", class: "com/example/Manifest", methods: "<init>", want: ReasonGenerated,
			detail: "only constants and initialisers"},
		{about: "Manifest with a method", class: "java/util/jar/Manifest", methods: "<init> read"},
		{about: "BuildConfig with a method", class: "com/example/BuildConfig", methods: "run"},
		{about: "CalendarR$1", class: "com/example/CalendarR$1", methods: "<init>"},
		{about: "MyBuildConfig", class: "com/example/MyBuildConfig", methods: "<init>"},
		{about: "Runner", class: "com/example/Runner", methods: "<init>"},
		{about: "package R", class: "com/R/Foo", methods: "<init>"},

		{about: "the runtime class", class: "dev/tracegen/runtime/AppMethodBeat", methods: "i", want: ReasonRuntime,
			detail: "the runtime's package dev.tracegen.runtime"},
		{about: "below its package", class: "dev/tracegen/runtime/a/b/C", methods: "run", want: ReasonRuntime,
			detail: "the runtime's package dev.tracegen.runtime"},
		{about: "beside its package", class: "dev/tracegen/runtimes/C", methods: "run"},
		{about: "another runtime", options: Options{RuntimeClass: "com.beat.Beat"}, class: "com/beat/Ring",
			methods: "run",
			want:    ReasonRuntime, detail: "the runtime's package com.beat"},
		{about: "the default beside another", options: Options{RuntimeClass: "com/beat/Beat"},
			class:   "dev/tracegen/runtime/Ring",
			methods: "run", want: ReasonRuntime, detail: "the runtime's package dev.tracegen.runtime"},
		{about: "runtime without a package", options: Options{RuntimeClass: "Beat"}, class: "Beat", methods: "i",
			want: ReasonRuntime, detail: "the runtime class Beat"},
		{about: "nested in it", options: Options{RuntimeClass: "Beat"}, class: "Beat$Ring", methods: "run",
			want: ReasonRuntime, detail: "the runtime class Beat"},
		{about: "beside it", options: Options{RuntimeClass: "Beat"}, class: "Beater", methods: "run"},
		{about: "matrix", options: matrix, class: "com/tencent/matrix/util/Log", methods: "run", want: ReasonRuntime,
			detail: "the runtime's package com.tencent.matrix"},
		{about: "matrix without its preset", class: "com/tencent/matrix/util/Log", methods: "run"},
		{about: "runtime and allowed", options: Options{Rules: parseRules(t, "+**")}, class: "dev/tracegen/runtime/B",
			methods: "run", want: ReasonRuntime, detail: "the runtime's package dev.tracegen.runtime"},

		{about: "blocked", options: Options{Rules: parseRules(t, "-a.**")}, class: "a/B", methods: "run",
			want:   ReasonBlocked,
			detail: "rules:1: block a.**"},
		{about: "allowed", options: Options{Rules: parseRules(t, "-a.**", "+a.B")}, class: "a/B", methods: "run",
			detail: "rules:2: allow a.B"},
		{about: "blocked and generated", options: Options{Rules: parseRules(t, "-**")}, class: "a/R", methods: "<init>",
			want: ReasonBlocked, detail: "rules:1: block **"},
		{about: "allowed and generated", options: Options{Rules: parseRules(t, "+**")}, class: "a/R", methods: "<init>",
			want: ReasonGenerated, detail: "only constants and initialisers"},
	}
	for _, c := range cases {
		var a assembler
		a.busy(strings.Fields(c.methods)...)
		major := max(c.major, 52)
		class := a.finish(t, c.class, c.minor, major, c.flags)
		for _, got := range decideAll(t, New(c.options), class) {
			if want := (Decision{Reason: c.want, Detail: c.detail}); got != want {
				t.Errorf("%s: got %+v, want %+v", c.about, got, want)
			}
		}
	}
}

// TestWholeAgreesWithDecide checks that the decision on a whole class is also that on each of its methods, and that
// there is one whenever all methods have the same.
//
// Invariant: A decision about a whole class is the decision about each of its methods.
func TestWholeAgreesWithDecide(t *testing.T) {
	cases := []struct {
		rules []string
		class string
		whole bool
	}{
		{nil, "a/B", false},
		{nil, "a/R", true},
		{[]string{"-a.**"}, "a/B", true},
		{[]string{"-a.**", "+a.B#run"}, "a/B", false},
		{[]string{"+a.B#run", "-a.**"}, "a/B", true},
		{[]string{"-a.**", "+**#run"}, "a/B", false},
		{[]string{"+**#run", "-a.**"}, "a/B", true},
		{[]string{"-a.**", "+a.B"}, "a/B", false},
		{[]string{"-a.**", "+a.C#run"}, "a/B", true},
		{[]string{"-**#<init>"}, "a/R", false},
	}
	for _, c := range cases {
		var a assembler
		a.busy("<init>")
		class := a.finish(t, c.class, 0, 52, 0)
		f := New(Options{Rules: parseRules(t, c.rules...)})
		cf := f.ForClass(class)
		d, whole := cf.Whole()
		if whole != c.whole {
			t.Errorf("%v of %s: whole is %v, want %v", c.rules, c.class, whole, c.whole)
		}
		if each := decideAll(t, f, class)[0]; whole && (each != d || d.Traced()) {
			t.Errorf("%v of %s: the class is %+v, its method %+v", c.rules, c.class, d, each)
		}
	}
}

// TestManyMethods checks delegations in classes with so many methods that a table of them is used.
func TestManyMethods(t *testing.T) {
	for _, n := range []int{fewMethods - 1, fewMethods + 2} {
		var a assembler
		target := a.Methodref("a/Big", "last", "()V")
		pass := []byte{byte(code.Invokestatic), byte(target >> 8), byte(target), ret}
		for i := range n {
			a.add(method{name: fmt.Sprintf("m%d", i), descriptor: "()V", code: pass})
		}
		a.add(method{flags: classfile.AccPrivate | classfile.AccStatic, name: "last", descriptor: "()V",
			code: []byte{byte(code.AconstNull), byte(code.Athrow)}})
		for i, got := range decideAll(t, New(Options{}), a.finish(t, "a/Big", 0, 52, 0)) {
			want := ReasonTrivial
			if i == n {
				want = ""
			}
			if got.Reason != want {
				t.Fatalf("method %d of %d: got %+v, want %q", i, n, got, want)
			}
		}
	}
}

func TestDecideAllocatesNothingForMethods(t *testing.T) {
	var a assembler
	a.busy("run", "stop", "<init>")
	class := a.finish(t, "a/B", 0, 52, 0)
	conditional, err := ParseConfig("t.yml", []byte("rules: [{block: {annotation: q.Q}}, "+
		"{block: {annotation: q.R, method: run}}, {block: {annotation: '**.S'}}]"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Rules: append(parseRules(t, "-b.**", "-**.*Binding", "-**#stop", "-a.C#run", "+a.*"),
		conditional.Rules...)})
	codes := make([]classfile.Code, len(class.Methods()))
	for i := range codes {
		codes[i], _, _ = class.Code(&class.Methods()[i])
	}
	allocs := testing.AllocsPerRun(100, func() {
		cf := f.ForClass(class)
		for i := range codes {
			cf.Decide(&class.Methods()[i], codes[i])
		}
	})
	if allocs > 3 { // a list of five rules is grown twice
		t.Errorf("%v allocations for a class, want those of one list", allocs)
	}
}

func TestTrivialModeNames(t *testing.T) {
	if got := fmt.Sprint(Bounded, Smart, Matrix, None, TrivialMode(9)); got !=
		"bounded smart matrix none trivial mode 9" {
		t.Errorf("got %s", got)
	}
	var zero TrivialMode
	if zero != Bounded {
		t.Error("the zero mode is not bounded")
	}
}

// TestReasons compares the reasons with the names that are documented. Programs read them in reports.
func TestReasons(t *testing.T) {
	const contract = `blocked profile trivial bounded bridge synthetic-accessor inline-template continuation compose runtime
		generated library too-large pool-full jit-limit unknown-attribute already-instrumented unverifiable malformed
		unsupported-version no-entry module-info duplicate-class`
	var names []string
	for _, r := range Reasons() {
		names = append(names, string(r))
	}
	if want := strings.Fields(contract); !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
