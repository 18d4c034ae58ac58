package export_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// full is a recording with one of everything: a slow message with all that was found, a history with all kinds, frames
// that overlap, calls with marks, overloads, places.
func full() []byte {
	r := newRecorded("tickNanos", "1000000", "clockPeriodMillis", "5", "process", "com.app", "slowMillis", "700",
		"mappingId", "0123456789abcdef")
	const base = 5_000_000_000
	at := func(ms int64) int64 { return base + ms*1_000_000 }
	r.clock(base, 1_795_000_001_000)
	r.thread(0, "main", true)
	r.add(0, 0, record{trace.MethodDispatch, 100}, record{3, 100}, record{-3, 120}, record{-trace.MethodDispatch, 120})
	r.add(0, 4, record{trace.MethodDispatch, 1000}, record{3, 1000}, record{6, 1100}, record{-3, 1800},
		record{-trace.MethodDispatch, 2000})
	history := []trace.Message{
		{Kind: trace.MessageMerged, Sequence: 0, Count: 5, Begin: at(0), Wall: 90_000_000, CPU: 80_000_000,
			Description: "Handler (a.B) null: 1"},
		{Kind: trace.MessageNormal, Sequence: 5, Count: 1, Begin: at(100), Wall: 20_000_000, CPU: -1,
			Description: "Handler (a.B) null: 2"},
		{Kind: trace.MessageSystem, Sequence: 6, Count: 1, Begin: at(120), Wall: 30_000_000, CPU: 1_000_000,
			Description: "Handler (android.app.ActivityThread$H) null: 159"},
		{Kind: trace.MessageIdle, Begin: at(150), Wall: 850_000_000},
	}
	r.messages(0, history...)
	r.sample(trace.StackSample{Nanos: at(1400), Thread: 0, State: 3, Frames: []string{"a.B.early(B.java:6)"}})
	r.sample(trace.StackSample{Nanos: at(1700), Thread: 0, State: 3,
		Frames: []string{"a.B.wait(B.java:7)", "a.B.run(B.java:9)"}})
	r.pending(trace.Pending{Thread: 0, Message: 7, Available: true,
		List: []trace.PendingMessage{{When: at(1500), What: 4, Target: "a.H"}}})
	r.stall(trace.StallChunk{Thread: 0, Message: 7, Begin: at(1000), Wall: 1_000_000_000, CPU: 40_000_000,
		FirstRecord: 4, EndRecord: 9,
		Description: "Handler (a.B) null: 7", Scene: "a.Screen", Foreground: true, GCCount: 2, GCMillis: 14, State: 3,
		LockOwner: "io holds a.Lock", StackKey: "abc"})
	r.frames(trace.Frame{VSync: at(10), Start: at(11), End: at(40), RefreshHz: 60},
		trace.Frame{VSync: at(27), Start: at(28), End: at(50), Dropped: 1, RefreshHz: 60})
	r.messages(0, append(history, trace.Message{Kind: trace.MessageNormal, Sequence: 7, Count: 1, Begin: at(1000),
		Wall: 1_000_000_000, CPU: 40_000_000, Description: "Handler (a.B) null: 7"},
		trace.Message{Kind: trace.MessageRunning, Sequence: 8, Count: 1, Begin: at(2100), Wall: 5_000_000, CPU: -1,
			Description: "Handler (a.B) null: 8"})...)
	return r.end()
}

// fullVerdict is the verdict on the stall of full.
const fullVerdict = "cause unknown: com.app.CB.mga (CB.java:16) (own time 700 ms); CPU 4 %; " +
	"waiting for a lock 30 %; the stack samples were elsewhere, in a.B.wait (lock)"

func exportFile(t testing.TB, format, name string, names trace.Names, recordings ...[]byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, exportBytes(t, format, names, recordings...), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// query returns the rows that Perfetto's trace processor answers with, each as its values with spaces between.
func query(t testing.TB, file, sql string) []string {
	t.Helper()
	var tables [2][]map[string]any
	ask(t, "perfetto", file, map[string]any{"queries": []string{sql, processorErrors}}, &tables)
	if len(tables[1]) > 0 {
		t.Errorf("trace processor: %v", tables[1])
	}
	var all []string
	for _, row := range tables[0] {
		var values []string
		for _, column := range slices.Sorted(maps.Keys(row)) {
			values = append(values, fmt.Sprint(row[column]))
		}
		all = append(all, strings.Join(values, " "))
	}
	return all
}

const eventQuery = `select s.name a, s.ts / 1e6 b, s.dur / 1e6 c, coalesce(p.name, tp.name, '') d
	from slice s join track t on s.track_id = t.id left join thread_track tt on tt.id = t.id left join thread p using (utid)
	left join process_track pt on pt.id = t.id left join process tp using (upid) where s.category %s order by s.ts, s.id`

// TestEventsInPerfetto looks at everything beside calls.
//
// Invariant: Messages, stalls, stacks, frames, queues, marks, repairs, damage and the precision of times are in every
// format that can show them.
func TestEventsInPerfetto(t *testing.T) {
	nightly.Only(t, "commands")
	file := exportFile(t, "perfetto", "full.perfetto-trace", naming{}, full())
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{fmt.Sprintf(eventQuery, "= 'message'"), []string{
			"message of a.B, what 1 0 90 main", "message of a.B, what 2 100 20 main",
			"message of android.app.ActivityThread$H, what 159 (EXECUTE_TRANSACTION) 120 30 main",
			"idle 150 850 main",
			"message of a.B, what 7 1000 1000 main", "message of a.B, what 8 2100 5 main"}},
		{fmt.Sprintf(eventQuery, "= 'stall'"), []string{"stall #1: " + fullVerdict + " 1000 0 main", "stack 1400 0 main",
			"stack 1700 0 main"}},
		{"select s.ts / 1e6 a, s.dur / 1e6 b, t.name c from slice s join track t on t.id = s.track_id where category = " +
			"'frame' order by ts", []string{
			"11 29 frames", "28 22 frames"}},
		{"select count(distinct track_id) from slice where category = 'frame'", []string{"2"}},
		{"select s.name a, display_value b from args join slice s using (arg_set_id) where key = 'debug.marks'",
			[]string{"com.app.CB.mga unwound"}},
		{"select display_value from args join slice s using (arg_set_id) where s.name like 'stall #1: %' and key " +
			"in ('debug.scene', 'debug.stack', 'debug.pending messages', 'debug.lock owner', 'debug.cpu ms') order by key",
			[]string{
				"40.0", "io holds a.Lock", "overdue by 200 ms: message of a.H, what 4", "a.Screen",
				"a.B.wait(B.java:7)\na.B.run(B.java:9)"}},
		{"select display_value from args join slice s using (arg_set_id) where s.name = 'com.app.CD.mda' and key in " +
			"('source.file_name', 'source.line_number') order by key", []string{"CD.java", "CD.java", "13", "13"}},
		{"select display_value from args join slice s using (arg_set_id) where s.category = 'recording' and key in " +
			"('debug.times', 'debug.repairs_unwound', 'debug.meta_mappingId') order by key", []string{
			"0123456789abcdef", "1", "precise to 5 ms"}},
		{"select name from process where pid > 0", []string{"com.app"}},
		{"select to_realtime(1000000000) a", []string{"1.795000001e+18"}},
	} {
		if diff := gocmp.Diff(c.want, query(t, file, c.sql)); diff != "" {
			t.Errorf("%s:\n%s", c.sql, diff)
		}
	}
}

// TestEventsInFirefox looks at the same as markers.
//
// Invariant: Messages, stalls, stacks, frames, queues, marks, repairs, damage and the precision of times are in every
// format that can show them.
func TestEventsInFirefox(t *testing.T) {
	var got struct {
		Threads []struct {
			Name    string
			Markers struct {
				FlatMarkers []struct {
					Name       string
					Start      float64
					Duration   *float64
					MarkerType string
				}
			}
		}
		Meta string
	}
	ask(t, "firefox", exportFile(t, "firefox", "full.json", naming{}, full()), nil, &got)
	var markers []string
	for _, th := range got.Threads {
		for _, m := range th.Markers.FlatMarkers {
			text := fmt.Sprintf("%s: %s %s %v", th.Name, m.MarkerType, m.Name, m.Start)
			if m.Duration != nil {
				text += fmt.Sprint(" ", *m.Duration)
			}
			markers = append(markers, text)
		}
	}
	want := []string{"main: Message message of a.B, what 1 0 90", "main: Message message of a.B, what 2 100 20",
		"main: Message message of android.app.ActivityThread$H, what 159 (EXECUTE_TRANSACTION) 120 30",
		"main: Message idle 150 850",
		"main: Message message of a.B, what 7 1000 1000", "main: Stall stall #1: " + fullVerdict + " 1000 1000",
		"main: Stack stack 1400",
		"main: Stack stack 1700",
		"main: Message message of a.B, what 8 2100 5", "frames: Frame frame 11 29", "frames: Frame frame 28 22"}
	if diff := gocmp.Diff(want, markers); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"times: precise to 5 ms", "repairs.unwound: 1", "meta.mappingId: 0123456789abcdef",
		"Started: 2026-11-18T"} {
		if !strings.Contains(got.Meta, line) {
			t.Errorf("no %q in the metadata\n%s", line, got.Meta)
		}
	}
}

// TestLabels looks at what go tool pprof makes of labels, places and comments.
//
// Invariant: Messages, stalls, stacks, frames, queues, marks, repairs, damage and the precision of times are in every
// format that can show them.
func TestLabels(t *testing.T) {
	file := exportFile(t, "pprof", "full.pb.gz", naming{}, full())
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-tags"}, []string{"main", "unwound"}},
		{[]string{"-top", "-lines"}, []string{"com.app.CD.mda CD.java:13", "com.app.CB.mga CB.java:16"}},
		{[]string{"-raw"}, []string{"Comment: made by tracegen", "precise to 5 ms", "repairs.unwound: 1"}},
		{[]string{"-traces", "-tagfocus=marks=unwound"}, []string{"700ms   com.app.CB.mga"}},
	} {
		out := goPprof(t, append(c.args, file)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("go tool pprof %s: no %q in\n%s", c.args, want, out)
			}
		}
	}
}

// TestSpeedscopeSchema holds files to the schema that speedscope publishes, and looks at the marks.
//
// Invariant: No recording makes an exporter panic, or write what its readers refuse.
func TestSpeedscopeSchema(t *testing.T) {
	data, err := found(t).SpeedscopeSchema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("speedscope.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("speedscope.json")
	if err != nil {
		t.Fatal(err)
	}
	all, _ := totalsRecordings(t)
	for _, recordings := range [][][]byte{{full()}, all, {newRecorded().end()}} {
		export := exportBytes(t, "speedscope", naming{}, recordings...)
		file, err := jsonschema.UnmarshalJSON(bytes.NewReader(export))
		if err == nil {
			err = compiled.Validate(file)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if export := exportBytes(t, "speedscope", naming{}, full()); !bytes.Contains(export,
		[]byte(`{"name":"com.app.CB.mga [unwound]","file":"CB.java","line":16}`)) {
		t.Errorf("%s", export)
	}
}

// parts writes every segment to an exporter in parts of a few calls, as replay does with those that are very long.
type parts struct {
	export.Writer
	size int
}

func (p parts) Segment(s *trace.Segment) error {
	for from := 0; from < len(s.Calls); from += p.size {
		to := min(from+p.size, len(s.Calls))
		part := trace.Segment{Thread: s.Thread, Kind: s.Kind, FirstRecord: s.FirstRecord, EndRecord: s.EndRecord,
			Begin: s.Begin, End: s.End}
		if to == len(s.Calls) {
			part.Repairs = s.Repairs
		}
		// What is open where the part begins is written again, the outermost first.
		var open []int
		for up := s.Calls[from].Parent; up >= 0; up = s.Calls[up].Parent {
			open = append(open, int(up))
		}
		moved := map[int32]int32{-1: -1}
		add := func(i int, marks trace.Marks) {
			c := s.Calls[i]
			moved[int32(i)] = int32(len(part.Calls))
			c.Parent = moved[c.Parent]
			if c.Marks |= marks; to < int(s.Calls[i].Next) {
				c.Marks = c.Marks&(trace.MarkResumed) | trace.MarkSuspended
			}
			if from > 0 {
				c.Begin = max(c.Begin, s.Calls[from].Begin)
			}
			if to < len(s.Calls) {
				c.End = min(c.End, s.Calls[to].Begin)
			}
			part.Calls = append(part.Calls, c)
		}
		slices.Reverse(open)
		for _, i := range open {
			add(i, trace.MarkResumed)
		}
		for i := from; i < to; i++ {
			add(i, 0)
		}
		for k := range part.Calls {
			next := k + 1
			for next < len(part.Calls) && part.Calls[next].Parent >= int32(k) {
				next++
			}
			part.Calls[k].Next = int32(next)
		}
		part.Begin, part.End = part.Calls[0].Begin, part.Calls[0].End
		if err := p.Writer.Segment(&part); err != nil {
			return err
		}
	}
	return nil
}

// TestParts: a segment that is written in parts looks as it does when it is written in one.
//
// Invariant: A segment that is exported in parts looks like one that is exported whole.
func TestParts(t *testing.T) {
	r := newRecorded("tickNanos", "1000", "process", "com.app")
	r.clock(0, 0)
	r.thread(0, "main", true)
	r.add(0, 0, wander(9, 3, 60, false)...)
	data := r.end()
	for _, f := range export.Formats() {
		if f.Name == "html" {
			continue
		}
		for _, size := range []int{1, 2, 7} {
			whole := exportBytes(t, f.Name, naming{}, data)
			got := exportOf(t, f.Name, func(v export.Writer) error { return feed(parts{v, size}, naming{}, data) })
			if f.Name == "pprof" {
				compareProfiles(t, whole, got)
			} else if !bytes.Equal(whole, got) {
				t.Errorf("%s: in parts of %d calls it is not the same:\n%s", f.Name, size,
					gocmp.Diff(strings.Split(string(whole), "\n"), strings.Split(string(got), "\n")))
			}
		}
	}
}

// compareProfiles compares what profiles measure: the order of their samples is that of paths.
func compareProfiles(t *testing.T, a, b []byte) {
	t.Helper()
	dir := t.TempDir()
	var got [2]map[method]measure
	for k, data := range [][]byte{a, b} {
		file := filepath.Join(dir, fmt.Sprint(k))
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		got[k], _ = readProfile(t, file)
	}
	if diff := gocmp.Diff(got[0], got[1]); diff != "" {
		t.Error(diff)
	}
}

// TestReports: merged calls without times are laid out in the order of the tree, one report behind the other, and it is
// said.
func TestReports(t *testing.T) {
	replay := content(func(h trace.Handler) error {
		for range 2 {
			err := h.Segment(&trace.Segment{Kind: trace.SegmentReport, End: 10e6, Calls: []trace.Call{
				{Method: trace.MethodDispatch, Parent: -1, Next: 4, Count: 1, End: 10e6},
				{Method: 3, Parent: 0, Next: 3, Count: 7, End: 6e6},
				{Method: 6, Parent: 1, Next: 3, Count: 2, End: 4e6, Marks: trace.MarkOverfull},
				{Method: 3, Parent: 0, Next: 4, Count: 1, Begin: 6e6, End: 9e6},
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	report := func(v export.Writer) error { return feedSource(v, naming{}, "reports", replay) }
	want := map[method]measure{
		{"thread 0", "android.os.Handler.dispatchMessage"}: {2, 2e6, 20e6, 20e6},
		{"thread 0", "com.app.CD.mda"}:                     {16, 10e6, 18e6, 18e6},
		{"thread 0", "com.app.CB.mga"}:                     {4, 8e6, 8e6, 8e6},
	}
	for _, r := range readings() {
		if r.by != "package profile" && r.by != "trace processor" && r.format != "collapsed" && r.format != "firefox" {
			continue
		}
		file := filepath.Join(t.TempDir(), r.file)
		if err := os.WriteFile(file, exportOf(t, r.format, report), 0o644); err != nil {
			t.Fatal(err)
		}
		got, _ := r.read(t, file)
		if r.by == "trace processor" {
			// A slice is a call to it, however many it stands for.
			got = without(got, func(m *measure) { m.Calls = -1 })
		}
		compare(t, r, got, want, false)
	}
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, exportOf(t, "perfetto", report), 0o644); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string][]string{
		"select display_value from args join slice using (arg_set_id) where key = 'debug.calls' and display_value in " +
			"('7', '2') order by 1": {"2", "2", "7", "7"},
		"select display_value from args where key = 'debug.reports'": {
			"calls of reports are merged and placed in the order of the tree; only durations are right"},
		"select max(ts + dur) / 1e6 from slice": {"20"},
		"select count(*) from args join slice using (arg_set_id) where key = 'debug.marks' and display_value = " +
			"'overfull'": {"2"},
		"select s.name a, c.name b, c.ts / 1e6 c from slice s join slice c on c.parent_id = s.id where s.name = " +
			"'com.app.CD.mda' order by c.ts": {"com.app.CD.mda com.app.CB.mga 0", "com.app.CD.mda com.app.CB.mga 10"},
	} {
		if diff := gocmp.Diff(want, query(t, file, sql)); diff != "" {
			t.Errorf("%s: %s", sql, diff)
		}
	}
}

// TestEveryRepairIsShown fails if a number of [trace.Repairs] or of the damage is not in the export, a new one too.
//
// Invariant: Messages, stalls, stacks, frames, queues, marks, repairs, damage and the precision of times are in every
// format that can show them.
func TestEveryRepairIsShown(t *testing.T) {
	var all trace.Repairs
	fields := reflect.ValueOf(&all).Elem()
	for k := range fields.NumField() {
		fields.Field(k).SetUint(uint64(1000 + k))
	}
	text := string(exportOf(t, "speedscope", func(v export.Writer) error {
		return v.Recording(&analysis.Recording{Repairs: all, Damage: trace.Damage{LostChunks: 1, Malformed: 1,
			SkippedBytes: 1, Unknown: 1, Header: true}})
	}))
	for k := range fields.NumField() {
		name := fields.Type().Field(k).Name
		if want := fmt.Sprintf(`"repairs.%s":%d`, strings.ToLower(name), 1000+k); !strings.Contains(text, want) {
			t.Errorf("%s is not shown: no %s in %s", name, want, text)
		}
	}
	for _, want := range []string{"lostChunks", "malformed", "skippedBytes", "unknown", "header"} {
		if !strings.Contains(text, `"damage.`+want+`":`) {
			t.Errorf("damage.%s is not shown", want)
		}
	}
}

// TestOverloads: methods of one name are distinguished by their parameters, in every format by the same words.
func TestOverloads(t *testing.T) {
	r := newRecorded("tickNanos", "1000000")
	r.clock(0, 0)
	r.thread(0, "main", true)
	r.add(0, 0, record{1, 0}, record{2, 1}, record{3, 2}, record{-3, 3}, record{-2, 4}, record{-1, 5})
	got := string(exportBytes(t, "collapsed", overloads{}, r.end()))
	want := "main;a.B.f 2000000\nmain;a.B.f;a.B.f(String[][], long) 2000000\nmain;a.B.f;a.B.f(String[][], " +
		"long);a.B.f~2 1000000\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	var names []string
	for _, f := range parseProfile(t, exportFile(t, "pprof", "x", overloads{}, r.Bytes())).Function {
		names = append(names, f.Name)
	}
	if diff := gocmp.Diff([]string{"a.B.f", "a.B.f(String[][], long)", "a.B.f~2"}, names); diff != "" {
		t.Error("pprof", diff)
	}
}

type overloads struct{}

func (overloads) Name(m trace.Method) (trace.Name, bool) {
	descriptors := [...]string{1: "()V", 2: "([[Ljava/lang/String;J)V", 3: ""}
	return trace.Name{Class: "a.B", Method: "f", Descriptor: descriptors[m]}, true
}

// TestMarks: calls with marks are as many in every format as replay has marked.
//
// Invariant: Messages, stalls, stacks, frames, queues, marks, repairs, damage and the precision of times are in every
// format that can show them.
func TestMarks(t *testing.T) {
	all, _ := totalsRecordings(t)
	data := all[3] // open at its end, and nothing unwound
	marked := 0
	for _, c := range plain(t, data, naming{}, 0) {
		if c.open {
			marked++
		}
	}
	if marked == 0 {
		t.Fatal("nothing is open")
	}
	for format, c := range map[string]struct {
		shows string
		times int
	}{
		"speedscope": {` [open]"`, 0}, "collapsed": {" [open]", 0}, "firefox": {`"subcategories":["Other","open"]`, 1},
	} {
		got := bytes.Count(exportBytes(t, format, naming{}, data), []byte(c.shows))
		if got == 0 || c.times > 0 && got != c.times {
			t.Errorf("%s shows %d times %q, want %d", format, got, c.shows, c.times)
		}
	}
	file := exportFile(t, "perfetto", "x", naming{}, data)
	if diff := gocmp.Diff([]string{fmt.Sprint(marked)}, query(t, file,
		"select count(*) from args join slice using (arg_set_id) where key = 'debug.marks' and display_value = "+
			"'open'")); diff != "" {
		t.Error(diff)
	}
}

// TestLogWithoutClock: the stacks of BlockCanary's log stand within the calls that were made of them.
func TestLogWithoutClock(t *testing.T) {
	data, err := os.ReadFile("../source/testdata/reports/blockcanary.txt")
	if err != nil {
		t.Fatal(err)
	}
	file := exportFile(t, "perfetto", "x", naming{}, data)
	want := []string{"com.example.Main.onCreate 0 5050",
		"stall #1: cause unknown: dalvik.system.DexFile.loadDex (own time 2000 ms); CPU 12 %; " +
			"the stack samples do not show what it waited for 0 0", "stack 802 0", "stack 1804 0", "stack 3804 0",
		"com.example.Main.spin 45399 1000"}
	got := query(t, file,
		"select name a, ts / 1e6 b, dur / 1e6 c from slice where depth = 0 and category in ('method', 'stall') order by "+
			"ts, name limit 6")
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
