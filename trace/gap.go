package trace

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// MethodNotRecorded is no method of the program. A call of it stands for a time in which records of a thread are
// missing: nothing is known about which calls there were. Like any call it has a place, and no other call has that
// time as its own. There are two forms:
//
//   - Without calls below it, it lasts from the last record before the gap to the first one behind it. Its callers
//     were open all the time.
//   - With calls below it, it also stands for callers whose entries are lost and whose exits did not come: the calls
//     below it were called by them, or by the caller of the MethodNotRecorded itself. It lasts until its own caller
//     ends or the next gap begins.
//
// Its name is "(not recorded)".
const MethodNotRecorded Method = math.MaxUint32

// NameNotRecorded is the name of [MethodNotRecorded].
const NameNotRecorded = "(not recorded)"

// Gap is a time in which calls of a thread are missing from its records.
type Gap struct {
	// Kind says which records are missing.
	Kind GapKind
	// Begin and End are in nanoseconds of [Clock.NanoTime]: of a [GapLost] the times of the last record before it and
	// of the first one behind it, of a [GapWindow] the times of the window.
	Begin, End int64
	// Records is how many records of a [GapLost] are missing, Calls how many calls were left out of a [GapWindow].
	Records, Calls uint64
}

// GapKind says which records are missing in a [Gap].
type GapKind uint8

// The kinds of gaps.
const (
	// GapLost is a place where any records may be missing. A call of [MethodNotRecorded] stands there.
	GapLost GapKind = iota
	// GapWindow is a [Window]: only short calls are missing, each as a whole. The calls that enclose them are there
	// with their times. Their own time within the window may belong to calls that are missing.
	GapWindow
)

// Completeness says how much of what a program did is in a recording. [Replay] hands it to [Handler.Chunk] as the
// last one. It is no chunk of the file: it sums up what the others say.
type Completeness struct {
	// Recorded is how many records are there, Lost how many are known to be missing: overwritten on the device, or in
	// chunks that are damaged. Both count entries and exits.
	Recorded, Lost uint64
	// Runs is how many runs of records without a gap there are on all threads.
	Runs uint64
	// NotRecorded is how long records were missing, on all threads together, in nanoseconds.
	NotRecorded int64
	// Windows is how many there were, WindowCalls how many short calls were left out in them, WindowNanos how long
	// they were on all threads together.
	Windows, WindowCalls uint64
	WindowNanos          int64
	// Gated has the methods that were switched off at some time, or whose calls were left out because they were, in
	// the order of their IDs.
	Gated []GatedCalls
	// Dropped counts the things that the recorder did not write, by kind and thread, in the order of these. Lost contains
	// the records.
	Dropped []DroppedCount
	// Late is how often the clock of records was late, LateNanos how long these times are together and LateMost how long
	// the longest is.
	Late                uint64
	LateNanos, LateMost int64
	// Suspended is how often the process did not run, SuspendedNanos how long that was.
	Suspended      uint64
	SuspendedNanos int64
	// OnlyStalls is set if only records of stalls were written: the records between them are not missing.
	OnlyStalls bool
	// Samples counts the steady samples.
	Samples SampleCounts
	// Coroutines counts the marks of coroutines.
	Coroutines CoroutineCounts
}

// GatedCalls is a method that was switched off while a program ran. Its time is its callers' own while it was off.
type GatedCalls struct {
	Method Method
	// LeftOut is how many of its calls were left out on all threads.
	LeftOut uint64
	// LetGo is whether it was let go at some time, so that there were more calls than LeftOut.
	LetGo bool
}

// LostShare returns which share of the records is missing, from 0 to 1.
func (c *Completeness) LostShare() float64 {
	if c.Lost == 0 {
		return 0
	}
	return float64(c.Lost) / (float64(c.Lost) + float64(c.Recorded))
}

// GatedCalls returns how many calls were left out because their methods were off.
func (c *Completeness) GatedCalls() (n uint64) {
	for i := range c.Gated {
		n += c.Gated[i].LeftOut
	}
	return n
}

func (*Completeness) chunk() {}

// completeness sums up what a replay has seen.
type completeness struct {
	all   Completeness
	gated map[Method]*GatedCalls
	// dropped has the counts of dropped things by their kind and thread, with a count of 0.
	dropped map[DroppedCount]uint64
	end     *End
}

// chunk takes what a chunk says of calls that are missing.
func (s *completeness) chunk(c Chunk) {
	switch c := c.(type) {
	case *Window:
		s.all.Windows++
		s.all.WindowCalls += c.Calls
		s.all.WindowNanos += max(0, c.End-c.Begin)
	case *Gate:
		for _, m := range c.Methods {
			s.of(m.Method)
		}
	case *LeftOut:
		for _, m := range c.Methods {
			s.of(m.Method).LeftOut += m.Calls
		}
	case *LetGo:
		for _, m := range c.Methods {
			g := s.of(m.Method)
			g.LetGo = g.LetGo || m.Gone
		}
	case *Suspended:
		for _, t := range c.List {
			s.all.Suspended++
			s.all.SuspendedNanos = clamped(s.all.SuspendedNanos, bounded(t.End)-bounded(t.Begin))
		}
	case *Late:
		for _, l := range c.List {
			d := bounded(l.End) - bounded(l.Begin)
			s.all.Late++
			s.all.LateNanos = clamped(s.all.LateNanos, d)
			s.all.LateMost = max(s.all.LateMost, d)
		}
	case *Dropped:
		s.drop(c)
	case *End:
		s.end = c
	}
}

// clamped returns the sum of two durations, at most the longest that there is. A negative one counts as 0.
func clamped(sum, d int64) int64 { return min(sum, math.MaxInt64-max(0, d)) + max(0, d) }

// drop adds the counts of dropped things.
func (s *completeness) drop(c *Dropped) {
	for _, d := range c.List {
		if s.dropped == nil {
			s.dropped = map[DroppedCount]uint64{}
		}
		n := d.Count
		d.Count = 0
		s.dropped[d] += min(n, math.MaxUint64-s.dropped[d])
	}
}

func (s *completeness) of(m Method) *GatedCalls {
	g := s.gated[m]
	if g == nil {
		g = &GatedCalls{Method: m}
		s.gated[m] = g
	}
	return g
}

// result returns the sum when all has been read.
func (s *completeness) result(onlyStalls bool) *Completeness {
	c := &s.all
	c.OnlyStalls = onlyStalls
	if s.end != nil {
		// The device also counts records that it lost behind a thread's last ones, and records in missing chunks.
		c.Lost = max(c.Lost, s.end.Overwritten)
		if made := s.end.Records + s.end.Overwritten; !onlyStalls && made > c.Recorded+c.Lost {
			c.Lost = made - c.Recorded
		}
	}
	for d, n := range s.dropped {
		if d.Kind == DroppedRecords {
			c.Lost += min(n, math.MaxUint64-c.Lost)
		}
		d.Count = n
		c.Dropped = append(c.Dropped, d)
	}
	slices.SortFunc(c.Dropped, func(a, b DroppedCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), -cmp.Compare(bit(a.AllThreads), bit(b.AllThreads)),
			cmp.Compare(a.Thread, b.Thread))
	})
	for _, m := range slices.Sorted(maps.Keys(s.gated)) {
		c.Gated = append(c.Gated, *s.gated[m])
	}
	return c
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
