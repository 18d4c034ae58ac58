package export_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
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
	first   map[string]int64 // by thread: when its first call begins
	frames  int
}

func newShown() *shownTruth {
	return &shownTruth{threads: map[string]bool{}, totals: map[string]int64{}, calls: map[string]int64{},
		first: map[string]int64{}}
}

// called notes a call of a thread.
func (s *shownTruth) called(thread string, at int64) {
	if first, some := s.first[thread]; !some || at < first {
		s.first[thread] = at
	}
	s.threads[thread] = true
}

// truthFormat is a format, what it shows, and how exactly.
type truthFormat struct {
	name string
	read func(t *testing.T, out []byte) *shownTruth
	// What it has no room for.
	noStalls, noThreads, noTotals, noFrames bool
	// grain is how exact a time is, and a total for each of its calls, in nanoseconds.
	grain, perCall int64
}

func truthFormats() []truthFormat {
	return []truthFormat{
		{name: "report", read: truthOfReport, noTotals: true, noThreads: true, noFrames: true, grain: 1e6},
		{name: "json", read: truthOfJSON, noThreads: true, noFrames: true},
		{name: "table", read: truthOfTable, noStalls: true, noThreads: true, noFrames: true, grain: 5e5},
		{name: "tree", read: truthOfTree, noStalls: true, noThreads: true, noFrames: true, grain: 5e5,
			perCall: 5e5},
		{name: "html", read: truthOfPage},
	}
}

// render writes a recording in a format as the command does.
func render(t *testing.T, format string, data []byte, names trace.Names, mappings *resolve.Mappings) ([]byte, error) {
	t.Helper()
	in, err := source.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := analysis.Options{Names: names, Mappings: mappings}
	finish := func() error { return nil }
	switch format {
	case "report":
		text := answer.NewText(&out)
		o.Begin, o.Stall, o.End = text.Begin, text.Stall, text.End
	case "json":
		j, err := answer.NewJSON(&out, "test")
		if err != nil {
			t.Fatal(err)
		}
		methods := new(answer.Methods)
		o.Stall, o.End = j.Stall, j.End
		methods.Connect(&o)
		finish = func() error { return j.Close(methods, answer.OrderSelf, 0) }
	case "table":
		methods := new(answer.Methods)
		methods.Connect(&o)
		finish = func() error { return methods.WriteTable(&out, answer.OrderSelf, 0) }
	case "tree":
		answer.WriteTrees(&o, &out, answer.Least{})
		finish = func() error { return nil }
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
func truthOf(t *testing.T, data []byte, names trace.Names, mappings *resolve.Mappings) *shownTruth {
	t.Helper()
	read := func(o analysis.Options) {
		in, err := source.New(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := analysis.Analyze("a.tgd", in, o); err != nil {
			t.Fatal(err)
		}
	}
	all := newShown()
	c := &calling{all: all}
	read(analysis.Options{Names: names, Mappings: mappings,
		Stall: func(s *analysis.Stall) error {
			all.stalls = append(all.stalls, shownStall{s.Number, s.Thread.Label, s.Begin.Nanoseconds(),
				s.Wall.Nanoseconds(), s.Verdict.Text})
			return nil
		},
		Also: func(r *analysis.Recording) (trace.Handler, error) { c.r = r; return c, nil }})
	methods, o := new(answer.Methods), analysis.Options{Names: names, Mappings: mappings}
	methods.Connect(&o)
	read(o)
	for _, m := range methods.Sorted(answer.OrderSelf) {
		name := m.Method.Label
		if name == "" {
			name = m.Method.Identity()
		}
		all.totals[name] += m.Total
		all.calls[name] += int64(m.Calls)
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

// TestFormatsAgree writes recordings in the formats of this program, reads them back, and compares what they show.
// TestTotalsAgree and the tests of events read the others with the programs that they are for.
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
}

// truthRecording is a recording with the names of its methods. stalls is how many it has, -1 if the test does not say.
type truthRecording struct {
	data     []byte
	names    trace.Names
	mappings *resolve.Mappings
	stalls   int
}

// truthRecordings are those of package trace's tests, some that are made here, and one of a JVM if there is one.
func truthRecordings(t *testing.T) map[string]truthRecording {
	t.Helper()
	all := map[string]truthRecording{}
	for _, pattern := range []string{"../../../trace/testdata/vectors/*.tgd", "../../../trace/testdata/recorded/*.tgd",
		"../source/testdata/reports/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no recordings", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := source.New(bytes.NewReader(data)); err == nil {
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
	all["survived"] = truthRecording{data: survived(), names: naming{}, stalls: 2}
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

// survived has a stall in which the process did not run for 60 s, a stall that the process did not survive, and a call
// that is no stall without the time in which the process did not run. The clock was late, and the recorder has dropped
// something.
func survived() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "5", "slowMillis", "700", "records", "all")
	r.clock(1_000_000_000, 1_795_000_001_000)
	at := func(ms int64) int64 { return 1_000_000_000 + ms*1_000_000 }
	r.thread(0, "main", true)
	r.thread(1, "worker", false)
	stopped := append(sv(sv(uv(nil, 2), at(500)), at(60_500)), 1)
	r.chunk(16, append(sv(sv(stopped, at(70_000)), at(80_000)), 9))
	r.chunk(17, sv(sv(uv(nil, 1), at(300)), at(420)))
	r.chunk(19, uv(append(uv(uv(nil, 1), 0), 1), 2))
	r.add(0, 0, record{1, 0}, record{2, 10}, record{3, 400}, record{-3, 60_600}, record{-2, 62_000},
		record{-1, 62_100}, record{4, 69_900}, record{-4, 80_200})
	r.stall(trace.StallChunk{Thread: 0, Begin: at(0), Wall: 62_100_000_000, CPU: 900_000_000, EndRecord: 6,
		GCMillis: -1, GCCount: -1, Description: "method 1", StackKey: "k"})
	r.add(1, 0, record{5, 90_000}, record{6, 90_010})
	r.sample(trace.StackSample{Nanos: at(95_000), Thread: 1, State: 3, Frames: []string{"com.app.CB.mba(B.java:1)"}})
	open := append(sv(uv(uv(uv(sv(sv(nil, at(95_000)), 0), 1), 1), 0), at(90_000)), 3)
	r.chunk(13, uv(sv(open, -1), 0))
	r.chunk(18, str(str(str(str(uv(nil, 2), "reason"), "anr"), "trace"),
		"\"main\" prio=5 tid=1 Native\n  at a.B.c(B.java:1)\n"))
	return r.Bytes()
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
	mappings, err := resolve.OpenMappings(file, nil)
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
