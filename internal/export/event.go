package export

import (
	"math"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// eventKind tells events from each other.
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
	// message and jank are what the event was made of, or nil.
	message *trace.Message
	jank    *trace.StallChunk
}

var messageKinds = [...]string{"message", "idle", "system message", "running", "merged messages"}

// message tells a message unless it has been told: a history repeats what was in the one before. One that has grown
// by merging is told as far as it is new.
func (s *stage) message(t *thread, m trace.Message, j *event) error {
	begin := t.of.rel(m.Begin)
	end := t.of.rel(sum(m.Begin, int64(min(m.Wall, math.MaxInt64))))
	next := sum(int64(min(m.Sequence, math.MaxInt64)), int64(min(m.Count, math.MaxInt64)))
	told := uint64(next) <= t.sequence
	if m.Kind == trace.MessageIdle {
		told = end <= t.messages
	}
	if told {
		t.of.duplicate++
		return nil
	}
	e := event{kind: eventMessage, of: t.of, thread: t, begin: begin, end: end, name: t.of.what(m.Description), message: &m}
	if e.name == "" && int(m.Kind) < len(messageKinds) {
		e.name = messageKinds[m.Kind]
	}
	e.name = clean(e.name)
	e.facts = messageFacts(m)
	if e.begin < t.messages {
		e.begin, e.end = t.messages, max(t.messages, e.end)
		e.facts = append(e.facts, fact{"begin", "earlier: what was told before is left out"})
	}
	if m.Kind != trace.MessageIdle {
		t.sequence = uint64(next)
	}
	t.messages = e.end
	if j != nil {
		e.flow, e.jank = j.flow, j.jank
	}
	return s.exporter.event(&e)
}

// what gives the name of the method that a message's text has the ID of: an outermost call has nothing else to say.
func (r *recording) what(text string) string {
	digits, ok := strings.CutPrefix(text, "method ")
	id, err := strconv.ParseUint(digits, 10, 20)
	if !ok || err != nil {
		return text
	}
	return "call of " + r.name(trace.Method(id)).String()
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

// frame tells a frame, in the first lane that is free by then, and what is counted of it.
func (s *stage) frame(r *recording, f trace.Frame) error {
	e := event{kind: eventFrame, of: r, begin: r.rel(f.Start), name: "frame"}
	e.end = max(e.begin, r.rel(f.End))
	for e.lane = 0; e.lane < len(s.lanes) && s.lanes[e.lane] > e.begin; e.lane++ {
	}
	if e.lane == len(s.lanes) {
		s.lanes = append(s.lanes, 0)
	}
	s.lanes[e.lane] = e.end
	e.facts = frameFacts(r, f)
	if err := s.exporter.event(&e); err != nil {
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
		if err := s.exporter.event(&event{kind: eventCounter, of: r, begin: e.begin, end: e.begin, name: c.name, value: c.value}); err != nil {
			return err
		}
	}
	return nil
}

var frameParts = [...]string{"unknown", "input", "animation", "layout", "draw", "sync", "command", "swap", "total", "gpu"}

func frameFacts(r *recording, f trace.Frame) []fact {
	all := []fact{{"vsync ms", millis(r.rel(f.VSync))}, {"dropped before", f.Dropped}}
	for k, d := range f.Durations {
		if d >= 0 {
			all = append(all, fact{frameParts[k] + " ms", millis(d)})
		}
	}
	return all
}

// jank tells a slow message: the message, the instant, and what was found when it passed the threshold.
func (s *stage) jank(j *trace.StallChunk) error {
	t, err := s.thread(j.Thread)
	if err != nil {
		return err
	}
	e := event{kind: eventInstant, of: t.of, thread: t, begin: t.of.rel(j.Begin), name: "jank", jank: j,
		flow: uint64(t.of.number)<<52 ^ uint64(t.order)<<36 ^ (j.Message + 1)}
	e.end = e.begin
	if t.pending != nil && t.pending.Message != j.Message {
		if err := s.leftEvidence(t); err != nil {
			return err
		}
	}
	e.facts = append(jankFacts(t.of, j), t.evidence(sum(j.Begin, int64(min(j.Wall, math.MaxInt64))))...)
	err = s.message(t, trace.Message{Kind: trace.MessageNormal, Sequence: j.Message, Count: 1, Begin: j.Begin,
		Wall: j.Wall, CPU: j.CPU, Description: j.Description}, &e)
	if err == nil {
		err = s.exporter.event(&e)
	}
	if p := t.pending; err == nil && p != nil && p.Available {
		err = s.exporter.event(&event{kind: eventCounter, of: t.of, thread: t, begin: e.begin, end: e.begin,
			name: "messages waiting", value: float64(len(p.List))})
	}
	t.samples, t.pending = nil, nil
	return err
}

func jankFacts(r *recording, j *trace.StallChunk) []fact {
	all := []fact{{"message", clean(r.what(j.Description))}, {"number", j.Message}, {"wall ms", millis(int64(min(j.Wall, math.MaxInt64)))}}
	known := func(key string, n int64) {
		if n >= 0 {
			all = append(all, fact{key, n})
		}
	}
	if j.CPU >= 0 {
		all = append(all, fact{"cpu ms", millis(j.CPU)})
	}
	if j.Scene != "" {
		all = append(all, fact{"scene", clean(j.Scene)})
	}
	all = append(all, fact{"foreground", j.Foreground}, fact{"state", j.State.String()})
	if j.LockOwner != "" {
		all = append(all, fact{"lock owner", clean(j.LockOwner)})
	}
	known("gc count", j.GCCount)
	known("gc ms", j.GCMillis)
	all = append(all, fact{"stack key", clean(j.StackKey)}, fact{"first record", j.FirstRecord}, fact{"end record", j.EndRecord})
	if j.Repairs > 0 {
		all = append(all, fact{"repairs on the device", j.Repairs})
	}
	return all
}

// maxSamples is how many samples of a thread wait for their message.
const maxSamples = 64

// sample tells a sample, and keeps it for the message that it was taken of.
func (s *stage) sample(c *trace.StackSample) error {
	t, err := s.thread(c.Thread)
	if err != nil {
		return err
	}
	t.samples = append(t.samples[max(0, len(t.samples)-maxSamples+1):], c)
	e := event{kind: eventSample, of: t.of, thread: t, begin: t.of.rel(c.Nanos), name: "stack", facts: sampleFacts(t.of, c)}
	e.end = e.begin
	return s.exporter.event(&e)
}

func sampleFacts(r *recording, c *trace.StackSample) []fact {
	all := []fact{{"stack at ms", millis(r.rel(c.Nanos))}, {"stack state", c.State.String()}}
	if c.CPU >= 0 {
		all = append(all, fact{"stack cpu ms", millis(c.CPU)})
	}
	return append(all, fact{"stack", lines(c.Frames)})
}

// evidence is what was found on the thread while a message took long: the last stack before the given time, and what waited.
func (t *thread) evidence(until int64) []fact {
	var all []fact
	n := 0
	for n < len(t.samples) && t.samples[n].Nanos <= until {
		n++
	}
	if n > 0 {
		all = append(sampleFacts(t.of, t.samples[n-1]), fact{"stacks", uint64(n)})
	}
	p := t.pending
	if p == nil {
		return all
	}
	if !p.Available {
		return append(all, fact{"pending", "not available"})
	}
	waiting := make([]string, len(p.List))
	for k, m := range p.List {
		waiting[k] = pendingText(t.of, m)
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

// leftEvidence tells what waited behind a message of which no more is told: the recording was cut.
func (s *stage) leftEvidence(t *thread) error {
	if t.pending == nil {
		return nil
	}
	e := event{kind: eventInstant, of: t.of, thread: t, begin: t.messages, name: "slow, not told how it ended", facts: t.evidence(math.MaxInt64)}
	if n := len(t.samples); n > 0 {
		e.begin = t.of.rel(t.samples[n-1].Nanos)
	}
	e.end = e.begin
	t.samples, t.pending = nil, nil
	return s.exporter.event(&e)
}
