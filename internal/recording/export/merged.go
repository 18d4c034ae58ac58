package export

import (
	"bufio"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

// merged is what the formats have in common that merge calls: the own time and the number of all calls of a path, of
// all recordings. A path begins with its thread.
type merged struct {
	methods *methods
	paths   *paths
	sums    []pathSum        // per path
	roots   map[string]int32 // by the name of a thread
	threads []string         // of the roots, whose frames are below 0
	at      []int32          // per call of a segment: its path
}

// pathSum is nanoseconds of its own, and calls.
type pathSum struct{ nanos, calls int64 }

func newMerged() merged {
	return merged{methods: newMethods(), paths: newPaths(), roots: map[string]int32{}}
}

func (m *merged) begin(*recording) error { return nil }
func (m *merged) event(*event) error     { return nil }

// end moves the own time of paths to those that samples show instead.
func (m *merged) end(r *recording) error {
	for _, g := range r.grafted() {
		m.graft(r, &g)
	}
	return nil
}

// graft does so for a thread. A recorded path may be there several times, with different marks: time is taken off the
// first of them that has some.
func (m *merged) graft(r *recording, g *grafted) {
	root := m.roots[clean(g.thread.Label)]
	recorded := m.pathsOf(r, root, g.Recorded)
	nodes := g.Tree.Nodes
	from := make([]int32, len(nodes))     // the node of the recorded calls on the path of a node
	below := make([]bool, len(nodes))     // there are estimated calls on the path
	frames := make([][]int32, len(nodes)) // what follows the part of the path that has recorded calls alone
	base := make([]int32, len(nodes))     // that part's node
	for k := 1; k < len(nodes); k++ {
		n := &nodes[k]
		from[k], base[k], below[k] = from[n.Parent], base[n.Parent], below[n.Parent] || n.Grafted.Estimated
		if !n.Grafted.Estimated {
			from[k] = childOf(g.Recorded, from[k], n.Method)
		}
		if !below[k] {
			base[k] = from[k]
			continue
		}
		frames[k] = append(slices.Clip(frames[n.Parent]), m.methods.node(r, n))
		left := n.Self
		for _, p := range recorded[from[k]] {
			take := min(left, m.sums[p].nanos)
			if take <= 0 {
				continue
			}
			to := p
			if base[k] != from[k] {
				to = recorded[base[k]][0]
			}
			for _, f := range frames[k] {
				to = m.below(to, f)
			}
			m.sums[p].nanos -= take
			m.sums[to].nanos = sum(m.sums[to].nanos, take)
			left -= take
		}
	}
}

// childOf returns the node of a method below another node.
func childOf(t *evidence.Tree, node int32, method trace.Method) int32 {
	k := t.Nodes[node].Child
	for k != 0 && t.Nodes[k].Method != method {
		k = t.Nodes[k].Sibling
	}
	return k
}

// pathsOf returns the paths of each node of a tree: those that differ in marks are several.
func (m *merged) pathsOf(r *recording, root int32, t *evidence.Tree) [][]int32 {
	type child struct {
		node  int32
		label string
	}
	children := map[child]int32{}
	for k := 1; k < len(t.Nodes); k++ {
		n := &t.Nodes[k]
		children[child{n.Parent, m.methods.list[m.methods.of(r, n.Method, 0)].label}] = int32(k)
	}
	all := make([][]int32, len(t.Nodes))
	node := make([]int32, len(m.paths.list)) // per path, -1 for none
	for k, p := range m.paths.list {
		node[k] = -1
		switch {
		case int32(k) == root:
			node[k] = 0
		case p.parent >= 0 && node[p.parent] >= 0 && !m.methods.list[p.frame].estimated:
			if of, ok := children[child{node[p.parent], m.methods.list[p.frame].label}]; ok {
				node[k] = of
			}
		}
		if node[k] >= 0 {
			all[node[k]] = append(all[node[k]], int32(k))
		}
	}
	return all
}

// thread makes the thread's name a frame of its own.
func (m *merged) thread(t *thread) error {
	name := clean(t.Label)
	if _, ok := m.roots[name]; !ok {
		m.threads = append(m.threads, name)
		m.roots[name] = m.below(-1, int32(-len(m.threads)))
	}
	return nil
}

// below returns the path of a frame below another path.
func (m *merged) below(parent, frame int32) int32 {
	k := m.paths.below(parent, frame)
	if int(k) == len(m.sums) {
		m.sums = append(m.sums, pathSum{})
	}
	return k
}

func (m *merged) segment(t *thread, s *trace.Segment) error {
	root := m.roots[clean(t.Label)]
	m.at = m.at[:0]
	for i := range s.Calls {
		call := &s.Calls[i]
		parent, took := root, t.took(call)
		if call.Parent >= 0 {
			parent = m.at[call.Parent]
			m.sums[parent].nanos = sum(m.sums[parent].nanos, -took)
		}
		k := m.below(parent, m.methods.of(t.of, call.Method, call.Marks))
		m.at = append(m.at, k)
		m.sums[k].nanos = sum(m.sums[k].nanos, took)
		if call.Marks&trace.MarkResumed == 0 {
			m.sums[k].calls = sum(m.sums[k].calls, int64(call.Count))
		}
	}
	return nil
}

func collapsedFormat() Format {
	return Format{
		Name:    "collapsed",
		Summary: "a line a path with its own nanoseconds, for flamegraph.pl, inferno, speedscope",
		Merges:  true,
		start:   func(w *bufio.Writer, _ Options) exporter { return &collapsed{newMerged(), w} },
	}
}

// collapsed is Brendan Gregg's form: thread;outer;inner and a number. Marks are behind the name, in brackets.
type collapsed struct {
	merged
	w *bufio.Writer
}

// close writes the lines in the order of their text, so that two exports can be compared.
func (c *collapsed) close() error {
	text := make([]string, len(c.paths.list))
	var lines []string
	for k, p := range c.paths.list {
		if p.parent < 0 {
			text[k] = oneFrame(c.threads[-1-p.frame])
			continue
		}
		text[k] = text[p.parent] + ";" + oneFrame(c.methods.list[p.frame].text())
		if c.sums[k].nanos > 0 {
			lines = append(lines, text[k]+" "+strconv.FormatInt(c.sums[k].nanos, 10)+"\n")
		}
	}
	slices.Sort(lines)
	_, err := c.w.WriteString(strings.Join(lines, ""))
	return err
}

// oneFrame keeps a name from being read as two.
func oneFrame(name string) string { return strings.ReplaceAll(name, ";", ":") }

func pprofFormat() Format {
	return Format{
		Name: "pprof", Binary: true,
		Summary: "a profile for go tool pprof: wall time and calls, with the thread as label",
		Merges:  true,
		start: func(w *bufio.Writer, o Options) exporter {
			return &pprof{merged: newMerged(), w: w, program: o.Program}
		},
	}
}

// pprof is profile.proto. A sample is all calls of one path; its labels are the thread, and the marks of these calls.
type pprof struct {
	merged
	w          *bufio.Writer
	program    string
	comments   []string
	wall, span int64 // when it began in nanoseconds since 1970, and how long it is
}

func (p *pprof) begin(r *recording) error {
	if ms, ok := r.WallMillis(); ok && p.wall == 0 && ms < math.MaxInt64/1_000_000 {
		p.wall = max(0, ms) * 1_000_000
	}
	return nil
}

func (p *pprof) segment(t *thread, s *trace.Segment) error {
	p.span = max(p.span, t.at(s.End))
	return p.merged.segment(t, s)
}

func (p *pprof) end(r *recording) error {
	var lines []string
	for _, f := range r.facts() {
		lines = append(lines, f.key+": "+f.text())
	}
	p.comments = append(p.comments, strings.Join(lines, "\n"))
	return p.merged.end(r)
}

func (p *pprof) close() error {
	all := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "wall", Unit: "nanoseconds"}, {Type: "calls", Unit: "count"}},
		DefaultSampleType: "wall", TimeNanos: p.wall, DurationNanos: p.span,
		Comments: append([]string{"made by " + p.program}, p.comments...),
	}
	functions := map[string]*profile.Function{} // a method with marks is the same function
	for k := range p.methods.list {
		m, id := &p.methods.list[k], uint64(k)+1
		fn := functions[m.label]
		if fn == nil {
			system := ""
			if m.Descriptor != "" {
				system = clean(m.Name.String() + m.Descriptor)
			}
			fn = &profile.Function{ID: id, Name: m.label, SystemName: cmp.Or(system, m.label), Filename: m.File,
				StartLine: int64(m.Line)}
			functions[m.label] = fn
			all.Function = append(all.Function, fn)
		}
		all.Location = append(all.Location, &profile.Location{ID: id,
			Line: []profile.Line{{Function: fn, Line: int64(m.Line)}}})
	}
	for k, path := range p.paths.list {
		if path.parent < 0 {
			continue
		}
		s := &profile.Sample{Value: []int64{p.sums[k].nanos, p.sums[k].calls}, Label: map[string][]string{}}
		if marks := marksText(p.methods.list[path.frame].marks); marks != "" {
			s.Label["marks"] = []string{marks}
		}
		if p.methods.list[path.frame].estimated {
			s.Label["time"] = []string{"estimated"}
		}
		for ; path.parent >= 0; path = p.paths.list[path.parent] {
			s.Location = append(s.Location, all.Location[path.frame])
		}
		s.Label["thread"] = []string{p.threads[-1-path.frame]}
		all.Sample = append(all.Sample, s)
	}
	if err := all.CheckValid(); err != nil {
		return err
	}
	return all.Write(p.w)
}
