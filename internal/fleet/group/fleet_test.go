package group

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// made makes recordings of a small fleet, some without a user.
func made(rnd *rand.Rand, recordings int) []Entry {
	var entries []Entry
	for k := range recordings {
		e := Entry{Info: Info{Version: fmt.Sprint("1.", rnd.IntN(12)),
			User: []string{"", "ann", "bob", "eve", "joe"}[rnd.IntN(5)]}}
		e.Recording[0], e.Recording[1] = byte(k), byte(k>>8)
		for n := range rnd.IntN(6) {
			e.Stalls = append(e.Stalls, analysis.Row{
				Key: fmt.Sprintf("%016x", rnd.IntN(5)), Recording: fmt.Sprint("r", k), Number: n +
					1, Version: e.Info.Version, User: e.Info.User,
				Time: 1_700_000_000_000 + rnd.Int64N(1e9), Wall: 700e6 +
					rnd.Int64N(5e9), CPU: -1, Kind: analysis.KindLock, Title: "t", HotPath: []string{"a.B.c"},
			})
		}
		entries = append(entries, e)
	}
	return entries
}

// groupsOf returns the groups of recordings.
func groupsOf(t *testing.T, entries []Entry) *Fleet {
	t.Helper()
	s := NewStalls()
	for _, e := range entries {
		s.Add(e)
	}
	return s.Groups()
}

// TestGroupsAgainstNaive compares the groups with those that a naive way computes. Each recording is given twice.
func TestGroupsAgainstNaive(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		entries := made(rnd, 1+rnd.IntN(40))
		got := groupsOf(t, slices.Concat(entries, entries))
		var lines []string
		for _, g := range got.Groups {
			lines = append(lines, fmt.Sprint(g.Key, " ", g.Stalls, " ", g.Users, " ", g.Recordings, " ", g.Total, " ",
				g.Longest, " ", g.First, " ", g.Last, " ", g.Since.UnixMilli()))
		}
		if want := naive(entries); !slices.Equal(lines, want) {
			t.Fatalf("seed %d: %s", seed, gocmp.Diff(want, lines))
		}
	}
}

func naive(entries []Entry) []string {
	byKey := map[string][]analysis.Row{}
	recordings := map[string]map[string]string{}
	for _, e := range entries {
		for _, c := range e.Stalls {
			if recordings[c.Key] == nil {
				recordings[c.Key] = map[string]string{}
			}
			byKey[c.Key] = append(byKey[c.Key], c)
			recordings[c.Key][c.Recording] = cmp.Or(c.User, "no user "+c.Recording)
		}
	}
	type ranked struct {
		score float64
		line  string
	}
	var all []ranked
	for key, cases := range byKey {
		users := map[string]bool{}
		for _, u := range recordings[key] {
			users[u] = true
		}
		var total, longest time.Duration
		first, last, since := "", "", int64(math.MaxInt64)
		minor := func(v string) (n int) { fmt.Sscanf(v, "1.%d", &n); return n }
		for _, c := range cases {
			total += time.Duration(c.Wall)
			longest = max(longest, time.Duration(c.Wall))
			if first == "" || minor(c.Version) < minor(first) {
				first = c.Version
			}
			if last == "" || minor(c.Version) > minor(last) {
				last = c.Version
			}
			since = min(since, c.Time)
		}
		score := float64(len(users)) * (total / time.Duration(len(cases))).Seconds()
		all = append(all, ranked{score, fmt.Sprint(key, " ", len(cases), " ", len(users), " ", len(recordings[key]),
			" ", total, " ", longest, " ", first, " ", last, " ", since)})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			cmp.Compare(a.line, b.line))
	})
	var lines []string
	for _, r := range all {
		lines = append(lines, r.line)
	}
	return lines
}

// TestGroupsAreTheSameInAnyOrder adds the same recordings in two orders.
func TestGroupsAreTheSameInAnyOrder(t *testing.T) {
	entries := made(rand.New(rand.NewPCG(3, 3)), 60)
	entries[7].Stalls, entries[8].Stalls = entries[9].Stalls, entries[9].Stalls // as long
	text := func() string {
		f := groupsOf(t, entries)
		var b bytes.Buffer
		if err := errors.Join(f.WriteText(&b, 0), f.WriteJSON(&b, 0)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one := text()
	slices.Reverse(entries)
	if other := text(); one != other {
		t.Error(gocmp.Diff(one, other))
	}
}

func TestQuantiles(t *testing.T) {
	g := newGrouping("k")
	for n := range 1000 {
		g.add(Digest{}, &analysis.Row{Wall: int64(n+1) * 1e6})
	}
	got := g.end()
	for _, q := range []struct{ got, want time.Duration }{{got.Median, 500 * time.Millisecond},
		{got.P90, 900 * time.Millisecond}} {
		if off := math.Abs(float64(q.got-q.want)) / float64(q.want); off > 0.002 {
			t.Errorf("got %s, want %s", q.got, q.want)
		}
	}
}

func TestVersionsInOrder(t *testing.T) {
	sorted := []string{"", "1.0-alpha", "1.0-beta", "1.0", "1.0.1", "1.2", "1.9", "1.10", "1.10.0", "2", "10.0"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareVersions(a, b); got != cmp.Compare(i, j) {
				t.Errorf("compareVersions(%q, %q) = %d, want %d", a, b, got, cmp.Compare(i, j))
			}
		}
	}
	if compareBuilds(build{"9", "20", ""}, build{"1", "100", ""}) >= 0 {
		t.Error("a version code does not decide")
	}
}

// TestWelch holds the test against scipy 1.17.1: stats.ttest_ind(b, a, equal_var=False) and its confidence_interval().
func TestWelch(t *testing.T) {
	for _, w := range []struct {
		a, b         []float64
		p, low, high float64
	}{
		{
			[]float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4},
			[]float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 28.9},
			0.005966039535592598, 0.9765852878808263, 5.290081378785839,
		},
		{
			[]float64{17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8},
			[]float64{21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8, 20.7, 21.7, 21.5, 22.5, 23.6, 21.5,
				22.5, 23.5, 21.5, 21.8},
			0.14884169660532817, -0.6484213253751658, 3.698421325375163,
		},
	} {
		meanA, a := over(w.a)
		meanB, b := over(w.b)
		n, m := float64(len(w.a)), float64(len(w.b))
		low, high, p := welch(meanB-meanA, a/n, b/m, n, m)
		if math.Abs(p-w.p) > 1e-9 || math.Abs(low-w.low) > 1e-9 || math.Abs(high-w.high) > 1e-9 {
			t.Errorf("p %g, %g to %g, want %g, %g to %g", p, low, high, w.p, w.low, w.high)
		}
	}
}

func over(values []float64) (mean, variance float64) {
	var m moments
	for _, v := range values {
		m.add(v)
	}
	return m.over(m.n)
}

// sampleOf makes a sample of recordings in each of which two methods run, slow taking what took says.
func sampleOf(t *testing.T, recordings int, took func(k int) int64) *Sample {
	t.Helper()
	s := &Sample{Unit: UnitRecording}
	for k := range recordings {
		r := &analysis.Recording{Name: fmt.Sprint(k), Meta: map[string]string{"versionName": "1"},
			Names: resolve.NewNames(nil, nil)}
		h, err := s.Add(r)
		if err != nil {
			t.Fatal(err)
		}
		d := took(k)
		err = h.Segment(&trace.Segment{End: 10_000 + d, Calls: []trace.Call{
			{Method: 1, Parent: -1, Next: 3, Count: 1, End: 10_000 + d},
			{Method: 2, Parent: 0, Next: 3, Count: 1, Begin: 5_000, End: 10_000 + d},
			{Method: 2, Parent: 1, Next: 3, Count: 1, Begin: 6_000, End: 7_000},
		}})
		if err := errors.Join(err, s.End(r)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestCompareFindsWhatChanged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	noisy := func(mean int64) func(int) int64 { return func(int) int64 { return mean + rnd.Int64N(2000) } }
	c := Compare(sampleOf(t, 30, noisy(10_000)), sampleOf(t, 30, noisy(15_000)), nil)
	slower := c.Slower()
	if len(slower) != 1 || slower[0].Method != "#2" {
		t.Fatalf("slower: %+v", slower)
	}
	m := slower[0]
	if m.Low > 5000 || m.High < 5000 || m.High-m.Low > 2000 || m.OldCalls != 2 || m.NewCalls != 2 {
		t.Errorf("%+v", m)
	}
	// A method that calls itself counts once in its total, so total is its own time here.
	if math.Abs(m.NewTotal-m.NewSelf) > 1e-6 {
		t.Errorf("total %g, own %g", m.NewTotal, m.NewSelf)
	}
	back := Compare(sampleOf(t, 30, noisy(15_000)), sampleOf(t, 30, noisy(10_000)), nil)
	if len(back.Slower()) != 0 || back.Changes[len(back.Changes)-1].Certainty != Sure {
		t.Errorf("the other way round: %+v", back.Changes)
	}
}

// TestCompareOfTheSameIsNoise: where nothing changed, one comparison in twenty may call something sure, not more.
func TestCompareOfTheSameIsNoise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 11))
	took := func(int) int64 { return 10_000 + rnd.Int64N(5000) }
	wrong := 0
	for range 400 {
		c := Compare(sampleOf(t, 8, took), sampleOf(t, 12, took), nil)
		for _, m := range c.Changes {
			if m.Certainty == Sure {
				wrong++
			}
		}
	}
	if wrong > 36 { // 20 are expected; a right test passes 36 once in a thousand times, and the seed is fixed
		t.Errorf("%d of 400 comparisons call a change sure that is none", wrong)
	}
}

func TestCompareWithFewUnitsIsUnknown(t *testing.T) {
	c := Compare(sampleOf(t, 4, func(int) int64 { return 1 }), sampleOf(t, 9, func(int) int64 { return 100_000 }), nil)
	for _, m := range c.Changes {
		if m.Certainty != Unknown {
			t.Errorf("%+v", m)
		}
	}
	var b bytes.Buffer
	if err := c.WriteText(&b, 0, false); err != nil || !strings.Contains(b.String(), "fewer than 5") {
		t.Error(b.String(), err)
	}
}

// TestCompareStallsByChance: how often stalls came differs for sure only where chance explains it in less than one of
// twenty cases. With as many units on both sides, the probability of n on one side alone is that of n coins that show
// the same side: 2 / 2^n.
func TestCompareStallsByChance(t *testing.T) {
	for _, row := range []struct {
		old, new, n, m int
		p              float64
		kind           string
		certainty      Certainty
	}{
		{1, 0, 100, 100, 1, "", Noise},
		{0, 3, 100, 100, 0.25, "", Noise},
		{0, 5, 100, 100, 0.0625, "", Noise},
		{0, 6, 100, 100, 0.03125, "new: ", Sure},
		{6, 0, 100, 100, 0.03125, "gone: ", Sure},
		{3, 0, 100, 100000, 1e-9, "gone: ", Sure},
		{0, 3, 100000, 100, 1e-9, "new: ", Sure},
		{10, 20, 100, 200, 1, "", Noise},
		{10, 30, 100, 100, 0.002221, "", Sure},
		{0, 30, 4, 4, 1, "", Unknown},
	} {
		side := func(cases, units int) *Sample {
			s := &Sample{Unit: UnitMessage, Units: units, stalls: map[string]*groupSample{}}
			if cases > 0 {
				s.stalls["k"] = &groupSample{cases: cases}
			}
			return s
		}
		c := Compare(side(row.old, row.n), side(row.new, row.m), nil)
		s := c.Stalls[0]
		if math.Abs(s.P-row.p) > 1e-5 || s.kind() != row.kind || s.Certainty != row.certainty {
			t.Errorf("%+v: p = %g, %q, %s", row, s.P, s.kind(), s.Certainty)
		}
	}
}

// TestCompareNamesWithBlanks: a name with blanks stays whole.
func TestCompareNamesWithBlanks(t *testing.T) {
	for _, row := range [][3]string{{"", "(process suspended)", ""}, {"chat.My Api", "get a, b", "(I)V"}} {
		if class, method, descriptor := splitKey(methodKey(row[0], row[1], row[2])); [3]string{class, method,
			descriptor} != row {
			t.Errorf("%q is read as %q %q %q", row, class, method, descriptor)
		}
	}
}
