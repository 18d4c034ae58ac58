package analysis

import (
	"testing"
	"time"
)

// TestNotCounted has an occurrence for each reason, and the nearest one that counts.
func TestNotCounted(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		of   occurrence
		want NotCounted
	}{
		{occurrence{}, ""},
		{occurrence{Lasted: s, Ran: s, Threshold: s}, ""},
		{occurrence{Lasted: s, Ran: s, Threshold: 2 * s}, ""}, // an incident, or a stall of another threshold
		{occurrence{Lasted: 3 * s, Ran: s, Threshold: s}, ""},
		{occurrence{Lasted: 3 * s, Ran: s - 1, Threshold: s}, NotCountedSuspended},
		{occurrence{Lasted: 3 * s, Ran: 1}, ""},
		{occurrence{Lasted: 3 * s}, NotCountedSuspended},
		{occurrence{Incident: "hold", Lasted: 3 * s}, NotCountedSuspended},
		{occurrence{Lasted: 3 * s, Ran: 3 * s, Threshold: s, Error: 2 * s}, ""},
		{occurrence{Lasted: 3 * s, Ran: 3 * s, Threshold: s, Error: 2*s + 1}, NotCountedClock},
		{occurrence{Role: RoleStall, Lasted: s, Ran: s, Threshold: s}, ""},
		{occurrence{Role: RoleRun, Lasted: s, Ran: s, Threshold: s}, NotCountedRun},
		{occurrence{Role: RoleIdle, Lasted: s, Ran: s, Threshold: s}, NotCountedIdle},
		{occurrence{Incident: "hold", Covered: true}, NotCountedCovered},
		{occurrence{Incident: "hold"}, ""},
		{occurrence{Incident: "scene-frames"}, NotCountedFigures},
		{occurrence{Incident: "sigquit"}, NotCountedFigures},
		{occurrence{Incident: "startup", Slow: "false"}, NotCountedNormal},
		{occurrence{Incident: "startup"}, NotCountedNormal},
		{occurrence{Incident: "startup", Slow: "true"}, ""},
		{occurrence{Incident: "startup", Slow: "true", Covered: true}, NotCountedCovered},
	} {
		if got := c.of.NotCounted(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
}

// TestCovers has stalls that overlap an incident from 100 to 200 by half and by less.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		begin, end int64
		want       bool
	}{{0, 300, true}, {0, 150, true}, {0, 149, false}, {150, 400, true}, {151, 400, false}, {120, 170, true},
		{200, 300, false}, {300, 400, false}, {0, 50, false}} {
		if Covers(c.begin, c.end, 100, 200) != c.want {
			t.Errorf("%d to %d: %v", c.begin, c.end, !c.want)
		}
	}
	if !Covers(100, 200, 100, 100) || !Covers(100, 200, 200, 200) || Covers(100, 200, 99, 99) {
		t.Error("an incident without a length")
	}
}
