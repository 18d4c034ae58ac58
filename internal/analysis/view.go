package analysis

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// View says which part of a recording is shown. The zero value is all of it.
//
// Tables, trees and what [Options.Also] gets have the calls of the view. A call or message that overlaps the range of
// time is cut to it. A stall that overlaps the range is shown whole, so that its number, times and verdict are those of
// the whole recording. What [Recording] says is about the whole recording as well.
type View struct {
	// From and To are the range of time: From is in it, To is not. A nil one does not limit it.
	From, To *Moment
	// Threads are the names of threads, or their IDs in Java; empty for all.
	Threads []string
	// Only is one stall of this recording: what its thread did while it lasted.
	Only *Stall
	// Least is in nanoseconds: calls and stalls that took less are left out. The time of a call that is left out is its
	// caller's own time. A call that replay hands on in parts is never left out.
	Least int64
	// Resolution is in nanoseconds: calls that took less are folded, see docs/analyze.md. 0 folds no call. It must be 0
	// for a recording whose calls go to [Options.Methods] or [Options.Calls].
	Resolution int64
}

// Moment is a time of a recording: either After since the recording's first clock, or Wall, if that is not zero.
type Moment struct {
	After time.Duration
	Wall  time.Time
}

// nanos returns the moment as [trace.Clock.NanoTime].
func (m *Moment) nanos(c *trace.Clock) int64 {
	if m.Wall.IsZero() {
		return c.NanoTime + m.After.Nanoseconds()
	}
	return c.NanoTime + m.Wall.Sub(time.UnixMilli(c.WallMillis)).Nanoseconds()
}

// viewer is the view of the recording that is being read. It hands on what is in the view.
type viewer struct {
	*View
	folder  *folder
	clock   *trace.Clock
	threads map[uint32]trace.Thread
	chosen  map[uint32]bool // by index; what it does not have is not decided
	matched []bool          // per name of View.Threads
}

func newViewer(v *View, emit func(*trace.Segment) error, named func(trace.Method, string) error) *viewer {
	out := &viewer{View: v, folder: newFolder(emit, named), threads: map[uint32]trace.Thread{},
		chosen: map[uint32]bool{}, matched: make([]bool, len(v.Threads))}
	out.folder.least, out.folder.resolution = v.Least, v.Resolution
	return out
}

// start sets the range of time, unless it is set. Times count from the recording's first clock, or from origin where
// something comes before any clock.
func (v *viewer) start(origin int64) {
	if v.clock != nil {
		return
	}
	v.startBy(&trace.Clock{NanoTime: origin})
}

func (v *viewer) startBy(c *trace.Clock) {
	v.clock = c
	if v.From != nil {
		v.folder.from = v.From.nanos(c)
	}
	if v.To != nil {
		v.folder.to = v.To.nanos(c)
	}
	if s := v.Only; s != nil {
		// Records have a coarser clock than messages. What the neighbours did is left out by its records.
		off := int64(0)
		if s.end > s.first {
			off = s.Recording.Precision.Nanoseconds()
		}
		v.folder.from = max(v.folder.from, s.begin-off)
		v.folder.to = min(v.folder.to, s.begin+s.Wall.Nanoseconds()+off+1)
	}
}

// thread reports whether a thread is in the view.
func (v *viewer) thread(index uint32) bool {
	if v.Only != nil && v.Only.Thread.Index != index {
		return false
	}
	if len(v.Threads) == 0 {
		return true
	}
	in, known := v.chosen[index]
	if !known {
		t := v.threads[index]
		id := t.ID
		if t.Name == "" && id == 0 {
			id = int64(index) // as it is shown
		}
		for i, name := range v.Threads {
			if name == t.Name && name != "" || name == strconv.FormatInt(id, 10) {
				in, v.matched[i] = true, true
			}
		}
		v.chosen[index] = in
	}
	return in
}

// overlaps reports whether something is in the range of time.
func (v *viewer) overlaps(begin, end int64) bool {
	return begin < v.folder.to && (end > v.folder.from || begin == end && begin == v.folder.from)
}

// segment hands on what of a segment is in the view.
func (v *viewer) segment(s *trace.Segment) error {
	v.start(s.Begin)
	if !v.thread(s.Thread) {
		return nil
	}
	if only := v.Only; only != nil && only.end > only.first && s.EndRecord > s.FirstRecord &&
		(s.FirstRecord >= only.end || s.EndRecord <= only.first) {
		return nil
	}
	if f := v.folder; !f.cuts() && f.least == 0 && f.resolution == 0 {
		return f.emit(s)
	}
	return v.folder.segment(s)
}

// note takes what says where times and names are, before the chunk is handed on.
func (v *viewer) note(c trace.Chunk) error {
	switch c := c.(type) {
	case *trace.Clock:
		if v.clock == nil {
			v.startBy(c)
		}
	case *trace.Threads:
		for _, t := range c.List {
			t.Name = printable(t.Name)
			v.threads[t.Index] = t
			delete(v.chosen, t.Index)
			v.thread(t.Index)
		}
	case *trace.StallChunk, *trace.End:
		return v.folder.flushAll()
	}
	return nil
}

// chunk returns what of a chunk is in the view, nil for nothing.
func (v *viewer) chunk(c trace.Chunk) trace.Chunk {
	switch c := c.(type) {
	case *trace.Messages:
		if !v.thread(c.Thread) {
			return nil
		}
		return v.messages(c)
	case *trace.Frames:
		if v.Only == nil && v.clock == nil {
			return c
		}
		out := &trace.Frames{}
		for _, f := range c.List {
			if v.overlaps(f.Start, f.End) {
				out.List = append(out.List, f)
			}
		}
		if len(out.List) == 0 {
			return nil
		}
		return out
	case *trace.StackSample:
		if !v.thread(c.Thread) || !v.overlaps(c.Nanos, c.Nanos) {
			return nil
		}
	case *trace.Pending:
		if !v.thread(c.Thread) {
			return nil
		}
	}
	return c
}

// messages returns the messages of the view, each cut to its range.
func (v *viewer) messages(c *trace.Messages) trace.Chunk {
	out := &trace.Messages{Thread: c.Thread}
	for _, m := range c.List {
		begin := m.Begin
		end := begin + int64(min(m.Wall, math.MaxInt64/2))
		if !v.overlaps(begin, end) || int64(min(m.Wall, math.MaxInt64)) < v.Least {
			continue
		}
		m.Begin = max(begin, v.folder.from)
		m.Wall = uint64(min(end, v.folder.to) - m.Begin)
		out.List = append(out.List, m)
	}
	if len(out.List) == 0 {
		return nil
	}
	return out
}

// stall reports whether a stall is in the view. number is 0 for one that has no number yet.
func (v *viewer) stall(s *trace.Stall, number int) bool {
	v.start(s.Report.Begin)
	wall := int64(min(s.Report.Wall, math.MaxInt64/2))
	switch {
	case v.Only != nil && number > 0:
		return number == v.Only.Number
	case v.Only != nil && s.Report.Begin != v.Only.begin:
		return false
	case !v.thread(s.Report.Thread), s.Reported && wall < v.Least:
		return false
	}
	if !s.Reported && number == 0 {
		// What was found of a message that was never reported: it may still run.
		return s.Report.Begin == 0 && (v.To == nil || len(s.Samples) == 0 || s.Samples[0].Nanos < v.folder.to)
	}
	return v.overlaps(s.Report.Begin, s.Report.Begin+wall)
}

// evidence returns a function that hands on the evidence of the view.
func (v *viewer) evidence(next func(*trace.Stall) error) func(*trace.Stall) error {
	return func(s *trace.Stall) error {
		if !v.stall(s, 0) {
			return nil
		}
		return next(s)
	}
}

// unmatched returns the names of View.Threads that no thread of the recording has.
func (v *viewer) unmatched() []string {
	var names []string
	for i, name := range v.View.Threads {
		if !v.matched[i] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
