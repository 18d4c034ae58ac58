package group

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// sampled returns the units of some segments, and what is known of each method.
func sampled(t *testing.T, unit Unit, segments ...*trace.Segment) []string {
	t.Helper()
	m, err := mapping.Parse("m", "17,1,a.A one ()V\n18,1,a.A two ()V\n19,1,a.A three ()V\n")
	if err != nil {
		t.Fatal(err)
	}
	s := &Sample{Unit: unit}
	r := &analysis.Recording{Names: resolve.NewNames(m, nil)}
	h, err := s.Add(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range segments {
		if err := h.Segment(segment); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.End(r); err != nil {
		t.Fatal(err)
	}
	lines := []string{fmt.Sprint(s.Units, " units")}
	for _, key := range slices.Sorted(maps.Keys(s.methods)) {
		of := s.methods[key]
		lines = append(lines, fmt.Sprintf("%q: %d calls, self %v, total %v", key, of.calls, of.self, of.total))
	}
	return lines
}

// TestSampleOfParts has a long message as a whole, and as a reader hands it on in parts, between two messages: its
// calls are counted once, and it is one unit.
func TestSampleOfParts(t *testing.T) {
	call := func(id trace.Method, parent, next int32, begin, end int64, marks trace.Marks) trace.Call {
		return trace.Call{Method: id, Parent: parent, Next: next, Count: 1, Begin: begin, End: end, Marks: marks}
	}
	message := func(calls ...trace.Call) *trace.Segment {
		return &trace.Segment{Kind: trace.SegmentMessage, Begin: calls[0].Begin, End: calls[0].End, Calls: calls}
	}
	const ends, begun = trace.MarkSuspended, trace.MarkResumed
	before, behind := message(call(17, -1, 1, 0, 7, 0)), message(call(17, -1, 1, 200, 205, 0))
	// one 10-100 (two 10-60 (three 20-50), two 70-90): the parts end in three, and in the second two.
	whole := message(call(17, -1, 4, 10, 100, 0), call(18, 0, 3, 10, 60, 0), call(19, 1, 3, 20, 50, 0),
		call(18, 0, 4, 70, 90, 0))
	parts := []*trace.Segment{
		message(call(17, -1, 3, 10, 30, ends), call(18, 0, 3, 10, 30, ends), call(19, 1, 3, 20, 30, ends)),
		message(call(17, -1, 4, 30, 80, begun|ends), call(18, 0, 3, 30, 60, begun), call(19, 1, 3, 30, 50, begun),
			call(18, 0, 4, 70, 80, ends)),
		message(call(17, -1, 2, 80, 100, begun), call(18, 0, 2, 80, 90, begun)),
	}
	for unit, units := range map[Unit]string{UnitMessage: "3 units", UnitRecording: "1 units"} {
		want := sampled(t, unit, before, whole, behind)
		got := sampled(t, unit, slices.Concat([]*trace.Segment{before}, parts, []*trace.Segment{behind})...)
		if diff := gocmp.Diff(want, got); diff != "" || want[0] != units || len(want) != 4 {
			t.Errorf("%s: %s, want %s, of %d methods; in parts (+):\n%s", unit, want[0], units, len(want)-1, diff)
		}
	}
}
