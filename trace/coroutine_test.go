package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// markedProgram makes the records of a thread and the marks that it makes meanwhile: calls nest at random, are resumed
// directly or by another call, have continuations, start lambdas and are suspended. Records and ticks count alike.
type markedProgram struct {
	r       *rand.Rand
	records []Record
	marks   []CoroutineMark
	// truth says for each mark which record is that of its call's begin, and for suspensions of its end.
	truth []int
}

func (p *markedProgram) put(entry bool, m Method) {
	record := exit(m, int64(len(p.records)))
	if entry {
		record |= 1 << 63
	}
	p.records = append(p.records, record)
}

func (p *markedProgram) mark(kind CoroutineKind, m Method, truth int) {
	p.marks = append(p.marks, CoroutineMark{Record: uint64(len(p.records)), Kind: kind, Method: m,
		Hash: uint32(truth + 1)})
	p.truth = append(p.truth, truth)
}

func (p *markedProgram) call(depth int) {
	m := Method(1 + p.r.IntN(4))
	resumed := p.r.IntN(3) == 0
	accessor := resumed && p.r.IntN(3) == 0
	begin := len(p.records)
	if accessor {
		begin++
	}
	if resumed {
		p.mark(CoroutineResumes, m, begin)
	}
	if accessor {
		p.put(true, 9)
	}
	p.put(true, m)
	for range p.r.IntN(4) {
		switch p.r.IntN(5) {
		case 0:
			p.mark(CoroutineContinues, m, begin)
		case 1:
			p.mark(CoroutineStarts, 7, begin)
		default:
			if depth < 6 {
				p.call(depth + 1)
			}
		}
	}
	if p.r.IntN(2) == 0 {
		p.mark(CoroutineSuspends, m, len(p.records))
	}
	p.put(false, m)
	if accessor {
		p.put(false, 9)
	}
}

func newMarkedProgram(seed uint64, calls int) *markedProgram {
	p := &markedProgram{r: rand.New(rand.NewPCG(seed, 35))}
	for range calls {
		if p.r.IntN(9) == 0 {
			p.mark(CoroutineStarts, 7, -1)
		}
		p.call(0)
	}
	return p
}

// replayMarks replays chunks and returns the marks in their segments.
func replayMarks(t *testing.T, most int, chunks []Chunk) *markCollect {
	t.Helper()
	c := &markCollect{collect: collect{balance: balance{t: t}}}
	replayChunks(t, c, most, chunks)
	return c
}

// markCollect notes the marks of all segments, each with its call.
type markCollect struct {
	collect
	marks  []PlacedMark
	calls  []Call
	counts CoroutineCounts
}

func (c *markCollect) Chunk(chunk Chunk) error {
	if all, ok := chunk.(*Completeness); ok {
		c.counts = all.Coroutines
	}
	return nil
}

func (c *markCollect) Segment(s *Segment) error {
	for _, m := range s.Coroutines {
		call := Call{}
		if m.Call >= 0 {
			call = s.Calls[m.Call]
		}
		c.marks, c.calls = append(c.marks, m), append(c.calls, call)
	}
	return c.collect.Segment(s)
}

// TestMarksAreAtTheirCalls replays generated programs, in chunks of any size and in short segments.
//
// Invariant: Without loss each mark of a coroutine is in its place: at the call that it ends, begins, or is within.
func TestMarksAreAtTheirCalls(t *testing.T) {
	placed := 0
	for seed := range uint64(300) {
		p := newMarkedProgram(seed, 30)
		most := []int{3, 20, maxCalls}[seed%3]
		var chunks []Chunk
		size := 1 + p.r.IntN(60)
		for from, made := 0, 0; from < len(p.records); from += size {
			end := min(len(p.records), from+size)
			n := made
			for n < len(p.marks) && p.marks[n].Record < uint64(end) {
				n++
			}
			if n > made {
				chunks = append(chunks, &Coroutines{First: uint64(made), Marks: p.marks[made:n]})
			}
			made = n
			chunks = append(chunks, &Records{First: uint64(from), Marks: uint64(made), List: p.records[from:end]})
		}
		c := replayMarks(t, most, chunks)
		if want := (CoroutineCounts{Placed: uint64(len(p.marks))}); c.counts != want || len(c.marks) != len(p.marks) {
			t.Fatalf("program %d: %d of %d marks are placed, %+v", seed, len(c.marks), len(p.marks), c.counts)
		}
		for i, m := range c.marks {
			checkMark(t, fmt.Sprintf("program %d", seed), p, m, c.calls[i], true)
		}
		placed += len(c.marks)
	}
	t.Logf("measured: %d marks", placed)
}

// checkMark compares a mark with the program. exact is whether nothing is missing.
func checkMark(t *testing.T, what string, p *markedProgram, m PlacedMark, call Call, exact bool) {
	t.Helper()
	if m.Kind == CoroutineLost {
		return
	}
	k := slices.IndexFunc(p.marks, func(o CoroutineMark) bool { return o == m.CoroutineMark })
	if k < 0 {
		t.Fatalf("%s: no mark %+v was made", what, m)
	}
	truth := p.truth[k]
	if at := int64(m.Record); m.Kind == CoroutineStarts && (m.Until < at || exact && m.Until != at) {
		t.Errorf("%s: %+v was made by %d", what, m, at)
	}
	switch {
	case m.Kind == CoroutineSuspends:
		if call.Method != m.Method || call.End != int64(truth) || m.Nanos != call.End {
			t.Errorf("%s: %+v is at %+v", what, m, call)
		}
	case m.Kind == CoroutineStarts && m.Call < 0:
		if exact && truth >= 0 {
			t.Errorf("%s: %+v is in no call, and was made in that of record %d", what, m, truth)
		}
	case call.Marks&(MarkResumed|MarkTruncated) != 0:
		// Its begin is not that of the call.
	case call.Begin != int64(truth) || m.Kind != CoroutineStarts && call.Method != m.Method:
		t.Errorf("%s: %+v is at %+v, and belongs to the call of record %d", what, m, call, truth)
	}
}

// TestLostMarksNeverLie loses records and chunks of marks of generated programs.
//
// Invariant: Whatever is missing, no mark is at another call than its own, and where marks are missing that is said.
func TestLostMarksNeverLie(t *testing.T) {
	var all CoroutineCounts
	doubtful := 0
	for seed := range uint64(600) {
		p := newMarkedProgram(seed, 20)
		what := fmt.Sprintf("program %d", seed)
		parts, _ := losing(p.r, p.records, p.r.IntN(4), 20)
		var chunks []Chunk
		made := 0
		for _, part := range parts {
			records := part.(*Records)
			end := records.First + uint64(len(records.List))
			n := made
			for n < len(p.marks) && p.marks[n].Record < end {
				n++
			}
			if n > made && p.r.IntN(4) > 0 {
				chunks = append(chunks, &Coroutines{First: uint64(made), Marks: p.marks[made:n]})
			}
			made = n
			records.Marks = uint64(made)
			if p.r.IntN(8) > 0 {
				chunks = append(chunks, records)
			}
		}
		c := replayMarks(t, maxCalls, chunks)
		for i, m := range c.marks {
			checkMark(t, what, p, m, c.calls[i], false)
		}
		doubtful += checkLosses(t, what, p, c)
		all.Placed, all.Lost, all.Unfit = all.Placed+c.counts.Placed, all.Lost+c.counts.Lost, all.Unfit+c.counts.Unfit
	}
	if doubtful == 0 || all.Unfit == 0 {
		t.Errorf("nothing was tested: %d, %+v", doubtful, all)
	}
	t.Logf("measured: %+v, and %d suspensions that are not known", all, doubtful)
}

// checkLosses checks that each call without a mark that says so was not suspended, unless marks are missing there.
func checkLosses(t *testing.T, what string, p *markedProgram, c *markCollect) (doubtful int) {
	t.Helper()
	suspended := map[int64]Method{}
	for k, m := range p.marks {
		if m.Kind == CoroutineSuspends {
			suspended[int64(p.truth[k])] = m.Method
		}
	}
	for _, m := range c.marks {
		if m.Kind == CoroutineSuspends {
			delete(suspended, m.Nanos)
		}
	}
	// missing reports whether the last mark before an exit says that marks are missing from there on.
	missing := func(at int64) bool {
		lost := false
		for _, m := range c.marks {
			if int64(m.Record) > at {
				break
			}
			lost = m.Kind == CoroutineLost
		}
		return lost
	}
	for i := range c.segments {
		for _, call := range c.segments[i].Calls {
			if m, ok := suspended[call.End]; !ok || m != call.Method || call.Marks != 0 {
				continue
			}
			if doubtful++; !missing(call.End) {
				t.Errorf("%s: %+v was suspended, and nothing says so", what, call)
			}
		}
	}
	return doubtful
}

// TestMarksThatDoNotFitAreLeftOut has marks whose records are not what they say.
func TestMarksThatDoNotFitAreLeftOut(t *testing.T) {
	records := []Record{entry(9, 0), entry(8, 1), exit(8, 2), entry(1, 3), entry(2, 4), exit(1, 5), exit(9, 6)}
	for _, test := range []struct {
		what   string
		marks  []CoroutineMark
		placed string
	}{
		{"resumed by another call that has begun behind it", []CoroutineMark{{Record: 0, Kind: CoroutineResumes, Method: 1}},
			"3/3"},
		{"a call ends before the resumed one begins", []CoroutineMark{{Record: 1, Kind: CoroutineResumes, Method: 1}}, ""},
		{"two are resumed, and the first does not begin", []CoroutineMark{{Record: 3, Kind: CoroutineResumes, Method: 2},
			{Record: 3, Kind: CoroutineResumes, Method: 1, Hash: 8}}, "3/3"},
		{"the continuation of another call", []CoroutineMark{{Record: 4, Kind: CoroutineContinues, Method: 9}}, ""},
		{"outside of calls", []CoroutineMark{{Record: 0, Kind: CoroutineContinues, Method: 9}}, ""},
		{"the exit of another method", []CoroutineMark{{Record: 2, Kind: CoroutineSuspends, Method: 9}}, ""},
		{"an entry", []CoroutineMark{{Record: 3, Kind: CoroutineSuspends, Method: 1}}, ""},
		{"a call in which another one has no exit", []CoroutineMark{{Record: 5, Kind: CoroutineSuspends, Method: 1}}, "3/5"},
		{"the exit of a call without an entry", []CoroutineMark{{Record: 5, Kind: CoroutineSuspends, Method: 3}}, ""},
		{"a kind that is not known", []CoroutineMark{{Record: 5, Kind: 77, Method: 1}}, ""},
		{"behind all records", []CoroutineMark{{Record: 99, Kind: CoroutineStarts, Method: 1}}, ""},
	} {
		c := replayMarks(t, maxCalls, []Chunk{&Coroutines{Marks: test.marks}, &Records{List: records}})
		placed := ""
		for i, m := range c.marks {
			placed += fmt.Sprintf("%d/%d", c.calls[i].Begin, m.Nanos)
			if len(test.marks) == 2 && m.Hash != 8 {
				t.Errorf("%s: %+v is placed", test.what, m)
			}
		}
		if placed != test.placed || c.counts.Unfit != uint64(len(test.marks)-len(c.marks)) {
			t.Errorf("%s: placed at %q, want %q; %+v", test.what, placed, test.placed, c.counts)
		}
	}
}
