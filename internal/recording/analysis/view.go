package analysis

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/fold"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// View says which part of a recording is shown. The zero value is all of it.
//
// Tables, trees and what [Options.Also] gets have the calls of the view. A call that overlaps the range of time is cut
// to it. A stall, message or frame that overlaps the range is shown whole, so that its number, times and verdict are
// those of the whole recording. What [Recording] says is about the whole recording as well.
type View struct {
	// From and To are the range of time: From is in it, To is not. A nil one does not limit it.
	From, To *Moment
	// Threads are the names of threads, or their IDs in Java; empty for all.
	Threads []string
	// Only is one stall of this recording: what its thread did while it lasted.
	Only *Stall
	// Least is in nanoseconds: calls, messages and stalls that took less are left out. The time of a call that is left
	// out is its caller's own time. A call that replay hands on in parts is never left out.
	Least int64
	// Resolution is in nanoseconds: calls that took less are folded, see docs/analyze.md. 0 folds no call. It must be
	// 0 for a recording whose calls go to [Options.Methods] or [Options.Calls].
	Resolution int64
}

// Moment is a time of a recording: either After since the recording's origin, see [Recording.At], or Wall, if that is
// not zero.
type Moment struct {
	After time.Duration
	Wall  time.Time
}

// String returns the moment as people give it.
func (m *Moment) String() string {
	if m.Wall.IsZero() {
		return m.After.String()
	}
	return m.Wall.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// String says in a line what is shown; "" if it is all calls.
func (v *View) String() string {
	var parts []string
	if v.Only != nil {
		parts = append(parts, "stall #"+strconv.Itoa(v.Only.Number))
	}
	if v.From != nil {
		parts = append(parts, "from "+v.From.String())
	}
	if v.To != nil {
		parts = append(parts, "to "+v.To.String())
	}
	if len(v.Threads) > 0 {
		parts = append(parts, "threads "+strings.Join(v.Threads, ", "))
	}
	if v.Least > 0 {
		parts = append(parts, "calls of at least "+wholeUnits(v.Least))
	}
	return strings.Join(parts, ", ")
}

// Shown says in a line which part of the recording is shown; it is empty if all is.
func (r *Recording) Shown() string {
	if r.view == nil {
		return ""
	}
	return resolve.Printable(r.view.String())
}

// OneStall reports whether one stall of the recording is shown and nothing else.
func (r *Recording) OneStall() bool { return r.view != nil && r.view.Only != nil }

// facts say which part of a recording is shown.
func (v *View) facts() []Fact {
	var all []Fact
	if v == nil {
		return nil
	}
	if text := v.String(); text != "" {
		all = append(all, Fact{"shown", resolve.Printable(text)})
	}
	if v.Resolution > 0 {
		all = append(all, Fact{"folded", "calls that took less than " + wholeUnits(v.Resolution) +
			": neighbours are one event"})
	}
	return all
}

// nanos returns the moment as [trace.Clock.NanoTime].
func (m *Moment) nanos(r *Recording) int64 {
	if m.Wall.IsZero() {
		return r.origin + m.After.Nanoseconds()
	}
	c := r.clock
	if c == nil {
		c = &trace.Clock{NanoTime: r.origin}
	}
	return c.NanoTime + m.Wall.Sub(time.UnixMilli(c.WallMillis)).Nanoseconds()
}

// viewer is the view of the recording that is being read. It hands on what is in the view.
type viewer struct {
	*View
	recording *Recording
	folder    *fold.Folder
	started   bool
	chosen    map[uint32]bool // by index of thread
	matched   []bool          // per name of View.Threads
}

func newViewer(v *View, r *Recording, emit func(*trace.Segment) error) *viewer {
	named := func(m trace.Method, name string) error {
		r.Names.Named(m, name)
		return nil
	}
	out := &viewer{View: v, recording: r, folder: fold.New(emit, named), chosen: map[uint32]bool{},
		matched: make([]bool, len(v.Threads))}
	out.folder.Least, out.folder.Resolution = v.Least, v.Resolution
	return out
}

// start sets the range of time, when the origin of times is known.
func (v *viewer) start() {
	if v.started {
		return
	}
	v.started = true
	if v.From != nil {
		v.folder.From = v.From.nanos(v.recording)
	}
	if v.To != nil {
		v.folder.To = v.To.nanos(v.recording)
	}
	if s := v.Only; s != nil {
		// Records have a coarser clock than messages. What the neighbours did is left out by its records.
		off := int64(0)
		if s.end > s.first {
			off = s.Recording.Precision.Nanoseconds()
		}
		v.folder.From = max(v.folder.From, s.begin-off)
		v.folder.To = min(v.folder.To, s.begin+s.Wall.Nanoseconds()+off+1)
	}
}

// thread reports whether a thread is in the view.
func (v *viewer) thread(index uint32) bool {
	in, known := v.chosen[index]
	if known {
		return in
	}
	t := v.recording.Thread(index)
	in = len(v.Threads) == 0
	for i, name := range v.Threads {
		if name == t.Name && name != "" || name == t.Label || name == strconv.FormatInt(t.ID, 10) {
			in, v.matched[i] = true, true
		}
	}
	in = in && (v.Only == nil || v.Only.Thread.Index == index)
	v.chosen[index] = in
	return in
}

// overlaps reports whether something is in the range of time.
func (v *viewer) overlaps(begin, end int64) bool {
	return begin < v.folder.To && (end > v.folder.From || begin == end && begin == v.folder.From)
}

// lasts reports whether something that took so many nanoseconds is in the range of time, and long enough.
func (v *viewer) lasts(begin int64, wall uint64) bool {
	nanos := int64(min(wall, math.MaxInt64/4))
	return nanos >= v.Least && v.overlaps(begin, begin+nanos)
}

// segment hands on what of a segment is in the view.
func (v *viewer) segment(s *trace.Segment) error {
	v.start()
	if !v.thread(s.Thread) {
		return nil
	}
	if only := v.Only; only != nil && only.end > only.first && s.EndRecord > s.FirstRecord &&
		(s.FirstRecord >= only.end || s.EndRecord <= only.first) {
		return nil
	}
	return v.folder.Segment(s)
}

// chunk returns what of a chunk is in the view, nil for nothing. The chunk itself does not change.
func (v *viewer) chunk(c trace.Chunk) (trace.Chunk, error) {
	if !waits(c) {
		return c, nil
	}
	v.start()
	in := true
	switch c := c.(type) {
	case *trace.StallChunk:
		if err := v.folder.Flush(); err != nil {
			return nil, err
		}
		in = v.thread(c.Thread) && (v.Only == nil || c.Begin == v.Only.begin) && v.lasts(c.Begin, c.Wall)
	case *trace.StackSample:
		in = v.thread(c.Thread) && v.overlaps(c.Nanos, c.Nanos)
	case *trace.Pending:
		in = v.thread(c.Thread)
	case *trace.Messages:
		out := &trace.Messages{Thread: c.Thread}
		for _, m := range c.List {
			if v.thread(c.Thread) && v.lasts(m.Begin, m.Wall) {
				out.List = append(out.List, m)
			}
		}
		if in = len(out.List) > 0; in {
			return out, nil
		}
	case *trace.Frames:
		out := &trace.Frames{}
		for _, f := range c.List {
			if v.overlaps(f.Start, f.End) {
				out.List = append(out.List, f)
			}
		}
		if in = len(out.List) > 0; in {
			return out, nil
		}
	}
	if !in {
		return nil, nil
	}
	return c, nil
}

// stall reports whether a stall is in the view.
func (v *viewer) stall(s *Stall) bool {
	v.start()
	if v.Only != nil {
		return s.Number == v.Only.Number
	}
	return v.thread(s.Thread.Index) && v.lasts(s.begin, uint64(max(0, s.Wall)))
}

// finish hands on what is left. All threads of the recording are known.
func (v *viewer) finish() error {
	for index := range v.recording.threads {
		v.thread(index)
	}
	for i, name := range v.Threads {
		if !v.matched[i] {
			v.recording.NoThread = append(v.recording.NoThread, name)
		}
	}
	return v.folder.Flush()
}
