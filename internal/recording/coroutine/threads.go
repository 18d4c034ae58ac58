package coroutine

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// pieceAt is a piece of a call. until is when it or one before it on its thread ended last.
type pieceAt struct {
	call, piece int32
	until       int64
}

// onThread returns the pieces that begin on a thread in a time, the first one first, and those that lasted until then.
func (c *Coroutines) onThread(thread uint32, begin, end int64) (lasted, begun []pieceAt) {
	if c.byThread == nil {
		c.byThread = map[uint32][]pieceAt{}
		for i := range c.Calls {
			for k := range c.Calls[i].Pieces {
				on := c.Calls[i].Pieces[k].Thread
				c.byThread[on] = append(c.byThread[on], pieceAt{call: int32(i), piece: int32(k)})
			}
		}
		for _, list := range c.byThread {
			// Of pieces that begin at one time, the longest is around the others.
			slices.SortStableFunc(list, func(a, b pieceAt) int {
				p, q := c.piece(a), c.piece(b)
				return cmp.Or(cmp.Compare(p.Begin, q.Begin), cmp.Compare(q.End, p.End))
			})
			until := int64(math.MinInt64)
			for k := range list {
				until = max(until, c.piece(list[k]).End)
				list[k].until = until
			}
		}
	}
	list := c.byThread[thread]
	begins := func(p pieceAt, at int64) int { return cmp.Compare(c.piece(p).Begin, at) }
	from, _ := slices.BinarySearchFunc(list, begin, begins)
	to, _ := slices.BinarySearchFunc(list, end, begins)
	first, _ := slices.BinarySearchFunc(list[:from], begin+1,
		func(p pieceAt, at int64) int { return cmp.Compare(p.until, at) })
	return list[first:from], list[from:max(from, to)]
}

func (c *Coroutines) piece(p pieceAt) *Piece { return &c.Calls[p.call].Pieces[p.piece] }

// Busy is what threads did in a time.
type Busy struct {
	// Least is how long that thread ran coroutines that did so for the shortest time.
	Least time.Duration
	// Method took most of the time of all threads, Took how long; 0 if nothing ran.
	Method trace.Method
	Took   time.Duration
}

// Busy says what threads did in a time.
func (c *Coroutines) Busy(threads []uint32, begin, end int64) Busy {
	least, took := end-begin, map[trace.Method]int64{}
	for _, thread := range threads {
		covered, upTo := int64(0), begin
		lasted, begun := c.onThread(thread, begin, end)
		for _, at := range append(slices.Clone(lasted), begun...) {
			p := c.piece(at)
			d := min(p.End, end) - max(p.Begin, upTo)
			if d <= 0 {
				continue // it lies in another one
			}
			covered, upTo = covered+d, min(p.End, end)
			if m, ok := c.mostly(at); ok {
				took[m] += d
			}
		}
		least = min(least, covered)
	}
	out := Busy{Least: time.Duration(max(0, least))}
	for m, d := range took {
		if d := time.Duration(d); d > out.Took || d == out.Took && m < out.Method {
			out.Method, out.Took = m, d
		}
	}
	return out
}

// mostly returns what a piece spent its time in: the call that took half of it or more, or itself.
func (c *Coroutines) mostly(at pieceAt) (m trace.Method, ok bool) {
	p := c.piece(at)
	if 2*p.Took >= p.End-p.Begin && p.Took > 0 && !c.glue(p.Longest) {
		return p.Longest, true
	}
	return c.Calls[at.call].Method, !c.Calls[at.call].Glue
}

// Waited is what a thread waited for while a coroutine that it runs was suspended.
type Waited struct {
	// Suspended is for how long, at most if AtMost is set: the call may have run meanwhile, where that is not recorded.
	Suspended time.Duration
	AtMost    bool
	// Wait is what most of that was for; nil if that is not known.
	Wait *Wait
	// Late is the lambda that it waited for and that began latest after it was made, nil if none did; LateBy is by how
	// much.
	Late   *Call
	LateBy time.Duration
}

// Waited returns what the call waited for that was suspended longest between two times and went on on the same
// thread. ok is false if there is none.
func (c *Coroutines) Waited(thread uint32, begin, end int64) (out Waited, ok bool) {
	sums := map[int32]time.Duration{}
	best, longest, most := int32(-1), pieceAt{}, time.Duration(0)
	_, begun := c.onThread(thread, begin, end)
	for _, at := range begun {
		sums[at.call] += c.suspended(at, begin, end)
		// Those around a call are suspended with it, and have begun before it.
		if best < 0 || sums[at.call] > sums[best] {
			best = at.call
		}
	}
	if best < 0 || sums[best] == 0 {
		return out, false
	}
	out.Suspended = sums[best]
	for _, at := range begun {
		if at.call != best {
			continue
		}
		out.AtMost = out.AtMost || c.piece(at).AtMost
		if d := c.suspended(at, begin, end); d > most {
			longest, most = at, d
		}
	}
	out.Wait = c.waitOf(longest)
	for i := best + 1; int(i) < len(c.Calls) && c.Calls[i].Begin() < end; i++ {
		d := &c.Calls[i]
		if late := d.Late(); late > out.LateBy && d.Launched.Nanos >= begin && c.Within(int(i), int(best)) {
			out.Late, out.LateBy = d, late
		}
	}
	return out, true
}

// suspended returns for how long, in a time, a call was suspended behind a piece until it went on on the same thread.
func (c *Coroutines) suspended(at pieceAt, begin, end int64) time.Duration {
	call, p := &c.Calls[at.call], c.piece(at)
	if next := int(at.piece) + 1; next == len(call.Pieces) || call.Pieces[next].Thread != p.Thread {
		return 0
	}
	return time.Duration(max(0, min(end, p.End+int64(call.SuspendedFor(int(at.piece))))-max(begin, p.End)))
}

// waitOf returns what a call was suspended for behind a piece: what the innermost of the calls waited for that were
// suspended with it, as far as that is known.
func (c *Coroutines) waitOf(at pieceAt) *Wait {
	wait := c.piece(at).Wait
	for n := 0; n < mostGlue && (wait == nil || !wait.Launched); n++ {
		p, inner := c.piece(at), pieceAt{call: -1}
		_, begun := c.onThread(p.Thread, p.Begin, p.End)
		for _, in := range begun {
			q := c.piece(in)
			if q.Suspended && q.End <= p.End && c.Calls[in.call].Parent == int(at.call) {
				inner = in // the last one, which was suspended right before
			}
		}
		if inner.call < 0 {
			break
		}
		at = inner
		if w := c.piece(at).Wait; w != nil && (wait == nil || !c.library(w.Method)) {
			wait = w
		}
	}
	return wait
}

// mostNested is how many callers are asked at most whether a call is in another one.
const mostNested = 64

// Within reports whether a call is one of another, directly or through others.
func (c *Coroutines) Within(call, in int) bool {
	for n := 0; call >= 0 && n < mostNested; n++ {
		if call = c.Calls[call].Parent; call == in {
			return true
		}
	}
	return false
}
