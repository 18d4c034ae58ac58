package export

import (
	"bufio"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// writer is the [Writer] of all formats: it does what they have in common, and hands the result to an exporter.
type writer struct {
	out      *bufio.Writer
	exporter exporter
	number   int
	now      *recording
	begun    bool // the exporter knows of now
	lanes    []int64
}

// Recording begins a recording.
func (w *writer) Recording(r *analysis.Recording) error {
	if err := w.end(); err != nil {
		return err
	}
	w.number++
	w.now = &recording{Recording: r, number: w.number, threads: map[uint32]*thread{}, methods: map[methodKey]int32{}}
	w.now.paths.Limit = maxPaths
	w.begun, w.lanes = false, nil
	return nil
}

// maxPaths is how many paths of a thread are kept to be divided among what samples show.
const maxPaths = 1 << 18

// Whole adds a segment to the calls by path.
func (w *writer) Whole(s *trace.Segment) error { return w.now.paths.Segment(s) }

// begin begins the recording in the exporter, once: when its origin is known, or at its end.
func (w *writer) begin() (*recording, error) {
	if w.begun {
		return w.now, nil
	}
	w.begun = true
	return w.now, w.exporter.begin(w.now)
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
	w.now = nil
	return w.exporter.end(r)
}

// Named does nothing: the recording has the names.
func (w *writer) Named(trace.Method, string) error { return nil }

// Close ends the export.
func (w *writer) Close() error {
	if err := w.end(); err != nil {
		return err
	}
	if err := w.exporter.close(); err != nil {
		return err
	}
	return w.out.Flush()
}

// Segment puts a segment behind the one before on its thread.
func (w *writer) Segment(st *trace.Segment) error {
	t, err := w.thread(st.Thread)
	if err != nil {
		return err
	}
	t.shift = 0
	if early := difference(t.last, t.of.Since(st.Begin)); early > 0 {
		t.shift = early
		if st.Kind != trace.SegmentReport {
			t.of.moved++
		}
	}
	t.last = t.at(st.End)
	return w.exporter.segment(t, st)
}

// thread returns a thread, which is introduced when it is first asked for.
func (w *writer) thread(index uint32) (*thread, error) {
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	if t := r.threads[index]; t != nil {
		return t, nil
	}
	t := &thread{Thread: r.Thread(index), of: r}
	r.threads[index] = t
	if t.tid = r.pid(); !t.Main || r.main {
		t.tid = r.nextTID()
	}
	r.main = r.main || t.Main
	return t, w.exporter.thread(t)
}

// Chunk makes events of what has times.
func (w *writer) Chunk(c trace.Chunk) error {
	if err := w.now.paths.Chunk(c); err != nil {
		return err
	}
	switch c := c.(type) {
	case *trace.Messages:
		t, err := w.thread(c.Thread)
		if err != nil {
			return err
		}
		for _, m := range c.List {
			if err := w.message(t, m); err != nil {
				return err
			}
		}
	case *trace.Frames:
		r, err := w.begin()
		if err != nil {
			return err
		}
		for _, f := range c.List {
			if err := w.frame(r, f); err != nil {
				return err
			}
		}
	case *trace.Compositions:
		w.now.executions.add(c)
	case *trace.StackSample:
		return w.sample(c)
	case *trace.StallChunk:
		// The stall itself comes when all of it is known; here is its place among the messages.
		t, err := w.thread(c.Thread)
		if err != nil {
			return err
		}
		return w.message(t, trace.Message{Kind: trace.MessageNormal, Sequence: c.Message, Count: 1, Begin: c.Begin,
			Wall: c.Wall, CPU: c.CPU, Description: c.Description})
	}
	return nil
}

// Stall exports a stall.
func (w *writer) Stall(s *analysis.Stall) error {
	t, err := w.thread(s.Thread.Index)
	if err != nil {
		return err
	}
	return w.stall(t, s)
}
