package export

import (
	"bufio"
	"bytes"
	"cmp"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/tracegen/tracegen/trace"
)

// pageFiles are the parts of the page.
//
//go:embed html
var pageFiles embed.FS

func htmlFormat() Format {
	return Format{
		Name: "html", Extension: ".html",
		Summary: "one page for any browser: stalls, time line, flame chart and flame graph; makes no requests",
		Marks:   "hatched, and in a call's details",
		Memory:  "some 4 bytes a call, deflated, and what is there beside calls",
		start: func(w *bufio.Writer, o Options) exporter {
			return &page{w: w, opts: o, methods: newMethods(), Recordings: []*pageRecording{}, Names: []pageName{}}
		},
	}
}

// page is one file of HTML that shows its recordings in any browser: styles, scripts and data are in it. The calls of a
// thread are one deflated stream of events, which [pageEvents] specifies. What is exported here is what the page's
// script reads as JSON; times in it are nanoseconds since the recording's origin.
type page struct {
	w       *bufio.Writer
	opts    Options
	methods *methods
	now     *pageRecording

	Names      []pageName       `json:"names"`
	Recordings []*pageRecording `json:"recordings"`
	Banner     string           `json:"banner"`
}

// pageName is a method; Unknown if the mapping has no name for it, and the label is its ID.
type pageName struct {
	Label      string `json:"label"`
	Class      string `json:"class,omitempty"`
	Descriptor string `json:"descriptor,omitempty"`
	Source     string `json:"source,omitempty"`
	Unknown    bool   `json:"unknown,omitempty"`
}

// pageRecording is a recording.
type pageRecording struct {
	Name      string        `json:"name"`
	Timed     bool          `json:"timed"` // what came first is known
	End       int64         `json:"end"`
	Threshold int64         `json:"threshold"`
	Clock     string        `json:"clock"` // how exact times are
	Off       int64         `json:"off"`   // by how much times may be wrong
	Threads   []*pageThread `json:"threads"`
	Stalls    []*pageStall  `json:"stalls"`
	Frames    []pageFrame   `json:"frames"`
	Facts     []pageFact    `json:"facts"`

	threads map[*thread]*pageThread
}

// pageThread is a thread with its calls and what is known of its messages.
type pageThread struct {
	Index    uint32        `json:"index"`
	Name     string        `json:"name"`
	Main     bool          `json:"main"`
	Calls    int           `json:"calls"`
	Events   string        `json:"events"` // the id of the element that has them
	Messages []pageMessage `json:"messages"`

	events pageEvents
}

// pageMessage is what a thread did, as its history says.
type pageMessage struct {
	Begin int64  `json:"begin"`
	End   int64  `json:"end"`
	Name  string `json:"name"`
	Kind  string `json:"kind"`
}

// pageStall is a stall.
type pageStall struct {
	Number  int        `json:"number"`
	Thread  uint32     `json:"thread"`
	Begin   int64      `json:"begin"`
	Wall    int64      `json:"wall"`
	What    string     `json:"what"`
	Verdict string     `json:"verdict,omitempty"`
	Facts   []pageFact `json:"facts"`
}

// pageFrame is a frame that was drawn.
type pageFrame struct {
	Begin   int64  `json:"begin"`
	End     int64  `json:"end"`
	Dropped uint64 `json:"dropped"`
}

// pageFact is a fact's key and text.
type pageFact [2]string

func pageFacts(facts []fact) []pageFact {
	all := make([]pageFact, len(facts))
	for i, f := range facts {
		all[i] = pageFact{f.key, f.text()}
	}
	return all
}

func (p *page) begin(r *recording) error {
	threshold, ok := r.About().SlowThreshold()
	if !ok || threshold == 0 {
		threshold = 700 * time.Millisecond
	}
	tick, _ := r.About().Tick()
	p.now = &pageRecording{
		Name: cmp.Or(r.Name, r.process()), Timed: true, Clock: r.Uncertainty(), Threshold: threshold.Nanoseconds(),
		Off:     max(tick, r.About().ClockPeriod()).Nanoseconds(),
		Threads: []*pageThread{}, Stalls: []*pageStall{}, Frames: []pageFrame{}, threads: map[*thread]*pageThread{},
	}
	p.Recordings = append(p.Recordings, p.now)
	if banner := r.Banner(); banner != "" {
		p.Banner = strings.TrimPrefix(p.Banner+"\n"+banner, "\n")
	}
	return nil
}

func (p *page) thread(t *thread) error {
	pt := &pageThread{Index: t.Index, Name: t.Label, Main: t.Main, Messages: []pageMessage{}}
	pt.Events = fmt.Sprintf("events-%d-%d", len(p.Recordings), len(p.now.Threads))
	p.now.threads[t] = pt
	p.now.Threads = append(p.now.Threads, pt)
	return nil
}

func (p *page) segment(t *thread, s *trace.Segment) error {
	r, pt := p.now, p.now.threads[t]
	r.Timed = r.Timed && s.Kind != trace.SegmentReport
	r.End = max(r.End, t.at(s.End))
	s.Walk(func(i int) {
		c := &s.Calls[i]
		pt.Calls++
		pt.events.enter(t.at(c.Begin), p.methods.of(t.of, c.Method, 0), c.Count)
	}, func(i int) {
		c := &s.Calls[i]
		pt.events.leave(t.at(c.End), c.Marks&shown)
	})
	return pt.events.err
}

func (p *page) event(e *event) error {
	r := p.now
	r.End = max(r.End, e.end)
	switch {
	case e.kind == eventFrame:
		f := pageFrame{Begin: e.begin, End: e.end}
		for _, fact := range e.facts {
			if fact.key == "dropped before" {
				f.Dropped, _ = fact.value.(uint64)
			}
		}
		r.Frames = append(r.Frames, f)
	case e.kind == eventMessage:
		m := pageMessage{Begin: e.begin, End: e.end, Name: e.name}
		if e.message != nil && int(e.message.Kind) < len(messageKinds) {
			m.Kind = messageKinds[e.message.Kind]
		}
		pt := r.threads[e.thread]
		pt.Messages = append(pt.Messages, m)
	case e.stall != nil:
		s := &pageStall{Number: e.stall.Number, Thread: e.thread.Index, Begin: e.begin, Wall: e.end - e.begin,
			What: clean(e.stall.Message.String()), Verdict: clean(e.stall.Verdict.Text), Facts: pageFacts(e.facts)}
		r.Stalls = append(r.Stalls, s)
	}
	return nil
}

func (p *page) end(of *recording) error {
	r := p.now
	slices.SortStableFunc(r.Stalls, func(a, b *pageStall) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, f := range p.methods.list[len(p.Names):] {
		n := pageName{Label: f.label, Class: f.Class, Descriptor: f.Descriptor,
			Unknown: f.Class == "" && strings.HasPrefix(f.Method, "#")}
		if n.Source = f.File; f.Line > 0 {
			n.Source += ":" + strconv.Itoa(f.Line)
		}
		p.Names = append(p.Names, n)
	}
	r.Facts = pageFacts(of.facts())
	r.threads = nil
	return nil
}

// close writes the page.
func (p *page) close() error {
	var events strings.Builder
	for _, r := range p.Recordings {
		for _, t := range r.Threads {
			deflated, err := t.events.close()
			if err != nil {
				return err
			}
			fmt.Fprintf(&events, "<script type=\"application/octet-stream\" id=\"%s\">%s</script>\n", t.Events,
				base64.StdEncoding.EncodeToString(deflated))
		}
	}
	// Marshal writes < as \u003c, so that no string in it ends the script element that it stands in.
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	text := map[string]string{"recordings": string(data), "events": events.String(),
		"title": html.EscapeString(cmp.Or(p.opts.Program, "tracegen"))}
	if len(p.Recordings) > 0 {
		text["title"] = html.EscapeString(p.Recordings[0].Name)
	}
	for _, name := range []string{"style.css", "model.js", "chart.js", "page.js"} {
		b, err := fs.ReadFile(pageFiles, "html/"+name)
		if err != nil {
			return err
		}
		text[name] = string(b)
	}
	frame, err := fs.ReadFile(pageFiles, "html/page.html")
	if err != nil {
		return err
	}
	return p.fill(string(frame), text)
}

// fill writes the page with each {{name}} replaced, once: what a recording says is never looked into.
func (p *page) fill(frame string, text map[string]string) error {
	for {
		before, rest, found := strings.Cut(frame, "{{")
		p.w.WriteString(before)
		if !found {
			return p.w.Flush()
		}
		name, after, _ := strings.Cut(rest, "}}")
		p.w.WriteString(text[name])
		frame = after
	}
}

// pageEvents is what a thread entered and left, deflated. An event begins with an unsigned LEB128 number: its two
// lowest bits are the kind, the others the nanoseconds since the event before. Kinds: 0 leaves the innermost call; 1
// enters one, whose method's index follows; 2 leaves, and the marks follow; 3 enters, and the method's index and the
// number of calls that it stands for follow.
type pageEvents struct {
	deflated bytes.Buffer
	w        *flate.Writer
	buf      []byte
	last     int64
	err      error
}

const (
	eventLeave = iota
	eventEnter
	eventLeaveMarked
	eventEnterMany
)

func (e *pageEvents) enter(at int64, method int32, count uint32) {
	if count == 1 {
		e.put(at, eventEnter, uint64(method))
	} else {
		e.put(at, eventEnterMany, uint64(method), uint64(count))
	}
}

func (e *pageEvents) leave(at int64, marks trace.Marks) {
	if marks == 0 {
		e.put(at, eventLeave)
	} else {
		e.put(at, eventLeaveMarked, uint64(marks))
	}
}

// put adds an event. Segments are in the order of time, so that nothing goes back.
func (e *pageEvents) put(at int64, kind uint64, more ...uint64) {
	at = max(at, e.last)
	e.buf = binary.AppendUvarint(e.buf, uint64(at-e.last)<<2|kind)
	for _, n := range more {
		e.buf = binary.AppendUvarint(e.buf, n)
	}
	e.last = at
	if len(e.buf) >= 1<<15 {
		e.flush()
	}
}

func (e *pageEvents) flush() {
	if e.w == nil {
		e.w, e.err = flate.NewWriter(&e.deflated, flate.DefaultCompression)
	}
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// close returns all events, deflated.
func (e *pageEvents) close() ([]byte, error) {
	e.flush()
	if e.err == nil {
		e.err = e.w.Close()
	}
	return e.deflated.Bytes(), e.err
}
