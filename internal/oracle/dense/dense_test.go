package dense

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// TestCorpusDense records programs that make very many calls, with default options.
//
// Invariant: In recordings of real programs of very many calls no record is lost, none has to be repaired, and the
// methods that have the most time are those of JFR, with and without the methods that they call, also when they were
// switched off.
func TestCorpusDense(t *testing.T) {
	nightly.Only(t, "mutants")
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jdks, err := JDKs()
	oracle.Require(t, err)
	if !corpus.IsFull() {
		jdks = jdks[len(jdks)-1:]
	}
	for _, p := range Programs() {
		for _, jdk := range jdks {
			if p.Small || corpus.IsFull() {
				t.Run(fmt.Sprint(p.Name, "-", jdk.Feature), func(t *testing.T) { checkProgram(t, p, jdk, c) })
			}
		}
	}
}

// Tolerances of shares, in points of percent, beyond what two runs of JFR differ and the number of samples explains.
// The machine may be busy, which changes what a program does in which time.
const (
	// farBehind is by how much our biggest method may be smaller in JFR than JFR's biggest one.
	farBehind = 15
	// farOff is the mean difference of the biggest methods.
	farOff = 6
)

func checkProgram(t *testing.T, p Program, jdk oracle.JDK, c *corpus.Corpus) {
	t.Helper()
	r, err := Prepare(t.Context(), p, c, jdk, t.TempDir())
	oracle.Require(t, err)
	run := func(way Way) Run {
		run, err := r.Run(t.Context(), way)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	first, recorded, second := run(WithJFR), run(Recording), run(WithJFR)
	if recorded.Text != first.Text {
		t.Errorf("the recorded program printed something else:\n%s\nwant\n%s", lastLines(recorded.Text),
			lastLines(first.Text))
	}
	f, err := r.ReadRecording(recorded.File)
	if err != nil {
		t.Fatal(err)
	}
	if f.Lost > 0 || f.Damage != (trace.Damage{Closed: true}) {
		t.Errorf("%d records are lost, and the damage is %+v", f.Lost, f.Damage)
	}
	// Exceptions end calls, which needs no exit by default: the next exit or a sample shows it.
	t.Logf("measured: %+v", f.Repairs)
	f.Repairs.Unwound, f.Repairs.Contradicted = 0, 0
	if f.Repairs != (trace.Repairs{}) {
		t.Errorf("repairs were needed: %+v", f.Repairs)
	}
	if !p.Threads && f.Records+f.Gated+f.Windowed < 1_000_000 {
		t.Errorf("%d records, %d and %d calls left out: these are few", f.Records, f.Gated, f.Windowed)
	}
	if f.Samples == 0 {
		t.Error("there are no steady samples")
	}
	var jfr [2]*Profile
	for k, run := range []Run{first, second} {
		if jfr[k], err = r.ReadJFR(t.Context(), run.JFR); err != nil {
			t.Fatal(err)
		}
	}
	// If JFR has lost the outer frames of many stacks, it does not have the truth.
	if broken := jfr[0].Broken + jfr[1].Broken; broken > (jfr[0].Total+jfr[1].Total)/20 {
		t.Logf("measured: %.0f samples of JFR are broken, %.0f are not", broken, jfr[0].Total+jfr[1].Total)
		return
	}
	for _, k := range Kinds {
		c := Compare(k, f.Profile, f.Samples, jfr)
		t.Logf("measured: %s: our first is %s with %.1f %% (JFR %.1f %%), JFR's %s with %.1f %%; mean difference of the "+
			"biggest %.1f points, by chance %.1f, of JFR from itself %.1f; %d methods off; %d steady samples, %.0f of JFR",
			k, c.First, c.FirstShare, c.FirstInJFR, c.FirstOfJFR, c.BestInJFR, c.Rest, c.Chance, c.Noise, len(f.Off), f.Samples,
			jfr[0].Total+jfr[1].Total)
		// Java stops a thread for a stack only at safepoints, of which a method of the JDK that was inlined has none: its
		// own time is that of its caller then. So of own time with all methods the first place is not checked.
		if k != Own && c.Behind() > c.Doubt+c.ChanceOfFirst+farBehind {
			t.Errorf("%s is our first by %s time with %.1f %%, and has %.1f %% in JFR, whose first has %.1f %%", c.First,
				k, c.FirstShare, c.FirstInJFR, c.BestInJFR)
		}
		// Of programs with few methods the first place says all.
		if len(c.Biggest) > Top/2 && c.Rest > 2*(c.Noise+c.Chance)+farOff {
			t.Errorf("the biggest methods differ from JFR by %.1f points of %s time on average, by chance %.1f, and JFR from "+
				"itself by %.1f", c.Rest, k, c.Chance, c.Noise)
		}
	}
}

// methods returns methods that are traced, by one letter each.
func methods(names ...Method) map[Method]bool {
	traced := map[Method]bool{}
	for _, m := range names {
		traced[m] = true
	}
	return traced
}

// TestProfileOfStacks adds stacks with recursion, and with a method that is not traced.
func TestProfileOfStacks(t *testing.T) {
	p := newProfile(methods("a", "b"))
	p.add([]Method{"b", "a", "b", "a"}, 3)
	p.add([]Method{"lib", "a", "main"}, 1)
	p.add([]Method{"lib"}, 5)
	p.add(nil, 5)
	want := &Profile{Total: 4, Inclusive: map[Method]float64{"a": 4, "b": 3}, Self: map[Method]float64{"a": 1, "b": 3},
		Own: map[Method]float64{"lib": 1, "b": 3}, traced: p.traced}
	if d := cmp.Diff(want, p, cmp.AllowUnexported(Profile{})); d != "" {
		t.Error(d)
	}
}

// TestFramesOfJFR leaves out frames that a stack of Java does not show, and those of the runtime.
func TestFramesOfJFR(t *testing.T) {
	got := frames(oracle.JFRStack{Methods: []string{"dev/tracegen/runtime/Gate dropsEntry (I)Z",
		"dev/tracegen/runtime/AppMethodBeat i (I)V", "p/A$B run ()V", "p/A$$Lambda.0x123 run ()V",
		"p/A main ([Ljava/lang/String;)V"}})
	if d := cmp.Diff([]Method{"p.A$B.run", "p.A.main"}, got); d != "" {
		t.Error(d)
	}
}

// TestProfileOfCalls makes a profile of calls.
func TestProfileOfCalls(t *testing.T) {
	var list []mapping.Method
	for _, name := range []string{"a", "b"} {
		list = append(list, mapping.Method{Identity: mapping.Identity{Class: "p/A", Name: name, Descriptor: "()V"}})
	}
	m, err := mapping.Assign(list, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	id := func(k int) trace.Method {
		n, _ := m.ByMethod(list[k].Identity)
		return trace.Method(n)
	}
	r := &Prepared{Mapping: m, traced: methods("p.A.a", "p.A.b")}
	f := r.reader()
	err = f.Segment(&trace.Segment{Calls: []trace.Call{
		{Method: id(0), Parent: -1, Next: 3, Begin: 10, End: 50},
		{Method: id(1), Parent: 0, Next: 2, Begin: 20, End: 40},
		{Method: id(0), Parent: 0, Next: 3, Begin: 46, End: 48}, // a recursive call
		{Method: id(1), Parent: -1, Next: 4, Begin: 60, End: 90},
	}})
	f.profile()
	f.Profile.bounds = nil
	want := &Profile{Total: 70, Inclusive: map[Method]float64{"p.A.a": 40, "p.A.b": 50},
		Self: map[Method]float64{"p.A.a": 20, "p.A.b": 50}, Own: map[Method]float64{"p.A.a": 20, "p.A.b": 50},
		traced: r.traced}
	if d := cmp.Diff(want, f.Profile, cmp.AllowUnexported(Profile{})); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestCompareFindsWrongFirst compares a profile whose biggest method JFR does not see, and one that agrees.
func TestCompareFindsWrongFirst(t *testing.T) {
	profile := func(ofA, ofB float64) *Profile {
		p := newProfile(methods("a", "b", "main"))
		p.add([]Method{"a", "main"}, ofA)
		p.add([]Method{"b", "main"}, ofB)
		return p
	}
	jfr := [2]*Profile{profile(700, 300), profile(720, 280)}
	for _, k := range []Kind{Inclusive, Self, Own} {
		wrong := Compare(k, profile(20, 80), 100, jfr)
		if wrong.First != "b" || wrong.FirstOfJFR != "a" || math.Abs(wrong.Behind()-42) > 0.01 ||
			math.Abs(wrong.Rest-51) > 0.01 || math.Abs(wrong.Noise-2) > 0.01 || wrong.Right() {
			t.Errorf("%+v, behind %v", wrong, wrong.Behind())
		}
		right := Compare(k, profile(140, 58), 198, jfr)
		if right.First != "a" || right.Behind() != 0 || right.Rest > 0.5 || !right.Right() {
			t.Errorf("%+v", right)
		}
	}
}

// TestCompareNearTie takes either of two methods for the first, between which two runs of JFR do not decide.
func TestCompareNearTie(t *testing.T) {
	profile := func(ofA, ofB float64) *Profile {
		p := newProfile(methods("a", "b"))
		p.add([]Method{"a"}, ofA)
		p.add([]Method{"b"}, ofB)
		return p
	}
	c := Compare(Own, profile(48, 52), 100, [2]*Profile{profile(502, 498), profile(505, 495)})
	if c.First != "b" || !c.Right() {
		t.Errorf("%+v", c)
	}
}

// TestBounds has one estimate whose bounds hold, one whose bounds do not, and a time of 0.
func TestBounds(t *testing.T) {
	p := newProfile(methods("a", "b", "c"))
	ours := newProfile(p.traced)
	for _, q := range []*Profile{p, ours} {
		q.add([]Method{"a"}, 50_000)
		q.add([]Method{"b"}, 30_000)
		q.add([]Method{"c"}, 20_000)
	}
	ours.bound(Own, "a", -5_000, 5_000)
	ours.bound(Own, "b", 3_000, 9_000)
	if checked, held := Bounds(Own, ours, [2]*Profile{p, p}); checked != 2 || held != 1 {
		t.Errorf("%d checked, %d held", checked, held)
	}
}
