package analysis

import (
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
)

// MachineState is what was known of processor, memory, disk and input and output at a moment of a stall.
type MachineState struct {
	// After is how long after the begin of the stall.
	After time.Duration `json:"afterNanos"`
	// Facts are numbers or words by the keys of trace/EVIDENCE.md; others may be added.
	Facts []IncidentFact `json:"facts"`
}

// setMachine takes over the states of the machine.
func (s *Stall) setMachine(from *evidence.Stall) {
	for _, m := range from.Machine {
		s.Machine = append(s.Machine, MachineState{time.Duration(m.Nanos - from.Report.Begin), printableFacts(m.Facts)})
	}
}

// String lists the facts.
func (m *MachineState) String() string {
	var parts []string
	for _, f := range m.Facts {
		parts = append(parts, f.Key+" "+f.Value)
	}
	return strings.Join(parts, ", ")
}
