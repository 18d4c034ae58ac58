package analysis

import (
	"testing"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// TestOwnTimeOfMethodsThatAreOff: the own time of a stall is that of the program's methods. One that was switched off
// has what samples show of it; libraries have none, as their callers are to blame.
func TestOwnTimeOfMethodsThatAreOff(t *testing.T) {
	const off, library = 2, trace.FirstNamed
	s := &trace.Segment{End: 1000, Calls: []trace.Call{{Method: 1, Parent: -1, Next: 1, Count: 1, End: 1000}}}
	for k := range 10 {
		sample := trace.Sample{Nanos: int64(k) * 100, Weight: 100, State: 2, CPU: -1}
		if k < 8 {
			sample.Below = []trace.Method{library, off, library}
		}
		s.Samples = append(s.Samples, sample)
	}
	var tree evidence.Tree
	tree.Add(s)
	names := resolve.NewNames(nil, nil)
	steps := mostSelf(&tree, names, 5)
	if len(steps) != 2 || steps[0].Method.Name != "#2" || steps[0].Self != 800 || steps[0].Estimated != 800 ||
		steps[0].Samples == 0 || steps[1].Self != 200 || steps[1].Estimated != 0 {
		t.Errorf("%+v", steps)
	}
}
