package export

import (
	"bufio"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

func collapsedFormat() Format {
	return Format{
		Name: "collapsed", Extension: ".collapsed",
		Summary: "a line a path with its own nanoseconds, for flamegraph.pl, inferno, speedscope",
		Marks:   "behind the name, in brackets",
		Memory:  "one number for each path; recordings are merged",
		Merges:  true,
		start: func(w *bufio.Writer, _ Options) exporter {
			return &collapsed{w: w, methods: newMethods(), paths: newPaths()}
		},
	}
}

// collapsed is Brendan Gregg's form: thread;outer;inner and a number.
type collapsed struct {
	w       *bufio.Writer
	methods *methods
	paths   *paths
	self    []int64 // per path
	roots   map[string]int32
	names   []string // of the roots, which are threads
	at      []int32  // per call of the segment: its path
}

func (c *collapsed) begin(*recording) error { return nil }
func (c *collapsed) event(*event) error     { return nil }
func (c *collapsed) end(*recording) error   { return nil }

// thread makes the thread's name a frame of its own: those below 0 are threads.
func (c *collapsed) thread(t *thread) error {
	if c.roots == nil {
		c.roots = map[string]int32{}
	}
	name := clean(t.Label)
	if _, ok := c.roots[name]; !ok {
		c.names = append(c.names, name)
		c.roots[name] = c.paths.below(-1, int32(-len(c.names)))
	}
	return nil
}

func (c *collapsed) segment(t *thread, s *trace.Segment) error {
	root := c.roots[clean(t.Label)]
	c.at = c.at[:0]
	for i := range s.Calls {
		call := &s.Calls[i]
		parent := root
		if call.Parent >= 0 {
			parent = c.at[call.Parent]
		}
		k := c.paths.below(parent, c.methods.of(t.of, call.Method, call.Marks))
		c.at = append(c.at, k)
		for len(c.self) < len(c.paths.list) {
			c.self = append(c.self, 0)
		}
		took := t.took(call)
		c.self[k] = sum(c.self[k], took)
		if call.Parent >= 0 {
			c.self[parent] = sum(c.self[parent], -took)
		}
	}
	return nil
}

// close writes the lines in the order of their text, so that two exports can be compared.
func (c *collapsed) close() error {
	text := make([]string, len(c.paths.list))
	var lines []string
	for k, p := range c.paths.list {
		if p.parent < 0 {
			text[k] = oneFrame(c.names[-1-p.frame])
			continue
		}
		text[k] = text[p.parent] + ";" + oneFrame(c.methods.list[p.frame].text())
		if c.self[k] > 0 {
			lines = append(lines, text[k]+" "+strconv.FormatInt(c.self[k], 10)+"\n")
		}
	}
	slices.Sort(lines)
	_, err := c.w.WriteString(strings.Join(lines, ""))
	return err
}

// oneFrame keeps a name from being read as two.
func oneFrame(name string) string { return strings.ReplaceAll(name, ";", ":") }
