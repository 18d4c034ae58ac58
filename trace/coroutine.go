package trace

import "math"

// Coroutines has marks of coroutines that a thread has made. It comes before the [Records] with their numbers.
type Coroutines struct {
	// Thread is the thread's index.
	Thread uint32
	// First is the number of the first mark: how many the thread had made before, with those that were lost.
	First uint64
	// Marks has the marks, the oldest first.
	Marks []CoroutineMark
}

// CoroutineMark is what happened to a coroutine right before a record of its thread.
type CoroutineMark struct {
	// Record is the number of that record.
	Record uint64
	// Kind is what happened.
	Kind CoroutineKind
	// Method is the suspend function or lambda, 0 of a [CoroutineLost].
	Method Method
	// Hash is the identity hash code of the continuation, 0 where there is none. Two continuations may have the same.
	Hash uint32
	// Lost is how many marks are missing, of a [CoroutineLost].
	Lost uint64
}

// CoroutineKind is what happened to a coroutine.
type CoroutineKind uint8

// What happens to coroutines. Others may be added.
const (
	// CoroutineLost says that marks are missing from the record on, up to the next mark.
	CoroutineLost CoroutineKind = iota
	// CoroutineContinues is the making of the continuation of a call: it is to be resumed with this continuation.
	CoroutineContinues
	// CoroutineStarts is the making of a suspend lambda, which may be run later.
	CoroutineStarts
	// CoroutineResumes is the begin or the resumption of a call with this continuation.
	CoroutineResumes
	// CoroutineSuspends is the exit of a call that is suspended.
	CoroutineSuspends
)

// PlacedMark is a mark at its place in a segment.
type PlacedMark struct {
	CoroutineMark
	// Call is the index in [Segment.Calls]: of a [CoroutineSuspends] the call that ends, of a [CoroutineResumes] the call
	// that was entered by it, of a [CoroutineContinues] the call of Method whose continuation it is. For other kinds it
	// is the innermost open call; -1 if none is open or it is not known.
	Call int32
	// Nanos is its time in [Clock.NanoTime]: the end or the begin of the call that it ends or begins, for other kinds the
	// time of the record before. Until is then the time of the record behind, or the greatest number if there is none.
	Nanos, Until int64
}

// CoroutineCounts counts marks of coroutines.
type CoroutineCounts struct {
	// Placed is how many marks are in segments. Lost is how many the runtime has lost. Unfit is how many belong to records
	// that are missing, or that are not what the mark says: nothing can be known of them.
	Placed, Lost, Unfit uint64
}

// upTo notes that the thread had made so many marks by now. Those that have not come are missing, from the next record
// on.
func (r *repairer) upTo(made uint64) {
	if made > r.marksMade {
		r.marks = append(r.marks, CoroutineMark{Record: r.next, Kind: CoroutineLost, Lost: made - r.marksMade})
		r.marksMade = made
	}
}

// takeMarks takes the marks of a chunk, unless they were there before.
func (r *repairer) takeMarks(c *Coroutines) {
	if c.First < r.marksMade {
		return
	}
	r.upTo(c.First)
	for _, m := range c.Marks {
		n := uint64(1)
		if m.Kind == CoroutineLost {
			n = m.Lost
		}
		r.marksMade += min(n, math.MaxUint64-r.marksMade)
		r.marks = append(r.marks, m)
	}
}

// waitingMark is a [CoroutineResumes] whose call has not begun.
type waitingMark struct {
	mark  CoroutineMark
	depth int // how many calls were open
}

// mark handles the marks before the next record, which is at a time. One that names a record that is missing, or
// another one than it says, is left out.
func (r *repairer) mark(next Record, at int64) {
	r.until = max(r.now, at)
	for len(r.marks) > 0 && r.marks[0].Record <= r.number {
		m := r.marks[0]
		r.marks = r.marks[1:]
		r.losing = m.Kind == CoroutineLost
		depth := len(r.open)
		known := depth > 0 && !(r.scope.on && depth == r.scope.depth)
		switch {
		case m.Kind == CoroutineLost:
			r.counts.Lost += m.Lost
			r.putMark(m, known)
		case m.Record < r.number:
			r.counts.Unfit++
		case m.Kind == CoroutineStarts:
			r.putMark(m, known)
		case m.Kind == CoroutineContinues && known && r.open[depth-1].method == m.Method:
			r.putMark(m, true)
		case m.Kind == CoroutineSuspends && !next.Entry() && Method(next.ID()) == m.Method:
			r.suspends = m
		case m.Kind == CoroutineResumes:
			r.dropResumes(depth)
			r.resumes = append(r.resumes, waitingMark{m, depth})
		default:
			r.counts.Unfit++
		}
	}
}

// putMark hands on a mark. known is whether the innermost open call is known.
func (r *repairer) putMark(m CoroutineMark, known bool) {
	if r.made == batch {
		r.flush()
	}
	p := PlacedMark{CoroutineMark: m, Until: r.until}
	if !known {
		p.Call = -1
	}
	r.counts.Placed++
	r.marked = append(r.marked, p)
	r.emit(eventMark, 0, 0, uint64(len(r.marked)-1))
}

// resume hands on the mark that says how the call came about that was entered: the last one that waits for its method.
func (r *repairer) resume(m Method) {
	for k := len(r.resumes) - 1; k >= 0; k-- {
		if w := r.resumes[k]; w.mark.Method == m {
			r.dropResumes(w.depth + 1)
			r.resumes = r.resumes[:k]
			r.putMark(w.mark, true)
			if r.losing {
				r.putMark(CoroutineMark{Record: r.number, Kind: CoroutineLost}, true) // the mark came before the loss
			}
			return
		}
	}
}

// dropResumes leaves out the marks that wait since at least so many calls were open: their calls do not come any more.
func (r *repairer) dropResumes(depth int) {
	for k := len(r.resumes) - 1; k >= 0 && r.resumes[k].depth >= depth; k-- {
		r.resumes = r.resumes[:k]
		r.counts.Unfit++
	}
}

// builtMark is a mark of the segment that is made, when index calls had begun.
type builtMark struct {
	PlacedMark
	index int32
}

// mark puts a mark in its place.
func (b *builder) mark(m PlacedMark) {
	if m.Nanos = b.now; m.Call == 0 {
		m.Call = b.top
	}
	b.marks = append(b.marks, builtMark{m, int32(len(b.segment.Calls))})
}

// shiftMarks makes room for n calls at start.
func (b *builder) shiftMarks(start, n int32) {
	for i := range b.marks {
		m := &b.marks[i]
		if m.Call >= start {
			m.Call += n
		}
		if m.index > start {
			m.index += n
		}
	}
}

// marksOf returns the marks of the segment with the calls from one index up to another.
func (b *builder) marksOf(from, to int32) (list []PlacedMark) {
	for len(b.marks) > 0 {
		m := b.marks[0]
		if m.Call >= to || m.Call < 0 && m.index >= to {
			break
		}
		b.marks = b.marks[1:]
		m.Call = max(-1, m.Call-from)
		list = append(list, m.PlacedMark)
	}
	return list
}
