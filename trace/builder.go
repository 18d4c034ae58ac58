package trace

import (
	"math"
	"slices"
)

// builder makes the calls of one thread from its events, and hands them on in segments.
type builder struct {
	segment Segment  // of which Calls and Repairs grow
	roots   []uint64 // for each call that no other encloses, the number of its first record
	top     int32    // the index in Calls of the innermost open call, -1 if none is open; Parent links the others
	scope   gapScope
	now     int64 // the time of the last event
	message int32 // the index in Calls of the message that is open, -1 if none is
	// loops are the outermost methods that have enclosed messages, of all threads: their calls are no messages.
	loops map[Method]bool
}

func newBuilder(thread uint32, loops map[Method]bool) builder {
	return builder{segment: Segment{Thread: thread}, top: -1, message: -1, loops: loops}
}

// gapScope is what lies behind a gap, up to the end of the call that was open before the gap, if there was one.
type gapScope struct {
	on      bool
	outer   int32      // the index of the innermost call that was open before, -1 if there was none
	start   int32      // how many calls of the segment come before
	number  uint64     // of the first record
	begin   int64      // its time; math.MinInt64 until it is known
	entered []lostCall // calls that were entered in the gap, the innermost first
}

// lostCall is a call of which only the exit is there. It encloses what came before it in the scope.
type lostCall struct {
	method Method
	end    int32 // the index behind the last call below it
	at     int64
	marks  Marks
}

// build takes events, and hands the segments that are complete to h.
func (b *builder) build(events []event, h Handler) error {
	for i := range events {
		e := &events[i]
		b.now = e.at
		switch e.kind {
		case eventEntry:
			b.enter(e.method, e.marks, e.number)
		case eventExit:
			if b.scope.on && b.top < b.scope.start {
				// The call that was open before the gap is over, and with it what may enclose calls behind the gap.
				b.endScope()
			}
			b.exit(e.marks)
			if e.marks != 0 {
				b.segment.Repairs.countMarks(e.marks)
			}
		case eventLostEntry:
			b.began()
			b.scope.entered = append(b.scope.entered, lostCall{e.method, int32(len(b.segment.Calls)), b.now,
				e.marks | MarkTruncated})
			b.segment.Repairs.Truncated++
		case eventGap:
			b.enclose()
			b.scope = gapScope{on: true, outer: b.top, start: int32(len(b.segment.Calls)), number: e.number,
				begin: math.MinInt64}
		case eventDone:
			if err := b.done(e.number, h); err != nil {
				return err
			}
		case eventPause:
			if err := b.pause(e.number, h); err != nil {
				return err
			}
		case eventMessage:
			if err := b.beginMessage(e.number, h); err != nil {
				return err
			}
		case eventMessageEnd:
			if err := b.endMessage(e.number, h); err != nil {
				return err
			}
		case eventRepair:
			b.segment.Repairs.count(e.repair, e.number)
		}
	}
	return nil
}

// began notes when the scope begins.
func (b *builder) began() {
	if b.scope.begin == math.MinInt64 {
		b.scope.begin = b.now
	}
}

// enter begins a call. number is that of its record.
func (b *builder) enter(m Method, marks Marks, number uint64) {
	s := &b.segment
	b.began()
	if b.top < 0 {
		b.roots = append(b.roots, number)
	}
	parent := b.top
	b.top = int32(len(s.Calls))
	s.Calls = append(s.Calls, Call{Method: m, Parent: parent, Count: 1, Begin: b.now, Marks: marks})
}

// exit ends the innermost call. The caller ends the scope before if the call was open before the gap.
func (b *builder) exit(marks Marks) {
	c := &b.segment.Calls[b.top]
	c.End, c.Next = b.now, int32(len(b.segment.Calls))
	c.Marks |= marks
	b.top = c.Parent
}

// endScope ends the scope. Nothing to come encloses what is in it.
func (b *builder) endScope() {
	b.enclose()
	b.scope = gapScope{}
}

// enclose puts the calls that were entered in the gap around those that they enclose.
func (b *builder) enclose() {
	s := &b.scope
	n := int32(len(s.entered))
	if n == 0 {
		return
	}
	start := s.start
	calls := append(b.segment.Calls, make([]Call, n)...)
	copy(calls[start+n:], calls[start:])
	for k, lost := range s.entered {
		at := start + n - 1 - int32(k)
		calls[at] = Call{Method: lost.method, Parent: at - 1, Next: lost.end + n, Count: 1, Begin: s.begin,
			End: lost.at, Marks: lost.marks}
	}
	calls[start].Parent = s.outer
	inner, roots := 0, 0
	for i := start + n; int(i) < len(calls); i++ {
		c := &calls[i]
		c.Next += n
		if c.Parent >= start {
			c.Parent += n
			continue
		}
		for inner < len(s.entered) && s.entered[inner].end <= i-n {
			inner++
		}
		if inner < len(s.entered) {
			c.Parent = start + n - 1 - int32(inner)
			roots++
		}
	}
	if b.top >= start {
		b.top += n
	}
	if b.message >= start {
		b.message += n
	}
	if s.outer < 0 {
		b.roots = slices.Insert(b.roots[roots:], 0, s.number)
	}
	b.segment.Calls, s.entered = calls, nil
}

// done hands on the segments that are over: each call that no other encloses is one. The records up to end are theirs.
func (b *builder) done(end uint64, h Handler) error {
	b.endScope()
	calls, repairs := b.segment.Calls, b.segment.Repairs
	for from, k := int32(0), 0; int(from) < len(calls); k++ {
		to := calls[from].Next
		s := Segment{Thread: b.segment.Thread, Kind: SegmentOutermost, FirstRecord: b.roots[k], EndRecord: end,
			Begin: calls[from].Begin, End: calls[from].End, Calls: calls[from:to:to], Repairs: repairs}
		switch {
		case calls[from].Method == MethodDispatch:
			s.Kind = SegmentMessage
		case b.message >= from && b.message < to:
			s.Kind, s.Message = SegmentRequest, int(b.message-from)
		case b.loops[calls[from].Method]:
			s.Kind = SegmentBetween
		}
		if int(to) < len(calls) {
			s.EndRecord = b.roots[k+1]
		}
		for i := range s.Calls {
			if from > 0 {
				s.Calls[i].Next -= from
				s.Calls[i].Parent = max(-1, s.Calls[i].Parent-from)
			}
		}
		if err := h.Segment(&s); err != nil {
			return err
		}
		from, repairs = to, Repairs{}
	}
	if len(calls) > 0 {
		b.segment.Repairs = Repairs{}
	}
	b.segment.Calls, b.roots = calls[:0], b.roots[:0]
	return nil
}

// beginMessage ends what comes before a message. The calls that are open enclose it.
func (b *builder) beginMessage(number uint64, h Handler) error {
	if b.top >= 0 {
		outermost := b.top
		for b.segment.Calls[outermost].Parent >= 0 {
			outermost = b.segment.Calls[outermost].Parent
		}
		b.loops[b.segment.Calls[outermost].Method] = true
		if err := b.pause(number, h); err != nil {
			return err
		}
	}
	b.message = int32(len(b.segment.Calls))
	return nil
}

// endMessage ends the message.
func (b *builder) endMessage(number uint64, h Handler) error {
	var err error
	if b.top >= 0 {
		err = b.pause(number, h)
	} else {
		err = b.done(number, h)
	}
	b.message = -1
	return err
}

// pause hands on what is there of a segment that goes on. The open calls are suspended, and resumed in the next one.
func (b *builder) pause(number uint64, h Handler) error {
	b.endScope()
	var methods []Method // the innermost first
	message := -1        // the index in methods of the message that is open
	for b.top >= 0 {
		if b.top == b.message {
			message = len(methods)
		}
		methods = append(methods, b.segment.Calls[b.top].Method)
		b.exit(MarkSuspended)
	}
	if err := b.done(number, h); err != nil {
		return err
	}
	b.message = -1
	if message >= 0 {
		b.message = int32(len(methods) - 1 - message)
	}
	for _, m := range slices.Backward(methods) {
		b.enter(m, MarkResumed, number)
	}
	return nil
}
