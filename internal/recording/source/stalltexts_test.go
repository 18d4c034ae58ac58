package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/trace"
)

// stallLister lists stalls and the stacks before each.
type stallLister struct {
	threads map[uint32]string
	stacks  strings.Builder
	out     strings.Builder
}

func (l *stallLister) Chunk(c trace.Chunk) error {
	switch c := c.(type) {
	case *trace.Threads:
		for _, t := range c.List {
			l.threads[t.Index] = t.Name
		}
	case *trace.StackSample:
		fmt.Fprintf(&l.stacks, "    %s: %s\n", l.threads[c.Thread], strings.Join(c.Frames, " "))
	case *trace.StallChunk:
		duration := fmt.Sprintf("%d ms", c.Wall/1e6)
		if c.NoWall {
			duration = "duration not known"
		}
		fmt.Fprintf(&l.out, "  stall: %s on %s\n", duration, l.threads[c.Thread])
	}
	return nil
}

func (l *stallLister) Named(trace.Method, string) error { return nil }

func (l *stallLister) Segment(*trace.Segment) error { return nil }

// TestStallTexts reads each text of testdata/stalls.txt, and compares with a table: how long which thread stalled, and
// the stacks.
//
// Invariant: A stack is read alike in lines, in one line, in strings, lists and objects of JSON, and as native frames.
func TestStallTexts(t *testing.T) {
	all, err := txtar.ParseFile("testdata/stalls.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range all.Files {
		fmt.Fprintf(&b, "%s\n", f.Name)
		s, err := New(strings.NewReader(string(f.Data)))
		if err != nil {
			fmt.Fprintf(&b, "  %v\n", err)
			continue
		}
		l := &stallLister{threads: map[uint32]string{}}
		if err := s.Replay(l); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		b.WriteString(l.out.String() + l.stacks.String())
	}
	golden.Compare(t, "testdata/stalls.golden", b.String())
}
