package fleet

import "github.com/tracegen/tracegen/internal/analysis"

// setKind makes the key of a run of an IdleHandler or an input event one of its own kind: it is another trouble than a
// message with the same hot path.
func (c *Stall) setKind(s *analysis.Stall) {
	if s.Kind != analysis.StallMessage {
		c.Key, c.Verdict = string(s.Kind)+":"+c.Key, string(s.Kind)+", "+c.Verdict
	}
}

// NewIncidents makes stalls of the incidents of a recording that has been read to its end. Those that a stall covers
// are left out, and those that are figures.
func NewIncidents(r *analysis.Recording) []Stall {
	var all []Stall
	for _, i := range r.Incidents {
		if !i.Trouble() {
			continue
		}
		all = append(all, NewIncident(i, r))
	}
	return all
}
