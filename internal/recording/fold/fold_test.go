package fold

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// randomSegments makes what two threads did: segments whose calls nest at random, many of them short or without time,
// some in a row that one part follows the other.
func randomSegments(rnd *rand.Rand) []*trace.Segment {
	var all []*trace.Segment
	now := [2]int64{1000, 1000}
	for range 60 {
		thread := rnd.IntN(2)
		s := &trace.Segment{Thread: uint32(thread), Kind: trace.SegmentOutermost, Begin: now[thread]}
		var call func(depth int, parent int32)
		call = func(depth int, parent int32) {
			k := int32(len(s.Calls))
			s.Calls = append(s.Calls, trace.Call{Method: trace.Method(1 + rnd.IntN(6)), Parent: parent, Count: 1,
				Begin: now[thread]})
			step := func() {
				if rnd.IntN(3) > 0 {
					now[thread] += int64(rnd.IntN(1 + 60>>depth))
				}
			}
			for range rnd.IntN(7) {
				step()
				if depth < 6 {
					call(depth+1, k)
				}
			}
			step()
			s.Calls[k].End, s.Calls[k].Next = now[thread], int32(len(s.Calls))
		}
		call(rnd.IntN(4), -1)
		s.End = now[thread]
		now[thread] += int64(rnd.IntN(30))
		all = append(all, s)
	}
	return all
}

// folded is what a folder made of segments.
type folded struct {
	segments []*trace.Segment
	names    map[trace.Method]string
}

func foldAll(t *testing.T, set func(*Folder), segments []*trace.Segment) folded {
	t.Helper()
	out := folded{names: map[trace.Method]string{}}
	f := New(func(s *trace.Segment) error {
		c := *s
		c.Calls, c.Samples = slices.Clone(s.Calls), slices.Clone(s.Samples)
		out.segments = append(out.segments, &c)
		return nil
	}, func(m trace.Method, name string) error {
		out.names[m] = name
		return nil
	})
	set(f)
	for _, s := range segments {
		if err := f.Segment(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkNesting fails if calls are not in the order of time, do not nest, or have wrong indices.
func checkNesting(t *testing.T, segments []*trace.Segment) {
	t.Helper()
	last := map[uint32]int64{}
	for _, s := range segments {
		if s.Begin < last[s.Thread] {
			t.Fatalf("thread %d: a segment begins at %d, before the one before it ends, at %d", s.Thread, s.Begin,
				last[s.Thread])
		}
		last[s.Thread] = s.End
		end := map[int32]int64{-1: s.Begin} // per parent: where the last call below it has ended
		for i := range s.Calls {
			c := &s.Calls[i]
			lo, hi := s.Begin, s.End
			next := int32(len(s.Calls))
			if c.Parent >= 0 {
				p := &s.Calls[c.Parent]
				lo, hi, next = p.Begin, p.End, p.Next
			}
			lo = max(lo, end[c.Parent])
			if c.Begin < lo || c.End < c.Begin || c.End > hi || int(c.Next) <= i || c.Next > next ||
				c.Parent >= int32(i) {
				t.Fatalf("call %d of %d: %+v, want within %d and %d", i, len(s.Calls), *c, lo, hi)
			}
			end[c.Parent] = c.End
		}
		open := 0
		s.Walk(func(int) { open++ }, func(int) { open-- })
		if open != 0 {
			t.Fatalf("%d calls are entered and not left", open)
		}
	}
}

// wholeTime returns the time of the outermost calls of each thread, and the number of all calls.
func wholeTime(segments []*trace.Segment) (nanos map[uint32]int64, calls uint64) {
	nanos = map[uint32]int64{}
	for _, s := range segments {
		for i := range s.Calls {
			if s.Calls[i].Parent < 0 {
				nanos[s.Thread] += s.Calls[i].End - s.Calls[i].Begin
			}
			calls += uint64(s.Calls[i].Count)
		}
	}
	return nanos, calls
}

// selfOfKept returns the own time of each call that took at least the resolution, in their order.
func selfOfKept(segments []*trace.Segment, resolution int64) []string {
	var all []string
	for _, s := range segments {
		self := make([]int64, len(s.Calls))
		for i := range s.Calls {
			c := &s.Calls[i]
			self[i] += c.End - c.Begin
			if c.Parent >= 0 {
				self[c.Parent] -= c.End - c.Begin
			}
		}
		for i := range s.Calls {
			if c := &s.Calls[i]; c.Count == 1 && c.End-c.Begin >= resolution {
				all = append(all, fmt.Sprint(s.Thread, c.Method, c.Begin, c.End, self[i]))
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestFoldConservesTime folds random calls, and compares the own time of every call that stays, the time of each
// thread, and the number of calls.
//
// Invariant: Folding short calls changes neither the own time of a call that stays nor the sum of all times and calls.
func TestFoldConservesTime(t *testing.T) {
	smaller := 0
	for seed := range uint64(25) {
		segments := randomSegments(rand.New(rand.NewPCG(seed, 1)))
		for _, resolution := range []int64{1, 3, 10, 40} {
			out := foldAll(t, func(f *Folder) { f.Resolution = resolution }, segments)
			checkNesting(t, out.segments)
			want, calls := wholeTime(segments)
			got, gotCalls := wholeTime(out.segments)
			if fmt.Sprint(want) != fmt.Sprint(got) || calls != gotCalls {
				t.Fatalf("seed %d, resolution %d: times %v and %d calls became %v and %d", seed, resolution, want,
					calls, got, gotCalls)
			}
			whole, kept := selfOfKept(segments, resolution), selfOfKept(out.segments, resolution)
			if !slices.Equal(whole, kept) {
				t.Fatalf("seed %d, resolution %d: own times of calls that stay:\n%v\nbecame\n%v", seed, resolution,
					whole, kept)
			}
			written := 0
			for _, s := range out.segments {
				written += len(s.Calls)
			}
			if uint64(written) < calls/2 {
				smaller++
			}
		}
	}
	if smaller == 0 {
		t.Error("nothing became smaller")
	}
}

// TestFoldKeepsSamples folds random calls with samples, each in any call, and compares how many there are in a call of
// a method, or in one that stands for calls of several methods, in the callers that stay, and in all.
func TestFoldKeepsSamples(t *testing.T) {
	folded := 0
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		segments := randomSegments(rnd)
		all := 0
		for _, s := range segments {
			for range rnd.IntN(2 * len(s.Calls)) {
				call := int32(rnd.IntN(len(s.Calls)))
				c := &s.Calls[call]
				if at := c.Begin + rnd.Int64N(c.End-c.Begin+1); at < s.End {
					s.Samples = append(s.Samples, trace.Sample{Call: call, Nanos: at, Weight: int64(c.Method),
						Below: []trace.Method{trace.FirstNamed}})
					all++
				}
			}
			slices.SortFunc(s.Samples, func(a, b trace.Sample) int { return cmp.Compare(a.Nanos, b.Nanos) })
		}
		for _, resolution := range []int64{0, 1, 10, 40} {
			out := foldAll(t, func(f *Folder) { f.Resolution = resolution; f.To = 1 << 60 }, segments)
			n := 0
			for _, s := range out.segments {
				for i, one := range s.Samples {
					switch c := &s.Calls[one.Call]; {
					case i > 0 && one.Nanos < s.Samples[i-1].Nanos:
						t.Fatalf("seed %d, resolution %d: samples are in no order", seed, resolution)
					case Folded(c.Method):
						folded++
					case int64(c.Method) != one.Weight:
						t.Fatalf("seed %d, resolution %d: a sample of method %d is in method %d", seed, resolution, one.Weight,
							c.Method)
					}
					n++
				}
			}
			if n != all {
				t.Fatalf("seed %d, resolution %d: %d samples became %d", seed, resolution, all, n)
			}
		}
	}
	if folded == 0 {
		t.Error("no sample fell in a folded call")
	}
}

// TestFoldNames folds a loop of short calls. Two methods reach the resolution together, the others become one call.
func TestFoldNames(t *testing.T) {
	s := &trace.Segment{Kind: trace.SegmentOutermost, End: 1000}
	s.Calls = append(s.Calls, trace.Call{Method: 1, Parent: -1, Count: 1, End: 1000})
	add := func(parent int32, m trace.Method, begin, end int64) {
		s.Calls = append(s.Calls, trace.Call{Method: m, Parent: parent, Count: 1, Begin: begin, End: end})
	}
	for k := range int64(20) {
		add(0, 2, k*10, k*10+8)
		add(int32(len(s.Calls))-1, 3, k*10, k*10+1)
		add(0, 4, k*10+8, k*10+9)
		add(0, 5, k*10+9, k*10+9)
	}
	add(0, 6, 300, 305) // alone: the gap before it is as long as the resolution
	add(0, 7, 500, 900)
	for i := len(s.Calls) - 1; i >= 0; i-- {
		s.Calls[i].Next = int32(i) + 1
		if m := s.Calls[i].Method; m == 2 {
			s.Calls[i].Next++
		} else if m == 1 {
			s.Calls[i].Next = int32(len(s.Calls))
		}
	}
	out := foldAll(t, func(f *Folder) { f.Resolution = 50 }, []*trace.Segment{s})
	checkNesting(t, out.segments)
	var lines []string
	for _, s := range out.segments {
		for _, c := range s.Calls {
			name := out.names[c.Method]
			if name == "" {
				name = fmt.Sprint("method ", c.Method)
			}
			lines = append(lines, fmt.Sprintf("%s below %d: %d to %d, count %d", name, c.Parent, c.Begin, c.End,
				c.Count))
		}
	}
	want := []string{
		"method 1 below -1: 0 to 1000, count 1",
		"method 2 below 0: 0 to 160, count 20",
		"method 3 below 1: 0 to 20, count 20",
		"40 calls of several methods below 0: 160 to 180, count 40",
		"method 6 below 0: 300 to 305, count 1",
		"method 7 below 0: 500 to 900, count 1",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("folded to\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// TestRange cuts a range of time. A replay of the calls, one by one, says what stays.
func TestRange(t *testing.T) {
	for seed := range uint64(25) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		segments := randomSegments(rnd)
		from := int64(1000 + rnd.IntN(800))
		to := from + 1 + int64(rnd.IntN(800))
		inRange := 0
		for _, s := range segments {
			for i, c := range s.Calls {
				// What lies in no call stays out, at the begin and at the end of the range.
				if at := (c.Begin + c.End) / 2; at > c.Begin && at < c.End {
					s.Samples = append(s.Samples, trace.Sample{Call: int32(i), Nanos: at, Below: []trace.Method{c.Method}})
					if at >= from && at < to {
						inRange++
					}
				}
			}
		}
		out := foldAll(t, func(f *Folder) { f.From, f.To = from, to }, segments)
		checkNesting(t, out.segments)
		for _, s := range out.segments {
			for _, sample := range s.Samples {
				c := s.Calls[sample.Call]
				if c.Method != sample.Below[0] || sample.Nanos < c.Begin || sample.Nanos > c.End {
					t.Errorf("seed %d: a sample of method %d at %d is in %+v", seed, sample.Below[0], sample.Nanos, c)
				}
				inRange--
			}
		}
		if inRange != 0 {
			t.Errorf("seed %d: %d samples are missing", seed, inRange)
		}
		list := func(segments []*trace.Segment, keep func(c trace.Call) (trace.Call, bool)) []string {
			var all []string
			for _, s := range segments {
				for _, c := range s.Calls {
					if c, ok := keep(c); ok {
						all = append(all, fmt.Sprint(s.Thread, c.Method, c.Begin, c.End))
					}
				}
			}
			return all
		}
		got := list(out.segments, func(c trace.Call) (trace.Call, bool) { return c, c.Begin < c.End })
		want := list(segments, func(c trace.Call) (trace.Call, bool) {
			c.Begin, c.End = max(c.Begin, from), min(c.End, to)
			return c, c.Begin < c.End
		})
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: from %d to %d:\n%v\nwant\n%v", seed, from, to, got, want)
		}
	}
}

// TestRangeOfParts cuts calls that replay handed on in parts: each entry still has its exit.
func TestRangeOfParts(t *testing.T) {
	part := func(begin, end int64, marks trace.Marks) *trace.Segment {
		return &trace.Segment{Kind: trace.SegmentOutermost, Begin: begin, End: end, Calls: []trace.Call{
			{Method: 1, Parent: -1, Next: 2, Count: 1, Begin: begin, End: end, Marks: marks},
			{Method: 2, Parent: 0, Next: 2, Count: 1, Begin: begin, End: end, Marks: marks}}}
	}
	both := trace.MarkSuspended | trace.MarkResumed
	segments := []*trace.Segment{part(0, 100, trace.MarkSuspended), part(100, 200, both), part(200, 200, both),
		part(200, 300, trace.MarkResumed)}
	for from := int64(0); from <= 300; from += 50 {
		for to := from + 50; to <= 350; to += 50 {
			out := foldAll(t, func(f *Folder) { f.From, f.To, f.Resolution = from, to, 1000 }, segments)
			entered, left, nanos := 0, 0, int64(0)
			for _, s := range out.segments {
				s.Walk(func(int) { entered++ }, func(int) { left++ })
				nanos += s.Calls[0].End - s.Calls[0].Begin
			}
			if want := min(to, 300) - min(from, 300); entered != left || nanos != want {
				t.Errorf("from %d to %d: %d entries, %d exits, %d ns, want %d ns", from, to, entered, left, nanos, want)
			}
		}
	}
}
