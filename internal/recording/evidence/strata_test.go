package evidence

import (
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestBoundsByMethodHold: a method that was switched off has some of the own time of three recorded methods, one of
// which has few samples. The bounds hold in 95 % of all recordings, also for what is left to the recorded ones.
func TestBoundsByMethodHold(t *testing.T) {
	const off = 10
	whole := [...]int64{5e9, 2e9, 3e8}
	part := [...]float64{0.7, 0.1, 0.5}
	rnd := rand.New(rand.NewPCG(95, 95))
	truth := map[trace.Method]float64{}
	for k, w := range whole {
		truth[off] += float64(w) * part[k]
		truth[trace.Method(k+1)] = float64(w) * (1 - part[k])
	}
	const trials = 2000
	held := map[trace.Method]int{}
	for range trials {
		var tree Tree
		now := int64(0)
		for k, w := range whole {
			s := &trace.Segment{Begin: now, End: now + w, Calls: []trace.Call{{Method: trace.Method(k + 1), Parent: -1,
				Next: 1, Count: 1, Begin: now, End: now + w}}}
			for at := now; at < now+w; at += 2e7 {
				sample := trace.Sample{Nanos: at, Weight: 2e7, State: 2, CPU: -1}
				if rnd.Float64() < part[k] {
					sample.Below = []trace.Method{off}
				}
				s.Samples = append(s.Samples, sample)
			}
			tree.Add(s)
			now += w
		}
		grafted := Graft(&tree)
		sums := Sums(grafted)
		Bound(sums, &tree, grafted)
		for _, m := range sums {
			if m.SelfLow > m.Self || m.SelfHigh < m.Self || m.TotalLow > m.Total || m.TotalHigh < m.Total {
				t.Fatalf("%+v", m)
			}
			if float64(m.SelfLow) <= truth[m.Method]+1 && truth[m.Method]-1 <= float64(m.SelfHigh) {
				held[m.Method]++
			}
			if m.Method == off && (m.TotalLow != m.SelfLow || m.TotalHigh != m.SelfHigh) {
				t.Fatalf("own time is all of it, but has other bounds: %+v", m)
			}
			if m.Method != off && (m.TotalLow != m.Total || m.TotalHigh != m.Total) {
				t.Fatalf("the time of recorded calls is exact: %+v", m)
			}
		}
	}
	for m := range truth {
		if share := float64(held[m]) / trials; share < 0.93 {
			t.Errorf("the bounds of method %d hold in %.1f %%", m, 100*share)
		}
	}
	t.Log(held)
}
