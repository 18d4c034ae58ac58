package analysis

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tracegen/tracegen/internal/recording/fold"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// View says which part of a recording is shown. The zero value is all of it.
//
// Tables, trees and what [Options.Also] gets have the calls of the view. What [Recording] says is about the whole
// recording.
type View struct {
	// Only is one stall of this recording: what its thread did while it lasted.
	Only *Stall
	// Fold is whether calls are folded that are too short for a viewer: those that took less than the precision of times,
	// or than a part of the time that has been shown before them, see docs/analyze.md.
	Fold bool
}

// resolutionShare is one part of how much of the time before it a call takes at least that is not folded. A viewer is
// some thousand pixels wide, so that such a call is seen after zooming in once or twice.
const resolutionShare = 100_000

// Shown says in a line which part of the recording is shown; it is empty if all is.
func (r *Recording) Shown() string {
	if !r.OneStall() {
		return ""
	}
	return "stall #" + strconv.Itoa(r.view.Only.Number)
}

// OneStall reports whether one stall of the recording is shown and nothing else.
func (r *Recording) OneStall() bool { return r.view != nil && r.view.Only != nil }

// viewFacts say which part of the recording is shown.
func (r *Recording) viewFacts() []Fact {
	var all []Fact
	if text := r.Shown(); text != "" {
		all = append(all, Fact{"shown", text})
	}
	if r.view != nil && r.view.Fold {
		all = append(all, Fact{"folded", fmt.Sprintf("calls that took less than %s, or 1/%s of the time before them: "+
			"neighbours are one event", units.Whole(r.About().Precision().Nanoseconds()), units.Thousands(resolutionShare))})
	}
	return all
}

// Whole is implemented by handlers of [Options.Also] that also get the calls of the view before short ones are folded.
type Whole interface {
	// Whole gets a segment, before Segment gets what is left of it.
	Whole(*trace.Segment) error
}

// viewer is the view of the recording that is being read. It hands on what is in the view.
type viewer struct {
	*View
	recording *Recording
	folder    *fold.Folder
	whole     *fold.Folder // folds nothing
}

// newViewer returns a viewer that hands on segments to emit, and to whole as they are before calls are folded.
func newViewer(v *View, r *Recording, emit, whole func(*trace.Segment) error) *viewer {
	named := func(m trace.Method, name string) error {
		r.Names.Named(m, name)
		return nil
	}
	out := &viewer{View: v, recording: r, folder: fold.New(emit, named), whole: fold.New(whole, named)}
	if s := v.Only; s != nil {
		// Records have a coarser clock than messages. What the neighbours did is left out by its records.
		off := int64(0)
		if s.end > s.first {
			off = s.Recording.Precision.Nanoseconds()
		}
		out.folder.From = s.begin - off
		out.folder.To = s.begin + s.Wall.Nanoseconds() + off + 1
		out.whole.From, out.whole.To = out.folder.From, out.folder.To
	}
	return out
}

// thread reports whether a thread is in the view.
func (v *viewer) thread(index uint32) bool { return v.Only == nil || v.Only.Thread.Index == index }

// overlaps reports whether something is in the range of time.
func (v *viewer) overlaps(begin, end int64) bool {
	return begin < v.folder.To && (end > v.folder.From || begin == end && begin == v.folder.From)
}

// lasts reports whether something that took so many nanoseconds is in the range of time.
func (v *viewer) lasts(begin int64, wall uint64) bool {
	return v.overlaps(begin, begin+int64(min(wall, math.MaxInt64/4)))
}

// segment hands on what of a segment is in the view.
func (v *viewer) segment(s *trace.Segment) error {
	if !v.thread(s.Thread) {
		return nil
	}
	if only := v.Only; only != nil && only.end > only.first && s.EndRecord > s.FirstRecord &&
		(s.FirstRecord >= only.end || s.EndRecord <= only.first) {
		return nil
	}
	if err := v.whole.Segment(s); err != nil {
		return err
	}
	if v.Fold {
		begin := max(v.folder.From, v.recording.origin)
		v.folder.Resolution = max(v.folder.Resolution, v.recording.About().Precision().Nanoseconds(),
			(s.Begin-begin)/resolutionShare)
	}
	return v.folder.Segment(s)
}

// chunk returns what of a chunk is in the view, nil for nothing. The chunk itself does not change.
func (v *viewer) chunk(c trace.Chunk) (trace.Chunk, error) {
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
	case *trace.Compositions:
		out := &trace.Compositions{Thread: c.Thread, Lost: c.Lost}
		for _, e := range c.List {
			if v.thread(c.Thread) && v.overlaps(e.Begin, e.Begin+e.Nanos) {
				out.List = append(out.List, e)
			}
		}
		return out, nil
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
func (v *viewer) stall(s *Stall) bool { return v.Only == nil || s.Number == v.Only.Number }

// finish hands on what is left.
func (v *viewer) finish() error { return v.folder.Flush() }
