package analysis

import "time"

// NotCounted is why a stall or an incident does not count in figures about many recordings and reports. It is empty if
// it counts.
type NotCounted string

// The reasons not to count a stall or an incident. [occurrence.NotCounted] returns the first one that applies.
const (
	// NotCountedFigures: the incident has figures, and is no trouble.
	NotCountedFigures NotCounted = "figures"
	// NotCountedNormal: the start was not slow.
	NotCountedNormal NotCounted = "normal"
	// NotCountedSuspended: without the time in which the process did not run, it lasted less than the threshold.
	NotCountedSuspended NotCounted = "suspended"
	// NotCountedClock: only calls show how long it lasted, and the clock of records was so late that it may have
	// lasted less than the threshold.
	NotCountedClock NotCounted = "clock"
	// NotCountedUnknown: how long it lasted is not known.
	NotCountedUnknown NotCounted = "unknown"
	// NotCountedRun and NotCountedIdle: it is no stall, but a run of the program or a wait for work, see [Role].
	NotCountedRun  NotCounted = "run"
	NotCountedIdle NotCounted = "idle"
	// NotCountedCovered: a stall that counts covers the incident, see [Covers].
	NotCountedCovered NotCounted = "covered"
)

// occurrence is what decides whether a stall or an incident counts. It is made of a recording or of a report, so that
// both are counted by one rule.
type occurrence struct {
	// Incident is the kind of an incident; empty for a stall.
	Incident string
	// Role is what a stall is in the program.
	Role Role
	// Slow is the fact "slow" of a start.
	Slow string
	// Lasted is how long it lasted, Ran is that without the time in which the process did not run. Threshold is how long
	// a stall lasts at least, 0 if that is not known.
	Lasted, Ran, Threshold time.Duration
	// Error is by how much Ran may be too large because the clock of records was late.
	Error time.Duration
	// Covered is set if a stall that counts covers the incident.
	Covered bool
}

// NotCounted returns why a stall or an incident does not count; empty if it counts.
func (o occurrence) NotCounted() NotCounted {
	switch o.Incident {
	case IncidentSceneFrames, incidentSigquit:
		return NotCountedFigures
	case IncidentStartup:
		if o.Slow != "true" {
			return NotCountedNormal
		}
	}
	switch {
	case o.Role == RoleRun:
		return NotCountedRun
	case o.Role == RoleIdle:
		return NotCountedIdle
	case o.Ran < o.Lasted && o.Ran < max(o.Threshold, 1):
		return NotCountedSuspended
	case o.Error > 0 && o.Ran-o.Error < o.Threshold:
		return NotCountedClock
	case o.Covered:
		return NotCountedCovered
	}
	return ""
}

// Covers reports whether a stall covers an incident of its thread: half of the incident or more lies in the stall.
// Times are in nanoseconds of one clock.
func Covers(stallBegin, stallEnd, begin, end int64) bool {
	common := min(stallEnd, end) - max(stallBegin, begin)
	return common >= 0 && common*2 >= end-begin
}

// NotCounted returns why the stall does not count; empty if it counts. If records are lost, it counts nevertheless: the
// length of a stall that the device reported is exact, and replay ends calls at a gap, so that a stall that only calls
// show is not too long.
func (s *Stall) NotCounted() NotCounted {
	if s.WallUnknown {
		return NotCountedUnknown
	}
	o := occurrence{Role: s.Role, Lasted: s.Wall, Ran: s.Ran, Threshold: s.Threshold}
	if !s.Reported && s.Ended && s.Precision > s.Recording.Precision {
		o.Error = s.Precision
	}
	return o.NotCounted()
}

// NotCounted returns why the incident does not count; empty if it counts.
func (i *Incident) NotCounted() NotCounted {
	lasted := i.Lasted()
	return occurrence{Incident: i.Kind, Slow: i.Fact("slow"), Lasted: lasted, Ran: lasted,
		Covered: i.inCounted}.NotCounted()
}
