package trace

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"
)

// Handler gets what is in a recording, in the order of the file.
type Handler interface {
	// Chunk gets every chunk but [*Records], [*Meta] first, and a [*Completeness] last.
	Chunk(Chunk) error
	// Named introduces a method that has a name and no ID, before the first segment that it is in.
	Named(m Method, name string) error
	// Segment gets a part of what a thread did, once it is over. Those of one thread come in the order of time, those
	// of several mixed. One may come after chunks that stand behind its records, but before the [*StallChunk] that is
	// about it. The segment and its calls are good until Segment returns.
	Segment(*Segment) error
}

const (
	// maxCalls is how many calls a segment has at most before it is handed on in parts.
	maxCalls = 1 << 18
	// heldBack is how many records wait for those behind them, which may show that their times are wrong.
	heldBack = nearTimes
	// piece is how many records are handled at once.
	piece = 1 << 16
	// batch is how many events are handed on at once.
	batch = 512
	// furthest is the greatest time, to either side of 0: differences of two must not overflow.
	furthest = 1 << 61
	// longest is how much later than the one before a record may be that nothing behind it confirms: 30 days.
	longest = 30 * 24 * 3600 * 1e9
)

// Replay reads a recording to its end and hands its calls to h. An error is the source's or h's. Missing exits are
// repaired and counted in [Segment.Repairs]: an exit ends the innermost open call of its method, and the calls inside
// it end there. Chunks have checksums, so a record is there as its thread made it, or it is missing.
//
// The time is proportional to the number of records, the memory to the depth of calls and to a fixed number of calls.
func Replay(r Chunks, h Handler, o ReplayOptions) error {
	p := newReplay(h)
	p.messages, p.frames = o.Messages, o.Frames
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

// Chunks is what chunks are read from: a [Reader], or several of them as if they were one.
type Chunks interface {
	// Next returns the next chunk, and [io.EOF] behind the last one.
	Next() (Chunk, error)
}

// ReplayOptions say how a recording is replayed.
type ReplayOptions struct {
	// Messages returns the methods whose calls are messages; nil for [Meta.MessageMethods].
	Messages func(*Meta) []Method
	// Frames returns what compares frames of steady samples with calls; nil if the samples have no place in segments. It
	// is called behind the [Handler.Chunk] of the first [*Stacks].
	Frames func() FrameNames
}

// replay is a recording that is being replayed: for each thread a [repairer] makes events of records, and a [builder]
// makes segments of events.
type replay struct {
	h        Handler
	limits   limits
	messages func(*Meta) []Method
	frames   func() FrameNames
	slowOnly bool // records are those of stalls: what lies between was not written
	threads  map[uint32]*thread
	loops    map[Method]bool  // outermost methods that have enclosed calls of methods whose calls are messages
	alive    map[uint32]int64 // by thread: the time of its last sign of life
	events   *[batch]event    // room for those that are handed on at once
	sum      completeness
	stacks   *stackTable                // of steady samples; nil as long as there are none
	samples  map[uint32][]waitingSample // of threads without records
	stopped  Suspensions
}

type thread struct {
	repairer *repairer
	builder  builder
}

// limits are what times and segments are measured by.
type limits struct {
	tick, base int64     // nanoseconds: how long a tick is, and when tick 0 was
	period     int64     // nanoseconds: how often the clock moves that records are stamped with
	calls      int       // how many calls a segment has at most before it is handed on in parts
	messages   methodSet // methods whose calls are messages
	device     bool      // they are messages for the device, too
}

// latest returns the last tick that has a time of its own. All later ones have the same time.
func (l *limits) latest() int64 { return (2*furthest - max(l.base, 0)) / l.tick }

func newReplay(h Handler) *replay {
	return &replay{h: h, limits: limits{tick: 1_000_000, calls: maxCalls}, threads: map[uint32]*thread{},
		loops: map[Method]bool{}, alive: map[uint32]int64{}, events: new([batch]event),
		samples: map[uint32][]waitingSample{}, sum: completeness{gated: map[Method]*GatedCalls{}}}
}

func (p *replay) chunk(c Chunk) error {
	p.sum.chunk(c)
	switch c := c.(type) {
	case *Records:
		return p.records(c)
	case *Meta:
		if tick, ok := c.Tick(); ok {
			p.limits.tick = tick.Nanoseconds()
		}
		p.limits.period = c.ClockPeriod().Nanoseconds()
		p.slowOnly = c.OnlyStalls()
		methods := c.MessageMethods()
		p.limits.device = true
		if p.messages != nil {
			list := p.messages(c)
			methods, p.limits.device = list, slices.Equal(methods, list)
		}
		p.limits.messages = newMethodSet(methods)
	case *Clock:
		p.limits.base = min(max(c.BaseNanos, -furthest), furthest)
	case *Alive:
		for _, o := range c.Open {
			p.signOfLife(o.Thread, o.State, c.Nanos)
			if t := p.threads[o.Thread]; t != nil {
				t.repairer.isOpen(span{begin: o.Begin, end: c.Nanos})
			}
		}
	case *Window:
		t := p.thread(c.Thread, c.FirstRecord)
		t.repairer.isIn(windowRecords{c.FirstRecord, c.EndRecord, c.Begin})
		b := &t.builder
		b.windows = append(b.windows, Gap{Kind: GapWindow, Begin: c.Begin, End: max(c.Begin, c.End), Calls: c.Calls})
	case *Coroutines:
		p.thread(c.Thread, 0).repairer.takeMarks(c)
	case *StallChunk:
		if err := p.endOf(c); err != nil {
			return err
		}
	case *Suspended:
		p.stopped.Add(c)
	case *Stacks:
		if err := p.h.Chunk(c); err != nil {
			return err
		}
		p.steady(c)
		return nil
	}
	return p.h.Chunk(c)
}

// steady takes steady samples. They wait for the records around them.
func (p *replay) steady(c *Stacks) {
	if p.frames == nil {
		return
	}
	if p.stacks == nil {
		p.stacks = newStackTable(p.frames(), p.h, &p.sum.all.Samples)
		for _, t := range p.threads {
			p.sample(t)
		}
	}
	p.stacks.take(c)
	for _, s := range c.Samples {
		stack, ok := p.stacks.node(s.Node)
		if !ok || c.Lost {
			p.stacks.counts.Unusable++
			continue
		}
		w := waitingSample{SteadySample: s, stack: stack}
		if t := p.threads[s.Thread]; t != nil {
			t.repairer.samples = append(t.repairer.samples, w)
		} else {
			p.samples[s.Thread] = append(p.samples[s.Thread], w)
		}
	}
}

// sample connects a thread with the samples.
func (p *replay) sample(t *thread) {
	t.repairer.table = p.stacks
	t.builder.sampled = sampledCalls{table: p.stacks, placed: &t.repairer.placed, stopped: &p.stopped, cpu: -1}
	t.builder.numberRoots()
}

// signOfLife notes that a thread was seen at a time. A call that has no exit had not ended by then, so its time is at
// least that, although the thread put no record meanwhile: a call that hangs puts none.
func (p *replay) signOfLife(thread uint32, state ThreadState, nanos int64) {
	nanos = min(max(nanos, -furthest), furthest)
	if before, seen := p.alive[thread]; state != stateTerminated && (!seen || nanos > before) {
		p.alive[thread] = nanos
	}
}

// endOf hands on all segments of a stall that has ended.
func (p *replay) endOf(c *StallChunk) error {
	t := p.threads[c.Thread]
	if t == nil {
		return nil
	}
	r := t.repairer
	r.isOpen(span{ended: true, first: c.FirstRecord, endRecord: c.EndRecord})
	defer func(patient bool) { r.patient = patient }(r.patient)
	r.patient = false
	if p.slowOnly {
		return p.pass(t, func() {
			r.repair(0)
			r.cut()
		})
	}
	if c.EndRecord > r.next {
		return nil
	}
	return p.pass(t, func() { r.repair(int(min(r.next-c.EndRecord, uint64(len(r.held))))) })
}

// pass has the repairer of a thread make events, and its builder make segments of them.
func (p *replay) pass(t *thread, repair func()) error {
	r := t.repairer
	r.events = p.events
	repair()
	r.flush()
	if r.err == nil && p.stacks != nil {
		r.err = p.stacks.err
	}
	return r.err
}

// records takes the records of a chunk, and handles all but the last ones.
func (p *replay) records(c *Records) error {
	t := p.thread(c.Thread, c.First)
	r := t.repairer
	r.upTo(c.Marks)
	list := r.take(c, p.slowOnly)
	p.sum.all.Recorded += uint64(len(list))
	for len(list) > 0 {
		n := min(len(list), piece)
		r.held = append(r.held, list[:n]...)
		list = list[n:]
		if err := p.pass(t, func() { r.repair(heldBack) }); err != nil {
			return err
		}
	}
	return nil
}

// thread returns a thread. first is the number of its first record if it is new.
func (p *replay) thread(index uint32, first uint64) *thread {
	t := p.threads[index]
	if t == nil {
		t = &thread{repairer: newRepairer(&p.limits, first), builder: newBuilder(index, p.loops)}
		t.builder.sum, t.builder.marked = &p.sum.all, &t.repairer.marked
		t.repairer.counts = &p.sum.all.Coroutines
		t.repairer.sink = func(events []event) error { return t.builder.build(events, p.h) }
		p.threads[index] = t
		p.sum.all.Runs++
		if p.stacks != nil {
			p.sample(t)
			t.repairer.samples = p.samples[index]
			delete(p.samples, index)
		}
	}
	return t
}

// finish handles the records that were held back, and hands on the calls that are still open when they end.
func (p *replay) finish() error {
	order := slices.Sorted(maps.Keys(p.threads))
	for _, k := range order {
		r := p.threads[k].repairer
		alive, seen := p.alive[k]
		if !seen {
			alive = math.MinInt64
		}
		if err := p.pass(p.threads[k], func() { r.finish(alive) }); err != nil {
			return err
		}
	}
	return p.h.Chunk(p.sum.result(p.slowOnly))
}
