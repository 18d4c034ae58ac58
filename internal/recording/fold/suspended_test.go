package fold

import (
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestShowSuspensions puts times into random calls: each call keeps its times, no two calls overlap that do not nest,
// and the time of MethodSuspended is in the innermost call, whatever the calls are.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestShowSuspensions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var s trace.Suspensions
		for range 1 + r.IntN(5) {
			begin := r.Int64N(100)
			s.Add(&trace.Suspended{List: []trace.Suspension{{Begin: begin, End: begin + r.Int64N(20)}}})
		}
		seg := &trace.Segment{Begin: 10, End: 90}
		var add func(parent int32, begin, end int64, depth int)
		add = func(parent int32, begin, end int64, depth int) {
			k := int32(len(seg.Calls))
			seg.Calls = append(seg.Calls, trace.Call{Method: trace.Method(depth), Parent: parent, Count: 1, Begin: begin,
				End: end})
			for at := begin; depth < 4 && r.IntN(4) > 0 && at < end; {
				from := at + r.Int64N(end-at+1)
				at = from + r.Int64N(end-from+1)
				add(k, from, at, depth+1)
			}
			seg.Calls[k].Next = int32(len(seg.Calls))
		}
		add(-1, 10, 90, 1)
		seg.Message = r.IntN(len(seg.Calls))
		got := ShowSuspensions(&s, seg)
		// innermost returns the index of the innermost call at each nanosecond; one of MethodSuspended is below it.
		innermost := func(s *trace.Segment) (calls [100]trace.Method, stopped [100]bool) {
			for _, c := range s.Calls {
				for at := c.Begin; at < c.End; at++ {
					if stopped[at] = c.Method == trace.MethodSuspended; !stopped[at] {
						calls[at] = c.Method
					}
				}
			}
			return calls, stopped
		}
		calls, stopped := innermost(got)
		want, _ := innermost(seg)
		var wantStopped [100]bool
		for _, t := range s.Within(10, 90) {
			for at := t.Begin; at < t.End; at++ {
				wantStopped[at] = true
			}
		}
		if calls != want || stopped != wantStopped {
			t.Fatalf("%+v\nwith %v became\n%+v", seg.Calls, s.Within(10, 90), got.Calls)
		}
		var kept []trace.Call
		for i, c := range got.Calls {
			if c.Parent >= int32(i) || c.Next <= int32(i) || c.Parent >= 0 && (got.Calls[c.Parent].Next < c.Next ||
				got.Calls[c.Parent].Begin > c.Begin || got.Calls[c.Parent].End < c.End) {
				t.Fatalf("call %d of %+v", i, got.Calls)
			}
			if c.Method != trace.MethodSuspended {
				kept = append(kept, c)
			} else if c.Next != int32(i)+1 {
				t.Fatalf("there are calls below %d of %+v", i, got.Calls)
			}
		}
		if len(kept) != len(seg.Calls) || got.Calls[got.Message] != kept[seg.Message] {
			t.Fatalf("%d calls of %d, message %d became %d", len(kept), len(seg.Calls), seg.Message, got.Message)
		}
		for i := range kept {
			a, b := kept[i], seg.Calls[i]
			if a.Begin != b.Begin || a.End != b.End || a.Method != b.Method {
				t.Fatalf("%+v became %+v", b, a)
			}
		}
	}
}
