package export_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// mainTree is a [trace.Handler] that merges what the main thread did.
type mainTree struct{ evidence.Tree }

func (m *mainTree) Chunk(trace.Chunk) error          { return nil }
func (m *mainTree) Named(trace.Method, string) error { return nil }
func (m *mainTree) Segment(s *trace.Segment) error {
	if s.Thread == 0 {
		m.Add(s)
	}
	return nil
}

// TestPageSamplesAsGraft: the page divides the own time of calls as package evidence does, with the same bounds.
func TestPageSamplesAsGraft(t *testing.T) {
	var m mainTree
	if err := new(demo).Replay(&m); err != nil {
		t.Fatal(err)
	}
	got := visit{steps: []step{press("6"), painted, value(`JSON.stringify([...methodTimes(shown.tree).values()].map((r) => {
		const tree = shown.tree, part = Math.max(0, r.total - r.recorded);
		const total = methodBounds(tree, "total", r, part), self = methodBounds(tree, "self", r, r.estSelf.sampled);
		return {Name: shown.names(r.method).text, Self: r.self, Total: r.total, Estimated: part, EstimatedSelf: r.estSelf.time,
			CPU: r.cpu, Calls: r.calls, Low: total[0], High: total[1], SelfLow: self[0], SelfHigh: self[1]};
	}))`)}}.open(t, demoPage(t))
	type row struct {
		Name                                                  string
		Self, Total, Estimated, EstimatedSelf, CPU, Low, High float64
		SelfLow, SelfHigh                                     float64
		Calls                                                 int
	}
	rows := map[string]row{}
	unmarshal(t, got[0].(string), func(r row) { rows[r.Name] = r })
	names := map[trace.Method]string{demoSort: "java.util.TimSort.sort", demoRead: "java.io.FileInputStream.readBytes",
		trace.MethodDispatch: "android.os.Handler.dispatchMessage"}
	grafted := evidence.Graft(&m.Tree)
	sums := evidence.Sums(grafted)
	evidence.Bound(sums, evidence.Divided{Recorded: &m.Tree, Grafted: grafted})
	for _, s := range sums {
		name := names[s.Method]
		if name == "" {
			name = demoMethods[s.Method-1]
		}
		r := rows[name]
		near := func(what string, got float64, want int64) {
			if math.Abs(got-float64(want)) > 1e-4*math.Abs(float64(want))+1e4 {
				t.Errorf("%s: %s is %.0f, want %d", name, what, got, want)
			}
		}
		near("self", r.Self, s.Self)
		near("total", r.Total, s.Total)
		near("estimated", r.Estimated, s.EstimatedTotal)
		near("estimated self", r.EstimatedSelf, s.EstimatedSelf)
		near("low", r.Low, s.TotalLow)
		near("high", r.High, s.TotalHigh)
		near("low self", r.SelfLow, s.SelfLow)
		near("high self", r.SelfHigh, s.SelfHigh)
		near("CPU", r.CPU, s.Self-s.Waiting-s.Blocked)
		if r.Calls != int(s.Calls) {
			t.Errorf("%s: %d calls, want %d", name, r.Calls, s.Calls)
		}
	}
	if len(sums) != len(rows) || len(sums) < 20 {
		t.Errorf("%d methods, want %d", len(rows), len(sums))
	}
}

// sampled is a page of one call, of 100 ms: in half of its samples it is in a library, in a tenth blocked, and a second
// recorded call is called by the library in all of its own.
//
//	main: a.A.one 0-100 (x.Lib.work, estimated; a.B.two 60-80, called by x.Lib.work)
func sampled(t testing.TB) string {
	t.Helper()
	s := trace.Segment{Kind: trace.SegmentOutermost, End: 100e6, Calls: []trace.Call{
		{Method: 1, Parent: -1, Next: 2, Count: 1, End: 100e6},
		{Method: 2, Parent: 0, Next: 2, Count: 1, Begin: 60e6, End: 80e6}}}
	for k := range int64(50) {
		one := trace.Sample{Nanos: k*2e6 + 1e6, Weight: 2e6, CPU: -1, State: 2}
		switch {
		case k >= 30 && k < 40:
			one.Call, one.Between = 1, []trace.Between{{Call: 1, Frames: []trace.Method{trace.FirstNamed}}}
		case k < 20:
			one.Below = []trace.Method{trace.FirstNamed}
		case k < 24:
			one.State = 3
		}
		s.Samples = append(s.Samples, one)
	}
	data := exportOf(t, "html", func(v export.Writer) error {
		return feedSource(v, smallNames{1: "a.A.one", 2: "a.B.two"}, "sampled.tgd", content(func(h trace.Handler) error {
			for _, c := range []trace.Chunk{&trace.Meta{Values: map[string]string{"tickNanos": "1000"}}, &trace.Clock{},
				&trace.Threads{List: []trace.Thread{{Name: "main", Main: true}}}} {
				if err := h.Chunk(c); err != nil {
					return err
				}
			}
			if err := h.Named(trace.FirstNamed, "x.Lib.work"); err != nil {
				return err
			}
			return h.Segment(&s)
		}))
	})
	file := filepath.Join(t.TempDir(), "sampled.html")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPageEstimates: estimated calls are marked in all views, with their number of samples and bounds; sums stay;
// the switch shows the time in which the thread ran; the flame chart has what was seen at its time.
func TestPageEstimates(t *testing.T) {
	const tips = `(() => { const c = shown.charts.chart, all = [];
		for (let i = 0; i < c.calls.length; i++) all.push((c.calls.estimated(i) ? "~" : "") + shown.callTip(c.calls, i).join(": "));
		return all.join("\n"); })()`
	got := visit{steps: []step{press("6"), painted, tableText("methods"),
		value(`$("methods").tBodies[0].rows[1].cells[0].title`),
		press("3"), painted, value(tips), press("t"), painted, value(tips), value(`$("span").textContent`),
		press("t"), press("4"), painted, value(tips), press("2"), painted, value(tips),
		value(`[0, 35, 21].map((k) => shown.charts.chart.calls.states.of(k * 2e6, k * 2e6 + 1e6)).join()`),
		value(`[0, 1].map((i) => shown.charts.chart.calls.estimated(i)).join()`),
	}}.open(t, sampled(t))
	want := []any{
		"40.0 ms | 40.0 % | 32.0 ms | 34.8 % | 100 ms | 100 % | 1 | one A · a\n" +
			"≈ 40.0 ms | 40.0 % | ≈ 40.0 ms | 43.5 % | ≈ 60.0 ms | 60.0 % | est. | work Lib · x\n" +
			"20.0 ms | 20.0 % | 20.0 ms | 21.7 % | 20.0 ms | 20.0 % | 1 | two B · a",
		"est. 40.0 ms (25.4 ms to 54.9 ms), 20 samples",
		"a.A.one: 100 ms; own time 40.0 ms; own time est. 40.0 ms (28.2 ms to 51.8 ms), 40 samples\n" +
			"~x.Lib.work: 60.0 ms; own time 40.0 ms; est. 60.0 ms (46.2 ms to 72.4 ms), 20 samples\n" +
			"a.B.two: 20.0 ms; own time 20.0 ms; own time est. 20.0 ms (14.4 ms to 20.0 ms), 10 samples",
		"a.A.one: 92.0 ms; own time 32.0 ms\n~x.Lib.work: 60.0 ms; own time 40.0 ms; est. 60.0 ms, 20 samples\n" +
			"a.B.two: 20.0 ms; own time 20.0 ms",
		"100 ms of 100 ms shown · from 0 to 100 ms · 92.0 ms CPU in calls of main",
		"a.A.one: 40.0 ms; own time 40.0 ms\n" +
			"~x.Lib.work: 40.0 ms; own time 0; est. 40.0 ms (27.6 ms to 53.8 ms), 20 samples\n" +
			"~a.A.one: 40.0 ms; own time 40.0 ms; est. 40.0 ms (27.6 ms to 53.8 ms), 20 samples\n" +
			"a.B.two: 20.0 ms; own time 0\nx.Lib.work: 20.0 ms; own time 0\na.A.one: 20.0 ms; own time 20.0 ms",
		"a.A.one: 100 ms; own time 80.0 ms\n~x.Lib.work: 40.0 ms; own time 40.0 ms; est. from 20 samples\n" +
			"a.B.two: 20.0 ms; own time 20.0 ms",
		"running,running,blocked", "false,true",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageSamplesBound: of many samples of a thread a page has a bounded number, which stand for all of the time.
func TestPageSamplesBound(t *testing.T) {
	const n = 200_000
	s := trace.Segment{Kind: trace.SegmentOutermost, End: n * 1e6, Calls: []trace.Call{{Method: 7, Parent: -1, Next: 1,
		Count: 1, End: n * 1e6}}}
	for k := range int64(n) {
		one := trace.Sample{Nanos: k * 1e6, Weight: 1e6, CPU: 5e5, State: 2}
		if k%3 == 0 {
			one.Below = []trace.Method{8}
		}
		s.Samples = append(s.Samples, one)
	}
	data, _ := readPage(t, exportOf(t, "html", func(v export.Writer) error {
		return feedSource(v, naming{}, "many.tgd", content(func(h trace.Handler) error { return h.Segment(&s) }))
	}))
	samples := data.Recordings[0].more.Samples[0]
	var weight, cpu, below int64
	for _, one := range samples {
		weight, cpu = weight+one[2], cpu+one[3]
		if one[6] > 0 {
			below += one[2]
		}
	}
	if len(samples) > 1<<16 || len(samples) < 1<<14 || weight != n*1e6 || cpu != n*5e5 {
		t.Errorf("%d samples of %d ms with %d ms CPU", len(samples), weight/1e6, cpu/1e6)
	}
	if share := float64(below) / float64(weight); share < 0.3 || share > 0.37 {
		t.Errorf("%.3f of the time is in the method below, want a third", share)
	}
}
