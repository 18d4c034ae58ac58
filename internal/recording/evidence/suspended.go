package evidence

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// running returns a segment as if the process had not stopped within it: each time is earlier by what the process did
// not run since the segment's begin. The durations of its calls are those in which the process ran. The segment itself
// does not change; it is returned if the process ran all the time.
func running(s *trace.Suspensions, from *trace.Segment) *trace.Segment {
	stopped := s.Within(from.Begin, from.End)
	if len(stopped) == 0 {
		return from
	}
	before := make([]int64, len(stopped)) // how long the process did not run before each
	for i := 1; i < len(stopped); i++ {
		before[i] = before[i-1] + stopped[i-1].End - stopped[i-1].Begin
	}
	begins := func(t trace.Suspension, at int64) int { return cmp.Compare(t.Begin, at) }
	ran := func(at int64) int64 {
		i, _ := slices.BinarySearchFunc(stopped, at, begins)
		if i == 0 {
			return at
		}
		t := stopped[i-1]
		return at - before[i-1] - (min(at, t.End) - t.Begin)
	}
	out := *from
	out.Calls = slices.Clone(from.Calls)
	for i := range out.Calls {
		c := &out.Calls[i]
		c.Begin, c.End = ran(c.Begin), ran(c.End)
	}
	out.End = ran(out.End)
	return &out
}
