package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"time"

	"github.com/tracegen/tracegen/internal/userfile"
)

// Extent is how long a recording is, as far as its chunks show without a replay.
type Extent struct {
	// Span is the time from the first clock to the last chunk that has a time; 0 if that is not known.
	Span time.Duration
	// Precision is [Meta.Precision].
	Precision time.Duration
}

// lastRecords is how many chunks of records, the last ones, are decoded: the last one may be of a thread that did
// nothing for long.
const lastRecords = 8

// ReadExtent reads a recording to its end, and decodes only chunks with a time. It is many times as fast as [Replay]. A
// report of another tool has no extent. An error is in's.
func ReadExtent(in io.Reader) (Extent, error) {
	b := bufio.NewReaderSize(in, readStep)
	if head, err := b.Peek(2); err == nil && userfile.IsCompressed(head) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return Extent{}, nil // the error is reported when the recording is read
		}
		b = bufio.NewReaderSize(z, readStep)
	}
	r, err := NewReader(b)
	if errors.Is(err, ErrFormat) {
		return Extent{}, nil
	}
	if err != nil {
		return Extent{}, err
	}
	e := extent{}
	for {
		kind, flags, body, err := r.frame()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Extent{}, err
		}
		switch kind {
		case typeRecords:
			last := &e.records[e.chunks%lastRecords]
			*last = undecoded{kind, flags, append(last.body[:0], body...)}
			e.chunks++
		case typeMeta, typeClock, typeSamples, typeAlive, typeMessages, typeFrames, typeStrings:
			e.add(r.decode(kind, flags, body))
		}
	}
	for _, c := range e.records {
		if c.kind == typeRecords {
			e.add(r.decode(c.kind, c.flags, bytes.Clone(c.body)))
		}
	}
	return e.result(), nil
}

// undecoded is a chunk.
type undecoded struct {
	kind, flags uint16
	body        []byte
}

// extent has the facts that are known of a recording while it is read.
type extent struct {
	meta    *Meta
	clock   *Clock
	last    int64
	records [lastRecords]undecoded
	chunks  int
}

func (e *extent) add(c Chunk) {
	switch c := c.(type) {
	case *Meta:
		if e.meta == nil {
			e.meta = c
		}
	case *Clock:
		if e.clock == nil {
			e.clock, e.last = c, c.NanoTime
		}
		e.last = max(e.last, c.NanoTime)
	case *StackSample:
		e.last = max(e.last, c.Nanos)
	case *Alive:
		e.last = max(e.last, c.Nanos)
	case *Messages:
		for _, m := range c.List {
			e.last = max(e.last, m.Begin)
		}
	case *Frames:
		for _, f := range c.List {
			e.last = max(e.last, f.End)
		}
	case *Records:
		if n := len(c.List); n > 0 && e.meta != nil && e.clock != nil {
			if tick, ok := e.meta.Tick(); ok {
				e.last = max(e.last, e.clock.BaseNanos+c.List[n-1].Ticks()*tick.Nanoseconds())
			}
		}
	}
}

func (e *extent) result() Extent {
	meta := e.meta
	if meta == nil {
		meta = &Meta{}
	}
	out := Extent{Precision: meta.Precision()}
	if e.clock != nil {
		out.Span = time.Duration(min(max(e.last-e.clock.NanoTime, 0), longest))
	}
	return out
}
