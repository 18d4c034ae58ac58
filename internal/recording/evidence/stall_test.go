package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// joined feeds a joiner with chunks and segments, and says what it found.
func joined(t *testing.T, parts ...any) []string {
	t.Helper()
	var found []string
	j := Joiner{Found: func(s *Stall) error {
		var before []string
		for _, m := range s.Before {
			before = append(before, m.Description)
		}
		found = append(found,
			fmt.Sprintf("message %d of %q %q wall %d reported %t ended %t: %d calls in %d nodes, %d samples, pending %t, "+
				"before %v",
				s.Report.Message, s.Thread.Name, s.Report.Description, s.Report.Wall/1e6, s.Reported, s.Ended, s.calls(),
				max(0, len(s.Tree.Nodes)-1), len(s.Samples), s.Pending != nil, before))
		return nil
	}}
	for _, part := range parts {
		var err error
		if s, ok := part.(*trace.Segment); ok {
			err = j.Segment(s)
		} else {
			err = j.Chunk(part.(trace.Chunk))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Finish(); err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *Stall) calls() (n uint64) {
	for _, node := range s.Tree.Nodes {
		n += node.Calls
	}
	return n
}

// message is a segment of a dispatch with one call in it; times are in milliseconds.
func message(first uint64, begin, end int64, marks trace.Marks) *trace.Segment {
	begin, end = begin*1e6, end*1e6
	return &trace.Segment{FirstRecord: first, EndRecord: first + 4, Begin: begin, End: end, Calls: []trace.Call{
		{Method: trace.MethodDispatch, Parent: -1, Next: 2, Count: 1, Begin: begin, End: end, Marks: marks},
		{Method: 7, Parent: 0, Next: 2, Count: 1, Begin: begin, End: end, Marks: marks},
	}}
}

// TestJoiner holds what is found against the orders in which the parts of a message are written.
//
// Invariant: All evidence about a stall is found, in whatever order it was written, in bounded memory.
func TestJoiner(t *testing.T) {
	meta := func(records string) trace.Chunk {
		return &trace.Meta{Values: map[string]string{"slowMillis": "100", "records": records}}
	}
	main := &trace.Threads{List: []trace.Thread{{Name: "main"}}}
	report := func(number, first uint64, begin int64) *trace.StallChunk {
		return &trace.StallChunk{Message: number, Begin: begin * 1e6, Wall: 200e6, FirstRecord: first, EndRecord: first + 4,
			Description: "slow"}
	}
	past := &trace.Messages{List: []trace.Message{{Description: "past", Begin: 5e6, Wall: 1e6, Count: 1},
		{Sequence: 9, Description: "late", Begin: 900e6, Wall: 200e6, Count: 1}}}
	sample := &trace.StackSample{Nanos: 150e6}
	const whole = `message 3 of "main" "slow" wall 200 reported true ended true: 2 calls in 2 nodes, 1 samples, pending true, before [past]`
	for _, row := range []struct {
		name  string
		parts []any
		want  []string
	}{
		{"calls first", []any{meta("slow"), main, message(4, 100, 300, 0), past, sample, &trace.Pending{Message: 3},
			report(3, 4, 100)}, []string{whole}},
		{"report first", []any{meta("all"), main, past, sample, &trace.Pending{Message: 3}, report(3, 4, 100),
			message(0, 0, 90, 0), message(4, 100, 300, 0), message(8, 400, 410, 0)}, []string{whole}},
		{"others' sample and queue", []any{meta("all"), main, &trace.StackSample{Nanos: 90e6}, &trace.Pending{Message: 2},
			report(3, 4, 100), message(4, 100, 300, 0)},
			[]string{`message 3 of "main" "slow" wall 200 reported true ended true: 2 calls in 2 nodes, 0 samples, pending false, before []`}},
		{"another's sample", []any{meta("all"), main, sample, &trace.StackSample{Thread: 5, Nanos: 160e6},
			&trace.StackSample{Thread: 5, Nanos: 301e6}, report(3, 4, 100), message(4, 100, 300, 0)},
			[]string{`message 3 of "main" "slow" wall 200 reported true ended true: 2 calls in 2 nodes, 1 samples, pending false, before []`}},
		{"in parts", []any{meta("all"), main, message(4, 100, 150, trace.MarkSuspended),
			message(8, 150, 160, trace.MarkResumed|trace.MarkSuspended), report(3, 4, 100),
			message(12, 160, 300, trace.MarkResumed)},
			[]string{`message 3 of "main" "slow" wall 200 reported true ended true: 2 calls in 2 nodes, 0 samples, pending false, before []`}},
		{"parts of a short one", []any{meta("all"), message(4, 100, 150, trace.MarkSuspended),
			message(8, 150, 160, trace.MarkResumed)}, nil},
		{"not reported", []any{meta("all"), main, message(4, 100, 300, 0), report(5, 8, 400), message(8, 400, 600, 0)},
			[]string{`message 0 of "main" "" wall 200 reported false ended true: 2 calls in 2 nodes, 0 samples, pending false, before []`,
				`message 5 of "main" "slow" wall 200 reported true ended true: 2 calls in 2 nodes, 0 samples, pending false, before []`}},
		{"runs when all ends", []any{meta("all"), main, message(4, 900, 1050, trace.MarkOpen), past},
			[]string{`message 9 of "main" "late" wall 150 reported false ended false: 2 calls in 2 nodes, 0 samples, pending false, before [past]`}},
		{"runs when all ends, with its queue", []any{meta("all"), main, &trace.Pending{Message: 9},
			message(4, 900, 1050, trace.MarkOpen)},
			[]string{`message 0 of "main" "" wall 150 reported false ended false: 2 calls in 2 nodes, 0 samples, pending true, before []`}},
		{"runs when all ends, calls lost", []any{meta("all"), main, sample, &trace.StackSample{Nanos: 170e6},
			&trace.Pending{Message: 3}},
			[]string{`message 3 of "main" "" wall 100 reported false ended false: 0 calls in 0 nodes, 2 samples, pending true, before []`}},
		{"calls lost", []any{meta("all"), main, report(3, 4, 100), message(8, 400, 410, 0), report(5, 20, 500)},
			[]string{`message 3 of "main" "slow" wall 200 reported true ended true: 0 calls in 0 nodes, 0 samples, pending false, before []`,
				`message 5 of "main" "slow" wall 200 reported true ended true: 0 calls in 0 nodes, 0 samples, pending false, before []`}},
		{"a report", []any{&trace.Meta{},
			&trace.Segment{Kind: trace.SegmentReport, Calls: []trace.Call{{Parent: -1, Next: 1, Count: 3}}},
			&trace.StallChunk{},
			&trace.Segment{Kind: trace.SegmentReport, Calls: []trace.Call{{Parent: -1, Next: 1, Count: 4}}},
			&trace.StallChunk{Message: 1}},
			[]string{`message 0 of "" "" wall 0 reported true ended true: 3 calls in 1 nodes, 0 samples, pending false, before []`,
				`message 1 of "" "" wall 0 reported true ended true: 4 calls in 1 nodes, 0 samples, pending false, before []`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := joined(t, row.parts...); !slices.Equal(got, row.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// TestJoinerIsBounded passes many messages that are never reported, and many reports whose calls never come.
//
// Invariant: All evidence about a stall is found, in whatever order it was written, in bounded memory.
func TestJoinerIsBounded(t *testing.T) {
	found, most := 0, 0
	j := Joiner{Found: func(*Stall) error { found++; return nil }}
	j.Chunk(&trace.Meta{Values: map[string]string{"slowMillis": "1", "records": "all"}})
	for i := range int64(1000) {
		j.Segment(message(uint64(4*i), 10*i, 10*i+9, 0))
		j.Chunk(&trace.StackSample{Thread: 1})
		j.Chunk(&trace.StallChunk{Thread: 1, FirstRecord: uint64(i), EndRecord: uint64(i) + 1})
		most = max(most, len(j.threads[0].waiting), len(j.threads[1].waiting))
	}
	if err := j.Finish(); err != nil || found != 2000 || most > maxStallsWaiting+1 ||
		len(j.threads[1].samples) > maxSamples {
		t.Errorf("%v: %d found, %d waited", err, found, most)
	}
}

// TestTree holds the order of a tree's nodes, and what trimming leaves.
func TestTree(t *testing.T) {
	var s trace.Segment
	s.Calls = append(s.Calls, trace.Call{Method: 1, Parent: -1, Next: 2001, Count: 1, End: 10000})
	for i := range int64(1000) {
		at := int32(len(s.Calls))
		s.Calls = append(s.Calls, trace.Call{Method: trace.Method(2 + i%500), Next: at + 2, Count: 1, Begin: 10 * i,
			End: 10*i + 1 + i%5},
			trace.Call{Method: 1, Parent: at, Next: at + 2, Count: 1, Begin: 10 * i, End: 10*i + 1})
	}
	var tree Tree
	tree.Add(&s)
	tree.Add(&s)
	check := func(nodes int) {
		t.Helper()
		if len(tree.Nodes) != nodes {
			t.Fatalf("%d nodes, want %d", len(tree.Nodes), nodes)
		}
		seen, last := 0, trace.Method(0)
		for k := tree.Nodes[1].Child; k != 0; k = tree.Nodes[k].Sibling {
			n := tree.Nodes[k]
			if n.Parent != 1 || n.Calls != 4 || n.Method <= last || n.Total != 4*int64(1+(n.Method-2)%5) ||
				n.Self != n.Total-4 || n.Longest != n.Total/4 {
				t.Fatalf("node %d: %+v", k, n)
			}
			seen, last = seen+1, n.Method
		}
		if root := tree.Nodes[0]; root.Child != 1 || root.Total != 20000 || tree.Nodes[1].Self != 20000-2*3000 {
			t.Errorf("%+v, %+v, %d children", root, tree.Nodes[1], seen)
		}
	}
	check(1002)
	tree.Trim(1002)
	check(1002)
	tree.Trim(152)
	check(152)
	tree.Trim(52)
	check(52)
	tree.Nodes[1].Calls = 0
	tree.Add(&s)
	if len(tree.Nodes) != 1002 || tree.Nodes[1].Calls != 1 {
		t.Errorf("after trimming: %d nodes", len(tree.Nodes))
	}
}

// TestDeepTree: 100,000 calls in one another.
func TestDeepTree(t *testing.T) {
	const n = 100_000
	s := trace.Segment{End: 2*n - 1}
	for i := range int64(n) {
		s.Calls = append(s.Calls, trace.Call{Method: trace.Method(1 + i%1000), Parent: int32(i) - 1, Next: n, Count: 1,
			Begin: i, End: 2*n - 1 - i})
	}
	var tree Tree
	tree.Add(&s)
	if len(tree.Nodes) != n+1 || tree.Nodes[1].Total != 2*n-1 || tree.Nodes[n].Self != 1 {
		t.Errorf("%d nodes", len(tree.Nodes))
	}
}

// TestJoinerAfterLostRecords: a device that has lost records takes the next call for an outermost call and reports it.
// Its calls are found in those of its caller, which was not reported, whether they come before the report or after it.
func TestJoinerAfterLostRecords(t *testing.T) {
	const ms = 1_000_000
	outer := &trace.Segment{FirstRecord: 0, EndRecord: 10, End: 900 * ms, Kind: trace.SegmentOutermost}
	outer.Calls = []trace.Call{
		{Method: 1, Parent: -1, Next: 4, Count: 1, End: 900 * ms},
		{Method: 2, Parent: 0, Next: 2, Count: 1, End: 100 * ms},
		{Method: 2, Parent: 0, Next: 4, Count: 1, Begin: 200 * ms, End: 800 * ms},
		{Method: 3, Parent: 2, Next: 4, Count: 1, Begin: 200 * ms, End: 700 * ms},
	}
	meta := &trace.Meta{Values: map[string]string{"slowMillis": "100", "records": "all"}}
	report := &trace.StallChunk{FirstRecord: 4, EndRecord: 8, Begin: 200 * ms, Wall: 600 * ms, Description: "method 2"}
	want := []string{`message 0 of "" "method 2" wall 600 reported true ended true: 3 calls in 2 nodes, 0 samples, pending false, before []`}
	for name, parts := range map[string][]any{"calls first": {meta, outer, report},
		"report first": {meta, report, outer}} {
		if got := joined(t, parts...); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	// Of a segment that is handed on in parts the report stands between them.
	first, rest := *outer, *outer
	first.EndRecord, first.End = 5, 500*ms
	first.Calls = []trace.Call{{Method: 1, Parent: -1, Next: 2, Count: 1, End: 500 * ms, Marks: trace.MarkSuspended},
		{Method: 2, Parent: 0, Next: 2, Count: 1, End: 100 * ms}}
	rest.FirstRecord, rest.Begin = 5, 500*ms
	rest.Calls = []trace.Call{
		{Method: 1, Parent: -1, Next: 3, Count: 1, Begin: 500 * ms, End: 1900 * ms, Marks: trace.MarkResumed},
		{Method: 4, Parent: 0, Next: 3, Count: 1, Begin: 600 * ms, End: 1800 * ms},
		{Method: 5, Parent: 1, Next: 3, Count: 1, Begin: 600 * ms, End: 1800 * ms},
	}
	rest.End = 1900 * ms
	report = &trace.StallChunk{FirstRecord: 6, EndRecord: 10, Begin: 600 * ms, Wall: 1200 * ms, Description: "method 4"}
	want = []string{`message 0 of "" "method 4" wall 1200 reported true ended true: 2 calls in 2 nodes, 0 samples, pending false, before []`}
	if got := joined(t, meta, &first, report, &rest); !slices.Equal(got, want) {
		t.Errorf("in parts:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestJoinerIsPrompt: a message that will not be reported is found as soon as a later message is reported.
func TestJoinerIsPrompt(t *testing.T) {
	found := 0
	j := Joiner{Found: func(*Stall) error { found++; return nil }}
	j.Chunk(&trace.Meta{Values: map[string]string{"slowMillis": "100", "records": "all"}})
	j.Segment(message(4, 100, 300, 0))
	j.Segment(message(8, 400, 600, 0))
	j.Chunk(&trace.StallChunk{FirstRecord: 8, EndRecord: 12, Begin: 400e6, Wall: 200e6})
	if found != 2 {
		t.Errorf("%d found, want 2", found)
	}
}

// TestJoinerSuspended has messages that are long only because the process did not run.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestJoinerSuspended(t *testing.T) {
	meta := &trace.Meta{Values: map[string]string{"slowMillis": "100", "records": "all"}}
	stopped := func(begin, end int64) *trace.Suspended {
		return &trace.Suspended{List: []trace.Suspension{{Begin: begin * 1e6, End: end * 1e6,
			Cause: trace.SuspendedFrozen}}}
	}
	late := func(begin, end int64) trace.LateInterval {
		return trace.LateInterval{Begin: begin * 1e6, End: end * 1e6}
	}
	report := &trace.StallChunk{Message: 3, Begin: 100e6, Wall: 200e6, FirstRecord: 4, EndRecord: 8, Description: "slow"}
	const found = `message 3 of "" "slow" wall 200 reported true ended true: 2 calls in 2 nodes, 0 samples, pending false, before []`
	for _, row := range []struct {
		name  string
		parts []any
		want  []string
	}{
		{"reported", []any{meta, stopped(150, 260), message(4, 100, 300, 0), report}, nil},
		{"reported, with enough beside it", []any{meta, stopped(150, 240), message(4, 100, 300, 0), report},
			[]string{found}},
		{"the report comes first", []any{meta, report, stopped(150, 260), message(4, 100, 300, 0)}, nil},
		{"not reported", []any{meta, stopped(150, 260), message(4, 100, 300, 0)}, nil},
		{"before it and behind it", []any{meta, stopped(0, 90), stopped(310, 900), message(4, 100, 300, 0), report},
			[]string{found}},
		{"never ended", []any{meta, stopped(150, 260), message(4, 100, 300, trace.MarkOpen)}, nil},
		{"never ended, no calls", []any{meta, stopped(150, 260), &trace.StackSample{Nanos: 150e6},
			&trace.StackSample{Nanos: 290e6}, &trace.Pending{Message: 3}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := joined(t, row.parts...); !slices.Equal(got, row.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
	var all []*Stall
	j := Joiner{Found: func(s *Stall) error { all = append(all, s); return nil }}
	for _, c := range []trace.Chunk{meta, stopped(0, 120), stopped(200, 210),
		&trace.Late{List: []trace.LateInterval{late(90, 110), late(301, 400), late(150, 140), late(299, 330)}}} {
		j.Chunk(c)
	}
	j.Segment(message(4, 100, 300, 0))
	if j.Chunk(report); len(all) != 1 {
		t.Fatalf("%d stalls", len(all))
	}
	s := all[0]
	if s.Ran() != 170e6 || s.Tree.Nodes[0].Total != 170e6 ||
		!slices.Equal(s.Late, []trace.LateInterval{late(90, 110), late(299, 330)}) ||
		!slices.Equal(s.Suspended, slices.Concat(stopped(100, 120).List, stopped(200, 210).List)) {
		t.Errorf("%d, tree %d, late %v, suspended %v", s.Ran(), s.Tree.Nodes[0].Total, s.Late, s.Suspended)
	}
}
