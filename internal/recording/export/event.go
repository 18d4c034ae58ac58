package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// eventKind is what an event is.
type eventKind uint8

const (
	eventMessage    eventKind = iota // what a thread did: from begin to end, none overlaps another of its thread
	eventFrame                       // a frame that was drawn: from begin to end, none overlaps another of its lane
	eventInstant                     // something at begin
	eventSample                      // what a thread was doing at begin
	eventPiece                       // a piece of an asynchronous call, on its thread from begin to end
	eventComposable                  // an execution of a composable, on its thread from begin to end
)

// event is what there is in a recording beside calls. Times are relative to the recording's origin, in nanoseconds.
type event struct {
	kind       eventKind
	of         *recording
	thread     *thread // nil for frames and what belongs to no thread
	begin, end int64
	name       string
	lane       int // of frames
	facts      []fact
	// message and stall are what the event was made of, or nil.
	message *trace.Message
	stall   *analysis.Stall
}

var messageKinds = [...]string{"message", "idle", "system message", "running", "merged messages"}

// message exports a message unless it has been exported: a history repeats what was in the one before. Of a message
// that has grown by merging, only the new part is exported.
func (w *writer) message(t *thread, m trace.Message) error {
	begin := t.of.At(m.Begin)
	end := t.of.At(sum(m.Begin, int64(min(m.Wall, math.MaxInt64))))
	next := sum(int64(min(m.Sequence, math.MaxInt64)), int64(min(m.Count, math.MaxInt64)))
	repeated := uint64(next) <= t.sequence
	if m.Kind == trace.MessageIdle {
		repeated = end <= t.messages
	}
	if repeated {
		return nil
	}
	e := event{kind: eventMessage, of: t.of, thread: t, begin: begin, end: end, name: "message", message: &m}
	if m.Description != "" {
		e.name = clean(t.of.Message(m.Description).String())
	} else if int(m.Kind) < len(messageKinds) {
		e.name = messageKinds[m.Kind]
	}
	e.facts = messageFacts(m)
	if e.begin < t.messages {
		e.begin, e.end = t.messages, max(t.messages, e.end)
		e.facts = append(e.facts, fact{"begin", "earlier; the part that was exported before is left out"})
	}
	if m.Kind != trace.MessageIdle {
		t.sequence = uint64(next)
	}
	t.messages = e.end
	return w.exporter.event(&e)
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

// frame exports a frame, in the first lane that is free by then.
func (w *writer) frame(r *recording, f trace.Frame) error {
	e := event{kind: eventFrame, of: r, begin: r.At(f.Start), name: "frame"}
	e.end = max(e.begin, r.At(f.End))
	for e.lane = 0; e.lane < len(w.lanes) && w.lanes[e.lane] > e.begin; e.lane++ {
	}
	if e.lane == len(w.lanes) {
		w.lanes = append(w.lanes, 0)
	}
	w.lanes[e.lane] = e.end
	e.facts = []fact{{"vsync ms", millis(r.At(f.VSync))}, {"dropped before", f.Dropped}}
	return w.exporter.event(&e)
}

// stall exports a stall.
func (w *writer) stall(t *thread, s *analysis.Stall) error {
	e := event{kind: eventInstant, of: t.of, thread: t, begin: s.Begin.Nanoseconds(),
		name: clean(fmt.Sprintf("stall #%d: %s", s.Number, s.Verdict.Text)), stall: s, facts: stallFacts(s)}
	e.end = sum(e.begin, s.Wall.Nanoseconds())
	return w.exporter.event(&e)
}

// stallFacts is what an event of a stall says, in the words of package analysis.
func stallFacts(s *analysis.Stall) []fact {
	all := []fact{{"stall", int64(s.Number)}, {"verdict", clean(s.Verdict.Text)}, {"kind", string(s.Verdict.Kind)},
		{"message", clean(s.Message.String())}}
	add := func(key string, value any) { all = append(all, fact{key, value}) }
	if s.WallUnknown {
		add("wall", s.Duration(""))
	} else {
		add("wall ms", millis(s.Wall.Nanoseconds()))
	}
	known := func(key string, n int64) {
		if n >= 0 {
			add(key, n)
		}
	}
	if s.Reported {
		add("number", s.Sequence)
	} else {
		add("reported", false)
	}
	if !s.Ended {
		add("ended", false)
	}
	if s.CPU >= 0 {
		add("cpu ms", millis(s.CPU.Nanoseconds()))
	}
	if s.Scene != "" {
		add("scene", clean(s.Scene))
	}
	if s.Reported {
		add("foreground", s.Foreground)
	}
	if s.PostedBy != nil {
		add("posted by", clean(s.PostedBy.String()))
	}
	add("state", s.State)
	if s.LockOwner != "" {
		add("lock owner", clean(s.LockOwner))
	}
	known("gc count", s.GCCount)
	if s.GC >= 0 {
		add("gc ms", millis(s.GC.Nanoseconds()))
	}
	add("key", s.Key)
	if s.DeviceKey != "" {
		add("stack key", clean(s.DeviceKey))
	}
	add("first record", s.FirstRecord)
	add("end record", s.EndRecord)
	if n := len(s.Samples); n > 0 {
		all = append(append(all, sampleFacts(s.Samples[n-1], s.Begin.Nanoseconds())...), fact{"stacks", uint64(n)})
	}
	if s.Pending == nil {
		return all
	}
	waiting := make([]string, len(s.Pending))
	for k, p := range s.Pending {
		waiting[k] = p.String()
	}
	return append(all, fact{"pending", uint64(len(s.Pending))}, fact{"pending messages", lines(waiting)})
}

// sample exports a stack sample.
func (w *writer) sample(c *trace.StackSample) error {
	t, err := w.thread(c.Thread)
	if err != nil {
		return err
	}
	at := t.of.At(c.Nanos)
	e := event{kind: eventSample, of: t.of, thread: t, begin: at, end: at, name: "stack",
		facts: sampleFacts(t.of.Sample(c, c.Nanos), at)}
	return w.exporter.event(&e)
}

// sampleFacts is what an event says of a stack sample, which was taken after a time of the export.
func sampleFacts(s analysis.StackSample, since int64) []fact {
	all := []fact{{"stack at ms", millis(sum(since, s.After.Nanoseconds()))}, {"stack state", s.State},
		{"stack shows", string(s.Activity)}}
	return append(all, fact{"stack", lines(s.Frames)})
}

func lines(list []string) string {
	clear := make([]string, len(list))
	for k, l := range list {
		clear[k] = clean(l)
	}
	return strings.Join(clear, "\n")
}
