package answer

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// sampled is a recording of two threads that make the same calls: a call of two seconds with a call of half a second in
// it. So many samples of each show a library in the outer call, which waits now and then.
type sampled int

func (sampled) Damage() trace.Damage { return trace.Damage{Closed: true} }

func (samples sampled) Replay(h trace.Handler) error {
	err := h.Chunk(&trace.Meta{Values: map[string]string{"tickNanos": "1000"}})
	if err == nil {
		err = h.Named(trace.FirstNamed, "lib.Store.read")
	}
	if err == nil {
		err = h.Chunk(&trace.Stacks{Samples: []trace.SteadySample{{}}})
	}
	for thread := range uint32(2) {
		s := &trace.Segment{Thread: thread, Kind: trace.SegmentOutermost, End: 2e9, Calls: []trace.Call{
			{Method: 1, Parent: -1, Next: 2, Count: 1, End: 2e9},
			{Method: 2, Parent: 0, Next: 2, Count: 1, Begin: 1e9, End: 1.5e9}}}
		for k := range int(samples) {
			at := int64(k) * 1e8
			if at >= 1e9 {
				at += 5e8
			}
			sample := trace.Sample{Nanos: at, Weight: 1e8, State: 2, CPU: 5e7}
			if k%3 > 0 {
				sample.Below = []trace.Method{trace.FirstNamed}
			}
			if k%3 == 2 {
				sample.State, sample.CPU = trace.ThreadTimedWaiting, 0
			}
			s.Samples = append(s.Samples, sample)
		}
		if err == nil {
			err = h.Segment(s)
		}
	}
	return err
}

// accepting is sampled with another library: a system call.
type accepting struct{ sampled }

func (a accepting) Replay(h trace.Handler) error { return a.sampled.Replay(acceptNames{h}) }

type acceptNames struct{ trace.Handler }

func (n acceptNames) Named(m trace.Method, _ string) error {
	return n.Handler.Named(m, "sun.nio.ch.Net.accept")
}

// TestEstimated: the table and the tree say what of the times only samples show, how sure it is, and what the thread
// did. A method that only samples show has no number of calls.
func TestEstimated(t *testing.T) {
	names := numbers{}
	methods := new(Methods)
	o := analysis.Options{Names: names}
	methods.Connect(&o)
	if err := analysis.Analyze("a.tgd", sampled(15), o); err != nil {
		t.Fatal(err)
	}
	var table, tree, object bytes.Buffer
	if err := methods.WriteTable(&table, OrderSelf, 0); err != nil {
		t.Fatal(err)
	}
	o = analysis.Options{Names: names}
	WriteTrees(&o, &tree, Least{})
	if err := analysis.Analyze("a.tgd", sampled(15), o); err != nil {
		t.Fatal(err)
	}
	j, err := NewJSON(&object, "test")
	if err == nil {
		err = j.Close(methods, OrderSelf, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		table.String(): `        self        total      calls      longest stalls  method
     2000 ms      2000 ms          -            -      0  lib.Store.read  [self 2.0 ± 0.6 s, 20 samples, estimated; running 1000 ms, waiting 1000 ms]
     1000 ms      4000 ms          2      2000 ms      0  a.Feed.load  [self 1.0 ± 0.6 s, 30 samples; running 1000 ms]
     1000 ms      1000 ms          2       500 ms      0  a.Feed.bind
`,
		tree.String(): `a.tgd:
       total         self              calls  method
     4000 ms      1000 ms   100 %          2  a.Feed.load  [self 1.0 ± 0.5 s, 30 samples; running 1000 ms]
     2000 ms      2000 ms    50 %          -    lib.Store.read  [self 2.0 ± 0.6 s, 20 samples, estimated; running 1000 ms, waiting 1000 ms]
     1000 ms      1000 ms    25 %          2    a.Feed.bind
`,
		object.String(): `{"schema":1,"version":"test",
"stalls":[],
"recordings":[],
"methods":[
{"method":{"class":"lib.Store","name":"read"},"calls":0,"marked":0,"records":0,"totalNanos":2000000000,` +
			`"selfNanos":2000000000,"longestNanos":0,"estimate":{"samples":20,"totalNanos":2000000000,` +
			`"selfNanos":2000000000,"totalLowNanos":1429972457,"totalHighNanos":2478413792,` +
			`"selfLowNanos":1429972457,"selfHighNanos":2478413792,"knownNanos":2000000000,"runningNanos":1000000000,` +
			`"waitingNanos":1000000000,"blockedNanos":0,"cpuNanos":500000000},"stalls":0}
]}
`,
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// numbers are names of methods by their IDs.
type numbers struct{}

func (numbers) Name(m trace.Method) (trace.Name, bool) {
	if m == 1 || m == 2 {
		return trace.Name{Class: "a.Feed", Method: []string{"load", "bind"}[m-1], Descriptor: "()V"}, true
	}
	return trace.NoNames{}.Name(m)
}

// TestScreenOfSteadySamples: the own time that samples fell in is apart by what they show, and that of a method without
// a sample is not known.
func TestScreenOfSteadySamples(t *testing.T) {
	got := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = numbers{}
		if err := analysis.Analyze("a.tgd", sampled(15), o); err != nil {
			t.Fatal(err)
		}
	})
	golden.Compare(t, "testdata/screen-steady.golden", got)
}

// TestFewSamplesRankNothing: if four samples show a library, the screen lists the method that called it, with the time
// that was recorded and what its thread did; with six, the library.
func TestFewSamplesRankNothing(t *testing.T) {
	for samples, want := range map[sampled][]string{
		3: {"       own time  share        total        calls  samples  methods that ran",
			"         2.00 s  100 %       4.00 s            2        6  a.Feed.load",
			"       own time  share        total        calls  samples  methods that waited",
			"         1.00 s  100 %       4.00 s            2        6  a.Feed.load"},
		5: {"  6  lib.Store.read"},
	} {
		got := screenOf(t, new(Screen), func(o analysis.Options) {
			o.Names = numbers{}
			if err := analysis.Analyze("a.tgd", samples, o); err != nil {
				t.Fatal(err)
			}
		})
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("%d samples of each thread: no line %q in\n%s", samples, line, got)
			}
		}
		if samples == 3 && strings.Contains(got, "lib.") {
			t.Errorf("four samples are enough:\n%s", got)
		}
	}
}

// TestFewSamplesOfSystemCall: a method that few samples show in a system call has waited there but for the CPU time,
// although the JVM says that its thread runs.
func TestFewSamplesOfSystemCall(t *testing.T) {
	got := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = numbers{}
		if err := analysis.Analyze("a.tgd", accepting{3}, o); err != nil {
			t.Fatal(err)
		}
	})
	const want = "         1.50 s  100 %       4.00 s            2        6  a.Feed.load\n" +
		"       own time  share        total        calls  samples  methods that waited\n" +
		"         1.50 s  100 %       4.00 s            2        6  a.Feed.load"
	if !strings.Contains(got, want) {
		t.Errorf("no lines\n%s\nin\n%s", want, got)
	}
}
