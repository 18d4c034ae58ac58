package evidence

import (
	"math/rand/v2"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestBoundsByMethodHold: a method that was switched off has some of the own time of three recorded methods, one of
// which has few samples. The bounds hold in 95 % of all recordings, also for what is left to the recorded ones.
func TestBoundsByMethodHold(t *testing.T) {
	const off = 10
	whole := [...]int64{5e9, 2e9, 3e8}
	part := [...]float64{0.7, 0.1, 0.5}
	rnd := rand.New(rand.NewPCG(95, 95))
	truth := map[trace.Method]float64{}
	for k, w := range whole {
		truth[off] += float64(w) * part[k]
		truth[trace.Method(k+1)] = float64(w) * (1 - part[k])
	}
	const trials = 2000
	held := map[trace.Method]int{}
	for range trials {
		var tree Tree
		now := int64(0)
		for k, w := range whole {
			s := &trace.Segment{Begin: now, End: now + w, Calls: []trace.Call{{Method: trace.Method(k + 1), Parent: -1,
				Next: 1, Count: 1, Begin: now, End: now + w}}}
			for at := now; at < now+w; at += 2e7 {
				sample := trace.Sample{Nanos: at, Weight: 2e7, State: 2, CPU: -1}
				if rnd.Float64() < part[k] {
					sample.Below = []trace.Method{off}
				}
				s.Samples = append(s.Samples, sample)
			}
			tree.Add(s)
			now += w
		}
		grafted := Graft(&tree)
		sums := Sums(grafted)
		Bound(sums, Divided{Recorded: &tree, Grafted: grafted})
		for _, m := range sums {
			if m.SelfLow > m.Self || m.SelfHigh < m.Self || m.TotalLow > m.Total || m.TotalHigh < m.Total {
				t.Fatalf("%+v", m)
			}
			if float64(m.SelfLow) <= truth[m.Method]+1 && truth[m.Method]-1 <= float64(m.SelfHigh) {
				held[m.Method]++
			}
			if m.Method == off && (m.TotalLow != m.SelfLow || m.TotalHigh != m.SelfHigh) {
				t.Fatalf("own time is all of it, but has other bounds: %+v", m)
			}
			if m.Method != off && (m.TotalLow != m.Total || m.TotalHigh != m.Total) {
				t.Fatalf("the time of recorded calls is exact: %+v", m)
			}
		}
	}
	for m := range truth {
		if share := float64(held[m]) / trials; share < 0.93 {
			t.Errorf("the bounds of method %d hold in %.1f %%", m, 100*share)
		}
	}
	t.Log(held)
}

// divided returns the sums of a recorded method with samples of a state, some of which show a method that is off.
func divided(samples int, state trace.ThreadState, shows func(k int) bool) (sums []Sum) {
	const off, length = 10, 1e7
	s := &trace.Segment{End: int64(samples) * length, Calls: []trace.Call{{Method: 1, Parent: -1, Next: 1, Count: 1,
		End: int64(samples) * length}}}
	for k := range samples {
		sample := trace.Sample{Nanos: int64(k) * length, Weight: length, State: state, CPU: -1}
		if shows(k) {
			sample.Below = []trace.Method{off}
		}
		s.Samples = append(s.Samples, sample)
	}
	var tree Tree
	tree.Add(s)
	grafted := Graft(&tree)
	sums = Sums(grafted)
	Bound(sums, Divided{Recorded: &tree, Grafted: grafted})
	return sums
}

// TestBoundsOfRunningThreads: very many samples of a running thread do not make bounds exact, as it is stopped where
// compiled code lets it: a method that is inlined may have 4 % of the time, and be shown in 0.2 % of the samples. What
// a thread waits in is exact.
func TestBoundsOfRunningThreads(t *testing.T) {
	const many = 20_000
	rarely := func(k int) bool { return k%500 == 0 }
	for _, m := range divided(many, trace.ThreadState(2), rarely) {
		whole := int64(many * 1e7)
		if m.Method == 10 && (m.SelfLow > m.Self/10 || m.SelfHigh < whole*35/1000 || m.SelfHigh > whole*6/100) {
			t.Errorf("running: %+v", m)
		}
		if m.Method == 1 && (m.SelfHigh > whole || m.SelfLow > whole*965/1000) {
			t.Errorf("running: no more than its own time by records: %+v", m)
		}
	}
	for _, m := range divided(many, trace.ThreadWaiting, func(k int) bool { return k%2 == 0 }) {
		if m.Method == 10 && m.SelfHigh-m.SelfLow > m.Self/20 {
			t.Errorf("waiting: %+v", m)
		}
	}
}

// TestBoundsOfWhatIsRarelySeen: a method was seen in one of two recorded methods, in the only sample of that. It may
// have been in the other one too.
func TestBoundsOfWhatIsRarelySeen(t *testing.T) {
	var tree Tree
	for k, n := range []int64{1, 99} {
		begin, end := int64(k)*1e9, int64(k)*1e9+n*1e7
		s := &trace.Segment{Begin: begin, End: end, Calls: []trace.Call{{Method: trace.Method(k + 1), Parent: -1, Next: 1,
			Count: 1, Begin: begin, End: end}}}
		for i := range n {
			sample := trace.Sample{Nanos: s.Begin + i*1e7, Weight: 1e7, State: trace.ThreadWaiting, CPU: -1}
			if k == 0 {
				sample.Below = []trace.Method{10}
			}
			s.Samples = append(s.Samples, sample)
		}
		tree.Add(s)
	}
	grafted := Graft(&tree)
	sums := Sums(grafted)
	Bound(sums, Divided{Recorded: &tree, Grafted: grafted})
	if m := sums[2]; m.Method != 10 || m.Self != 1e7 || m.SelfHigh < 3e7 || m.TotalHigh < 3e7 {
		t.Errorf("%+v", m)
	}
	if low, high := Bounds(20, 10, 0); low != 0 || high != 20 {
		t.Errorf("a time is in its own bounds: %d to %d", low, high)
	}
}

// TestBoundsOfManyThreads: what is wrong with samples of running threads is alike in all of them, so it does not become
// less with more threads.
func TestBoundsOfManyThreads(t *testing.T) {
	const threads, samples, length = 100, 200, 1e7
	var trees []Divided
	var one Sum
	for range threads {
		var tree Tree
		s := &trace.Segment{End: samples * length, Calls: []trace.Call{{Method: 1, Parent: -1, Next: 1, Count: 1,
			End: samples * length}}}
		for k := range samples {
			s.Samples = append(s.Samples, trace.Sample{Nanos: int64(k) * length, Weight: length, State: 2, CPU: -1})
			if k%10 == 0 {
				s.Samples[k].Below = []trace.Method{10}
			}
		}
		tree.Add(s)
		trees = append(trees, Divided{Recorded: &tree, Grafted: Graft(&tree)})
		one = Sums(trees[0].Grafted)[1]
	}
	all := []Sum{{Method: 10, Total: threads * one.Total, Self: threads * one.Self}}
	Bound(all, trees...)
	if m := all[0]; m.SelfLow > m.Self*6/10 || m.SelfHigh < m.Self*16/10 || m.SelfHigh > m.Self*2 {
		t.Errorf("%+v", m)
	}
}

// TestBoundsOfWhatWasLetGo: once it is inlined, a method that was let go shares its time with its caller, as far as
// stacks show. Nothing else is mixed with them.
func TestBoundsOfWhatWasLetGo(t *testing.T) {
	const samples, length = 20_000, 1e7
	s := &trace.Segment{End: samples * length, Calls: []trace.Call{{Method: 1, Parent: -1, Next: 1, Count: 1,
		End: samples * length}}}
	for k := range samples {
		below := []trace.Method{8}
		if k%2 == 0 {
			below = []trace.Method{9, 10}[:1+k/2%2]
		}
		s.Samples = append(s.Samples, trace.Sample{Nanos: int64(k) * length, Weight: length, State: 2, CPU: -1, Below: below})
	}
	var tree Tree
	tree.Add(s)
	grafted := Graft(&tree)
	sums := Sums(grafted)
	Bound(sums, Divided{&tree, grafted, map[trace.Method]bool{10: true}})
	for _, m := range sums {
		whole, wide := int64(samples*length), m.SelfHigh-m.SelfLow
		switch m.Method {
		case 8:
			if wide > whole/4 {
				t.Errorf("no callee of it was let go: %+v", m)
			}
		case 9:
			if m.SelfLow > m.Self/20 || m.SelfHigh > whole*40/100 || m.TotalHigh > whole*60/100 {
				t.Errorf("the caller may have none of its own time, and no more: %+v", m)
			}
		case 10:
			if m.SelfHigh < whole*48/100 || m.TotalHigh < whole*48/100 || m.SelfLow < m.Self/2 {
				t.Errorf("the method may have its caller's time: %+v", m)
			}
		}
	}
}
