package export

import (
	"bufio"
	"strconv"

	"github.com/tracegen/tracegen/trace"
)

func chromeFormat() Format {
	return Format{
		Name: "chrome", Extension: ".trace.json",
		Summary: "Trace Event JSON, for Chrome's DevTools and Perfetto; speedscope loses calls of no time in it and has " +
			"its own format",
		Marks: "as args",
		start: func(w *bufio.Writer, o Options) exporter {
			return &chrome{w: w, program: o.Program, methods: newMethods(), list: list{w: w}, lanes: map[lane]int64{}}
		},
	}
}

// chrome is the Trace Event Format, in the order of the recording: its readers sort by time. A call is a begin and an
// end (B, E) and not a complete event (X): if two complete events begin at one time and take no time, the format does
// not show which is within which.
type chrome struct {
	w       *bufio.Writer
	program string
	methods *methods
	names   []string // quoted, per frame
	list    list
	lanes   map[lane]int64
	facts   []string
	line    []byte
}

// lane is what has a row of its own beside the threads: a thread's messages, or frames.
type lane struct {
	of     *recording
	thread *thread
	number int
}

func (c *chrome) begin(r *recording) error {
	if r.number == 1 {
		c.w.WriteString(`{"displayTimeUnit":"ms","traceEvents":[` + "\n")
	}
	c.meta("process_name", r.pid(), 0, fact{"name", r.process()})
	c.meta("process_sort_index", r.pid(), 0, fact{"sort_index", r.number})
	return nil
}

// meta names something.
func (c *chrome) meta(what string, pid, tid int64, f fact) {
	c.list.element()
	c.w.WriteString(`{"ph":"M","ts":0,"name":"` + what + `","pid":` + strconv.FormatInt(pid, 10) +
		`,"tid":` + strconv.FormatInt(tid, 10) + `,"args":` + object([]fact{f}) + "}")
}

func (c *chrome) thread(t *thread) error {
	c.row(t.of, t.tid, t.Label, 2*int64(t.order)+1)
	return nil
}

func (c *chrome) row(r *recording, tid int64, name string, sort int64) {
	c.meta("thread_name", r.pid(), tid, fact{"name", clean(name)})
	c.meta("thread_sort_index", r.pid(), tid, fact{"sort_index", sort})
}

// head begins an event.
func (c *chrome) head(phase byte, name string, at, pid, tid int64) []byte {
	c.list.element()
	b := append(append(append(c.line[:0], `{"ph":"`...), phase), `","name":`...)
	b = append(append(b, name...), `,"ts":`...)
	b = append(micros(b, at), `,"pid":`...)
	b = append(strconv.AppendInt(b, pid, 10), `,"tid":`...)
	return strconv.AppendInt(b, tid, 10)
}

// tail ends an event and writes it.
func (c *chrome) tail(b []byte, facts []fact) error {
	if len(facts) > 0 {
		b = append(append(b, `,"args":`...), object(facts)...)
	}
	b = append(b, '}')
	c.line = b
	_, err := c.w.Write(b)
	return err
}

func (c *chrome) segment(t *thread, s *trace.Segment) error {
	s.Walk(func(i int) {
		call := &s.Calls[i]
		c.call('B', t, call, t.at(call.Begin))
	}, func(i int) {
		call := &s.Calls[i]
		c.call('E', t, call, t.at(call.End))
	})
	_, err := c.w.Write(nil)
	return err
}

// call writes the begin or the end of a call. Readers hold ends to the names and categories of their begins, speedscope
// to their args as well.
func (c *chrome) call(phase byte, t *thread, call *trace.Call, at int64) {
	b := c.head(phase, c.name(t, call.Method), at, t.of.pid(), t.tid)
	c.tail(append(b, `,"cat":"method"`...), callFacts(call))
}

// name is a method's, quoted.
func (c *chrome) name(t *thread, m trace.Method) string {
	k := c.methods.of(t.of, m, 0)
	for len(c.names) < len(c.methods.list) {
		c.names = append(c.names, quoted(c.methods.list[len(c.names)].label))
	}
	return c.names[k]
}

func (c *chrome) event(e *event) error {
	switch e.kind {
	case eventMessage, eventFrame:
		b := c.head('X', quoted(e.name), e.begin, e.of.pid(), c.lane(e))
		b = micros(append(b, `,"cat":"message","dur":`...), e.end-e.begin)
		return c.tail(b, e.facts)
	case eventCounter:
		tid := int64(0)
		if e.thread != nil {
			tid = e.thread.tid
		}
		return c.tail(c.head('C', quoted(e.name), e.begin, e.of.pid(), tid), []fact{{"value", e.value}})
	default:
		b := c.head('i', quoted(e.name), e.begin, e.of.pid(), c.lane(e))
		return c.tail(append(b, `,"s":"t"`...), e.facts)
	}
}

// lane returns the number of the row of a thread's messages, or of frames, which is introduced when it is first used.
func (c *chrome) lane(e *event) int64 {
	key := lane{e.of, e.thread, e.lane}
	tid, ok := c.lanes[key]
	if !ok {
		tid = e.of.nextTID()
		c.lanes[key] = tid
		name, sort := "frames", int64(-1)
		if e.thread != nil {
			name, sort = "messages of "+e.thread.Label, 2*int64(e.thread.order)
		}
		c.row(e.of, tid, name, sort)
	}
	return tid
}

func (c *chrome) end(r *recording) error {
	c.facts = append(c.facts, object(r.facts()))
	return nil
}

func (c *chrome) close() error {
	if c.facts == nil {
		c.w.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	}
	c.w.WriteString("\n],\n\"otherData\":{\"program\":" + quoted(c.program) + ",\"recordings\":[")
	facts := list{w: c.w}
	for _, f := range c.facts {
		facts.element()
		c.w.WriteString(f)
	}
	_, err := c.w.WriteString("]}}\n")
	return err
}
