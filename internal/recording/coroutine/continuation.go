package coroutine

import (
	"math"

	"github.com/tracegen/tracegen/trace"
)

// continuation is what is known of the continuations of one key: usually there is one.
type continuation struct {
	*joining
	key key
	// stall is that of the last event.
	stall int32
	// incomplete is whether some of its marks belong to no known call.
	incomplete bool
	// call is the call that is suspended, -1 if there is none. launched is where a lambda was made that has not begun.
	call     int32
	launched *launch
	// others is how many continuations with the key may be resumed of which the calls cannot be distinguished.
	others int
}

// forever is a number of others that are never all gone.
const forever = math.MaxInt32

// event takes the next thing that happened. If only one continuation of the recording has the key, all is about it,
// also what comes behind a piece that seems to be the last. If there were several, or may have been in a method that
// had some, a piece belongs to the one that waits, as long as no other can be meant.
//
// Between two stalls of a recording that has nothing else, anything may have happened to it.
func (c *continuation) event(e event) {
	stall := c.stall
	if c.stall = c.stallOf(e); c.stall != stall {
		c.call, c.launched, c.others = -1, nil, 0
	}
	switch reused := c.allReused || c.reused[c.key.method()]; {
	case e.launch && reused && c.waits():
		c.confuse(1)
	case e.launch:
		c.launched = &c.launches[e.index]
	case c.pieces[e.index].kind == trace.CoroutineContinues:
		c.first(e.index, reused)
	case !reused:
		c.goOn(e.index)
	default:
		c.resume(e.index)
	}
}

func (j *Joiner) stallOf(e event) int32 {
	if e.launch {
		return j.launches[e.index].stall
	}
	return j.pieces[e.index].stall
}

// waits reports whether a continuation is to be resumed.
func (c *continuation) waits() bool { return c.call >= 0 || c.launched != nil || c.others > 0 }

// confuse notes that there are more continuations than one: from now on it is not known which of them is resumed.
func (c *continuation) confuse(more int) {
	if c.call >= 0 {
		c.out.Ambiguous++
		more++
	}
	if c.launched != nil {
		more++
	}
	c.call, c.launched = -1, nil
	c.others = min(forever, c.others+more)
}

// first takes the first piece of a function. A continuation whose call does not wait is never resumed.
func (c *continuation) first(index int32, reused bool) {
	call := c.begin(index)
	switch status := c.pieces[index].status; {
	case !reused:
		c.call = call
	case status == statusUnknown:
		c.confuse(forever)
	case status == statusSuspended && c.waits():
		c.out.Ambiguous++
		c.confuse(1)
	case status == statusSuspended:
		c.call = call
	}
}

// goOn takes a piece of the only continuation, and says whether the piece begins it.
func (c *continuation) goOn(index int32) {
	p := &c.pieces[index]
	switch {
	case c.call >= 0:
		pieces := c.out.Calls[c.call].Pieces
		last := &pieces[len(pieces)-1]
		last.AtMost = !last.Suspended || c.mayHaveRun(last.End, p.begin)
		last.Suspended = true
		// It may be resumed on another thread before it has returned on this one.
		last.End = min(last.End, p.begin)
		c.extend(c.call, index)
	case c.launched != nil:
		c.call = c.begin(index)
		call := &c.out.Calls[c.call]
		call.Launched, call.BeginUnknown = &c.launched.Launch, c.mayHaveRun(c.launched.Nanos, p.begin)
		c.parents[c.call], c.launched = c.launched.piece, nil
	default:
		c.call = c.beginUnknown(index)
	}
}

// beginUnknown makes a call of a piece that is not its first.
func (c *continuation) beginUnknown(index int32) int32 {
	call := c.begin(index)
	c.out.Calls[call].BeginUnknown = true
	c.parents[call] = unknownPiece
	return call
}

// resume takes a piece of one of several continuations.
func (c *continuation) resume(index int32) {
	p := &c.pieces[index]
	if c.others == 0 && (!c.waits() || c.mayHaveRun(math.MinInt64, p.begin)) {
		c.confuse(forever)
	}
	if c.others > 0 {
		c.beginUnknown(index)
		if c.others < forever && (p.status == statusReturned || p.status == statusThrew) {
			c.others--
		}
		return
	}
	c.goOn(index)
	switch p.status {
	case statusSuspended:
	case statusUnknown:
		c.confuse(forever)
	default:
		c.call = -1
	}
}

// mayHaveRun reports whether calls may have run, in a time, that are not recorded.
func (c *continuation) mayHaveRun(begin, end int64) bool {
	off, gated := c.gated[c.key.method()]
	return c.incomplete || gated && off <= end || c.lossWithin(begin, end)
}

// finish says what is known of a call that was not resumed.
func (c *continuation) finish() {
	if c.call < 0 {
		return
	}
	call := &c.out.Calls[c.call]
	if call.Pieces[len(call.Pieces)-1].Suspended && !c.mayHaveRun(call.Ended, math.MaxInt64) {
		call.End = EndSuspended
	}
}
