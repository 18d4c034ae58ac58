package analysis

import (
	"fmt"
	"time"

	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// MissingText says what is missing and how much time that is: "part 2 of 4 is missing: 31 s are not recorded".
func (r *Recording) MissingText(m trace.MissingParts) string {
	text, verb := m.Range(), "is"
	if m.To > m.From {
		verb = "are"
	}
	switch {
	case m.To == 0:
		return text + " is missing, which comes after the last one that was found: how the recording ends is not known"
	case m.Deleted:
		text += " " + verb + " deleted, because the recording had more files than its limit"
	default:
		text += fmt.Sprintf(" of %d %s missing", r.lastPart(), verb)
	}
	return fmt.Sprintf("%s: %s not recorded", text, units.Seconds(time.Duration(m.End-m.Begin)))
}

// lastPart returns the number of the last part that is known of.
func (r *Recording) lastPart() int {
	last, missing := r.Parts, 0
	for _, m := range r.Missing {
		if m.To == 0 {
			return m.From
		}
		missing += m.To - m.From + 1
	}
	return last + missing
}
