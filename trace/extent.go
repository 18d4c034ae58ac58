package trace

import (
	"errors"
	"io"
	"time"
)

// Extent is how long a recording is, as far as its chunks show without a replay.
type Extent struct {
	// Span is the time from the first clock to the last chunk that has a time; 0 if that is not known.
	Span time.Duration
	// Precision is [Meta.Precision].
	Precision time.Duration
}

// ReadExtent reads a recording to its end. An error is in's.
func ReadExtent(in Chunks) (Extent, error) {
	meta, clock, last := &Meta{}, (*Clock)(nil), int64(0)
	for {
		c, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Extent{}, err
		}
		switch c := c.(type) {
		case *Meta:
			meta = c
		case *Clock:
			if clock == nil {
				clock, last = c, c.NanoTime
			}
			last = max(last, c.NanoTime)
		case *StackSample:
			last = max(last, c.Nanos)
		case *Alive:
			last = max(last, c.Nanos)
		case *Messages:
			for _, m := range c.List {
				last = max(last, m.Begin)
			}
		case *Frames:
			for _, f := range c.List {
				last = max(last, f.End)
			}
		case *Records:
			if tick, ok := meta.Tick(); ok && len(c.List) > 0 && clock != nil {
				last = max(last, clock.BaseNanos+c.List[len(c.List)-1].Ticks()*tick.Nanoseconds())
			}
		}
	}
	out := Extent{Precision: meta.Precision()}
	if clock != nil {
		out.Span = time.Duration(min(max(last-clock.NanoTime, 0), longest))
	}
	return out, nil
}
