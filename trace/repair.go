package trace

import "math"

// repairer makes well-formed events of the records of one thread, which may be damaged in any way. It holds records
// back until those behind them show what is wrong with them.
type repairer struct {
	limits *limits
	events *[batch]event // the first made of them were made and not handed on yet
	made   int
	sink   func([]event) error // gets the events, some at a time
	err    error               // the sink's first one; it gets no more events then
	open   []openMethod        // the calls that have not ended, the outermost first
	scope  repairScope
	calls  int // how many calls the segment has
	kept   int // how many of these were open when the segment before was paused

	held  []Record // the records that come next
	gaps  []gap    // between them
	next  uint64   // the number of the record behind them
	first bool     // no records have come yet
	// patient is set while more chunks may come that say how long calls were open. spans is what those say that came.
	patient bool
	hurries uint64 // no record waits whose number is lower
	spans   []span

	number uint64 // of the next record
	last   int64  // the latest tick, -1 if there is none
	far    int64  // how many ticks may pass between two records if no later one confirms it
	latest int64  // the last tick that has a time of its own: all later ones have the same time
	now    int64  // the time of the last record, in nanoseconds

	message int // the index in open of the message that is open, -1 if none is

	table   *stackTable     // of the stacks of samples; nil as long as there are none
	samples []waitingSample // those whose records have not come yet
	windows []windowRecords
	cpu     int64           // the thread's CPU time by the last sample
	placed  []placement     // of the events that were made and not handed on yet
	ended   map[Method]bool // methods of calls that samples have contradicted

	marks     []CoroutineMark // those whose records have not come yet
	marksMade uint64          // how many the thread had made by then
	losing    bool            // the last one is a [CoroutineLost]
	suspends  CoroutineMark   // the mark of the exit that is handled
	resumes   []waitingMark   // in the order of their depth
	marked    []PlacedMark    // of the events that were made and not handed on yet
	until     int64           // the time of the record that marks come before
	counts    *CoroutineCounts

	where map[Method]int32 // the index in open of each method's innermost call; nil if open must be searched
}

// openMethod is a call that has not ended.
type openMethod struct {
	method Method
	// the index of the next call of the method further out, -1 if there is none; valid if [repairer.where] is set
	before int32
	// shown is set if a sample has shown it
	shown bool
}

// gap is a place where records are missing, or where a thread's records begin.
type gap struct {
	at    int    // the index in held of the first record behind it
	first uint64 // the number of that record
	lost  uint64 // how many records are missing
	apart bool   // what comes behind it has nothing to do with what was before
}

func newRepairer(l *limits, first uint64) *repairer {
	return &repairer{limits: l, next: first, number: first, first: true, last: -1,
		now: math.MinInt64, patient: true, message: -1}
}

// take takes the records of a chunk, and returns those of them that are new. They are held next.
func (r *repairer) take(c *Records, slowOnly bool) []Record {
	list := c.List
	if c.First < r.next {
		// Some were there before.
		list = list[min(r.next-c.First, uint64(len(list))):]
	}
	if c.First > r.next || c.Overwritten > 0 || r.first && c.First > 0 {
		g := gap{at: len(r.held), first: c.First, lost: c.Overwritten}
		g.apart = slowOnly && c.First > r.next
		if !slowOnly && !r.first {
			g.lost = c.First - min(r.next, c.First)
		}
		r.gaps = append(r.gaps, g)
	}
	r.first = false
	r.next = max(r.next, c.First+uint64(len(c.List)))
	return list
}

// repair makes events of the records that are held but for the last keep.
func (r *repairer) repair(keep int) {
	// Divisions are slow. They are done here, and not for each record.
	r.far, r.latest = longest/r.limits.tick, r.limits.latest()
	i := 0
	for n := len(r.held) - keep; i < n; i++ {
		for len(r.gaps) > 0 && r.gaps[0].at == i {
			r.placeBefore(i)
			r.gap()
		}
		if len(r.samples) > 0 && !r.place(i) {
			break
		}
		record := r.held[i]
		ticks := record.Ticks()
		if r.scope.on && r.waits(i, ticks) {
			break
		}
		marks := Marks(0)
		if r.outOfOrder(i, ticks) {
			ticks, marks = r.retime(i)
		}
		if len(r.marks) > 0 && r.marks[0].Record <= r.number {
			r.mark(record, r.nanos(ticks))
		}
		r.last = ticks
		r.now = max(r.now, r.nanos(ticks))
		r.number++
		if r.scope.on {
			r.scope.end = min(r.scope.end, r.now)
		}
		m := Method(record.ID())
		switch k := len(r.open) - 1; {
		case record.Entry():
			r.enter(m, marks)
			continue
		case k >= 0 && r.open[k].method == m && !(r.scope.on && k < r.scope.depth):
			r.exit(marks)
		default:
			r.repairExit(m, marks)
		}
		if r.suspends.Record > 0 {
			r.counts.Unfit++
			r.suspends = CoroutineMark{}
		}
		if r.scope.on && r.scopeIsOver() {
			r.decide(true)
		}
		if len(r.open) == 0 && !r.scope.on {
			r.done(r.number)
		}
	}
	if i <= 0 {
		return
	}
	r.held = r.held[:copy(r.held, r.held[i:])]
	for k := range r.gaps {
		r.gaps[k].at -= i
	}
}

// nanos returns the time of a tick.
func (r *repairer) nanos(ticks int64) int64 {
	return r.limits.base + min(ticks, r.latest)*r.limits.tick
}

// outOfOrder reports whether the time of held[i] may be wrong: it is before the last one, behind one of the next two,
// or much later than the last one.
func (r *repairer) outOfOrder(i int, ticks int64) bool {
	return ticks < r.last ||
		i+2 < len(r.held) && (r.held[i+1].Ticks() < ticks || r.held[i+2].Ticks() < ticks) ||
		i+2 == len(r.held) && r.held[i+1].Ticks() < ticks ||
		ticks-r.last > r.far && r.last >= 0
}

// emit makes an event. All of its fields are set here, as room for events is used again.
func (r *repairer) emit(kind eventKind, m Method, marks Marks, number uint64) {
	if r.made == batch {
		r.flush()
	}
	e := &r.events[r.made]
	r.made++
	e.kind, e.method, e.marks, e.repair, e.at, e.number = kind, m, marks, 0, r.now, number
}

// flush hands on the events that were made.
func (r *repairer) flush() {
	if r.err == nil {
		r.err = r.sink(r.events[:r.made])
	}
	r.made, r.placed, r.marked = 0, r.placed[:0], r.marked[:0]
}

// repaired says that n records were repaired.
func (r *repairer) repaired(kind repairKind, n uint64) {
	r.emit(eventRepair, 0, 0, n)
	r.events[r.made-1].repair = kind
}

// finish makes the last events: records end here. The calls that are still open last until the thread's last sign of
// life, alive.
func (r *repairer) finish(alive int64) {
	r.patient = false
	r.repair(0)
	for len(r.gaps) > 0 {
		r.placeBefore(len(r.held))
		r.gap()
	}
	r.placeRest()
	r.mark(0, math.MaxInt64)
	r.counts.Unfit += uint64(len(r.marks) + len(r.resumes))
	r.decideAtEnd()
	if len(r.open) > 0 {
		r.now = max(r.now, alive)
	}
	r.cut()
}

// gap goes on behind records that are missing.
func (r *repairer) gap() {
	g := r.gaps[0]
	r.gaps = r.gaps[1:]
	r.dropResumes(0)
	if g.apart {
		r.cut()
	}
	before := r.number
	r.number = max(r.number, g.first)
	if g.lost > 0 {
		r.repaired(repairGaps, 1)
		r.repaired(repairLost, g.lost)
	}
	if g.lost == 0 && g.apart {
		r.putInGap()
		return
	}
	if r.scope.on && r.scope.end == math.MaxInt64 {
		// No record came since the last gap: it is the same one.
		r.scope.first, r.scope.number = r.number, r.number
		r.emit(eventGap, 0, 0, r.number)
		r.putInGap()
		return
	}
	r.decide(false)
	if len(r.open) == 0 {
		r.done(before)
	}
	r.scope = repairScope{on: true, depth: len(r.open), before: before, first: r.number, number: r.number,
		begin: math.MinInt64,
		end:   math.MaxInt64}
	if r.now != math.MinInt64 && !g.apart {
		r.scope.begin = r.now
		r.emit(eventLoss, 0, 0, before)
	}
	r.emit(eventGap, 0, 0, r.number)
	r.putInGap()
}

// cut ends what has not ended, as the records end here.
func (r *repairer) cut() {
	r.decideAtEnd()
	for len(r.open) > 0 {
		r.exit(MarkOpen)
	}
	r.done(r.number)
}

// done ends the segment. The records before number are its.
func (r *repairer) done(number uint64) {
	r.calls, r.kept = 0, 0
	r.emit(eventDone, 0, 0, number)
}

// pause ends the segment while calls are open, which go on in the next one.
func (r *repairer) pause(number uint64) {
	r.decide(false)
	r.calls, r.kept = len(r.open), len(r.open)
	r.emit(eventPause, 0, 0, number)
}

// enter enters a call.
func (r *repairer) enter(m Method, marks Marks) {
	if m == MethodDispatch && (len(r.open) > 0 || r.scope.on) {
		r.decideAtDispatch()
		r.unwind(0)
		r.done(r.number - 1)
	}
	if r.limits.messages.has(m) && r.scope.on && r.message >= 0 && r.known() <= r.message {
		// The message before the gap may have ended there. So this is another one.
		r.decide(false)
	}
	if r.message < 0 && r.limits.messages.has(m) {
		r.beginMessage()
	} else if r.calls >= max(r.limits.calls, 2*r.kept) {
		// The current record belongs to what follows.
		r.pause(r.number - 1)
	}
	o := openMethod{method: m, before: -1}
	if r.where != nil {
		if k, ok := r.where[m]; ok {
			o.before = k
		}
		r.where[m] = int32(len(r.open))
	}
	r.open = append(r.open, o)
	r.calls++
	r.emit(eventEntry, m, marks, r.number-1)
	if len(r.resumes) > 0 {
		r.resume(m)
	}
}

// exit ends the innermost call.
func (r *repairer) exit(marks Marks) {
	k := len(r.open) - 1
	o := r.open[k]
	if o.method == MethodNotRecorded {
		marks &^= MarkUnwound
	} else if marks&MarkUnwound != 0 && r.table != nil && r.ended != nil && r.table.throwing[o.method] {
		marks |= MarkContradicted // as samples have said of other calls of the method
	}
	r.open = r.open[:k]
	if r.where != nil {
		if o.before < 0 {
			delete(r.where, o.method)
		} else {
			r.where[o.method] = o.before
		}
		if k == 0 {
			r.where = nil
		}
	}
	if r.suspends.Record > 0 && r.suspends.Method == o.method && marks&MarkUnwound == 0 {
		r.putMark(r.suspends, true)
		r.suspends = CoroutineMark{}
	}
	r.emit(eventExit, 0, marks, 0)
	if len(r.resumes) > 0 {
		r.dropResumes(k)
	}
	if k == r.message {
		r.endMessage()
	}
}

// beginMessage begins a message. The current record is its entry.
func (r *repairer) beginMessage() {
	r.decide(false)
	r.message = len(r.open)
	r.calls, r.kept = len(r.open), len(r.open)
	r.emit(eventMessage, 0, 0, r.number-1)
}

// endMessage ends the message.
func (r *repairer) endMessage() {
	r.message = -1
	r.calls, r.kept = len(r.open), len(r.open)
	r.emit(eventMessageEnd, 0, 0, r.number)
}

// unwind ends all but the first open calls, whose exits are missing.
func (r *repairer) unwind(depth int) {
	for len(r.open) > depth {
		r.exit(MarkUnwound)
	}
}

// exitOfLost ends a call that was entered in the gap.
func (r *repairer) exitOfLost(m Method, marks Marks) {
	r.scope.dispatch = m == MethodDispatch
	r.scope.outermost = r.scope.depth > 0 && m == r.open[r.outer()].method
	r.scope.number = r.number
	r.calls++
	r.emit(eventLostEntry, m, marks, 0)
}

// find returns the index in open of the innermost call of a method, -1 if there is none.
func (r *repairer) find(m Method) int {
	const near = 64
	n := len(r.open)
	for k := n - 1; k >= max(0, n-near); k-- {
		if r.open[k].method == m {
			return k
		}
	}
	if n <= near {
		return -1
	}
	if r.where == nil {
		r.where = make(map[Method]int32)
		for i := range r.open {
			o := &r.open[i]
			o.before = -1
			if k, ok := r.where[o.method]; ok {
				o.before = k
			}
			r.where[o.method] = int32(i)
		}
	}
	if k, ok := r.where[m]; ok {
		return int(k)
	}
	return -1
}

// repairExit deals with an exit of m that is not the innermost call's. If a call of m is open, the exits of the calls
// in it are missing, as an exception leaves them: they end here. If not, the entry of its call is missing: lost in a
// gap, or the exit is left out.
func (r *repairer) repairExit(m Method, marks Marks) {
	switch at := r.openAcross(r.find(m), m); {
	case at >= 0:
		if r.scope.on && at < r.scope.depth {
			r.rejoin(at)
		}
		r.unwind(at + 1)
		r.exit(marks)
	case r.scope.on && len(r.open) == r.scope.depth:
		r.exitOfLost(m, marks)
	default:
		if r.ended[m] {
			r.table.hidden[r.table.nameOf(m)] = true // perhaps no sample shows calls of this method
		}
		r.repaired(repairStray, 1)
	}
}
