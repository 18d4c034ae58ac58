package analysis

import "github.com/tracegen/tracegen/trace"

// Total sums up all calls of a method. Times are in nanoseconds.
type Total struct {
	// Method is what was called.
	Method trace.Method
	// Calls is how many there were, Marked how many of them were repaired, Records how many records they made.
	Calls, Marked, Records uint64
	// Total is their time, that of calls within calls of the same method counted once; Self what of it was spent in no
	// call below; Longest the longest call's.
	Total, Self, Longest int64

	active int // calls that are open
	used   bool
}

// Totals sums up calls by method: those of segments as they are read, or those of a tree. Its zero value is empty. What
// it holds grows with the number of methods. It is not safe for several goroutines.
type Totals struct {
	list      []Total
	index     map[trace.Method]int32
	used      []int32            // indices of list, in the order of first calls
	suspended map[uint32][]int64 // per thread: when the calls began that go on in its next segment
	open      []openTotal
}

// openTotal is a call that is open: where the call beside it is, and the index of its method in the list.
type openTotal struct{ next, total int32 }

// Take hands on the sum of each method that was called since the last Take, and begins anew.
func (t *Totals) Take(each func(*Total)) {
	for _, k := range t.used {
		total := &t.list[k]
		each(total)
		*total = Total{Method: total.Method, active: total.active}
	}
	t.used = t.used[:0]
}

// Has reports whether a method was called since the last Take.
func (t *Totals) Has(m trace.Method) bool {
	k, ok := t.index[m]
	return ok && t.list[k].used
}

// of returns the index of a method.
func (t *Totals) of(m trace.Method) int32 {
	k, ok := t.index[m]
	if !ok {
		if t.index == nil {
			t.index = map[trace.Method]int32{}
		}
		k = int32(len(t.list))
		t.index[m] = k
		t.list = append(t.list, Total{Method: m})
	}
	if total := &t.list[k]; !total.used {
		total.used = true
		t.used = append(t.used, k)
	}
	return k
}

// Chunk implements [trace.Handler].
func (t *Totals) Chunk(trace.Chunk) error { return nil }

// Named implements [trace.Handler].
func (t *Totals) Named(trace.Method, string) error { return nil }

// Segment adds the calls of a segment.
func (t *Totals) Segment(s *trace.Segment) error {
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
		}
		total.active++
		total.Self += nanos
		total.Longest = max(total.Longest, whole)
		if n := len(t.open); n > 0 {
			t.list[t.open[n-1].total].Self -= nanos
		}
		total.count(c, s.Kind)
		t.open = append(t.open, openTotal{next: c.Next, total: k})
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
func (t *Totals) close(at int32) {
	for n := len(t.open); n > 0 && t.open[n-1].next <= at; n-- {
		t.list[t.open[n-1].total].active--
		t.open = t.open[:n-1]
	}
}

func (t *Total) count(c *trace.Call, kind trace.SegmentKind) {
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

// Tree adds the calls of a tree.
func (t *Totals) Tree(tree *trace.Tree) {
	if len(tree.Nodes) == 0 {
		return
	}
	walkTree(tree, func(n *trace.Node) {
		total := &t.list[t.of(n.Method)]
		if total.active == 0 {
			total.Total += n.Total
		}
		total.active++
		total.Self += n.Self
		total.Longest = max(total.Longest, n.Longest)
		total.Calls += n.Calls
		total.Marked += n.Marked
	}, func(n *trace.Node) { t.list[t.index[n.Method]].active-- })
}
