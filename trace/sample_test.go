package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// modelNames are the names of a model program: each method has the name of its number.
type modelNames struct{ traced Method }

func (n modelNames) Name(m Method) (Name, bool) {
	if m >= MethodSuspended || m == MethodDispatch {
		return NoNames{}.Name(m)
	}
	return Name{Class: "p.C", Method: fmt.Sprint("m", m)}, true
}

func (n modelNames) Frames(frames []string) (methods []string, own bool) {
	for _, f := range frames {
		methods = append(methods, strings.TrimSuffix(f, "(C.java)"))
	}
	return methods, false
}

func (n modelNames) Find(name string) (m Method, ok bool) {
	fmt.Sscanf(name, "p.C.m%d", &m)
	return m, m > 0 && m <= n.traced
}

// modelCall is a call of a model program that is open.
type modelCall struct {
	method   Method
	recorded bool
}

// model is what a program does: methods above traced are not traced, others may be switched off.
type model struct {
	traced, all Method
	depth       int
	throws      int // one of so many calls is left by an exception; 0 for none
	gate        int // one of so many calls switches a method off or on; 0 for none
	interval    int // how many steps lie between two samples, on average
	blur        int // how many records the thread makes at most while a stack is taken
}

// modelRun is one run of a model, with all that is true of it.
type modelRun struct {
	records []Record
	chunk   *Stacks
	stacks  [][]modelCall // by nanosecond: the calls that are open, the outermost first
	moments []int64       // of the samples
	// unrecorded are methods of which calls are not recorded
	unrecorded map[Method]bool
}

// run makes a run with about n records. One nanosecond passes with each step.
func (g model) run(r *rand.Rand, n int) *modelRun {
	out := &modelRun{chunk: &Stacks{Anew: true}, unrecorded: map[Method]bool{}}
	nodes := map[string]uint64{}
	node := func(stack []modelCall) uint64 {
		at, path := uint64(0), "p.C.main"
		for k := -1; k < len(stack); k++ {
			if k >= 0 {
				path += fmt.Sprint(" p.C.m", stack[k].method)
			}
			number, known := nodes[path]
			if !known {
				number = uint64(len(nodes) + 1)
				nodes[path] = number
				out.chunk.Nodes = append(out.chunk.Nodes, StackNode{at, path[strings.LastIndexByte(path, ' ')+1:] + "(C.java)"})
			}
			at = number
		}
		return at
	}
	var open []modelCall
	off, unused := map[Method]bool{}, map[Method]int{} // switched off; open calls that are not recorded
	step := func() { out.stacks = append(out.stacks, slices.Clone(open)) }
	now := func() int64 { return int64(len(out.stacks)) }
	leave := func(thrown bool) {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		if !c.recorded {
			unused[c.method]--
		} else if !thrown {
			out.records = append(out.records, exit(c.method, now()))
		}
	}
	for len(out.records) < n || len(open) > 0 {
		switch down := len(out.records) >= n || len(open) >= g.depth || r.IntN(5) < 2; {
		case down && len(open) > 0:
			if g.throws > 0 && r.IntN(g.throws) == 0 {
				for k := 1 + r.IntN(min(3, len(open))); k > 0 && len(open) > 1; k-- {
					leave(true)
				}
			} else {
				leave(false)
			}
		default:
			m := Method(1 + r.IntN(int(g.all)))
			if len(open) == 0 {
				m = 1 + Method(r.IntN(int(g.traced)))
				off[m] = off[m] && len(open) > 0
			}
			if g.gate > 0 && r.IntN(g.gate) == 0 && unused[m] == 0 && len(open) > 0 {
				off[m] = !off[m]
			}
			c := modelCall{method: m, recorded: m <= g.traced && !off[m]}
			if c.recorded {
				out.records = append(out.records, entry(m, now()))
			} else {
				unused[m]++
				out.unrecorded[m] = true
			}
			open = append(open, c)
		}
		for range 1 + r.IntN(3) {
			if len(open) > 0 && r.IntN(g.interval) == 0 {
				out.chunk.Samples = append(out.chunk.Samples, SteadySample{Nanos: now(), State: 2, Node: node(open),
					Record: uint64(len(out.records)), CPU: -1})
				out.moments = append(out.moments, now())
			}
			step()
		}
	}
	end := uint64(0)
	for i := range out.chunk.Samples {
		s := &out.chunk.Samples[i]
		next := uint64(len(out.records))
		if i+1 < len(out.chunk.Samples) {
			next = out.chunk.Samples[i+1].Record
		}
		at := s.Record
		s.Record = max(end, at-min(at, uint64(r.IntN(g.blur+1))))
		end = min(next, at+uint64(r.IntN(g.blur+1)))
		s.Records = end - s.Record
	}
	step()
	return out
}

// names returns the methods of a segment's call and of the estimated calls that a sample shows, the outermost first.
// The calls whose exits are missing are in doubt: they are left out if the stack does not have them.
func pathOf(s *Segment, p *Sample, names map[Method]string) (path []string, doubt []bool) {
	for k := p.Call; k >= 0; k = s.Calls[k].Parent {
		path = append(path, fmt.Sprint("p.C.m", s.Calls[k].Method))
		doubt = append(doubt, s.Calls[k].Marks&(MarkUnwound|MarkOpen|MarkCut) != 0 ||
			s.Calls[k].Method == MethodNotRecorded || s.recursive(int(k)))
		for i := len(p.Between) - 1; i >= 0; i-- {
			if b := p.Between[i]; b.Call == k {
				for _, m := range slices.Backward(b.Frames) {
					path, doubt = append(path, names[m]), append(doubt, false)
				}
			}
		}
	}
	slices.Reverse(path)
	slices.Reverse(doubt)
	for _, m := range p.Below {
		path, doubt = append(path, names[m]), append(doubt, false)
	}
	return path, doubt
}

// recursive reports whether it is not known which call an exit ended: of the call, of one of its method around it that
// has none, or if the call has none, of one inside of it that has the method of another one around it.
func (s *Segment) recursive(call int) bool {
	around := func(i int, m Method) bool {
		for k := s.Calls[i].Parent; k >= 0; k = s.Calls[k].Parent {
			if s.Calls[k].Method == m && s.Calls[k].Marks&(MarkUnwound|MarkOpen|MarkCut) != 0 {
				return true
			}
		}
		return false
	}
	if around(call, s.Calls[call].Method) {
		return true
	}
	for i := call + 1; i < int(s.Calls[call].Next) && s.Calls[call].Marks&MarkContradicted != 0; i++ {
		if around(i, s.Calls[i].Method) {
			return true
		}
	}
	return false
}

// endsWith reports whether a stack ends with a path from which doubtful calls may be missing.
func endsWith(stack, path []string, doubt []bool) bool {
	for len(path) > 0 {
		k := len(path) - 1
		if n := len(stack); n > 0 && stack[n-1] == path[k] {
			if endsWith(stack[:n-1], path[:k], doubt[:k]) {
				return true
			}
		}
		if !doubt[k] {
			return false
		}
		path, doubt = path[:k], doubt[:k]
	}
	return true
}

// namedCollect also keeps names and samples.
type namedCollect struct {
	collect
	names  map[Method]string
	counts SampleCounts
}

func (c *namedCollect) Named(m Method, name string) error {
	c.names[m] = name
	return nil
}

func (c *namedCollect) Chunk(chunk Chunk) error {
	if sum, ok := chunk.(*Completeness); ok {
		c.counts = sum.Samples
	}
	return nil
}

// replayModel replays chunks of a run.
func replayModel(t testing.TB, g model, chunks ...Chunk) *namedCollect {
	t.Helper()
	c := &namedCollect{collect: collect{balance: balance{t: t}}, names: map[Method]string{}}
	for m := Method(1); m <= g.all; m++ {
		c.names[m] = fmt.Sprint("p.C.m", m)
	}
	p := newReplay(c)
	p.limits = limits{tick: 1, calls: maxCalls}
	p.frames = func() FrameNames { return modelNames{g.traced} }
	for _, chunk := range chunks {
		if err := p.chunk(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.finish(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOneSampleEndsManyCalls: an exception leaves each of many calls of a method, and one sample shows that once. All
// of the calls end early then, and it is one sample that contradicts.
func TestOneSampleEndsManyCalls(t *testing.T) {
	chunk := &Stacks{Anew: true, Nodes: []StackNode{{0, "p.C.m1(C.java)"}, {1, "p.C.m2(C.java)"}, {1, "p.C.m3(C.java)"}},
		Samples: []SteadySample{{Nanos: 5, Node: 2, Record: 2, CPU: -1}, {Nanos: 15, Node: 3, Record: 3, CPU: -1}}}
	records := []Record{entry(1, 0), entry(2, 2)}
	const calls = 500
	for k := range int64(calls) {
		records = append(records, entry(3, 10+10*k), exit(3, 18+10*k), entry(2, 19+10*k))
	}
	records = append(records, exit(2, 10+10*calls), exit(1, 11+10*calls))
	c := replayModel(t, model{traced: 3, all: 3}, chunk, &Records{List: records})
	if n := c.repairs; n.Unwound != calls || n.Contradicted != calls || c.counts.Contradicting != 1 {
		t.Errorf("%d calls without an exit, %d of them ended early, %d samples contradict; want %d, %d and 1", n.Unwound,
			n.Contradicted, c.counts.Contradicting, calls, calls)
	}
}

// TestSamplesAreExact replays runs with samples and without losses and exceptions: each sample has the calls of its
// moment, recorded and estimated ones, and the calls are as without samples.
func TestSamplesAreExact(t *testing.T) {
	for _, g := range []model{
		{traced: 20, all: 40, depth: 12, interval: 20},
		{traced: 20, all: 40, depth: 12, interval: 20, gate: 10},
		{traced: 200, all: 250, depth: 12, interval: 20, gate: 10, blur: 5},
		{traced: 5, all: 8, depth: 12, interval: 20, gate: 10, blur: 5},
	} {
		t.Run(fmt.Sprintf("%+v", g), func(t *testing.T) {
			placed := 0
			for seed := range uint64(100) {
				r := rand.New(rand.NewPCG(seed, 21))
				run := g.run(r, 400)
				c := replayModel(t, g, run.chunk, &Records{List: run.records})
				plain := replayed(t, run.records, len(run.records))
				if !slices.Equal(lineages(&c.collect), lineages(plain)) {
					t.Fatalf("seed %d: calls differ from those without samples", seed)
				}
				placed += checkSamples(t, seed, run, c, true)
				if n := int(c.counts.Placed + c.counts.Idle); n != len(run.moments) {
					t.Errorf("seed %d: %+v of %d samples", seed, c.counts, len(run.moments))
				}
			}
			t.Logf("measured: %d samples", placed)
		})
	}
}

// repeats reports whether a method is twice on a stack.
func repeats(stack []string) bool {
	for i, m := range stack {
		if slices.Contains(stack[:i], m) {
			return true
		}
	}
	return false
}

// checkSamples holds samples to the truth. whole is whether they have the whole stack.
func checkSamples(t *testing.T, seed uint64, run *modelRun, c *namedCollect, whole bool) (placed int) {
	t.Helper()
	for i := range c.segments {
		s := &c.segments[i]
		for k := range s.Samples {
			placed++
			p := &s.Samples[k]
			var stack []string
			for _, open := range run.stacks[p.Nanos] {
				stack = append(stack, fmt.Sprint("p.C.m", open.method))
			}
			if s.Calls[0].Method == MethodNotRecorded && repeats(stack) {
				continue // behind a gap it is not known which of two calls of a method a record is of
			}
			path, doubt := pathOf(s, p, c.names)
			if len(stack) == 0 || !endsWith(stack, path, doubt) || whole && len(path) != len(stack) {
				t.Errorf("seed %d, sample at %d: %v, but it was %v", seed, p.Nanos, path, stack)
			}
		}
	}
	return placed
}

// TestRunningSamples counts the samples of a thread that ran, and those of them in the recorder's own code.
func TestRunningSamples(t *testing.T) {
	counts := SampleCounts{}
	r := repairer{table: &stackTable{counts: &counts}}
	for _, s := range []struct {
		cpu   int64
		state ThreadState
		frame string
		own   bool
	}{
		{5, 2, "a.B.c(B.java)", true}, // whether it ran before is not known
		{9, 2, "a.B.c(B.java)", true},
		{-1, 2, "a.B.c(B.java)", true}, // not known
		{12, 2, "", false},
		{12, 2, "a.B.c(B.java)", true}, // it did not run
		{15, ThreadWaiting, "a.B.c(B.java)", true},
		{18, 2, "java.base@17.0.15/java.lang.Thread.yield(Native Method)", true},
		{21, 2, "java.base@25/java.lang.Thread.yield0(Native Method)", true},
	} {
		w := &waitingSample{SteadySample: SteadySample{CPU: s.cpu, State: s.state}}
		if s.frame != "" {
			w.stack = &stackNode{frame: s.frame}
		}
		r.count(w, s.own)
	}
	if counts.Ran != 2 || counts.OwnRan != 1 {
		t.Errorf("%d, of which %d are the recorder's; want 2 and 1", counts.Ran, counts.OwnRan)
	}
}
