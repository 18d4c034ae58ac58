package trace

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSuspensions puts times together that overlap, end before they begin, or are in another order.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestSuspensions(t *testing.T) {
	var s Suspensions
	s.Add(&Suspended{[]Suspension{{50, 60, SuspendedAsleep}, {10, 30, SuspendedFrozen}, {20, 40, SuspendedDebugger}}})
	s.Add(&Suspended{[]Suspension{{90, 80, SuspendedFrozen}, {15, 16, SuspendedDebugger}}})
	want := []Suspension{{10, 30, SuspendedFrozen}, {30, 40, SuspendedDebugger}, {50, 60, SuspendedAsleep}}
	if diff := cmp.Diff(want, s.Within(math.MinInt64, math.MaxInt64)); diff != "" {
		t.Error(diff)
	}
	want = []Suspension{{35, 40, SuspendedDebugger}, {50, 55, SuspendedAsleep}}
	if got := s.Within(35, 55); !slices.Equal(got, want) || Sum(got, 35, 55) != 10 || Sum(got, 38, 52) != 4 {
		t.Errorf("%v, %d and %d", got, Sum(got, 35, 55), Sum(got, 38, 52))
	}
	for range 2 * maxSuspensions {
		s.Add(&Suspended{[]Suspension{{1000, 1001, SuspendedFrozen}}})
	}
	for i := range int64(2 * maxSuspensions) {
		s.Add(&Suspended{[]Suspension{{1000 + 2*i, 1001 + 2*i, SuspendedFrozen}}})
	}
	if len(s.list) > maxSuspensions {
		t.Errorf("%d times are kept", len(s.list))
	}
}

// TestRunning takes times out of random calls, and compares with a sum over all nanoseconds.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestRunning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var s Suspensions
		runs := make([]bool, 101)
		for i := range runs {
			if runs[i] = r.IntN(3) > 0; !runs[i] {
				s.Add(&Suspended{[]Suspension{{int64(i), int64(i) + 1, SuspendedFrozen}}})
			}
		}
		seg := &Segment{Begin: int64(r.IntN(50)), End: int64(50 + r.IntN(50))}
		for range 10 {
			begin := seg.Begin + r.Int64N(seg.End-seg.Begin)
			seg.Calls = append(seg.Calls, Call{Begin: begin, End: begin + r.Int64N(seg.End-begin+1)})
		}
		got := s.Running(seg)
		ran := func(from, to int64) (n int64) {
			for at := from; at < to; at++ {
				n += int64(bit(runs[at]))
			}
			return n
		}
		for i, c := range seg.Calls {
			d := got.Calls[i]
			if d.Begin != seg.Begin+ran(seg.Begin, c.Begin) || d.End-d.Begin != ran(c.Begin, c.End) {
				t.Fatalf("%+v became %+v, with %v", c, d, s.list)
			}
		}
		if got.Begin != seg.Begin || got.End-got.Begin != ran(seg.Begin, seg.End) {
			t.Fatalf("the segment has %d to %d", got.Begin, got.End)
		}
	}
}

// TestShowSuspensions puts times into random calls: each call keeps its times, no two calls overlap that do not nest,
// and the time of MethodSuspended is in the innermost call, whatever the calls are.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestShowSuspensions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var s Suspensions
		for range 1 + r.IntN(5) {
			begin := r.Int64N(100)
			s.Add(&Suspended{[]Suspension{{begin, begin + r.Int64N(20), SuspendedFrozen}}})
		}
		seg := &Segment{Begin: 10, End: 90}
		var add func(parent int32, begin, end int64, depth int)
		add = func(parent int32, begin, end int64, depth int) {
			k := int32(len(seg.Calls))
			seg.Calls = append(seg.Calls, Call{Method: Method(depth), Parent: parent, Count: 1, Begin: begin, End: end})
			for at := begin; depth < 4 && r.IntN(4) > 0 && at < end; {
				from := at + r.Int64N(end-at+1)
				at = from + r.Int64N(end-from+1)
				add(k, from, at, depth+1)
			}
			seg.Calls[k].Next = int32(len(seg.Calls))
		}
		add(-1, 10, 90, 1)
		seg.Message = r.IntN(len(seg.Calls))
		got := s.Show(seg)
		// innermost returns the index of the innermost call at each nanosecond; one of MethodSuspended is below it.
		innermost := func(s *Segment) (calls [100]Method, stopped [100]bool) {
			for _, c := range s.Calls {
				for at := c.Begin; at < c.End; at++ {
					if stopped[at] = c.Method == MethodSuspended; !stopped[at] {
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
			t.Fatalf("%+v\nwith %v became\n%+v", seg.Calls, s.list, got.Calls)
		}
		var kept []Call
		for i, c := range got.Calls {
			if c.Parent >= int32(i) || c.Next <= int32(i) || c.Parent >= 0 && (got.Calls[c.Parent].Next < c.Next ||
				got.Calls[c.Parent].Begin > c.Begin || got.Calls[c.Parent].End < c.End) {
				t.Fatalf("call %d of %+v", i, got.Calls)
			}
			if c.Method != MethodSuspended {
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
