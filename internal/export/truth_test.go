package export_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/internal/export"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// shownStall is a stall as a format shows it. Times are in nanoseconds.
type shownStall struct {
	Number      int
	Thread      string
	Begin, Wall int64
	Verdict     string
}

// shownTruth is what a format shows of a recording.
type shownTruth struct {
	stalls  []shownStall
	threads map[string]bool  // that have calls, and whether one took any time
	totals  map[string]int64 // by method: its calls on all threads, without those within another of its calls
	calls   map[string]int64
	first   map[string]int64  // by thread: when its first call begins
	labels  map[string]string // of methods, by name and descriptor
	frames  int
	facts   map[string]string
}

func newShown() *shownTruth {
	return &shownTruth{threads: map[string]bool{}, totals: map[string]int64{}, calls: map[string]int64{},
		labels: map[string]string{}, first: map[string]int64{}, facts: map[string]string{}}
}

// called notes a call of a thread.
func (s *shownTruth) called(thread string, at int64) {
	if first, some := s.first[thread]; !some || at < first {
		s.first[thread] = at
	}
	s.threads[thread] = true
}

// add adds what is shown of a method on a thread.
func (s *shownTruth) add(all map[method]measure) {
	for key, m := range all {
		s.threads[key.Thread] = true
		s.totals[key.Name] += m.Total
	}
}

// stack follows the calls of one thread.
type stack struct {
	names  []string
	begins []int64
}

func (s *stack) enter(name string, at int64) {
	s.names, s.begins = append(s.names, name), append(s.begins, at)
}

func (s *stack) leave(to *shownTruth, at int64) {
	n := len(s.names) - 1
	name, took := s.names[n], at-s.begins[n]
	s.names, s.begins = s.names[:n], s.begins[:n]
	if !slices.Contains(s.names, name) {
		to.totals[name] += took
	}
}

// truthFormat is a format, what it shows, and how exactly.
type truthFormat struct {
	name string
	read func(t *testing.T, out []byte) *shownTruth
	// What it has no room for.
	noStalls, noThreads, noTotals, noFacts, noFrames bool
	// grain is how exact a time is, and a total for each of its calls, in nanoseconds.
	grain, perCall int64
}

func truthFormats() []truthFormat {
	return []truthFormat{
		{name: "report", read: truthOfReport, noTotals: true, noThreads: true, noFacts: true, noFrames: true, grain: 1e6},
		{name: "json", read: truthOfJSON, noThreads: true, noFacts: true, noFrames: true},
		{name: "table", read: truthOfTable, noStalls: true, noThreads: true, noFacts: true, noFrames: true, grain: 5e5},
		{name: "tree", read: truthOfTree, noStalls: true, noThreads: true, noFacts: true, noFrames: true, grain: 5e5,
			perCall: 5e5},
		{name: "html", read: truthOfPage, noFacts: true},
		{name: "speedscope", read: truthOfSpeedscope, noFrames: true},
		{name: "perfetto", read: truthOfPerfetto},
		{name: "chrome", read: truthOfChrome},
		{name: "firefox", read: truthOfFirefox, grain: 1000},
		{name: "pprof", read: truthOfProfile, noStalls: true, noFacts: true, noFrames: true},
		{name: "collapsed", read: truthOfCollapsed, noStalls: true, noFacts: true, noFrames: true},
		{name: "art", read: truthOfART, noStalls: true, noFacts: true, noFrames: true, grain: 1000, perCall: 1000},
	}
}

// render writes a recording in a format as the command does.
func render(t *testing.T, format string, data []byte, names trace.Names, mappings *analysis.Mappings) ([]byte, error) {
	t.Helper()
	in, err := trace.NewSource(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := analysis.Options{Names: names, Mappings: mappings}
	finish := func() error { return nil }
	switch format {
	case "report":
		text := analysis.NewText(&out)
		o.Begin, o.Stall, o.End = text.Begin, text.Stall, text.End
	case "json":
		j, err := analysis.NewJSON(&out, "test")
		if err != nil {
			t.Fatal(err)
		}
		o.Methods, o.Stall, o.End = new(analysis.Methods), j.Stall, j.End
		finish = func() error { return j.Close(o.Methods, analysis.OrderSelf, 0) }
	case "table":
		o.Methods = new(analysis.Methods)
		finish = func() error { return o.Methods.WriteTable(&out, analysis.OrderSelf, 0) }
	case "tree":
		o.Calls = new(analysis.Calls)
		finish = func() error { return o.Calls.WriteTree(&out, analysis.Least{}) }
	default:
		v, err := export.New(format, &out, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Stall = v.Stall
		o.Also = func(r *analysis.Recording) (trace.Handler, error) { return v, v.Recording(r) }
		finish = v.Close
	}
	if err = analysis.Analyze("a.tgd", in, o); err == nil {
		err = finish()
	}
	return out.Bytes(), err
}

// truthOf is what package analysis says of a recording.
func truthOf(t *testing.T, data []byte, names trace.Names, mappings *analysis.Mappings) *shownTruth {
	t.Helper()
	in, err := trace.NewSource(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all := newShown()
	c := &calling{all: all}
	o := analysis.Options{Names: names, Mappings: mappings, Methods: new(analysis.Methods),
		Stall: func(s *analysis.Stall) error {
			all.stalls = append(all.stalls, shownStall{s.Number, s.Thread.Label, s.Begin.Nanoseconds(),
				s.Wall.Nanoseconds(), s.Verdict.Text})
			return nil
		},
		Also: func(r *analysis.Recording) (trace.Handler, error) { c.r = r; return c, nil }}
	if err := analysis.Analyze("a.tgd", in, o); err != nil {
		t.Fatal(err)
	}
	for _, m := range o.Methods.Sorted(analysis.OrderSelf) {
		name := m.Method.Label
		if name == "" {
			name = m.Method.Identity()
		}
		all.totals[name] += m.Total
		all.calls[name] += int64(m.Calls)
		all.labels[m.Method.Identity()+m.Method.Descriptor] = name
	}
	for _, f := range c.r.Facts() {
		all.facts[f.Key] = fmt.Sprint(f.Value)
	}
	return all
}

// calling notes which threads have calls, and counts frames.
type calling struct {
	r   *analysis.Recording
	all *shownTruth
}

func (c *calling) Named(trace.Method, string) error { return nil }
func (c *calling) Chunk(chunk trace.Chunk) error {
	if f, ok := chunk.(*trace.Frames); ok {
		c.all.frames += len(f.List)
	}
	return nil
}
func (c *calling) Segment(s *trace.Segment) error {
	if len(s.Calls) > 0 {
		label := c.r.Thread(s.Thread).Label
		took := c.all.threads[label] || s.End > s.Begin
		c.all.called(label, c.r.At(s.Begin))
		c.all.threads[label] = took
	}
	return nil
}

// TestFormatsAgree writes recordings in all formats, reads them back, and compares what they show.
//
// Invariant: All formats show the same stalls with the same times and verdicts, the same names of threads and methods,
// and the same time for each method.
func TestFormatsAgree(t *testing.T) {
	for name, c := range truthRecordings(t) {
		t.Run(name, func(t *testing.T) {
			want := truthOf(t, c.data, c.names, c.mappings)
			if c.stalls >= 0 && len(want.stalls) != c.stalls {
				t.Errorf("%d stalls, want %d: %+v", len(want.stalls), c.stalls, want.stalls)
			}
			for _, f := range truthFormats() {
				out, err := render(t, f.name, c.data, c.names, c.mappings)
				if err != nil && strings.Contains(err.Error(), "71 minutes") {
					continue
				}
				if err != nil {
					t.Fatal(f.name, err)
				}
				compareTruth(t, f, want, f.read(t, out))
			}
		})
	}
}

func compareTruth(t *testing.T, f truthFormat, want, got *shownTruth) {
	t.Helper()
	if f.name == "art" {
		named := map[string]int64{}
		for name, nanos := range got.totals {
			named[want.labels[name]] += nanos
		}
		got.totals = named
	}
	slices.SortFunc(got.stalls, func(a, b shownStall) int { return a.Number - b.Number })
	// Times of centuries, which some of the recordings have, are not exact in JSON and in protocol buffers.
	near := func(a, b, grain int64) bool { return max(a-b, b-a) <= grain+b>>40 }
	if !f.noStalls {
		same := len(got.stalls) == len(want.stalls)
		for i := 0; same && i < len(got.stalls); i++ {
			g, w := got.stalls[i], want.stalls[i]
			same = near(g.Begin, w.Begin, f.grain) && near(g.Wall, w.Wall, f.grain)
			g.Begin, g.Wall = w.Begin, w.Wall
			same = same && g == w
		}
		if !same {
			t.Errorf("%s: stalls: %s", f.name, gocmp.Diff(want.stalls, got.stalls))
		}
	}
	for thread, time := range want.threads {
		if !f.noThreads && time && !got.threads[thread] {
			t.Errorf("%s: thread %s is missing", f.name, thread)
		}
	}
	for thread := range got.threads {
		if _, ok := want.threads[thread]; !ok && !f.noThreads {
			t.Errorf("%s: there is no thread %s", f.name, thread)
		}
	}
	for thread, at := range got.first {
		if want, ok := want.first[thread]; ok && !near(at, want, f.grain) {
			t.Errorf("%s: the first call of %s begins at %d, want %d", f.name, thread, at, want)
		}
	}
	if !f.noTotals {
		for name, w := range want.totals {
			g, shown := got.totals[name]
			// Times of hundreds of years, as in damaged recordings, have no more digits in a floating point number.
			if grain := f.grain + f.perCall*max(1, want.calls[name]) + w>>50; !near(g, w, grain) || !shown && w > grain {
				t.Errorf("%s: %s has %d ns, want %d", f.name, name, g, w)
			}
		}
		for name := range got.totals {
			if _, ok := want.totals[name]; !ok {
				t.Errorf("%s: %s was never called", f.name, name)
			}
		}
	}
	if !f.noFrames && got.frames != want.frames {
		t.Errorf("%s: %d frames, want %d", f.name, got.frames, want.frames)
	}
	for key, value := range want.facts {
		if !f.noFacts && got.facts[key] != value {
			t.Errorf("%s: fact %s is %q, want %q", f.name, key, got.facts[key], value)
		}
	}
}

// truthRecording is a recording with the names of its methods. stalls is how many it has, -1 if the test does not say.
type truthRecording struct {
	data     []byte
	names    trace.Names
	mappings *analysis.Mappings
	stalls   int
}

// truthRecordings are those of package trace's tests, some that are made here, and one of a JVM if there is one.
func truthRecordings(t *testing.T) map[string]truthRecording {
	t.Helper()
	all := map[string]truthRecording{}
	for _, pattern := range []string{"vectors/*.tgd", "recorded/*.tgd", "reports/*.txt"} {
		files, err := filepath.Glob("../../trace/testdata/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no recordings", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := trace.NewSource(bytes.NewReader(data)); err == nil {
				all[filepath.Base(file)] = truthRecording{data: data, stalls: -1}
			}
		}
	}
	all["full"] = truthRecording{data: full(), names: naming{}, stalls: 1}
	totals, _ := totalsRecordings(t)
	for i, data := range totals[1:] {
		all[fmt.Sprint("totals ", i)] = truthRecording{data: data, names: naming{}, stalls: -1}
	}
	all["pool"] = truthRecording{data: pool(), names: naming{}, stalls: 4}
	all["no mapping"] = truthRecording{data: pool(), stalls: 4}
	all["gaps"] = truthRecording{data: gaps(), names: naming{}, stalls: 1}
	all["nothing slow"] = truthRecording{data: quick(), names: naming{}, stalls: 0}
	all["overloads"] = overloaded(t)
	all["no clock"] = truthRecording{data: clockless(), names: naming{}, stalls: 1}
	return all
}

// pool has three threads of one name, one of which waits for a lock of another, one computes, and one is still open at
// the end; and a stall of which the device wrote nothing.
func pool() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "0", "slowMillis", "700", "records", "all")
	const base = 7_000_000_000_000
	at := func(ms int64) int64 { return base + ms*1_000_000 }
	r.clock(base, 1_795_000_001_000)
	r.thread(0, "main", true)
	for k := range uint32(3) {
		r.thread(k+1, "pool-worker", false)
	}
	r.add(0, 0, record{1, 10}, record{2, 20}, record{-2, 790}, record{-1, 800}, record{1, 801}, record{-1, 805})
	r.add(1, 0, record{3, 100}, record{4, 110}, record{-4, 1500}, record{-3, 1510})
	for k := range int64(10) {
		r.sample(trace.StackSample{Nanos: at(400 + 100*k), Thread: 1, State: 3, Frames: []string{"com.app.CE.mea(E.java:1)"}})
		r.sample(trace.StackSample{Nanos: at(401 + 100*k), Thread: 2, State: 2, Frames: []string{"com.app.CA.mfa(A.java:1)"}})
	}
	r.stall(trace.StallChunk{Thread: 1, Message: 0, Begin: at(100), Wall: 1_410_000_000, CPU: 20_000_000, FirstRecord: 0,
		EndRecord: 4, Description: "method 3", GCMillis: -1, GCCount: -1, State: 3, LockOwner: "pool-worker holds a.Lock",
		StackKey: "k1"})
	r.add(2, 0, record{5, 90}, record{6, 95}, record{-6, 1590}, record{-5, 1600})
	r.stall(trace.StallChunk{Thread: 2, Message: 0, Begin: at(90), Wall: 1_510_000_000, CPU: 1_500_000_000, FirstRecord: 0,
		EndRecord: 4, Description: "method 5", GCMillis: 3, GCCount: 1, State: 2, StackKey: "k2"})
	r.add(3, 0, record{7, 500}, record{8, 510}, record{9, 520}, record{-9, 530}, record{9, 2000})
	r.frames(trace.Frame{VSync: at(10), Start: at(11), End: at(400), Dropped: 20, RefreshHz: 60},
		trace.Frame{VSync: at(500), Start: at(501), End: at(520), RefreshHz: 60})
	return r.end()
}

// gaps has a thread that lost records twice.
func gaps() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "0", "slowMillis", "700", "records", "all")
	r.clock(1_000_000_000, 1_795_000_001_000)
	r.thread(0, "main", true)
	r.thread(1, "worker", false)
	r.add(0, 0, record{1, 0}, record{2, 10}, record{3, 20})
	r.add(0, 40, record{-3, 300}, record{4, 310}, record{-4, 320})
	r.add(0, 60, record{5, 600}, record{-5, 800}, record{-1, 1000})
	r.add(1, 0, record{6, 5}, record{-6, 9})
	r.stall(trace.StallChunk{Thread: 0, Begin: 1_000_000_000, Wall: 1_000_000_000, CPU: 900_000_000, EndRecord: 63,
		GCMillis: -1, GCCount: -1, Description: "method 1", StackKey: "k"})
	return r.end()
}

// quick has calls, and none that is slow.
func quick() []byte {
	r := newRecorded("tickNanos", "1000", "clockPeriodMillis", "5", "slowMillis", "700", "records", "all")
	r.clock(3_000_000_000, 1_795_000_001_000)
	r.thread(0, "main", true)
	r.add(0, 0, wander(11, 20, 40, false)...)
	return r.end()
}

// clockless has lost its clock.
func clockless() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "5", "slowMillis", "700", "records", "all")
	r.thread(4, "late", false)
	r.sample(trace.StackSample{Nanos: 300_000_000, Thread: 4, State: 3, Frames: []string{"com.app.CB.mba(B.java:1)"}})
	r.add(4, 0, record{1, 200}, record{-1, 1000})
	r.stall(trace.StallChunk{Thread: 4, Begin: 200_000_000, Wall: 800_000_000, CPU: -1, EndRecord: 2, GCMillis: -1,
		GCCount: -1, Description: "method 1", State: 3})
	return r.end()
}

// overloaded has methods of one name, and a mapping.
func overloaded(t *testing.T) truthRecording {
	t.Helper()
	var list []mapping.Method
	for _, m := range [][3]string{{"a/B", "f", "()V"}, {"a/B", "f", "([[Ljava/lang/String;J)V"}, {"a/B", "g", "(Lb/X;)V"},
		{"a/B", "g", "(Lc/X;)V"}, {"a/B", "h", "(I)Ljava/lang/Object;"}, {"a/B", "h", "(I)La/C;"}, {"a/B", "one", "(I)V"}} {
		list = append(list, mapping.Method{Identity: mapping.Identity{Class: m[0], Name: m[1], Descriptor: m[2]}})
	}
	m, err := mapping.Assign(list, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "map.txt")
	out, err := os.Create(file)
	if err == nil {
		_, err = m.WriteTo(out)
		out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := analysis.OpenMappings(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorded("mappingId", m.Digest(), "tickNanos", "1000000", "clockPeriodMillis", "0", "slowMillis", "700",
		"records", "all")
	r.clock(0, 1_795_000_001_000)
	r.thread(0, "main", true)
	var records []record
	now := int64(0)
	for e := range m.All() {
		records = append(records, record{int64(e.ID), now})
		now += 10
	}
	for i := range len(records) {
		now += 50
		records = append(records, record{-records[len(list)-1-i].id, now})
	}
	records[len(records)-1].ticks = 900
	r.add(0, 0, records...)
	return truthRecording{data: r.end(), mappings: mappings, stalls: 1}
}

// notes is what may stand behind a method.
const notes = `(  \[[^\]]* (repaired|left out)\])*$`

var (
	reportTitle  = regexp.MustCompile(`^a\.tgd #(\d+): (\S+) ms on (.*?), ([\d.]+) s in`)
	tableRow     = regexp.MustCompile(`^[ ≥]*(\S+) ms[ ≥]+(\S+) ms +(\d+)[ ≥]+(\S+) ms +(\d+)  (.*?)` + notes)
	treeRow      = regexp.MustCompile(`^[ ≥]*(\S+) ms[ ≥]+(\S+) ms +(\d+) % +(\d+)  ( *)(.*?)` + notes)
	placeBehind  = regexp.MustCompile(` \([^()]+\.java(:\d+)?\)$`)
	timelineKind = regexp.MustCompile(`: (messages|stalls)$`)
	stallName    = regexp.MustCompile(`^stall #(\d+): (.*)$`)
)

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func inNanos(v, unit float64) int64 { return int64(math.Round(v * unit)) }

func truthOfReport(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if m := reportTitle.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			thread := m[3]
			if rest := strings.TrimPrefix(thread, "thread "); strings.Trim(rest, "0123456789") != "" {
				thread = rest
			}
			all.stalls = append(all.stalls, shownStall{n, thread, inNanos(float(t, m[4]), 1e9),
				inNanos(float(t, m[2]), 1e6), ""})
		} else if why, ok := strings.CutPrefix(line, "  why      "); ok {
			all.stalls[len(all.stalls)-1].Verdict = why
		}
	}
	return all
}

func truthOfJSON(t *testing.T, out []byte) *shownTruth {
	type named struct{ Class, Name, Label string }
	var file struct {
		Stalls []struct {
			Number                int
			Thread                struct{ Label string }
			BeginNanos, WallNanos int64
			Verdict               struct{ Text string }
		}
		Methods []struct {
			Method     named
			TotalNanos int64
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	all := newShown()
	for _, s := range file.Stalls {
		all.stalls = append(all.stalls, shownStall{s.Number, s.Thread.Label, s.BeginNanos, s.WallNanos, s.Verdict.Text})
	}
	for _, m := range file.Methods {
		name := m.Method.Label
		if name == "" {
			name = strings.TrimPrefix(m.Method.Class+"."+m.Method.Name, ".")
		}
		all.totals[name] += m.TotalNanos
	}
	return all
}

func truthOfTable(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	for line := range strings.Lines(string(out)) {
		if m := tableRow.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			all.totals[placeBehind.ReplaceAllString(m[6], "")] += inNanos(float(t, m[2]), 1e6)
		}
	}
	return all
}

func truthOfTree(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	var path []string
	for line := range strings.Lines(string(out)) {
		m := treeRow.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		path = path[:len(m[5])/2]
		name := placeBehind.ReplaceAllString(m[6], "")
		if !slices.Contains(path, name) {
			all.totals[name] += inNanos(float(t, m[1]), 1e6)
		}
		path = append(path, name)
	}
	return all
}

func truthOfPage(t *testing.T, out []byte) *shownTruth {
	data, calls := readPage(t, out)
	all := newShown()
	r := data.Recordings[0]
	names := map[uint32]string{}
	for _, th := range r.Threads {
		names[th.Index] = th.Name
		// The calls are in the order of their ends, so backwards callers come before what they call.
		path := map[int]string{}
		for _, c := range slices.Backward(calls[th.Events]) {
			var depth int
			var begin, end int64
			var marks string
			head, rest, _ := cutLast(c, " x")
			digits, name, _ := strings.Cut(head, " ")
			depth, _ = strconv.Atoi(digits)
			var count int
			if _, err := fmt.Sscanf(rest, "%d %d-%d %s", &count, &begin, &end, &marks); err != nil {
				t.Fatal(c, err)
			}
			path[depth] = name
			all.called(th.Name, begin)
			within := false
			for d := range depth {
				within = within || path[d] == name
			}
			if !within {
				all.totals[name] += end - begin
			}
		}
	}
	for _, s := range r.Stalls {
		all.stalls = append(all.stalls, shownStall{s.Number, names[s.Thread], s.Begin, s.Wall, s.Verdict})
	}
	for _, f := range r.more.Facts {
		all.facts[f[0]] = f[1]
	}
	all.frames = len(r.more.Frames)
	return all
}

func truthOfSpeedscope(t *testing.T, out []byte) *shownTruth {
	var file struct {
		Tracegen []map[string]any
		Shared   struct {
			Frames []struct{ Name string }
		}
		Profiles []struct {
			Name   string
			Events []struct {
				Type  string
				At    int64
				Frame int
			}
		}
	}
	decodeNumbers(t, out, &file)
	all := newShown()
	all.facts = texts(file.Tracegen[0])
	for _, p := range file.Profiles {
		thread, kind, _ := cutLast(p.Name, " of ")
		kind = timelineKind.FindString(kind)
		var open stack
		for _, e := range p.Events {
			name := file.Shared.Frames[e.Frame].Name
			switch {
			case kind == ": messages":
			case kind == "" && e.Type == "O":
				all.called(thread, e.At)
				open.enter(withoutMarks(name), e.At)
			case kind == "":
				open.leave(all, e.At)
			case e.Type == "O":
				m := stallName.FindStringSubmatch(name)
				n, _ := strconv.Atoi(m[1])
				all.stalls = append(all.stalls, shownStall{n, thread, e.At, e.At, m[2]})
			default:
				s := &all.stalls[len(all.stalls)-1]
				s.Wall = e.At - s.Begin
			}
		}
	}
	return all
}

// decodeNumbers keeps numbers as they are written.
func decodeNumbers(t *testing.T, data []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func texts(facts map[string]any) map[string]string {
	all := map[string]string{}
	for key, value := range facts {
		all[key] = fmt.Sprint(value)
	}
	return all
}

func truthOfChrome(t *testing.T, out []byte) *shownTruth {
	var file struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			Ts, Dur       json.Number
			Tid           int64
			Args          map[string]any
		}
		OtherData struct{ Recordings []map[string]any }
	}
	decodeNumbers(t, out, &file)
	all := newShown()
	all.facts = texts(file.OtherData.Recordings[0])
	names, open := map[int64]string{}, map[int64]*stack{}
	for _, e := range file.TraceEvents {
		at := int64(0)
		if e.Ts != "" {
			at = inNanos(float(t, string(e.Ts)), 1e3)
		}
		if open[e.Tid] == nil {
			open[e.Tid] = &stack{}
		}
		m := stallName.FindStringSubmatch(e.Name)
		switch {
		case e.Ph == "M" && e.Name == "thread_name":
			names[e.Tid] = e.Args["name"].(string)
		case e.Ph == "B":
			all.called(names[e.Tid], at)
			open[e.Tid].enter(e.Name, at)
		case e.Ph == "E":
			open[e.Tid].leave(all, at)
		case e.Ph == "X" && e.Name == "frame":
			all.frames++
		case e.Ph == "i" && m != nil:
			n, _ := strconv.Atoi(m[1])
			if e.Args["verdict"] != m[2] {
				t.Errorf("chrome: the verdict is %q and %q", m[2], e.Args["verdict"])
			}
			all.stalls = append(all.stalls, shownStall{n, strings.TrimPrefix(names[e.Tid], "messages of "), at,
				inNanos(float(t, fmt.Sprint(e.Args["wall ms"])), 1e6), m[2]})
		}
	}
	return all
}

func truthOfPerfetto(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	type track struct {
		name   string
		parent uint64
	}
	tracks, open, methods := map[uint64]track{}, map[uint64]*stack{}, map[uint64]string{}
	visit := func(b []byte, f func(field protowire.Number, n uint64, b []byte)) {
		err := fields(b, func(field protowire.Number, n uint64, b []byte) error {
			f(field, n, b)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	visit(out, func(_ protowire.Number, _ uint64, packet []byte) {
		var at, kind, on, iid, category uint64
		var name string
		args := map[string]any{}
		event := false
		visit(packet, func(field protowire.Number, n uint64, b []byte) {
			switch field {
			case 8:
				at = n
			case 12:
				visit(b, func(field protowire.Number, _ uint64, b []byte) {
					var id uint64
					var text string
					visit(b, func(part protowire.Number, n uint64, b []byte) {
						if part == 1 {
							id = n
						} else if part == 2 {
							text = string(b)
						}
					})
					if field == 2 {
						methods[id] = text
					}
				})
			case 60:
				var id uint64
				var tr track
				visit(b, func(field protowire.Number, n uint64, b []byte) {
					switch field {
					case 1:
						id = n
					case 2:
						tr.name = string(b)
					case 4:
						visit(b, func(field protowire.Number, _ uint64, b []byte) {
							if field == 5 {
								tr.name = string(b)
							}
						})
					case 5:
						tr.parent = n
					}
				})
				tracks[id], open[id] = tr, &stack{}
			case 11:
				event = true
				visit(b, func(field protowire.Number, n uint64, b []byte) {
					switch field {
					case 3:
						category = n
					case 4:
						key, value := annotation(t, b)
						args[key] = value
					case 9:
						kind = n
					case 10:
						iid = n
					case 11:
						on = n
					case 23:
						name = string(b)
					}
				})
			}
		})
		m := stallName.FindStringSubmatch(name)
		switch {
		case !event:
		case kind == 1 && category == 1:
			all.called(tracks[on].name, int64(at))
			open[on].enter(methods[iid], int64(at))
		case kind == 1:
			if open[on].enter("", 0); category == 3 {
				all.frames++
			}
		case kind == 2 && open[on].names[len(open[on].names)-1] == "":
			open[on].names, open[on].begins = open[on].names[:len(open[on].names)-1], open[on].begins[:len(open[on].begins)-1]
		case kind == 2:
			open[on].leave(all, int64(at))
		case category == 5:
			all.facts = texts(args)
		case category == 4 && m != nil:
			n, _ := strconv.Atoi(m[1])
			if args["verdict"] != m[2] {
				t.Errorf("perfetto: the verdict is %q and %q", m[2], args["verdict"])
			}
			all.stalls = append(all.stalls, shownStall{n, tracks[tracks[on].parent].name, int64(at),
				inNanos(args["wall ms"].(float64), 1e6), m[2]})
		}
	})
	return all
}

// annotation reads a DebugAnnotation.
func annotation(t *testing.T, b []byte) (key string, value any) {
	err := fields(b, func(field protowire.Number, n uint64, b []byte) error {
		switch field {
		case 2:
			value = n != 0
		case 3:
			value = n
		case 4:
			value = int64(n)
		case 5:
			value = math.Float64frombits(n)
		case 6:
			value = string(b)
		case 10:
			key = string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, value
}

func truthOfFirefox(t *testing.T, out []byte) *shownTruth {
	var file struct {
		Meta struct {
			Extra []struct {
				Entries []struct{ Label, Value string }
			}
		}
		Threads []struct {
			Name    string
			Samples struct {
				Time   []float64
				Stack  []*int
				Weight []float64
			}
			Markers struct {
				Data      []map[string]any
				Name      []int
				StartTime []float64
				EndTime   []*float64
			}
			StackTable struct {
				Frame  []int
				Prefix []*int
			}
			FrameTable  struct{ Func []int }
			FuncTable   struct{ Name []int }
			StringArray []string
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	all := newShown()
	for _, e := range file.Meta.Extra[0].Entries {
		all.facts[e.Label] = e.Value
	}
	for _, th := range file.Threads {
		for i, at := range th.Samples.Stack {
			seen := map[string]bool{}
			if at != nil {
				all.called(th.Name, inNanos(th.Samples.Time[i], 1e6))
			}
			for ; at != nil; at = th.StackTable.Prefix[*at] {
				name := th.StringArray[th.FuncTable.Name[th.FrameTable.Func[th.StackTable.Frame[*at]]]]
				if !seen[name] {
					all.totals[name] += inNanos(th.Samples.Weight[i], 1e6)
				}
				seen[name] = true
			}
		}
		for i, data := range th.Markers.Data {
			if data["type"] == "Frame" {
				all.frames++
			}
			if data["type"] != "Stall" {
				continue
			}
			m := stallName.FindStringSubmatch(th.StringArray[th.Markers.Name[i]])
			if data["verdict"] != m[2] || data["stall"] != float(t, m[1]) {
				t.Errorf("firefox: %q has %v", m[0], data)
			}
			begin := inNanos(th.Markers.StartTime[i], 1e6)
			all.stalls = append(all.stalls, shownStall{int(float(t, m[1])), th.Name, begin,
				inNanos(*th.Markers.EndTime[i], 1e6) - begin, m[2]})
		}
	}
	return all
}

// written writes an export to a file for the decoders that read one.
func written(t *testing.T, out []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, out, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func truthOfProfile(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	measures, _ := readProfile(t, written(t, out))
	all.add(measures)
	return all
}

func truthOfCollapsed(t *testing.T, out []byte) *shownTruth {
	all := newShown()
	measures, _ := readCollapsed(t, written(t, out))
	all.add(measures)
	return all
}

func truthOfART(t *testing.T, out []byte) *shownTruth {
	text, records, _ := bytes.Cut(out, []byte("*end\n"))
	all := newShown()
	threads, methods := map[uint16]string{}, map[uint32]string{}
	part := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		columns := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "*"):
			part = line
		case part == "*threads":
			threads[uint16(float(t, columns[0]))] = columns[1]
		case part == "*methods":
			id, err := strconv.ParseUint(columns[0], 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			methods[uint32(id)] = artName(columns[1], columns[2], columns[3])
		}
	}
	size := int(binary.LittleEndian.Uint16(records[16:]))
	open := map[uint16]*stack{}
	for records = records[32:]; len(records) > 0; records = records[size:] {
		thread, step := binary.LittleEndian.Uint16(records), binary.LittleEndian.Uint32(records[2:])
		at := int64(binary.LittleEndian.Uint32(records[size-4:])) * 1000
		if open[thread] == nil {
			open[thread] = &stack{}
		}
		all.called(threads[thread], at)
		if step&3 == 0 {
			open[thread].enter(methods[step], at)
		} else {
			open[thread].leave(all, at)
		}
	}
	return all
}

// artName is a method's name and descriptor: an ART trace has the two beside each other.
func artName(class, name, descriptor string) string {
	if class != noClass {
		name = class + "." + name
	}
	return name + strings.TrimSuffix(descriptor, noDescriptor)
}

// noDescriptor is what stands in an ART trace for a descriptor that is not known.
const noDescriptor = "()"
