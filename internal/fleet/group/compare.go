package group

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/mapping"
)

// LeastUnits is how many units each side must have for a mean to say something of the next unit.
const LeastUnits = 5

// leastSamples is how many stack samples a unit must have of a method on average for its CPU time to be compared: a few
// samples come and go by chance, and each method that is tested makes it harder for the others to be sure.
const leastSamples = 3

// Side is one of two samples that are compared.
type Side struct {
	// Recordings and Units are how many there were, First and Last the versions that they are of.
	Recordings int    `json:"recordings"`
	Units      int    `json:"units"`
	First      string `json:"firstVersion,omitempty"`
	Last       string `json:"lastVersion,omitempty"`
}

// Certainty says how sure a difference is.
type Certainty string

// The certainties.
const (
	Sure    Certainty = "sure"    // stays significant at 5 % after the correction for the number of methods
	Likely  Certainty = "likely"  // would be significant at 5 % if it were the only method
	Noise   Certainty = "noise"   // may well be chance
	Unknown Certainty = "unknown" // too few units on a side
	OneSide Certainty = "oneside" // was called on one side alone
)

// Change is how a method differs between two samples. Times are nanoseconds for each unit.
type Change struct {
	// Class, Method and Descriptor name it in the newer sample, and Was in the older one if a compiler has numbered it
	// anew.
	Class      string `json:"class"`
	Method     string `json:"method"`
	Descriptor string `json:"descriptor,omitempty"`
	Was        string `json:"was,omitempty"`
	// OldSelf and NewSelf are its own time on average, OldTotal and NewTotal that with what it calls.
	OldSelf  float64 `json:"oldSelfNanos"`
	NewSelf  float64 `json:"newSelfNanos"`
	OldTotal float64 `json:"oldTotalNanos"`
	NewTotal float64 `json:"newTotalNanos"`
	// OldCalls and NewCalls are how often it was called.
	OldCalls float64 `json:"oldCalls"`
	NewCalls float64 `json:"newCalls"`
	// OldCall and NewCall are a call's own time.
	OldCall float64 `json:"oldCallNanos"`
	NewCall float64 `json:"newCallNanos"`
	// Low and High enclose the change of its own time with 95 % confidence; both 0 if Certainty is Unknown.
	Low  float64 `json:"lowNanos"`
	High float64 `json:"highNanos"`
	// P is how likely a change as great is if nothing has changed, 1 if that is unknown.
	P float64 `json:"p"`
	// Certainty says it in a word.
	Certainty Certainty `json:"certainty"`
	// OldEstimated and NewEstimated are how much of OldSelf and NewSelf samples show, and no record.
	OldEstimated float64 `json:"oldEstimatedNanos,omitempty"`
	NewEstimated float64 `json:"newEstimatedNanos,omitempty"`
	// CPU is how its CPU time has changed; nil if a recording does not have it.
	CPU *CPUChange `json:"cpu,omitempty"`
}

// CPUChange is how the CPU time of a method's own differs between two samples, in nanoseconds for each unit. A machine
// that is busy with other things takes wall time from a program, and hardly CPU time.
type CPUChange struct {
	// Old and New are the CPU time on average.
	Old float64 `json:"oldNanos"`
	New float64 `json:"newNanos"`
	// Low, High, P and Certainty are as in [Change].
	Low       float64   `json:"lowNanos"`
	High      float64   `json:"highNanos"`
	P         float64   `json:"p"`
	Certainty Certainty `json:"certainty"`
}

// unchanged reports whether the method's own time is the same in both samples, and it is called as often.
func (c *Change) unchanged() bool { return c.OldSelf == c.NewSelf && c.OldCalls == c.NewCalls }

// Delta is the change of the method's own time, in nanoseconds for each unit.
func (c *Change) Delta() float64 { return c.NewSelf - c.OldSelf }

// surest returns the change that is more certain: that of own time, or that of CPU time.
func (c *Change) surest() (delta float64, certainty Certainty) {
	if c.CPU != nil && (c.CPU.Certainty == Sure && c.Certainty != Sure ||
		c.CPU.Certainty == Likely && c.Certainty == Noise) {
		return c.CPU.New - c.CPU.Old, c.CPU.Certainty
	}
	return c.Delta(), c.Certainty
}

// StallChange is how often a group of stalls came, in two samples.
type StallChange struct {
	// Key is what they have in common; see [StallGroup].
	Key string `json:"key"`
	// Old and New are how many there were, and where the unit is a user, how many users had them. OldRate and NewRate are
	// how many in a thousand units.
	Old     int     `json:"old"`
	New     int     `json:"new"`
	OldRate float64 `json:"oldRate"`
	NewRate float64 `json:"newRate"`
	// OldMean and NewMean are how long one took, in nanoseconds.
	OldMean float64 `json:"oldMeanNanos"`
	NewMean float64 `json:"newMeanNanos"`
	// P is how likely rates as different are if nothing has changed, 1 if that is unknown, and Certainty says it in a
	// word.
	P         float64   `json:"p"`
	Certainty Certainty `json:"certainty"`
	// Worst is the longest, of the newer sample if there is one.
	Worst analysis.Row `json:"worst"`
}

// Comparison is how two samples differ.
type Comparison struct {
	// Unit is what times are counted by.
	Unit Unit `json:"unit"`
	Old  Side `json:"old"`
	New  Side `json:"new"`
	// Changes has all methods that have changed, those whose own time, or CPU time if that is surer, grew the most first.
	// Unchanged is how many others there are.
	Changes   []*Change `json:"changes"`
	Unchanged int       `json:"unchanged"`
	// Stalls has all groups of stalls that have changed, those whose time grew the most first. UnchangedStalls is how
	// many others there are.
	Stalls          []*StallChange `json:"stalls"`
	UnchangedStalls int            `json:"unchangedStalls"`
	// Frames has the calls of both samples by path, nil without [Sample.Paths].
	Frames *Frames `json:"-"`

	cpu bool // each recording has the CPU time of its methods
}

// Compare returns how two samples differ. renumbered, which may be nil, is how the builds' mappings differ: methods
// that a compiler has renumbered are matched by it. Both samples have the same unit.
func Compare(old, new *Sample, renumbered *mapping.Comparison) *Comparison {
	c := &Comparison{Unit: old.Unit, Old: old.side(), New: new.side(), Changes: []*Change{}, Stalls: []*StallChange{},
		cpu: old.measured == old.Units && new.measured == new.Units}
	was, is := wasCalled(renumbered)
	matched := map[string]bool{}
	for key, m := range new.methods {
		before := cmp.Or(was[key], key)
		if was[key] == "" && is[key] != "" {
			before = "" // what had this name has another now: this is new code
		}
		matched[before] = true
		c.Changes = append(c.Changes, c.change(key, was[key], old.methods[before], m))
	}
	for key, m := range old.methods {
		if !matched[key] {
			c.Changes = append(c.Changes, c.change(key, "", m, nil))
		}
	}
	var tests []tested
	for _, m := range c.Changes {
		tests = append(tests, tested{m.P, &m.Certainty})
		if m.CPU != nil {
			tests = append(tests, tested{m.CPU.P, &m.CPU.Certainty})
		}
	}
	correct(tests)
	all := len(c.Changes)
	c.Changes = slices.DeleteFunc(c.Changes, (*Change).unchanged)
	c.Unchanged = all - len(c.Changes)
	slices.SortFunc(c.Changes, func(a, b *Change) int {
		deltaA, _ := a.surest()
		deltaB, _ := b.surest()
		return cmp.Or(cmp.Compare(deltaB, deltaA), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.Descriptor, b.Descriptor), cmp.Compare(a.Was, b.Was))
	})
	c.compareStalls(old, new)
	c.Frames = compareFrames(old, new, is)
	return c
}

// Slower returns the methods that surely take longer, or more CPU time.
func (c *Comparison) Slower() []*Change {
	var all []*Change
	for _, m := range c.Changes {
		if delta, certainty := m.surest(); certainty == Sure && delta > 0 {
			all = append(all, m)
		}
	}
	return all
}

func (s *Sample) side() Side {
	return Side{Recordings: s.Recordings, Units: s.Units, First: s.versions.first.String(),
		Last: s.versions.last.String()}
}

// wasCalled maps what a method is called in the newer build to what it was in the older one, and back, where a compiler
// counts.
func wasCalled(c *mapping.Comparison) (was, is map[string]string) {
	was, is = map[string]string{}, map[string]string{}
	if c == nil {
		return was, is
	}
	key := func(m mapping.Identity) string {
		return methodKey(mapping.Text(m.Class), mapping.Text(m.Name), m.Descriptor)
	}
	for _, d := range c.Renumbered {
		was[key(d.New.Identity)], is[key(d.Old.Identity)] = key(d.Old.Identity), key(d.New.Identity)
	}
	return was, is
}

// change compares what is known of a method, nil where it was not called.
func (c *Comparison) change(key, was string, a, b *methodSample) *Change {
	m := &Change{Was: strings.ReplaceAll(was, "\n", " "), P: 1, Certainty: Unknown}
	m.Class, m.Method, m.Descriptor = splitKey(key)
	onOneSide := (a == nil) != (b == nil)
	if a == nil {
		a = &methodSample{}
	}
	if b == nil {
		b = &methodSample{}
	}
	units, newUnits := float64(c.Old.Units), float64(c.New.Units)
	var varianceOld, varianceNew float64
	m.OldSelf, varianceOld = a.self.over(units)
	m.NewSelf, varianceNew = b.self.over(newUnits)
	m.OldTotal, _ = a.total.over(units)
	m.NewTotal, _ = b.total.over(newUnits)
	m.OldCall, m.NewCall = a.self.sum/max(float64(a.calls), 1), b.self.sum/max(float64(b.calls), 1)
	m.OldCalls, m.NewCalls = float64(a.calls)/max(units, 1), float64(b.calls)/max(newUnits, 1)
	m.OldEstimated, m.NewEstimated = a.estimated/max(units, 1), b.estimated/max(newUnits, 1)
	enough := units >= LeastUnits && newUnits >= LeastUnits
	if c.cpu && enough && a.samples+b.samples >= leastSamples*(units+newUnits) {
		m.CPU = cpuChange(a, b, units, newUnits)
	}
	switch {
	case enough:
		m.Low, m.High, m.P = welch(m.Delta(), varianceOld/units, varianceNew/newUnits, units, newUnits)
		m.Certainty = Noise
	case onOneSide:
		m.Certainty = OneSide
	}
	return m
}

// cpuChange compares the CPU time of a method's own.
func cpuChange(a, b *methodSample, units, newUnits float64) *CPUChange {
	c := &CPUChange{Certainty: Noise}
	var old, new float64
	c.Old, old = a.cpu.over(units)
	c.New, new = b.cpu.over(newUnits)
	c.Low, c.High, c.P = welch(c.New-c.Old, old/units, new/newUnits, units, newUnits)
	return c
}

// welch returns the interval that has the difference of two means with 95 % confidence, and how likely one as great is
// by chance, by Welch's t-test (Welch 1947). a and b are the variances of the means of n and m values.
func welch(difference, a, b, n, m float64) (low, high, p float64) {
	if a+b == 0 {
		if difference == 0 {
			return 0, 0, 1
		}
		return difference, difference, 0 // never seen to vary, and yet another
	}
	deviation := math.Sqrt(a + b)
	freedom := (a + b) * (a + b) / (a*a/(n-1) + b*b/(m-1))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}
	reach := t.Quantile(0.975) * deviation
	return difference - reach, difference + reach, 2 * t.CDF(-math.Abs(difference)/deviation)
}

// rates returns how likely counts as different are by chance, in n and m units whose rate is the same: by the
// conditional test of two Poisson rates (Przyborowski and Wilenski 1940), on both sides.
func rates(old, new, n, m int) float64 {
	d := distuv.Binomial{N: float64(old + new), P: float64(n) / float64(n+m)}
	p, seen := 0.0, d.Prob(float64(old))
	for k := range old + new + 1 {
		if q := d.Prob(float64(k)); q <= seen*(1+1e-9) {
			p += q
		}
	}
	return min(p, 1)
}

// tested is a change that may be noise: how likely it is by chance, and the word for it.
type tested struct {
	p         float64
	certainty *Certainty
}

// correct says how sure each change is that may be noise, by the procedure of Benjamini and Hochberg (1995) at 5 %.
func correct(changes []tested) {
	changes = slices.DeleteFunc(changes, func(c tested) bool { return *c.certainty != Noise })
	slices.SortFunc(changes, func(a, b tested) int { return cmp.Compare(a.p, b.p) })
	sure := 0
	for i, c := range changes {
		if c.p <= 0.05*float64(i+1)/float64(len(changes)) {
			sure = i + 1
		}
	}
	for i, c := range changes {
		switch {
		case i < sure:
			*c.certainty = Sure
		case c.p <= 0.05:
			*c.certainty = Likely
		}
	}
}

// compareStalls compares groups of stalls.
func (c *Comparison) compareStalls(old, new *Sample) {
	keys := map[string]bool{}
	for _, s := range []*Sample{old, new} {
		for key := range s.stalls {
			keys[key] = true
		}
	}
	side := func(s *Sample, key string) (cases int, rate, mean float64, worst analysis.Row) {
		g := s.stalls[key]
		if g == nil {
			return 0, 0, 0, analysis.Row{}
		}
		mean, _ = g.wall.over(g.wall.n)
		return g.cases, 1000 * float64(g.cases) / float64(max(s.Units, 1)), mean, g.worst
	}
	for key := range keys {
		s := &StallChange{Key: key, P: 1, Certainty: Unknown}
		s.Old, s.OldRate, s.OldMean, s.Worst = side(old, key)
		cases, rate, mean, worst := side(new, key)
		s.New, s.NewRate, s.NewMean = cases, rate, mean
		if cases > 0 {
			s.Worst = worst
		}
		if s.Old == s.New && s.OldRate == s.NewRate && s.OldMean == s.NewMean {
			c.UnchangedStalls++
			continue
		}
		if old.Units >= LeastUnits && new.Units >= LeastUnits {
			s.P, s.Certainty = rates(s.Old, s.New, old.Units, new.Units), Noise
		}
		c.Stalls = append(c.Stalls, s)
	}
	var tests []tested
	for _, s := range c.Stalls {
		tests = append(tests, tested{s.P, &s.Certainty})
	}
	correct(tests)
	grown := func(s *StallChange) float64 { return s.NewRate*s.NewMean - s.OldRate*s.OldMean }
	slices.SortFunc(c.Stalls, func(a, b *StallChange) int {
		return cmp.Or(cmp.Compare(grown(b), grown(a)), cmp.Compare(a.Key, b.Key))
	})
}
