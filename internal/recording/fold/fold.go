// Package fold makes recordings fit for viewers, which hold some hundred thousand calls: it cuts calls to a range of
// time, and folds neighbours that are too short to be seen into one call.
package fold

import (
	"math"
	"slices"
	"strconv"

	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Folder shortens the calls of one recording: it cuts them to a range of time, and folds calls that are shorter than
// Resolution.
//
// A run is neighbours below one caller, or outermost calls of one thread, that are all shorter than the resolution,
// with less than the resolution between two of them. Folding merges the calls of a run by path, with their number and
// the sum of their times. A merged path whose sum reaches the resolution becomes one call of its method. All other
// calls of the run become one more call, whose name says how many calls it stands for. They are
// placed one behind the other from the begin of the run on.
//
// The sum of the times does not change, so that the self time of every caller stays what it was. A run of a single
// call is not changed at all.
type Folder struct {
	// From and To are the range that calls are cut to, in nanoseconds of [trace.Clock.NanoTime].
	From, To int64
	// Resolution is in nanoseconds; 0 folds no call.
	Resolution int64

	emit  func(*trace.Segment) error
	named func(trace.Method, string) error

	calls   []trace.Call   // of the segment that is made
	samples []trace.Sample // of it, of folded calls
	moved   []int32        // for each call of the segment its index in calls, -1 if it is left out or folded
	open    []openKept
	run     run           // of the innermost open call
	repairs trace.Repairs // of segments that were left out
	waiting map[uint32]*outermostRun
	labels  map[uint64]trace.Method // by the number of calls that the name says
}

// openKept is a call that was handed on and is still open: where the next call beside it is, and where it is in calls.
type openKept struct{ next, at int32 }

// outermostRun is a run of outermost calls of a thread. Each of them is a segment of its own.
type outermostRun struct {
	run
	segment trace.Segment
}

// firstFolded is the first Method that stands for calls of several methods.
const firstFolded = trace.FirstNamed << 8

// Folded reports whether m stands for short calls of several methods.
func Folded(m trace.Method) bool { return m >= firstFolded && m < trace.MethodSuspended }

// New returns a folder that leaves every call as it is. emit gets the segments; named introduces the methods that
// stand for calls of several methods.
func New(emit func(*trace.Segment) error, named func(trace.Method, string) error) *Folder {
	return &Folder{From: math.MinInt64, To: math.MaxInt64, emit: emit, named: named,
		waiting: map[uint32]*outermostRun{}, labels: map[uint64]trace.Method{}}
}

// cut returns the part of a call that lies in the range. It is false if there is none. The parts of a call that
// several segments have stay together, as a part that ends at from or begins at to is out of the range.
func (f *Folder) cut(c *trace.Call) (trace.Call, bool) {
	out := *c
	if c.Begin >= f.To || c.End < f.From || c.End == f.From && (c.Begin < c.End || c.Marks&trace.MarkSuspended != 0) {
		return out, false
	}
	if c.Marks&trace.MarkResumed != 0 && c.Begin <= f.From {
		out.Marks &^= trace.MarkResumed
	}
	if c.Marks&trace.MarkSuspended != 0 && c.End >= f.To {
		out.Marks &^= trace.MarkSuspended
	}
	out.Begin, out.End = max(c.Begin, f.From), min(c.End, f.To)
	return out, true
}

// stays reports whether a call is neither left out nor folded, however short it is: a call that several segments have,
// because how long it takes is not known before its last part, and a gap or a time in which the process did not run,
// which is not its caller's own.
func stays(c *trace.Call) bool {
	return c.Marks&(trace.MarkSuspended|trace.MarkResumed) != 0 ||
		c.Method >= trace.MethodSuspended && c.Begin < c.End
}

// Segment shortens a segment and hands on what is left.
func (f *Folder) Segment(s *trace.Segment) error {
	if f.From == math.MinInt64 && f.To == math.MaxInt64 && f.Resolution == 0 {
		return f.emit(s)
	}
	resolution := f.Resolution
	if s.Kind == trace.SegmentReport || s.Kind == trace.SegmentSamples {
		resolution = 0 // calls of reports are merged already
	}
	if len(s.Calls) > 0 {
		root, in := f.cut(&s.Calls[0])
		took := root.End - root.Begin
		switch alone := int(s.Calls[0].Next) == len(s.Calls); {
		case !alone:
		case !in:
			f.repairs.Add(s.Repairs)
			return nil
		case took < resolution && !stays(&root):
			return f.wait(s)
		}
	}
	if err := f.flushThread(s.Thread); err != nil {
		return err
	}
	f.calls, f.samples = f.calls[:0], f.samples[:0]
	if err := f.shorten(s.Calls, resolution, samplesByCall(s.Samples)); err != nil {
		return err
	}
	if len(f.calls) == 0 && len(s.Calls) > 0 {
		f.repairs.Add(s.Repairs)
		return nil
	}
	out := *s
	out.Begin, out.End, out.Calls = max(s.Begin, f.From), min(s.End, f.To), f.calls
	out.Samples = f.samplesOf(s)
	return f.handOn(&out)
}

// handOn hands on a segment, with the repairs of those that were left out before it.
func (f *Folder) handOn(s *trace.Segment) error {
	s.Repairs.Add(f.repairs)
	f.repairs = trace.Repairs{}
	return f.emit(s)
}

// shorten appends what is left of the calls. samples has the samples by call.
func (f *Folder) shorten(calls []trace.Call, resolution int64, samples map[int32][]trace.Sample) error {
	f.open = f.open[:0]
	f.moved = f.moved[:0]
	for range calls {
		f.moved = append(f.moved, -1)
	}
	f.run.reset()
	parent := func() int32 {
		if n := len(f.open); n > 0 {
			return f.open[n-1].at
		}
		return -1
	}
	close := func(until int32) error {
		for n := len(f.open); n > 0 && f.open[n-1].next <= until; n-- {
			if err := f.flush(&f.run, parent()); err != nil {
				return err
			}
			f.calls[f.open[n-1].at].Next = int32(len(f.calls))
			f.open = f.open[:n-1]
		}
		return nil
	}
	for i := int32(0); int(i) < len(calls); {
		if err := close(i); err != nil {
			return err
		}
		c, in := f.cut(&calls[i])
		took := c.End - c.Begin
		stay := stays(&c)
		switch {
		case !in:
			i = calls[i].Next
		case took < resolution && !stay:
			if f.run.calls > 0 && c.Begin-f.run.end >= resolution {
				if err := f.flush(&f.run, parent()); err != nil {
					return err
				}
			}
			f.add(&f.run, calls, i, samples)
			i = calls[i].Next
		default:
			if err := f.flush(&f.run, parent()); err != nil {
				return err
			}
			c.Parent = parent()
			f.moved[i] = int32(len(f.calls))
			f.open = append(f.open, openKept{c.Next, f.moved[i]})
			f.calls = append(f.calls, c)
			i++
		}
	}
	if err := close(math.MaxInt32); err != nil {
		return err
	}
	return f.flush(&f.run, -1)
}

// wait puts a segment whose outermost call is folded to those before it on its thread.
func (f *Folder) wait(s *trace.Segment) error {
	w := f.waiting[s.Thread]
	if w == nil {
		w = &outermostRun{}
		f.waiting[s.Thread] = w
	}
	if w.calls > 0 && (w.segment.Kind != s.Kind || s.Begin-w.end >= f.Resolution) {
		if err := f.flushOutermost(w); err != nil {
			return err
		}
	}
	if w.calls == 0 {
		w.segment = *s
		w.segment.Calls, w.segment.Repairs, w.segment.Gaps, w.segment.Samples = nil, trace.Repairs{}, nil, nil
	}
	f.moved = f.moved[:0] // no call around these stays
	f.add(&w.run, s.Calls, 0, samplesByCall(s.Samples))
	w.segment.EndRecord, w.segment.Gaps = s.EndRecord, append(w.segment.Gaps, s.Gaps...)
	w.segment.Repairs.Add(s.Repairs)
	return nil
}

func (f *Folder) flushThread(thread uint32) error {
	if w := f.waiting[thread]; w != nil {
		return f.flushOutermost(w)
	}
	return nil
}

// Flush hands on all runs of outermost calls.
func (f *Folder) Flush() error {
	threads := make([]uint32, 0, len(f.waiting))
	for thread, w := range f.waiting {
		if w.calls > 0 {
			threads = append(threads, thread)
		}
	}
	slices.Sort(threads)
	for _, thread := range threads {
		if err := f.flushThread(thread); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) flushOutermost(w *outermostRun) error {
	if w.calls == 0 {
		return nil
	}
	begin, end := w.begin, w.end
	f.calls, f.samples, f.moved = f.calls[:0], f.samples[:0], f.moved[:0]
	if err := f.flush(&w.run, -1); err != nil {
		return err
	}
	out := w.segment
	out.Begin, out.End, out.Calls, out.Samples = begin, end, f.calls, inOrder(slices.Clone(f.samples))
	return f.handOn(&out)
}

// run is calls that are folded.
type run struct {
	calls      uint64 // how many, with those below them
	begin, end int64
	first      trace.Call // the first of them
	nodes      []runNode  // calls that took time, by path; the first stands for the run
	at         []int32    // the nodes of the calls of the subtree that is added
	none       uint64     // calls that took no time, with no call below them that took some
	marks      trace.Marks
	methods    methods // of the calls that took no time
	samples    []foldedSample
}

// runNode is all calls of a run that have the same path.
type runNode struct {
	method                       trace.Method
	parent, child, last, sibling int32 // 0 for none
	calls                        uint64
	sum                          int64
	marks                        trace.Marks
	at                           int32 // the call that stands for it
}

func (r *run) reset() {
	if r.calls == 0 {
		return
	}
	r.calls, r.none, r.marks, r.nodes = 0, 0, 0, r.nodes[:0]
	r.methods = methods{}
}

// add adds a call and those below it to a run, with their samples.
func (f *Folder) add(r *run, calls []trace.Call, i int32, samples map[int32][]trace.Sample) {
	c, _ := f.cut(&calls[i])
	if r.calls == 0 {
		r.begin, r.first = c.Begin, c
	}
	r.end = c.End
	if c.Begin == c.End {
		for k := i; k < calls[i].Next; k++ {
			n := uint64(calls[k].Count)
			r.calls, r.none, r.marks = r.calls+n, r.none+n, r.marks|calls[k].Marks
			r.methods.add(calls[k].Method)
			f.take(r, k, 0, samples)
		}
		return
	}
	if len(r.nodes) == 0 {
		r.nodes = append(r.nodes, runNode{})
	}
	r.at = r.at[:0]
	for k := i; k < calls[i].Next; {
		c, in := f.cut(&calls[k])
		parent := int32(0)
		if k > i {
			parent = r.at[c.Parent-i]
		}
		for int32(len(r.at)) < k-i {
			r.at = append(r.at, 0) // calls out of the range
		}
		if !in {
			k = c.Next
			continue
		}
		at := r.below(parent, c.Method)
		r.at = append(r.at, at)
		f.take(r, k, at, samples)
		n := &r.nodes[at]
		n.calls += uint64(c.Count)
		n.sum += c.End - c.Begin
		n.marks |= c.Marks
		r.calls += uint64(c.Count)
		k++
	}
}

// below returns the node of a method below another, which is made if it is new.
func (r *run) below(parent int32, m trace.Method) int32 {
	last := r.nodes[parent].last
	if last != 0 && r.nodes[last].method == m {
		return last // the same method again, as in a loop
	}
	for k := r.nodes[parent].child; k != 0; k = r.nodes[k].sibling {
		if r.nodes[k].method == m {
			return k
		}
	}
	k := int32(len(r.nodes))
	r.nodes = append(r.nodes, runNode{method: m, parent: parent})
	if p := &r.nodes[parent]; last == 0 {
		p.child, p.last = k, k
	} else {
		r.nodes[last].sibling, p.last = k, k
	}
	return k
}

// flush appends the calls that a run is folded to, below parent, and empties the run.
func (f *Folder) flush(r *run, parent int32) error {
	if r.calls == 0 {
		return nil
	}
	var err error
	if r.calls == 1 {
		c := r.first
		c.Parent, c.Next = parent, int32(len(f.calls))+1
		for k := range r.nodes {
			r.nodes[k].at = int32(len(f.calls))
		}
		f.calls = append(f.calls, c)
	} else {
		err = f.put(r, 0, parent, r.begin)
	}
	f.move(r, int32(len(f.calls))-1)
	r.reset()
	return err
}

// put appends what is below a node of a run, from a time on: the paths that reach the resolution, then one call for
// all others.
func (f *Folder) put(r *run, node, parent int32, at int64) error {
	var children int32
	if len(r.nodes) > 0 {
		children = r.nodes[node].child
	}
	for k := children; k != 0; k = r.nodes[k].sibling {
		n := &r.nodes[k]
		if n.sum < f.Resolution {
			continue
		}
		index := int32(len(f.calls))
		n.at = index
		f.calls = append(f.calls, trace.Call{Method: n.method, Parent: parent, Count: count32(n.calls), Begin: at,
			End: at + n.sum, Marks: n.marks})
		if err := f.put(r, k, index, at); err != nil {
			return err
		}
		f.calls[index].Next = int32(len(f.calls))
		at += n.sum
	}
	rest := int32(len(f.calls))
	methods, calls, sum, marks := methods{}, uint64(0), int64(0), trace.Marks(0)
	if node == 0 {
		methods, calls, marks = r.methods, r.none, r.marks
	}
	for k := children; k != 0; k = r.nodes[k].sibling {
		if r.nodes[k].sum >= f.Resolution {
			continue
		}
		sum += r.nodes[k].sum
		for below := k; ; {
			n := &r.nodes[below]
			n.at = rest
			methods.add(n.method)
			calls, marks = calls+n.calls, marks|n.marks
			if n.child != 0 {
				below = n.child
				continue
			}
			for below != k && r.nodes[below].sibling == 0 {
				below = r.nodes[below].parent
			}
			if below == k {
				break
			}
			below = r.nodes[below].sibling
		}
	}
	if calls == 0 {
		return nil
	}
	method := methods.last
	if methods.several {
		var err error
		if method, err = f.label(calls); err != nil {
			return err
		}
	}
	f.calls = append(f.calls, trace.Call{Method: method, Parent: parent, Next: rest + 1,
		Count: count32(calls), Begin: at, End: at + sum, Marks: marks})
	return nil
}

func count32(n uint64) uint32 { return uint32(min(n, math.MaxUint32)) }

// label returns the method that stands for so many calls of several methods, and introduces its name.
func (f *Folder) label(calls uint64) (trace.Method, error) {
	name := strconv.FormatUint(calls, 10)
	if calls >= 1000 {
		// Three digits, so that there are few names; [trace.Call.Count] is exact.
		unit := uint64(1)
		for calls/unit >= 1000 {
			unit *= 10
		}
		calls -= calls % unit
		name = "over " + units.Thousands(calls)
	}
	m, ok := f.labels[calls]
	if ok {
		return m, nil
	}
	m = firstFolded + trace.Method(len(f.labels))
	f.labels[calls] = m
	return m, f.named(m, name+" calls of several methods")
}

// methods says whether calls are of several methods.
type methods struct {
	last         trace.Method
	any, several bool
}

func (s *methods) add(m trace.Method) {
	s.several = s.several || s.any && s.last != m
	s.last, s.any = m, true
}
