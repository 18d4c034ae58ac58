package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPart takes a call with what is below it out of a segment, and the message out of one of [SegmentRequest].
func TestPart(t *testing.T) {
	whole := &Segment{Kind: SegmentRequest, Message: 2, End: 90, Calls: []Call{
		{Method: 1, Parent: -1, Next: 6, Count: 1, End: 90},
		{Method: 2, Parent: 0, Next: 2, Count: 1, Begin: 1, End: 9},
		{Method: 3, Parent: 0, Next: 5, Count: 1, Begin: 10, End: 80},
		{Method: 4, Parent: 2, Next: 5, Count: 1, Begin: 11, End: 70},
		{Method: 5, Parent: 3, Next: 5, Count: 1, Begin: 12, End: 60},
		{Method: 6, Parent: 0, Next: 6, Count: 1, Begin: 85, End: 90},
	}, Samples: []Sample{
		{Call: 1, Weight: 5},
		{Call: 4, Weight: 6, Between: []Between{{2, []Method{20}}, {4, []Method{21}}}},
		{Call: 5, Weight: 7},
	}}
	want := Segment{Kind: SegmentRequest, End: 90, Calls: []Call{
		{Method: 3, Parent: -1, Next: 3, Count: 1, Begin: 10, End: 80},
		{Method: 4, Parent: 0, Next: 3, Count: 1, Begin: 11, End: 70},
		{Method: 5, Parent: 1, Next: 3, Count: 1, Begin: 12, End: 60},
	}, Samples: []Sample{{Call: 2, Weight: 6, Between: []Between{{0, []Method{20}}, {2, []Method{21}}}}}}
	before := cmp.Diff(Segment{}, *whole)
	if diff := cmp.Diff(want, whole.Part(2)); diff != "" {
		t.Errorf("the part: %s", diff)
	}
	if diff := cmp.Diff(want, whole.Body()); diff != "" {
		t.Errorf("the message: %s", diff)
	}
	if cmp.Diff(Segment{}, *whole) != before {
		t.Errorf("the segment has changed: %+v", whole)
	}
}
