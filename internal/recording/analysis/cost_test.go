package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/trace"
)

// TestCost says what is known of the cost of a recording, and no number that is not.
func TestCost(t *testing.T) {
	const s = int64(time.Second)
	counts := func(ran, own, records uint64) *trace.Completeness {
		return &trace.Completeness{Recorded: records, Samples: trace.SampleCounts{Ran: ran, OwnRan: own}}
	}
	seen := counts(40, 10, 1<<40)
	for _, test := range []struct {
		name   string
		chunk  *trace.Cost
		counts *trace.Completeness
		want   *Cost
		text   string
	}{
		{"none", nil, seen, nil, "not known"},
		{"no CPU time", &trace.Cost{Process: -1, Recorder: s}, seen, nil, "not known"},
		{"nothing of the recorder", &trace.Cost{Process: 10 * s, Recorder: -1}, seen, nil, "not known"},
		{"more than all", &trace.Cost{Process: 10 * s, Recorder: 9 * s, Agent: s}, seen, nil, "not known"},
		{"known", &trace.Cost{Process: 10 * s, Recorder: s, Agent: s}, seen,
			&Cost{10 * time.Second, 2 * time.Second, 6 * time.Second},
			"about 1.7 times the CPU time of the plain program, at least 1.2"},
		{"few stacks", &trace.Cost{Process: 10 * s, Recorder: s, Agent: s}, counts(19, 10, 1<<40),
			&Cost{10 * time.Second, 2 * time.Second, 0}, "at least 1.2 times the CPU time of the plain program"},
		{"all in tracegen", &trace.Cost{Process: 10 * s, Recorder: s, Agent: s},
			counts(40, 40, 1<<40), &Cost{10 * time.Second, 2 * time.Second, 0},
			"at least 1.2 times the CPU time of the plain program"},
		{"few calls", &trace.Cost{Process: 10 * s, Recorder: s, Agent: s}, counts(40, 40, 5_000_000),
			&Cost{10 * time.Second, 2 * time.Second, 7 * time.Second},
			"about 1.4 times the CPU time of the plain program, at least 1.2"},
		{"short", &trace.Cost{Process: s, Recorder: s / 2, Agent: 0}, seen, &Cost{time.Second, time.Second / 2, 0},
			"at least 2.0 times the CPU time of the plain program"},
	} {
		got := newCost(test.chunk, test.counts)
		if d := cmp.Diff(test.want, got); d != "" || got.String() != test.text {
			t.Errorf("%s: %s, %s", test.name, got, d)
		}
	}
}

// TestSumCosts adds up what several processes cost.
func TestSumCosts(t *testing.T) {
	a, short := &Cost{CPU: 10, Own: 1, Plain: 6}, &Cost{CPU: 3, Own: 1}
	for _, test := range []struct {
		list []*Cost
		want *Cost
	}{
		{nil, nil},
		{[]*Cost{a, nil}, nil},
		{[]*Cost{a, a}, &Cost{CPU: 20, Own: 2, Plain: 12}},
		{[]*Cost{a, short}, &Cost{CPU: 13, Own: 2}},
	} {
		if d := cmp.Diff(test.want, SumCosts(test.list)); d != "" {
			t.Error(d)
		}
	}
}
