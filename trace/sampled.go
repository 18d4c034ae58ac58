package trace

import "slices"

// sampledCalls is what the samples of a thread say of the calls that its builder has.
type sampledCalls struct {
	table   *stackTable
	placed  *[]placement // those of the events, see [eventSample]
	stopped *Suspensions
	samples []builtSample
	shown   []shownCalls
	numbers []uint64 // of the first records of the calls; may be shorter than these or longer
	ended   bool     // calls have ended before their exit was missing
	busy    int64    // how long the segments were that are handed on
	last    int64    // the same at the sample before
	cpu     int64    // of the sample before, -1 if that is not known
	chain   []int32  // the indices of the open calls, the outermost first
}

// builtSample is a sample of the segment that is made.
type builtSample struct {
	Sample
	index   int32 // how many calls had begun
	cpu     int64 // of the thread by then, -1 if it is not known
	pending bool  // it lies behind a gap, in a call that is not known yet
}

// shownCalls says that a sample has shown the open calls with an index below upTo, when so many calls had begun.
type shownCalls struct {
	upTo, index int32
	at          int64
}

// entered notes the number of the record of a call's entry.
func (s *sampledCalls) entered(call int32, number uint64) {
	if s.table == nil {
		return
	}
	for int(call) >= len(s.numbers) {
		s.numbers = append(s.numbers, 0)
	}
	s.numbers[call] = number
}

// reset forgets the calls that are handed on.
func (s *sampledCalls) reset() {
	s.samples, s.shown, s.numbers, s.ended = s.samples[:0], s.shown[:0], s.numbers[:0], false
}

// sample puts a sample in its place.
func (b *builder) sample(number uint64, h Handler) error {
	p, s := &(*b.sampled.placed)[number], &b.sampled
	s.chain = s.chain[:0]
	for k := b.top; k >= 0; k = b.segment.Calls[k].Parent {
		s.chain = append(s.chain, k)
	}
	slices.Reverse(s.chain)
	for _, d := range p.dead {
		k := s.chain[d]
		b.endEarly(k)
		b.segment.Calls[k].Marks |= MarkUnwound | MarkContradicted
		b.segment.Repairs.countMarks(MarkUnwound | MarkContradicted)
		s.chain[d] = -1
	}
	if len(p.dead) > 0 {
		s.chain = slices.DeleteFunc(s.chain, func(k int32) bool { return k < 0 })
		b.top = -1
		for _, k := range s.chain {
			if p := &b.segment.Calls[k].Parent; *p != b.top {
				*p = b.top
			}
			b.top = k
		}
	}
	index := int32(len(b.segment.Calls))
	upTo := index
	if p.shown < len(s.chain) {
		upTo = s.chain[p.shown]
	}
	s.shown = append(s.shown, shownCalls{upTo, index, b.now})
	return b.put(p, index, h)
}

// put appends a sample to those of the segment.
func (b *builder) put(p *placement, index int32, h Handler) error {
	s := &b.sampled
	if p.call < 0 && !b.scope.on {
		return nil
	}
	out := builtSample{Sample: Sample{Call: -1, State: p.State, Nanos: p.Nanos, CPU: -1}, index: index, cpu: p.CPU}
	if p.call >= 0 {
		out.Call = s.chain[p.call]
	}
	out.pending = b.scope.on && (p.gap || out.Call < b.scope.start)
	var err error
	if out.Below, err = s.table.estimated(p.below, h); err != nil {
		return err
	}
	for _, f := range p.between {
		frames, err := s.table.estimated(f.frames, h)
		if err != nil {
			return err
		}
		out.Between = append(out.Between, Between{s.chain[f.call], frames})
	}
	if p.gap {
		out.index = b.scope.start
	}
	s.samples = append(s.samples, out)
	return nil
}

// endEarly ends an open call whose exit is missing at the last moment at which it is known to have run. The calls that
// began later are its caller's.
func (b *builder) endEarly(k int32) {
	c := &b.segment.Calls[k]
	next, end := k+1, c.Begin
	for _, shown := range slices.Backward(b.sampled.shown) {
		if shown.upTo > k {
			if shown.index > k {
				next, end = shown.index, shown.at
			}
			break
		}
		if shown.index <= k {
			break
		}
	}
	// What it called before that has ended before it.
	for i := k + 1; i < next; i = b.segment.Calls[i].Next {
		inner := &b.segment.Calls[i]
		if inner.Next <= i {
			next, end = int32(len(b.segment.Calls)), b.now
			break
		}
		next, end = max(next, inner.Next), max(end, inner.End)
	}
	c.Next, c.End = next, end
	c.Marks |= MarkContradicted
	b.sampled.ended = true
}

// shift makes room for n calls at start.
func (s *sampledCalls) shift(start, n int32) {
	if s.table == nil || n == 0 {
		return
	}
	for i := range s.samples {
		p := &s.samples[i]
		if p.Call >= start {
			p.Call += n
		}
		if p.index > start || p.index == start && !p.pending {
			p.index += n
		}
		for k := range p.Between {
			if p.Between[k].Call >= start {
				p.Between[k].Call += n
			}
		}
	}
	for i := range s.shown {
		if s.shown[i].upTo > start {
			s.shown[i].upTo += n
		}
		if s.shown[i].index > start {
			s.shown[i].index += n
		}
	}
	if int(start) < len(s.numbers) {
		s.numbers = slices.Insert(s.numbers, int(start), make([]uint64, n)...)
	}
}

// decided puts the samples of a scope in their calls: n calls were inserted at start, of which the first stands for the
// gap if unknown is set, and the others were entered in the gap, the outermost first.
func (s *sampledCalls) decided(entered []lostCall, outer, start, n int32, unknown, complete bool) {
	for i := range s.samples {
		p := &s.samples[i]
		if !p.pending {
			continue
		}
		p.pending = false
		p.Call = outer
		if unknown && (p.index <= start || !complete) {
			p.Call = start
		}
		for k, lost := range entered {
			if p.index > start && lost.end+n >= p.index {
				p.Call = start + n - 1 - int32(k)
				break
			}
		}
	}
}

// renest puts the calls that began behind the end of a contradicted one below its caller.
func (b *builder) renest() {
	if !b.sampled.ended {
		return
	}
	calls := b.segment.Calls
	var open []int32
	var roots []rootNumber
	old := b.roots
	for i := range calls {
		for len(open) > 0 && calls[open[len(open)-1]].Next <= int32(i) {
			open = open[:len(open)-1]
		}
		c := &calls[i]
		root := c.Parent < 0
		if c.Parent = -1; len(open) > 0 {
			c.Parent = open[len(open)-1]
		}
		switch {
		case root && len(old) > 0:
			roots, old = append(roots, old[0]), old[1:]
		case c.Parent < 0:
			first := roots[len(roots)-1].first
			if i < len(b.sampled.numbers) {
				first = max(first, b.sampled.numbers[i])
			}
			roots = append(roots, rootNumber{first: first})
		}
		open = append(open, int32(i))
	}
	b.roots = roots
	for i := range b.sampled.samples {
		p := &b.sampled.samples[i]
		for p.Call >= 0 && calls[p.Call].Next <= p.index && calls[p.Call].Marks&MarkContradicted != 0 {
			p.Call = calls[p.Call].Parent
		}
	}
}

// samplesOf returns the samples of a segment that has the calls from one index up to another. A sample stands for the
// time halfway to its neighbours in the segment, the first one also for the time since the sample before the segment.
func (b *builder) samplesOf(s *Segment, from, to int32) []Sample {
	all := &b.sampled
	if all.table == nil {
		return nil
	}
	ran := s.End - s.Begin - all.stoppedWithin(s.Begin, s.End)
	var list []Sample
	before := all.last // the time of the sample before
	for len(all.samples) > 0 && all.samples[0].Call < to {
		p := &all.samples[0]
		all.samples = all.samples[1:]
		if p.Call < from {
			continue // no call was open
		}
		at := min(max(p.Nanos, s.Begin), s.End)
		at = max(before, all.busy+at-s.Begin-all.stoppedWithin(s.Begin, at))
		p.Weight = at - before
		if n := len(list); n > 0 {
			half := p.Weight / 2
			list[n-1].Weight += half
			p.Weight -= half
		}
		before = at
		if p.cpu >= 0 && all.cpu >= 0 && p.cpu >= all.cpu {
			p.CPU = p.cpu - all.cpu
		}
		all.cpu = p.cpu
		p.Call -= from
		for k := range p.Between {
			p.Between[k].Call -= from
		}
		list = append(list, p.Sample)
	}
	all.last = before
	all.busy += ran
	all.table.counts.Placed += uint64(len(list))
	return list
}

// stoppedWithin returns how long the process did not run between two times.
func (s *sampledCalls) stoppedWithin(begin, end int64) int64 {
	if s.stopped == nil {
		return 0
	}
	return Sum(s.stopped.Within(begin, end), begin, end)
}
