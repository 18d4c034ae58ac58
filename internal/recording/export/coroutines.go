package export

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/trace"
)

const (
	maxLanes     = 250     // tracks of coroutines at most
	maxLaneCalls = 200_000 // asynchronous calls in them at most
)

// lane is a track of asynchronous calls: those of one that begins while no other is open nest in it, as far as they
// fit. Other calls that are open at that time are in other lanes.
type lane struct {
	name   string
	thread uint32      // of composables
	slices []laneSlice // in the order of their begins, outer ones first
	open   []openSlice
}

// laneSlice is a call, or a time in which it ran. Times are relative to the recording's origin.
type laneSlice struct {
	begin, end int64
	depth      int
	call       *coroutine.Call
	thread     string // of a time in which the call ran; empty of a call
	// executed is that of a composable, which has neither; nil of all others.
	executed *trace.Composition
	// piece is what begins in a time in which the call ran, nil if that is the rest of one.
	piece *coroutine.Piece
}

// openSlice is a call that is open where a lane ends.
type openSlice struct {
	index    int // in the calls
	end      int64
	upTo     int64 // its times in which it ran are slices up to then
	nextPart int   // the piece that comes then
	begun    bool  // a part of that is a slice
}

// text is what a time in which a call ran is called.
func (s *laneSlice) text() string { return "on " + s.thread }

// slice returns the number of what a slice shows.
func (f *methods) slice(r *recording, s *laneSlice) int32 {
	switch {
	case s.executed != nil:
		return f.composable(s.executed.Composable)
	case s.thread != "":
		return f.text(s.text())
	}
	return f.of(r, s.call.Method, 0)
}

// facts say of a call what its slice does not show.
func (s *laneSlice) facts(r *recording) []fact {
	switch {
	case s.executed != nil:
		return executionFacts(s.executed)
	case s.thread != "":
		return nil
	}
	c := s.call
	suspended, atMost := c.Suspended()
	all := []fact{{"running ms", millis(c.Running().Nanoseconds())}, {"suspended ms", millis(suspended.Nanoseconds())}}
	if atMost {
		all = append(all, fact{"suspended", "at most: it may have run meanwhile"})
	}
	var waits []string
	for i := range c.Pieces {
		if w := c.Pieces[i].Wait; w != nil && c.SuspendedFor(i) > 0 {
			text := r.Names.Label(w.Method)
			if w.Launched {
				text += " on " + r.Thread(w.Thread).Label
			}
			if !slices.Contains(waits, text) {
				waits = append(waits, text)
			}
		}
	}
	if len(waits) > 0 {
		all = append(all, fact{"waited for", clean(strings.Join(waits, ", "))})
	}
	if c.Launched != nil && c.Launched.Method != 0 {
		all = append(all, fact{"launched by", clean(r.Names.Label(c.Launched.Method))})
		if c.Launched.By != 0 {
			all = append(all, fact{"launched with", clean(r.Names.Label(c.Launched.By))})
		}
	}
	if c.BeginUnknown {
		all = append(all, fact{"begin", "not known: it had begun before"})
	}
	return append(all, fact{"end", endTexts[c.End]})
}

// endTexts say how calls ended.
var endTexts = [...]string{coroutine.EndUnknown: "not known", coroutine.EndReturned: "returned",
	coroutine.EndThrew: "an exception", coroutine.EndBy: "by then", coroutine.EndSuspended: "still suspended",
	coroutine.EndRunning: "no exit was recorded"}

// lanes lays out the composables of the recording, and the asynchronous calls.
func (r *recording) lanes(end int64) (list []*lane) {
	list, r.leftOut = r.coroutines(end)
	return append(r.composables(), list...)
}

// coroutines lays out the asynchronous calls of the recording; if these are too many, those of the program. left is how
// many are not there.
func (r *recording) coroutines(end int64) (list []*lane, left int) {
	if r.Coroutines == nil {
		return nil, 0
	}
	if list, left = r.asynchronous(end, false); left > 0 {
		if own, rest := r.asynchronous(end, true); len(own) > 0 {
			return own, rest
		}
	}
	return list, left
}

// asynchronous lays out all asynchronous calls, or those of the program.
func (r *recording) asynchronous(end int64, own bool) (list []*lane, left int) {
	calls := r.Coroutines.Calls
	var order []int
	ends := make([]int64, len(calls))
	for i := range calls {
		c := &calls[i]
		switch {
		case c.Glue && c.TailCall:
			continue // it is where its caller waits
		case len(order) == maxLaneCalls, own && c.Library:
			left++
			continue
		}
		order = append(order, i)
		ends[i] = max(r.since(c.Begin()), r.since(c.Ended))
		if c.End == coroutine.EndSuspended {
			ends[i] = max(ends[i], end)
		}
	}
	// Of calls that begin at one time, the longest is around the others.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(calls[a].Begin(), calls[b].Begin()), cmp.Compare(ends[b], ends[a]))
	})
	for _, i := range order {
		at := r.since(calls[i].Begin())
		best := -1
		for k, l := range list {
			l.close(r, calls, at)
			n := len(l.open)
			if n == 0 && best < 0 {
				best = k
			}
			if n > 0 && ends[i] <= l.open[n-1].end && r.Coroutines.Within(i, l.open[n-1].index) {
				best = k
				break
			}
		}
		if best < 0 {
			if len(list) == maxLanes {
				left++
				continue
			}
			best, list = len(list), append(list, new(lane))
		}
		list[best].enter(r, calls, i, at, ends[i])
	}
	for k, l := range list {
		l.close(r, calls, math.MaxInt64)
		l.name = fmt.Sprintf("coroutines %d", k+1)
	}
	return list, left
}

// since is a time in nanoseconds since the origin, not before it.
func (r *recording) since(nanos int64) int64 { return max(0, r.Since(nanos)) }

// enter adds a call.
func (l *lane) enter(r *recording, calls []coroutine.Call, i int, at, end int64) {
	l.run(r, calls, at)
	l.slices = append(l.slices, laneSlice{begin: at, end: end, depth: len(l.open), call: &calls[i]})
	l.open = append(l.open, openSlice{index: i, end: end, upTo: at})
}

// close ends the calls that have ended by a time.
func (l *lane) close(r *recording, calls []coroutine.Call, at int64) {
	for n := len(l.open); n > 0 && l.open[n-1].end <= at; n = len(l.open) {
		end := l.open[n-1].end
		l.run(r, calls, end)
		if l.open = l.open[:n-1]; n > 1 {
			l.open[n-2].upTo = end
		}
	}
}

// run adds the times up to another one in which the innermost call ran.
func (l *lane) run(r *recording, calls []coroutine.Call, to int64) {
	n := len(l.open)
	if n == 0 {
		return
	}
	o := &l.open[n-1]
	c := &calls[o.index]
	for ; o.nextPart < len(c.Pieces); o.nextPart++ {
		p := &c.Pieces[o.nextPart]
		begin, end := max(o.upTo, r.since(p.Begin)), min(to, r.since(p.End))
		if begin < end {
			s := laneSlice{begin: begin, end: end, depth: n, call: c, thread: clean(r.Thread(p.Thread).Label)}
			if !o.begun {
				s.piece, o.begun = p, true
			}
			l.slices = append(l.slices, s)
		}
		if r.since(p.End) > to {
			break
		}
		o.begun = false
	}
	o.upTo = to
}

// walk calls enter and leave for each slice of the lane, in the order of time.
func (l *lane) walk(enter func(*laneSlice), leave func(*laneSlice)) {
	var open []*laneSlice
	for i := range l.slices {
		s := &l.slices[i]
		for n := len(open); n > s.depth; n = len(open) {
			leave(open[n-1])
			open = open[:n-1]
		}
		enter(s)
		open = append(open, s)
	}
	for _, s := range slices.Backward(open) {
		leave(s)
	}
}

// laneThread is the index of a lane among the threads of a recording, which no thread has.
func laneThread(k int) uint32 { return math.MaxUint32 - uint32(k) }

// lanes lays out the lanes of a page as threads.
func (p *page) lanes(of *recording) {
	for k, l := range of.lanes(p.now.End) {
		pt := &pageThread{Index: laneThread(k), Name: l.name, Async: true, messages: []pageMessage{},
			windows: [][2]int64{}, samples: []pageSample{}, stalls: stateTimes{}}
		pt.Events = fmt.Sprintf("events-%d-%d", len(p.Recordings), len(p.now.Threads))
		at := int64(0)
		l.walk(func(s *laneSlice) {
			method := p.methods.slice(of, s)
			if s.thread != "" {
				pt.stalls.add(at, s.begin, "waiting")
				pt.stalls.add(s.begin, s.end, "running")
				at = s.end
			}
			pt.Calls++
			pt.enter(s.begin, method, 1)
			p.now.End = max(p.now.End, s.end)
		}, func(s *laneSlice) { pt.leave(s.end, laneMarks(s)) })
		if l.slices[0].executed == nil {
			pt.stalls.add(at, p.now.End, "waiting")
		}
		p.now.Threads = append(p.now.Threads, pt)
	}
	if of.leftOut > 0 {
		p.Notices = append(p.Notices, fmt.Sprintf("%d calls of suspend functions are not shown: there are too many.",
			of.leftOut))
	}
}

// laneMarks are the marks of a call that are shown.
func laneMarks(s *laneSlice) trace.Marks {
	if s.call == nil || s.thread != "" {
		return 0
	}
	switch s.call.End {
	case coroutine.EndSuspended, coroutine.EndRunning:
		return trace.MarkOpen
	case coroutine.EndUnknown:
		return trace.MarkCut
	}
	return 0
}

// Perfetto draws arrows between slices with the same flow, in the order of their begins. The pieces of a call have one;
// each piece has another one with its call on the thread, which was written before it was known what it is a part of.

// pieceFlow is the flow of a piece and its call on a thread, by its first mark there.
func pieceFlow(r *recording, thread uint32, record uint64) uint64 {
	return uint64(r.number)<<52 ^ uint64(thread)<<36 ^ record<<1
}

// callFlow is the flow of the pieces of a call.
func callFlow(r *recording, first *coroutine.Piece) uint64 {
	return pieceFlow(r, first.Thread, first.Record) | 1
}

// flow appends a flow to p.inner.
func (p *perfetto) flow(id uint64) {
	p.inner = protowire.AppendFixed64(protowire.AppendTag(p.inner, eventFlow, protowire.Fixed64Type), id)
}

// flows returns the flows of the calls of a segment that are pieces.
func flows(r *recording, s *trace.Segment) map[int]uint64 {
	if len(s.Coroutines) == 0 {
		return nil
	}
	all := map[int]uint64{}
	for _, m := range s.Coroutines {
		switch m.Kind {
		case trace.CoroutineContinues, trace.CoroutineResumes, trace.CoroutineSuspends:
			if at := int(m.Call); at >= 0 && all[at] == 0 {
				all[at] = pieceFlow(r, s.Thread, m.Record)
			}
		}
	}
	return all
}

// asyncTracks writes the lanes of a recording as tracks of the process.
func (p *perfetto) asyncTracks(r *recording) {
	for _, l := range r.lanes(r.Span.Nanoseconds()) {
		track, category := p.child(p.process, l.name), "coroutine"
		l.walk(func(s *laneSlice) {
			p.trackEvent(sliceBegin, track)
			if s.thread != "" {
				p.inner = text(text(p.inner, eventName, s.text()), eventCategoryText, "coroutine")
				if s.piece != nil {
					p.flow(pieceFlow(r, s.piece.Thread, s.piece.Record))
					p.flow(callFlow(r, &s.call.Pieces[0]))
				}
				p.emit(s.begin, nil)
				return
			}
			if s.executed != nil {
				category = "composable"
			}
			k := p.methods.slice(r, s)
			p.inner = text(number(p.inner, eventNameIID, uint64(k)+1), eventCategoryText, category)
			if p.methods.list[k].File != "" {
				p.inner = number(p.inner, eventSourceIID, uint64(k)+1)
			}
			p.annotate(s.facts(r))
			p.emit(s.begin, p.intern())
		}, func(s *laneSlice) {
			p.trackEvent(sliceEnd, track)
			p.emit(s.end, nil)
		})
	}
}
