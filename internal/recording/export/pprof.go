package export

import (
	"bufio"
	"math"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/tracegen/tracegen/trace"
)

func pprofFormat() Format {
	return Format{
		Name: "pprof", Extension: ".pb.gz", Binary: true,
		Summary: "a profile for go tool pprof: wall time and calls, with thread, scene and message as labels",
		Marks:   "as a label",
		Memory:  "some numbers for each path and label; recordings are merged",
		Merges:  true,
		start: func(w *bufio.Writer, o Options) exporter {
			return &pprof{w: w, program: o.Program, methods: newMethods(), paths: newPaths(), label: map[labels]int32{},
				samples: map[labelled]int32{}, messages: map[*thread][]span{}, open: map[*thread][]*group{}}
		},
	}
}

// pprof is profile.proto. A sample is all calls of one path, thread and message.
type pprof struct {
	w        *bufio.Writer
	program  string
	methods  *methods
	paths    *paths
	at       []int32 // per call of a segment: its path
	self     []int64 // likewise: its own time
	slots    []slot  // per path
	groups   uint64
	open     map[*thread][]*group
	messages map[*thread][]span // the latest ones
	labels   []labels
	label    map[labels]int32
	samples  map[labelled]int32
	keys     []labelled // in the order in which they came
	values   []sample

	comments   []string
	wall, span int64 // when it began in nanoseconds since 1970, and how long it is
}

// labels identify samples, beside their path.
type labels struct{ thread, scene, message string }

// marked is all calls of a path that have the same marks.
type marked struct {
	path  int32
	marks trace.Marks
}

// labelled is all of those that have the same labels.
type labelled struct {
	marked
	labels int32
}

// sample is nanoseconds of its own, and calls.
type sample struct{ nanos, calls int64 }

func (s *sample) add(v sample) { s.nanos, s.calls = sum(s.nanos, v.nanos), sum(s.calls, v.calls) }

// group is the calls of one message, before it is known which.
type group struct {
	number      uint64 // counted from 1
	first, end  uint64 // records
	begin, last int64
	keys        []marked // some may come twice
	values      []sample
	part        bool // goes on in the next segment
}

// span is a message that has come.
type span struct {
	begin, end int64
	name       string
}

// has reports whether a group is of the message: records have a coarser clock than messages, so the middle decides.
func (s span) has(g *group) bool {
	middle := g.begin + (g.last-g.begin)/2
	return s.begin <= middle && middle < s.end
}

// slot is where a path without marks stands in the group that had it last.
type slot struct {
	of uint64 // the group's number
	at int32
}

// add adds to a group. Nearly all paths that come have come before, in the same group and without marks.
func (p *pprof) add(g *group, path int32, marks trace.Marks, v sample) {
	for int(path) >= len(p.slots) {
		p.slots = append(p.slots, slot{})
	}
	if s := &p.slots[path]; marks == 0 && s.of == g.number {
		g.values[s.at].add(v)
		return
	}
	g.keys, g.values = append(g.keys, marked{path, marks}), append(g.values, v)
	if marks == 0 {
		p.slots[path] = slot{g.number, int32(len(g.keys) - 1)}
	}
}

// maxGroups is how many segments of a thread wait for what they are called, and how many messages for their segments:
// either may come first. A history has 200 messages.
const maxGroups = 256

func (p *pprof) begin(r *recording) error {
	if ms, ok := r.WallMillis(); ok && p.wall == 0 && ms < math.MaxInt64/1_000_000 {
		p.wall = max(0, ms) * 1_000_000
	}
	return nil
}

func (p *pprof) thread(*thread) error { return nil }

func (p *pprof) segment(t *thread, s *trace.Segment) error {
	if len(s.Calls) == 0 {
		return nil
	}
	g := p.group(t, s)
	g.end, g.last = s.EndRecord, t.at(s.End)
	g.part = s.Calls[0].Marks&trace.MarkSuspended != 0
	p.span = max(p.span, g.last)
	p.at, p.self = p.at[:0], p.self[:0]
	for i := range s.Calls {
		c := &s.Calls[i]
		parent, took := int32(-1), t.took(c)
		if c.Parent >= 0 {
			parent = p.at[c.Parent]
			p.self[c.Parent] = sum(p.self[c.Parent], -took)
		}
		p.at = append(p.at, p.paths.below(parent, p.methods.of(t.of, c.Method, 0)))
		p.self = append(p.self, took)
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		v := sample{nanos: p.self[i]}
		if c.Marks&trace.MarkResumed == 0 {
			v.calls = int64(c.Count)
		}
		p.add(g, p.at[i], c.Marks&shown, v)
	}
	for _, m := range p.messages[t] {
		if !g.part && m.has(g) {
			p.finish(t, g, labels{message: m.name})
			p.open[t] = p.open[t][:len(p.open[t])-1]
			break
		}
	}
	return nil
}

// group returns the one that a segment belongs to: a new one unless it goes on with what was suspended.
func (p *pprof) group(t *thread, s *trace.Segment) *group {
	open := p.open[t]
	if n := len(open); n > 0 && open[n-1].part && s.Calls[0].Marks&trace.MarkResumed != 0 {
		return open[n-1]
	}
	if len(open) == maxGroups {
		p.finish(t, open[0], labels{})
		open = open[:copy(open, open[1:])]
	}
	p.groups++
	g := &group{number: p.groups, first: s.FirstRecord, begin: t.at(s.Begin)}
	p.open[t] = append(open, g)
	return g
}

// finish adds the samples of a group, which waited for their labels, to those of the profile.
func (p *pprof) finish(t *thread, g *group, l labels) {
	l.thread = clean(t.Label)
	k, ok := p.label[l]
	if !ok {
		k = int32(len(p.labels))
		p.label[l] = k
		p.labels = append(p.labels, l)
	}
	for i, m := range g.keys {
		at, ok := p.samples[labelled{m, k}]
		if !ok {
			at = int32(len(p.keys))
			p.samples[labelled{m, k}] = at
			p.keys, p.values = append(p.keys, labelled{m, k}), append(p.values, sample{})
		}
		p.values[at].add(g.values[i])
	}
}

// event names segments: a stall is found by its records, other messages by their time.
func (p *pprof) event(e *event) error {
	var l labels
	var is func(*group) bool
	switch {
	case e.stall != nil && e.stall.Reported:
		s := e.stall
		l = labels{scene: s.Scene, message: s.Message.String()}
		is = func(g *group) bool { return g.first < s.EndRecord && s.FirstRecord < g.end }
	case e.kind == eventMessage && e.flow == 0 && e.message.Kind != trace.MessageIdle:
		m := span{e.begin, e.end, e.name}
		latest := p.messages[e.thread]
		p.messages[e.thread] = append(latest[max(0, len(latest)-maxGroups+1):], m)
		l.message, is = e.name, m.has
	default:
		return nil
	}
	open := p.open[e.thread]
	left := open[:0]
	for _, g := range open {
		if is(g) && !g.part {
			p.finish(e.thread, g, l)
		} else {
			left = append(left, g)
		}
	}
	clear(open[len(left):])
	p.open[e.thread] = left
	return nil
}

func (p *pprof) end(r *recording) error {
	for _, t := range r.ordered() {
		for _, g := range p.open[t] {
			p.finish(t, g, labels{})
		}
		delete(p.open, t)
		delete(p.messages, t)
	}
	var b strings.Builder
	for _, f := range r.facts() {
		b.WriteString(f.key + ": " + f.text() + "\n")
	}
	p.comments = append(p.comments, strings.TrimSuffix(b.String(), "\n"))
	return nil
}

func (p *pprof) close() error {
	all := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "wall", Unit: "nanoseconds"}, {Type: "calls", Unit: "count"}},
		DefaultSampleType: "wall", TimeNanos: p.wall, DurationNanos: p.span,
		Comments: append([]string{"made by " + p.program}, p.comments...),
	}
	for k := range p.methods.list {
		f, id := &p.methods.list[k], uint64(k)+1
		system := f.label
		if f.Descriptor != "" {
			system = clean(f.Name.String() + f.Descriptor)
		}
		fn := &profile.Function{ID: id, Name: f.label, SystemName: system, Filename: f.File, StartLine: int64(f.Line)}
		all.Function = append(all.Function, fn)
		all.Location = append(all.Location, &profile.Location{ID: id,
			Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}})
	}
	for i, k := range p.keys {
		s := &profile.Sample{Value: []int64{p.values[i].nanos, p.values[i].calls}, Label: map[string][]string{}}
		for at := k.path; at >= 0; at = p.paths.list[at].parent {
			s.Location = append(s.Location, all.Location[p.paths.list[at].frame])
		}
		l := p.labels[k.labels]
		for _, label := range [...]struct{ key, value string }{
			{"thread", l.thread}, {"scene", l.scene}, {"message", l.message}, {"marks", marksText(k.marks)},
		} {
			if label.value != "" {
				s.Label[label.key] = []string{clean(label.value)}
			}
		}
		all.Sample = append(all.Sample, s)
	}
	if err := all.CheckValid(); err != nil {
		return err
	}
	return all.Write(p.w)
}
