package trace

import (
	"fmt"
	"strings"
	"testing"
)

// TestRepaired has one damage each, and what is made of it: calls as "method@begin-end", within their callers'
// parentheses.
//
// Invariant: Of n calls with k damaged records, n − 2k are replayed exactly, unless calls of one method that
// directly call each other make that undecidable; repairs are counted.
func TestRepaired(t *testing.T) {
	in, out := entry, exit
	const d = MethodDispatch
	// far has 100 calls in one another, and within them what is given.
	far := func(inner ...Record) []Record {
		var records []Record
		for i := range int64(100) {
			records = append(records, in(Method(1000+i), i))
		}
		records = append(records, inner...)
		for i := range int64(100) {
			records = append(records, out(Method(1099-i), 300+i))
		}
		return records
	}
	for _, row := range []struct {
		name    string
		records []Record
		want    string // of far, what is within
		repairs Repairs
	}{
		{"an exception", []Record{in(1, 0), in(2, 1), in(3, 2), in(4, 3), out(1, 6), in(5, 7), out(5, 8)},
			"1@0-6(2@1-6(3@2-6(4@3-6))) 5@7-8", Repairs{Unwound: 3}},
		{"a dispatch without an end", []Record{in(d, 0), in(1, 1), out(1, 2), in(d, 3), in(2, 4), out(2, 5), out(d, 6)},
			"1048574@0-3(1@1-2) 1048574@3-6(2@4-5)", Repairs{Unwound: 1}},
		{"a time far ahead", []Record{in(1, 0), in(2, 1), out(2, 1<<40), in(3, 3), out(3, 4), out(1, 5)},
			"1@0-5(2@1-3 3@3-4)", Repairs{Retimed: 1}},
		{"a time far ahead, twice", []Record{in(1, 0), in(2, 1<<40), out(2, 1<<41), in(3, 3), out(3, 4), out(1, 5)},
			"1@0-5(2@3-3 3@3-4)", Repairs{Retimed: 2}},
		{"a time too early", []Record{in(1, 100), in(2, 101), out(2, 3), in(3, 103), out(3, 104), out(1, 105)},
			"1@100-105(2@101-101 3@103-104)", Repairs{Retimed: 1}},
		{"stray", far(in(7, 101), out(8, 102), out(7, 103), out(8, 104)), "7@101-103", Repairs{Stray: 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := replayed(t, row.records, 3)
			var b strings.Builder
			for i := range c.segments {
				s := &c.segments[i]
				hidden := 0
				if len(s.Calls) > 100 {
					hidden = 100
				}
				s.Walk(func(k int) {
					if k < hidden {
						return
					}
					if text := b.String(); text != "" && !strings.HasSuffix(text, "(") {
						b.WriteByte(' ')
					}
					fmt.Fprintf(&b, "%d@%d-%d", s.Calls[k].Method, s.Calls[k].Begin, s.Calls[k].End)
					if s.Calls[k].Next > int32(k+1) {
						b.WriteByte('(')
					}
				}, func(k int) {
					if k >= hidden && s.Calls[k].Next > int32(k+1) {
						b.WriteByte(')')
					}
				})
			}
			if b.String() != row.want || c.repairs != row.repairs {
				t.Errorf("%s %+v\nwant\n%s %+v", b.String(), c.repairs, row.want, row.repairs)
			}
		})
	}
}

// TestRecordNumbers: gaps far behind what is held, records that come twice, and calls that begin in a gap keep their
// numbers.
func TestRecordNumbers(t *testing.T) {
	var first, second []Record
	for i := range int64(3000) {
		first = append(first, entry(1, 2*i), exit(1, 2*i+1))
		second = append(second, entry(2, 9000+2*i), exit(2, 9001+2*i))
	}
	second = append([]Record{entry(5, 7998), exit(5, 7999), exit(4, 8000), exit(3, 8001)}, second...)
	parts := []Chunk{&Records{List: first}, &Records{First: 100, List: first[100:600]},
		&Records{First: 5000, List: first[5000:]}}
	for from := 0; from < len(second); from += 100 {
		parts = append(parts, &Records{First: uint64(7000 + from), List: second[from:min(len(second), from+100)]})
	}
	c := replayedChunks(t, parts...)
	if want := (Repairs{Gaps: 1, Lost: 1000, Truncated: 2}); c.repairs != want || c.calls != 6004 {
		t.Errorf("%d calls, %+v, want %+v", c.calls, c.repairs, want)
	}
	next := uint64(0)
	for i, s := range c.segments {
		if i == 3000 {
			next = 7000
			if s.Calls[0].Method != MethodNotRecorded || s.EndRecord != next {
				t.Fatalf("segment %d, which stands for the gap, is %+v", i, s)
			}
			continue
		}
		if s.FirstRecord != next || s.EndRecord != next+2 && i != 3001 {
			t.Fatalf("segment %d has the records %d to %d", i, s.FirstRecord, s.EndRecord)
		}
		next = s.EndRecord
	}
}
