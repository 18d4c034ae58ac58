package analysis

import (
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// maxEarly is how many chunks wait until the origin is known.
const maxEarly = 1 << 10

// IsText reports whether the recording is a text with reports of other tools.
func (r *Recording) IsText() bool { return r.Meta["source"] != "" }

// originOf returns the origin that a recording with this first clock has. In a text nothing has ticks, and the clock
// stands where the first report begins.
func (r *Recording) originOf(c *trace.Clock) int64 {
	if r.IsText() {
		return c.NanoTime
	}
	return c.BaseNanos
}

// waits reports whether a chunk must wait until the origin is known: it has times, or belongs to one that has.
func waits(c trace.Chunk) bool {
	switch c.(type) {
	case *trace.Meta, *trace.Clock, *trace.Threads, *trace.End:
		return false
	}
	return true
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

// fix sets the origin of times, unless it is set, and hands on what has waited for it.
func (a *analyzer) fix(origin int64) error {
	if a.recording.fixed {
		return nil
	}
	a.recording.origin, a.recording.fixed = origin, true
	early := a.early
	a.early = nil
	for _, c := range early {
		if err := a.handOn(c); err != nil {
			return err
		}
	}
	return nil
}

// fixEarliest sets the origin to the earliest of the times that wait, because the recording has lost its first clock.
func (a *analyzer) fixEarliest(more ...int64) error {
	for _, c := range a.early {
		if at, timed := timeOf(c); timed {
			more = append(more, at)
		}
	}
	if len(more) == 0 {
		return a.fix(0)
	}
	return a.fix(slices.Min(more))
}
