package analysis

import "github.com/tracegen/tracegen/trace"

// IsText reports whether the recording is a text with reports of other tools.
func (r *Recording) IsText() bool { return r.Meta["source"] != "" }

// HasIDs reports whether methods have IDs, so that names depend on a mapping. Stacks have names.
func (r *Recording) HasIDs() bool { return r.Meta["source"] != "stacks" }

// originOf returns the origin that a recording with this first clock has. In a text nothing has ticks, and the clock
// stands where the first report begins.
func (r *Recording) originOf(c *trace.Clock) int64 {
	if r.IsText() {
		return c.NanoTime
	}
	return c.BaseNanos
}

// timeOf returns when what a chunk is about began; timed is false if it is about no time.
func timeOf(c trace.Chunk) (nanos int64, timed bool) {
	switch c := c.(type) {
	case *trace.Messages:
		if len(c.List) > 0 {
			return c.List[0].Begin, true
		}
	case *trace.StackSample:
		return c.Nanos, true
	case *trace.Frames:
		if len(c.List) > 0 {
			return c.List[0].Start, true
		}
	case *trace.StallChunk:
		return c.Begin, true
	case *trace.Incident:
		return c.Begin, true
	}
	return 0, false
}

// fix sets the origin of times, unless it is set: to the first clock, or, in a recording that has lost it, to the first
// time that there is.
func (r *Recording) fix(origin int64) {
	if !r.fixed {
		r.origin, r.fixed = origin, true
	}
}
