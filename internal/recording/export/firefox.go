package export

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/composition"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

func firefoxFormat() Format {
	return Format{
		Name: "firefox",
		Summary: "a processed profile for profiler.firefox.com: calls weighted with their time, messages, stalls and " +
			"frames as markers",
		start: func(w *bufio.Writer, o Options) exporter {
			return &firefox{w: w, program: o.Program, methods: newMethods(), of: map[*thread]*foxThread{}}
		},
	}
}

// foxVersion is the version of processed profiles that is written; newer profilers bring it up to theirs.
const foxVersion = 48

// firefox is a processed profile of the Firefox Profiler. A sample stands wherever the stack changes, and weighs the
// time until it changes again.
type firefox struct {
	w          *bufio.Writer
	program    string
	methods    *methods
	of         map[*thread]*foxThread
	threads    []*foxThread
	noThread   *foxThread // of the recording: has what belongs to no thread
	schemas    [6]schema  // by kind of event
	repaired   []string   // subcategories
	estimated  bool       // a thread has estimated calls
	recordings []string
	start      int64 // milliseconds since 1970
	tick       int64 // nanoseconds
}

// foxThread is a thread of a profile. A step is twice the number of a path plus one, 0 for none, and its lowest bit is
// set if it came about by an entry.
type foxThread struct {
	name, process string
	pid, tid      int64
	main          bool
	paths         *paths
	at            []int32
	steps
	markers []marker
	strings map[string]int
	texts   []string
}

// marker is an event; data is its JSON.
type marker struct {
	kind       eventKind
	name       int
	begin, end int64
	data       string
}

func (m *marker) instant() bool { return m.kind == eventSample }

// schema is what markers of a kind may have to say.
type schema struct {
	keys   []string
	values []any
}

// The categories.
const (
	foxOther = iota
	foxMethod
	foxRepaired
	foxEvent
	foxEstimated
)

func newFoxThread(r *recording, name string, tid int64, main bool) *foxThread {
	return &foxThread{name: clean(name), process: clean(r.process()), pid: r.pid(), tid: tid, main: main,
		paths: newPaths(), strings: map[string]int{}}
}

func (t *foxThread) text(s string) int {
	k, ok := t.strings[s]
	if !ok {
		k = len(t.texts)
		t.strings[s] = k
		t.texts = append(t.texts, s)
	}
	return k
}

func (f *firefox) begin(r *recording) error {
	if wall, ok := r.WallMillis(); ok && f.start == 0 {
		f.start = wall
	}
	if tick, ok := r.About().Tick(); ok && f.tick == 0 {
		f.tick = tick.Nanoseconds()
	}
	f.noThread = nil
	return nil
}

func (f *firefox) thread(t *thread) error {
	f.of[t] = newFoxThread(t.of, t.Label, t.tid, t.Main)
	f.threads = append(f.threads, f.of[t])
	return nil
}

func (f *firefox) segment(t *thread, s *trace.Segment) error {
	to := f.of[t]
	to.at = to.at[:0]
	for i := range s.Calls {
		c := &s.Calls[i]
		parent := int32(-1)
		if c.Parent >= 0 {
			parent = to.at[c.Parent]
		}
		to.at = append(to.at, to.paths.below(parent, f.methods.of(t.of, c.Method, c.Marks)))
	}
	to.calls(t, s, func(i int, left bool) uint64 {
		if !left {
			return uint64(to.at[i]+1)<<1 | 1
		}
		if up := s.Calls[i].Parent; up >= 0 {
			return uint64(to.at[up]+1) << 1
		}
		return 0
	})
	return nil
}

func (f *firefox) event(e *event) error {
	to := f.of[e.thread]
	if e.thread == nil {
		if f.noThread == nil {
			f.noThread = newFoxThread(e.of, "frames", e.of.nextTID(), false)
			f.threads = append(f.threads, f.noThread)
		}
		to = f.noThread
	}
	f.schemas[e.kind].note(e.facts)
	data := object(append([]fact{{"type", foxTypes[e.kind]}}, e.facts...))
	to.markers = append(to.markers, marker{e.kind, to.text(e.name), e.begin, e.end, data})
	return nil
}

// foxTypes are the markers' types, by kind of event.
var foxTypes = [...]string{"Message", "Frame", "Stall", "Stack", "Coroutine", "Composable"}

// foxFlow is a text of a thread. Markers with the same one are of one flow.
type foxFlow int

// coroutines makes markers of the pieces of asynchronous calls. Those of one call have a flow.
func (f *firefox) coroutines(r *recording) {
	if r.Coroutines == nil {
		return
	}
	calls := r.Coroutines.Calls
	for i := range calls[:min(len(calls), maxLaneCalls)] {
		c := &calls[i]
		if c.Glue && c.TailCall {
			continue
		}
		facts := (&laneSlice{call: c}).facts(r)
		for k := range c.Pieces {
			p := &c.Pieces[k]
			to := f.of[r.threads[p.Thread]]
			if to == nil {
				continue // its calls are not in the view
			}
			facts := append([]fact{{"flow", foxFlow(to.text(fmt.Sprintf("recording %d, call %d", r.number, i+1)))}}, facts...)
			f.schemas[eventPiece].note(facts)
			to.markers = append(to.markers, marker{eventPiece, to.text(clean(r.Names.Label(c.Method))), r.since(p.Begin),
				r.since(p.End), object(append([]fact{{"type", foxTypes[eventPiece]}}, facts...))})
		}
	}
	r.leftOut = max(0, len(calls)-maxLaneCalls)
}

// composables makes markers of the executions of composables.
func (f *firefox) composables(r *recording) {
	for _, l := range r.composables() {
		to := f.of[r.threads[l.thread]]
		if to == nil {
			continue // its calls are not in the view
		}
		for _, s := range l.slices {
			c := composition.Of(s.executed.Composable)
			facts := append([]fact{{"source", clean(s.executed.Composable)}}, executionFacts(s.executed)...)
			f.schemas[eventComposable].note(facts)
			to.markers = append(to.markers, marker{eventComposable, to.text(clean(c.String())), s.begin, s.end,
				object(append([]fact{{"type", foxTypes[eventComposable]}}, facts...))})
		}
	}
}

// note adds what it does not have to the schema.
func (s *schema) note(facts []fact) {
	for _, f := range facts {
		if !slices.Contains(s.keys, f.key) {
			s.keys, s.values = append(s.keys, f.key), append(s.values, f.value)
		}
	}
}

// grafted makes a thread of the merged calls of another, with those that only samples show.
func (f *firefox) grafted(r *recording, g *grafted) {
	to := newFoxThread(r, g.thread.Label+mergedName, r.nextTID(), false)
	f.threads, f.estimated = append(f.threads, to), true
	open := []int32{-1}
	g.layOut(func(n *evidence.Node, at int64) {
		k := to.paths.below(open[len(open)-1], f.methods.node(r, n))
		open = append(open, k)
		to.add(uint64(k+1)<<1|1, at)
	}, func(_ *evidence.Node, at int64) {
		open = open[:len(open)-1]
		to.add(uint64(open[len(open)-1]+1)<<1, at)
	})
}

func (f *firefox) end(r *recording) error {
	f.coroutines(r)
	f.composables(r)
	for _, g := range r.grafted() {
		f.grafted(r, &g)
	}
	var entries []string
	for _, fact := range r.facts() {
		entries = append(entries, `{"label":`+quoted(fact.key)+`,"format":"string","value":`+quoted(fact.text())+"}")
	}
	f.recordings = append(f.recordings, `{"label":`+quoted(clean(r.process()))+`,"entries":[`+strings.Join(entries,
		",")+"]}")
	return nil
}

func (f *firefox) close() error {
	f.w.WriteString(`{"libs":[],"pages":[],"counters":[],"profilerOverhead":[],"threads":[`)
	l := list{w: f.w}
	for _, t := range f.threads {
		l.element()
		f.writeThread(t)
	}
	f.w.WriteString("],\n")
	f.writeMeta()
	_, err := f.w.WriteString("}\n")
	return err
}

// writeMeta comes last: which marks there are is known once all frames have been written.
func (f *firefox) writeMeta() {
	interval := decimal(nil, max(f.tick, 1000))
	repaired := []string{`"Other"`}
	for _, m := range f.repaired {
		repaired = append(repaired, quoted(m))
	}
	estimated := ""
	if f.estimated {
		estimated = `,{"name":"Estimated","color":"lightblue","subcategories":["Other"]}`
	}
	f.w.WriteString(`"meta":{"interval":` + string(interval) + `,"startTime":` +
		strconv.FormatInt(max(0, f.start), 10) +
		`,"processType":0,"product":` + quoted(f.program) + `,"importedFrom":` + quoted(f.program) +
		`,"stackwalk":0,"symbolicated":true,"version":29,"preprocessedProfileVersion":` + strconv.Itoa(foxVersion) +
		`,"categories":[{"name":"Other","color":"grey","subcategories":["Other"]},` +
		`{"name":"Method","color":"blue","subcategories":["Other"]},` +
		`{"name":"Repaired","color":"red","subcategories":[` + strings.Join(repaired, ",") + `]},` +
		`{"name":"Event","color":"yellow","subcategories":["Other"]}` + estimated + `]` +
		`,"extra":[` + strings.Join(f.recordings, ",\n") + `],"markerSchema":[`)
	l := list{w: f.w}
	for kind := range f.schemas {
		if s := &f.schemas[kind]; len(s.keys) > 0 {
			l.element()
			f.w.WriteString(`{"name":` + quoted(foxTypes[kind]) +
				`,"tooltipLabel":"{marker.name}","tableLabel":"{marker.name}",` +
				`"display":["marker-chart","marker-table","timeline-overview"],"data":[` + s.fields() + "]}")
		}
	}
	f.w.WriteString("]}")
}

func (s *schema) fields() string {
	all := make([]string, len(s.keys))
	for k, key := range s.keys {
		format := "string"
		switch s.values[k].(type) {
		case int64, uint64:
			format = "integer"
		case float64:
			format = "duration" // in milliseconds, as all of ours are
		case foxFlow:
			format = "flow-id"
		}
		all[k] = `{"key":` + quoted(key) + `,"label":` + quoted(key) + `,"format":"` + format + `","searchable":true}`
	}
	return strings.Join(all, ",")
}

// column writes an array with one element for each index below n.
func (f *firefox) column(name string, n int, element func(b []byte, i int) []byte) {
	f.w.WriteString(quoted(name) + ":[")
	var b []byte
	for i := range n {
		if b = b[:0]; i > 0 {
			b = append(b, ',')
		}
		f.w.Write(element(b, i))
	}
	f.w.WriteString("],")
}

// constant writes an array of equal elements.
func (f *firefox) constant(n int, value string, names ...string) {
	for _, name := range names {
		f.column(name, n, func(b []byte, _ int) []byte { return append(b, value...) })
	}
}

func (f *firefox) length(n int) { f.w.WriteString(`"length":` + strconv.Itoa(n) + "}") }

func (f *firefox) writeThread(t *foxThread) {
	f.w.WriteString(`{"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null` +
		`,"pausedRanges":[],"showMarkersInTimeline":true,"name":` + quoted(t.name) + `,"isMainThread":` +
		strconv.FormatBool(t.main) +
		`,"processName":` + quoted(t.process) + `,"pid":"` + strconv.FormatInt(t.pid, 10) + `","tid":` +
		strconv.FormatInt(t.tid, 10) + ",\n")
	f.writeSamples(t)
	f.writeMarkers(t)
	f.writeTables(t)
	f.w.WriteString(`"nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},` +
		`"resourceTable":{"lib":[],"name":[],"host":[],"type":[],"length":0},"stringArray":[`)
	for k, text := range t.texts {
		if k > 0 {
			f.w.WriteString(",")
		}
		f.w.WriteString(quoted(text))
	}
	f.w.WriteString("]}")
}

// weighed returns the samples: a path or -1, its time and how long it lasted. Steps that took no time are left out, but
// for calls that took none and called nothing. Samples of no path stand where the first marker begins and the last one
// ends: the profiler shows what is between samples, and nothing else.
func (t *foxThread) weighed(yield func(path, at, took int64)) {
	last, lastAt, some := uint64(0), int64(0), false
	first, end := int64(math.MaxInt64), int64(0)
	for _, m := range t.markers {
		first, end = min(first, m.begin), max(end, m.end)
	}
	if len(t.markers) > 0 && (len(t.bytes) == 0 || first < t.first) {
		last, lastAt, some = 0, first, true
	}
	give := func(until int64, left bool) {
		if some && (until > lastAt || last&1 != 0 && left) {
			path := int64(last>>1) - 1
			took := until - lastAt
			if path < 0 {
				took = 0
			}
			yield(path, lastAt, took)
		}
	}
	for step, at := range t.all() {
		give(at, step&1 == 0)
		last, lastAt, some = step, at, true
	}
	if some {
		yield(-1, lastAt, 0)
	}
	if end > lastAt {
		yield(-1, end, 0)
	}
}

func (f *firefox) writeSamples(t *foxThread) {
	f.w.WriteString(`"samples":{"weightType":"tracing-ms",`)
	each := func(name string, element func(b []byte, path, at, took int64) []byte) int {
		f.w.WriteString(quoted(name) + ":[")
		var b []byte
		n := 0
		t.weighed(func(path, at, took int64) {
			if b = b[:0]; n > 0 {
				b = append(b, ',')
			}
			n++
			f.w.Write(element(b, path, at, took))
		})
		f.w.WriteString("],")
		return n
	}
	each("stack", func(b []byte, path, _, _ int64) []byte {
		if path < 0 {
			return append(b, "null"...)
		}
		return strconv.AppendInt(b, path, 10)
	})
	each("time", func(b []byte, _, at, _ int64) []byte { return decimal(b, at) })
	f.length(each("weight", func(b []byte, _, _, took int64) []byte { return decimal(b, took) }))
	f.w.WriteString(",\n")
}

func (f *firefox) writeMarkers(t *foxThread) {
	// In the order of time, as the profiler expects them.
	slices.SortStableFunc(t.markers, func(a, b marker) int { return cmp.Compare(a.begin, b.begin) })
	n := len(t.markers)
	f.w.WriteString(`"markers":{`)
	f.column("data", n, func(b []byte, i int) []byte { return append(b, t.markers[i].data...) })
	f.column("name", n, func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(t.markers[i].name), 10) })
	f.column("startTime", n, func(b []byte, i int) []byte { return decimal(b, t.markers[i].begin) })
	f.column("endTime", n, func(b []byte, i int) []byte {
		if t.markers[i].instant() {
			return append(b, "null"...)
		}
		return decimal(b, t.markers[i].end)
	})
	f.column("phase", n, func(b []byte, i int) []byte {
		if t.markers[i].instant() {
			return append(b, '0')
		}
		return append(b, '1')
	})
	f.constant(n, strconv.Itoa(foxEvent), "category")
	f.length(n)
	f.w.WriteString(",\n")
}

// tables writes the stacks, frames and functions that a thread has.
func (f *firefox) writeTables(t *foxThread) {
	var used []int32 // frames of the export
	local := map[int32]int{}
	for _, p := range t.paths.list {
		if _, ok := local[p.frame]; !ok {
			local[p.frame] = len(used)
			used = append(used, p.frame)
		}
	}
	n := len(t.paths.list)
	f.w.WriteString(`"stackTable":{`)
	f.column("frame", n, func(b []byte, i int) []byte {
		return strconv.AppendInt(b, int64(local[t.paths.list[i].frame]),
			10)
	})
	f.column("prefix", n, func(b []byte, i int) []byte {
		if up := t.paths.list[i].parent; up >= 0 {
			return strconv.AppendInt(b, int64(up), 10)
		}
		return append(b, "null"...)
	})
	category := func(k int32) (int64, int64) {
		if f.methods.list[k].estimated {
			return foxEstimated, 0
		}
		m := marksText(f.methods.list[k].marks)
		if m == "" {
			return foxMethod, 0
		}
		sub := slices.Index(f.repaired, m)
		if sub < 0 {
			sub = len(f.repaired)
			f.repaired = append(f.repaired, m)
		}
		return foxRepaired, int64(sub) + 1
	}
	columns := func(n int, frame func(i int) int32) {
		f.column("category", n, func(b []byte, i int) []byte {
			c,
				_ := category(frame(i))
			return strconv.AppendInt(b, c, 10)
		})
		f.column("subcategory", n, func(b []byte, i int) []byte {
			_,
				c := category(frame(i))
			return strconv.AppendInt(b, c, 10)
		})
	}
	columns(n, func(i int) int32 { return t.paths.list[i].frame })
	f.length(n)
	f.w.WriteString(",\n\"frameTable\":{")
	n = len(used)
	// The functions of frames that differ in their marks are one.
	var functions []int32
	function := map[string]int{}
	for _, k := range used {
		if _, ok := function[f.methods.list[k].label]; !ok {
			function[f.methods.list[k].label] = len(functions)
			functions = append(functions, k)
		}
	}
	f.constant(n, "-1", "address")
	f.constant(n, "0", "inlineDepth")
	f.column("func", n, func(b []byte, i int) []byte {
		return strconv.AppendInt(b, int64(function[f.methods.list[used[i]].label]), 10)
	})
	columns(n, func(i int) int32 { return used[i] })
	f.constant(n, "null", "nativeSymbol", "innerWindowID", "implementation", "line", "column")
	f.length(n)
	f.w.WriteString(",\n\"funcTable\":{")
	n = len(functions)
	f.column("name", n, func(b []byte, i int) []byte {
		return strconv.AppendInt(b, int64(t.text(f.methods.list[functions[i]].label)), 10)
	})
	f.column("fileName", n, func(b []byte, i int) []byte {
		if file := f.methods.list[functions[i]].File; file != "" {
			return strconv.AppendInt(b, int64(t.text(file)), 10)
		}
		return append(b, "null"...)
	})
	f.column("lineNumber", n, func(b []byte, i int) []byte {
		if line := f.methods.list[functions[i]].Line; line > 0 {
			return strconv.AppendInt(b, int64(line), 10)
		}
		return append(b, "null"...)
	})
	f.constant(n, "false", "isJS", "relevantForJS")
	f.constant(n, "-1", "resource")
	f.constant(n, "null", "columnNumber")
	f.length(n)
	f.w.WriteString(",\n")
}
