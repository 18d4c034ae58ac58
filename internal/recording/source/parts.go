package source

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// Part is a part of a recording that can be opened.
type Part struct {
	trace.PartInfo
	// Open opens the file. It is called once.
	Open func() (*Source, error)
}

// NewParts returns a source that reads parts of one recording, one after the other, as if they were one file. The parts
// are put in order. Where parts are missing, there is a [*trace.MissingParts]. Of what is said in each part, what
// repeats an earlier part is left out: the second [*trace.Meta] and so on, and threads. There is one [*trace.End], with
// the sums of all parts, if the last part has one.
func NewParts(parts []Part) *Source {
	p := &partsReader{parts: slices.Clone(parts), threads: map[uint32]bool{}}
	slices.SortStableFunc(p.parts, func(a, b Part) int { return cmp.Compare(a.Number, b.Number) })
	for _, part := range p.parts {
		p.first = max(p.first, part.First)
	}
	return &Source{parts: p}
}

// partsReader reads the chunks of all parts.
type partsReader struct {
	parts   []Part
	next    int // the index in parts of the one that is opened next
	first   int // the number of the first part that was not deleted
	now     *Source
	number  int // of the part that is read, 0 before the first
	meta    bool
	threads map[uint32]bool
	clock   *trace.Clock
	tick    int64
	last    int64 // the last time that was read
	missing *trace.MissingParts
	queue   []trace.Chunk
	end     *trace.End
	sum     trace.End
	damage  trace.Damage
}

// Damage returns the sum of all parts that were read.
func (p *partsReader) Damage() trace.Damage { return p.damage }

// Next returns the next chunk, and [io.EOF] behind the last one of the last part.
func (p *partsReader) Next() (trace.Chunk, error) {
	for {
		if len(p.queue) > 0 {
			c := p.queue[0]
			p.queue = p.queue[1:]
			return c, nil
		}
		if p.now == nil {
			if err := p.open(); err != nil {
				return nil, err
			}
			continue
		}
		c, err := p.now.reader.Next()
		if errors.Is(err, io.EOF) {
			p.close()
			continue
		}
		if err != nil {
			return nil, err
		}
		p.take(c)
	}
}

// open opens the next part. Behind the last one it returns [io.EOF], after the chunks about the end.
func (p *partsReader) open() error {
	if p.next > len(p.parts) || len(p.parts) == 0 {
		return io.EOF
	}
	p.next++
	if p.next > len(p.parts) {
		if p.end != nil && p.end.More {
			p.queue = append(p.queue, &trace.MissingParts{From: p.number + 1, Begin: p.last, End: p.last})
		}
		if p.end != nil {
			p.sum.More = p.end.More
			p.queue = append(p.queue, &p.sum)
		}
		return nil
	}
	part := p.parts[p.next-1]
	s, err := part.Open()
	if err != nil {
		return err
	}
	if s.reader == nil {
		s.Close()
		return trace.ErrFormat
	}
	if part.Number > p.number+1 {
		p.missing = &trace.MissingParts{From: p.number + 1, To: part.Number - 1, Begin: p.last,
			Deleted: part.Number <= p.first}
	}
	p.now, p.number, p.end = s, part.Number, nil
	return nil
}

// close ends a part.
func (p *partsReader) close() {
	d := p.now.Damage()
	p.damage.LostChunks += d.LostChunks
	p.damage.Malformed += d.Malformed
	p.damage.SkippedBytes += d.SkippedBytes
	p.damage.Unknown += d.Unknown
	p.damage.Header = p.damage.Header || d.Header
	p.damage.Closed = d.Closed
	p.now.Close()
	p.now = nil
}

// take queues a chunk, unless an earlier part has said the same.
func (p *partsReader) take(c trace.Chunk) {
	switch c := c.(type) {
	case *trace.Meta:
		if tick, ok := c.Tick(); ok {
			p.tick = tick.Nanoseconds()
		}
		if p.meta {
			return
		}
		p.meta = true
	case *trace.Clock:
		if p.missing != nil {
			p.missing.End = c.NanoTime
			if p.clock == nil {
				p.missing.Begin = c.BaseNanos
			}
			p.missing.Begin = min(p.missing.Begin, p.missing.End)
			p.queue, p.missing = append(p.queue, p.missing), nil
		}
		p.clock = c
	case *trace.Threads:
		list := slices.DeleteFunc(slices.Clone(c.List), func(t trace.Thread) bool { return p.threads[t.Index] })
		for _, t := range list {
			p.threads[t.Index] = true
		}
		if len(list) == 0 {
			return
		}
		p.queue = append(p.queue, &trace.Threads{List: list})
		return
	case *trace.End:
		p.end = c
		p.sum.Chunks += c.Chunks
		p.sum.Records += c.Records
		p.sum.Overwritten += c.Overwritten
		return
	}
	p.see(c)
	p.queue = append(p.queue, c)
}

// see notes the time of a chunk, if it has one.
func (p *partsReader) see(c trace.Chunk) {
	at := p.last
	switch c := c.(type) {
	case *trace.Clock:
		at = c.NanoTime
	case *trace.Alive:
		at = c.Nanos
	case *trace.LeftOut:
		at = c.Nanos
	case *trace.LetGo:
		at = c.Nanos
	case *trace.Window:
		at = c.End
	case *trace.StackSample:
		at = c.Nanos
	case *trace.Suspended:
		for _, t := range c.List {
			at = max(at, t.End)
		}
	case *trace.StallChunk:
		at = c.Begin + int64(c.Wall)
	case *trace.Records:
		if n := len(c.List); n > 0 && p.clock != nil {
			at = p.clock.BaseNanos + c.List[n-1].Ticks()*p.tick
		}
	}
	if p.clock == nil || at > p.last {
		p.last = at
	}
}
