package dense

import (
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
// biggest methods are those of JFR.
func TestCorpusDense(t *testing.T) {
	nightly.Only(t, "mutants")
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Programs() {
		if p.Small || corpus.IsFull() {
			t.Run(p.Name, func(t *testing.T) { checkProgram(t, p, c) })
		}
	}
}

// farBehind is by how many points our biggest method may be smaller in JFR than JFR's biggest one, beyond what two runs
// of JFR differ. The machine may be busy, which changes what a program does in which time.
const farBehind = 15

func checkProgram(t *testing.T, p Program, c *corpus.Corpus) {
	t.Helper()
	r, err := Prepare(t.Context(), p, c, t.TempDir())
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
	// Exceptions end calls, which needs no exit by default.
	t.Logf("measured: %+v", f.Repairs)
	f.Repairs.Unwound = 0
	if f.Repairs != (trace.Repairs{}) {
		t.Errorf("repairs were needed: %+v", f.Repairs)
	}
	if f.Records+f.Gated+f.Windowed < 1_000_000 {
		t.Errorf("%d records, %d and %d calls left out: these are few", f.Records, f.Gated, f.Windowed)
	}
	ours, err := r.ReadCalls(recorded.File, f.Off)
	if err != nil {
		t.Fatal(err)
	}
	var jfr [2]*Profile
	for k, run := range []Run{first, second} {
		if jfr[k], err = r.ReadJFR(t.Context(), run.File, f.Off); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []Kind{Inclusive, Self} {
		c := Compare(k, ours, jfr)
		t.Logf("measured: %s: our first is %s.%s with %.1f %% (JFR %.1f %%), JFR's %s.%s with %.1f %%; mean difference of "+
			"ten %.1f points, of JFR from itself %.1f; %d methods off; %.0f samples of %.0f broken", k, c.First.Class,
			c.First.Name, c.FirstShare, c.FirstInJFR, c.FirstOfJFR.Class, c.FirstOfJFR.Name, c.BestInJFR, c.Rest, c.Noise,
			len(f.Off), jfr[0].Broken+jfr[1].Broken, jfr[0].Total+jfr[1].Total)
		// If JFR has lost the outer frames of many stacks, it does not have the truth.
		whole := jfr[0].Broken+jfr[1].Broken < (jfr[0].Total+jfr[1].Total)/20
		if k == Inclusive && whole && c.Behind() > farBehind+c.Noise {
			t.Errorf("%s is our first with %.1f %%, and has %.1f %% in JFR, whose first has %.1f %%", c.First.Name,
				c.FirstShare, c.FirstInJFR, c.BestInJFR)
		}
	}
}

func methodNamed(name string) mapping.Identity {
	return mapping.Identity{Class: "A", Name: name, Descriptor: "()V"}
}

// TestProfileOfStacks adds stacks with recursion.
func TestProfileOfStacks(t *testing.T) {
	p := newProfile()
	a, b := methodNamed("a"), methodNamed("b")
	p.add([]mapping.Identity{b, a, b, a}, 3)
	p.add([]mapping.Identity{a}, 1)
	p.add(nil, 5)
	want := &Profile{Total: 4, Inclusive: map[mapping.Identity]float64{a: 4, b: 3}, Self: map[mapping.Identity]float64{
		a: 1, b: 3}}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
}

// TestProfileOfCalls adds the same calls as a segment, with a method between them that is left out.
func TestProfileOfCalls(t *testing.T) {
	var list []mapping.Method
	for _, name := range []string{"a", "b", "off"} {
		list = append(list, mapping.Method{Identity: methodNamed(name)})
	}
	m, err := mapping.Assign(list, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	a, b, off := methodNamed("a"), methodNamed("b"), methodNamed("off")
	id := func(of mapping.Identity) trace.Method {
		n, _ := m.ByMethod(of)
		return trace.Method(n)
	}
	p := &profileReader{Profile: newProfile(), mapping: m, off: map[mapping.Identity]bool{off: true}}
	err = p.Segment(&trace.Segment{Calls: []trace.Call{
		{Method: id(off), Parent: -1, Next: 6, Begin: 0, End: 100},
		{Method: id(a), Parent: 0, Next: 5, Begin: 10, End: 50},
		{Method: id(off), Parent: 1, Next: 4, Begin: 15, End: 45},
		{Method: id(b), Parent: 2, Next: 4, Begin: 20, End: 40},
		{Method: id(a), Parent: 1, Next: 5, Begin: 46, End: 48},
		{Method: id(b), Parent: 0, Next: 6, Begin: 60, End: 90},
	}})
	want := &Profile{Total: 70, Inclusive: map[mapping.Identity]float64{a: 40, b: 50},
		Self: map[mapping.Identity]float64{a: 20, b: 50}}
	if d := cmp.Diff(want, p.Profile); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestCompareFindsWrongFirst compares a profile whose biggest method JFR does not see, and one that agrees.
func TestCompareFindsWrongFirst(t *testing.T) {
	a, b, all := methodNamed("a"), methodNamed("b"), methodNamed("main")
	profile := func(ofA, ofB float64) *Profile {
		p := newProfile()
		p.add([]mapping.Identity{a, all}, ofA)
		p.add([]mapping.Identity{b, all}, ofB)
		return p
	}
	jfr := [2]*Profile{profile(70, 30), profile(72, 28)}
	wrong := Compare(Inclusive, profile(20, 80), jfr)
	if wrong.First != b || wrong.FirstOfJFR != a || math.Abs(wrong.Behind()-42) > 0.01 || math.Abs(wrong.Rest-51) > 0.01 ||
		math.Abs(wrong.All-34) > 0.01 || math.Abs(wrong.Noise-2) > 0.01 {
		t.Errorf("%+v, behind %v", wrong, wrong.Behind())
	}
	if right := Compare(Inclusive, profile(140, 58), jfr); right.First != a || right.Behind() != 0 || right.Rest > 0.5 {
		t.Errorf("%+v", right)
	}
}
