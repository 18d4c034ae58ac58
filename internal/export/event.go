package export

import (
	"math"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// eventKind is what an event is.
type eventKind uint8

const (
	eventMessage eventKind = iota // what a thread did: from begin to end, none overlaps another of its thread
	eventFrame                    // a frame that was drawn: from begin to end, none overlaps another of its lane
	eventInstant                  // something at begin
	eventCounter                  // name is value from begin on
	eventSample                   // what a thread was doing at begin
)

// event is what there is in a recording beside calls. Times are relative to the recording's origin, in nanoseconds.
type event struct {
	kind       eventKind
	of         *recording
	thread     *thread // nil for frames and what belongs to no thread
	begin, end int64
	name       string
	lane       int // of frames
	value      float64
	facts      []fact
	// flow is the same number for events that belong together, 0 if there are none.
	flow uint64
	// message and stall are what the event was made of, or nil.
	message *trace.Message
	stall   *trace.StallChunk
}

var messageKinds = [...]string{"message", "idle", "system message", "running", "merged messages"}

// message exports a message unless it has been exported: a history repeats what was in the one before. Of a message
// that has grown by merging, only the new part is exported.
func (w *writer) message(t *thread, m trace.Message, j *event) error {
	begin := t.of.rel(m.Begin)
	end := t.of.rel(sum(m.Begin, int64(min(m.Wall, math.MaxInt64))))
	next := sum(int64(min(m.Sequence, math.MaxInt64)), int64(min(m.Count, math.MaxInt64)))
	repeated := uint64(next) <= t.sequence
	if m.Kind == trace.MessageIdle {
		repeated = end <= t.messages
	}
	if repeated {
		t.of.duplicate++
		return nil
	}
	e := event{kind: eventMessage, of: t.of, thread: t, begin: begin, end: end, name: t.of.what(m.Description),
		message: &m}
	if e.name == "" && int(m.Kind) < len(messageKinds) {
		e.name = messageKinds[m.Kind]
	}
	e.name = clean(e.name)
	e.facts = messageFacts(m)
	if e.begin < t.messages {
		e.begin, e.end = t.messages, max(t.messages, e.end)
		e.facts = append(e.facts, fact{"begin", "earlier; the part that was exported before is left out"})
	}
	if m.Kind != trace.MessageIdle {
		t.sequence = uint64(next)
	}
	t.messages = e.end
	if j != nil {
		e.flow, e.stall = j.flow, j.stall
	}
	return w.exporter.event(&e)
}

// what returns what a message's text says. Of an outermost call it is the name of its method.
func (r *recording) what(text string) string {
	if m, ok := trace.DescribedMethod(text); ok {
		return "call of " + r.name(m).String()
	}
	return text
}

func messageFacts(m trace.Message) []fact {
	all := []fact{{"kind", "kind " + strconv.Itoa(int(m.Kind))}}
	if int(m.Kind) < len(messageKinds) {
		all[0].value = messageKinds[m.Kind]
	}
	if m.Kind == trace.MessageIdle {
		return all
	}
	all = append(all, fact{"number", m.Sequence}, fact{"wall ms", millis(int64(min(m.Wall, math.MaxInt64)))})
	if m.CPU >= 0 {
		all = append(all, fact{"cpu ms", millis(m.CPU)})
	}
	if m.Count != 1 {
		all = append(all, fact{"messages", m.Count})
	}
	return all
}

func millis(nanos int64) float64 { return float64(nanos) / 1e6 }

// frame exports a frame, in the first lane that is free by then, and its counters.
func (w *writer) frame(r *recording, f trace.Frame) error {
	e := event{kind: eventFrame, of: r, begin: r.rel(f.Start), name: "frame"}
	e.end = max(e.begin, r.rel(f.End))
	for e.lane = 0; e.lane < len(w.lanes) && w.lanes[e.lane] > e.begin; e.lane++ {
	}
	if e.lane == len(w.lanes) {
		w.lanes = append(w.lanes, 0)
	}
	w.lanes[e.lane] = e.end
	e.facts = frameFacts(r, f)
	if err := w.exporter.event(&e); err != nil {
		return err
	}
	counters := []struct {
		name  string
		value float64
		known bool
	}{{"dropped frames", float64(f.Dropped), true}, {"refresh Hz", float64(f.RefreshHz), f.RefreshHz > 0}}
	for _, c := range counters {
		if !c.known || math.IsNaN(c.value) || math.IsInf(c.value, 0) {
			continue
		}
		if err := w.exporter.event(&event{kind: eventCounter, of: r, begin: e.begin, end: e.begin, name: c.name,
			value: c.value}); err != nil {
			return err
		}
	}
	return nil
}

var frameParts = [...]string{"unknown", "input", "animation", "layout", "draw", "sync", "command", "swap", "total",
	"gpu"}

func frameFacts(r *recording, f trace.Frame) []fact {
	all := []fact{{"vsync ms", millis(r.rel(f.VSync))}, {"dropped before", f.Dropped}}
	for k, d := range f.Durations {
		if d >= 0 {
			all = append(all, fact{frameParts[k] + " ms", millis(d)})
		}
	}
	return all
}

// stall exports a stall: the message, the instant, and what was found while it lasted.
func (w *writer) stall(t *thread, stall *trace.Stall) error {
	c := &stall.Report
	e := event{kind: eventInstant, of: t.of, thread: t, begin: t.of.rel(c.Begin), name: "stall", stall: c,
		flow: uint64(t.of.number)<<52 ^ uint64(t.order)<<36 ^ (c.Message + 1)}
	e.end = e.begin
	e.facts = append(stallFacts(t.of, c), evidenceFacts(t.of, stall)...)
	err := w.message(t, trace.Message{Kind: trace.MessageNormal, Sequence: c.Message, Count: 1, Begin: c.Begin,
		Wall: c.Wall, CPU: c.CPU, Description: c.Description}, &e)
	if err == nil {
		err = w.exporter.event(&e)
	}
	if p := stall.Pending; err == nil && p != nil && p.Available {
		err = w.exporter.event(&event{kind: eventCounter, of: t.of, thread: t, begin: e.begin, end: e.begin,
			name: "messages waiting", value: float64(len(p.List))})
	}
	return err
}

func stallFacts(r *recording, c *trace.StallChunk) []fact {
	all := []fact{{"message", clean(r.what(c.Description))}, {"number", c.Message},
		{"wall ms", millis(int64(min(c.Wall, math.MaxInt64)))}}
	known := func(key string, n int64) {
		if n >= 0 {
			all = append(all, fact{key, n})
		}
	}
	if c.CPU >= 0 {
		all = append(all, fact{"cpu ms", millis(c.CPU)})
	}
	if c.Scene != "" {
		all = append(all, fact{"scene", clean(c.Scene)})
	}
	all = append(all, fact{"foreground", c.Foreground}, fact{"state", c.State.String()})
	if c.LockOwner != "" {
		all = append(all, fact{"lock owner", clean(c.LockOwner)})
	}
	known("gc count", c.GCCount)
	known("gc ms", c.GCMillis)
	all = append(all, fact{"stack key", clean(c.StackKey)}, fact{"first record", c.FirstRecord},
		fact{"end record", c.EndRecord})
	if c.Repairs > 0 {
		all = append(all, fact{"repairs on the device", c.Repairs})
	}
	return all
}

// sample exports a stack sample.
func (w *writer) sample(c *trace.StackSample) error {
	t, err := w.thread(c.Thread)
	if err != nil {
		return err
	}
	e := event{kind: eventSample, of: t.of, thread: t, begin: t.of.rel(c.Nanos), name: "stack",
		facts: sampleFacts(t.of, c)}
	e.end = e.begin
	return w.exporter.event(&e)
}

func sampleFacts(r *recording, c *trace.StackSample) []fact {
	all := []fact{{"stack at ms", millis(r.rel(c.Nanos))}, {"stack state", c.State.String()}}
	if c.CPU >= 0 {
		all = append(all, fact{"stack cpu ms", millis(c.CPU)})
	}
	return append(all, fact{"stack", lines(c.Frames)})
}

// evidenceFacts are what was found while a message took long: the last stack, and what waited.
func evidenceFacts(r *recording, s *trace.Stall) []fact {
	var all []fact
	if n := len(s.Samples); n > 0 {
		all = append(sampleFacts(r, s.Samples[n-1]), fact{"stacks", uint64(n)})
	}
	p := s.Pending
	if p == nil {
		return all
	}
	if !p.Available {
		return append(all, fact{"pending", "not available"})
	}
	waiting := make([]string, len(p.List))
	for k, m := range p.List {
		waiting[k] = pendingText(r, m)
	}
	return append(all, fact{"pending", uint64(len(p.List))}, fact{"pending messages", lines(waiting)})
}

func lines(list []string) string {
	clear := make([]string, len(list))
	for k, l := range list {
		clear[k] = clean(l)
	}
	return strings.Join(clear, "\n")
}

func pendingText(r *recording, m trace.PendingMessage) string {
	text := "due at " + strconv.FormatFloat(millis(difference(m.When, r.origin)), 'f', -1, 64) + " ms:"
	if m.Barrier {
		return text + " barrier, token " + strconv.FormatInt(m.Arg1, 10)
	}
	if m.Asynchronous {
		text += " asynchronous"
	}
	if m.Target != "" {
		text += " " + m.Target
	}
	if m.Callback != "" {
		text += " callback " + m.Callback
	}
	return text + " what " + strconv.FormatInt(m.What, 10)
}

// unreported exports what was found of a message whose report never came, as the recording was cut.
func (w *writer) unreported(t *thread, stall *trace.Stall) error {
	e := event{kind: eventInstant, of: t.of, thread: t, begin: t.messages,
		name: "stall, still open when the recording ended", facts: evidenceFacts(t.of, stall)}
	if n := len(stall.Samples); n > 0 {
		e.begin = t.of.rel(stall.Samples[n-1].Nanos)
	}
	e.end = e.begin
	return w.exporter.event(&e)
}
