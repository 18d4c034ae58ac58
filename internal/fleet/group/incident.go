package group

import (
	"fmt"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// setKind makes the key of a run of an IdleHandler or an input event one of its own kind: it is another trouble than a
// message with the same hot path.
func (c *Stall) setKind(s *analysis.Stall) {
	if s.Kind != analysis.StallMessage {
		c.Key, c.Verdict = string(s.Kind)+":"+c.Key, string(s.Kind)+", "+c.Verdict
	}
}

// NewIncidents makes stalls of the incidents of a recording that has been read to its end. [Stall.NotCounted] says
// which do not count.
func NewIncidents(r *analysis.Recording) []Stall {
	var all []Stall
	for _, i := range r.Incidents {
		c := Stall{
			Recording: r.Name, Number: int(i.Number), Incident: i.Kind, ReportKind: i.Kind,
			App: r.Meta["package"], Version: buildOf(r).version, Code: buildOf(r).code, Device: r.Meta["device"],
			User: userOfMeta(r.Meta), Wall: i.Lasted().Nanoseconds(), CPU: -1,
			Kind: analysis.KindUnknown, Verdict: i.Kind + ", " + i.Text, Title: i.Title(r), Scene: i.Scene,
			Detector: i.Detector, NotCounted: i.NotCounted(), Lasted: i.Lasted().Nanoseconds(),
		}
		if i.Thread != nil {
			c.Thread = i.Thread.Name
		}
		c.setIncidentKey(i)
		if id := r.Meta["recordingId"]; id != "" {
			// As the report that the device sends of it.
			c.ReportID = fmt.Sprintf("%s-i%d", id, i.Number)
		}
		if !i.Time.IsZero() {
			c.Time = i.Time.UnixMilli()
		}
		all = append(all, c)
	}
	return all
}

// place says which stall or incident of which recording it is.
func (c *Stall) place() string {
	if c.Incident != "" {
		return fmt.Sprintf("%s i%d", c.Recording, c.Number)
	}
	return fmt.Sprintf("%s #%d", c.Recording, c.Number)
}
