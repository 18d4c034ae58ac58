package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// TestUnwoundTimeIsAWarning sums up a call that an exception has left. It lasts over three segments, and another one
// without an exit is inside of it.
//
// Invariant: If calls whose exits are missing have a large share of the time, the report begins with that.
func TestUnwoundTimeIsAWarning(t *testing.T) {
	const s = int64(time.Second)
	call := func(m trace.Method, parent, next int32, begin, end int64, marks trace.Marks) trace.Call {
		return trace.Call{Method: m, Parent: parent, Next: next, Count: 1, Begin: begin, End: end, Marks: marks}
	}
	segment := func(unwound uint64, calls ...trace.Call) *trace.Segment {
		return &trace.Segment{Thread: 1, Begin: calls[0].Begin, End: calls[0].End, Calls: calls,
			Repairs: trace.Repairs{Unwound: unwound}}
	}
	both := trace.MarkResumed | trace.MarkSuspended
	var u unwound
	u.add(segment(0, call(1, -1, 3, 0, 2*s, trace.MarkSuspended), call(2, 0, 3, s, 2*s, trace.MarkSuspended),
		call(3, 1, 3, s, 2*s, 0)))
	u.add(segment(0, call(1, -1, 2, 2*s, 3*s, both), call(2, 0, 2, 2*s, 3*s, both)))
	u.add(segment(2, call(1, -1, 3, 3*s, 10*s, trace.MarkResumed),
		call(2, 0, 3, 3*s, 5*s, trace.MarkResumed|trace.MarkUnwound), call(4, 1, 3, 3*s, 5*s, trace.MarkUnwound)))
	if u.time != 4*s || u.all != 10*s || len(u.suspended) != 0 {
		t.Errorf("%v of %v, %v suspended", time.Duration(u.time), time.Duration(u.all), u.suspended)
	}
	lines := (&Completeness{UnwoundShare: u.share()}).Lines()
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "40 % of the time is in calls that exceptions ended") {
		t.Errorf("lines %q", lines)
	}
	if lines := (&Completeness{UnwoundShare: 0.01}).Lines(); len(lines) != 0 {
		t.Errorf("lines %q for a small share", lines)
	}
}
