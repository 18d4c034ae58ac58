package source

import (
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/trace"
)

// furthest is the greatest time, to either side of 0: differences of two must not overflow.
const furthest = 1 << 61

// maxCost is the greatest cost that is believed, in milliseconds.
const maxCost = foreign.MaxMillis

// reportReplay is what a Handler has been given of a text so far, and where the next segment begins.
type reportReplay struct {
	h        trace.Handler
	meta     map[string]string
	threads  map[string]uint32
	methods  map[string]trace.Method
	restorer Restorer
	at       int64
	number   uint64
}

func newReportReplay(h trace.Handler) *reportReplay {
	return &reportReplay{h: h, threads: map[string]uint32{}, methods: map[string]trace.Method{}}
}

// replayReports hands all reports of a text to h. restorer may be nil.
func replayReports(in *foreign.Reader, h trace.Handler, restorer Restorer) error {
	t := newReportReplay(h)
	t.restorer = restorer
	for {
		r, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = t.report(r)
		}
		if err != nil {
			return err
		}
	}
}

// report hands on one report.
func (t *reportReplay) report(r *foreign.Report) error {
	t.restore(r)
	meta := maps.Clone(r.Facts)
	meta["source"] = "matrix"
	meta["tickNanos"] = "1000000"
	onlyStacks := len(r.Stacks) > 0 && len(r.Lines) == 0
	if onlyStacks {
		meta["source"] = "stacks"
	} else {
		meta["clockPeriodMillis"] = "5"
	}
	if !maps.Equal(meta, t.meta) {
		t.meta = meta
		if err := t.h.Chunk(&trace.Meta{Values: meta}); err != nil {
			return err
		}
	}
	if onlyStacks {
		return t.stacks(r)
	}
	return t.tree(r)
}

// restore restores the names in a report.
func (t *reportReplay) restore(r *foreign.Report) {
	if t.restorer == nil {
		return
	}
	for i := range r.Stacks {
		r.Stacks[i].Frames = t.restorer.Frames(r.Stacks[i].Frames)
	}
	for _, key := range []string{"scene", "Scene"} {
		if class, ok := r.Facts[key]; ok {
			r.Facts[key] = t.restorer.Class(class)
		}
	}
}

// thread returns a thread's index; it is introduced when it is first asked for.
func (t *reportReplay) thread(name string) (uint32, error) {
	if name == "" {
		name = "main"
	}
	if k, ok := t.threads[name]; ok {
		return k, nil
	}
	k := uint32(len(t.threads))
	t.threads[name] = k
	return k, t.h.Chunk(&trace.Threads{List: []trace.Thread{{Index: k, Name: name, Main: name == "main"}}})
}

// method returns the method of a name.
func (t *reportReplay) method(name string) (trace.Method, error) {
	if m, ok := t.methods[name]; ok {
		return m, nil
	}
	m := trace.FirstNamed + trace.Method(len(t.methods))
	t.methods[name] = m
	return m, t.h.Named(m, name)
}

// tree hands on a report of Matrix.
func (t *reportReplay) tree(r *foreign.Report) error {
	index, err := t.thread("")
	if err != nil {
		return err
	}
	s := trace.Segment{Thread: index, Kind: trace.SegmentReport, Begin: t.at,
		Calls: make([]trace.Call, 0, len(r.Lines))}
	depths := make([]int64, len(r.Lines))
	var open []int32
	for i, l := range r.Lines {
		c := trace.Call{Method: trace.Method(l.ID), Parent: -1, Next: int32(i + 1),
			Count: uint32(min(l.Count, 1<<31)), End: min(l.Cost, maxCost) * 1e6}
		if l.Name != "" {
			if c.Method, err = t.method(l.Name); err != nil {
				return err
			}
		}
		depths[i] = l.Depth
		for len(open) > 0 && depths[open[len(open)-1]] >= l.Depth {
			open = open[:len(open)-1]
		}
		above := int64(-1)
		if len(open) > 0 {
			c.Parent = open[len(open)-1]
			above = depths[c.Parent]
		}
		if l.Depth > above+1 {
			s.Repairs.Jumps++
		}
		open = append(open, int32(i))
		s.Calls = append(s.Calls, c)
	}
	layOut(&s)
	j := t.stall(r, index, s.Begin, s.End)
	t.at = max(s.End, s.Begin+int64(j.Wall))
	if millis, err := strconv.ParseInt(r.Facts["time"], 10, 64); err == nil {
		// The time is the end of the message.
		if err := t.h.Chunk(&trace.Clock{NanoTime: s.Begin, WallMillis: millis - int64(j.Wall/1e6)}); err != nil {
			return err
		}
	}
	if len(s.Calls) > 0 {
		if err := t.h.Segment(&s); err != nil {
			return err
		}
	}
	for _, stack := range r.Stacks {
		if err := t.h.Chunk(&trace.StackSample{Nanos: s.End, Thread: index, State: stateOf(stack.State),
			Frames: stack.Frames, CPU: -1}); err != nil {
			return err
		}
	}
	return t.h.Chunk(j)
}

// layOut returns calls that have durations for their ends, and callers, times that are one behind the other. A call
// that took less than those below it ends with them.
func layOut(s *trace.Segment) {
	inner := make([]int64, len(s.Calls))
	for i := len(s.Calls) - 1; i >= 0; i-- {
		c := &s.Calls[i]
		if inner[i] > c.End {
			c.End = inner[i]
			c.Marks |= trace.MarkOverfull
			s.Repairs.Overfull++
		}
		if c.Parent >= 0 {
			inner[c.Parent] = min(inner[c.Parent]+c.End, furthest/2)
			p := &s.Calls[c.Parent]
			p.Next = max(p.Next, c.Next)
		}
	}
	// From here on inner is where the next call below begins.
	s.End = s.Begin
	for i := range s.Calls {
		c := &s.Calls[i]
		next := &s.End
		end := int64(furthest)
		if c.Parent >= 0 {
			next, end = &inner[c.Parent], s.Calls[c.Parent].End
		}
		c.Begin, c.End = *next, min(*next+c.End, end)
		*next, inner[i] = c.End, c.Begin
	}
}

// stall returns what the report says of the message, which was laid out from begin to end.
func (t *reportReplay) stall(r *foreign.Report, thread uint32, begin, end int64) *trace.StallChunk {
	j := &trace.StallChunk{Thread: thread, Message: t.number, Begin: begin, Wall: uint64(end - begin), CPU: -1,
		GCCount: -1, GCMillis: -1,
		Scene: firstOf(r.Facts, "scene", "Scene"), StackKey: r.Key}
	t.number++
	if n := r.Millis(); n >= 0 {
		j.Wall = uint64(n) * 1e6
	} else if len(r.Lines) == 0 {
		j.Wall, j.NoWall = 0, true
	}
	if usage, found := strings.CutSuffix(r.Facts["usage"], "%"); found {
		if part, err := strconv.ParseFloat(usage, 64); err == nil && part >= 0 && part <= 10_000 {
			j.CPU = int64(float64(j.Wall) * part / 100)
		}
	}
	j.Foreground = firstOf(r.Facts, "isProcessForeground", "Foreground") == "true"
	return j
}

// firstOf returns the value of the first key that there is.
func firstOf(facts map[string]string, keys ...string) string {
	for _, key := range keys {
		if v := facts[key]; v != "" {
			return v
		}
	}
	return ""
}

// stacks hands on stacks that were taken, thread by thread.
func (t *reportReplay) stacks(r *foreign.Report) error {
	begin, dated := t.begin(r)
	end := begin + max(r.Millis(), 0)*1e6
	if dated {
		if err := t.h.Chunk(&trace.Clock{NanoTime: begin, WallMillis: begin / 1e6}); err != nil {
			return err
		}
	}
	var order []string
	byThread := map[string][]foreign.Stack{}
	for _, s := range r.Stacks {
		if _, ok := byThread[s.Thread]; !ok {
			order = append(order, s.Thread)
		}
		byThread[s.Thread] = append(byThread[s.Thread], s)
	}
	for i, name := range order {
		index, err := t.thread(name)
		if err != nil {
			return err
		}
		segment, err := t.samples(r, index, byThread[name], begin, end)
		if err != nil {
			return err
		}
		// Otherwise nothing says how long they took: the duration is that of the first thread.
		if len(segment.Calls) > 0 && r.Millis() >= 0 && i == 0 {
			if err := t.h.Segment(segment); err != nil {
				return err
			}
		}
		if i > 0 {
			continue // one thread has stalled, the others are beside it
		}
		j := t.stall(r, index, begin, end)
		j.State = stateOf(byThread[name][0].State)
		if millis, err := strconv.ParseInt(r.Facts["thread-time"], 10, 64); err == nil && millis >= 0 {
			j.CPU = min(millis, maxCost) * 1e6
		}
		if err := t.h.Chunk(j); err != nil {
			return err
		}
	}
	t.at = end
	return nil
}

// begin returns when the first stack was taken, or what it is of began. dated is set if the log has times: they are
// nanoseconds since 1970 by the device's clock then.
func (t *reportReplay) begin(r *foreign.Report) (begin int64, dated bool) {
	begin, dated = r.Nanos(r.Facts["time-start"], 0)
	if !dated {
		begin, dated = r.Nanos(r.Stacks[0].At, 0)
	}
	return max(begin, t.at), dated
}

// taken returns when a stack was taken, between begin and end. The log has the time of day by a clock that may have
// been set meanwhile, for summer time for instance; ok is false if no such change explains the time.
func taken(r *foreign.Report, stack foreign.Stack, begin, end int64) (at int64, ok bool) {
	at, ok = r.Nanos(stack.At, begin)
	for _, shift := range []time.Duration{0, time.Hour, -time.Hour, time.Hour / 2, -time.Hour / 2} {
		if set := at + int64(shift); ok && set >= begin && set <= end {
			return set, true
		}
	}
	return 0, false
}

// samples makes a segment of stacks: each stands for the time until the next, the first one also for that before it,
// the last one until end.
func (t *reportReplay) samples(r *foreign.Report, thread uint32, stacks []foreign.Stack, begin,
	end int64) (*trace.Segment, error) {
	s := &trace.Segment{Thread: thread, Kind: trace.SegmentSamples, Begin: begin, End: end}
	var open []int32
	at := begin
	for i, stack := range stacks {
		when, ok := taken(r, stack, begin, end)
		if i > 0 && !ok {
			// Without times they share what there is.
			at = min(max(at, begin+(end-begin)/int64(len(stacks))*int64(i)), end)
		} else if i > 0 {
			at = min(max(at, when), end)
		}
		same := 0
		for k := len(stack.Frames) - 1; k >= 0; k-- {
			m, err := t.method(foreign.FrameMethod(stack.Frames[k]))
			if err != nil {
				return nil, err
			}
			depth := len(stack.Frames) - 1 - k
			if depth == same && depth < len(open) && s.Calls[open[depth]].Method == m {
				same++
				continue
			}
			if depth == same {
				open = closeFrom(s, open, same, at)
			}
			parent := int32(-1)
			if depth > 0 {
				parent = open[depth-1]
			}
			open = append(open, int32(len(s.Calls)))
			s.Calls = append(s.Calls, trace.Call{Method: m, Parent: parent, Count: 1, Begin: at})
		}
		open = closeFrom(s, open, len(stack.Frames), at)
		if !ok {
			when = at
		}
		sample := &trace.StackSample{Nanos: when, Thread: thread, State: stateOf(stack.State),
			Frames: stack.Frames, CPU: -1}
		if err := t.h.Chunk(sample); err != nil {
			return nil, err
		}
	}
	closeFrom(s, open, 0, end)
	return s, nil
}

// closeFrom ends the open calls from the given depth on.
func closeFrom(s *trace.Segment, open []int32, depth int, at int64) []int32 {
	for len(open) > depth {
		c := &s.Calls[open[len(open)-1]]
		c.End, c.Next = at, int32(len(s.Calls))
		open = open[:len(open)-1]
	}
	return open
}

// stateOf returns the state of a name of Java.
func stateOf(name string) trace.ThreadState {
	for s := trace.ThreadState(1); s.String() != trace.ThreadState(0).String(); s++ {
		if s.String() == name {
			return s
		}
	}
	return 0
}
