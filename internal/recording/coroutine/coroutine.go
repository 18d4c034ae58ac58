package coroutine

import (
	"time"

	"github.com/tracegen/tracegen/trace"
)

// Coroutines has the asynchronous calls of a recording.
type Coroutines struct {
	// Calls are in the order in which they began.
	Calls []Call
	// Lost is how many marks the recorder has lost, Unplaced how many belong to records that are missing or are not what
	// the mark says. Ambiguous is how many calls are not joined because another continuation had the same hash code.
	Lost, Unplaced, Ambiguous uint64

	partial  bool // some threads may not be recorded
	glue     func(trace.Method) bool
	library  func(trace.Method) bool
	byThread map[uint32][]pieceAt // in the order of time; nil until it is asked for
}

// Call is one call of a suspend function or one run of a suspend lambda, from its begin to its end.
type Call struct {
	// Method is the function, or the invokeSuspend of the lambda.
	Method trace.Method
	// Lambda is whether it is a lambda: its first piece was resumed, too.
	Lambda bool
	// TailCall is whether it has no continuation of its own: what it calls last has returned to its caller. Its end is
	// known only as the time by which it had ended.
	TailCall bool
	// Glue is what [Joiner.Glue] says of the method, Library whether it is that or of another library.
	Glue, Library bool
	// BeginUnknown is whether there may be pieces before the first one.
	BeginUnknown bool
	// Pieces are the parts in which it ran, in the order of time; there is at least one.
	Pieces []Piece
	// End says how it ended, Ended when: of [EndBy] at the latest, of [EndSuspended], [EndRunning] and [EndUnknown] when
	// its last piece did.
	End   End
	Ended int64
	// Parent is the index in [Coroutines.Calls] of the nearest asynchronous call that is known to have called or launched
	// it, directly or through others that are not recorded; -1 if there is none.
	Parent int
	// Launched says where the lambda was made, if that is known.
	Launched *Launch
}

// Piece is a part of a call in which it ran on a thread.
type Piece struct {
	// Thread is the index of its thread, Begin and End are in [trace.Clock.NanoTime].
	Thread     uint32
	Begin, End int64
	// Record is that of the first mark of the call on the thread: no other piece on this thread has it.
	Record uint64
	// Longest is the call in it that took longest, Took how long; 0 if there was none.
	Longest trace.Method
	Took    int64
	// Suspended is whether the call was suspended by its end. AtMost is then whether the call may have run, meanwhile, in
	// pieces that are not recorded.
	Suspended, AtMost bool
	// Wait is what the call was suspended for; nil if that is not known.
	Wait *Wait
}

// Wait is what a call was suspended for.
type Wait struct {
	// Method is the innermost recorded suspend function that it had called and that was suspended, or what took longest in
	// a lambda that it had launched. Of glue and libraries it is what the program called.
	Method trace.Method
	// Launched is whether it is the latter, Thread then the thread on which that ended right before the call was resumed.
	Launched bool
	Thread   uint32
}

// Launch is where a lambda was made.
type Launch struct {
	// Method is the innermost method that was open then and is no glue, 0 if that is not known. By is the glue that it has
	// called for it, such as launch or withContext, 0 if that is not known.
	Method, By trace.Method
	Thread     uint32
	// It was made at Nanos at the earliest, and by Until.
	Nanos, Until int64
}

// End is how a call ended.
type End uint8

// The ends of calls.
const (
	// EndUnknown: it is not known.
	EndUnknown End = iota
	// EndReturned: it has returned, or thrown with an exit that was recorded.
	EndReturned
	// EndThrew: an exception has left it.
	EndThrew
	// EndBy: it had ended by then, as its caller went on.
	EndBy
	// EndSuspended: it was suspended when the recording ended.
	EndSuspended
	// EndRunning: it ran when the recording ended, or an exception had left it, whose exit is missing.
	EndRunning
)

// Late returns how long after the making of its lambda it began, at least; 0 if that is not known.
func (c *Call) Late() time.Duration {
	if c.Launched == nil || c.BeginUnknown {
		return 0
	}
	return time.Duration(max(0, c.Begin()-c.Launched.Until))
}

// Begin returns when it began.
func (c *Call) Begin() int64 { return c.Pieces[0].Begin }

// Wall returns how long it lasted, as far as that is known.
func (c *Call) Wall() time.Duration { return time.Duration(max(0, c.Ended-c.Begin())) }

// Running returns how long it ran.
func (c *Call) Running() time.Duration {
	sum := int64(0)
	for i := range c.Pieces {
		sum += c.Pieces[i].End - c.Pieces[i].Begin
	}
	return time.Duration(sum)
}

// SuspendedFor returns how long it was suspended behind a piece; 0 if it did not go on, or it is not known when.
func (c *Call) SuspendedFor(piece int) time.Duration {
	p := &c.Pieces[piece]
	switch {
	case piece+1 < len(c.Pieces):
		return time.Duration(max(0, c.Pieces[piece+1].Begin-p.End))
	case c.End == EndBy:
		return time.Duration(max(0, c.Ended-p.End))
	}
	return 0
}

// Suspended returns how long it was suspended, and whether it may have run meanwhile.
func (c *Call) Suspended() (sum time.Duration, atMost bool) {
	for i := range c.Pieces {
		sum += c.SuspendedFor(i)
		atMost = atMost || c.Pieces[i].AtMost
	}
	return sum, atMost
}
