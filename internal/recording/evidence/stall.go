package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// Stall is a message, an outermost call, a run of an IdleHandler or an input event that lasted at least its threshold,
// with all that a recording has on it.
type Stall struct {
	// StallChunk is the device's description of it. If the device wrote nothing, Reported is false, and StallChunk has
	// what its calls and the history of its thread show; what they do not show is -1 or empty, and its Message is
	// what the history says or 0.
	Report   trace.StallChunk
	Reported bool
	// Ended is false if it was running when the recording ended; StallChunk.Wall is how long until then.
	Ended bool
	// Thread is its thread.
	Thread trace.Thread
	// Kind is the kind of its segment.
	Kind trace.SegmentKind
	// Tree has its calls merged by path, of more than 16,384 paths the longest. It is empty if the recording has
	// no calls of it, and lacks those whose records are lost.
	Tree Tree
	// Repairs are the repairs of its segment.
	Repairs trace.Repairs
	// CallersUnknown is set if its calls lie behind a gap and it is not known whether other calls enclose them: the
	// device took the first call behind the gap for an outermost one.
	CallersUnknown bool
	// Clock is how the clocks stood when it was written; nil if that is not known.
	Clock *trace.Clock
	// Samples are the stacks that were taken while it ran, the first one first.
	Samples []*trace.StackSample
	// Steady are steady samples of its thread, the first one first. Of more than 256 some are left out, evenly.
	Steady []SteadyStack
	// Holders are the stacks of other threads that were taken while it ran, each right after one of its own: where it
	// waited for a lock, these are of the thread that held it.
	Holders []HolderSample
	// Initializing are stacks of other threads that were taken while it ran and that initialize a class, each with the
	// thread's own sample that is the nearest in time: it may wait until the class is ready, which a JVM does not report.
	Initializing []HolderSample
	// Pending has the messages that waited behind it; nil if the queue was not recorded.
	Pending *trace.Pending
	// Before has the messages before it on its thread, the oldest first.
	Before []trace.Message
	// Machine is the state of the machine while it ran, the first one first: when it passed the threshold, and when it
	// had ended. It is empty if that was not recorded.
	Machine []*trace.Machine
	// Open has the calls that were open when the recording ended, the outermost first, and LastRecord is the time of
	// the thread's last record, in [trace.Clock.NanoTime]. Open is empty if the stall ended, or if the thread has later
	// records.
	Open       []OpenAtEnd
	LastRecord int64
	// Suspended has the times in the stall in which the process did not run, in the order of time. They do not overlap.
	// StallChunk.Wall contains them; the times of Tree do not.
	Suspended []trace.Suspension
	// Late has the times in the stall in which the clock of records was late. Their Begin and End may lie outside of it.
	Late []trace.LateInterval
}

// Ran returns how long the stall lasted without the time in which the process did not run, in nanoseconds.
func (s *Stall) Ran() int64 {
	begin, end := s.span()
	return end - begin - trace.Sum(s.Suspended, begin, end)
}

// span returns when the stall began and ended, near enough to 0 for differences of two times not to overflow.
func (s *Stall) span() (begin, end int64) {
	const furthest = 1 << 61
	begin = min(max(s.Report.Begin, -furthest), furthest)
	return begin, begin + int64(min(s.Report.Wall, furthest))
}

// SteadyStack is a steady sample with all calls that were open then.
type SteadyStack struct {
	// Nanos is when, in [trace.Clock.NanoTime], State what the thread was doing.
	Nanos int64
	State trace.ThreadState
	// CPU is how long the thread had been on a processor since the begin of its stall or before, in nanoseconds: only
	// differences of two are of use. It is -1 if it is not known.
	CPU int64
	// Calls has the calls, recorded and estimated ones, the outermost first.
	Calls []trace.Method
}

// OpenAtEnd is a call that was open when the recording ended.
type OpenAtEnd struct {
	// Method is the called method.
	Method trace.Method
	// Begin is when, in [trace.Clock.NanoTime].
	Begin int64
}

// HolderSample is a stack of a thread, and the stack of a waiting thread that was taken right before it. If the
// holder waits for a lock too, the next one has its stack as Waiting.
type HolderSample struct {
	// Waiting is the stack of the waiting thread, Holder the other one.
	Waiting, Holder *trace.StackSample
	// Thread is the holder's.
	Thread trace.Thread
}

// Joiner is a [trace.Handler] that collects the evidence about one stall from many chunks: a [trace.StallChunk] names
// the records, the history, sample and queue come before it, the calls before or behind it. It keeps the calls of
// stalls alone, so its memory does not grow with the recording. The zero value but for Found is ready.
//
// A message whose calls took [trace.Meta]'s slowMillis or longer and of which the device wrote nothing is handed on as
// well: it ran when the recording ended, or was one too many. The stalls of one thread come in order, mostly as soon as
// they are complete.
type Joiner struct {
	// Found gets each stall when all of it is known. The joiner does not use it any more.
	Found func(*Stall) error

	meta         *trace.Meta
	clock        *trace.Clock
	threads      map[uint32]*threadEvidence
	samples      []*trace.StackSample  // the last of all threads
	initializers []*trace.StackSample  // the last ones of threads that initialized a class
	loops        map[trace.Method]bool // outermost methods that enclose messages
	stopped      trace.Suspensions
	late         []trace.LateInterval // the last ones
}

const (
	// maxStallNodes is how many nodes a stall's tree keeps.
	maxStallNodes = 1 << 14
	// maxStallsWaiting is how many stalls of a thread wait for their evidence.
	maxStallsWaiting = 32
	// maxSamples is how many samples of a thread wait for their message, and how many of all threads.
	maxSamples = 256
	// maxMachine is how many states of the machine of a thread wait for their message.
	maxMachine = 16
	// maxLate is how many times in which the clock was late are kept.
	maxLate = 1 << 12
)

// threadEvidence is the evidence about a thread that belongs to no stall yet.
type threadEvidence struct {
	thread  trace.Thread
	history []trace.Message
	samples []*trace.StackSample
	pending *trace.Pending
	machine []*trace.Machine // the last ones
	waiting []*openStall     // in the order of their records
	part    *openStall       // the segment that is suspended
	latest  *openStall       // the stall of the last segment; nil if that is no stall
	alive   trace.OpenCall   // the last sign of life
}

// openStall is a stall of which something is missing: its report, or calls.
type openStall struct {
	Stall
	first, end uint64 // its records
	ended      int64  // when its calls did
	complete   bool   // no more calls will come
	decided    bool   // its report has come, or no report will come
	// unknown is set if it is no message and no outermost call, but what lies behind a gap: calls of which it is not
	// known whether others enclose them.
	unknown bool
	// Of the steady samples so far: how many there were, of how many each one that is kept is the last, and the thread's
	// time on a processor.
	steady, every int
	cpu           int64
}

// Chunk takes the chunks about messages.
func (j *Joiner) Chunk(c trace.Chunk) error {
	switch c := c.(type) {
	case *trace.Meta:
		j.meta = c
	case *trace.Clock:
		j.clock = c
	case *trace.Threads:
		for _, t := range c.List {
			j.thread(t.Index).thread = t
		}
	case *trace.Messages:
		j.thread(c.Thread).history = c.List
	case *trace.StackSample:
		t := j.thread(c.Thread)
		t.samples = append(t.samples[max(0, len(t.samples)-maxSamples+1):], c)
		j.samples = append(j.samples[max(0, len(j.samples)-maxSamples+1):], c)
		if slices.ContainsFunc(c.Frames, Initializes) {
			j.initializers = append(j.initializers[max(0, len(j.initializers)-maxSamples+1):], c)
		}
	case *trace.Alive:
		for _, o := range c.Open {
			j.thread(o.Thread).alive = o
		}
	case *trace.Pending:
		j.thread(c.Thread).pending = c
	case *trace.Machine:
		t := j.thread(c.Thread)
		t.machine = append(t.machine[max(0, len(t.machine)-maxMachine+1):], c)
	case *trace.Suspended:
		j.stopped.Add(c)
	case *trace.Late:
		if j.late = append(j.late, c.List...); len(j.late) > maxLate {
			j.late = slices.Clone(j.late[len(j.late)-maxLate/2:])
		}
	case *trace.StallChunk:
		return j.report(c)
	}
	return nil
}

// Named does nothing: trees have methods, not names.
func (j *Joiner) Named(trace.Method, string) error { return nil }

func (j *Joiner) thread(index uint32) *threadEvidence {
	if j.threads == nil {
		j.threads = map[uint32]*threadEvidence{}
	}
	t := j.threads[index]
	if t == nil {
		t = &threadEvidence{thread: trace.Thread{Index: index}}
		j.threads[index] = t
	}
	return t
}

// Segment takes the calls of a stall.
func (j *Joiner) Segment(s *trace.Segment) error {
	t := j.thread(s.Thread)
	if len(s.Calls) == 0 {
		return nil
	}
	switch s.Kind {
	case trace.SegmentBetween:
		j.between(t, s.Calls[0].Method)
		return nil
	case trace.SegmentRequest:
		body := s.Body()
		s = &body
	}
	first := &s.Calls[0]
	if open := openBehindGap(s); open != nil {
		return j.Segment(open)
	}
	k := t.part
	t.latest = nil
	if k == nil || first.Marks&trace.MarkResumed == 0 {
		k = t.expecting(s)
		if k == nil && first.Marks&trace.MarkSuspended == 0 && !j.slow(s.Kind, s.End-s.Begin) {
			return nil
		}
		if k == nil {
			k = &openStall{first: s.FirstRecord, Stall: Stall{Report: trace.StallChunk{Thread: s.Thread, Begin: s.Begin,
				CPU: -1, GCCount: -1, GCMillis: -1, FirstRecord: s.FirstRecord}}}
			k.unknown = first.Method == trace.MethodNotRecorded
			t.wait(k)
		}
		k.Kind = s.Kind
	}
	k.Tree.Add(running(&j.stopped, s))
	k.Tree.Trim(4 * maxStallNodes)
	k.Repairs.Add(s.Repairs)
	k.end, k.ended = max(k.end, s.EndRecord), s.End
	k.follow(s)
	k.sample(s)
	t.part, t.latest = nil, k
	if first.Marks&trace.MarkSuspended != 0 {
		t.part = k
		return nil
	}
	k.Ended = first.Marks&trace.MarkOpen == 0
	k.Tree.Trim(maxStallNodes)
	return j.complete(t, k)
}

// between notes that calls of a method enclose messages, and so are none, also where that has not shown before.
func (j *Joiner) between(t *threadEvidence, m trace.Method) {
	if j.loops == nil {
		j.loops = map[trace.Method]bool{}
	}
	j.loops[m] = true
	if k := t.part; k != nil {
		t.waiting = slices.DeleteFunc(t.waiting, func(w *openStall) bool { return w == k })
		t.part = nil
	}
}

// slow reports whether a segment that took so long may be of use.
func (j *Joiner) slow(kind trace.SegmentKind, nanos int64) bool {
	if kind == trace.SegmentReport || kind == trace.SegmentSamples || j.meta != nil && j.meta.OnlyStalls() {
		return true
	}
	// The kind of a message is known later, when its report or the history of the thread comes.
	return nanos >= min(j.threshold(trace.MessageNormal), j.threshold(trace.MessageIdleHandler),
		j.threshold(trace.MessageInput))
}

// threshold returns the threshold of a kind in nanoseconds; the greatest number if the recording does not say it.
func (j *Joiner) threshold(kind trace.MessageKind) int64 {
	if j.meta != nil {
		if threshold, ok := j.meta.StallThreshold(kind); ok {
			return threshold.Nanoseconds()
		}
	}
	return math.MaxInt64
}

// expecting returns the message that was reported and has records of the segment.
func (t *threadEvidence) expecting(s *trace.Segment) *openStall {
	for _, k := range t.waiting {
		if !k.Reported || k.complete || s.FirstRecord >= k.Report.EndRecord || s.EndRecord <= k.Report.FirstRecord {
			continue
		}
		if s.Calls[0].Method != trace.MethodNotRecorded || k.Report.FirstRecord <= s.FirstRecord &&
			s.EndRecord <= k.Report.EndRecord {
			return k
		}
	}
	return nil
}

// wait adds a stall to the waiting ones, in the order of their records.
func (t *threadEvidence) wait(k *openStall) {
	i := len(t.waiting)
	for i > 0 && t.waiting[i-1].first > k.first {
		i--
	}
	t.waiting = slices.Insert(t.waiting, i, k)
}

// openBehindGap returns the call that is open where the records end, with all calls below it, of a segment in which
// it is not known what encloses that call; nil if there is none. The call itself is as good as an outermost one: it
// had not ended.
func openBehindGap(s *trace.Segment) *trace.Segment {
	if s.Calls[0].Method != trace.MethodNotRecorded || s.Calls[0].Marks&trace.MarkOpen == 0 {
		return nil
	}
	for i := int32(1); int(i) < len(s.Calls); i = s.Calls[i].Next {
		if s.Calls[i].Marks&trace.MarkOpen == 0 {
			continue
		}
		open := s.Part(i)
		open.Begin, open.End = s.Calls[i].Begin, s.Calls[i].End
		return &open
	}
	return nil
}

// complete marks the stalls that need no more calls, as all calls of k are there.
func (j *Joiner) complete(t *threadEvidence, k *openStall) error {
	for _, w := range t.waiting {
		w.complete = w.complete || w == k && (!k.Reported || k.end >= k.Report.EndRecord) || w.Reported &&
			w.Report.EndRecord <= k.first
	}
	return j.give(t)
}

// report takes the device's description of a message, whose calls are there or will come.
func (j *Joiner) report(c *trace.StallChunk) error {
	t := j.thread(c.Thread)
	if m, ok := trace.DescribedMethod(c.Description); ok && j.loops[m] {
		// The device did not have the methods whose calls are messages. The samples belong to these.
		return nil
	}
	if t.pending != nil && t.pending.Message < c.Message {
		t.pending = nil
	}
	i := slices.IndexFunc(t.waiting, func(k *openStall) bool {
		return !k.Reported && !k.unknown && (k.end == 0 && c.EndRecord == 0 || k.first < c.EndRecord && k.end > c.FirstRecord)
	})
	if i < 0 {
		i, _ = slices.BinarySearchFunc(t.waiting, c.FirstRecord,
			func(k *openStall, at uint64) int { return cmp.Compare(k.first, at) })
		t.waiting = slices.Insert(t.waiting, i, &openStall{first: c.FirstRecord,
			complete: c.FirstRecord == c.EndRecord})
	}
	for _, earlier := range t.waiting[:i] {
		// Messages are reported in their order, so these will not be.
		earlier.decided = true
	}
	k := t.waiting[i]
	k.decided = true
	k.complete = k.complete || t.part != k && k.end >= c.EndRecord
	k.Report, k.Reported, k.Ended, k.Clock = *c, true, true, j.clock
	j.attach(t, &k.Stall)
	if t.pending != nil && t.pending.Message == c.Message {
		k.Pending, t.pending = t.pending, nil
	}
	return j.give(t)
}

// interrupt notes in which times of a stall the process did not run, and in which the clock was late.
func (j *Joiner) interrupt(s *Stall) {
	begin, end := s.span()
	s.Suspended, s.Late = j.stopped.Within(begin, end), nil
	for _, l := range j.late {
		if l.Begin < end && l.End > begin && l.Begin < l.End {
			s.Late = append(s.Late, l)
		}
	}
}

// attach returns a message the samples and the history that are its own.
func (j *Joiner) attach(t *threadEvidence, s *Stall) {
	j.interrupt(s)
	end := s.Report.Begin + int64(s.Report.Wall)
	for _, sample := range t.samples {
		if s.Report.Begin <= sample.Nanos && sample.Nanos <= end {
			s.Samples = append(s.Samples, sample)
		}
	}
	for i, sample := range j.samples {
		if i > 0 && sample.Thread != s.Report.Thread && s.Report.Begin <= sample.Nanos && sample.Nanos <= end {
			before := j.samples[i-1]
			own := before.Thread == s.Report.Thread
			further := len(s.Holders) > 0 && s.Holders[len(s.Holders)-1].Holder == before
			if (own || further) && holds(sample.Thread, &before.Lock) {
				s.Holders = append(s.Holders, HolderSample{before, sample, j.thread(sample.Thread).thread})
			}
		}
	}
	for _, own := range s.Samples {
		if near := j.initializing(own, s.Report.Begin, end); near != nil {
			s.Initializing = append(s.Initializing, HolderSample{own, near, j.thread(near.Thread).thread})
		}
	}
	for _, m := range t.machine {
		if m.Message == s.Report.Message && s.Report.Begin <= m.Nanos {
			s.Machine = append(s.Machine, m)
		}
	}
	t.samples = slices.DeleteFunc(t.samples, func(sample *trace.StackSample) bool { return sample.Nanos <= end })
	for _, m := range t.history {
		if m.Begin < s.Report.Begin {
			s.Before = append(s.Before, m)
		}
	}
}

// initializing returns the sample of another thread in a time that is the nearest to a thread's own one and shows that
// it initializes a class; nil if there is none.
func (j *Joiner) initializing(own *trace.StackSample, begin, end int64) (near *trace.StackSample) {
	distance := func(s *trace.StackSample) uint64 {
		return uint64(max(s.Nanos, own.Nanos)) - uint64(min(s.Nanos, own.Nanos))
	}
	for _, s := range j.initializers {
		if s.Thread != own.Thread && begin <= s.Nanos && s.Nanos <= end &&
			(near == nil || distance(s) < distance(near)) {
			near = s
		}
	}
	return near
}

// Initializes reports whether a frame is that of a class's initialization.
func Initializes(frame string) bool { return strings.Contains(frame, ".<clinit>") }

// holds reports whether a thread holds the lock.
func holds(thread uint32, l *trace.LockWait) bool { return l.Owned && l.Owner == thread }

// give hands on the stalls that are complete, in order. A stall whose report or calls do not come waits until too
// many stalls wait.
func (j *Joiner) give(t *threadEvidence) error {
	for len(t.waiting) > 0 {
		k := t.waiting[0]
		if !(k.complete && k.decided) && (len(t.waiting) <= maxStallsWaiting || k == t.part) {
			return nil
		}
		t.waiting = t.waiting[1:]
		if err := j.found(t, k); err != nil {
			return err
		}
	}
	return nil
}

// found hands a message on, unless it turns out not to be slow.
func (j *Joiner) found(t *threadEvidence, k *openStall) error {
	k.Thread = t.thread
	if k.Reported {
		j.interrupt(&k.Stall) // the chunks behind the report belong to it, too
		if len(k.Suspended) > 0 && k.Ran() < j.threshold(k.Report.Kind) {
			return nil
		}
		k.narrow(&k.Tree)
	} else if t.explains(k) || k.unknown {
		return nil
	}
	if k.Reported || k.Ended || k != t.latest {
		k.Open, k.LastRecord = nil, 0
	}
	if !k.Reported {
		took := k.ended - k.Report.Begin
		k.Report.Wall, k.Report.EndRecord = uint64(took), k.end
		if k.Kind == trace.SegmentRequest && len(k.Tree.Nodes) > 1 {
			k.Report.Description = trace.DescribeMethod(k.Tree.Nodes[1].Method)
		}
		t.describe(k)
		threshold := j.threshold(k.Report.Kind)
		if took < threshold && (k.Kind <= trace.SegmentOutermost || k.Kind == trace.SegmentRequest) {
			return nil
		}
		if j.interrupt(&k.Stall); len(k.Suspended) > 0 && k.Ran() < threshold {
			return nil // it is none without the time in which the process did not run
		}
		j.attach(t, &k.Stall)
		if !k.Ended && k == t.latest {
			k.Pending, t.pending = t.pending, nil
		}
	}
	return j.Found(&k.Stall)
}

// withoutCalls hands on a message that passed the threshold and never ended, and of which no calls are there. It lasted
// from its begin, or from the first stack sample if that is not known, to the last one at least.
func (j *Joiner) withoutCalls(t *threadEvidence) error {
	p := t.pending
	if t.pending = nil; p == nil || len(t.samples) == 0 {
		return nil
	}
	s := &Stall{Thread: t.thread, Pending: p, Clock: j.clock, Report: trace.StallChunk{Thread: p.Thread,
		Message: p.Message, Begin: t.samples[0].Nanos, CPU: -1, GCCount: -1, GCMillis: -1}}
	if t.alive.Message == p.Message && t.alive.Begin != 0 && t.alive.Begin <= s.Report.Begin {
		s.Report.Begin, s.Report.Description, s.Report.State = t.alive.Begin, t.alive.Description, t.alive.State
	}
	if m, ok := trace.DescribedMethod(s.Report.Description); ok && j.loops[m] {
		return nil // as in report
	}
	last := t.samples[len(t.samples)-1].Nanos
	threshold := j.threshold(trace.MessageNormal)
	if threshold < math.MaxInt64 {
		s.Report.Begin = min(s.Report.Begin, last-threshold) // its queue was read when it passed the threshold
	}
	s.Report.Wall = uint64(max(0, last-s.Report.Begin))
	if j.attach(t, s); len(s.Suspended) > 0 && s.Ran() < threshold {
		return nil
	}
	return j.Found(s)
}

// explains hands the calls of k to the messages that the device reported of a part of it, and reports whether there are
// any: a device that has lost records takes the next call for an outermost one, where replay finds what encloses it.
func (t *threadEvidence) explains(k *openStall) bool {
	any := false
	for _, w := range t.waiting {
		if w.Reported && len(w.Tree.Nodes) == 0 && k.first <= w.Report.FirstRecord && w.Report.EndRecord <= k.end &&
			w.narrow(&k.Tree) {
			w.Kind, w.Repairs, w.CallersUnknown, w.complete, any = k.Kind, k.Repairs, k.unknown, true, true
			begin, end := w.span()
			w.Steady = slices.DeleteFunc(slices.Clone(k.Steady), func(x SteadyStack) bool {
				return x.Nanos < begin || x.Nanos > end
			})
		}
	}
	return any
}

// narrow takes for the calls of an outermost call that was reported what t has of that method, if it is called by
// others there: of several the calls that took most nearly as long.
func (s *Stall) narrow(t *Tree) bool {
	method, isCall := trace.DescribedMethod(s.Report.Description)
	if !isCall {
		return false
	}
	nearest, off := int32(0), int64(math.MaxInt64)
	for k := range t.Nodes {
		if d := t.Nodes[k].Total - s.Ran(); k > 0 && t.Nodes[k].Method == method && max(d, -d) < off {
			nearest, off = int32(k), max(d, -d)
		}
	}
	if nearest == 0 {
		return false
	}
	if t != &s.Tree || t.Nodes[nearest].Parent != 0 {
		s.Tree = t.Sub(nearest)
	}
	return true
}

// describe says what ran, as far as the history of its thread or its last sign of life have it.
func (t *threadEvidence) describe(s *openStall) {
	r := &s.Report
	if o := &t.alive; len(s.Open) > 0 && o.Description != "" && o.Begin < s.ended &&
		(s.Kind != trace.SegmentRequest || o.Description == r.Description) {
		// No later message can be meant: the thread has no later records.
		r.Description, r.Message, r.State = o.Description, o.Message, o.State
	}
	for _, m := range t.history {
		// Records have a coarser clock than the history: the right message covers the middle.
		middle := r.Begin + int64(r.Wall/2)
		if s.Kind == trace.SegmentRequest && m.Description != r.Description {
			continue // the device did not have it for a message
		}
		if m.Count <= 1 && m.Kind != trace.MessageIdle && m.Begin <= middle && middle < m.Begin+int64(m.Wall) {
			r.Description, r.Message, r.CPU = m.Description, m.Sequence, m.CPU
			if m.Kind == trace.MessageIdleHandler || m.Kind == trace.MessageInput {
				r.Kind = m.Kind
			}
		}
	}
	if r.Description == "" && s.Kind == trace.SegmentOutermost && len(s.Open) > 0 {
		r.Description = trace.DescribeMethod(s.Open[0].Method)
	}
}

// follow notes which calls of a segment are open at its end, and the time of its last record. A call that a segment
// before has suspended began there.
func (k *openStall) follow(s *trace.Segment) {
	open := k.Open // those that are resumed
	k.Open, k.LastRecord = nil, s.Begin
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.Method == trace.MethodNotRecorded {
			continue
		}
		k.LastRecord = max(k.LastRecord, c.Begin)
		begin := c.Begin
		if c.Marks&trace.MarkResumed != 0 && len(open) > 0 {
			begin, open = open[0].Begin, open[1:]
		}
		if c.Marks&(trace.MarkOpen|trace.MarkSuspended) == 0 {
			k.LastRecord = max(k.LastRecord, c.End)
			continue
		}
		k.Open = append(k.Open, OpenAtEnd{c.Method, begin})
	}
}

// sample keeps the steady samples of a segment. If these are too many, it keeps every other one, and from then on half
// as many.
func (k *openStall) sample(s *trace.Segment) {
	k.every = max(1, k.every)
	for i := range s.Samples {
		from := &s.Samples[i]
		k.steady++
		k.cpu += max(0, from.CPU)
		if k.steady%k.every != 0 {
			continue
		}
		k.Steady = append(k.Steady, SteadyStack{Nanos: from.Nanos, State: from.State, CPU: k.cpu, Calls: callsOf(s, from)})
		if from.CPU < 0 {
			k.Steady[len(k.Steady)-1].CPU = -1
		}
		if len(k.Steady) > maxSamples {
			half := k.Steady[:0]
			for n := 1; n < len(k.Steady); n += 2 {
				half = append(half, k.Steady[n])
			}
			clear(k.Steady[len(half):])
			k.Steady, k.every = half, 2*k.every
		}
	}
}

// callsOf returns the calls that a sample shows as open, the outermost first.
func callsOf(s *trace.Segment, of *trace.Sample) []trace.Method {
	path := slices.Clone(of.Below)
	slices.Reverse(path)
	between := len(of.Between) - 1
	for call := of.Call; call >= 0; call = s.Calls[call].Parent {
		path = append(path, s.Calls[call].Method)
		for between >= 0 && of.Between[between].Call > call {
			between--
		}
		if between >= 0 && of.Between[between].Call == call {
			for _, m := range slices.Backward(of.Between[between].Frames) {
				path = append(path, m)
			}
		}
	}
	slices.Reverse(path)
	return path
}

// Finish hands on the stalls that still wait, when the recording is over.
func (j *Joiner) Finish() error {
	for _, index := range slices.Sorted(maps.Keys(j.threads)) {
		t := j.threads[index]
		t.part = nil
		for _, k := range t.waiting {
			if err := j.found(t, k); err != nil {
				return err
			}
		}
		t.waiting = nil
		if err := j.withoutCalls(t); err != nil {
			return err
		}
	}
	return nil
}
