package trace

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Handler is told what is in a recording, in the order of the file.
type Handler interface {
	// Chunk gets every chunk but [*Records], [*Meta] first.
	Chunk(Chunk) error
	// Named introduces a method that has a name and no ID, before the first segment that it is in.
	Named(m Method, name string) error
	// Segment gets a part of what a thread did, once it is over. Those of one thread come in the order of time,
	// those of several mixed. One may come after chunks that stand behind its records, but before the [*StallChunk] that
	// is about it. The segment and its calls are good until Segment returns.
	Segment(*Segment) error
}

const (
	// maxCalls is how many calls a segment has at most before it is handed on in parts.
	maxCalls = 1 << 18
	// heldBack is how many records wait for those behind them, which may tell what is wrong with them.
	heldBack = 1 << 10
	// piece is how many records are looked at at once.
	piece = 1 << 16
	// furthest is the greatest time, to either side of 0: differences of two must not overflow.
	furthest = 1 << 61
	// longest is how much later than the one before a record may be that nothing behind it confirms: 30 days.
	longest = 30 * 24 * 3600 * 1e9
)

// Replay reads a recording to its end and gives h what was called. An error is the source's or h's. What is damaged is
// mended, and counted in [Segment.Repairs]: what a damaged record costs are the calls that it is part of, and rarely one
// more. Which of several calls of one method that call each other lacks a record cannot be told; a guess is made.
//
// The time it takes follows the number of records, the memory the depth of calls and a fixed number of them.
func Replay(r *Reader, h Handler) error {
	p := replay{h: h, threads: map[uint32]*thread{}, tick: 1_000_000, maxCalls: maxCalls}
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return p.finish()
		}
		if err != nil {
			return err
		}
		if err := p.chunk(c); err != nil {
			return err
		}
	}
}

// replay is a recording that is being replayed.
type replay struct {
	h          Handler
	tick, base int64
	maxCalls   int
	slowOnly   bool // records are those of slow messages: what lies between was not written
	threads    map[uint32]*thread
}

func (p *replay) chunk(c Chunk) error {
	switch c := c.(type) {
	case *Records:
		return p.records(c)
	case *Meta:
		if n, err := strconv.ParseInt(c.Values["tickNanos"], 10, 64); err == nil && n > 0 {
			p.tick = n
		}
		p.slowOnly = c.Values["records"] == "slow"
	case *Clock:
		p.base = min(max(c.BaseNanos, -furthest), furthest)
	case *StallChunk:
		if err := p.settle(c); err != nil {
			return err
		}
	}
	return p.h.Chunk(c)
}

// settle looks at all records of a message that has ended.
func (p *replay) settle(c *StallChunk) error {
	t := p.threads[c.Thread]
	if t == nil {
		return nil
	}
	if p.slowOnly {
		if err := p.advance(t, 0); err != nil {
			return err
		}
		return p.cut(t)
	}
	if c.EndRecord > t.next {
		return nil
	}
	return p.advance(t, int(min(t.next-c.EndRecord, uint64(len(t.held)))))
}

// records takes what a chunk has, and looks at all but the last ones.
func (p *replay) records(c *Records) error {
	t := p.threads[c.Thread]
	if t == nil {
		t = &thread{next: c.First, number: c.First, first: true, credit: creditFirst, last: -1, now: math.MinInt64}
		t.segment.Thread = c.Thread
		p.threads[c.Thread] = t
	}
	list := c.List
	if c.First < t.next {
		// Twice the same.
		list = list[min(t.next-c.First, uint64(len(list))):]
	}
	if c.First > t.next || c.Overwritten > 0 || t.first && c.First > 0 {
		g := gap{at: len(t.held), first: c.First, lost: c.Overwritten}
		g.apart = p.slowOnly && c.First > t.next
		if !p.slowOnly && !t.first {
			g.lost = c.First - min(t.next, c.First)
		}
		t.gaps = append(t.gaps, g)
	}
	t.first = false
	t.next = max(t.next, c.First+uint64(len(c.List)))
	for len(list) > 0 {
		n := min(len(list), piece)
		t.held = append(t.held, list[:n]...)
		list = list[n:]
		if err := p.advance(t, heldBack); err != nil {
			return err
		}
	}
	return nil
}

// finish looks at the records that were held back, and hands on what had not returned when they end.
func (p *replay) finish() error {
	for _, k := range slices.Sorted(maps.Keys(p.threads)) {
		t := p.threads[k]
		if err := p.advance(t, 0); err != nil {
			return err
		}
		for len(t.gaps) > 0 {
			if err := p.gap(t); err != nil {
				return err
			}
		}
		if err := p.cut(t); err != nil {
			return err
		}
	}
	return nil
}

// nanos gives the time of a tick.
func (p *replay) nanos(ticks int64) int64 {
	return p.base + min(ticks, (2*furthest-max(p.base, 0))/p.tick)*p.tick
}

// advance looks at the records that are held but for the last keep.
func (p *replay) advance(t *thread, keep int) error {
	t.longest = longest / p.tick
	i := 0
	for n := len(t.held) - keep; i < n; i++ {
		for len(t.gaps) > 0 && t.gaps[0].at == i {
			if err := p.gap(t); err != nil {
				return err
			}
		}
		r := t.held[i]
		ticks := r.Ticks()
		marks := Marks(0)
		if ticks < t.last || i+2 < len(t.held) && (t.held[i+1].Ticks() < ticks || t.held[i+2].Ticks() < ticks) || i+2 == len(t.held) && t.held[i+1].Ticks() < ticks || ticks-t.last > t.longest && t.last >= 0 {
			ticks, marks = t.retime(i)
			r = t.held[i]
		}
		t.last = ticks
		t.now = max(t.now, p.nanos(ticks+t.shift))
		t.number++
		m := Method(r.ID())
		switch k := len(t.open) - 1; {
		case r.Entry():
			if m == MethodDispatch && len(t.open) > 0 && t.bogusDispatch(i) {
				t.segment.Repairs.Stray++
				continue
			}
			if err := p.enter(t, m, marks); err != nil {
				return err
			}
			continue
		case k >= 0 && t.open[k].method == m:
			t.close(marks)
		default:
			if t.mend(i, m, marks) {
				// Again, as the next record has taken its place.
				t.number--
				i--
				continue
			}
		}
		if len(t.open) == 0 && (!t.scope.on || t.scope.over(t)) {
			if err := p.emit(t, t.number); err != nil {
				return err
			}
		}
	}
	t.held = t.held[:copy(t.held, t.held[i:])]
	for k := range t.gaps {
		t.gaps[k].at -= i
	}
	return nil
}

// gap goes on behind records that are missing.
func (p *replay) gap(t *thread) error {
	g := t.gaps[0]
	t.gaps = t.gaps[1:]
	if g.apart {
		if err := p.cut(t); err != nil {
			return err
		}
	}
	t.number = max(t.number, g.first)
	if g.lost > 0 {
		t.segment.Repairs.Gaps++
		t.segment.Repairs.Lost += g.lost
	}
	if g.lost > 0 || !g.apart {
		if len(t.open) == 0 {
			if err := p.emit(t, t.number); err != nil {
				return err
			}
		}
		t.wrap()
		t.scope = scope{on: true, depth: len(t.open), start: len(t.segment.Calls), number: t.number, begin: math.MinInt64}
	}
	return nil
}

// enter begins a call.
func (p *replay) enter(t *thread, m Method, marks Marks) error {
	if m == MethodDispatch && (len(t.open) > 0 || t.scope.on) {
		t.unwind(0)
		if err := p.emit(t, t.number-1); err != nil {
			return err
		}
	}
	if len(t.segment.Calls)+len(t.scope.wraps) >= max(p.maxCalls, 2*t.resumed) {
		if err := p.suspend(t); err != nil {
			return err
		}
	}
	t.enter(m, marks)
	return nil
}

// cut hands on what has not returned, as the records end here.
func (p *replay) cut(t *thread) error {
	for len(t.open) > 0 {
		t.close(MarkOpen)
		t.segment.Repairs.Open++
	}
	return p.emit(t, t.number)
}

// emit hands on the segments that are over: each call that no other encloses is one. The records up to end are theirs.
func (p *replay) emit(t *thread, end uint64) error {
	t.wrap()
	t.scope = scope{}
	calls, repairs := t.segment.Calls, t.segment.Repairs
	for from, k := int32(0), 0; int(from) < len(calls); k++ {
		to := calls[from].Next
		s := Segment{Thread: t.segment.Thread, Kind: SegmentOutermost, FirstRecord: t.roots[k], EndRecord: end,
			Begin: calls[from].Begin, End: calls[from].End, Calls: calls[from:to:to], Repairs: repairs}
		if calls[from].Method == MethodDispatch {
			s.Kind = SegmentMessage
		}
		if int(to) < len(calls) {
			s.EndRecord = t.roots[k+1]
		}
		for i := range s.Calls {
			if from > 0 {
				s.Calls[i].Next -= from
				s.Calls[i].Parent = max(-1, s.Calls[i].Parent-from)
			}
		}
		if err := p.h.Segment(&s); err != nil {
			return err
		}
		from, repairs = to, Repairs{}
	}
	if len(calls) > 0 {
		t.segment.Repairs = Repairs{}
	}
	t.segment.Calls, t.roots, t.resumed = calls[:0], t.roots[:0], 0
	return nil
}

// suspend hands on what is there of a segment that goes on.
func (p *replay) suspend(t *thread) error {
	methods := make([]Method, len(t.open))
	for i, o := range t.open {
		methods[i] = o.method
	}
	for len(t.open) > 0 {
		t.close(MarkSuspended)
	}
	if err := p.emit(t, t.number-1); err != nil {
		return err
	}
	// The record that is looked at belongs to what follows.
	for _, m := range methods {
		t.enter(m, MarkResumed)
	}
	t.resumed = len(methods)
	return nil
}
