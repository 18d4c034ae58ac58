package trace

import (
	"cmp"
	"math"
	"slices"
)

// builder makes the calls of one thread from its events, and hands them on in segments.
type builder struct {
	segment Segment      // of which Calls and Repairs grow
	roots   []rootNumber // for each call that no other encloses
	top     int32        // the index in Calls of the innermost open call, -1 if none is open; Parent links the others
	scope   gapScope
	now     int64 // the time of the last event
	message int32 // the index in Calls of the message that is open, -1 if none is
	around  bool  // the calls that are open have enclosed messages
	// loops are the outermost methods that have enclosed messages, of all threads: their calls are no messages.
	loops   map[Method]bool
	lost    uint64
	loss    lossBegin
	gaps    []Gap // those whose segments are not handed on yet
	windows []Gap // likewise
	sum     *Completeness
	sampled sampledCalls  // nothing as long as there are no samples
	marks   []builtMark   // those whose segments are not handed on yet
	marked  *[]PlacedMark // those of the events, see [eventMark]
}

// rootNumber has the number of the first record of a call that no other encloses, and of the record behind its last;
// the latter is 0 if the next call begins with that record.
type rootNumber struct{ first, end uint64 }

// lossBegin is where records begin to be missing.
type lossBegin struct {
	known  bool
	at     int64
	number uint64
}

func newBuilder(thread uint32, loops map[Method]bool) builder {
	return builder{segment: Segment{Thread: thread}, top: -1, message: -1, loops: loops, sum: new(Completeness)}
}

// gapScope has the calls behind a gap, up to the place at which it is known which calls enclose them.
type gapScope struct {
	on      bool
	outer   int32      // the index of the innermost call that was open before, -1 if there was none
	start   int32      // how many calls of the segment come before
	loss    lossBegin  // where the gap begins
	lost    uint64     // how many records are missing
	number  uint64     // of the first record behind the gap
	begin   int64      // its time; math.MinInt64 until it is known
	entered []lostCall // calls that were entered in the gap, the innermost first
	tops    []uint64   // the numbers of the first records of the calls that none behind the gap encloses
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
			if e.marks&MarkContradicted != 0 {
				b.endEarly(b.top)
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
		case eventLoss:
			b.loss = lossBegin{true, b.now, e.number}
		case eventGap:
			if b.scope.on {
				b.scope.number, b.scope.lost = e.number, b.scope.lost+b.lost
				b.lost = 0
				continue
			}
			b.scope = gapScope{on: true, outer: b.top, start: int32(len(b.segment.Calls)), number: e.number,
				begin: math.MinInt64, loss: b.loss, lost: b.lost}
			b.loss, b.lost = lossBegin{}, 0
		case eventRejoined:
			b.decide(int(e.number), true)
		case eventUndecided:
			b.decide(int(e.number), false)
		case eventDone:
			if err := b.done(e.number, h); err != nil {
				return err
			}
			b.around = false
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
		case eventSample:
			b.sample(int(e.number))
		case eventMark:
			b.mark((*b.marked)[e.number])
		case eventRepair:
			b.segment.Repairs.count(e.repair, e.number)
			if e.repair == repairLost {
				b.lost += e.number
			}
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

// enter begins a call. number is the number of its record.
func (b *builder) enter(m Method, marks Marks, number uint64) {
	s := &b.segment
	if b.scope.on {
		b.began()
		if b.top < b.scope.start {
			b.scope.tops = append(b.scope.tops, number)
		}
	} else if b.top < 0 {
		b.roots = append(b.roots, rootNumber{first: number})
	}
	parent := b.top
	b.top = int32(len(s.Calls))
	s.Calls = append(s.Calls, Call{Method: m, Parent: parent, Count: 1, Begin: b.now, Marks: marks})
	b.sampled.entered(b.top, number)
}

// exit ends the innermost call.
func (b *builder) exit(marks Marks) {
	c := &b.segment.Calls[b.top]
	c.Marks |= marks
	if c.Marks&MarkContradicted == 0 {
		c.End, c.Next = b.now, int32(len(b.segment.Calls))
	}
	b.top = c.Parent
}

// decide ends the scope: the first known calls that were open before the gap were open on both sides of it, and
// complete says whether all calls are known that enclose what came behind it. The other calls that were open before
// end where the gap begins. A call of MethodNotRecorded stands for the gap, and if other calls may enclose what came
// behind it, for these too. It stays open then.
func (b *builder) decide(known int, complete bool) {
	s := &b.scope
	b.began()
	b.sum.Lost += s.lost
	if s.loss.known {
		b.sum.Runs++
	}
	outer := b.cut(known)
	start, n := s.start, int32(len(s.entered))
	first := start // the index of the outermost call that was entered in the gap
	unknown := !complete || s.loss.known
	if unknown {
		first++
		n++
	}
	calls := append(b.segment.Calls, make([]Call, n)...)
	copy(calls[start+n:], calls[start:])
	base := outer // the index of the call that encloses the calls behind the gap, if no call entered in the gap does
	if unknown {
		c := Call{Method: MethodNotRecorded, Parent: outer, Next: first, Count: 1, Begin: s.begin, End: s.begin}
		if s.loss.known {
			c.Begin = s.loss.at
			b.sum.NotRecorded += s.begin - c.Begin
			b.gaps = append(b.gaps, Gap{Kind: GapLost, Begin: c.Begin, End: s.begin, Records: s.lost})
		}
		calls[start] = c
		if !complete {
			base = start
		}
	}
	for k, lost := range s.entered {
		at := start + n - 1 - int32(k)
		parent := at - 1
		if at == first {
			parent = base
		}
		calls[at] = Call{Method: lost.method, Parent: parent, Next: lost.end + n, Count: 1, Begin: s.begin,
			End: lost.at, Marks: lost.marks}
	}
	inner, enclosed := 0, 0 // enclosed is how many of the tops are in calls that were entered in the gap
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
		c.Parent = base
		if inner < len(s.entered) {
			c.Parent = start + n - 1 - int32(inner)
			enclosed++
		}
	}
	if b.top >= start {
		b.top += n
	} else {
		b.top = base
	}
	if b.message >= start {
		b.message += n
	}
	b.segment.Calls = calls
	b.sampled.shift(start, n, s.number)
	b.shiftMarks(start, n)
	b.decideSamples(outer, n, unknown, complete)
	if outer < 0 {
		b.addRoots(unknown, complete, enclosed)
	}
	b.scope = gapScope{}
}

// cut ends all but the first known calls that were open before the gap, where the gap begins. It returns the index of
// the innermost call that stays open, -1 if none does.
func (b *builder) cut(known int) int32 {
	s := &b.scope
	depth := 0
	for k := s.outer; k >= 0; k = b.segment.Calls[k].Parent {
		depth++
	}
	k := s.outer
	for ; depth > known; depth-- {
		c := &b.segment.Calls[k]
		c.End, c.Next = s.loss.at, s.start
		if c.Method != MethodNotRecorded {
			c.Marks |= MarkCut
			b.segment.Repairs.Cut++
		}
		k = c.Parent
	}
	if k < 0 && s.outer >= 0 {
		b.roots[len(b.roots)-1].end = s.loss.number
		b.sampled.rootEnds = append(b.sampled.rootEnds, rootEnd{s.start, s.loss.number})
	}
	return k
}

// addRoots notes the calls of a scope that no call encloses.
func (b *builder) addRoots(unknown, complete bool, enclosed int) {
	s := &b.scope
	if unknown {
		b.roots = append(b.roots, rootNumber{first: s.number})
	}
	if !complete {
		return
	}
	if len(s.entered) > 0 {
		b.roots = append(b.roots, rootNumber{first: s.number})
	}
	for _, number := range s.tops[min(enclosed, len(s.tops)):] {
		b.roots = append(b.roots, rootNumber{first: number})
	}
}

// done hands on the segments that are over: each call that no other encloses is one. The records up to end are
// theirs.
func (b *builder) done(end uint64, h Handler) error {
	b.renest()
	calls, repairs := b.segment.Calls, b.segment.Repairs
	for from, k := int32(0), 0; int(from) < len(calls); k++ {
		to := calls[from].Next
		s := Segment{Thread: b.segment.Thread, Kind: SegmentOutermost, FirstRecord: b.roots[k].first, EndRecord: end,
			Begin: calls[from].Begin, End: calls[from].End, Calls: calls[from:to:to], Repairs: repairs}
		switch {
		case calls[from].Method == MethodDispatch:
			s.Kind = SegmentMessage
		case b.message >= from && b.message < to:
			s.Kind, s.Message = SegmentRequest, int(b.message-from)
		case b.loops[calls[from].Method], b.around && calls[from].Marks&(MarkResumed|MarkSuspended) != 0:
			s.Kind = SegmentBetween
		}
		if b.roots[k].end > 0 {
			s.EndRecord = b.roots[k].end
		} else if int(to) < len(calls) {
			s.EndRecord = b.roots[k+1].first
		}
		s.Gaps = b.gapsOf(&s)
		s.Samples = b.samplesOf(&s, from, to)
		s.Coroutines = b.marksOf(from, to)
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
	for i := range b.marks {
		b.marks[i].index = 0
	}
	b.segment.Calls, b.roots, b.gaps = calls[:0], b.roots[:0], nil
	b.sampled.reset()
	return nil
}

// beginMessage ends what comes before a message. The calls that are open enclose it.
func (b *builder) beginMessage(number uint64, h Handler) error {
	if b.top >= 0 {
		outermost := b.top
		for b.segment.Calls[outermost].Parent >= 0 {
			outermost = b.segment.Calls[outermost].Parent
		}
		if m := b.segment.Calls[outermost].Method; m != MethodNotRecorded {
			b.loops[m] = true
		}
		b.around = true
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

// gapsOf returns the gaps and windows of a segment. Gaps that are over before it are forgotten.
func (b *builder) gapsOf(s *Segment) (list []Gap) {
	for len(b.gaps) > 0 && b.gaps[0].End <= s.End {
		if g := b.gaps[0]; s.Begin <= g.Begin {
			list = append(list, g)
		}
		b.gaps = b.gaps[1:]
	}
	over := 0
	for _, w := range b.windows {
		if w.End < s.Begin {
			over++
		} else if w.Begin < s.End {
			list = append(list, w)
		} else {
			break
		}
	}
	b.windows = b.windows[over:]
	slices.SortStableFunc(list, func(a, b Gap) int { return cmp.Compare(a.Begin, b.Begin) })
	return list
}

// pause hands on the first part of a segment that continues. The open calls are suspended, and resumed in the next one.
func (b *builder) pause(number uint64, h Handler) error {
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
