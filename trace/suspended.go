package trace

import (
	"cmp"
	"slices"
)

// Suspensions are times in which a process did not run, put together from [Suspended] chunks. The zero value has none.
// It keeps the last 4,096 of them at most, so its memory does not grow with the recording.
type Suspensions struct {
	list []Suspension // in the order of time; they do not overlap
}

// maxSuspensions is how many times are kept.
const maxSuspensions = 1 << 12

// Add adds the times of a chunk. Where times of several causes overlap, the cause of the earlier one is kept. Times
// that end before they begin are ignored.
func (s *Suspensions) Add(c *Suspended) {
	for _, t := range c.List {
		t.Begin, t.End = bounded(t.Begin), bounded(t.End)
		if t.End > t.Begin {
			s.list = append(s.list, t)
		}
	}
	slices.SortStableFunc(s.list, func(a, b Suspension) int { return cmp.Compare(a.Begin, b.Begin) })
	kept := s.list[:0]
	for _, t := range s.list {
		if n := len(kept); n > 0 {
			t.Begin = max(t.Begin, kept[n-1].End)
		}
		if t.End > t.Begin {
			kept = append(kept, t)
		}
	}
	s.list = kept
	if len(s.list) > maxSuspensions {
		s.list = slices.Clone(s.list[len(s.list)-maxSuspensions/2:])
	}
}

// bounded returns a time that is near enough to 0 for differences of two not to overflow.
func bounded(nanos int64) int64 { return min(max(nanos, -furthest), furthest) }

// Within returns the times between begin and end, in the order of time. Times that overlap one of these are cut to it.
func (s *Suspensions) Within(begin, end int64) []Suspension {
	begin, end = bounded(begin), bounded(end)
	i, _ := slices.BinarySearchFunc(s.list, begin, func(t Suspension, at int64) int {
		if t.End <= at {
			return -1
		}
		return 1
	})
	var within []Suspension
	for ; i < len(s.list) && s.list[i].Begin < end; i++ {
		t := s.list[i]
		within = append(within, Suspension{max(t.Begin, begin), min(t.End, end), t.Cause})
	}
	return within
}

// MethodSuspended is no method of the program. A call of it stands for a time in which the process did not run, see
// [Suspensions.Show]. Its name is "(process suspended)".
const MethodSuspended Method = MethodNotRecorded - 1

// NameSuspended is the name of [MethodSuspended].
const NameSuspended = "(process suspended)"

// Show returns a segment in which a call of [MethodSuspended] stands in the innermost call for each time in which the
// process did not run, so that the time is no call's own. The segment itself does not change; it is returned if the
// process ran all the time.
func (s *Suspensions) Show(from *Segment) *Segment {
	stopped := s.Within(from.Begin, from.End)
	if len(stopped) == 0 || len(from.Calls) == 0 {
		return from
	}
	out := *from
	out.Calls = make([]Call, 0, len(from.Calls)+len(stopped))
	moved := make([]int32, len(from.Calls))
	type openCall struct {
		from, to int32 // its index in from and in out
		shown    int64 // until when all times in it are there
	}
	var open []openCall
	until := func(at int64) { // shows what the innermost open call has before a time
		if len(open) == 0 {
			return
		}
		o := &open[len(open)-1]
		for _, t := range stopped {
			if begin, end := max(t.Begin, o.shown), min(t.End, at); begin < end {
				next := int32(len(out.Calls)) + 1
				out.Calls = append(out.Calls, Call{Method: MethodSuspended, Parent: o.to, Next: next, Count: 1, Begin: begin,
					End: end})
			}
		}
		o.shown = max(o.shown, at)
	}
	leave := func() {
		last := open[len(open)-1]
		until(from.Calls[last.from].End)
		out.Calls[last.to].Next = int32(len(out.Calls))
		if open = open[:len(open)-1]; len(open) > 0 {
			o := &open[len(open)-1]
			o.shown = max(o.shown, from.Calls[last.from].End)
		}
	}
	for i := range from.Calls {
		for len(open) > 0 && from.Calls[open[len(open)-1].from].Next <= int32(i) {
			leave()
		}
		c := from.Calls[i]
		until(c.Begin)
		c.Parent = -1
		if len(open) > 0 {
			c.Parent = open[len(open)-1].to
		}
		if i == from.Message {
			out.Message = len(out.Calls)
		}
		moved[i] = int32(len(out.Calls))
		open = append(open, openCall{int32(i), moved[i], c.Begin})
		out.Calls = append(out.Calls, c)
	}
	for len(open) > 0 {
		leave()
	}
	out.Coroutines = nil
	out.Samples = make([]Sample, len(from.Samples))
	for i := range from.Samples {
		out.Samples[i] = from.Samples[i].Moved(func(call int32) int32 { return moved[call] })
	}
	return &out
}

// Sum returns how long times are together, in nanoseconds, as far as they lie between begin and end. The times must not
// overlap, like the times of [Suspensions.Within].
func Sum(times []Suspension, begin, end int64) (nanos int64) {
	begin, end = bounded(begin), bounded(end)
	for _, t := range times {
		nanos += max(0, min(t.End, end)-max(t.Begin, begin))
	}
	return nanos
}

// Running returns a segment as if the process had not stopped within it: each time is earlier by what the process did
// not run since the segment's begin. The durations of its calls are those in which the process ran. The segment itself
// does not change; it is returned if the process ran all the time.
func (s *Suspensions) Running(from *Segment) *Segment {
	stopped := s.Within(from.Begin, from.End)
	if len(stopped) == 0 {
		return from
	}
	before := make([]int64, len(stopped)) // how long the process did not run before each
	for i := 1; i < len(stopped); i++ {
		before[i] = before[i-1] + stopped[i-1].End - stopped[i-1].Begin
	}
	begins := func(t Suspension, at int64) int { return cmp.Compare(t.Begin, at) }
	ran := func(at int64) int64 {
		i, _ := slices.BinarySearchFunc(stopped, at, begins)
		if i == 0 {
			return at
		}
		t := stopped[i-1]
		return at - before[i-1] - (min(at, t.End) - t.Begin)
	}
	out := *from
	out.Calls = slices.Clone(from.Calls)
	for i := range out.Calls {
		c := &out.Calls[i]
		c.Begin, c.End = ran(c.Begin), ran(c.End)
	}
	out.End = ran(out.End)
	return &out
}
