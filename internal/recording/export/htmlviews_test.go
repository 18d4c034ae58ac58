package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// visit is how a page is opened; see page in readers.mjs.
type visit struct {
	hash  string
	size  map[string]any
	dark  bool
	steps []step
}

// step is one thing that is done with a page.
type step map[string]any

func value(expression string) step { return step{"value": expression} }
func wait(expression string) step  { return step{"wait": expression} }
func press(key string) step        { return step{"press": key} }

// painted waits until nothing is computed, and the result is on the screen.
var painted = value(`(async () => {
  do await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); while (shown.busy());
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
})()`)

// open opens a page, waits until it is complete, does what the visit says, and returns the values of its steps.
func (v visit) open(t testing.TB, file string) []any {
	t.Helper()
	more := map[string]any{"wait": "document.documentElement.dataset.complete", "steps": v.steps, "hash": v.hash,
		"dark": v.dark}
	if v.size != nil {
		more["size"] = v.size
	}
	var got struct {
		Values           []any
		Errors, Requests []string
	}
	ask(t, "page", file, more, &got)
	checkPage(t, got.Errors, got.Requests[:min(1, len(got.Requests))])
	for _, r := range got.Requests {
		if !strings.HasPrefix(r, "file://"+file) {
			t.Errorf("the page asks for %s", r)
		}
	}
	return slices.DeleteFunc(got.Values, func(v any) bool { return v == nil })
}

// demoPage writes a page of the demo, and returns its file.
func demoPage(t testing.TB) string {
	t.Helper()
	return pageOf(t, new(demo), "feed")
}

// pageOf writes a page of a recording with the names of the demo, and returns its file.
func pageOf(t testing.TB, of analysis.Source, name string) string {
	t.Helper()
	return pageWith(t, demoNames{}, name, of)
}

// pageWith writes a page of a recording, and returns its file.
func pageWith(t testing.TB, names trace.Names, name string, of analysis.Source) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".html")
	data := exportOf(t, "html", func(v export.Writer) error { return feedSource(v, names, name+".tgd", of) })
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// small is a page whose times a reader can add up. Times are milliseconds:
//
//	main: a.A.one 0-40 (a.B.two 0-10, a.B.two 20-30 (a.C.three 20-25)); a.D.four 60-80 (a.B.two 60-64)
func small(t testing.TB) string {
	t.Helper()
	names := smallNames{1: "a.A.one", 2: "a.B.two", 3: "a.C.three", 4: "a.D.four"}
	call := func(m trace.Method, parent, next int32, begin, end int64) trace.Call {
		return trace.Call{Method: m, Parent: parent, Next: next, Count: 1, Begin: begin * 1e6, End: end * 1e6}
	}
	one := trace.Segment{Kind: trace.SegmentOutermost, Begin: 0, End: 40e6, Calls: []trace.Call{call(1, -1, 4, 0, 40),
		call(2, 0, 2, 0, 10), call(2, 0, 4, 20, 30), call(3, 2, 4, 20, 25)}}
	two := trace.Segment{Kind: trace.SegmentOutermost, Begin: 60e6, End: 80e6, Calls: []trace.Call{call(4, -1, 2, 60, 80),
		call(2, 0, 2, 60, 64)}}
	data := exportOf(t, "html", func(v export.Writer) error {
		return feedSource(v, names, "small.tgd", content(func(h trace.Handler) error {
			for _, c := range []trace.Chunk{&trace.Meta{Values: map[string]string{"tickNanos": "1000"}}, &trace.Clock{},
				&trace.Threads{List: []trace.Thread{{Name: "main", Main: true}}}} {
				if err := h.Chunk(c); err != nil {
					return err
				}
			}
			if err := h.Segment(&one); err != nil {
				return err
			}
			return h.Segment(&two)
		}))
	})
	file := filepath.Join(t.TempDir(), "small.html")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

type smallNames map[trace.Method]string

func (n smallNames) Name(m trace.Method) (trace.Name, bool) {
	if name, ok := n[m]; ok {
		return trace.ParseName(name), true
	}
	return trace.NoNames{}.Name(m)
}

// unmarshal hands on the elements of a list.
func unmarshal[T any](t testing.TB, text string, each func(T)) {
	t.Helper()
	var all []T
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		each(one)
	}
}

// tableText is the rows of a table as text.
func tableText(id string) step {
	return value(fmt.Sprintf(`[...$(%q).tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent).join(" | "))
		.join("\n")`, id))
}

// TestPageNumbers: tables, search and shares are of the range that is shown, and of all.
func TestPageNumbers(t *testing.T) {
	search := func(text string) []step {
		return []step{value(fmt.Sprintf(`void ($("search").value = %q, shown.search())`, text)), painted,
			value(`$("found").textContent`)}
	}
	var steps []step
	add := func(more ...step) { steps = append(steps, more...) }
	add(press("6"), painted, tableText("methods"))
	add(press("5"), painted, value(`shown.toSandwich(shown.labels.findIndex((l) => l.text === "a.B.two"))`), painted,
		value(`$("sandwich-head").textContent`), tableText("caller-table"), tableText("callee-table"))
	add(value(`shown.setView("chart"), shown.choose(0, 40e6)`), painted, value(`shown.charts.chart.select(1)`),
		value(`[...$("details").querySelectorAll("dt")].find((e) => e.textContent === "share").nextSibling.textContent`),
		value(`$("span").textContent`), press("6"), painted, tableText("methods"))
	add(search("THREE$|^a\\.D")...)
	add(search("B.tw")...)
	add(search("[")...)
	add(value(`$("search").getAttribute("aria-invalid")`))
	got := visit{steps: steps}.open(t, small(t))
	want := []any{
		"20.0 ms | 33.3 % | 40.0 ms | 66.7 % | 1 | one A · a\n19.0 ms | 31.7 % | 24.0 ms | 40.0 % | 3 | two B · a\n" +
			"16.0 ms | 26.7 % | 20.0 ms | 33.3 % | 1 | four D · a\n5.00 ms | 8.3 % | 5.00 ms | 8.3 % | 1 | three C · a",
		"a.B.twototal 24.0 ms, self 19.0 ms, 3 calls: 40.0 % of the 60.0 ms shown, 40.0 % of all 60.0 ms",
		"20.0 ms | 83.3 % | 2 | one A · a\n4.00 ms | 16.7 % | 1 | four D · a",
		"5.00 ms | 20.8 % | 1 | three C · a",
		"25.0 % of the 40.0 ms shown, 12.5 % of all 80.0 ms",
		"40.0 ms of 80.0 ms shown · from 0 to 40.0 ms",
		"20.0 ms | 50.0 % | 40.0 ms | 100 % | 1 | one A · a\n15.0 ms | 37.5 % | 20.0 ms | 50.0 % | 2 | two B · a\n" +
			"5.00 ms | 12.5 % | 5.00 ms | 12.5 % | 1 | three C · a",
		"1 method, 1 call, 12.5 % of the 40.0 ms in calls shown",
		"1 method, 2 calls, 50.0 % of the 40.0 ms in calls shown",
		"/[/i: Unterminated character class",
		"true",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageFolded: calls of several methods that are folded keep their names in the flame chart, and are one row of the
// table.
func TestPageFolded(t *testing.T) {
	const firstFolded = trace.FirstNamed << 8
	s := trace.Segment{Kind: trace.SegmentOutermost, End: 40e6, Calls: []trace.Call{
		{Method: trace.FirstNamed, Parent: -1, Next: 3, Count: 1, End: 40e6},
		{Method: firstFolded, Next: 2, Count: 12, End: 10e6},
		{Method: firstFolded + 1, Next: 3, Count: 5, Begin: 20e6, End: 25e6}}}
	file := filepath.Join(t.TempDir(), "folded.html")
	data := exportOf(t, "html", func(v export.Writer) error {
		return feedSource(v, nil, "folded.tgd", content(func(h trace.Handler) error {
			return errors.Join(h.Chunk(&trace.Meta{Values: map[string]string{"tickNanos": "1000"}}), h.Chunk(&trace.Clock{}),
				h.Named(trace.FirstNamed, "a.A.one"), h.Named(firstFolded, "12 calls of several methods"),
				h.Named(firstFolded+1, "5 calls of several methods"), h.Segment(&s))
		}))
	})
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	got := visit{steps: []step{value(`void shown.charts.chart.select(1)`),
		value(`[...$("details").querySelectorAll("dd")].map((e) => e.textContent).slice(0, 2).join()`),
		value(`$("details").textContent.includes("12, shown as one")`), press("x"), painted,
		value(`shown.names(shown.method).text`), press("6"), painted, tableText("methods")}}.open(t, file)
	const folded = "(folded: short calls of several methods)"
	want := []any{"12 calls of several methods,10.0 ms", true, folded,
		"25.0 ms | 62.5 % | 40.0 ms | 100 % | 1 | one A · a\n15.0 ms | 37.5 % | 15.0 ms | 37.5 % | 17 | " + folded}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageState: a link restores what a page shows: view, thread, range, search, order, selection, theme.
func TestPageState(t *testing.T) {
	file := demoPage(t)
	const state = `JSON.stringify({...shown.state(), view: shown.view, scope: shown.scope,
		range: shown.range.map(Math.round), found: $("found").textContent,
		selected: $("details").textContent, stall: shown.stall, dark: colors.dark,
		stalls: $("stalls").textContent, method: shown.view === "sandwich" ? shown.names(shown.method).text : ""})`
	link := []step{value(`shown.writeHash()`), value(state), value(`location.hash`)}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"chart", []step{value(`void shown.setScope(2)`), painted, value(`void shown.choose(3e9, 3.5e9)`),
			value(`void ($("search").value = "decode|cache$", shown.search())`), painted,
			value(`void shown.charts.chart.select(900)`)}},
		{"stall", []step{value(`void ($("stall-order").value = "verdict", shown.stallList())`), press("n"), press("n"),
			painted}},
		{"sandwich", []step{press("5"), painted,
			value(`void shown.toSandwich(shown.labels.findIndex((l) => l.text.endsWith("Json.parse")))`), painted,
			value(`$("theme").click()`)}},
		{"methods", []step{value(`void shown.setScope(-1)`), press("6"), painted,
			value(`$("methods").tHead.querySelectorAll("button")[2].click()`), painted}},
		{"cpu", []step{press("3"), painted, press("t"), painted}},
		{"threads", []step{press("1"), value(`void shown.choose(1e9, 2e9)`), painted}},
	} {
		got := visit{steps: append(c.steps, link...)}.open(t, file)
		before, hash := got[0].(string), got[1].(string)
		restored := visit{hash: strings.TrimPrefix(hash, "#"),
			steps: []step{painted, value(state), value(`location.hash`)}}.open(t, file)
		if diff := gocmp.Diff([]any{before, hash}, restored); diff != "" || !strings.Contains(hash, "view=") {
			t.Errorf("%s: %s restores another state:\n%s", c.name, hash, diff)
		}
		// The same in a page that is open: a user pastes a link.
		pasted := visit{steps: []step{value(fmt.Sprintf(`void (location.hash = %q)`, hash)), painted,
			value(state)}}.open(t, file)
		if diff := gocmp.Diff([]any{before}, pasted); diff != "" {
			t.Errorf("%s: %s in an open page is another state:\n%s", c.name, hash, diff)
		}
	}
}

// TestPageLinkPasted: a link that is pasted while the page is about to write its own state is not overwritten.
func TestPageLinkPasted(t *testing.T) {
	got := visit{steps: []step{value(`void shown.writeHash()`),
		value(`void (location.hash = "#view=methods&search=decode", shown.writeHash())`), painted,
		value(`shown.view + " " + $("search").value`), value(`void shown.setView("topdown")`), painted,
		value(`(shown.writeHash(), location.hash)`)}}.open(t, demoPage(t))
	if diff := gocmp.Diff([]any{"methods decode", "#view=topdown&search=decode"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageLinkPastedEarly: a link that is pasted while the page reads its data is not overwritten by the one with which
// the page was opened.
func TestPageLinkPastedEarly(t *testing.T) {
	file := demoPage(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// A script before the data stands for the user: nothing of the data is there when it runs.
	k := bytes.Index(data, []byte(`<script type="application/octet-stream"`))
	data = slices.Insert(data, k, []byte(`<script>location.hash = "#view=chart&stall=3"</script>`)...)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	got := visit{hash: "view=chart&stall=2", steps: []step{painted,
		value(`shown.recording.stalls[shown.stall].number`), value(`location.hash.includes("stall=3")`)}}.open(t, file)
	if diff := gocmp.Diff([]any{3.0, true}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageStalls: the list is in the order of duration, time or verdict; a stall opens with what is known of it.
func TestPageStalls(t *testing.T) {
	order := func(by string) []step {
		return []step{value(fmt.Sprintf(`void ($("stall-order").value = %q, $("stall-order").onchange())`, by)),
			value(`[...$("stalls").querySelectorAll("button")].map((b) =>
				shown.recording.stalls[b.dataset.stall].number + ": " + b.querySelector("b").textContent).join()`)}
	}
	steps := []step{value(`[...$("stalls").querySelectorAll("b")].map((b) => b.textContent).join()`)}
	steps = append(append(steps, order("time")...), order("verdict")...)
	steps = append(steps, value(`[...$("stalls").querySelectorAll("button")][0].click()`), painted,
		value(`[...$("details").querySelectorAll("h2, dt, summary")].map((e) => e.textContent).join()`))
	got := visit{steps: steps}.open(t, demoPage(t))
	want := []any{"at least 2.00 s,1.45 s,900 ms,800 ms,760 ms",
		"1: 900 ms,2: 1.45 s,3: 760 ms,4: 800 ms,5: at least 2.00 s",
		"4: 800 ms,2: 1.45 s,5: at least 2.00 s,1: 900 ms,3: 760 ms", // I/O, own work, and three that wait
		"why,what ran,where,thread,took,times of methods,on a processor,garbage collection,began,Where the time went," +
			"Most own time,Stack samples,after 700 ms, and 1 more sample until 750 ms: ready to run, database," +
			"Ran before, the latest first,Waited behind it"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// onChart is the place of a time and a depth on the flame chart, as an expression.
func onChart(nanos float64, depth int) string {
	return fmt.Sprintf(`(() => { const b = $("chart").getBoundingClientRect(), c = shown.charts.chart;
		return [b.left + c.xOf(%f), b.top + RULER + %d * ROW + 9]; })()`, nanos, depth)
}

// TestPageTooltips: a tooltip is there while the pointer rests on a call, and gone after all that moves what is below.
func TestPageTooltips(t *testing.T) {
	nightly.Only(t, "commands")
	file := demoPage(t)
	at := onChart(2.5e9, 0)
	const shownText = `$("tip").hidden ? "hidden" : $("tip").firstChild.textContent`
	var steps []step
	for _, gone := range []step{{"wheel": -300}, press("d"), press("s"), press("3"), press("2"), press("Escape"),
		press("n"), {"move": []int{1200, 700}}, {"click": at}, value(`void shown.choose(1e9, 2e9)`),
		value(`void dispatchEvent(new Event("blur"))`),
		value(`void document.querySelector("aside").dispatchEvent(new Event("scroll"))`)} {
		steps = append(steps, press("2"), press("0"), painted, step{"move": []int{10, 790}}, step{"move": at}, painted,
			value(shownText), gone, painted, value(shownText))
	}
	got := visit{steps: steps}.open(t, file)
	for k := 0; k+1 < len(got); k += 2 {
		if got[k] == "hidden" || got[k+1] != "hidden" {
			t.Errorf("step %d: %q, then %q", k/2, got[k], got[k+1])
		}
	}
	if len(got) != 24 {
		t.Errorf("%d values", len(got))
	}
}

// TestPageKeys: everything can be reached by keys, and the help lists every one.
func TestPageKeys(t *testing.T) {
	const span = `shown.range.map(Math.round).join()`
	const copied = `window.copied`
	steps := []step{value(`void (navigator.clipboard.writeText = async (text) => { window.copied = text; })`),
		press("w"), value(span), press("s"), value(span), press("+"), press("d"), value(span), press("ArrowLeft"),
		value(span), press("-"), press("0"), value(span),
		{"click": onChart(22e6, 1)}, value(`$("details").querySelector("dd").textContent`), press("c"), value(copied),
		press("f"), value(span), press("Home"),
		press("Shift+C"), value(copied), press("l"), value(`window.copied === location.href`),
		press("x"), painted, value(`shown.view + " " + shown.names(shown.method).text`),
		press("?"), value(`$("keys").open && ["Not recorded", "N, P", "shift + C", "Sandwich"].every((t) =>
			$("keys").textContent.includes(t))`), press("Escape"), value(`$("keys").open`),
		press("/"), value(`document.activeElement.id`), press("Escape"), value(`document.activeElement.id`),
		press("2"), painted, value(`void $("chart").focus()`), value(`void shown.charts.chart.select(-1)`),
		value(`["ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"].map((key) => {
			$("chart").dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey: true, bubbles: true}));
			return shown.charts.chart.selected; }).join()`),
	}
	got := visit{steps: steps}.open(t, small(t))
	want := []any{"12000000,68000000", "0,80000000", "23200000,79200000", "12000000,68000000", "0,80000000", "two B · a",
		"a.B.two", "19699999,30300001", "a.B.two\na.A.one", true, "sandwich a.B.two", true, false, "search", "tab-sandwich",
		"0,1,1,2,0"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageGaps: what is not recorded is hatched in all views, and a page without gaps has no such colour.
func TestPageGaps(t *testing.T) {
	nightly.Only(t, "commands")
	visitAll := func(scope int) (v visit) {
		v.steps = []step{value(`(() => {
			window.lost = 0;
			const real = hatch, lane = Timeline.prototype.paintLost;
			hatch = (...a) => { lost += a[5] === colors.lost; real(...a); };
			Timeline.prototype.paintLost = function (...a) { lost++; lane.apply(this, a); };
		})()`)}
		v.steps = append(v.steps, value(fmt.Sprintf(`void shown.setScope(%d)`, scope)), painted, value(`lost > 0`))
		for k := range 6 {
			v.steps = append(v.steps, value(`void (Timeline.prototype.paintLost = () => {})`), press(fmt.Sprint(k+1)), painted)
			if k == 4 {
				v.steps = append(v.steps, value(`void shown.toSandwich(shown.labels.findIndex((l) => l.lost))`), painted)
			}
			v.steps = append(v.steps, value(`void (lost = document.querySelectorAll("td.lost").length, shown.drawAll())`),
				painted, value(`lost > 0`))
		}
		return v
	}
	want := []any{true, true, true, true, true, true, true}
	if diff := gocmp.Diff(want, visitAll(2).open(t, demoPage(t))); diff != "" {
		t.Error(diff)
	}
	want = []any{false, false, false, false, false, false, false}
	if diff := gocmp.Diff(want, visitAll(0).open(t, small(t))); diff != "" {
		t.Error(diff)
	}
}

// TestPageOfTouch: on a phone, a finger moves, two zoom, a tap selects; names keep their ends, and nothing is wider
// than the window.
func TestPageOfTouch(t *testing.T) {
	const span = `shown.range.map(Math.round).join()`
	phone := map[string]any{"width": 390, "height": 780, "hasTouch": true, "isMobile": true, "deviceScaleFactor": 2}
	onPhone := func(nanos float64) string { return onChart(nanos, 0) }
	got := visit{size: phone, steps: []step{
		value(`document.documentElement.scrollWidth <= innerWidth`),
		{"pinch": [][][]int{{{150, 400}, {240, 400}}, {{60, 400}, {330, 400}}}}, value(span),
		{"pinch": [][][]int{{{200, 400}}, {{100, 400}}}}, value(span),
		value(`void shown.choose(0, shown.recording.end)`), painted, {"tap": onPhone(4.8e9)}, painted,
		value(`$("details").querySelector("dd").textContent`), value(`$("tip").hidden`),
		value(`[30, 20, 8, 5, 2].map((room) => {
			const drawn = [], context = {measureText: (t) => ({width: t.length * 8}), fillText: (t) => drawn.push(t)};
			write(context, partsOf("com.example.util.WorkerPool.takeTask(int)", "com.example.util.WorkerPool"), 0, 0, room * 8);
			return drawn.filter(Boolean).join(" ");
		}).join("|")`),
		press("6"), painted, value(`getComputedStyle($("methods").querySelector(".name")).textOverflow`),
		value(`document.documentElement.scrollWidth <= innerWidth`),
	}}.open(t, demoPage(t))
	want := []any{true, "4000000000,8000000000", "5025641026,9025641026", "dispatchMessage Handler · android.os", true,
		"takeTask(int) WorkerPool · co…|takeTask(int) Worke…|takeTas…|take…|", "ellipsis", true}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageBeforeItsData: a page of which only the head has arrived shows stalls and the time line, and one that is cut
// says so.
func TestPageBeforeItsData(t *testing.T) {
	data, err := os.ReadFile(demoPage(t))
	if err != nil {
		t.Fatal(err)
	}
	k := bytes.Index(data, []byte(`<script type="application/octet-stream"`))
	file := filepath.Join(t.TempDir(), "cut.html")
	if err := os.WriteFile(file, data[:k], 0o644); err != nil {
		t.Fatal(err)
	}
	var got struct{ Values []any }
	ask(t, "page", file, map[string]any{"wait": "document.documentElement.dataset.shell", "steps": []step{
		wait(`$("banner").textContent.includes("cannot be read")`), painted,
		value(`$("stalls").querySelectorAll("button").length`),
		value(`(() => {
			const c = $("timeline"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
			for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
			return seen.size > 10;
		})()`)}}, &got)
	if diff := gocmp.Diff([]any{nil, 5.0, true}, got.Values); diff != "" {
		t.Error(diff)
	}
}

// pictureOf reads a picture, and counts its colours.
func pictureOf(t testing.TB, file string) (image.Image, int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[color.Color]bool{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			seen[picture.At(x, y)] = true
		}
	}
	return picture, len(seen)
}

// TestPagePictures takes pictures of each view, light, dark and narrow, into TRACEGEN_PICTURES, for people to look at.
// It asserts that something is drawn, and that a dark picture is dark.
func TestPagePictures(t *testing.T) {
	nightly.Only(t, "commands")
	dir := os.Getenv("TRACEGEN_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	file := demoPage(t)
	others := map[string]string{"batch": pageOf(t, &batch{pool: 6}, "indexer"),
		"many": pageOf(t, &batch{pool: 200}, "indexer")}
	for _, c := range []struct {
		name string
		visit
	}{
		{"light", visit{}},
		{"dark", visit{dark: true}},
		{"narrow", visit{size: map[string]any{"width": 390, "height": 780, "hasTouch": true, "isMobile": true,
			"deviceScaleFactor": 2}}},
	} {
		var files []string
		picture := func(name string) step {
			files = append(files, filepath.Join(dir, "page-"+name+"-"+c.name+".png"))
			return step{"picture": files[len(files)-1]}
		}
		for k, view := range []string{"threads", "chart", "topdown", "bottomup", "sandwich", "methods"} {
			c.steps = append(c.steps, press(fmt.Sprint(k+1)), painted, picture(view))
		}
		c.steps = append(c.steps, press("2"), press("n"), painted, picture("stall"), press("0"),
			value(`$("search").value = "decoder|cache", shown.search()`), painted, picture("search"), press("?"), painted,
			picture("help"))
		c.open(t, file)
		for name, file := range others {
			c.steps = []step{press("2"), painted, picture(name), press("1"), painted, picture(name + "-threads")}
			c.open(t, file)
		}
		for _, f := range files {
			drawn, colours := pictureOf(t, f)
			if colours < 12 {
				t.Errorf("%s has %d colours", f, colours)
			}
			red, _, _, _ := drawn.At(3, drawn.Bounds().Dy()-40).RGBA()
			if isDark := red < 0x8000; isDark != c.dark && !strings.Contains(f, "help") {
				t.Errorf("%s: dark is %v", f, isDark)
			}
		}
	}
}
