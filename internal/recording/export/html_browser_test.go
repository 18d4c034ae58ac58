package export_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// inBrowser opens a page in Chromium, has it do what value says, and fails if the page makes a request.
func inBrowser(t testing.TB, file, value, picture string, result any) {
	t.Helper()
	got := struct {
		Value    any
		Errors   []string
		Requests []string
	}{Value: result}
	ask(t, "page", file, map[string]any{"wait": "document.documentElement.dataset.complete", "value": value,
		"picture": picture}, &got)
	checkPage(t, got.Errors, got.Requests)
}

// checkPage fails if a page had errors, or made a request beside that for itself.
func checkPage(t testing.TB, errors, requests []string) {
	t.Helper()
	if len(errors) > 0 {
		t.Errorf("the page's errors: %s", errors)
	}
	if len(requests) != 1 {
		t.Errorf("the page asks for %s", requests)
	}
}

// pageCalls has the page's own script return all its calls and, by method, what its table shows.
const pageCalls = `(async () => {
  const threads = [];
  for (const recording of page.recordings) {
    for (const thread of recording.threads) {
      if (thread.async) continue; // TestCoroutinesOnPage has these
      const calls = await decodeCalls(thread.events, thread.calls), all = [];
      for (let i = 0; i < calls.length; i++) {
        all.push([shown.names(calls.method[i]).text, calls.begin[i], calls.end[i], calls.depth[i]]);
      }
      const tree = await mergeCalls([calls], 0, Infinity), times = [...methodTimes(tree).values()];
      const methods = times.map((m) => [shown.names(m.method).text, m.calls, m.self, m.total]);
      const graph = layOut(tree), bottomup = layOut(await invert(tree));
      const own = new Map(times.map((m) => [m.method, [m.self, m.self]]));
      for (let i = 0; i < graph.length; i++) own.get(graph.method[i])[0] -= graph.self(i);
      for (const i of bottomup.rows[0] || []) own.get(bottomup.method[i])[1] -= bottomup.took(i);
      for (const [m, left] of own) {
        if (left.every((nanos) => Math.abs(nanos) < 1e-3)) continue;
        throw new Error("Top-down and Bottom-up have another own time of " + shown.names(m).text + ": " + left);
      }
      threads.push({name: thread.name, all, methods});
    }
  }
  return threads;
})()`

// readHTML is what the page's script makes of its data, in Chromium.
func readHTML(t testing.TB, file string) (map[method]measure, []plainCall) {
	var threads []struct {
		Name    string
		All     [][4]any
		Methods [][4]any
	}
	inBrowser(t, file, pageCalls, "", &threads)
	all := map[method]measure{}
	var calls []plainCall
	number := func(v any) int64 { return int64(v.(float64)) }
	for _, th := range threads {
		for _, m := range th.Methods {
			all[method{th.Name, m[0].(string)}] = measure{number(m[1]), number(m[2]), -1, number(m[3])}
		}
		for _, c := range th.All {
			calls = append(calls, plainCall{Thread: th.Name, Name: c[0].(string), Begin: number(c[1]),
				End: number(c[2]), Depth: int(number(c[3]))})
		}
	}
	slices.SortStableFunc(calls, func(a, b plainCall) int { return cmp.Compare(a.Thread, b.Thread) })
	return all, calls
}

// made is a recording of many calls: messages of a main thread, one in some hundred slow.
type made struct{ calls, stalls int }

// write writes the recording to an exporter.
func (m *made) write(t testing.TB, v export.Writer, atLeast int) {
	t.Helper()
	err := feedSource(v, naming{}, "made.tgd", content(func(h trace.Handler) error { return m.replay(h, atLeast) }))
	if err == nil {
		err = v.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Replay hands the recording to h.
func (m *made) replay(h trace.Handler, atLeast int) error {
	err := errors.Join(h.Chunk(&trace.Meta{Values: map[string]string{"package": "com.example", "tickNanos": "1000000",
		"clockPeriodMillis": "5"}}), h.Chunk(&trace.Threads{List: []trace.Thread{{Name: "main", Main: true}}}))
	rnd := rand.New(rand.NewPCG(1, 2))
	for now := int64(5e12); m.calls < atLeast && err == nil; now += rnd.Int64N(20) * 1e6 {
		budget := rnd.Int64N(40)
		if rnd.IntN(300) == 0 {
			budget += 800
			m.stalls++
		}
		s := trace.Segment{Kind: trace.SegmentMessage, Begin: now, FirstRecord: uint64(2 * m.calls)}
		now = nest(&s, rnd, -1, trace.MethodDispatch, now, budget*1e6, 0)
		s.End, s.EndRecord = now, uint64(2*(m.calls+len(s.Calls)))
		err = h.Segment(&s)
		if budget >= 800 {
			err = errors.Join(err, h.Chunk(&trace.StallChunk{Message: uint64(m.stalls), Begin: s.Begin,
				FirstRecord: s.FirstRecord, EndRecord: s.EndRecord,
				Wall: uint64(s.End - s.Begin), CPU: -1, Description: "Handler (a.B) null: 1"}))
		}
		m.calls += len(s.Calls)
	}
	return err
}

// nest adds a call with others below it, which take budget nanoseconds, and returns when it ends.
func nest(s *trace.Segment, rnd *rand.Rand, parent int32, m trace.Method, now, budget int64, depth int) int64 {
	k := len(s.Calls)
	s.Calls = append(s.Calls, trace.Call{Method: m, Parent: parent, Count: 1, Begin: now})
	for depth < 30 && budget > 0 && rnd.IntN(5) > 0 {
		part := rnd.Int64N(budget + 1)
		now = nest(s, rnd, int32(k), trace.Method(1+rnd.IntN(5000)), now, part, depth+1)
		budget -= part + 100e3
	}
	now += max(0, budget)
	s.Calls[k].End, s.Calls[k].Next = now, int32(len(s.Calls))
	return now
}

// TestHTMLOfAMillionRecords: at most 30 MB, and everything in it can be reached by keys. How long Chromium takes to
// paint it is logged and has no limit: the machine may be busy.
func TestHTMLOfAMillionRecords(t *testing.T) {
	var b bytes.Buffer
	v, err := export.New("html", &b, export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var m made
	m.write(t, v, 500_000)
	if b.Len() > 30_000_000 {
		t.Errorf("the page has %d bytes", b.Len())
	}
	file := filepath.Join(t.TempDir(), "million.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Shell, Ready, Complete, Painted string
		Calls, Stalls, Drawn            int
		View, Details, Found            string
		Zoomed                          [2]float64
		Rows                            int
	}
	inBrowser(t, file, `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const until = async (f) => { while (!f()) await frame(); };
  const key = (k) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
  const pixels = () => {
    const c = $("chart"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
    for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
    return seen.size;
  };
  await frame();
  const drawn = pixels();
  key("n"); await frame();
  const details = $("details").textContent, zoomed = [...shown.range];
  key("3"); await until(() => shown.tree);
  const view = shown.view;
  key("6"); await until(() => $("methods").tBodies[0].rows.length);
  const rows = $("methods").tBodies[0].rows.length;
  key("2"); key("0"); $("search").value = "mga|xyz"; shown.search(); await until(() => $("found").textContent);
  const {shell, ready, complete} = document.documentElement.dataset;
  const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  return {shell, ready, complete, painted: String(Math.round(painted)), calls: shown.calls[0].length,
    stalls: [...$("stalls").children].reduce((n, li) => n + (li.group?.length || 1), 0), drawn, view, details, found: $("found").textContent, zoomed, rows};
})()`, "", &got)
	t.Logf("%d calls in %.1f MB: painted after %s ms, head after %s ms, calls after %s ms, all after %s ms", m.calls,
		float64(b.Len())/1e6, got.Painted, got.Shell, got.Ready, got.Complete)
	if got.Calls != m.calls || got.Stalls != m.stalls {
		t.Errorf("%d calls and %d stalls, want %d and %d", got.Calls, got.Stalls, m.calls, m.stalls)
	}
	if got.Drawn < 10 {
		t.Errorf("the flame chart has %d colours", got.Drawn)
	}
	if got.View != "topdown" || got.Rows < 20 || !strings.Contains(got.Details, "message of a.B, what 1") ||
		got.Zoomed[1]-got.Zoomed[0] > 10e9 {
		t.Errorf("keys: %+v", got)
	}
	if !strings.Contains(got.Found, " calls, ") {
		t.Errorf("search: %q", got.Found)
	}
}

// TestHTMLOfNothing: a page without recordings, and one with a recording without calls, open without an error.
func TestHTMLOfNothing(t *testing.T) {
	for k, title := range []string{"", "empty.tgd"} {
		var b bytes.Buffer
		v, err := export.New("html", &b, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if title != "" {
			if err := v.Recording(&analysis.Recording{Name: title, Forced: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), fmt.Sprint(k, ".html"))
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		var banner string
		inBrowser(t, file, `$("banner").textContent`, "", &banner)
		if strings.Contains(banner, "NAMES MAY BE WRONG") != (title != "") {
			t.Errorf("the banner is %q", banner)
		}
	}
}
