package analysis

import (
	"time"

	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Poster is the method that posted a message.
type Poster struct {
	// Method is its name.
	Method resolve.Method `json:"method"`
	// Before is how long before the begin of the message it posted it, -1 if not known: it may have posted it more than
	// once.
	Before time.Duration `json:"beforeNanos"`
}

// posterOf returns the method that posted the message of a stall, nil if that is not known.
func posterOf(s *trace.StallChunk, names *resolve.Names) *Poster {
	if s.PostedBy == 0 || s.PostedBy > contract.LastMethodID {
		return nil
	}
	p := &Poster{Method: names.Method(s.PostedBy), Before: -1}
	if s.Posted != 0 && s.Posted <= s.Begin {
		p.Before = time.Duration(s.Begin - s.Posted)
	}
	return p
}

// String says which method it was, and when.
func (p *Poster) String() string {
	if p.Before < 0 {
		return p.Method.Title()
	}
	return p.Method.Title() + ", " + units.Millis(p.Before) + " before it began"
}
