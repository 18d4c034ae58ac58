package trace

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/subsequence"
)

// waitingSample is a sample whose place among the records of its thread is not reached yet.
type waitingSample struct {
	SteadySample
	stack *stackNode
	// chosen is set when it is known that the place is before the record at. constant is how many of the calls that were
	// open then were open all the time in which the stack was taken.
	chosen   bool
	at       uint64
	constant int
}

// placement is what a sample says of the calls that are open at its place.
type placement struct {
	SteadySample
	// dead has the indices of the open calls that have ended before, the innermost first. The other indices here are
	// those of the calls without these.
	dead []int32
	// call is the index of the innermost call that the sample belongs to. found has the calls around it that are on the
	// stack, with itself, missing those that are not and may have ended.
	call           int
	found, missing []int32
	// between has the frames right outside of open calls, below the frames below the innermost one.
	between []framesOutside
	below   []int32
	// gap is set if it was taken where records are missing. outside has the frames outside of the first call behind a gap,
	// of calls that are not known yet; in the gap all frames.
	gap     bool
	outside []int32
}

// framesOutside are frames between an open call and the next outer one, the outermost first.
type framesOutside struct {
	call   int
	frames []int32
}

// windowRecords is a [Window] by its records.
type windowRecords struct {
	first, end uint64
	begin      int64
}

// place hands on the samples whose place is before held[i]. It returns false if it depends on records that have not
// come yet.
func (r *repairer) place(i int) bool {
	for len(r.samples) > 0 {
		s := &r.samples[0]
		if !s.chosen {
			if s.Record > r.number {
				return true
			}
			r.widen(s)
			end := s.Record + s.Records
			if end < r.number || end-r.number > piece {
				r.table.counts.Unusable++
				r.samples = r.samples[1:]
				continue
			}
			n := int(end - r.number)
			if len(r.gaps) > 0 && n > r.gaps[0].at-i {
				return true // it may have been taken in the gap
			}
			if i+n > len(r.held) && r.patient {
				return false
			}
			r.choose(s, r.held[i:min(i+n, len(r.held))])
		}
		if s.at > r.number {
			return true
		}
		if i < len(r.held) && !r.outOfOrder(i, r.held[i].Ticks()) && len(r.open) > 0 {
			r.now = max(r.now, min(bounded(s.Nanos), r.nanos(r.held[i].Ticks())))
		}
		r.put(s)
		r.samples = r.samples[1:]
	}
	return true
}

// isIn notes the records of a window.
func (r *repairer) isIn(w windowRecords) {
	if r.windows = append(r.windows, w); len(r.windows) > maxSpans {
		r.windows = append(r.windows[:0], r.windows[maxSpans/2:]...)
	}
}

// widen has the range of a sample contain the records of the window that it was taken in. Behind a window the numbers
// go on at its end, so the number says whether the window had ended. Its time does not: the clock of records may be
// late.
func (r *repairer) widen(s *waitingSample) {
	for len(r.windows) > 0 && r.windows[0].end < s.Record {
		r.windows = r.windows[1:]
	}
	for _, w := range r.windows {
		if w.first <= s.Record && s.Record <= w.end && w.begin <= s.Nanos {
			s.Records = max(s.Records, w.end-s.Record)
		}
	}
}

// placeRest hands on the samples that are left where the records end.
func (r *repairer) placeRest() {
	for _, s := range r.samples {
		if s.Record > r.number {
			r.table.counts.Unusable++ // the last records are missing
			continue
		}
		s.constant = len(r.open)
		if len(r.open) > 0 {
			r.now = max(r.now, bounded(s.Nanos))
		}
		r.put(&s)
	}
	r.samples = nil
}

// placeBefore hands on the samples that were surely taken before the gap at held[i].
func (r *repairer) placeBefore(i int) {
	for len(r.samples) > 0 && r.samples[0].Record+r.samples[0].Records <= r.number {
		if held := len(r.samples); !r.place(i) || len(r.samples) == held {
			return
		}
	}
}

// putInGap hands on the samples that were taken before the record behind a gap.
func (r *repairer) putInGap() {
	for len(r.samples) > 0 && r.samples[0].Record < r.number {
		s := &r.samples[0]
		if r.scope.on && r.scope.begin != math.MinInt64 {
			r.hand(placement{SteadySample: s.SteadySample, call: -1, gap: true, outside: r.table.stack(s.stack).frames})
		} else {
			r.table.counts.Idle++
		}
		r.samples = r.samples[1:]
	}
}

// hand hands on a sample in its place.
func (r *repairer) hand(p placement) {
	if r.made == batch {
		r.flush()
	}
	r.placed = append(r.placed, p)
	r.emit(eventSample, 0, 0, uint64(len(r.placed)-1))
}

// choose decides before which of some records a sample was taken: where the calls that are open are on the stack, and
// of several such places where most are.
func (r *repairer) choose(s *waitingSample, records []Record) {
	s.chosen, s.at, s.constant = true, r.number, len(r.open)
	if len(records) == 0 {
		return
	}
	depth, inner := len(r.open), []Method(nil)
	leave := func(m Method) {
		if k := subsequence.LastIndex(inner, m); k >= 0 {
			inner = inner[:k]
			return
		}
		for k := depth - 1; k >= 0; k-- {
			if r.open[k].method == m {
				depth, inner = k, nil
				return
			}
		}
	}
	for _, record := range records {
		if m := Method(record.ID()); record.Entry() {
			inner = append(inner, m)
		} else {
			leave(m)
		}
		s.constant = min(s.constant, depth)
	}
	if s.constant = max(s.constant, r.firstOpen()); s.Record < r.number {
		s.constant = r.firstOpen() // it may be of a moment before, so it contradicts nothing
	}
	frames := r.table.stack(s.stack).frames
	next := 0
	for _, f := range r.align(s.constant, frames) {
		next = max(next, f+1)
	}
	// fits has the calls that are open at a place and not all the time.
	type fit struct {
		method            Method
		next              int // the frame behind its own
		missing, matching int // how many of the calls up to it are not on the stack, and cannot have thrown; and are on it
		// How many may have thrown and are not on the stack. A frame that is used up by a call that seems to be open and
		// has thrown is no reason to leave out the one that has it.
		thrown int
	}
	fits := []fit{{next: next}}
	enter := func(m Method) {
		f := fits[len(fits)-1]
		f.method = m
		if name := r.table.nameOf(m); !r.exempt(m) {
			if k := slices.Index(frames[f.next:], name); k >= 0 {
				f.next += k + 1
				f.matching++
			} else if r.table.throwing[m] && !slices.Contains(frames, name) {
				f.thrown++
			} else {
				f.missing++
			}
		}
		fits = append(fits, f)
	}
	for _, o := range r.open[s.constant:] {
		enter(o.method)
	}
	best := fits[len(fits)-1]
	for k, record := range records {
		m := Method(record.ID())
		if record.Entry() {
			enter(m)
		} else if n := slices.IndexFunc(fits[1:], func(f fit) bool { return f.method == m }); n >= 0 {
			for n = len(fits) - 1; fits[n].method != m; n-- {
			}
			fits = fits[:n]
		} else if r.scope.on && !slices.Contains(frames, r.table.nameOf(m)) {
			// The call was entered in the gap, and is not on the stack: it was taken behind its exit.
			best, s.at = fits[len(fits)-1], r.number+uint64(k)+1
		}
		f := fits[len(fits)-1]
		if order := cmp.Or(f.missing-best.missing, best.matching-f.matching, f.thrown-best.thrown); order < 0 {
			best, s.at = f, r.number+uint64(k)+1
		}
	}
}

// firstOpen returns the index of the first call that is known to be open: behind a gap those that were open before it
// may have ended.
func (r *repairer) firstOpen() int {
	if r.scope.on {
		return r.scope.depth
	}
	return 0
}

// exempt reports whether a call may be open although a stack does not show it.
func (r *repairer) exempt(m Method) bool {
	name := r.table.nameOf(m)
	return name == noName || m == MethodDispatch || r.table.hidden[name] && !r.table.seen[name]
}

// align returns for the first n open calls which frame is theirs, -1 for none. The frames are in the order of
// the calls. If not all calls have a frame, it finds the most that can have one, of several choices the innermost.
// Calls that samples have shown were called by one another: of them the inner ones have ended first.
func (r *repairer) align(n int, frames []int32) []int {
	at := make([]int, n)
	if r.assign(frames, at, nil) {
		return at
	}
	lo := min(r.firstOpen(), n)
	in := map[int32]bool{}
	for _, f := range frames {
		in[f] = true
	}
	var others []int // calls that no sample has shown, and that may have a frame
	for k := lo; k < n; k++ {
		if o := &r.open[k]; !o.shown && in[r.table.nameOf(o.method)] {
			others = append(others, k)
		}
	}
	names := make([]int32, len(others))
	for i, k := range others {
		names[i] = r.table.nameOf(r.open[k].method)
	}
	alive := make([]bool, len(at))
	// The most calls have a frame if the first shown ones have theirs, and the others are behind them. If it may be a call
	// that was shown or a later one of the same method, it is the later one: the other one is not known to have run since.
	best, from, shown := -1, 0, 0
	lengths := subsequence.Lengths(names, frames)
	next, matching := 0, 0
	for k := lo; ; k++ {
		if matching+lengths[next] > best {
			best, from, shown = matching+lengths[next], next, k
		}
		for k < len(at) && !(r.open[k].shown && !r.exempt(r.open[k].method)) {
			k++
		}
		if k == len(at) {
			break
		}
		i := slices.Index(frames[next:], r.table.nameOf(r.open[k].method))
		if i < 0 {
			break
		}
		next += i + 1
		matching++
	}
	for k := lo; k < shown; k++ {
		alive[k] = r.open[k].shown
	}
	for _, i := range subsequence.Common(names, frames[from:]) {
		alive[others[i]] = true
	}
	r.assign(frames, at, alive)
	return at
}

// assign sets the frame of each call that is alive, nil for all, to the first one behind that of the calls around it.
// It returns whether all calls have a frame that must. Behind a gap it takes the last frame before that of the calls
// inside: the first frames are of calls that are not known.
func (r *repairer) assign(frames []int32, at []int, alive []bool) (all bool) {
	lo := min(r.firstOpen(), len(at))
	all = true
	from, to := 0, len(frames)
	for i := range at {
		k := i
		if r.scope.on {
			k = len(at) - 1 - i
		}
		at[k] = -1
		if k < lo || alive != nil && !alive[k] {
			continue
		}
		m := r.open[k].method
		if r.scope.on {
			at[k] = subsequence.LastIndex(frames[:to], r.table.nameOf(m))
			if at[k] >= 0 {
				to = at[k]
			}
		} else if i := slices.Index(frames[from:], r.table.nameOf(m)); i >= 0 {
			at[k] = from + i
			from += i + 1
		}
		all = all && (at[k] >= 0 || r.exempt(m))
	}
	return all
}

// count counts a sample if its thread ran.
func (r *repairer) count(s *waitingSample, own bool) {
	ran := s.CPU > r.cpu && r.cpu > 0
	r.cpu = max(r.cpu, s.CPU)
	if !ran || s.State >= ThreadBlocked || s.stack != nil && yields(s.stack.frame) {
		return
	}
	r.table.counts.Ran++
	if own {
		r.table.counts.OwnRan++
	}
}

// yields reports whether a thread with this innermost frame has given up its processor, as it does for the recorder
// while it floods.
func yields(frame string) bool {
	method, _, _ := strings.Cut(frame, "(")
	return strings.HasSuffix(strings.TrimSuffix(method, "0"), "java.lang.Thread.yield")
}

// put hands on a sample whose place is here, and ends the calls that it contradicts.
func (r *repairer) put(s *waitingSample) {
	stack := r.table.stack(s.stack)
	r.count(s, stack.own)
	if len(r.open) == 0 {
		r.table.counts.Idle++
		return
	}
	frames := stack.frames
	if stack.own {
		r.table.counts.Own++
	}
	lo := r.firstOpen()
	constant := min(max(s.constant, lo), len(r.open))
	at := r.align(constant, frames)
	next, matching := 0, false
	for _, f := range at {
		next, matching = max(next, f+1), matching || f >= 0
	}
	for _, o := range r.open[constant:] {
		f := slices.Index(frames[next:], r.table.nameOf(o.method))
		matching = matching || f >= 0
		if r.scope.on {
			f = -1 // the frame may be of a call around the scope; which call this is depends on the moment
		}
		if f >= 0 {
			f += next
			next = f + 1
		}
		at = append(at, f)
	}
	p := placement{SteadySample: s.SteadySample}
	if len(frames) > 0 {
		from := lo
		for stack.cut && from < len(at) && at[from] < 0 {
			from++ // calls outside of the first one that is shown may be in the frames that are missing
		}
		if p.dead = r.contradicted(from, constant, at, matching); len(p.dead) > 0 {
			r.table.counts.Contradicting++
		}
	}
	at = r.end(p.dead, at)
	if len(r.open) == lo {
		p.call, p.outside = -1, frames
		if !r.scope.on {
			r.table.counts.Idle++
		}
		r.hand(p)
		if !r.scope.on {
			r.done(r.number)
		}
		return
	}
	if !matching && len(p.dead) == 0 && len(frames) > 0 && !r.scope.on && !r.exempt(r.open[len(r.open)-1].method) {
		r.table.counts.Unfit++
		return
	}
	r.split(&p, lo, at, frames)
	if p.call < lo {
		p.call, p.outside = -1, frames
	}
	r.hand(p)
}

// split divides the frames among the open calls from lo on. at has the frames of all open calls.
func (r *repairer) split(p *placement, lo int, at []int, frames []int32) {
	last := -1 // the last frame of a call
	p.call = lo - 1
	for k := lo; k < len(at); k++ {
		o, f := &r.open[k], at[k]
		if f < 0 && !r.exempt(o.method) {
			p.missing = append(p.missing, int32(k))
			continue
		}
		p.call, o.shown = k, true
		if f < 0 {
			continue
		}
		p.found = append(p.found, int32(k))
		if last >= 0 && f > last+1 {
			p.between = append(p.between, framesOutside{k, frames[last+1 : f]})
		} else if last < 0 && r.scope.on {
			p.outside = frames[:f]
			p.between = append(p.between, framesOutside{call: k})
		}
		last = f
		r.table.seen[r.table.nameOf(o.method)] = true
	}
	switch {
	case last >= 0:
		p.below = frames[last+1:]
	case p.call >= lo:
		p.below = r.table.mayBeRecorded(frames)
	}
}

// contradicted returns the indices of the open calls that have ended, as their frames are missing: at has the frames of
// the calls. Only calls from lo up to constant are meant, which were open all the time in which the stack was taken.
// A call that was shown together with one inside of it that has not ended has not ended either.
func (r *repairer) contradicted(lo, constant int, at []int, matching bool) (dead []int32) {
	around := false // a call inside has been shown, and has not ended
	for k := len(r.open) - 1; k >= lo && k > r.message; k-- {
		o := &r.open[k]
		if at[k] < 0 && k < constant && !r.exempt(o.method) && (matching || r.table.seen[r.table.nameOf(o.method)]) &&
			!(around && o.shown) {
			dead = append(dead, int32(k))
		} else {
			around = around || o.shown
		}
	}
	return dead
}

// end takes open calls off that have ended without an exit, the innermost first in dead. at has the frames of the
// calls; it returns those of the calls that are left.
func (r *repairer) end(dead []int32, at []int) []int {
	if len(dead) == 0 {
		return at
	}
	r.dropResumes(0)
	if r.ended == nil {
		r.ended = map[Method]bool{}
	}
	first := int(dead[len(dead)-1])
	open, left := r.open[:first], at[:first]
	for k, d := first, len(dead)-1; k < len(r.open); k++ {
		if d >= 0 && int(dead[d]) == k {
			m := r.open[k].method
			r.table.throwing[m], r.ended[m] = true, true
			d--
			continue
		}
		open, left = append(open, r.open[k]), append(left, at[k])
	}
	r.open, r.where = open, nil
	return left
}
