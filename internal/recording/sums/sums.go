// Package sums sums up the times of calls by method, and merges calls by path, of one recording: recorded calls, and
// those that its samples show. Tables, trees, exports, and comparisons get their times from here, so that all agree.
package sums

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Sum sums up all calls of a method. Times are in nanoseconds.
type Sum struct {
	// Method is what was called.
	Method trace.Method `json:"-"`
	// Calls is how many there were, Marked how many of them were repaired, Records how many records they made.
	Calls   uint64 `json:"calls"`
	Marked  uint64 `json:"marked"`
	Records uint64 `json:"records"`
	// Total is their time, that of calls within calls of the same method counted once; Self what of it was spent in no
	// call below; Longest the longest recorded call's. Total and Self include what is estimated.
	Total   int64 `json:"totalNanos"`
	Self    int64 `json:"selfNanos"`
	Longest int64 `json:"longestNanos"`
	// Long is what of Total was recorded in calls that took [LongCall] and so long that the clock of records can show it.
	Long int64 `json:"-"`
	// Estimate says what of the times rests on samples. It is zero if nothing does.
	Estimate Estimate `json:"estimate,omitzero"`

	active int // calls that are open
	used   bool
}

// LongCall is how long a call takes that may be seen by itself: a frame of Android.
const LongCall = 16 * time.Millisecond

// clockTicks is of how many ticks of the clock a call must be to be known as a long one.
const clockTicks = 3

// Estimate is the part of a method's times that stacks show, which were taken from time to time.
type Estimate struct {
	// Samples is how many stacks it rests on.
	Samples int `json:"samples"`
	// Pooled is set if these are the samples of other calls of the method, because none fell in these.
	Pooled bool `json:"-"`
	// Total and Self are what of the method's total and own time no record shows: calls of a method that was switched
	// off or is not traced.
	Total int64 `json:"totalNanos"`
	Self  int64 `json:"selfNanos"`
	// The method's total and own time lie between these with 95 % confidence.
	TotalLow  int64 `json:"totalLowNanos"`
	TotalHigh int64 `json:"totalHighNanos"`
	SelfLow   int64 `json:"selfLowNanos"`
	SelfHigh  int64 `json:"selfHighNanos"`
	// Known is how much of the own time samples say what the thread did in: Running, Waiting for something, or Blocked by
	// a monitor. CPU is how much of Known the thread was on a processor, -1 if that is not known.
	Known   int64 `json:"knownNanos"`
	Running int64 `json:"runningNanos"`
	Waiting int64 `json:"waitingNanos"`
	Blocked int64 `json:"blockedNanos"`
	CPU     int64 `json:"cpuNanos"`
}

// Rests says what the times rest on, if it is not records alone: "self 1.9 ± 0.2 s, 212 samples; running 1.5 s, waiting
// 0.4 s"; empty otherwise.
func (t *Sum) Rests() string {
	e := &t.Estimate
	if e.Samples == 0 {
		return ""
	}
	text := "self " + units.PlusMinus(t.Self, e.SelfLow, e.SelfHigh)
	if e.Total > 0 && t.Total != t.Self {
		text += ", total " + units.PlusMinus(t.Total, e.TotalLow, e.TotalHigh)
	}
	text += ", " + units.Count(e.Samples, "sample")
	if e.Total > 0 && e.Total == t.Total {
		text += ", estimated"
	} else if e.Total > 0 {
		text += fmt.Sprintf(", estimated %s of self and %s of total", millis(e.Self), millis(e.Total))
	}
	var states []string
	for _, s := range []struct {
		name  string
		nanos int64
	}{{"running", e.Running}, {"waiting", e.Waiting}, {"blocked", e.Blocked}} {
		if s.nanos > 0 {
			states = append(states, s.name+" "+millis(s.nanos))
		}
	}
	if len(states) > 0 {
		text += "; " + strings.Join(states, ", ")
	}
	return text
}

func millis(nanos int64) string { return units.Millis(time.Duration(nanos)) }

// Add adds another sum of the same method. Errors of estimates are independent of each other, so that their squares
// are added.
func (t *Sum) Add(o *Sum) {
	t.Estimate = t.added(o)
	t.Calls += o.Calls
	t.Marked += o.Marked
	t.Records += o.Records
	t.Total += o.Total
	t.Self += o.Self
	t.Longest = max(t.Longest, o.Longest)
	t.Long += o.Long
}

// added returns the estimate of the sum of both.
func (t *Sum) added(o *Sum) Estimate {
	a, b := t.bounded(), o.bounded()
	if a.Samples+b.Samples == 0 {
		return Estimate{}
	}
	total, self := t.Total+o.Total, t.Self+o.Self
	root := func(a, b int64) int64 { return int64(math.Round(math.Hypot(float64(a), float64(b)))) }
	sum := Estimate{
		Total: a.Total + b.Total, Self: a.Self + b.Self,
		TotalLow:  total - root(t.Total-a.TotalLow, o.Total-b.TotalLow),
		TotalHigh: total + root(a.TotalHigh-t.Total, b.TotalHigh-o.Total),
		SelfLow:   self - root(t.Self-a.SelfLow, o.Self-b.SelfLow),
		SelfHigh:  self + root(a.SelfHigh-t.Self, b.SelfHigh-o.Self),
		Known:     a.Known + b.Known, Running: a.Running + b.Running, Waiting: a.Waiting + b.Waiting,
		Blocked: a.Blocked + b.Blocked, CPU: a.CPU + b.CPU,
	}
	if a.CPU < 0 || b.CPU < 0 {
		sum.CPU = -1
	}
	sum.Samples, sum.Pooled = bothSamples(&a, &b)
	return sum
}

// bothSamples returns how many samples two estimates rest on. Those of other calls do not count twice.
func bothSamples(a, b *Estimate) (n int, pooled bool) {
	switch {
	case a.Pooled && b.Pooled:
		return max(a.Samples, b.Samples), true
	case a.Pooled && b.Samples > 0:
		return b.Samples, false
	case b.Pooled && a.Samples > 0:
		return a.Samples, false
	}
	return a.Samples + b.Samples, a.Pooled || b.Pooled
}

// bounded returns the estimate, with the exact times for bounds if it rests on no sample.
func (t *Sum) bounded() Estimate {
	if t.Estimate.Samples > 0 {
		return t.Estimate
	}
	return Estimate{TotalLow: t.Total, TotalHigh: t.Total, SelfLow: t.Self, SelfHigh: t.Self}
}

// Sums sums up calls by method, as they are read. Its zero value is empty. What it holds grows with the number of
// methods. It is not safe for several goroutines.
type Sums struct {
	list      []Sum
	index     map[trace.Method]int32
	used      []int32            // indices of list, in the order of first calls
	suspended map[uint32][]int64 // per thread: when the calls began that go on in its next segment
	open      []openSum
	long      int64 // how long a long call takes, if that is more than LongCall
}

// openSum is a call that is open: where the call beside it is, and the index of its method in the list.
type openSum struct{ next, total int32 }

// Take hands on the sum of each method that was called since the last Take, and begins anew.
func (t *Sums) Take(each func(*Sum)) {
	for _, k := range t.used {
		total := &t.list[k]
		each(total)
		*total = Sum{Method: total.Method, active: total.active}
	}
	t.used = t.used[:0]
}

// Has reports whether a method was called since the last Take.
func (t *Sums) Has(m trace.Method) bool {
	k, ok := t.index[m]
	return ok && t.list[k].used
}

// of returns the index of a method.
func (t *Sums) of(m trace.Method) int32 {
	k, ok := t.index[m]
	if !ok {
		if t.index == nil {
			t.index = map[trace.Method]int32{}
		}
		k = int32(len(t.list))
		t.index[m] = k
		t.list = append(t.list, Sum{Method: m})
	}
	if total := &t.list[k]; !total.used {
		total.used = true
		t.used = append(t.used, k)
	}
	return k
}

// Chunk implements [trace.Handler].
func (t *Sums) Chunk(c trace.Chunk) error {
	if meta, ok := c.(*trace.Meta); ok {
		t.long = clockTicks * meta.ClockPeriod().Nanoseconds()
	}
	return nil
}

// Named implements [trace.Handler].
func (t *Sums) Named(trace.Method, string) error { return nil }

// Segment adds the calls of a segment.
func (t *Sums) Segment(s *trace.Segment) error {
	began := t.suspended[s.Thread]
	var suspended []int64
	for i := range s.Calls {
		c := &s.Calls[i]
		t.close(int32(i))
		k := t.of(c.Method)
		total := &t.list[k]
		nanos := c.End - c.Begin
		whole := nanos
		if c.Marks&trace.MarkResumed != 0 && i < len(began) {
			whole = c.End - began[i]
		}
		if c.Marks&trace.MarkSuspended != 0 {
			suspended = append(suspended, c.End-whole)
		}
		if total.active == 0 {
			total.Total += nanos
			if whole >= max(t.long, LongCall.Nanoseconds()) && c.Marks&^(trace.MarkResumed|trace.MarkSuspended) == 0 {
				total.Long += nanos
			}
		}
		total.active++
		total.Self += nanos
		total.Longest = max(total.Longest, whole)
		if n := len(t.open); n > 0 {
			t.list[t.open[n-1].total].Self -= nanos
		}
		total.count(c, s.Kind)
		t.open = append(t.open, openSum{next: c.Next, total: k})
	}
	t.close(int32(len(s.Calls)))
	if suspended != nil || began != nil {
		if t.suspended == nil {
			t.suspended = map[uint32][]int64{}
		}
		t.suspended[s.Thread] = suspended
	}
	return nil
}

// close takes the calls off that are over before the call at.
func (t *Sums) close(at int32) {
	for n := len(t.open); n > 0 && t.open[n-1].next <= at; n-- {
		t.list[t.open[n-1].total].active--
		t.open = t.open[:n-1]
	}
}

func (t *Sum) count(c *trace.Call, kind trace.SegmentKind) {
	if c.Marks&trace.MarkResumed == 0 {
		t.Calls += uint64(c.Count)
	}
	if c.Marks&^(trace.MarkResumed|trace.MarkSuspended) != 0 {
		t.Marked++
	}
	if kind != trace.SegmentReport && kind != trace.SegmentSamples {
		t.Records += c.Records()
	}
}

// estimateOf returns what samples say of a method, without bounds.
func estimateOf(m *evidence.Sum) Estimate {
	if m.Samples == 0 {
		return Estimate{}
	}
	return Estimate{Samples: m.Samples, Pooled: m.Pooled, Total: m.EstimatedTotal, Self: m.EstimatedSelf,
		Running: m.Sampled - m.Waiting - m.Blocked, Waiting: m.Waiting, Blocked: m.Blocked, Known: m.Sampled, CPU: m.CPU}
}

// SumOf returns the sum of the calls of a node, which may be of a grafted tree.
func SumOf(n *evidence.Node) Sum {
	s := Sum{Method: n.Method, Calls: n.Calls, Marked: n.Marked, Total: n.Total, Self: n.Self, Longest: n.Longest}
	g := &n.Grafted
	if g.Samples == 0 {
		return s
	}
	known := n.Self - g.Unsampled
	s.Estimate = Estimate{Samples: g.Samples, Pooled: g.Pooled, TotalLow: g.TotalLow, TotalHigh: g.TotalHigh,
		SelfLow: g.SelfLow, SelfHigh: g.SelfHigh, Known: known, Running: known - g.Waiting - g.Blocked,
		Waiting: g.Waiting, Blocked: g.Blocked, CPU: g.CPU}
	if g.Estimated {
		s.Estimate.Total, s.Estimate.Self = n.Total, n.Self
	}
	return s
}

// AddTo adds the calls of a node to those of another one, which is of the same path of another thread.
func AddTo(to, n *evidence.Node) {
	s, o := SumOf(to), SumOf(n)
	s.Add(&o)
	to.Calls, to.Marked, to.Total, to.Self, to.Longest = s.Calls, s.Marked, s.Total, s.Self, s.Longest
	e := &s.Estimate
	to.Grafted = evidence.Grafted{Estimated: n.Grafted.Estimated, Samples: e.Samples, Pooled: e.Pooled,
		TotalLow: e.TotalLow, TotalHigh: e.TotalHigh, SelfLow: e.SelfLow, SelfHigh: e.SelfHigh, Waiting: e.Waiting,
		Blocked: e.Blocked, CPU: e.CPU}
	if e.Samples > 0 {
		to.Grafted.Unsampled = s.Self - e.Known
	}
}

// Calls sums up the calls of one recording by method, and what its samples show of them. It is a [trace.Handler].
type Calls struct {
	Sums
	// Least is how many samples must show a method in calls that were not recorded, so that it has their own time. With
	// fewer, the call around them has it.
	Least int
	// System reports whether a method waits in a system call, in which the JVM says that a thread runs; it may be nil.
	System func(trace.Method) bool

	paths Paths
}

// NewCalls returns one that is empty.
func NewCalls() *Calls { return &Calls{paths: Paths{Limit: 1 << 18}} }

// Chunk implements [trace.Handler].
func (s *Calls) Chunk(c trace.Chunk) error {
	if err := s.Sums.Chunk(c); err != nil {
		return err
	}
	return s.paths.Chunk(c)
}

// Segment adds the calls of a segment.
func (s *Calls) Segment(seg *trace.Segment) error {
	if err := s.Sums.Segment(seg); err != nil {
		return err
	}
	return s.paths.Segment(seg)
}

// Grafted returns the calls of each thread as [Paths.Grafted] does, without those that took the least time if a thread
// has very many paths.
func (s *Calls) Grafted() []*ThreadPaths { return s.paths.Grafted() }

// Graft divides the times of calls that samples fell in among what the samples show, when all segments have been added.
// The sum of all own times stays the same.
//
// letGo has the methods that were let go, as far as that is known.
func (s *Calls) Graft(letGo map[trace.Method]bool) {
	list := s.Grafted()
	if list == nil {
		return
	}
	divided := map[trace.Method]int64{} // what of the own time of recorded calls other methods have
	for _, t := range list {
		for _, m := range evidence.Sums(t.Recorded) {
			sum := &s.list[s.of(m.Method)]
			sum.Total, sum.Self = sum.Total-m.Total, sum.Self-m.Self
			divided[m.Method] += m.Self
		}
	}
	var grafted []*evidence.Tree
	for _, t := range list {
		grafted = append(grafted, t.Tree)
	}
	evidence.FoldRare(grafted, s.Least, s.System)
	var trees []evidence.Divided
	for _, t := range list {
		trees = append(trees, evidence.Divided{Recorded: t.Recorded, Grafted: t.Tree, LetGo: letGo})
		for _, m := range evidence.Sums(t.Tree) {
			s.list[s.of(m.Method)].Add(&Sum{Total: m.Total, Self: m.Self, Estimate: estimateOf(&m)})
			divided[m.Method] -= m.Self
		}
	}
	s.bound(trees)
	for m, part := range divided {
		if sum := &s.list[s.of(m)]; s.Least > 0 && part == 0 && sum.Estimate.Self == 0 {
			sum.Estimate.SelfLow, sum.Estimate.SelfHigh = sum.Self, sum.Self // as it was recorded
		}
	}
}

// bound sets the bounds of what is estimated.
func (s *Calls) bound(trees []evidence.Divided) {
	var sums []evidence.Sum
	for i := range s.list {
		if m := &s.list[i]; m.Estimate.Samples > 0 {
			sums = append(sums, evidence.Sum{Method: m.Method, Total: m.Total, Self: m.Self})
		}
	}
	evidence.Bound(sums, trees...)
	for _, m := range sums {
		e := &s.list[s.of(m.Method)].Estimate
		e.TotalLow, e.TotalHigh, e.SelfLow, e.SelfHigh = m.TotalLow, m.TotalHigh, m.SelfLow, m.SelfHigh
	}
}
