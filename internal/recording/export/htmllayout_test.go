package export_test

import (
	"errors"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/trace"
)

// crowded returns what of a page wraps, is cut without a sign, or covers something else.
const crowded = `(() => {
  const bad = [], seen = (e) => e.getClientRects().length > 0, name = (e) => e.id || e.className || e.parentElement.id + " " + e.tagName;
  if (document.documentElement.scrollWidth > innerWidth) bad.push("the page is wider than the window");
  const lines = ["header > *", ".tabs button", "#banner summary", "#range > *", ".bar > *", "#stalls button > *", "#facts > summary", "#sandwich-head > *",
    ".methods th", ".methods td", "footer > *"];
  for (const e of document.querySelectorAll(lines.join())) {
    if (!seen(e)) continue;
    const tall = e.getBoundingClientRect().height, style = getComputedStyle(e);
    if (tall > (innerWidth < 800 ? 44 : 32)) bad.push(name(e) + " is " + tall + " high");
    const cut = e.scrollWidth > e.clientWidth + 1 && style.display !== "inline" && !["INPUT", "SELECT"].includes(e.tagName);
    if (cut && style.textOverflow !== "ellipsis" && !["auto", "scroll"].includes(style.overflowX)) bad.push(name(e) + " is cut");
  }
  for (const parent of document.querySelectorAll("body, header, .tools, #range, main, #charts, #canvas-pane, #sandwich, aside, #slow, .bar, footer")) {
    const children = [...parent.children].filter((e) => seen(e) && getComputedStyle(e).position !== "fixed" && e.id !== "keys");
    children.forEach((a, k) => children.slice(k + 1).forEach((b) => {
      const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
      const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left), tall = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (wide > 1 && tall > 1) bad.push(name(a) + " covers " + name(b));
    }));
  }
  return bad.join("\n");
})()`

// TestPageLayout: at 1,400 and at 400 pixels nothing wraps, is cut without a sign, or covers something else, in each
// view, with a stall selected, and with what is searched for. The banner is one line, and has the rest when it is
// opened.
func TestPageLayout(t *testing.T) {
	file := demoPage(t)
	for _, wide := range []int{1400, 400} {
		v := visit{size: map[string]any{"width": wide, "height": 800, "isMobile": wide < 800}}
		var want []any
		check := func(what ...step) {
			v.steps = append(append(v.steps, what...), painted, value(crowded))
			want = append(want, "")
		}
		for k := range 6 {
			check(press(fmt.Sprint(k + 1)))
		}
		check(press("2"), press("n"))
		check(value(`void ($("search").value = "decoder|cache", shown.search())`))
		v.steps = append(v.steps, value(`[document.title, $("title").textContent].join("|")`),
			value(`$("banner").firstElementChild.textContent.slice(-12)`),
			value(`$("title").parentElement.scrollWidth <= $("title").parentElement.clientWidth || innerWidth < 1400`),
			value(`void ($("banner").open = true)`), painted, value(`$("banner").lastElementChild.innerText.trim().split("\n").length`))
		const title = "com.example.feed 4.2.0, 2026-11-18"
		want = append(want, title+"|"+title, "(and 3 more)", true, 4.0)
		if diff := gocmp.Diff(want, v.open(t, file)); diff != "" {
			t.Errorf("%d pixels: %s", wide, diff)
		}
	}
}

// TestPageBelow: the methods of what is shown are below a chart that is short, and those of a call that is selected.
func TestPageBelow(t *testing.T) {
	caption := value(`$("below-methods").caption.textContent`)
	got := visit{steps: []step{painted, caption, tableText("below-methods"),
		value(`void shown.charts.chart.select(0)`), painted, caption, tableText("below-methods"),
		press("3"), painted, value(`void shown.charts.chart.select(3)`), painted, caption, tableText("below-methods"),
		{"press": "6"}, painted, value(`$("below").getClientRects().length`)}}.open(t, small(t))
	want := []any{"Methods of what is shown",
		"20.0 ms | 33.3 % | 40.0 ms | 66.7 % | 1 | one A · a\n19.0 ms | 31.7 % | 24.0 ms | 40.0 % | 3 | two B · a\n" +
			"16.0 ms | 26.7 % | 20.0 ms | 33.3 % | 1 | four D · a\n5.00 ms | 8.3 % | 5.00 ms | 8.3 % | 1 | three C · a",
		"Methods in a.A.one, 40.0 ms",
		"20.0 ms | 50.0 % | 40.0 ms | 100 % | 1 | one A · a\n15.0 ms | 37.5 % | 20.0 ms | 50.0 % | 2 | two B · a\n" +
			"5.00 ms | 12.5 % | 5.00 ms | 12.5 % | 1 | three C · a",
		"Methods in a.D.four, 20.0 ms",
		"16.0 ms | 80.0 % | 20.0 ms | 100 % | 1 | four D · a\n4.00 ms | 20.0 % | 4.00 ms | 20.0 % | 1 | two B · a", 0.0}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageCauses: stalls of one cause are one entry with their number, which unfolds when it is chosen; a run of the
// program is behind them, and is not red. The list is as tall as the window.
func TestPageCauses(t *testing.T) {
	names := smallNames{1: "a.A.one", 2: "a.B.two", 3: "a.C.three", 4: "a.Main.main"}
	source := content(func(h trace.Handler) error {
		err := errors.Join(h.Chunk(&trace.Meta{Values: map[string]string{"tickNanos": "1000", "slowMillis": "700"}}),
			h.Chunk(&trace.Clock{}), h.Chunk(&trace.Threads{List: []trace.Thread{{Name: "main", Main: true},
				{Index: 1, Name: "boss"}}}))
		record := uint64(0)
		add := func(thread uint32, kind trace.SegmentKind, outer, inner trace.Method, begin, took int64) {
			s := trace.Segment{Thread: thread, Kind: kind, Begin: begin * 1e6, End: (begin + took) * 1e6, FirstRecord: record,
				EndRecord: record + 4, Calls: []trace.Call{{Method: outer, Parent: -1, Next: 2, Count: 1, Begin: begin * 1e6,
					End: (begin + took) * 1e6}, {Method: inner, Next: 2, Count: 1, Begin: begin * 1e6, End: (begin + took) * 1e6}}}
			err = errors.Join(err, h.Segment(&s), h.Chunk(&trace.StallChunk{Thread: thread, Begin: s.Begin, CPU: -1,
				GCMillis: -1, Wall: uint64(took * 1e6), FirstRecord: record, EndRecord: record + 4,
				Description: fmt.Sprint("method ", outer)}))
			record += 4
		}
		add(1, trace.SegmentOutermost, 4, 1, 0, 9000)
		for k, took := range []int64{800, 900, 850, 1200} {
			add(0, trace.SegmentOutermost, 1, trace.Method(2+k/3), int64(k)*2000, took)
		}
		return err
	})
	list := value(`[...$("stalls").querySelectorAll("button")].filter((b) => b.checkVisibility()).map((b) =>
		[...b.children].map((e) => e.textContent).join(" / ")).join("\n")`)
	file := pageWith(t, names, "causes", source)
	got := visit{steps: []step{value(`$("stall-count").textContent`), list,
		value(`$("slow").getBoundingClientRect().height > innerHeight / 2`), press("n"), press("n"), painted, list,
		value(`$("stalls").querySelector("[aria-expanded]").getAttribute("aria-expanded")`), press("n"), painted,
		value(`shown.recording.stalls[shown.stall].wall / 1e6`),
		value(`shown.recording.stalls.map((s) => s.role).join()`),
		value(`void $("stalls").querySelector("summary").click()`), list,
		value(`["run", "stall"].map((role) =>
			getComputedStyle($("stalls").querySelector("." + role + " button")).borderLeftColor).join(" ")`),
		press("1"), painted, value(`shown.threads.threads.map((t) => t.stalls.length).join()`),
	}}.open(t, file)
	const first = "1.20 s: cause unknown / three C · a / main, at 6.00 s\n" +
		"900 ms ×3, 2.55 s in all: cause unknown / two B · a / main, at 2.00 s"
	const unfolded = first + "\n850 ms main, at 4.00 s\n800 ms main, at 0"
	want := []any{"(4)", first, true, unfolded, "true", 850.0, "run,stall,stall,stall,stall",
		unfolded + "\n9.00 s: run / one A · a / boss, at 0", "rgb(213, 216, 222) rgb(198, 40, 40)", "0,4"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPageManyThreads: the time line of many threads is scrolled, and its canvas is no taller than what is seen of it.
func TestPageManyThreads(t *testing.T) {
	got := visit{steps: []step{painted, value(`$("timeline").height < 1000 && $("timeline-pane").scrollHeight > 200 * LANE`),
		value(`void ($("timeline-pane").scrollTop = 1e6)`), painted,
		{"click": `(() => { const b = $("timeline").getBoundingClientRect(); return [b.left + 500, b.bottom - 12]; })()`}, painted,
		value(`shown.recording.threads[shown.scope].name`), value(`document.title`)}}.open(t, pageOf(t, &batch{pool: 200}, "indexer"))
	want := []any{true, "ForkJoinPool-1-worker-200 #229", "org.example.Indexer 1.9, 2026-11-18"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
