package pipeline_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
)

// long is a body that no rule about small methods skips.
const long = "nops 20 | "

// calling is a class whose methods are given as "ACCESS NAME CODE", with descriptor ()V; ACCESS has letters, of which a
// point is public.
func calling(class assembly.Class, methods ...string) file {
	flags := map[rune]uint16{'.': classfile.AccPublic, 's': classfile.AccStatic, 'p': classfile.AccPrivate,
		'f': classfile.AccFinal, 'n': classfile.AccNative, 'y': classfile.AccSynchronized, 'a': classfile.AccAbstract}
	for _, text := range methods {
		parts := strings.SplitN(text, " ", 3)
		m := assembly.Method{Name: parts[1], Descriptor: "()V", Stack: 4, Locals: 4}
		if len(parts) == 3 {
			m.Code = parts[2]
		}
		for _, letter := range parts[0] {
			m.Access |= flags[letter]
		}
		class.Methods = append(class.Methods, m)
	}
	return classFile(class)
}

// boundedInputs are two jars whose methods call each other across them. Methods that have to be bounded begin with b.
func boundedInputs(t testing.TB, dir string) []string {
	t.Helper()
	const face = classfile.AccInterface | classfile.AccAbstract
	named := func(name string) assembly.Class { return assembly.Class{Name: name} }
	first := archive(t, filepath.Join(dir, "first.jar"), runtimeClass("dev/tracegen/runtime/AppMethodBeat"),
		mappingInfo(),
		calling(named("a/Calls"),
			".s bLeaf "+long+"return",
			".s bTwice "+long+"invokestatic b/Calls.bLeaf()V | invokestatic b/Calls.bLeaf()V | return",
			".s bPrivate "+long+"aload_0 | invokevirtual a/Calls.bOwn()V | return", "p bOwn "+long+"return",
			".s bFinal "+long+"aload_0 | invokevirtual b/Calls.bFinal()V | return",
			".s bFinalClass "+long+"aload_0 | invokevirtual b/Final.bVirtual()V | return",
			".s bInherited "+long+"invokestatic b/Below.bLeaf()V | return",
			".s bInheritedFinal "+long+"aload_0 | invokevirtual b/Below.bFinal()V | return",
			".s bNew "+long+"new b/Calls | invokespecial b/Calls.<init>()V | return",
			".s bEnum "+long+"aload_0 | invokevirtual b/Letter.ordinal()I | pop | return",
			".s bTraced "+long+"getstatic b/Init.f:I | pop | return",
			".s virtual "+long+"aload_0 | invokevirtual b/Calls.bVirtual()V | return",
			".s virtualInterface "+long+"aload_0 | invokeinterface b/Face.f()V | return",
			".s toNative "+long+"invokestatic b/Calls.native()V | return",
			".s toNativeAbove "+long+"invokestatic b/Below.native()V | return",
			".s toNativeBelow "+long+"invokestatic b/Hides.bLeaf()V | return",
			".s toLoop "+long+"invokestatic b/Calls.loop()V | return",
			".s toLocked "+long+"invokestatic b/Calls.locked()V | return",
			".s toNone "+long+"invokestatic b/Calls.none()V | return",
			".s toAway "+long+"invokestatic gone/Away.f()V | return",
			".s toTwin "+long+"invokestatic b/Twin.bLeaf()V | return",
			".s recursion "+long+"invokestatic a/Calls.recursion()V | return",
			".s mutual "+long+"invokestatic b/Calls.mutual()V | return",
			".s toMutual "+long+"invokestatic a/Calls.mutual()V | return",
			".s initBlocked "+long+"getstatic b/Blocked.f:I | pop | return",
			".s initBelowBlocked "+long+"new b/BelowBlocked | pop | return",
			".s initAway "+long+"new b/BelowAway | pop | return",
			".s bInit "+long+"getstatic b/Quick.f:I | pop | return",
			".s initBig "+long+"getstatic b/Big.f:I | pop | return",
			".s message "+long+"return",
			".s <clinit> "+long+"return",
			".s tooBig "+strings.Repeat("invokestatic b/Calls.bLeaf()V | ", 10)+"return",
			".s bBig "+strings.Repeat("invokestatic b/Calls.bLeaf()V | ", 8)+"return"))
	second := archive(t, filepath.Join(dir, "second.jar"),
		calling(named("b/Calls"),
			".s bLeaf "+long+"return", ".f bFinal "+long+"return", ". bVirtual "+long+"return",
			". <init> "+long+"aload_0 | invokespecial java/lang/Object.<init>()V | return",
			".sn native", ".sy locked "+long+"return", ".s loop "+long+"a: iload_0 | ifeq a | return",
			".s mutual "+long+"invokestatic a/Calls.mutual()V | return"),
		calling(assembly.Class{Name: "b/Below", Super: "b/Calls"}, ". bVirtual "+long+"return"),
		calling(assembly.Class{Name: "b/Hides", Super: "b/Calls"}, ".sn bLeaf"),
		calling(assembly.Class{Name: "b/Final", Access: classfile.AccPublic | classfile.AccFinal},
			". bVirtual "+long+"return"),
		calling(assembly.Class{Name: "b/Letter", Super: "java/lang/Enum"}),
		calling(assembly.Class{Name: "b/Face", Access: face}, ".a f"),
		calling(named("b/Init"), "s <clinit> a: iload_0 | ifeq a | return"),
		calling(named("b/Blocked"), "s <clinit> a: iload_0 | ifeq a | return"),
		calling(assembly.Class{Name: "b/BelowBlocked", Super: "b/Blocked"}),
		calling(assembly.Class{Name: "b/BelowAway", Super: "gone/Away"}),
		calling(named("b/Quick"), "s <clinit> "+long+"return"),
		calling(named("b/Big"), "s <clinit> nops 190 | return"),
		calling(named("b/ToRing"), "s <clinit> "+long+"getstatic b/Ring.f:I | pop | return"),
		calling(named("b/Ring"), "s <clinit> "+long+"getstatic b/Back.f:I | pop | return"),
		calling(named("b/Back"), "s <clinit> "+long+"getstatic b/Ring.f:I | pop | return"),
		calling(named("b/Bodies"), "s <clinit> "+long+"new b/Body | pop | return"),
		calling(assembly.Class{Name: "b/Body", Super: "b/Bodies"}),
		calling(assembly.Class{Name: "b/Plain", Access: face}, "s <clinit> "+long+"new b/OfPlain | pop | return"),
		calling(assembly.Class{Name: "b/OfPlain", Interfaces: []string{"b/Plain"}}),
		calling(assembly.Class{Name: "b/Default", Access: face}, "s <clinit> "+long+"new b/OfDefault | pop | return",
			". f "+long+"a: iload_0 | ifeq a | return"),
		calling(assembly.Class{Name: "b/OfDefault", Interfaces: []string{"b/Default"}}),
		calling(named("b/Twin"), ".s bLeaf "+long+"return"), calling(named("b/Twin"), ".s bLeaf "+long+"return"))
	return []string{first, second}
}

func boundedConfig(t testing.TB, inputs []string, out string, mode filter.TrivialMode) pipeline.Config {
	t.Helper()
	fixture.Directory(t, out)
	parsed, err := filter.ParseConfig("t.yml", []byte("rules:\n- block: b.Blocked\n- message: a.Calls#message"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := pipeline.Config{Filter: filter.New(filter.Options{Rules: parsed.Rules, Trivial: mode}), Jobs: 3,
		Messages: filter.MessageRules(parsed.Rules), Verify: pipeline.VerifyEquivalence}
	for _, in := range inputs {
		c.Inputs = append(c.Inputs, pipeline.Input{Path: in, Output: filepath.Join(out, filepath.Base(in))})
	}
	return c
}

// TestBoundedMethods wants those methods, and no others, to be bounded that call only methods of which each call has
// one target. Three steps come to the same decisions, and so does a run with the inputs in another order.
//
// Invariant: A bounded method, and all that it calls, has no loop, and no target that the inputs do not show.
func TestBoundedMethods(t *testing.T) {
	dir := t.TempDir()
	inputs := boundedInputs(t, dir)
	c := boundedConfig(t, inputs, filepath.Join(dir, "out"), filter.Bounded)
	result := instrument(t, c)
	bounded := map[string]string{}
	quick := []string{"a/Calls", "b/Quick", "b/Big", "b/Bodies", "b/Plain"} // classes whose initialisers are bounded
	for s := range result.Skipped {
		if s.Reason == filter.ReasonBounded {
			bounded[s.Class+"."+s.Name] = s.Detail
			if !strings.HasPrefix(s.Name, "b") && s.Name != "<init>" && !slices.Contains(quick, s.Class) {
				t.Errorf("%s.%s is bounded: %s", s.Class, s.Name, s.Detail)
			}
		}
	}
	for m := range result.Mapping.All() {
		if strings.HasPrefix(m.Name, "b") {
			t.Errorf("%s.%s is traced", m.Class, m.Name)
		}
	}
	for name, want := range map[string]string{"a/Calls.bLeaf": "at most 21 instructions",
		"a/Calls.bTwice": "at most 65 instructions", "a/Calls.bBig": "at most 177 instructions",
		"a/Calls.bInit": "at most 44 instructions", "b/Big.<clinit>": "at most 191 instructions",
		"b/Plain.<clinit>": "at most 23 instructions", "b/Bodies.<clinit>": "at most 23 instructions"} {
		if bounded[name] != want {
			t.Errorf("%s: %q, want %q", name, bounded[name], want)
		}
	}
	if got := len(bounded); got != 25 {
		t.Errorf("%d bounded methods, want 25: %v", got, bounded)
	}
	want := decided(t, result)
	for _, groups := range [][]int{{1, 1}, {2}} {
		p := runPhases(t, boundedConfig(t, inputs, filepath.Join(dir, fmt.Sprint("out", len(groups))), filter.Bounded), 7,
			groups...)
		if got := decided(t, p.result); got != want {
			t.Errorf("parts %v: decided\n%s\nwant\n%s", groups, got, want)
		}
	}
	slices.Reverse(inputs)
	other := instrument(t, boundedConfig(t, inputs, filepath.Join(dir, "reversed"), filter.Bounded))
	if got := decided(t, other); got != want {
		t.Errorf("inputs in another order: decided\n%s\nwant\n%s", got, want)
	}
	smart := instrument(t, boundedConfig(t, inputs, filepath.Join(dir, "smart"), filter.Smart))
	if got := smart.Mapping.Len() - result.Mapping.Len(); got != 25 {
		t.Errorf("smart traces %d methods more, want 25", got)
	}
}

// TestBoundedProof wants explain to list what a bounded method calls.
func TestBoundedProof(t *testing.T) {
	dir := t.TempDir()
	c := boundedConfig(t, boundedInputs(t, dir), filepath.Join(dir, "out"), filter.Bounded)
	explained, err := pipeline.Explain(t.Context(), c, allMethods{})
	if err != nil {
		t.Fatal(err)
	}
	details := map[string]string{}
	for _, class := range explained.Classes {
		for _, m := range class.Methods {
			details[mapping.Text(class.Class)+"."+m.Name] = m.Detail
		}
	}
	for name, want := range map[string]string{
		"a.Calls.bLeaf":    "at most 21 instructions",
		"a.Calls.bTwice":   "at most 65 instructions; calls Calls.bLeaf (21), Calls.bLeaf (21)",
		"a.Calls.bPrivate": "at most 44 instructions; calls Calls.bOwn (21)",
		"a.Calls.bEnum":    "at most 36 instructions; calls Letter.ordinal (12)",
		"a.Calls.bTraced":  "at most 23 instructions",
	} {
		if details[name] != want {
			t.Errorf("%s: %q, want %q", name, details[name], want)
		}
	}
}
