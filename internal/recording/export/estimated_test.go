package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// sampledThreads are the threads of sampledContent.
var sampledThreads = []string{"main", "worker"}

// sampledSegment makes a message of calls that nest at random, with samples in some of them.
func sampledSegment(rnd *rand.Rand, thread uint32, begin int64) *trace.Segment {
	s := &trace.Segment{Thread: thread, Kind: trace.SegmentOutermost, Begin: begin}
	now := begin
	var below func(parent int32, depth int)
	below = func(parent int32, depth int) {
		for range 1 + rnd.IntN(3) {
			k := int32(len(s.Calls))
			call := trace.Call{Method: trace.Method(1 + rnd.IntN(5)), Parent: parent, Count: 1, Begin: now}
			if rnd.IntN(6) == 0 {
				call.Marks = trace.MarkUnwound
			}
			s.Calls = append(s.Calls, call)
			for range rnd.IntN(3) {
				now += 1 + rnd.Int64N(1e6)
				s.Samples = append(s.Samples, madeSample(rnd, s.Calls, k, now))
			}
			if depth > 0 && rnd.IntN(3) > 0 {
				below(k, depth-1)
			}
			now += 1 + rnd.Int64N(1e6)
			s.Calls[k].End, s.Calls[k].Next = now, int32(len(s.Calls))
		}
	}
	below(-1, 3)
	s.End = now
	return s
}

// madeSample makes a sample in a call. Estimated calls are of methods that the recording names, and of ones that are
// recorded elsewhere.
func madeSample(rnd *rand.Rand, calls []trace.Call, in int32, at int64) trace.Sample {
	frames := func(n int) (list []trace.Method) {
		for range n {
			m := trace.FirstNamed + trace.Method(rnd.IntN(4))
			if rnd.IntN(4) == 0 {
				m = trace.Method(1 + rnd.IntN(5))
			}
			list = append(list, m)
		}
		return list
	}
	states := []trace.ThreadState{2, trace.ThreadWaiting, trace.ThreadBlocked}
	s := trace.Sample{Call: in, Nanos: at, Weight: 1 + rnd.Int64N(1e6), CPU: rnd.Int64N(1e6), Below: frames(rnd.IntN(3)),
		State: states[rnd.IntN(len(states))]}
	if calls[in].Parent >= 0 && rnd.IntN(3) == 0 {
		s.Between = []trace.Between{{Call: in, Frames: frames(1 + rnd.IntN(2))}}
	}
	return s
}

// sampledContent is a recording with samples, and its segments.
func sampledContent(seed uint64) (content, []*trace.Segment) {
	rnd := rand.New(rand.NewPCG(seed, 33))
	var segments []*trace.Segment
	now := int64(1e9)
	for range 12 {
		s := sampledSegment(rnd, uint32(rnd.IntN(len(sampledThreads))), now)
		segments = append(segments, s)
		now = s.End
	}
	return func(h trace.Handler) error {
		err := h.Chunk(&trace.Meta{Values: map[string]string{"process": "com.app", "tickNanos": "1000"}})
		for k, name := range sampledThreads {
			if err == nil {
				err = h.Chunk(&trace.Threads{List: []trace.Thread{{Index: uint32(k), Name: name, Main: k == 0}}})
			}
		}
		for k := range 4 {
			if err == nil {
				err = h.Named(trace.FirstNamed+trace.Method(k), fmt.Sprintf("lib.L%d.run", k))
			}
		}
		if err == nil {
			err = h.Chunk(&trace.Stacks{Samples: []trace.SteadySample{{}}})
		}
		for _, s := range segments {
			if err == nil {
				err = h.Segment(s)
			}
		}
		return err
	}, segments
}

// graftedMeasures is what the grafted trees of the segments' threads have. estimatedName is
// what an estimated call is called.
func graftedMeasures(segments []*trace.Segment, estimatedName func(string) string) map[method]measure {
	all := map[method]measure{}
	for thread, label := range sampledThreads {
		var tree evidence.Tree
		for _, s := range segments {
			if int(s.Thread) == thread {
				tree.Add(s)
			}
		}
		nodes := evidence.Graft(&tree).Nodes
		paths := make([][]string, len(nodes))
		for k := 1; k < len(nodes); k++ {
			n := &nodes[k]
			name := fmt.Sprintf("lib.L%d.run", n.Method-trace.FirstNamed)
			if n.Method < trace.FirstNamed {
				known, _ := naming{}.Name(n.Method)
				name = known.String()
			}
			if n.Grafted.Estimated {
				name = estimatedName(name)
			}
			paths[k] = append(slices.Clip(paths[n.Parent]), name)
			spend(all, label, paths[k], n.Self, int64(n.Calls))
		}
	}
	return all
}

// estimatedReading is a format and a program that shows estimated calls.
type estimatedReading struct {
	format, file, by string
	// name is what an estimated call is called.
	name func(string) string
	read func(testing.TB, string) map[method]measure
	// threads is false if the program does not distinguish threads.
	threads bool
	exact   int64
}

func estimatedReadings() []estimatedReading {
	inBrackets := func(name string) string { return name + " [estimated]" }
	same := func(name string) string { return name }
	return []estimatedReading{
		{"collapsed", "x.collapsed", "the test", inBrackets, func(t testing.TB, file string) map[method]measure {
			all, _ := readCollapsed(t, file)
			return all
		}, true, 0},
		{"pprof", "x.pb.gz", "package profile", same, func(t testing.TB, file string) map[method]measure {
			all, _ := readProfile(t, file)
			return all
		}, true, 0},
		{"pprof", "x.pb.gz", "go tool pprof", same, func(t testing.TB, file string) map[method]measure {
			all, _ := readTop(t, file)
			return without(all, func(m *measure) { m.Sum = -1 })
		}, false, 0},
		{"speedscope", "x.speedscope.json", "speedscope", inBrackets, func(t testing.TB, file string) map[method]measure {
			all, _ := readSpeedscopeProfiles(t, file, true)
			return all
		}, true, 200},
		{"firefox", "x.firefox.json", "Firefox Profiler", same, func(t testing.TB, file string) map[method]measure {
			all, _ := readFirefox(t, file)
			merged := map[method]measure{}
			for key, m := range all {
				if thread, ok := strings.CutSuffix(key.Thread, mergedThread); ok {
					merged[method{thread, key.Name}] = m
				}
			}
			return merged
		}, true, 0},
		{"perfetto", "x.perfetto-trace", "trace processor", inBrackets, readPerfettoMerged, true, 0},
	}
}

// mergedThread is behind the name of a thread whose calls are merged.
const mergedThread = ": with estimated calls, merged"

const mergedSlices = `select s.id id, s.parent_id parent, s.dur dur, s.name name, s.category category, t.name thread
	from slice s join track tr on s.track_id = tr.id
	join thread t on t.utid = extract_arg(tr.dimension_arg_set_id, 'utid')
	where s.category in ('merged', 'estimated') order by s.id`

// readPerfettoMerged is what the trace processor finds on the tracks with merged calls, estimated ones by category.
func readPerfettoMerged(t testing.TB, file string) map[method]measure {
	var tables [2][]map[string]any
	ask(t, "perfetto", file, map[string]any{"queries": []string{mergedSlices, processorErrors}}, &tables)
	for _, row := range tables[1] {
		t.Errorf("%s: trace processor: %v", file, row)
	}
	type slice struct {
		thread string
		path   []string
		self   int64
	}
	slicesByID, order := map[any]*slice{}, []any{}
	for _, row := range tables[0] {
		name := row["name"].(string)
		if row["category"] == "estimated" {
			name += " [estimated]"
		}
		s := &slice{row["thread"].(string), []string{name}, int64(row["dur"].(float64))}
		if up := slicesByID[row["parent"]]; up != nil {
			up.self -= s.self
			s.path = append(slices.Clip(up.path), name)
		}
		slicesByID[row["id"]] = s
		order = append(order, row["id"])
	}
	all := map[method]measure{}
	for _, id := range order {
		s := slicesByID[id]
		spend(all, s.thread, s.path, s.self, 0)
	}
	return without(all, func(m *measure) { m.Calls, m.Sum = -1, -1 })
}

// TestEstimatedTotalsAgree reads exports of a recording with samples with programs that are not ours. Each shows, for
// each method and thread, the times of the grafted tree, and distinguishes estimated calls.
//
// Invariant: Other programs read in an export of a recording with samples the times of the grafted tree.
func TestEstimatedTotalsAgree(t *testing.T) {
	source, segments := sampledContent(1)
	dir := t.TempDir()
	for _, r := range estimatedReadings() {
		t.Run(r.format+"/"+r.by, func(t *testing.T) {
			out := exportOf(t, r.format, func(v export.Writer) error { return feedSource(v, naming{}, "a.tgd", source) })
			file := filepath.Join(dir, r.format+r.file)
			if err := os.WriteFile(file, out, 0o644); err != nil {
				t.Fatal(err)
			}
			want := graftedMeasures(segments, r.name)
			if !r.threads {
				want = together(want)
			}
			compare(t, reading{format: r.format, exact: r.exact}, r.read(t, file), want, false)
		})
	}
}

// TestEstimatedIsMarked: go tool pprof and the Firefox Profiler distinguish estimated time by a label and a category.
func TestEstimatedIsMarked(t *testing.T) {
	source, segments := sampledContent(1)
	estimated := int64(0)
	for key, m := range graftedMeasures(segments, func(string) string { return "estimated" }) {
		if key.Name == "estimated" {
			estimated += m.Self
		}
	}
	write := func(format, name string) string {
		out := exportOf(t, format, func(v export.Writer) error { return feedSource(v, naming{}, "a.tgd", source) })
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, out, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	labelled := int64(0)
	for _, s := range parseProfile(t, write("pprof", "x.pb.gz")).Sample {
		if slices.Equal(s.Label["time"], []string{"estimated"}) {
			labelled += s.Value[0]
		}
	}
	if labelled != estimated {
		t.Errorf("pprof: %d ns are labelled, want %d", labelled, estimated)
	}
	data, err := os.ReadFile(write("firefox", "x.firefox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		Meta    struct{ Categories []struct{ Name string } }
		Threads []struct {
			Name    string
			Samples struct {
				Stack  []*int
				Weight []float64
			}
			StackTable struct{ Category []int }
		}
	}
	if err := json.Unmarshal(data, &profile); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, th := range profile.Threads {
		for k, stack := range th.Samples.Stack {
			if stack != nil && profile.Meta.Categories[th.StackTable.Category[*stack]].Name == "Estimated" {
				sum += th.Samples.Weight[k]
			}
		}
	}
	if nanos(sum*1000) != estimated {
		t.Errorf("firefox: %d ns have the category, want %d", nanos(sum*1000), estimated)
	}
}

// TestEstimatedSumsOfTable: the table's times are the same as those of the exports, over all threads, also if calls are
// folded in the export; and the sum of own times is that of the records.
func TestEstimatedSumsOfTable(t *testing.T) {
	for seed := range uint64(20) {
		source, segments := sampledContent(seed)
		methods := new(answer.Methods)
		o := analysis.Options{Names: naming{}}
		methods.Connect(&o)
		if err := analysis.Analyze("a.tgd", source, o); err != nil {
			t.Fatal(err)
		}
		want := together(graftedMeasures(segments, func(name string) string { return name }))
		got := map[method]measure{}
		own, recorded, estimated := int64(0), int64(0), int64(0)
		for _, m := range methods.Sorted(answer.OrderSelf) {
			got[method{"", m.Method.Identity()}] = measure{-1, m.Self, -1, m.Total}
			own, estimated = own+m.Self, estimated+m.Estimate.Self
			e := &m.Estimate
			if e.Samples > 0 && (e.SelfLow > m.Self || e.SelfHigh < m.Self || e.TotalLow > m.Total || e.TotalHigh < m.Total ||
				e.Running+e.Waiting+e.Blocked != e.Known) {
				t.Errorf("seed %d: %+v", seed, m)
			}
		}
		for _, s := range segments {
			for i := range s.Calls {
				if s.Calls[i].Parent < 0 {
					recorded += s.Calls[i].End - s.Calls[i].Begin
				}
			}
		}
		if own != recorded || estimated == 0 {
			t.Errorf("seed %d: own times are %d ns, %d of them estimated, the calls took %d", seed, own, estimated, recorded)
		}
		compare(t, reading{}, got, want, false)
		folded := new(bytes.Buffer)
		v, err := export.New("speedscope", folded, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = analysis.Analyze("a.tgd", source, analysis.Options{Names: naming{}, View: &analysis.View{Fold: true},
			Also: func(r *analysis.Recording) (trace.Handler, error) { return v, v.Recording(r) }})
		if err == nil {
			err = v.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"[estimated]", mergedThread} {
			if !strings.Contains(folded.String(), name) {
				t.Errorf("seed %d: the folded export has no %q", seed, name)
			}
		}
	}
}
