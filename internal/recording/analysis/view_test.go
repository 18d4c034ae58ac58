package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/fold"
	"github.com/tracegen/tracegen/trace"
)

// seen is a handler that lists what it gets, with times in milliseconds.
type seen struct {
	lines []string
	of    *Recording
}

func (s *seen) Chunk(c trace.Chunk) error {
	switch c := c.(type) {
	case *trace.Messages:
		for _, m := range c.List {
			s.lines = append(s.lines, fmt.Sprintf("message of %d: %d to %d", c.Thread, m.Begin/1e6,
				(m.Begin+int64(m.Wall))/1e6))
		}
	case *trace.StackSample:
		s.lines = append(s.lines, fmt.Sprintf("sample of %d: %d", c.Thread, c.Nanos/1e6))
	case *trace.Compositions:
		for _, e := range c.List {
			s.lines = append(s.lines, fmt.Sprintf("%s of %d: %d to %d", e.Composable, c.Thread, e.Begin/1e6,
				(e.Begin+e.Nanos)/1e6))
		}
	case *trace.Frames:
		for _, f := range c.List {
			s.lines = append(s.lines, fmt.Sprintf("frame: %d to %d", f.Start/1e6, f.End/1e6))
		}
	}
	return nil
}

func (s *seen) Named(trace.Method, string) error { return nil }

func (s *seen) Segment(g *trace.Segment) error {
	for _, c := range g.Calls {
		name := fmt.Sprint(c.Method)
		if fold.Folded(c.Method) {
			known, _ := s.of.Names.Name(c.Method)
			name = known.String()
		}
		s.lines = append(s.lines, fmt.Sprintf("%s of %d: %d to %d", name, g.Thread, c.Begin/1e6, c.End/1e6))
	}
	return nil
}

// twoThreads is a recording of a main thread with two stalls, and of a worker. Its origin is 0, and its clock 1 s
// later.
const twoThreads = `
header minor=6
meta slowMillis=700 tickNanos=1000000 clockPeriodMillis=10 records=all
clock now=1000 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=worker
composed thread=0 list="a.B=0:-1@2+0/1200+100 a.B=0:-1@10+0/3150+100"
records thread=0 first=0 list="+1@1000 +2@1100 -2@1900 +3@1900 -3@1903 +4@1903 -4@1905 -1@2000"
records thread=0 first=8 list="+1@3000 +2@3100 -2@3200 +2@3300 -2@3950 -1@4000"
records thread=1 first=0 list="+5@1500 +6@1600 -6@1650 -5@3500"
message thread=0 sequence=0 begin=1000 wall=1000 what="a"
message thread=0 sequence=1 begin=2000 wall=900 what="b"
sample time=1700 thread=0 state=RUNNABLE stack="a.b.c(D.java:1)"
sample time=3700 thread=0 state=RUNNABLE stack="a.b.c(D.java:1)"
stall thread=0 sequence=2 begin=3000 wall=1000 first=8 end=14 what="c"
end`

// TestView shows parts of a recording: what an export gets, and which stalls a report has.
//
// Invariant: Each part of a recording that can be selected has the same calls in every format.
func TestView(t *testing.T) {
	all := map[int]*Stall{}
	analyze(t, "all", twoThreads, Options{Stall: func(s *Stall) error {
		all[s.Number] = s
		return nil
	}})
	if len(all) < 2 {
		t.Fatalf("%d stalls", len(all))
	}
	var second *Stall
	for _, s := range all {
		if s.begin == 3000e6 {
			second = s
		}
	}
	for _, c := range []struct {
		name   string
		view   View
		want   string // what an export gets
		stalls string
	}{
		{name: "a stall", view: View{Only: second}, stalls: "3000",
			want: "1 of 0: 3000 to 4000; 2 of 0: 3100 to 3200; 2 of 0: 3300 to 3950; sample of 0: 3700; " +
				"a.B of 0: 3150 to 3250"},
		{name: "folded", view: View{Fold: true},
			want: "1 of 0: 1000 to 2000; 2 of 0: 1100 to 1900; 2 calls of several methods of 0: 1900 to 1905; " +
				"1 of 0: 3000 to 4000; 2 of 0: 3100 to 3200; 2 of 0: 3300 to 3950; message of 0: 1000 to 2000; " +
				"message of 0: 2000 to 2900; sample of 0: 1700; sample of 0: 3700; 5 of 1: 1500 to 3500; 6 of 1: 1600 to 1650; " +
				"a.B of 0: 1200 to 1300; a.B of 0: 3150 to 3250",
			stalls: "1000 1500 3000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &seen{}
			var stalls []string
			o := Options{View: &c.view,
				Also:  func(r *Recording) (trace.Handler, error) { h.of = r; return h, nil },
				Stall: func(s *Stall) error { stalls = append(stalls, fmt.Sprint(s.begin/1e6)); return nil }}
			analyze(t, "a", twoThreads, o)
			got, want := h.lines, strings.Split(c.want, "; ")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			slices.Sort(stalls)
			if s := strings.Join(stalls, " "); s != c.stalls {
				t.Errorf("stalls at %s, want %s", s, c.stalls)
			}
		})
	}
}
