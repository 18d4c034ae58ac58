package trace

import (
	"math"
	"slices"
)

// thread is what one thread is doing, as far as its records were looked at.
type thread struct {
	segment Segment  // of which Calls and Repairs grow
	roots   []uint64 // for each call that no other encloses, the number of its first record
	open    []opened // the calls that have not returned, the outermost first
	resumed int      // how many of Calls are there because they were suspended
	last    int64    // the latest tick, -1 if there is none
	shift   int64    // how many ticks later it all is since a time was believed that was wrong
	longest int64    // how many ticks may pass if nothing behind confirms it
	now     int64    // and its time
	number  uint64   // of the next record to be looked at
	scope   scope

	held  []Record // those that come next
	gaps  []gap    // between them
	next  uint64   // the number of the one behind them
	first bool     // no records have come yet

	where   map[Method]int32 // where in open the innermost call of each method is; nil if open must be searched
	credit  int              // how many records may be looked ahead at
	weighed uint64           // the number of the last record that was weighed
	pushed  []Method         // room for a trial; empty
}

// opened is a call that has not returned.
type opened struct {
	method Method
	call   int32
	before int32 // where the next call of the method further out is, -1 if there is none; if [thread.where] is there
}

// gap is where records are missing, or none is known to be missing and all the same they begin.
type gap struct {
	at    int    // the index in held of the first one behind it
	first uint64 // its number
	lost  uint64 // how many are missing
	apart bool   // what comes behind it has nothing to do with what was before
}

// scope is what lies behind a gap within a call that was open before, or within none. Exits here that have no entry are of
// calls that were entered in the gap, and so enclose all that came before in the scope.
type scope struct {
	on     bool
	depth  int    // how many calls were open before
	start  int    // how many calls of the segment come before
	number uint64 // of the first record
	begin  int64  // its time
	wraps  []wrap // the innermost first
}

// wrap is a call of which only the exit is there.
type wrap struct {
	method Method
	end    int32 // the index behind the last call below it
	at     int64
	marks  Marks
}

// over tells whether the scope encloses no more: a dispatch is outermost, and at some point one has to go on.
func (s *scope) over(t *thread) bool {
	n := len(s.wraps)
	return n > 0 && s.wraps[n-1].method == MethodDispatch || t.number-s.number > piece
}

// enter begins a call at the time of the last record.
func (t *thread) enter(m Method, marks Marks) {
	s := &t.segment
	t.begin()
	o := opened{method: m, call: int32(len(s.Calls)), before: -1}
	parent := int32(-1)
	if n := len(t.open); n > 0 {
		parent = t.open[n-1].call
	} else {
		t.roots = append(t.roots, t.number-1)
	}
	if t.where != nil {
		if k, ok := t.where[m]; ok {
			o.before = k
		}
		t.where[m] = int32(len(t.open))
	}
	t.open = append(t.open, o)
	s.Calls = append(s.Calls, Call{Method: m, Parent: parent, Count: 1, Begin: t.now, Marks: marks})
}

// begin notes when the scope begins.
func (t *thread) begin() {
	if t.scope.begin == math.MinInt64 {
		t.scope.begin = t.now
	}
}

// close ends the innermost call at the time of the last record.
func (t *thread) close(marks Marks) {
	k := len(t.open) - 1
	if t.scope.on && k < t.scope.depth {
		// The call that was open before the gap is over, and with it what may enclose calls behind the gap.
		t.wrap()
		t.scope = scope{}
	}
	o := t.open[k]
	c := &t.segment.Calls[o.call]
	c.End, c.Next = t.now, int32(len(t.segment.Calls))
	c.Marks |= marks
	t.open = t.open[:k]
	if t.where != nil {
		if o.before < 0 {
			delete(t.where, o.method)
		} else {
			t.where[o.method] = o.before
		}
		if k == 0 {
			t.where = nil
		}
	}
}

// find gives where in open the innermost call of a method is; -1 if there is none.
func (t *thread) find(m Method) int {
	const near = 64
	n := len(t.open)
	for k := n - 1; k >= max(0, n-near); k-- {
		if t.open[k].method == m {
			return k
		}
	}
	if n <= near {
		return -1
	}
	if t.where == nil {
		t.where = make(map[Method]int32)
		for i := range t.open {
			o := &t.open[i]
			o.before = -1
			if k, ok := t.where[o.method]; ok {
				o.before = k
			}
			t.where[o.method] = int32(i)
		}
	}
	if k, ok := t.where[m]; ok {
		return int(k)
	}
	return -1
}

// truncate ends a call that was entered in the gap.
func (t *thread) truncate(m Method, marks Marks) {
	t.begin()
	t.scope.wraps = append(t.scope.wraps, wrap{m, int32(len(t.segment.Calls)), t.now, marks | MarkTruncated})
	t.segment.Repairs.Truncated++
}

// wrap puts the calls that were entered in the gap around those that they enclose.
func (t *thread) wrap() {
	s := &t.scope
	n := int32(len(s.wraps))
	if n == 0 {
		return
	}
	start := int32(s.start)
	parent := int32(-1)
	if s.depth > 0 {
		parent = t.open[:s.depth][s.depth-1].call
	}
	calls := append(t.segment.Calls, make([]Call, n)...)
	copy(calls[start+n:], calls[start:])
	for k, w := range s.wraps {
		at := start + n - 1 - int32(k)
		calls[at] = Call{Method: w.method, Parent: at - 1, Next: w.end + n, Count: 1, Begin: s.begin, End: w.at, Marks: w.marks}
	}
	calls[start].Parent = parent
	inner, roots := 0, 0
	for i := start + n; int(i) < len(calls); i++ {
		c := &calls[i]
		c.Next += n
		if c.Parent >= start {
			c.Parent += n
			continue
		}
		for inner < len(s.wraps) && s.wraps[inner].end <= i-n {
			inner++
		}
		if inner < len(s.wraps) {
			c.Parent = start + n - 1 - int32(inner)
			roots++
		}
	}
	for k := range t.open {
		if t.open[k].call >= start {
			t.open[k].call += n
		}
	}
	if s.depth == 0 {
		t.roots = slices.Insert(t.roots[roots:], 0, s.number)
	}
	t.segment.Calls, s.wraps = calls, nil
}
