package evidence

import (
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestRunning takes times out of random calls, and compares with a sum over all nanoseconds.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestRunning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var s trace.Suspensions
		runs := make([]bool, 101)
		for i := range runs {
			if runs[i] = r.IntN(3) > 0; !runs[i] {
				s.Add(&trace.Suspended{List: []trace.Suspension{{Begin: int64(i), End: int64(i) + 1}}})
			}
		}
		seg := &trace.Segment{Begin: int64(r.IntN(50)), End: int64(50 + r.IntN(50))}
		for range 10 {
			begin := seg.Begin + r.Int64N(seg.End-seg.Begin)
			seg.Calls = append(seg.Calls, trace.Call{Begin: begin, End: begin + r.Int64N(seg.End-begin+1)})
		}
		got := running(&s, seg)
		ran := func(from, to int64) (n int64) {
			for at := from; at < to; at++ {
				if runs[at] {
					n++
				}
			}
			return n
		}
		for i, c := range seg.Calls {
			d := got.Calls[i]
			if d.Begin != seg.Begin+ran(seg.Begin, c.Begin) || d.End-d.Begin != ran(c.Begin, c.End) {
				t.Fatalf("%+v became %+v, with %v", c, d, s.Within(0, 101))
			}
		}
		if got.Begin != seg.Begin || got.End-got.Begin != ran(seg.Begin, seg.End) {
			t.Fatalf("the segment has %d to %d", got.Begin, got.End)
		}
	}
}
