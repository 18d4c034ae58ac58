package trace

import "math"

// repairScope has the records behind a gap, up to the place at which it is known which calls enclose them.
//
// An exit here that has no entry is of a call that was open before the gap, or of one that was entered in the gap.
// The records do not show which: a call may have ended in the gap, and another one of the same method may have begun.
// Only the outermost call may be known to be open on both sides of the gap, if the recording says by other means that
// the message or the outermost call lasted from before the gap until behind it ([Alive], [StallChunk]). All other
// calls that were open before the gap end there, and the exits behind it are of calls that were entered in it.
type repairScope struct {
	on         bool
	depth      int    // how many calls were open before
	before     uint64 // the number of the first record that is missing
	first      uint64 // the number of the first record behind the gap
	number     uint64 // of the first record behind the last exit that has no entry, or behind the gap
	begin, end int64  // the times of the gap: math.MinInt64 and math.MaxInt64 until they are known
	dispatch   bool   // the last call that was entered in the gap is a dispatch
	outermost  bool   // it is one of the method that was the outermost one before the gap
}

// span is what another chunk says of a message or an outermost call: when it began, and until when it was open at
// least, in nanoseconds.
type span struct {
	begin, end       int64
	ended            bool
	first, endRecord uint64 // if it has ended, the numbers of its first record and of the one behind its last
}

// waitsFor is how many records may be held because later ones may say which call they end.
const waitsFor = piece

// maxSpans is how many spans are kept for each thread: the repair needs no spans of calls before its gap.
const maxSpans = 64

// isOpen notes that a message or an outermost call was open for some time.
func (r *repairer) isOpen(s span) {
	if n := len(r.spans); n > 0 && !r.spans[n-1].ended && !s.ended && r.spans[n-1].begin == s.begin {
		r.spans[n-1].end = s.end
		return
	}
	if r.spans = append(r.spans, s); len(r.spans) > maxSpans {
		r.spans = append(r.spans[:0], r.spans[maxSpans/2:]...)
	}
}

// covers reports whether a span belongs to the outermost call before the gap, and that call was open behind the gap.
// Times of records may be early by the period of the clock.
func (r *repairer) covers(open *span) bool {
	s := &r.scope
	if open.ended {
		return open.first < s.before && s.first < open.endRecord
	}
	return s.begin != math.MinInt64 && s.end != math.MaxInt64 &&
		open.begin <= s.begin-r.limits.period && s.end+r.limits.period <= open.end
}

// outermostKnown reports whether the outermost call that was open before the gap is known, from other chunks, to have
// been open behind it.
func (r *repairer) outermostKnown() bool {
	for k := range r.spans {
		if r.covers(&r.spans[k]) {
			return true
		}
	}
	return false
}

// endsOutermost reports whether the exit whose number comes before r.number ends the outermost call, of the same
// method, that is known to have been open behind the gap. The exit may also be of a call that was entered in the gap.
func (r *repairer) endsOutermost() bool {
	for k := range r.spans {
		if open := &r.spans[k]; !r.covers(open) {
			continue
		} else if open.ended {
			return open.endRecord == r.number
		} else if open.end > r.now+r.limits.period {
			return false
		}
	}
	return true
}

// known returns how many of the calls that were open before the gap are known to have been open behind it: the
// outermost one, or the message and the calls that enclose it; or 0.
func (r *repairer) known() int {
	// If a message has begun in the gap, all calls had ended.
	if s := &r.scope; s.depth > 0 && !s.dispatch && r.open[r.outer()].method != MethodNotRecorded && r.outermostKnown() {
		return r.outer() + 1
	}
	return 0
}

// outer returns the index of the call that was open before the gap and that other chunks are about: the message if
// there are methods whose calls are messages for the device, else the outermost call.
func (r *repairer) outer() int {
	if r.limits.device && r.message >= 0 && r.message < r.scope.depth {
		return r.message
	}
	return 0
}

// openAcross returns the index of the open call that an exit of m may end. That is at, the innermost call of m,
// unless that was open before the gap; then it is the outermost call if that is known to be open behind it, or -1.
func (r *repairer) openAcross(at int, m Method) int {
	if !r.scope.on || at < 0 || at >= r.scope.depth {
		return at
	}
	if o := r.outer(); r.open[o].method == m && r.known() > 0 && (m == MethodDispatch || r.endsOutermost()) {
		return o
	}
	return -1
}

// waits reports whether held[i] cannot be repaired yet: it may end the call that was outermost before the gap, or
// ends the scope, and a later chunk may say whether that call was open in the gap.
func (r *repairer) waits(i int, ticks int64) bool {
	s := &r.scope
	if !r.patient || s.depth == 0 || s.begin == math.MinInt64 || r.number < r.hurries {
		return false
	}
	if len(r.held)-i > waitsFor {
		r.hurries = r.number + uint64(len(r.held)-i)
		return false
	}
	record, m := r.held[i], r.open[r.outer()].method
	exits := Method(record.ID()) == m && !record.Entry()
	if !exits && !(m == MethodDispatch && Method(record.ID()) == m) && !(len(r.gaps) > 0 && r.gaps[0].at <= i+1) &&
		r.calls+1 < r.limits.calls {
		return false
	}
	s.end = min(s.end, max(r.now, r.nanos(ticks)))
	for k := range r.spans {
		if open := &r.spans[k]; r.covers(open) && (!exits || open.ended) {
			return false
		}
	}
	return true
}

// rejoin ends the scope: the exit of the call at an index comes next, which was open before the gap. So all calls
// are known that enclose what came behind the gap.
func (r *repairer) rejoin(at int) {
	r.unwind(r.scope.depth)
	r.decideWith(at+1, true)
}

// decide ends the scope with the known calls. complete says whether all calls are known that enclose what came
// behind the gap; no call is open then that was entered behind it.
func (r *repairer) decide(complete bool) {
	if r.scope.on {
		r.decideWith(r.known(), complete)
	}
}

func (r *repairer) decideWith(known int, complete bool) {
	r.dropResumes(0)
	inner := r.open[r.scope.depth:]
	if complete {
		r.emit(eventRejoined, 0, 0, uint64(known))
		r.open = r.open[:known]
	} else {
		r.emit(eventUndecided, 0, 0, uint64(known))
		open := append(r.open[:known:known], openMethod{method: MethodNotRecorded, before: -1})
		r.open = append(open, inner...)
	}
	r.calls++
	r.where = nil
	cut := r.message >= known && r.message < r.scope.depth
	r.scope = repairScope{}
	if cut {
		// The message was open before the gap, and is not known to be open behind it.
		r.endMessage()
	}
}

// decideAtDispatch ends the scope before a message begins: no call is open that was open before.
func (r *repairer) decideAtDispatch() {
	if r.scope.on {
		r.unwind(r.scope.depth)
		r.decide(true)
	}
}

// decideAtEnd ends the scope where the records end. If nothing is open that was entered behind the gap, and if
// nothing shows that other calls enclose it, it is taken for complete.
func (r *repairer) decideAtEnd() {
	if r.scope.on {
		r.decide(len(r.open) == r.scope.depth && (r.scope.depth == 0 || r.scope.outermost))
	}
}

// scopeIsOver reports whether no call can enclose what came behind the gap: a dispatch is outermost. So that what is
// held stays bounded, a scope is also over if many records have shown no other call that encloses it, and if none was
// open before the gap, or its method is the method of the last one that has shown. This is a guess.
func (r *repairer) scopeIsOver() bool {
	s := &r.scope
	return len(r.open) == s.depth && (s.dispatch || (s.depth == 0 || s.outermost) && r.number-s.number > piece)
}
