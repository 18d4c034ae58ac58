package export

import (
	"bufio"
	"strconv"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

func speedscopeFormat() Format {
	return Format{
		Name:    "speedscope",
		Summary: "calls in the order of time for speedscope, profiles of each thread, its messages, its stalls",
		start: func(w *bufio.Writer, o Options) exporter {
			return &speedscope{w: w, program: o.Program, methods: newMethods(), texts: map[string]uint64{},
				of: map[*thread]*timelines{}}
		},
	}
}

// speedscope is evented profiles as speedscope's file-format-schema.json has them.
type speedscope struct {
	w        *bufio.Writer
	program  string
	methods  *methods
	texts    map[string]uint64 // what messages are called
	ordered  []string          // the same in the order of their numbers
	of       map[*thread]*timelines
	profiles []*timeline
	facts    []string // an object for each recording
}

// timelines are those of one thread.
type timelines struct{ calls, messages, stalls *timeline }

// timeline is a thread's calls, messages or stalls. A step is four times the number of a frame: bit 0 is set for an
// exit, bit 1 for a message's or a stall's.
type timeline struct {
	name string
	main bool
	steps
}

func (s *speedscope) begin(*recording) error { return nil }

func (s *speedscope) thread(t *thread) error {
	name := clean(t.Label) + " of " + clean(t.of.process())
	of := &timelines{&timeline{name: name, main: t.Main}, &timeline{name: name + ": messages"},
		&timeline{name: name + ": stalls"}}
	s.of[t] = of
	s.profiles = append(s.profiles, of.calls, of.messages, of.stalls)
	return nil
}

func (s *speedscope) segment(t *thread, st *trace.Segment) error {
	s.of[t].calls.calls(t, st, func(i int, left bool) uint64 {
		c := &st.Calls[i]
		marks := c.Marks
		if marks&(trace.MarkSuspended|trace.MarkResumed) != 0 {
			// A call in parts must have one name, and its last part's marks are not known when it begins.
			marks = 0
		}
		step := uint64(s.methods.of(t.of, c.Method, marks)) << 2
		if left {
			step |= 1
		}
		return step
	})
	return nil
}

func (s *speedscope) event(e *event) error {
	var p *timeline
	switch {
	case e.kind == eventMessage:
		p = s.of[e.thread].messages
	case e.stall != nil:
		p = s.of[e.thread].stalls
	default:
		return nil
	}
	k, ok := s.texts[e.name]
	if !ok {
		k = uint64(len(s.ordered))
		s.texts[e.name] = k
		s.ordered = append(s.ordered, e.name)
	}
	p.add(k<<2|2, e.begin)
	p.add(k<<2|3, e.end)
	return nil
}

func (s *speedscope) end(r *recording) error {
	for _, l := range r.lanes(r.Span.Nanoseconds()) {
		p := &timeline{name: l.name + " of " + clean(r.process())}
		step := func(of *laneSlice) uint64 { return uint64(s.methods.slice(r, of)) << 2 }
		l.walk(func(of *laneSlice) { p.add(step(of), of.begin) }, func(of *laneSlice) { p.add(step(of)|1, of.end) })
		s.profiles = append(s.profiles, p)
	}
	s.facts = append(s.facts, object(r.facts()))
	for _, g := range r.grafted() {
		p := &timeline{name: clean(g.thread.Label) + " of " + clean(r.process()) + mergedName}
		step := func(n *evidence.Node) uint64 { return uint64(s.methods.node(r, n)) << 2 }
		g.layOut(func(n *evidence.Node, at int64) { p.add(step(n), at) },
			func(n *evidence.Node, at int64) { p.add(step(n)|1, at) })
		s.profiles = append(s.profiles, p)
	}
	return nil
}

func (s *speedscope) close() error {
	s.w.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":` + quoted(s.program) +
		",\n\"tracegen\":[")
	facts := list{w: s.w}
	for _, f := range s.facts {
		facts.element()
		s.w.WriteString(f)
	}
	s.w.WriteString("],\n\"profiles\":[")
	active, n := -1, 0
	profiles := list{w: s.w}
	for _, p := range s.profiles {
		if len(p.bytes) == 0 {
			continue
		}
		if p.main && active < 0 {
			active = n
		}
		n++
		profiles.element()
		s.profile(p)
	}
	s.w.WriteString("],\n\"activeProfileIndex\":" + strconv.Itoa(max(0, active)) + ",\n\"shared\":{\"frames\":[")
	frames := list{w: s.w}
	for _, f := range s.methods.list {
		frames.element()
		s.w.WriteString(`{"name":` + quoted(f.text()))
		if f.File != "" {
			s.w.WriteString(`,"file":` + quoted(f.File))
		}
		if f.Line > 0 {
			s.w.WriteString(`,"line":` + strconv.Itoa(f.Line))
		}
		s.w.WriteString("}")
	}
	for _, text := range s.ordered {
		frames.element()
		s.w.WriteString(`{"name":` + quoted(text) + "}")
	}
	_, err := s.w.WriteString("]}}\n")
	return err
}

func (s *speedscope) profile(p *timeline) {
	b := []byte(`{"type":"evented","name":` + quoted(p.name) + `,"unit":"nanoseconds","startValue":`)
	b = strconv.AppendInt(b, p.first, 10)
	b = append(b, `,"endValue":`...)
	b = strconv.AppendInt(b, p.last, 10)
	s.w.Write(append(b, `,"events":[`...))
	events := list{w: s.w}
	for step, at := range p.all() {
		events.element()
		frame, kind := int64(step>>2), "O"
		if step&1 != 0 {
			kind = "C"
		}
		if step&2 != 0 {
			frame += int64(len(s.methods.list))
		}
		b = append(append(append(b[:0], `{"type":"`...), kind...), `","at":`...)
		b = strconv.AppendInt(b, at, 10)
		b = append(b, `,"frame":`...)
		b = strconv.AppendInt(b, frame, 10)
		s.w.Write(append(b, '}'))
	}
	s.w.WriteString("]}")
}
