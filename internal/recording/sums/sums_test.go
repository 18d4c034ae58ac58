package sums

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

// sumsOf returns what was summed up.
func sumsOf(t *Sums) []Sum {
	var list []Sum
	t.Take(func(total *Sum) { list = append(list, *total) })
	return list
}

// TestRecursion: calls within calls of the same method count once in the total, as does a call that is handed on in
// parts.
func TestRecursion(t *testing.T) {
	var totals Sums
	add := func(s *trace.Segment) {
		if err := totals.Segment(s); err != nil {
			t.Fatal(err)
		}
	}
	add(&trace.Segment{Calls: []trace.Call{
		{Method: 1, Parent: -1, Next: 4, Count: 1, End: 100},
		{Method: 2, Parent: 0, Next: 4, Count: 1, Begin: 10, End: 90},
		{Method: 1, Parent: 1, Next: 3, Count: 1, Begin: 20, End: 50},
		{Method: 1, Parent: 1, Next: 4, Count: 1, Begin: 50, End: 60, Marks: trace.MarkUnwound},
	}})
	add(&trace.Segment{Begin: 100, Calls: []trace.Call{{Method: 3, Parent: -1, Next: 1, Count: 1, Begin: 100,
		End: 200, Marks: trace.MarkSuspended}}})
	add(&trace.Segment{Begin: 200, Calls: []trace.Call{{Method: 3, Parent: -1, Next: 1, Count: 1, Begin: 200,
		End: 350, Marks: trace.MarkSuspended | trace.MarkResumed}}})
	add(&trace.Segment{Begin: 350, Calls: []trace.Call{{Method: 3, Parent: -1, Next: 1, Count: 1, Begin: 350,
		End: 360, Marks: trace.MarkResumed}}})
	want := []Sum{
		{Method: 1, Calls: 3, Marked: 1, Records: 5, Total: 100, Self: 60, Longest: 100},
		{Method: 2, Calls: 1, Records: 2, Total: 80, Self: 40, Longest: 80},
		{Method: 3, Calls: 1, Records: 2, Total: 260, Self: 260, Longest: 260},
	}
	ignored := cmpopts.IgnoreUnexported(Sum{})
	if diff := cmp.Diff(want, sumsOf(&totals), ignored); diff != "" {
		t.Error(diff)
	}
	if again := sumsOf(&totals); len(again) > 0 {
		t.Errorf("taken twice: %+v", again)
	}
}

// TestAddedThreadWithoutSamples adds a call of a thread without samples to one that samples show waiting, in either
// order: what the other thread did is not known, and is not said to be running.
func TestAddedThreadWithoutSamples(t *testing.T) {
	waited := evidence.Node{Method: 1, Calls: 1, Total: 100, Self: 100,
		Grafted: evidence.Grafted{Samples: 2, Waiting: 90, SelfLow: 100, SelfHigh: 100, CPU: -1}}
	unknown := evidence.Node{Method: 1, Calls: 1, Total: 1000, Self: 1000}
	for _, nodes := range [][]evidence.Node{{waited, unknown, unknown}, {unknown, unknown, waited}} {
		sum := nodes[0]
		AddTo(&sum, &nodes[1])
		AddTo(&sum, &nodes[2])
		got := SumOf(&sum)
		if e := got.Estimate; got.Self != 2100 || e.Known != 100 || e.Running != 10 || e.Waiting != 90 {
			t.Errorf("self %d; known %d, running %d, waiting %d", got.Self, e.Known, e.Running, e.Waiting)
		}
	}
}

// madeSegment makes a segment of calls that nest at random, of few methods.
func madeSegment(rnd *rand.Rand) *trace.Segment {
	s := &trace.Segment{}
	now := int64(0)
	var below func(parent int32, depth int)
	below = func(parent int32, depth int) {
		for range 1 + rnd.IntN(3) {
			now += rnd.Int64N(10)
			k := int32(len(s.Calls))
			s.Calls = append(s.Calls, trace.Call{Method: trace.Method(1 + rnd.IntN(4)), Parent: parent, Count: 1,
				Begin: now})
			if depth > 0 && rnd.IntN(3) > 0 {
				below(k, depth-1)
			}
			now += rnd.Int64N(10)
			s.Calls[k].End, s.Calls[k].Next = now, int32(len(s.Calls))
		}
	}
	below(-1, 6)
	s.End = now
	return s
}

// TestSumsOfTreesAreThoseOfCalls: the sums by method are the same, whether calls are added as they come or merged by
// path before.
func TestSumsOfTreesAreThoseOfCalls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(33, 3))
	for range 200 {
		var calls Sums
		var tree evidence.Tree
		for range 1 + rnd.IntN(5) {
			s := madeSegment(rnd)
			tree.Add(s)
			if err := calls.Segment(s); err != nil {
				t.Fatal(err)
			}
		}
		var want []Sum
		for _, m := range evidence.Sums(&tree) {
			want = append(want, Sum{Method: m.Method, Calls: m.Calls, Total: m.Total, Self: m.Self})
		}
		byMethod := cmpopts.SortSlices(func(a, b Sum) bool { return a.Method < b.Method })
		ignored := cmpopts.IgnoreFields(Sum{}, "Records", "Longest", "active", "used")
		if diff := cmp.Diff(want, sumsOf(&calls), byMethod, ignored); diff != "" {
			t.Fatal(diff)
		}
	}
}
