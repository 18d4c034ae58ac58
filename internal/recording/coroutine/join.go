package coroutine

import (
	"cmp"
	"math"
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// joining makes calls of pieces.
type joining struct {
	*Joiner
	out *Coroutines
	// callOf is the call of each piece, and placeOf its index there. parents are the pieces that the calls lie in.
	callOf, placeOf []int32
	parents         []int32
	lambdas         map[trace.Method]bool
	continued       map[trace.Method]bool // those that have continuations
	// reused are the methods of which two continuations had the same hash code. allReused is whether that may be so of
	// any method.
	reused    map[trace.Method]bool
	allReused bool
	// losses are in the order of their begins, until has the latest end up to each.
	until []int64
}

// Join returns the asynchronous calls, nil if the recording has no marks. partial is whether chunks are missing, or the
// marks of some threads, at times that are not known.
func (j *Joiner) Join(partial bool) *Coroutines {
	if !j.started {
		return nil
	}
	partial = partial || j.onlyStalls
	for _, t := range j.threads {
		j.losses = append(j.losses, t.lost...)
	}
	w := &joining{Joiner: j, out: &Coroutines{Lost: j.counts.Lost, Unplaced: j.counts.Unfit,
		partial: partial, glue: j.isGlue, library: j.isLibrary},
		callOf: make([]int32, len(j.pieces)), placeOf: make([]int32, len(j.pieces)),
		lambdas: map[trace.Method]bool{}, continued: map[trace.Method]bool{}, reused: map[trace.Method]bool{}}
	w.sortLosses(partial || j.missing > 0 || len(j.made) >= mostMarks)
	w.distrust()
	w.sortMade()
	made := j.made
	for events := w.events(); len(events) > 0; {
		c := continuation{joining: w, key: events[0].key, call: -1}
		n := 1
		for n < len(events) && events[n].key == c.key {
			n++
		}
		for len(made) > 0 && made[0].key < c.key {
			made = made[1:]
		}
		marks := 0
		for marks < len(made) && made[marks].key == c.key {
			marks++
		}
		c.incomplete = marks != n
		for _, e := range events[:n] {
			c.event(e)
		}
		c.finish()
		events = events[n:]
	}
	w.tailCalls()
	w.arrange()
	w.waitForLaunched()
	return w.out
}

// sortLosses prepares the losses for questions. always is whether something may be missing at any time.
func (w *joining) sortLosses(always bool) {
	if always {
		w.losses = append(w.losses, span{math.MinInt64, math.MaxInt64})
	}
	slices.SortFunc(w.losses, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	latest := int64(math.MinInt64)
	for _, l := range w.losses {
		latest = max(latest, l.end)
		w.until = append(w.until, latest)
	}
}

// lossWithin reports whether something may be missing in a time.
func (w *joining) lossWithin(begin, end int64) bool {
	n, _ := slices.BinarySearchFunc(w.losses, end, func(l span, end int64) int {
		if l.begin <= end {
			return -1
		}
		return 1
	})
	return n > 0 && w.until[n-1] >= begin
}

// distrust makes ends of pieces unknown where the mark of a suspension may be missing. The pieces of a thread are in
// the order in which they were marked, so their ends are not in order.
func (w *joining) distrust() {
	for i := range w.pieces {
		p := &w.pieces[i]
		if p.status != statusReturned {
			continue
		}
		lost := w.threads[p.thread].lost
		n, _ := slices.BinarySearchFunc(lost, p.end, func(l span, end int64) int { return cmp.Compare(l.end, end) })
		if n < len(lost) && lost[n].begin <= p.end {
			p.status = statusUnknown
		}
	}
}

// sortMade sorts the marks by their continuations, and finds the methods of which two had the same hash code.
func (w *joining) sortMade() {
	made := w.made
	slices.SortFunc(made, func(a, b madeMark) int { return cmp.Compare(a.key, b.key) })
	var hashes []uint32
	for i := 0; i < len(made); {
		k, n := made[i].key, 0
		for ; i < len(made) && made[i].key == k; i++ {
			if made[i].kind != trace.CoroutineResumes {
				hashes = append(hashes, uint32(k))
				n++
			}
			if made[i].kind == trace.CoroutineStarts {
				w.lambdas[k.method()] = true
			}
			w.continued[k.method()] = true
		}
		if n > 1 {
			w.reused[k.method()] = true
		}
	}
	slices.Sort(hashes)
	w.allReused = len(hashes)-len(slices.Compact(hashes)) > usualReuse(len(hashes))
}

// usualReuse returns how many of so many objects have the hash code of another one at most, if the codes are random
// numbers of 25 bits or more, as those of virtual machines are.
func usualReuse(objects int) int { return 1 + objects*objects>>24 }

// event is something that happened to a continuation: a launch or a piece.
type event struct {
	key    key
	at     int64
	rank   uint8 // of several things at one time, what is first
	launch bool
	index  int32
}

// events returns what happened to continuations, by continuation and time. Times are coarse: of several pieces at one
// time, the one that ended the call is the last.
func (w *joining) events() []event {
	events := make([]event, 0, len(w.pieces)+len(w.launches))
	for i := range w.launches {
		l := &w.launches[i]
		events = append(events, event{key: l.key, at: l.Nanos, launch: true, index: int32(i)})
	}
	for i := range w.pieces {
		p := &w.pieces[i]
		e := event{key: p.key, at: p.begin, index: int32(i)}
		switch {
		case p.kind == trace.CoroutineSuspends:
			continue
		case p.kind == trace.CoroutineResumes && p.status == statusSuspended:
			e.rank = 1
		case p.kind == trace.CoroutineResumes:
			e.rank = 2
		}
		events = append(events, e)
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank),
			cmp.Compare(a.index, b.index))
	})
	return events
}

// begin makes a call that begins with a piece.
func (w *joining) begin(index int32) int32 {
	p := &w.pieces[index]
	n := int32(len(w.out.Calls))
	w.out.Calls = append(w.out.Calls, Call{Method: p.key.method(), Lambda: w.lambdas[p.key.method()],
		Glue: w.isGlue(p.key.method()), Library: w.isLibrary(p.key.method()), Parent: -1})
	w.parents = append(w.parents, p.parent)
	w.extend(n, index)
	return n
}

// extend appends a piece to a call.
func (w *joining) extend(call, index int32) {
	c, p := &w.out.Calls[call], &w.pieces[index]
	out := Piece{Thread: p.thread, Begin: p.begin, End: p.end, Record: p.record, Longest: p.longest, Took: p.took,
		Suspended: p.status == statusSuspended}
	if p.wait >= 0 {
		out.Wait = &Wait{Method: w.pieces[p.wait].key.method()}
	}
	w.callOf[index], w.placeOf[index] = call, int32(len(c.Pieces))
	c.Pieces = append(c.Pieces, out)
	c.End, c.Ended = EndUnknown, p.end
	switch p.status {
	case statusReturned:
		c.End = EndReturned
	case statusThrew:
		c.End = EndThrew
	case statusOpen:
		c.End = EndRunning
	}
}

// tailCalls makes the calls that have no continuation. One of them had ended when its caller went on.
func (w *joining) tailCalls() {
	for i := range w.pieces {
		p := &w.pieces[i]
		if p.kind != trace.CoroutineSuspends {
			continue
		}
		call := w.begin(int32(i))
		c := &w.out.Calls[call]
		c.TailCall = !w.continued[c.Method] && !w.lossWithin(p.begin, p.end)
		c.BeginUnknown = !c.TailCall
		if p.caller < 0 {
			continue
		}
		caller := &w.out.Calls[w.callOf[p.caller]]
		at := int(w.placeOf[p.caller])
		if at+1 < len(caller.Pieces) {
			c.End, c.Ended = EndBy, caller.Pieces[at+1].Begin
			c.Pieces[0].AtMost = true
		}
	}
}

// arrange puts the calls into the order of their begins, and sets their parents.
func (w *joining) arrange() {
	calls := w.out.Calls
	order, place := make([]int32, len(calls)), make([]int, len(calls))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(calls[a].Begin(), calls[b].Begin()), cmp.Compare(calls[a].Pieces[0].Thread,
			calls[b].Pieces[0].Thread), cmp.Compare(a, b))
	})
	for at, i := range order {
		place[i] = at
	}
	out := make([]Call, len(calls))
	for at, i := range order {
		out[at] = calls[i]
		if p := w.parents[i]; p >= 0 {
			out[at].Parent = place[w.callOf[p]]
		}
	}
	w.out.Calls = out
}

// waitForLaunched finds what calls were suspended for that no suspend function of the program shows: lambdas that they
// had launched, which ended right before they were resumed.
func (w *joining) waitForLaunched() {
	calls := w.out.Calls
	ended := make([][]int32, len(calls)) // by parent, the launched lambdas that have ended, in the order of that
	for i := range calls {
		if c := &calls[i]; c.Parent >= 0 && c.Launched != nil && (c.End == EndReturned || c.End == EndThrew) {
			// What launches a lambda is a tail call of the library in the call that waits.
			parent := c.Parent
			for n := 0; n < mostGlue && calls[parent].TailCall && calls[parent].Parent >= 0; n++ {
				parent = calls[parent].Parent
			}
			ended[parent] = append(ended[parent], int32(i))
		}
	}
	for i, list := range ended {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(calls[a].Ended, calls[b].Ended) })
		pieces := calls[i].Pieces
		for k := 0; k+1 < len(pieces) && len(list) > 0; k++ {
			p, resumed := &pieces[k], pieces[k+1].Begin
			n, _ := slices.BinarySearchFunc(list, resumed, func(a int32, resumed int64) int {
				if calls[a].Ended <= resumed {
					return -1
				}
				return 1
			})
			if n > 0 && (p.Wait == nil || w.isGlue(p.Wait.Method)) {
				if c := &calls[list[n-1]]; c.Ended > p.End && (resumed-c.Ended)*nearEnd <= resumed-p.End {
					p.Wait = w.launchedWait(c)
				}
			}
		}
	}
}

// nearEnd is which part of a suspension may lie between the end of a lambda and the resumption for which it is taken.
const nearEnd = 20

// launchedWait returns what waiting for a launched lambda was for: the call in it that took half of its time or more,
// what it was suspended for as long, or itself.
func (j *Joiner) launchedWait(c *Call) *Wait {
	out := &Wait{Method: c.Method, Launched: true, Thread: c.Pieces[len(c.Pieces)-1].Thread}
	most := int64(0)
	for i := range c.Pieces {
		p := &c.Pieces[i]
		m, thread, took := p.Longest, p.Thread, p.Took
		if suspended := int64(c.SuspendedFor(i)); suspended > took && p.Wait != nil {
			m, thread, took = p.Wait.Method, out.Thread, suspended
		}
		if took > most && 2*took >= int64(c.Wall()) && !j.isGlue(m) {
			out.Method, out.Thread, most = m, thread, took
		}
	}
	return out
}
