package evidence_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

const (
	outer  trace.Method = 1 // a recorded call, all the time
	inner  trace.Method = 2 // recorded calls below it
	hidden trace.Method = 3 // calls between these that are not recorded
	// calls below both that are not recorded
	library trace.Method = trace.FirstNamed
	reads   trace.Method = trace.FirstNamed + 1
	parses  trace.Method = trace.FirstNamed + 2
)

// run is a segment of a program, and how long each path took. The outermost method of a path is the first.
type run struct {
	segment trace.Segment
	took    map[[5]trace.Method]int64
}

// newRun makes a run of about 3 s, with a sample about every 10 ms.
func newRun(r *rand.Rand) *run {
	out := &run{took: map[[5]trace.Method]int64{}}
	s := &out.segment
	s.Calls = append(s.Calls, trace.Call{Method: outer, Parent: -1, Count: 1})
	next, last := int64(0), int64(0)
	below := [][]trace.Method{nil, {library}, {library, reads}, {parses}}
	likely := [4]float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
	for at := int64(0); at < 3e9; {
		took := int64(r.ExpFloat64() * 5e6)
		path, call := [5]trace.Method{outer}, int32(0)
		n := 1
		var between []trace.Between
		if r.IntN(2) > 0 {
			call = int32(len(s.Calls))
			s.Calls = append(s.Calls, trace.Call{Method: inner, Count: 1, Next: call + 1, Begin: at, End: at + took})
			if r.IntN(3) > 0 {
				path[n] = hidden
				n++
				between = []trace.Between{{Call: call, Frames: []trace.Method{hidden}}}
			}
			path[n] = inner
			n++
		}
		k := r.IntN(len(below))
		for r.Float64() > likely[k] {
			k = r.IntN(len(below))
		}
		copy(path[n:], below[k])
		out.took[path] += took
		for ; next < at+took; next += int64(5e6 + r.Float64()*10e6) {
			s.Samples = append(s.Samples, trace.Sample{Call: call, Nanos: next, Weight: next - last, CPU: -1, Below: below[k],
				Between: between, State: 2})
			last = next
		}
		at += took
		s.End = at
	}
	s.Calls[0].End, s.Calls[0].Next = s.End, int32(len(s.Calls))
	return out
}

// total returns how long the paths took that begin so.
func (r *run) total(path []trace.Method) (sum int64) {
	for p, took := range r.took {
		begins := true
		for i, m := range path {
			begins = begins && i < len(p) && p[i] == m
		}
		if begins {
			sum += took
		}
	}
	return sum
}

// TestGraft makes runs whose truth is known.
//
// Invariant: The grafted tree has the time of the recorded one, and the bounds of an estimated time contain the true
// one in 95 % of all cases.
func TestGraft(t *testing.T) {
	held, all := 0, 0
	for seed := range uint64(100) {
		run := newRun(rand.New(rand.NewPCG(seed, 31)))
		var tree evidence.Tree
		tree.Add(&run.segment)
		g := evidence.Graft(&tree)
		if g.Nodes[0].Total != tree.Nodes[0].Total {
			t.Errorf("seed %d: the tree has %d ns, want %d", seed, g.Nodes[0].Total, tree.Nodes[0].Total)
		}
		checkSums(t, seed, g)
		for k := 1; k < len(g.Nodes); k++ {
			n := &g.Nodes[k]
			var path []trace.Method
			for p := int32(k); p > 0; p = g.Nodes[p].Parent {
				path = append([]trace.Method{g.Nodes[p].Method}, path...)
			}
			want := run.total(path)
			if len(path) > 1 {
				all++
				if n.Grafted.TotalLow <= want && want <= n.Grafted.TotalHigh {
					held++
				}
			}
		}
		sums := evidence.Sums(g)
		for _, s := range sums {
			if s.Samples > len(run.segment.Samples) {
				t.Errorf("seed %d: %d of %d samples", seed, s.Samples, len(run.segment.Samples))
			}
			if s.Method == outer && (s.Total != run.segment.End || s.EstimatedTotal != 0 || s.Calls != 1) {
				t.Errorf("seed %d: %+v, want %d ns in all", seed, s, run.segment.End)
			}
			if s.Method == inner && (s.Total != tree.Nodes[2].Total || s.EstimatedTotal != 0) {
				t.Errorf("seed %d: %+v, want the %d ns of the recorded calls", seed, s, tree.Nodes[2].Total)
			}
		}
	}
	if t.Logf("measured: %d of %d bounds hold", held, all); held*100 < all*95 {
		t.Errorf("%d of %d bounds hold, want 95 %%", held, all)
	}
}

// TestSamplesCountOnce has a method that is called by three others, in two of them without a sample and in one with an
// estimated call between: each sample is one of the method and one of the estimated call in it.
func TestSamplesCountOnce(t *testing.T) {
	const method, estimated, between = 9, trace.FirstNamed, trace.FirstNamed + 1
	s := trace.Segment{End: 6000}
	for k := range int32(3) {
		c := trace.Call{Method: trace.Method(1 + k), Parent: -1, Next: 2*k + 2, Count: 1, Begin: int64(k) * 2000,
			End: int64(k)*2000 + 2000}
		s.Calls = append(s.Calls, c)
		c.Method, c.Parent = method, 2*k
		s.Calls = append(s.Calls, c)
	}
	for k := range 10 {
		sample := trace.Sample{Call: 1, Nanos: int64(k) * 200, Weight: 200, Below: []trace.Method{estimated}}
		if k%2 == 0 {
			sample.Between = []trace.Between{{Call: 1, Frames: []trace.Method{between}}}
		}
		s.Samples = append(s.Samples, sample)
	}
	var tree evidence.Tree
	tree.Add(&s)
	got := map[trace.Method]int{}
	for _, sum := range evidence.Sums(evidence.Graft(&tree)) {
		got[sum.Method] = sum.Samples
		if sum.Method == method && (sum.Self != 0 || sum.Total != 6000) || sum.Method == estimated && sum.Self != 6000 {
			t.Errorf("%+v", sum)
		}
	}
	if got[method] != 10 || got[estimated] != 10 {
		t.Errorf("%d samples of the method and %d of the call in it, want 10 of each", got[method], got[estimated])
	}
}

// checkSums holds a tree to its sums.
func checkSums(t *testing.T, seed uint64, g *evidence.Tree) {
	t.Helper()
	self, below := int64(0), make([]int64, len(g.Nodes))
	for k := len(g.Nodes) - 1; k > 0; k-- {
		n := &g.Nodes[k]
		self += n.Self
		below[n.Parent] += n.Total
		if n.Self < 0 || n.Total != n.Self+below[k] {
			t.Errorf("seed %d: node %d has %d ns, %d of its own and %d below", seed, k, n.Total, n.Self, below[k])
		}
		w := &n.Grafted
		if w.TotalLow > n.Total || n.Total > w.TotalHigh || w.SelfLow > n.Self || n.Self > w.SelfHigh ||
			w.Waiting+w.Blocked > n.Self {
			t.Errorf("seed %d: node %d: %+v", seed, k, n)
		}
		if w.Estimated && n.Calls != 0 {
			t.Errorf("seed %d: node %d is estimated and has %d calls", seed, k, n.Calls)
		}
	}
	if self != g.Nodes[0].Total {
		t.Errorf("seed %d: all nodes have %d ns of their own, want %d", seed, self, g.Nodes[0].Total)
	}
}

// TestGraftTrimmed has trees that are cut off, of which Sub is taken, and whose nodes have no samples of their own.
func TestGraftTrimmed(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 32))
		var tree evidence.Tree
		for range 20 {
			s := trace.Segment{Calls: []trace.Call{{Method: outer, Parent: -1, Count: 1}}}
			for at, k := int64(0), int32(1); k < 40; k++ {
				took := 1 + r.Int64N(1e6)
				s.Calls = append(s.Calls, trace.Call{Method: trace.Method(100 + r.IntN(60)), Count: 1, Next: k + 1, Begin: at,
					End: at + took})
				if r.IntN(8) == 0 {
					s.Samples = append(s.Samples, trace.Sample{Call: k, Weight: 1e6, CPU: 5e5, State: trace.ThreadState(r.IntN(6)),
						Below: []trace.Method{library, reads + trace.Method(r.IntN(50))}})
				}
				at += took
				s.End = at
			}
			s.Calls[0].End, s.Calls[0].Next = s.End, int32(len(s.Calls))
			tree.Add(&s)
		}
		whole := tree.Nodes[0].Total
		checkSums(t, seed, evidence.Graft(&tree))
		tree.Trim(20)
		g := evidence.Graft(&tree)
		if g.Nodes[0].Total != whole || g.Nodes[1].Total != whole {
			t.Errorf("seed %d: %d of %d ns are there", seed, g.Nodes[1].Total, whole)
		}
		sub := tree.Sub(2)
		if len(sub.Samples.Below) > 0 {
			checkSums(t, seed, evidence.Graft(&sub))
		} else if evidence.Graft(&sub) != &sub {
			t.Errorf("seed %d: a tree without samples has changed", seed)
		}
	}
}

// TestFoldRare: a method that few samples show has no own time, one that enough show loses none; the sums of own times,
// and of those in which threads waited, stay the same.
func TestFoldRare(t *testing.T) {
	const least = 5
	states := func(tree *evidence.Tree) (sum [3]int64) {
		for k := range tree.Nodes {
			n := &tree.Nodes[k]
			sum[0], sum[1], sum[2] = sum[0]+n.Self, sum[1]+n.Grafted.Waiting, sum[2]+max(0, n.Grafted.CPU)
		}
		return sum
	}
	rare, frequent := 0, 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		run := newRun(r)
		s := &run.segment
		s.Samples = s.Samples[:1+r.IntN(40)]
		showing := map[trace.Method]int{}
		for i := range s.Samples {
			s.Samples[i].State = []trace.ThreadState{2, trace.ThreadWaiting}[r.IntN(2)]
			if below := s.Samples[i].Below; len(below) > 0 {
				showing[below[len(below)-1]]++
			}
		}
		var tree evidence.Tree
		tree.Add(s)
		grafted := evidence.Graft(&tree)
		before, sums := states(grafted), evidence.Sums(grafted)
		evidence.FoldRare([]*evidence.Tree{grafted}, least, nil)
		if after := states(grafted); after != before {
			t.Fatalf("seed %d: own time, waiting, CPU: %v, were %v", seed, after, before)
		}
		for i, m := range evidence.Sums(grafted) {
			switch n := showing[m.Method]; {
			case m.Method < trace.FirstNamed:
			case n < least && m.Self > 0:
				t.Fatalf("seed %d: %d samples, %d ns", seed, n, m.Self)
			case n < least:
				rare++
			case m.Self < sums[i].Self:
				t.Fatalf("seed %d: %d samples, %d ns of %d", seed, n, m.Self, sums[i].Self)
			default:
				frequent++
			}
		}
	}
	if rare < 20 || frequent < 20 {
		t.Errorf("%d rare methods, %d others", rare, frequent)
	}
}
