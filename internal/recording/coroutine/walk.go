package coroutine

import (
	"math"

	"github.com/tracegen/tracegen/trace"
)

// mostMarks is how many marks are joined at most. Later ones count as lost.
const mostMarks = 1 << 22

// Joiner makes pieces of the calls with marks. The zero value is ready. It is no handler by itself: the caller hands on
// all chunks and segments of one recording.
type Joiner struct {
	// Glue reports whether a method is of the library of coroutines, or was made by the compiler; nil for none.
	Glue func(trace.Method) bool
	// Library reports whether a method is of another library; nil for none.
	Library func(trace.Method) bool

	threads  map[uint32]*thread
	pieces   []piece
	launches []launch
	// made counts the marks of each continuation, whether replay has found their calls or not.
	made   []madeMark
	losses []span
	gated  map[trace.Method]int64 // since when calls of a method may not have been recorded
	// gaps is how many records are missing in gaps, placed how many marks at known times, missing how many more of both.
	gaps, placed, missing uint64
	counts                trace.CoroutineCounts
	started               bool
	// onlyStalls is whether the recording has the records of stalls alone. stall is the number of the segment, from 1 on.
	onlyStalls bool
	stall      int32
}

// key is a continuation: its method and its hash code.
type key uint64

func keyOf(m trace.Method, hash uint32) key { return key(m)<<32 | key(hash) }

func (k key) method() trace.Method { return trace.Method(k >> 32) }

// madeMark is a mark as it is in the recording.
type madeMark struct {
	key  key
	kind trace.CoroutineKind
}

// span is a time.
type span struct{ begin, end int64 }

// status is how a piece has ended.
type status uint8

const (
	statusUnknown status = iota
	statusReturned
	statusThrew
	statusSuspended
	statusOpen
)

// piece is a call on a thread that is a part of an asynchronous call.
type piece struct {
	key        key
	kind       trace.CoroutineKind // CoroutineContinues, CoroutineResumes, or CoroutineSuspends of a tail call
	status     status
	thread     uint32
	stall      int32  // 0 if all is recorded
	record     uint64 // of its first mark
	begin, end int64
	// parent is the piece that was open around it, -1 if there is none, unknownPiece if it is not known.
	parent int32
	// wait is the piece of the innermost function that had returned suspended, -1 if there is none. caller is, of a
	// tail call, the nearest piece around it with a continuation, which was suspended with it; -1 if there is none.
	wait, caller int32
	longest      trace.Method
	took         int64
}

// unknownPiece is in place of the index of a piece that is not known.
const unknownPiece = -2

// launch is the making of a lambda.
type launch struct {
	key key
	Launch
	piece int32 // that was open, -1 or unknownPiece
	stall int32 // as that of a piece
}

// thread is what is known of a thread.
type thread struct {
	calls []openCall // those that go on in the next segment, the outermost first
	lost  []span     // when marks are missing
	// lostFrom is the number of the record from which on the last of these are.
	lostFrom uint64
	// resumed are the pieces that were resumed, in the order of time.
	resumed []int32
}

// openCall is a call that goes on in the next segment.
type openCall struct {
	piece int32 // -1 if it is none
	begin int64
}

// Chunk takes a chunk.
func (j *Joiner) Chunk(c trace.Chunk) {
	switch c := c.(type) {
	case *trace.Meta:
		j.onlyStalls = c.OnlyStalls()
	case *trace.Coroutines:
		j.started = true
		for _, m := range c.Marks {
			if m.Kind != trace.CoroutineLost && m.Kind != trace.CoroutineSuspends && len(j.made) < mostMarks {
				j.made = append(j.made, madeMark{keyOf(m.Method, m.Hash), m.Kind})
			}
		}
	case *trace.Gate:
		for _, m := range c.Methods {
			if m.State != 0 {
				j.gate(m.Method, c.Nanos)
			}
		}
	case *trace.LeftOut:
		for _, m := range c.Methods {
			j.gate(m.Method, math.MinInt64)
		}
	case *trace.Completeness:
		j.counts = c.Coroutines
		j.missing = c.Lost - min(c.Lost, j.gaps) + c.Coroutines.Lost - min(c.Coroutines.Lost, j.placed)
	}
}

// gate notes that calls of a method were not recorded from some time on.
func (j *Joiner) gate(m trace.Method, nanos int64) {
	if j.gated == nil {
		j.gated = map[trace.Method]int64{}
	}
	if before, ok := j.gated[m]; !ok || nanos < before {
		j.gated[m] = nanos
	}
}

// Segment takes a segment, those of one thread in the order of time.
func (j *Joiner) Segment(s *trace.Segment) {
	for _, g := range s.Gaps {
		if g.Kind == trace.GapLost {
			j.gaps += g.Records
			if j.started {
				j.losses = append(j.losses, span{g.Begin, g.End})
			}
		}
	}
	if !j.started {
		return
	}
	t := j.thread(s.Thread)
	if len(s.Coroutines) == 0 && len(t.calls) == 0 {
		return
	}
	if j.onlyStalls {
		j.stall++
	}
	w := walk{Joiner: j, segment: s, thread: t, pieceOf: make([]int32, len(s.Calls)), chain: -1}
	for i := range w.pieceOf {
		w.pieceOf[i] = -1
		if w.goesOn(i) {
			w.pieceOf[i] = t.calls[i].piece
		}
	}
	for i := range s.Coroutines {
		w.mark(&s.Coroutines[i])
	}
	w.finish()
}

func (j *Joiner) thread(index uint32) *thread {
	t := j.threads[index]
	if t == nil {
		if j.threads == nil {
			j.threads = map[uint32]*thread{}
		}
		t = &thread{}
		j.threads[index] = t
	}
	return t
}

// walk is one segment that is handled.
type walk struct {
	*Joiner
	segment *trace.Segment
	thread  *thread
	pieceOf []int32 // of each call, -1 if it is none
	// chain is the call that those around it are suspended for, if no other has begun since, and -1 otherwise: the
	// innermost call that has returned suspended, of libraries the outermost below others. end is the index behind its
	// last call. tails are the tail calls of these.
	chain, end int32
	tails      []int32
	launched   []launchedIn
}

// launchedIn is a launch and the call that was open then.
type launchedIn struct {
	launch int
	call   int32
}

// goesOn reports whether a call is known from the segment before.
func (w *walk) goesOn(call int) bool {
	return call < len(w.thread.calls) && w.segment.Calls[call].Marks&trace.MarkResumed != 0
}

// mark takes a mark.
func (w *walk) mark(m *trace.PlacedMark) {
	// A mark is placed at its call, which may have begun behind marks that were made later.
	if n := len(w.thread.lost) - 1; n >= 0 && w.thread.lost[n].end == math.MaxInt64 && m.Record > w.thread.lostFrom &&
		!w.full() {
		w.thread.lost[n].end = m.Nanos
	}
	switch {
	case m.Kind == trace.CoroutineLost, w.full():
		w.placed += m.Lost
		w.thread.lostFrom = m.Record
		w.thread.lost = append(w.thread.lost, span{m.Nanos, math.MaxInt64})
	case m.Kind == trace.CoroutineStarts:
		w.launch(m)
	case m.Call < 0:
	case m.Kind == trace.CoroutineSuspends:
		w.suspend(m)
	case w.pieceOf[m.Call] < 0 && (m.Kind == trace.CoroutineContinues || m.Kind == trace.CoroutineResumes):
		w.pieceOf[m.Call] = w.add(m, m.Kind)
		if m.Kind == trace.CoroutineResumes {
			w.thread.resumed = append(w.thread.resumed, w.pieceOf[m.Call])
		}
	}
}

// full reports whether no more marks are taken.
func (j *Joiner) full() bool { return len(j.pieces)+len(j.launches) >= mostMarks }

// add adds a piece for the call of a mark.
func (w *walk) add(m *trace.PlacedMark, kind trace.CoroutineKind) int32 {
	begin := w.segment.Calls[m.Call].Begin
	if w.goesOn(int(m.Call)) {
		begin = w.thread.calls[m.Call].begin
	}
	w.pieces = append(w.pieces, piece{key: keyOf(m.Method, m.Hash), kind: kind, thread: w.segment.Thread,
		stall: w.stall, record: m.Record, begin: begin, parent: unknownPiece, wait: -1, caller: -1})
	return int32(len(w.pieces) - 1)
}

// launch notes the making of a lambda.
func (w *walk) launch(m *trace.PlacedMark) {
	l := launch{key: keyOf(m.Method, m.Hash), stall: w.stall, piece: unknownPiece,
		Launch: Launch{Thread: w.segment.Thread, Nanos: m.Nanos, Until: m.Until}}
	if m.Call >= 0 && w.segment.Calls[m.Call].Marks&noExit == 0 {
		l.Method, l.By = w.launcher(m.Call)
		w.launched = append(w.launched, launchedIn{len(w.launches), m.Call})
	}
	w.launches = append(w.launches, l)
}

// launcher returns the method of the program that makes a lambda in a call: of the call, or of the next one around it
// that is no glue. It is that of the call if there is none, and 0 if it is not known. by is what that has called.
func (w *walk) launcher(call int32) (method, by trace.Method) {
	calls := w.segment.Calls
	for n, k := 0, call; k >= 0 && n < mostGlue; n, k = n+1, calls[k].Parent {
		switch m := calls[k].Method; {
		case m >= trace.MethodSuspended, calls[k].Marks&noExit != 0:
			return 0, 0
		case !w.isGlue(m):
			return m, by
		default:
			by = m
		}
	}
	return calls[call].Method, 0
}

// isGlue reports whether a method is glue.
func (j *Joiner) isGlue(m trace.Method) bool { return j.Glue != nil && j.Glue(m) }

// isLibrary reports whether a method is glue, or of another library.
func (j *Joiner) isLibrary(m trace.Method) bool {
	return j.isGlue(m) || j.Library != nil && j.Library(m)
}

// mostGlue is how many calls of glue may be in each other.
const mostGlue = 64

// suspend takes the exit of a call that is suspended.
func (w *walk) suspend(m *trace.PlacedMark) {
	calls := w.segment.Calls
	p := w.pieceOf[m.Call]
	tail := p < 0
	if tail {
		p = w.add(m, trace.CoroutineSuspends)
		w.pieceOf[m.Call] = p
	}
	w.pieces[p].status = statusSuspended
	// What it called last has returned suspended right before it.
	if next := calls[m.Call].Next; w.chain >= 0 && w.end == next {
		w.pieces[p].wait = w.chain
		if w.isLibrary(w.pieces[w.chain].key.method()) {
			w.chain = p // what the program called says more than what that did
		}
	} else {
		w.chain, w.end, w.tails = p, next, w.tails[:0]
	}
	if tail {
		w.tails = append(w.tails, p)
		return
	}
	for _, k := range w.tails {
		w.pieces[k].caller = p
	}
	w.tails = w.tails[:0]
}

// finish notes how the pieces have ended, and in which others they lie.
func (w *walk) finish() {
	calls := w.segment.Calls
	within := w.within()
	for _, l := range w.launched {
		w.launches[l.launch].piece = within[l.call]
	}
	var open []openCall
	for i := range calls {
		c := &calls[i]
		if c.Marks&trace.MarkSuspended != 0 {
			o := openCall{w.pieceOf[i], c.Begin}
			if w.goesOn(i) {
				o.begin = w.thread.calls[i].begin
			}
			open = append(open, o)
		}
		if c.Parent >= 0 && w.pieceOf[c.Parent] >= 0 && c.Method < trace.MethodSuspended {
			if p := &w.pieces[w.pieceOf[c.Parent]]; c.End-c.Begin > p.took {
				p.longest, p.took = c.Method, c.End-c.Begin
			}
		}
		if w.pieceOf[i] < 0 {
			continue
		}
		p := &w.pieces[w.pieceOf[i]]
		p.end = c.End
		if c.Marks&trace.MarkResumed == 0 {
			p.parent = -1
			if c.Parent >= 0 {
				p.parent = within[c.Parent]
			}
		}
		if p.status == statusUnknown {
			p.status = statusOf(c.Marks)
		}
	}
	w.thread.calls = open
	w.doubt()
}

// doubt makes the ends of pieces unknown that may be each other's. An exit ends the innermost open call of its method.
// If an exception has left that one, and its exit is missing, the exit was of a call around it.
func (w *walk) doubt() {
	calls := w.segment.Calls
	var around []int32 // pieces without an exit that are open
	open, doubtful := map[trace.Method]int{}, map[trace.Method]bool{}
	for i := range calls {
		for n := len(around); n > 0 && int(calls[around[n-1]].Next) <= i; n = len(around) {
			open[calls[around[n-1]].Method]--
			around = around[:n-1]
		}
		if w.pieceOf[i] < 0 {
			continue
		}
		c, p := &calls[i], &w.pieces[w.pieceOf[i]]
		if p.status == statusSuspended && open[c.Method] > 0 {
			p.status, doubtful[c.Method] = statusUnknown, true
		}
		if p.status == statusThrew {
			around = append(around, int32(i))
			open[c.Method]++
		}
	}
	for i, piece := range w.pieceOf {
		if piece >= 0 && doubtful[calls[i].Method] && w.pieces[piece].status == statusThrew {
			w.pieces[piece].status = statusUnknown
		}
	}
}

// noExit are the marks of calls that an exception may have left before the calls that seem to lie in them.
const noExit = trace.MarkUnwound | trace.MarkOpen | trace.MarkCut

// within returns for each call the piece that it is, or the innermost one that it is known to lie in.
func (w *walk) within() []int32 {
	in := make([]int32, len(w.pieceOf))
	for i, p := range w.pieceOf {
		c := &w.segment.Calls[i]
		switch {
		case c.Method == trace.MethodNotRecorded, p >= 0 && c.Marks&noExit != 0:
			in[i] = unknownPiece
		case p >= 0:
			in[i] = p
		case c.Parent >= 0:
			in[i] = in[c.Parent]
		default:
			in[i] = -1
		}
	}
	return in
}

// statusOf returns how a call without a mark at its end has ended.
func statusOf(m trace.Marks) status {
	switch {
	case m&(trace.MarkCut|trace.MarkSuspended) != 0:
		return statusUnknown
	case m&trace.MarkOpen != 0:
		return statusOpen
	case m&trace.MarkUnwound != 0:
		return statusThrew
	}
	return statusReturned
}
