package analysis

import (
	"strings"
)

// Place says in words where the app was when the stall began; it is empty if that is not known.
func (s *Stall) Place() string { return strings.TrimPrefix(s.where(), "; ") }

// Repaired lists in words what was repaired in the calls of the stall; it is empty if nothing was.
func (s *Stall) Repaired() string { return repairsText(s.Repairs) }
