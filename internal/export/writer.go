package export

import (
	"bufio"
	"bytes"
	"io"
	"strconv"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/trace"
)

// writer is the [Writer] of all formats: it does what they have in common, and hands the result to an exporter.
type writer struct {
	out      *bufio.Writer
	exporter exporter
	names    trace.Names
	number   int
	now      *recording
	begun    bool // the exporter knows of now
	lanes    []int64
	early    []func() error // what came before it is known since when times count

	whole *bytes.Buffer // what is written of a format that merges, until its size is known; or nil
	to    io.Writer     // where it is written then
	size  func(bytes int64) error
}

// Recording begins a recording.
func (w *writer) Recording(r Recording) error {
	if err := w.end(); err != nil {
		return err
	}
	names := r.Names
	if names == nil {
		names = w.names
	}
	w.number++
	w.now = &recording{number: w.number, title: r.Title, banner: r.Banner, names: names,
		named:   map[trace.Method]string{},
		threads: map[uint32]*thread{}, methods: map[methodKey]int32{}, nameless: map[trace.Method]bool{}}
	w.begun, w.lanes = false, nil
	return nil
}

// recording returns the one that is being exported.
func (w *writer) recording() (*recording, error) {
	if w.now == nil {
		if err := w.Recording(Recording{}); err != nil {
			return nil, err
		}
	}
	return w.now, nil
}

// begin begins the recording in the exporter, once. Its meta data come before.
func (w *writer) begin() (*recording, error) {
	r, err := w.recording()
	if err != nil || w.begun {
		return r, err
	}
	w.begun = true
	return r, w.exporter.begin(r)
}

// end ends the recording that is being exported, if there is one.
func (w *writer) end() error {
	if w.now == nil {
		return nil
	}
	r, err := w.begin()
	if err != nil {
		return err
	}
	if err := w.fix(0); err != nil {
		return err
	}
	w.now = nil
	return w.exporter.end(r)
}

// Damage notes what the reader found wrong.
func (w *writer) Damage(d trace.Damage) error {
	r, err := w.recording()
	if err == nil {
		r.damage = &d
	}
	return err
}

// Named notes a method's name.
func (w *writer) Named(m trace.Method, name string) error {
	r, err := w.recording()
	if err == nil {
		r.named[m] = name
	}
	return err
}

// Close ends the export.
func (w *writer) Close() error {
	if err := w.end(); err != nil {
		return err
	}
	if err := w.exporter.close(); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil || w.whole == nil {
		return err
	}
	if err := w.size(int64(w.whole.Len())); err != nil {
		return err
	}
	_, err := w.whole.WriteTo(w.to)
	return err
}

// Segment puts a segment behind the one before on its thread.
func (w *writer) Segment(st *trace.Segment) error {
	r, err := w.begin()
	if err != nil {
		return err
	}
	origin := st.Begin
	if st.Kind == trace.SegmentReport {
		origin = 0
	}
	if err := w.fix(origin); err != nil {
		return err
	}
	t, err := w.thread(st.Thread)
	if err != nil {
		return err
	}
	t.shift = 0
	if early := difference(t.last, difference(st.Begin, r.origin)); early > 0 {
		t.shift = early
		if st.Kind != trace.SegmentReport {
			r.moved++
		}
	}
	t.last = t.at(st.End)
	r.repairs.Add(st.Repairs)
	r.kinds[st.Kind&3]++
	for i := range st.Calls {
		if st.Calls[i].Marks&trace.MarkResumed == 0 {
			r.calls += uint64(st.Calls[i].Count)
		}
	}
	return w.exporter.segment(t, st)
}

// thread returns a thread, which is introduced when it is first asked for.
func (w *writer) thread(index uint32) (*thread, error) {
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	t := r.threads[index]
	if t == nil {
		t = &thread{Thread: trace.Thread{Index: index}}
		r.threads[index] = t
	}
	if t.of != nil {
		return t, nil
	}
	t.of = r
	r.exported++
	t.order = r.exported
	if t.tid = r.pid(); !t.Main || r.main {
		t.tid = r.nextTID()
	}
	r.main = r.main || t.Main
	if t.Name == "" {
		t.Name = "thread " + strconv.FormatUint(uint64(index), 10)
	}
	return t, w.exporter.thread(t)
}

// Chunk notes what is about the recording, and makes events of the rest.
func (w *writer) Chunk(c trace.Chunk) error {
	r, err := w.recording()
	if err != nil {
		return err
	}
	switch c := c.(type) {
	case *trace.Meta:
		if r.meta == nil {
			r.meta = map[string]string{}
		}
		// A text has one for each report: what the first says of all holds.
		for key, value := range c.Values {
			if _, said := r.meta[key]; !said {
				r.meta[key] = value
			}
		}
	case *trace.Clock:
		if r.clock == nil {
			r.clock = c
		}
		if r.meta["source"] != "" {
			// A text: nothing has ticks, and the clock stands where the first report begins.
			return w.fix(c.NanoTime)
		}
		return w.fix(c.BaseNanos)
	case *trace.Threads:
		for _, t := range c.List {
			if r.threads[t.Index] == nil {
				r.threads[t.Index] = &thread{Thread: t}
			}
		}
	case *trace.End:
		r.end = c
	case *trace.StallChunk: // comes by Evidence
	default:
		if !r.fixed && len(w.early) < maxEarly {
			w.early = append(w.early, func() error { return w.events(c) })
			return nil
		}
		return w.events(c)
	}
	return nil
}

// maxEarly is how many of them wait until it is known since when times count.
const maxEarly = 1 << 10

// fix sets the origin of times, unless it is set, and exports what has waited for it.
func (w *writer) fix(origin int64) error {
	if w.now.fixed {
		return nil
	}
	w.now.origin, w.now.fixed = origin, true
	early := w.early
	w.early = nil
	for _, export := range early {
		if err := export(); err != nil {
			return err
		}
	}
	return nil
}

// events makes events of a chunk.
func (w *writer) events(c trace.Chunk) error {
	r, err := w.begin()
	if err != nil {
		return err
	}
	switch c := c.(type) {
	case *trace.Messages:
		t, err := w.thread(c.Thread)
		if err != nil {
			return err
		}
		for _, m := range c.List {
			if err := w.message(t, m, nil); err != nil {
				return err
			}
		}
	case *trace.Frames:
		for _, f := range c.List {
			if err := w.frame(r, f); err != nil {
				return err
			}
		}
	case *trace.StackSample:
		return w.sample(c)
	case *trace.Pending:
		// What waited comes by Evidence.
		_, err := w.thread(c.Thread)
		return err
	}
	return nil
}

// Evidence exports a stall, or what was found of a message whose report never came.
func (w *writer) Evidence(stall *trace.Stall) error {
	r, err := w.recording()
	if err != nil {
		return err
	}
	if !r.fixed && !stall.Reported && len(w.early) < maxEarly {
		w.early = append(w.early, func() error { return w.Evidence(stall) })
		return nil
	}
	if err := w.fix(stall.Report.Begin); err != nil {
		return err
	}
	t, err := w.thread(stall.Report.Thread)
	if err != nil {
		return err
	}
	if stall.Reported {
		return w.stall(t, stall)
	}
	return w.unreported(t, stall)
}

// Stall hands on a stall that is complete.
func (w *writer) Stall(stall *analysis.Stall) error {
	if _, err := w.begin(); err != nil {
		return err
	}
	if e, ok := w.exporter.(verdictExporter); ok {
		return e.stall(stall)
	}
	return nil
}
