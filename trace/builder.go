package trace

import (
	"math"
	"slices"
)

// builder makes the calls of one thread from its events, and hands them on in segments.
type builder struct {
	segment Segment  // of which Calls and Repairs grow
	roots   []uint64 // for each call that no other encloses, the number of its first record
	open    []int32  // the calls that have not ended, the outermost first: indices of segment.Calls
	scope   gapScope
	now     int64 // the time of the last event
}

// gapScope is what lies behind a gap, up to the end of the call that was open before the gap, if there was one.
type gapScope struct {
	on      bool
	depth   int        // how many calls were open before
	start   int        // how many calls of the segment come before
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
			b.exit(e.marks)
		case eventLostEntry:
			b.began()
			b.scope.entered = append(b.scope.entered, lostCall{e.method, int32(len(b.segment.Calls)), b.now,
				e.marks | MarkTruncated})
			b.segment.Repairs.Truncated++
		case eventGap:
			b.enclose()
			b.scope = gapScope{on: true, depth: len(b.open), start: len(b.segment.Calls), number: e.number,
				begin: math.MinInt64}
		case eventDone:
			if err := b.done(e.number, h); err != nil {
				return err
			}
		case eventPause:
			if err := b.pause(e.number, h); err != nil {
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
	parent := int32(-1)
	if n := len(b.open); n > 0 {
		parent = b.open[n-1]
	} else {
		b.roots = append(b.roots, number)
	}
	b.open = append(b.open, int32(len(s.Calls)))
	s.Calls = append(s.Calls, Call{Method: m, Parent: parent, Count: 1, Begin: b.now, Marks: marks})
}

// exit ends the innermost call.
func (b *builder) exit(marks Marks) {
	k := len(b.open) - 1
	if b.scope.on && k < b.scope.depth {
		// The call that was open before the gap is over, and with it what may enclose calls behind the gap.
		b.enclose()
		b.scope = gapScope{}
	}
	c := &b.segment.Calls[b.open[k]]
	c.End, c.Next = b.now, int32(len(b.segment.Calls))
	c.Marks |= marks
	b.open = b.open[:k]
	switch {
	case marks&MarkUnwound != 0:
		b.segment.Repairs.Unwound++
	case marks&MarkOpen != 0:
		b.segment.Repairs.Open++
	}
}

// enclose puts the calls that were entered in the gap around those that they enclose.
func (b *builder) enclose() {
	s := &b.scope
	n := int32(len(s.entered))
	if n == 0 {
		return
	}
	start := int32(s.start)
	parent := int32(-1)
	if s.depth > 0 {
		parent = b.open[s.depth-1]
	}
	calls := append(b.segment.Calls, make([]Call, n)...)
	copy(calls[start+n:], calls[start:])
	for k, lost := range s.entered {
		at := start + n - 1 - int32(k)
		calls[at] = Call{Method: lost.method, Parent: at - 1, Next: lost.end + n, Count: 1, Begin: s.begin,
			End: lost.at, Marks: lost.marks}
	}
	calls[start].Parent = parent
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
	for k := range b.open {
		if b.open[k] >= start {
			b.open[k] += n
		}
	}
	if s.depth == 0 {
		b.roots = slices.Insert(b.roots[roots:], 0, s.number)
	}
	b.segment.Calls, s.entered = calls, nil
}

// done hands on the segments that are over: each call that no other encloses is one. The records up to end are theirs.
func (b *builder) done(end uint64, h Handler) error {
	b.enclose()
	b.scope = gapScope{}
	calls, repairs := b.segment.Calls, b.segment.Repairs
	for from, k := int32(0), 0; int(from) < len(calls); k++ {
		to := calls[from].Next
		s := Segment{Thread: b.segment.Thread, Kind: SegmentOutermost, FirstRecord: b.roots[k], EndRecord: end,
			Begin: calls[from].Begin, End: calls[from].End, Calls: calls[from:to:to], Repairs: repairs}
		if calls[from].Method == MethodDispatch {
			s.Kind = SegmentMessage
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

// pause hands on what is there of a segment that goes on. The open calls are suspended, and resumed in the next one.
func (b *builder) pause(number uint64, h Handler) error {
	methods := make([]Method, len(b.open))
	for i, k := range b.open {
		methods[i] = b.segment.Calls[k].Method
	}
	for len(b.open) > 0 {
		b.exit(MarkSuspended)
	}
	if err := b.done(number, h); err != nil {
		return err
	}
	for _, m := range methods {
		b.enter(m, MarkResumed, number)
	}
	return nil
}
