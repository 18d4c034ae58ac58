package analysis

import (
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// Folded reports whether m stands for short calls of several methods, see [View.Resolution].
func Folded(m trace.Method) bool { return m >= firstFolded && m < trace.MethodSuspended }

// Place says in words where the app was when the stall began; it is empty if that is not known.
func (s *Stall) Place() string { return strings.TrimPrefix(s.where(), "; ") }

// Repaired lists in words what was repaired in the calls of the stall; it is empty if nothing was.
func (s *Stall) Repaired() string { return repairsText(s.Repairs) }
