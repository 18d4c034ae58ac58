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

// MethodSuspended is no method of the program. A call of it stands for a time in which the process did not run. Replay
// makes none. Its name is "(process suspended)".
const MethodSuspended Method = MethodNotRecorded - 1

// NameSuspended is the name of [MethodSuspended].
const NameSuspended = "(process suspended)"

// Sum returns how long times are together, in nanoseconds, as far as they lie between begin and end. The times must not
// overlap, like the times of [Suspensions.Within].
func Sum(times []Suspension, begin, end int64) (nanos int64) {
	begin, end = bounded(begin), bounded(end)
	for _, t := range times {
		nanos += max(0, min(t.End, end)-max(t.Begin, begin))
	}
	return nanos
}
