package group

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// TestCoveredReports compares which incidents of random reports count with a comparison of all pairs, in whatever order
// the reports come.
//
// Invariant: The incident of a report counts unless a stall of its recording and thread covers it, in whatever order
// they are added.
func TestCoveredReports(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	var all []analysis.Row
	for n := range 600 {
		c := analysis.Row{Key: fmt.Sprint("k", n%7), Recording: []string{"a", "aa", "b"}[rnd.IntN(3)],
			ReportID:   fmt.Sprint("r", n),
			ReportKind: []string{"message", "input", "hold"}[rnd.IntN(3)], CPU: -1,
			Thread: []string{"", "main", "mai"}[rnd.IntN(3)], Time: 1_700_000_000_000 + rnd.Int64N(40_000),
			Lasted: rnd.Int64N(3) * rnd.Int64N(2e9)}
		switch rnd.IntN(20) {
		case 0:
			c.Time = 0
		case 1:
			c.Time = 253_402_300_799_999
		}
		all = append(all, c)
	}
	want := []string{}
	left := 0
	for _, c := range all {
		at, known := spanOf(&c)
		counts := true
		for _, s := range all {
			of, alsoKnown := spanOf(&s)
			if c.ReportKind == "hold" && s.ReportKind != "hold" && known && alsoKnown && c.Recording == s.Recording &&
				c.Thread == s.Thread && analysis.Covers(of.begin, of.end, at.begin, at.end) {
				counts = false
			}
		}
		if counts {
			want = append(want, c.ReportID)
		} else {
			left++
		}
	}
	slices.Sort(want)
	if left < 30 || len(want) < 300 {
		t.Fatalf("%d incidents are covered, and %d reports count", left, len(want))
	}
	for range 3 {
		rnd.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		var got []string
		s := NewStalls()
		s.each = func(c *analysis.Row) { got = append(got, c.ReportID) }
		addReports(s, all)
		s.Groups()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d reports count, want %d", len(got), len(want))
		}
	}
}
