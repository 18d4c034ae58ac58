package trace

import (
	"math"
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
