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

	"github.com/tracegen/tracegen/internal/recording/fold"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// pageFiles are the parts of the page.
//
//go:embed html
var pageFiles embed.FS

func htmlFormat() Format {
	return Format{
		Name:    "html",
		Summary: "one page for any browser: stalls, time line, flame chart and graph, sandwich; makes no requests",
		start: func(w *bufio.Writer, o Options) exporter {
			return &page{w: w, opts: o, methods: newMethods(), folded: map[int32]bool{},
				Recordings: []*pageRecording{}, Notices: []string{}}
		},
	}
}

// page is one file of HTML that shows its recordings in any browser: styles, scripts and data are in it. It makes no
// requests. Its elements are in the order in which a browser needs them, because it shows what it has while it reads
// the rest: the page without data, the head (page as JSON: threads, stalls and what the time line shows), the scripts,
// and then, each deflated, the names of methods ([pageName]), what else there is of each recording ([pageMore]), and
// the calls of each thread ([pageEvents]). Times are nanoseconds since the recording's origin.
type page struct {
	w       *bufio.Writer
	opts    Options
	methods *methods
	folded  map[int32]bool // numbers of methods that stand for several
	now     *pageRecording
	numbers []int64 // of the calls of the segment that is written, among those of its thread

	Recordings []*pageRecording `json:"recordings"`
	Banner     string           `json:"banner"`
	Notices    []string         `json:"notices"`
}

// pageName is a method. Unknown is set if the mapping has no name for it; the label is its ID then. Lost is set if it
// stands for what was not recorded, Folded if it stands for short calls of several methods.
type pageName struct {
	Label      string `json:"label"`
	Class      string `json:"class,omitempty"`
	Descriptor string `json:"descriptor,omitempty"`
	Source     string `json:"source,omitempty"`
	Unknown    bool   `json:"unknown,omitempty"`
	Lost       bool   `json:"lost,omitempty"`
	Folded     bool   `json:"folded,omitempty"`
	Stopped    bool   `json:"stopped,omitempty"` // the process did not run
}

// pageRecording is what the head has of a recording.
type pageRecording struct {
	Name      string        `json:"name"`
	Title     string        `json:"title"` // program, version and date
	Timed     bool          `json:"timed"` // what came first is known
	End       int64         `json:"end"`
	Threshold int64         `json:"threshold"`
	Clock     string        `json:"clock"` // how exact times are
	Off       int64         `json:"off"`   // by how much times may be wrong
	About     []string      `json:"about"`
	More      string        `json:"more"` // the ID of the element of pageMore
	Threads   []*pageThread `json:"threads"`
	Stalls    []*pageStall  `json:"stalls"`

	// Incidents are what detectors found, Detectors says what these did; it is empty if the recording does not say.
	Incidents []pageIncident `json:"incidents,omitempty"`
	Detectors string         `json:"detectors,omitempty"`

	more    pageMore
	stacks  pageStacks
	threads map[*thread]*pageThread
}

// pageMore is what there is of a recording beside its head and its calls.
type pageMore struct {
	Messages [][]pageMessage `json:"messages"` // by thread
	States   []stateTimes    `json:"states"`   // by thread
	Samples  [][]pageSample  `json:"samples"`  // by thread, in the order of time
	Stacks   [][2]int32      `json:"stacks"`   // see pageStacks
	Windows  [][][2]int64    `json:"windows"`  // by thread: when short calls were left out
	Frames   []pageFrame     `json:"frames"`
	Stalls   []*pageEvidence `json:"stalls"` // in the order of the head's
	Facts    [][2]string     `json:"facts"`
	Off      [][2]uint64     `json:"off"` // methods that were switched off, and how many of their calls were left out
}

// pageThread is a thread, with what the time line shows of it.
type pageThread struct {
	Index  uint32   `json:"index"`
	Name   string   `json:"name"`
	Main   bool     `json:"main"`
	Async  bool     `json:"async,omitempty"` // no thread, but asynchronous calls
	Calls  int      `json:"calls"`
	Events string   `json:"events"` // the ID of the element of its calls
	Lane   pageLane `json:"lane"`

	events   pageEvents
	depth    int
	begin    int64 // of the outermost call
	messages []pageMessage
	windows  [][2]int64
	samples  []pageSample
	sampled  stateTimes // as samples say
	stalls   stateTimes // as the stacks and verdicts of stalls say
	// suspended are the numbers of the calls that go on in the next segment, the outermost first.
	suspended []int64
}

// pageMessage is what a thread did, as its history says.
type pageMessage struct {
	Begin int64  `json:"begin"`
	End   int64  `json:"end"`
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	CPU   int64  `json:"cpu"` // -1 if not known
}

// pageFrame is a frame that was drawn.
type pageFrame struct {
	Begin   int64  `json:"begin"`
	End     int64  `json:"end"`
	Dropped uint64 `json:"dropped"`
}

func (p *page) begin(r *recording) error {
	threshold, ok := r.About().SlowThreshold()
	if !ok || threshold == 0 {
		threshold = 700 * time.Millisecond
	}
	tick, _ := r.About().Tick()
	p.now = &pageRecording{
		Name: cmp.Or(r.Name, r.process()), Timed: true, Clock: r.Uncertainty(), Threshold: threshold.Nanoseconds(),
		Off: max(tick, r.About().ClockPeriod()).Nanoseconds(), More: fmt.Sprintf("more-%d", len(p.Recordings)+1),
		Threads: []*pageThread{}, Stalls: []*pageStall{}, threads: map[*thread]*pageThread{},
		more: pageMore{Messages: [][]pageMessage{}, States: []stateTimes{}, Samples: [][]pageSample{},
			Stacks: [][2]int32{}, Windows: [][][2]int64{}, Frames: []pageFrame{},
			Stalls: []*pageEvidence{}, Off: [][2]uint64{}},
	}
	p.Recordings = append(p.Recordings, p.now)
	if banner := r.Banner(); banner != "" {
		p.Banner = strings.TrimPrefix(p.Banner+"\n"+banner, "\n")
	}
	return nil
}

func (p *page) thread(t *thread) error {
	pt := &pageThread{Index: t.Index, Name: t.Label, Main: t.Main, messages: []pageMessage{},
		windows: [][2]int64{}, samples: []pageSample{}, stalls: stateTimes{}}
	pt.Events = fmt.Sprintf("events-%d-%d", len(p.Recordings), len(p.now.Threads))
	p.now.threads[t] = pt
	p.now.Threads = append(p.now.Threads, pt)
	return nil
}

func (p *page) segment(t *thread, s *trace.Segment) error {
	r, pt := p.now, p.now.threads[t]
	r.Timed = r.Timed && s.Kind != trace.SegmentReport
	r.End = max(r.End, t.at(s.End))
	p.numbers = append(p.numbers[:0], make([]int64, len(s.Calls))...)
	numbers := p.numbers
	pt.resume(s, numbers)
	s.Walk(func(i int) {
		c := &s.Calls[i]
		numbers[i] = int64(pt.Calls)
		pt.Calls++
		method := p.methods.of(t.of, c.Method, 0)
		if fold.Folded(c.Method) {
			p.folded[method] = true
		}
		pt.enter(t.at(c.Begin), method, c.Count)
	}, func(i int) {
		c := &s.Calls[i]
		pt.leave(t.at(c.End), c.Marks&shown)
	})
	p.sample(t, pt, s, numbers)
	pt.suspend(s, numbers)
	for _, g := range s.Gaps {
		begin, end := t.at(g.Begin), t.at(g.End)
		switch {
		case g.Kind == trace.GapLost:
			pt.Lane.lose(begin, end)
		case len(pt.windows) == 0 || pt.windows[len(pt.windows)-1][1] < begin:
			pt.windows = append(pt.windows, [2]int64{begin, end})
		default: // a window that has begun in an earlier segment
			last := &pt.windows[len(pt.windows)-1]
			last[1] = max(last[1], end)
		}
	}
	return pt.events.err
}

// resume sets the numbers of the calls that a segment goes on with.
func (pt *pageThread) resume(s *trace.Segment, numbers []int64) {
	resumed := 0
	for i := range s.Calls {
		if s.Calls[i].Marks&trace.MarkResumed != 0 && resumed < len(pt.suspended) {
			numbers[i] = pt.suspended[resumed]
			resumed++
		}
	}
}

// suspend keeps the numbers of the calls that the next segment goes on with.
func (pt *pageThread) suspend(s *trace.Segment, numbers []int64) {
	pt.suspended = pt.suspended[:0]
	for i := range s.Calls {
		if s.Calls[i].Marks&trace.MarkSuspended != 0 {
			pt.suspended = append(pt.suspended, numbers[i])
		}
	}
}

func (pt *pageThread) enter(at int64, method int32, count uint32) {
	if pt.depth == 0 {
		pt.begin = at
	}
	pt.depth++
	pt.events.enter(at, method, count)
}

func (pt *pageThread) leave(at int64, marks trace.Marks) {
	if pt.depth--; pt.depth == 0 {
		pt.Lane.add(pt.begin, at)
	}
	pt.events.leave(at, marks)
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
		r.more.Frames = append(r.more.Frames, f)
	case e.kind == eventMessage:
		m := pageMessage{Begin: e.begin, End: e.end, Name: e.name, CPU: -1}
		if e.message != nil {
			m.CPU = max(m.CPU, e.message.CPU)
			if int(e.message.Kind) < len(messageKinds) {
				m.Kind = messageKinds[e.message.Kind]
			}
		}
		pt := r.threads[e.thread]
		pt.messages = append(pt.messages, m)
	case e.stall != nil:
		r.Stalls = append(r.Stalls, newPageStall(e))
		r.threads[e.thread].stalled(e)
	}
	return nil
}

func (p *page) end(of *recording) error {
	r := p.now
	r.sortStalls()
	p.lanes(of)
	for _, t := range r.Threads {
		r.more.Messages = append(r.more.Messages, t.messages)
		r.more.Windows = append(r.more.Windows, t.windows)
		states := t.sampled
		if len(states) == 0 {
			states = t.stalls
			slices.SortStableFunc(states, func(a, b pageState) int { return cmp.Compare(a.Begin, b.Begin) })
		}
		r.more.States, r.more.Samples = append(r.more.States, states), append(r.more.Samples, t.samples)
	}
	r.more.Stacks = append(r.more.Stacks, r.stacks.list...)
	if c := of.Completeness; c != nil {
		for _, o := range c.Off {
			r.more.Off = append(r.more.Off, [2]uint64{uint64(p.methods.of(of, trace.Method(o.Method.ID), 0)), o.Calls})
		}
	}
	for _, f := range of.facts() {
		r.more.Facts = append(r.more.Facts, [2]string{f.key, f.text()})
	}
	r.Title, r.About = title(of), about(of)
	r.Incidents, r.Detectors = pageIncidents(of.Recording), of.DetectorsText()
	for _, i := range r.Incidents {
		r.End = max(r.End, i.End)
	}
	for _, text := range of.Warnings() {
		if text != of.Banner() {
			p.Notices = append(p.Notices, text)
		}
	}
	r.threads = nil
	return nil
}

// title returns program, version and date of a recording, or its name if it has none of them.
func title(of *recording) string {
	program := of.Process()
	if command := strings.Fields(of.Meta["sun.java.command"]); program == of.Name && len(command) > 0 {
		program = command[0][strings.LastIndexByte(command[0], '/')+1:]
	}
	text := strings.TrimSuffix(clean(program)+" "+of.Version(), " ")
	if millis, ok := of.WallMillis(); ok && millis > 0 {
		text += time.UnixMilli(millis).UTC().Format(", 2006-01-02")
	}
	return text
}

// about returns what the foot of the page says of a recording.
func about(of *recording) []string {
	parts := []string{}
	var whose []string
	for _, key := range []string{"package", "versionName", "process", "device"} {
		if v := of.Meta[key]; v != "" && !slices.Contains(whose, v) {
			whose = append(whose, v)
		}
	}
	if len(whose) > 0 {
		parts = append(parts, strings.Join(whose, " "))
	}
	if u := of.Uncertainty(); u != "" {
		parts = append(parts, "times are "+u)
	}
	for _, f := range of.Facts() {
		switch f.Key {
		case "reports", "samples", "folded":
			parts = append(parts, fmt.Sprint(f.Value))
		case "shown":
			parts = append(parts, "shown: "+fmt.Sprint(f.Value))
		}
	}
	return append(parts, of.Summary())
}

// close writes the page.
func (p *page) close() error {
	var data strings.Builder
	if err := p.writeData(&data); err != nil {
		return err
	}
	// Marshal writes < as \u003c, so that no string in it ends the script element that it stands in.
	head, err := json.Marshal(p)
	if err != nil {
		return err
	}
	text := map[string]string{"head": string(head), "data": data.String(),
		"title": html.EscapeString(cmp.Or(p.opts.Program, "tracegen"))}
	if len(p.Recordings) > 0 {
		text["title"] = html.EscapeString(p.Recordings[0].Title)
	}
	for _, name := range []string{"style.css", "format.js", "model.js", "graft.js", "chart.js", "timeline.js", "panels.js",
		"page.js"} {
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

// writeData writes the elements that are deflated: names, then what is not in the head, then calls.
func (p *page) writeData(w *strings.Builder) error {
	names := make([]pageName, 0, len(p.methods.list))
	for k, f := range p.methods.list {
		n := newPageName(&f)
		n.Folded = p.folded[int32(k)]
		names = append(names, n)
	}
	if err := writeJSON(w, "names", names); err != nil {
		return err
	}
	for _, r := range p.Recordings {
		if err := writeJSON(w, r.More, &r.more); err != nil {
			return err
		}
	}
	for _, r := range p.Recordings {
		for _, t := range r.Threads {
			deflated, err := t.events.close()
			if err != nil {
				return err
			}
			writeElement(w, t.Events, deflated)
		}
	}
	return nil
}

func newPageName(f *method) pageName {
	n := pageName{Label: f.label, Class: classIn(f.label, f.Class, f.Method), Descriptor: f.Descriptor,
		Unknown: f.Class == "" && strings.HasPrefix(f.Method, "#"),
		Lost:    f.Class == "" && f.Method == trace.NameNotRecorded,
		Stopped: f.Class == "" && f.Method == trace.NameSuspended}
	if n.Source = f.File; f.Line > 0 {
		n.Source += ":" + strconv.Itoa(f.Line)
	}
	return n
}

// classIn returns the class with which a label begins, where the page divides it: that of the source, or of the method.
func classIn(label, class, method string) string {
	s, ok := mapping.SourceOf(mapping.Identity{Class: class, Name: method})
	if ok && strings.HasPrefix(label, s.Class+"."+s.Name) {
		return s.Class
	}
	return class
}

// writeElement writes an element that scripts can read and browsers do not run.
func writeElement(w *strings.Builder, id string, deflated []byte) {
	fmt.Fprintf(w, "<script type=\"application/octet-stream\" id=\"%s\">%s</script>\n", id,
		base64.StdEncoding.EncodeToString(deflated))
}

// writeJSON writes an element with a value as JSON, deflated.
func writeJSON(w *strings.Builder, id string, value any) error {
	var b bytes.Buffer
	deflate, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(deflate).Encode(value); err != nil {
		return err
	}
	if err := deflate.Close(); err != nil {
		return err
	}
	writeElement(w, id, b.Bytes())
	return nil
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
