package group

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// pathSample is a sample of units in each of which a method calls others, for so many nanoseconds, one after the other.
func pathSample(t *testing.T, units int, calls map[string]int64, order ...string) *Sample {
	t.Helper()
	return variedSample(t, units, func(_ int, name string) int64 { return calls[name] }, order...)
}

// variedSample is a sample of units in each of which a method calls others, for as long as took says.
func variedSample(t *testing.T, units int, took func(unit int, name string) int64, order ...string) *Sample {
	t.Helper()
	s := &Sample{Unit: UnitMessage, Paths: true}
	names := resolve.NewNames(nil, nil)
	h, err := s.Add(&analysis.Recording{Name: "made", Names: names})
	if err != nil {
		t.Fatal(err)
	}
	for k, name := range append([]string{"a.Main.run"}, order...) {
		names.Named(trace.FirstNamed+trace.Method(k), name)
	}
	for unit := range units {
		seg := &trace.Segment{Kind: trace.SegmentOutermost}
		seg.Calls = append(seg.Calls, trace.Call{Method: trace.FirstNamed, Parent: -1, Count: 1})
		now := int64(0)
		for k, name := range order {
			seg.Calls = append(seg.Calls, trace.Call{Method: trace.FirstNamed + trace.Method(k+1), Count: 1, Begin: now,
				End: now + took(unit, name), Next: int32(k + 2)})
			now += took(unit, name)
		}
		now += 1e6
		seg.End, seg.Calls[0].End, seg.Calls[0].Next = now, now, int32(len(seg.Calls))
		if err := h.Segment(seg); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.End(nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func madeComparison(t *testing.T) *Comparison {
	old := pathSample(t, 4, map[string]int64{"a.Main.slow": 2e6, "a.Main.fast": 6e6, "a.Main.gone": 1e6,
		"a.Main.same": 3e6}, "a.Main.slow", "a.Main.fast", "a.Main.gone", "a.Main.same")
	// Other IDs, another number of units.
	new := pathSample(t, 8, map[string]int64{"a.Main.slow": 5e6, "a.Main.fast": 2e6, "a.Main.fresh</script>": 1e6,
		"a.Main.same": 3e6}, "a.Main.fresh</script>", "a.Main.same", "a.Main.slow", "a.Main.fast")
	return Compare(old, new, nil)
}

// TestFrames merges paths by the names of methods, with sums for each unit of work.
func TestFrames(t *testing.T) {
	c := madeComparison(t)
	got := map[string]string{}
	for i, f := range c.Frames.Nodes {
		if i > 0 && f.Parent >= i {
			t.Errorf("frame %d is before its caller %d", i, f.Parent)
		}
		got[f.Method] = fmt.Sprintf("%g+%g to %g+%g, %g to %g calls", f.OldSelf/1e6, (f.Old-f.OldSelf)/1e6, f.NewSelf/1e6,
			(f.New-f.NewSelf)/1e6, f.OldCalls, f.NewCalls)
	}
	want := map[string]string{
		"": "0+13 to 0+12, 0 to 0 calls", "run": "1+12 to 1+11, 1 to 1 calls", "slow": "2+0 to 5+0, 1 to 1 calls",
		"fast": "6+0 to 2+0, 1 to 1 calls", "gone": "1+0 to 0+0, 1 to 0 calls", "same": "3+0 to 3+0, 1 to 1 calls",
		"fresh</script>": "0+0 to 1+0, 0 to 1 calls",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	all := c.Frames.Nodes
	few := limitFrames(all, 3)
	if len(few.Nodes) != 3 || few.Hidden != len(all)-3 || few.Nodes[2].Method != "fast" || few.Nodes[2].Parent != 1 {
		t.Errorf("limited: %+v", few)
	}
	if c.Unchanged != 2 || len(c.Changes) != 4 {
		t.Errorf("%d changes, %d unchanged", len(c.Changes), c.Unchanged)
	}
}

// TestFigures writes numbers for people.
func TestFigures(t *testing.T) {
	for n, want := range map[float64]string{1234567: "1,234,567", 999: "999", 1000: "1,000", 0.25: "0.25",
		-1234.5: "-1,234", 100.4: "100", 7.5: "7.5", 0: "0"} {
		if got := number(n); got != want {
			t.Errorf("%g is %q, want %q", n, got, want)
		}
	}
	for n, want := range map[float64]string{1234567000: "1.23 s", 1.2345e12: "1,234.5 s", 999: "999 ns", 2e6: "2.00 ms"} {
		if got := nanos(n); got != want {
			t.Errorf("%g ns is %q, want %q", n, got, want)
		}
	}
}

// TestComparePage opens the page in Chromium: its colours, widths, and what it shows when keys are pressed. With
// TRACEGEN_PICTURE set, it writes a picture to that file.
func TestComparePage(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts Chromium")
	}
	readers, err := oracle.FindReaders()
	oracle.Require(t, err)
	t.Cleanup(func() { readers.Close() })
	for _, row := range []struct {
		name string
		of   *Comparison
	}{{"made", madeComparison(t)}, {"empty", Compare(&Sample{Unit: UnitMessage}, &Sample{Unit: UnitMessage}, nil)}} {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := row.of.WriteHTML(&b, 0); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "{{") {
				t.Error("a place of the template is left")
			}
			file := filepath.Join(t.TempDir(), "diff.html")
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			picture := ""
			if row.name == "made" {
				picture = os.Getenv("TRACEGEN_PICTURE")
			}
			var got struct {
				Value struct {
					Widths, Old    map[string]int
					Colours        map[string]string
					Details, Found string
					Zoomed, Slower string
				}
				Errors, Requests []string
			}
			err := readers.Ask("page", file, map[string]any{"wait": "document.documentElement.dataset.ready",
				"picture": picture, "value": pageFacts}, &got)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Errors) > 0 || len(got.Requests) != 1 {
				t.Errorf("errors %s, requests %s", got.Errors, got.Requests)
			}
			if row.name == "empty" {
				return
			}
			// Of 12 ms and of 13 ms.
			if d := cmp.Diff(map[string]int{"all": 1200, "a.Main.run": 1200, "a.Main.slow": 500, "a.Main.fast": 200,
				"a.Main.fresh</script>": 100, "a.Main.same": 300}, got.Value.Widths); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(map[string]int{"all": 1300, "a.Main.run": 1300, "a.Main.slow": 200, "a.Main.fast": 600,
				"a.Main.gone": 100, "a.Main.same": 300}, got.Value.Old); d != "" {
				t.Error(d)
			}
			// Too few units: all that has changed is pale.
			hues := map[string]string{"a.Main.slow": "hsl(6 20%", "a.Main.fast": "hsl(212 20%", "a.Main.same": "hsl(40 "}
			for name, hue := range hues {
				if !strings.HasPrefix(got.Value.Colours[name], hue) {
					t.Errorf("%s has the colour %s", name, got.Value.Colours[name])
				}
			}
			if v := got.Value; !strings.Contains(v.Details, "2 ms5 ms") || !strings.Contains(v.Details, "+3 ms (+150 %)") ||
				!strings.Contains(v.Details, "too few to say whether it is significant") ||
				v.Found != "1 method, own time 2 ms to 5 ms" || v.Zoomed != "a.Main.slow" ||
				!strings.HasPrefix(v.Slower, "+3.00 ms slow Main · a") {
				t.Errorf("%+v", v)
			}
		})
	}
}

// crowded returns what of the page wraps, is cut without a sign, or covers something else.
const crowded = `(() => {
  const bad = [], seen = (e) => e.getClientRects().length > 0, name = (e) => e.id || e.className || e.tagName;
  if (document.documentElement.scrollWidth > innerWidth) bad.push("the page is wider than the window");
  for (const e of document.querySelectorAll("header > *, aside li > *, footer, summary")) {
    if (seen(e) && e.getBoundingClientRect().height > 34) bad.push(name(e) + " wraps");
    const cut = e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" && e.tagName !== "INPUT";
    if (cut && getComputedStyle(e).textOverflow !== "ellipsis") bad.push(name(e) + " is cut");
  }
  for (const parent of document.querySelectorAll("body, header, main, aside")) {
    const children = [...parent.children].filter((e) => seen(e) && getComputedStyle(e).position !== "fixed");
    children.forEach((a, k) => children.slice(k + 1).forEach((b) => {
      const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
      if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1)
        bad.push(name(a) + " covers " + name(b));
    }));
  }
  return bad.join("\n");
})()`

// TestComparePageCertainty: a change that may be chance is hatched, is in a list of its own, and is called so; one that
// is significant has its full colour.
func TestComparePageCertainty(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts Chromium")
	}
	readers, err := oracle.FindReaders()
	oracle.Require(t, err)
	t.Cleanup(func() { readers.Close() })
	took := func(slow int64) func(int, string) int64 {
		return func(unit int, name string) int64 {
			if name == "a.Main.slow" {
				return slow + int64(unit%3)*1e4
			}
			return 4e6 + int64((unit*7+int(slow/1e6))%5)*1e6
		}
	}
	order := []string{"a.Main.slow", "a.Main.shaky"}
	c := Compare(variedSample(t, 12, took(2e6), order...), variedSample(t, 14, took(3e6), order...), nil)
	file := filepath.Join(t.TempDir(), "diff.html")
	var b bytes.Buffer
	if err := c.WriteHTML(&b, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	pictures := os.Getenv("TRACEGEN_PICTURES")
	for _, wide := range []int{1400, 400} {
		var got struct {
			Values           []string
			Errors, Requests []string
		}
		steps := []map[string]any{{"value": crowded}}
		if pictures != "" {
			steps = append(steps, map[string]any{"picture": filepath.Join(pictures, fmt.Sprintf("compare-%d.png", wide))})
		}
		err := readers.Ask("page", file, map[string]any{"wait": "document.documentElement.dataset.ready", "dark": wide < 800,
			"size": map[string]any{"width": wide, "height": 800}, "steps": steps}, &got)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Values) == 0 || got.Values[0] != "" {
			t.Errorf("%d pixels: %q", wide, got.Values)
		}
	}
	var got struct {
		Value            []string
		Errors, Requests []string
	}
	err = readers.Ask("page", file, map[string]any{"wait": "document.documentElement.dataset.ready", "value": `(() => {
		const at = (method) => shown.boxes.find((b) => name(b.i) === "a.Main." + method).i;
		return [...["slow", "shaky"].map((m) => changed(at(m)) + (colour(at(m)).startsWith("hsl(6 6") ? " red " : " pale ") + certainty(at(m))),
			$("slower").textContent, $("noise-part").firstElementChild.textContent, $("noise").children[0].title,
			String($("banner").hidden)];
	})()`}, &got)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Errors) > 0 {
		t.Errorf("errors %s", got.Errors)
	}
	if len(got.Value) == 6 {
		got.Value[2], _, _ = strings.Cut(got.Value[2], "2.")
	}
	want := []string{"surely red ", "perhaps pale not significant: it may be chance",
		"+1.00 ms slow Main · a", "Not significant: 1 method", "a.Main.shaky", "true"}
	if d := cmp.Diff(want, got.Value); d != "" {
		t.Error(d)
	}
}

// pageFacts returns what the page shows. Widths are in hundredths of a millisecond.
const pageFacts = `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const key = (k) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
  if (frames === 0) return {};
  const widths = () => Object.fromEntries(shown.boxes.map((b) => [name(b.i), Math.round(b.w / shown.boxes[0].w * total(0) / 1e4)]));
  const facts = {widths: widths(), colours: Object.fromEntries(shown.boxes.map((b) => [name(b.i), colour(b.i)]))};
  key("t"); await frame();
  facts.old = widths();
  key("t"); await frame();
  const slow = shown.boxes.find((b) => name(b.i) === "a.Main.slow"), box = $("chart").getBoundingClientRect();
  const at = {clientX: box.left + slow.x + slow.w / 2, clientY: box.top + slow.row * ROW + 5, bubbles: true};
  $("chart").dispatchEvent(new PointerEvent("pointermove", at));
  if ($("tip").hidden) throw new Error("no tip");
  $("chart").dispatchEvent(new MouseEvent("click", at)); await frame();
  facts.details = $("details").textContent;
  facts.zoomed = name(shown.root);
  key("0"); await frame();
  $("slower").children[0].click(); await frame();
  facts.found = $("found").textContent;
  facts.slower = $("slower").children[0].textContent;
  return facts;
})()`
