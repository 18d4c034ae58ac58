package analysis

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Suspension is a time in a stall in which the process did not run.
type Suspension struct {
	// After is how long after the stall's begin it began, Nanos how long it lasted.
	After time.Duration `json:"afterNanos"`
	Nanos time.Duration `json:"nanos"`
	// Cause is "frozen" if the process was frozen or stopped, "asleep" if the device slept, "debugger" if one was
	// attached, or "unknown".
	Cause string `json:"cause"`
}

// suspensionCauses has the causes, by name and with what the text of a verdict says of them.
var suspensionCauses = map[trace.SuspensionCause]struct{ name, text string }{
	trace.SuspendedFrozen:   {"frozen", "the process was suspended for"},
	trace.SuspendedAsleep:   {"asleep", "the device slept for"},
	trace.SuspendedDebugger: {"debugger", "a debugger was attached for"},
}

// interrupt takes over when the process did not run, and when the clock was late.
func (s *Stall) interrupt(from *evidence.Stall) {
	s.stopped = from.Suspended
	s.Ran = time.Duration(from.Ran())
	s.Suspended = s.Wall - s.Ran
	for _, t := range from.Suspended {
		cause := cmp.Or(suspensionCauses[t.Cause].name, "unknown")
		s.Suspensions = append(s.Suspensions, Suspension{time.Duration(t.Begin - s.begin),
			time.Duration(t.End - t.Begin), cause})
	}
	s.Precision = s.Recording.Precision
	for _, l := range from.Late {
		s.Precision = max(s.Precision, time.Duration(l.End-l.Begin))
	}
}

// suspendedText says how much of the stall the process did not run, and why; it is empty if it ran all the time.
func (s *Stall) suspendedText() string {
	if s.Suspended <= 0 {
		return ""
	}
	sums := map[string]time.Duration{}
	var order []string
	for _, t := range s.stopped {
		text := cmp.Or(suspensionCauses[t.Cause].text, "the process did not run for")
		if sums[text] == 0 {
			order = append(order, text)
		}
		sums[text] += time.Duration(t.End - t.Begin)
	}
	var parts []string
	for _, text := range order {
		parts = append(parts, text+" "+units.Tenths(sums[text], s.Wall))
	}
	return fmt.Sprintf("of %s %s", units.Tenths(s.Wall, s.Wall), strings.Join(parts, ", "))
}

// running returns the stall as if the process had not stopped: its duration and the times of its samples are without
// the times in which it did not run, as those of its calls are.
func (s *Stall) running() *Stall {
	if s.Suspended <= 0 {
		return s
	}
	out := *s
	out.Wall = s.Ran
	out.Samples = append([]StackSample(nil), s.Samples...)
	for i := range out.Samples {
		after := &out.Samples[i].After
		*after -= time.Duration(trace.Sum(s.stopped, s.begin, s.begin+after.Nanoseconds()))
	}
	return &out
}

// Exactness says in words how exact the times of the stall's calls are.
func (s *Stall) Exactness() string {
	text := "± " + units.Millis(s.Precision)
	if s.Precision > s.Recording.Precision {
		text += ": the clock was late"
	}
	return text
}
