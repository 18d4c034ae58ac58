package trace

import "slices"

// sampledCalls is what the samples of a thread say of the calls that its builder has.
type sampledCalls struct {
	table   *stackTable
	placed  *[]placement // those of the events, see [eventSample]
	stopped *Suspensions
	samples []builtSample
	shown   []shownCalls
	numbers []uint64 // of the first records of the calls, 0 if they are not known
	// rootEnds are those of calls that a gap has ended.
	rootEnds []rootEnd
	ended    bool    // calls have ended before their exit was missing
	busy     int64   // how long the segments were that are handed on
	last     int64   // the same at the sample before
	cpu      int64   // of the sample before, -1 if that is not known
	chain    []int32 // the indices of the open calls, the outermost first
}

// builtSample is a sample of the segment that is made.
type builtSample struct {
	Sample
	index int32 // how many calls had begun
	cpu   int64 // of the thread by then, -1 if it is not known
	// pending is set if it lies in a gap or behind it, and outside are frames of calls that are not known yet. inGap is
	// set if it lies in the gap.
	pending, inGap bool
	outside        []int32
	exits          int // how many calls that were entered in the gap had ended
	// found has the calls around it that its stack shows, the outermost first.
	found []int32
}

// rootEnd is the number of the record behind a call that no other encloses: it ended before the call at index began.
type rootEnd struct {
	index int32
	end   uint64
}

// shownCalls says that a sample has shown the open calls with an index of at least from and below upTo but for missing
// ones, when index calls had begun.
type shownCalls struct {
	from, upTo, index int32
	missing           []int32
	at                int64
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

// numberRoots notes the numbers of the calls that no other encloses, as samples come when there are calls.
func (b *builder) numberRoots() {
	k := 0
	for i := range b.segment.Calls {
		if b.segment.Calls[i].Parent < 0 && k < len(b.roots) {
			b.sampled.entered(int32(i), b.roots[k].first)
			k++
		}
	}
}

// reset forgets the calls that are handed on.
func (s *sampledCalls) reset() {
	s.samples, s.shown, s.numbers, s.rootEnds, s.ended = s.samples[:0], s.shown[:0], s.numbers[:0], s.rootEnds[:0], false
}

// sample puts a sample in its place, and ends the calls that it contradicts.
func (b *builder) sample(number int) {
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
	if p.call+1 < len(s.chain) {
		upTo = s.chain[p.call+1]
	}
	var missing []int32
	for _, k := range p.missing {
		missing = append(missing, s.chain[k])
	}
	from := int32(0)
	if b.scope.on {
		from = b.scope.start
	}
	s.shown = append(s.shown, shownCalls{from, upTo, index, missing, b.now})
	b.put(p, index)
}

// put appends a sample to those of the segment. It was taken when so many calls had begun.
func (b *builder) put(p *placement, index int32) {
	s := &b.sampled
	if p.call < 0 && !b.scope.on {
		return
	}
	out := builtSample{Sample: Sample{Call: -1, State: p.State, Nanos: p.Nanos, CPU: -1,
		Below: s.table.estimated(p.below)}, index: index, cpu: p.CPU, outside: p.outside, inGap: p.gap,
		pending: b.scope.on && (p.call < 0 || p.outside != nil), exits: len(b.scope.entered)}
	if p.call >= 0 {
		out.Call = s.chain[p.call]
	}
	for _, k := range p.found {
		out.found = append(out.found, s.chain[k])
	}
	for _, f := range p.between {
		out.Between = append(out.Between, Between{s.chain[f.call], s.table.estimated(f.frames)})
	}
	s.samples = append(s.samples, out)
}

// decideSamples puts the samples of the scope in their calls, when n calls were inserted at its start: the first stands
// for the gap if unknown is set, the others were entered in the gap, the outermost first. The calls around the scope
// are known now, so the frames outside of its calls can be compared with them.
func (b *builder) decideSamples(outer, n int32, unknown, complete bool) {
	start := b.scope.start
	for i := range b.sampled.samples {
		p := &b.sampled.samples[i]
		if !p.pending {
			continue
		}
		p.pending = false
		around := p.Call // the innermost call around the frames that are compared
		if p.Call < 0 {
			p.Call = outer
			if unknown && (p.inGap || !complete) {
				p.Call = start
			}
			if !p.inGap && p.exits < len(b.scope.entered) {
				p.Call = start + n - 1 - int32(p.exits)
				b.leaveMissing(p, start)
			}
			around = p.Call
		} else if len(p.Between) > 0 {
			around = b.segment.Calls[p.Between[0].Call].Parent
		}
		b.compare(p, around)
	}
}

// leaveMissing puts a sample behind the exits of calls that were entered in the gap and that its stack does not show.
func (b *builder) leaveMissing(p *builtSample, start int32) {
	for k := p.Call; k >= start; k = b.segment.Calls[k].Parent {
		if b.sampled.table.shows(b.lineage(k), p.outside) {
			p.Call = k
			return
		}
	}
}

// lineage returns the methods of a call and those around it, the outermost first.
func (b *builder) lineage(call int32) (methods []Method) {
	for k := call; k >= 0; k = b.segment.Calls[k].Parent {
		methods = append(methods, b.segment.Calls[k].Method)
	}
	slices.Reverse(methods)
	return methods
}

// compare compares the frames outside of a sample's calls with a call and those around it.
func (b *builder) compare(p *builtSample, around int32) {
	var at []int32
	for k := around; k >= 0; k = b.segment.Calls[k].Parent {
		at = append(at, k)
	}
	slices.Reverse(at)
	outside, inside := b.sampled.table.split(b.lineage(around), p.outside)
	p.outside = nil
	if len(p.Between) > 0 {
		p.Between[0].Frames = b.sampled.table.estimated(inside)
	} else {
		p.Below = b.sampled.table.estimated(inside)
	}
	var between []Between
	for i, frames := range outside {
		if len(frames) > 0 {
			between = append(between, Between{at[i], b.sampled.table.estimated(frames)})
		}
	}
	p.Between = append(between, p.Between...)
	p.found = append(at, p.found...)
}

// endEarly ends an open call whose exit is missing at the last moment at which it is known to have run. The calls that
// began later are its caller's.
func (b *builder) endEarly(k int32) {
	c := &b.segment.Calls[k]
	next, end := k+1, c.Begin
	index := int32(len(b.segment.Calls))
	for _, shown := range slices.Backward(b.sampled.shown) {
		if shown.from <= k && k < shown.upTo && !slices.Contains(shown.missing, k) {
			if shown.index > k {
				next, end = shown.index, shown.at
			}
			// A call inside that was open and was not shown, and that ended later, was not called by it.
			for _, i := range append(shown.missing, shown.upTo) {
				if inner := &b.segment.Calls[min(i, index-1)]; k < i && i < next && (inner.Next <= i || inner.Next > next) {
					next, end = i, inner.Begin
				}
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
			next, end = index, b.now
			break
		}
		if inner.Marks&(MarkUnwound|MarkContradicted) == MarkUnwound {
			b.endEarly(i) // the same exception has left it, or an earlier one
			b.segment.Repairs.Contradicted++
		}
		next, end = max(next, inner.Next), max(end, inner.End)
	}
	c.Next, c.End = next, end
	c.Marks |= MarkContradicted
	b.sampled.ended = true
}

// shift makes room for n calls at start, whose first record has a number.
func (s *sampledCalls) shift(start, n int32, number uint64) {
	if s.table == nil || n == 0 {
		return
	}
	for i := range s.samples {
		p := &s.samples[i]
		if p.Call >= start {
			p.Call += n
		}
		if p.index > start || p.index == start && p.pending && !p.inGap {
			p.index += n
		}
		for k := range p.Between {
			if p.Between[k].Call >= start {
				p.Between[k].Call += n
			}
		}
		for k := range p.found {
			if p.found[k] >= start {
				p.found[k] += n
			}
		}
	}
	for i := range s.shown {
		if s.shown[i].from >= start && s.shown[i].from > 0 {
			s.shown[i].from += n
		}
		if s.shown[i].upTo > start {
			s.shown[i].upTo += n
		}
		if s.shown[i].index > start {
			s.shown[i].index += n
		}
		for k := range s.shown[i].missing {
			if s.shown[i].missing[k] >= start {
				s.shown[i].missing[k] += n
			}
		}
	}
	for len(s.numbers) < int(start) {
		s.numbers = append(s.numbers, 0)
	}
	s.numbers = slices.Insert(s.numbers, int(start), slices.Repeat([]uint64{number}, int(n))...)
	for i := range s.rootEnds {
		if s.rootEnds[i].index > start {
			s.rootEnds[i].index += n
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
	b.roots = b.roots[:0]
	for i := range calls {
		for len(open) > 0 && calls[open[len(open)-1]].Next <= int32(i) {
			open = open[:len(open)-1]
		}
		if calls[i].Parent = -1; len(open) > 0 {
			calls[i].Parent = open[len(open)-1]
		} else {
			b.addRoot(int32(i))
		}
		open = append(open, int32(i))
	}
	for i := range b.sampled.samples {
		p := &b.sampled.samples[i]
		for p.Call >= 0 && calls[p.Call].Next < p.index && calls[p.Call].Marks&MarkContradicted != 0 {
			p.Call = calls[p.Call].Parent
		}
		b.restore(p)
	}
	for i := range b.marks {
		m := &b.marks[i]
		for m.Call >= 0 && calls[m.Call].Next < m.index {
			m.Call = calls[m.Call].Parent
		}
	}
}

// restore makes estimated calls of the calls that a sample's stack shows, and that are not around it any more: it is
// not known until when they ran.
func (b *builder) restore(p *builtSample) {
	var around []int32
	for k := p.Call; k >= 0; k = b.segment.Calls[k].Parent {
		around = append(around, k)
	}
	slices.Reverse(around)
	var frames []Method
	var between []Between
	all := p.Between
	for _, k := range p.found {
		if len(all) > 0 && all[0].Call == k {
			frames, all = append(frames, all[0].Frames...), all[1:]
		}
		if _, ok := slices.BinarySearch(around, k); !ok {
			frames = append(frames, b.segment.Calls[k].Method)
			continue
		}
		if len(frames) > 0 {
			between = append(between, Between{k, frames})
		}
		frames = nil
	}
	p.Between, p.Below = between, append(frames, p.Below...)
}

// addRoot notes a call that no other encloses.
func (b *builder) addRoot(at int32) {
	root := rootNumber{}
	if int(at) < len(b.sampled.numbers) {
		root.first = b.sampled.numbers[at]
	}
	if n := len(b.roots); n > 0 {
		root.first = max(root.first, b.roots[n-1].first)
	}
	for _, e := range b.sampled.rootEnds {
		if at < e.index && e.index <= b.segment.Calls[at].Next {
			root.end = e.end
		}
	}
	b.roots = append(b.roots, root)
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
