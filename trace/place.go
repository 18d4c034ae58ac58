package trace

import (
	"math"
	"slices"
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
	// call is the index of the innermost call that the sample belongs to. shown is how many calls, from the outermost one
	// on, were surely open.
	call, shown int
	// between has the frames right outside of open calls, below the frames below the innermost one.
	between []framesOutside
	below   []int32
	// gap is set if it was taken where records are missing.
	gap bool
}

// framesOutside are frames between an open call and the next outer one, the outermost first.
type framesOutside struct {
	call   int
	frames []int32
}

// windowRecords is a [Window] by its records.
type windowRecords struct {
	first, end uint64
	until      int64
}

// maxAligned is how many pairs of calls and frames are compared at most to find out which calls have ended.
const maxAligned = 1 << 20

// place hands on the samples whose place is before held[i]. It returns false if it depends on records that have not come
// yet.
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

// widen has the range of a sample contain the records of the window that it was taken in.
func (r *repairer) widen(s *waitingSample) {
	for len(r.windows) > 0 && r.windows[0].end < s.Record {
		r.windows = r.windows[1:]
	}
	for _, w := range r.windows {
		if w.first <= s.Record && s.Record <= w.end && s.Nanos <= w.until {
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

// keepInGap takes the samples that were taken before the record behind a gap.
func (r *repairer) keepInGap() {
	for len(r.samples) > 0 && r.samples[0].Record < r.number {
		if r.scope.on && r.scope.begin != math.MinInt64 {
			r.scope.samples = append(r.scope.samples, r.samples[0])
		} else {
			r.table.counts.Idle++
		}
		r.samples = r.samples[1:]
	}
}

// putGap hands on the samples that were taken in the gap, when it is known which calls that were open before it were
// open all the time: the first known ones.
func (r *repairer) putGap(known int) {
	for _, s := range r.scope.samples {
		stack := r.table.stack(s.stack)
		p := placement{SteadySample: s.SteadySample, call: known - 1, shown: known, gap: true}
		at := r.align(0, known, stack.frames)
		from := -1
		for _, f := range at {
			from = max(from, f)
		}
		p.below = r.below(stack.frames, from)
		r.hand(p)
	}
}

// below returns the frames behind the one at from. If none is a frame of an open call, they begin with the first one of a
// method that may be recorded.
func (r *repairer) below(frames []int32, from int) []int32 {
	if from < 0 {
		from = slices.IndexFunc(frames, func(f int32) bool {
			_, ok := r.table.names.Find(r.table.texts[f])
			return ok
		}) - 1
		if from < -1 {
			return nil
		}
	}
	return frames[from+1:]
}

// hand hands on a sample in its place.
func (r *repairer) hand(p placement) {
	if r.made == batch {
		r.flush()
	}
	r.placed = append(r.placed, p)
	r.emit(eventSample, 0, 0, uint64(len(r.placed)-1))
}

// choose decides before which of some records a sample was taken: where the calls that are open are on the stack, and of
// several such places where most are.
func (r *repairer) choose(s *waitingSample, records []Record) {
	s.chosen, s.at, s.constant = true, r.number, len(r.open)
	if len(records) == 0 {
		return
	}
	depth, inner := len(r.open), []Method(nil)
	leave := func(m Method) {
		if n := len(inner); n > 0 {
			if k := lastOf(inner, m); k >= 0 {
				inner = inner[:k]
			}
			return
		}
		if depth > 0 && r.open[depth-1].method == m {
			depth--
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
	lo := r.firstOpen()
	frames := r.table.stack(s.stack).frames
	next := 0
	for _, f := range r.align(lo, s.constant, frames) {
		next = max(next, f+1)
	}
	// fits has the calls that are open at a place and not all the time.
	type fit struct {
		method            Method
		next              int // the frame behind its own
		missing, matching int // how many of the calls up to it are not on the stack, and are
	}
	fits := []fit{{next: next}}
	enter := func(m Method) {
		f := fits[len(fits)-1]
		f.method = m
		if name := r.table.nameOf(m); !r.exempt(m) {
			if k := slices.Index(frames[f.next:], name); k >= 0 {
				f.next += k + 1
				f.matching++
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
		if m := Method(record.ID()); record.Entry() {
			enter(m)
		} else {
			for n := len(fits) - 1; n > 0; n-- {
				if fits[n].method == m {
					fits = fits[:n]
					break
				}
			}
		}
		if f := fits[len(fits)-1]; f.missing < best.missing || f.missing == best.missing && f.matching > best.matching {
			best, s.at = f, r.number+uint64(k)+1
		}
	}
}

// lastOf returns the last index of a method, -1 if there is none.
func lastOf(methods []Method, m Method) int {
	for k := len(methods) - 1; k >= 0; k-- {
		if methods[k] == m {
			return k
		}
	}
	return -1
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
	return name == noName || m == MethodDispatch || r.table.hidden[name]
}

// align returns for the open calls from lo up to hi which frame is theirs, -1 for none. The frames are in the order of
// the calls. If not all calls have a frame, it finds the most that can have one, of several choices the innermost.
func (r *repairer) align(lo, hi int, frames []int32) []int {
	hi = max(lo, hi)
	at := make([]int, hi-lo)
	if r.assign(lo, frames, at, nil) {
		return at
	}
	var calls []int // those that may have a frame
	in := map[int32]bool{}
	for _, f := range frames {
		in[f] = true
	}
	for k := range at {
		if in[r.table.nameOf(r.open[lo+k].method)] {
			calls = append(calls, k)
		}
	}
	name := func(k int) int32 { return r.table.nameOf(r.open[lo+calls[k]].method) }
	alive := make([]bool, len(at))
	n, m := len(calls), len(frames)
	if n*m > maxAligned {
		for j := m - 1; n > 0 && j >= 0; {
			k := n - 1
			if i := lastIndex(frames[:j+1], name(k)); i >= 0 {
				alive[calls[k]], j = true, i-1
			}
			n--
		}
	} else {
		// The longest common subsequence.
		most := make([]int32, (n+1)*(m+1))
		for i := 1; i <= n; i++ {
			for j := 1; j <= m; j++ {
				if name(i-1) == frames[j-1] {
					most[i*(m+1)+j] = most[(i-1)*(m+1)+j-1] + 1
				} else {
					most[i*(m+1)+j] = max(most[(i-1)*(m+1)+j], most[i*(m+1)+j-1])
				}
			}
		}
		for i, j := n, m; i > 0 && j > 0; {
			switch here := most[i*(m+1)+j]; {
			case most[i*(m+1)+j-1] == here:
				j--
			case name(i-1) == frames[j-1]:
				alive[calls[i-1]] = true
				i, j = i-1, j-1
			default:
				i--
			}
		}
	}
	r.assign(lo, frames, at, alive)
	return at
}

// assign sets the frame of each call that is alive, nil for all, to the first one behind that of the calls around it. It
// returns whether all calls have a frame that must.
func (r *repairer) assign(lo int, frames []int32, at []int, alive []bool) (all bool) {
	next := 0
	all = true
	for k := range at {
		at[k] = -1
		if m := r.open[lo+k].method; alive == nil || alive[k] {
			if i := slices.Index(frames[next:], r.table.nameOf(m)); i >= 0 {
				at[k] = next + i
				next += i + 1
			} else {
				all = all && r.exempt(m)
			}
		}
	}
	return all
}

func lastIndex(frames []int32, name int32) int {
	for k := len(frames) - 1; k >= 0; k-- {
		if frames[k] == name {
			return k
		}
	}
	return -1
}

// put hands on a sample whose place is here, and ends the calls that it contradicts.
func (r *repairer) put(s *waitingSample) {
	if len(r.open) == 0 {
		r.table.counts.Idle++
		return
	}
	stack := r.table.stack(s.stack)
	frames := stack.frames
	if stack.own {
		r.table.counts.Own++
	}
	lo := r.firstOpen()
	constant := min(max(s.constant, lo), len(r.open))
	at := r.align(lo, constant, frames)
	next, matching := 0, false
	for _, f := range at {
		next, matching = max(next, f+1), matching || f >= 0
	}
	for _, o := range r.open[constant:] {
		f := slices.Index(frames[next:], r.table.nameOf(o.method))
		if f >= 0 {
			f += next
			next, matching = f+1, true
		}
		at = append(at, f)
	}
	p := placement{SteadySample: s.SteadySample}
	if len(frames) > 0 {
		p.dead = r.contradicted(lo, constant, at, matching)
	}
	at = r.end(p.dead, lo, at)
	if len(r.open) == lo {
		p.call = lo - 1
		if lo == 0 {
			r.table.counts.Idle++
		}
		r.hand(p)
		if lo == 0 && !r.scope.on {
			r.done(r.number)
		}
		return
	}
	if !matching && len(p.dead) == 0 && len(frames) > 0 && !r.exempt(r.open[len(r.open)-1].method) {
		r.table.counts.Unfit++
		return
	}
	r.split(&p, lo, at, frames)
	r.hand(p)
}

// split divides the frames among the open calls from lo on, of which at has the frames.
func (r *repairer) split(p *placement, lo int, at []int, frames []int32) {
	last := -1 // the last frame of a call
	p.call, p.shown = lo-1, lo
	for k, f := range at {
		o := &r.open[lo+k]
		if f < 0 && !r.exempt(o.method) {
			continue
		}
		p.call = lo + k
		if f < 0 {
			continue
		}
		if last >= 0 && f > last+1 {
			p.between = append(p.between, framesOutside{lo + k, frames[last+1 : f]})
		}
		last = f
		r.table.seen[r.table.nameOf(o.method)] = true
		if p.shown == lo+k {
			o.shown = true
			p.shown++
		}
	}
	if p.call >= lo {
		p.below = r.below(frames, last)
	}
}

// contradicted returns the indices of the open calls that have ended, as their frames are missing: at has the frames of
// the calls from lo on. Only calls up to constant are meant, which were open all the time in which the stack was taken.
// A call that encloses one that was shown before, and is shown again, cannot have ended.
func (r *repairer) contradicted(lo, constant int, at []int, matching bool) (dead []int32) {
	for k := len(r.open) - 1; k >= lo && k > r.message; k-- {
		o := &r.open[k]
		if at[k-lo] >= 0 {
			if o.shown {
				break
			}
		} else if k < constant && !r.exempt(o.method) && (matching || r.table.seen[r.table.nameOf(o.method)]) {
			dead = append(dead, int32(k))
		}
	}
	return dead
}

// end takes open calls off that have ended without an exit, the innermost first in dead. at has the frames of the calls
// from lo on; it returns those of the calls that are left.
func (r *repairer) end(dead []int32, lo int, at []int) []int {
	if len(dead) == 0 {
		return at
	}
	if r.ended == nil {
		r.ended = map[Method]bool{}
	}
	first := int(dead[len(dead)-1])
	open, left := r.open[:first], at[:first-lo]
	for k, d := first, len(dead)-1; k < len(r.open); k++ {
		if d >= 0 && int(dead[d]) == k {
			m := r.open[k].method
			r.table.throwing[m], r.ended[m] = true, true
			d--
			continue
		}
		open, left = append(open, r.open[k]), append(left, at[k-lo])
	}
	r.open, r.where = open, nil
	return left
}
