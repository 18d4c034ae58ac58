package trace

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
)

// Handler is told what is in a recording, in the order of the file.
type Handler interface {
	// Chunk gets every chunk but [*Records], [*Meta] first.
	Chunk(Chunk) error
	// Named introduces a method that has a name and no ID, before the first stretch that it is in.
	Named(m Method, name string) error
	// Stretch gets a part of what a thread did, once it is over. Those of one thread come in the order of time,
	// those of several mixed. The stretch and its calls are good until Stretch returns.
	Stretch(*Stretch) error
}

// Replay reads a recording to its end and gives h what was called. An error is the source's or h's.
func Replay(r *Reader, h Handler) error {
	p := replay{h: h, threads: map[uint32]*replayed{}, tick: 1_000_000}
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return p.finish()
		}
		if err != nil {
			return err
		}
		switch c := c.(type) {
		case *Records:
			err = p.records(c)
		case *Meta:
			if n, e := strconv.ParseInt(c.Values["tickNanos"], 10, 64); e == nil && n > 0 {
				p.tick = n
			}
			err = h.Chunk(c)
		case *Clock:
			p.base = c.BaseNanos
			err = h.Chunk(c)
		default:
			err = h.Chunk(c)
		}
		if err != nil {
			return err
		}
	}
}

// replay is a recording that is being replayed.
type replay struct {
	h          Handler
	tick, base int64
	threads    map[uint32]*replayed
}

// replayed is what one thread is doing.
type replayed struct {
	stretch Stretch
	open    []int32 // indices of the calls that have not returned, the outermost first
	last    int64   // the latest time
	next    uint64  // the number of the next record
}

// maxCalls is how many calls a stretch has at most before it is handed on in parts.
const maxCalls = 1 << 18

func (p *replay) records(c *Records) error {
	t := p.threads[c.Thread]
	if t == nil {
		t = &replayed{next: c.First}
		t.stretch.Thread = c.Thread
		p.threads[c.Thread] = t
	}
	if c.First != t.next {
		t.stretch.Repairs.Gaps++
		t.stretch.Repairs.Lost += c.First - t.next
	}
	for i, rec := range c.List {
		at := p.base + rec.Ticks()*p.tick
		if at < t.last {
			t.stretch.Repairs.Retimed++
			at = t.last
		}
		t.last = at
		t.next = c.First + uint64(i) + 1
		if rec.Entry() {
			if len(t.stretch.Calls) == maxCalls {
				if err := p.suspend(t); err != nil {
					return err
				}
			}
			t.enter(Method(rec.ID()), at)
		} else {
			t.leave(Method(rec.ID()), at)
		}
		if len(t.open) == 0 && len(t.stretch.Calls) > 0 {
			if err := p.emit(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *replayed) enter(m Method, at int64) {
	s := &t.stretch
	parent := int32(-1)
	if n := len(t.open); n > 0 {
		parent = t.open[n-1]
	} else {
		s.Begin, s.FirstRecord, s.Kind = at, t.next-1, StretchOutermost
		if m == MethodDispatch {
			s.Kind = StretchMessage
		}
	}
	t.open = append(t.open, int32(len(s.Calls)))
	s.Calls = append(s.Calls, Call{Method: m, Parent: parent, Count: 1, Begin: at})
}

func (t *replayed) leave(m Method, at int64) {
	s := &t.stretch
	k := len(t.open) - 1
	for k >= 0 && s.Calls[t.open[k]].Method != m {
		k--
	}
	if k < 0 {
		s.Repairs.Stray++
		return
	}
	for len(t.open) > k+1 {
		t.close(at, MarkUnwound)
		s.Repairs.Unwound++
	}
	t.close(at, 0)
}

// close ends the innermost call.
func (t *replayed) close(at int64, marks Marks) {
	c := &t.stretch.Calls[t.open[len(t.open)-1]]
	c.End, c.Next = at, int32(len(t.stretch.Calls))
	c.Marks |= marks
	t.open = t.open[:len(t.open)-1]
}

// emit hands a stretch on that is over.
func (p *replay) emit(t *replayed) error {
	s := &t.stretch
	s.End, s.EndRecord = t.last, t.next
	err := p.h.Stretch(s)
	*s = Stretch{Thread: s.Thread, Calls: s.Calls[:0]}
	return err
}

// suspend hands on what is there of a stretch that goes on.
func (p *replay) suspend(t *replayed) error {
	open := slices.Clone(t.open)
	kind := t.stretch.Kind
	methods := make([]Method, len(open))
	for i, k := range open {
		methods[i] = t.stretch.Calls[k].Method
	}
	for len(t.open) > 0 {
		t.close(t.last, MarkSuspended)
	}
	if err := p.emit(t); err != nil {
		return err
	}
	for _, m := range methods {
		t.enter(m, t.last)
		t.stretch.Calls[len(t.stretch.Calls)-1].Marks = MarkResumed
	}
	t.stretch.Kind = kind
	return nil
}

// finish hands on what had not returned when the records end.
func (p *replay) finish() error {
	for _, k := range slices.Sorted(maps.Keys(p.threads)) {
		t := p.threads[k]
		if len(t.open) == 0 {
			continue
		}
		for len(t.open) > 0 {
			t.close(t.last, MarkOpen)
			t.stretch.Repairs.Open++
		}
		if err := p.emit(t); err != nil {
			return err
		}
	}
	return nil
}
