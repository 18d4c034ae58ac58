package group

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// hostile are names that would leave their place in a page that writes them as they are.
var hostile = []string{"</script><script>hacked = 1</script>", "{{data}}", "<img src=x onerror='hacked = 1'>",
	"\" onload=\"hacked = 1", "\u2028\u202e字 🙂", strings.Repeat("long", 1000)}

// hostileFleet has three groups whose names are hostile: the worst was met by all users in the first release and by
// half of them in the second.
func hostileFleet() *Fleet {
	s := NewStalls()
	for user := range 8 {
		for k, wall := range []int64{4e9, 3e9, 1e9} {
			for release := range 2 {
				if release == 1 && k == 0 && user%2 == 0 {
					continue
				}
				method := "com.example." + hostile[k] + ".run"
				s.AddReport(&analysis.Row{
					Key: fmt.Sprint("key", k), Recording: fmt.Sprint(user, "-", release), Wall: wall + int64(user),
					ReportID: fmt.Sprint(user, k, release), ReportKind: "message", Code: fmt.Sprint(release),
					Version: fmt.Sprint("1.", release, hostile[k]), User: fmt.Sprint("user", user),
					Device: hostile[(user+k)%len(hostile)], Scene: hostile[user%2],
					Time: 1_700_000_000_000 + int64(user)*86_400_000, Kind: analysis.KindOwnWork,
					Verdict: "own work: " + hostile[k], Title: hostile[k+1], Method: method + fmt.Sprint(k),
					HotPath: []string{"a.Main.main", method},
					Stacks: []devicereport.Sample{
						{State: hostile[k], Count: 3, Frames: []string{"a.B.c(" + hostile[k] + ")"}},
						{Count: 1, Frames: []string{"a.B.d(B.java:1)"}}},
					Calls: []analysis.RowCall{{Method: "a.Main.main", Count: 1, Total: wall},
						{Depth: 1, Method: method, Count: 20, Total: wall / 2}},
					Facts: []analysis.IncidentFact{{Key: hostile[k], Value: hostile[k+2]}},
				})
			}
		}
	}
	return s.Groups()
}

// readFleet opens a page in Chromium.
func readFleet(t *testing.T, f *Fleet, more map[string]any, got any) {
	t.Helper()
	readers, err := oracle.FindReaders()
	oracle.Require(t, err)
	defer readers.Close()
	var b bytes.Buffer
	if err := f.WriteHTML(&b, 0); err != nil {
		t.Fatal(err)
	}
	file := fixture.Write(t, filepath.Join(t.TempDir(), "fleet.html"), b.Bytes())
	more["wait"] = "document.documentElement.dataset.ready"
	if err := readers.Ask("page", file, more, got); err != nil {
		t.Fatal(err)
	}
}

// fleetFacts returns what the page shows, and what it shows when filters are set.
const fleetFacts = `(() => {
  const users = () => [...$("groups").tBodies[0].rows].map((r) => r.dataset.key + " " + r.cells[1].textContent).join(", ");
  const choose = (by, k) => { $(by).selectedIndex = k; $(by).dispatchEvent(new Event("change")); };
  const facts = [users(), $("details").querySelector("h3").textContent.length, typeof hacked, document.querySelectorAll("img").length];
  choose("version", 1);
  facts.push($("version").selectedOptions[0].textContent.slice(0, 4) + ": " + users());
  choose("device", 1);
  facts.push(users());
  choose("version", 0); choose("device", 0);
  $("search").value = "RUN1"; $("search").dispatchEvent(new Event("input"));
  facts.push(users() + "; " + $("found").textContent);
  $("search").value = "nothing has this"; $("search").dispatchEvent(new Event("input"));
  facts.push($("details").textContent);
  $("search").value = ""; $("search").dispatchEvent(new Event("input"));
  $("groups").tBodies[0].rows[2].querySelector("button").click();
  facts.push($("details").querySelector("h3").textContent, $("details").querySelector("ol.path").textContent,
    $("details").querySelector("table").tBodies[0].textContent,
    [...$("details").querySelectorAll("ul li, ol.stack")].map((e) => e.textContent).join("; "));
  return facts.map(String);
})()`

// unnamed returns what a screen reader could not name.
const unnamed = `[...document.querySelectorAll("button, input, select, section, th")].filter((e) =>
  !(e.textContent.trim() || e.getAttribute("aria-label")) || e.tagName === "SELECT" && !e.getAttribute("aria-label") ||
  e.tagName === "TH" && !e.scope).map((e) => e.outerHTML).join("\n")`

// TestFleetPage opens the page of a fleet in Chromium: hostile names stay texts, filters work, nothing is cut in a wide
// and a narrow window, and all has a name for a screen reader. With TRACEGEN_PICTURES set, it writes pictures there.
func TestFleetPage(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts Chromium")
	}
	f := hostileFleet()
	var got struct {
		Value            []string
		Errors, Requests []string
	}
	readFleet(t, f, map[string]any{"value": fleetFacts}, &got)
	if len(got.Errors) > 0 || len(got.Requests) != 1 {
		t.Errorf("errors %s, requests %s", got.Errors, got.Requests)
	}
	want := []string{"key0 8, key1 8, key2 8", "53", "undefined", "0", "1.1{: key1 8", "key1 ≤ 2",
		"key1 8; 1 group of 3, those first that take users the most time",
		"No group passes the filters.", "com.example.<img src=x onerror='hacked = 1'>.run2",
		"a.Main.maincom.example.<img src=x onerror='hacked = 1'>.run",
		"1.1<img src=x onerror='hacked = 1'>8 (100 %)81.0<img src=x onerror='hacked = 1'>8 (100 %)8",
		"1 s main Main · a; 500 ms run 20 × <img src=x onerror='hacked = 1'> · com.example; " +
			"a.B.c(<img src=x onerror='hacked = 1'>); a.B.d(B.java:1)"}
	if d := cmp.Diff(want, got.Value); d != "" {
		t.Error(d)
	}
	for _, wide := range []int{1400, 400} {
		var got struct{ Values []string }
		steps := []map[string]any{{"value": crowded}, {"value": unnamed}, {"value": `getComputedStyle($("up")).display + " " +
			$("groups").tBodies[0].rows[0].cells[4].textContent.split("\n").length`}}
		if pictures := os.Getenv("TRACEGEN_PICTURES"); pictures != "" {
			steps = append(steps, map[string]any{"picture": filepath.Join(pictures, fmt.Sprintf("fleet-%d.png", wide))})
		}
		readFleet(t, f, map[string]any{"dark": wide < 800, "size": map[string]any{"width": wide, "height": 800},
			"steps": steps}, &got)
		back := map[int]string{1400: "none 2", 400: "block 2"}[wide]
		if d := cmp.Diff([]string{"", "", back}, got.Values); d != "" {
			t.Errorf("%d pixels: %s", wide, d)
		}
	}
	var none struct{ Errors []string }
	readFleet(t, NewStalls().Groups(), map[string]any{}, &none)
	if len(none.Errors) > 0 {
		t.Errorf("an empty fleet: %s", none.Errors)
	}
}

// TestFleetPageIsBounded has more groups, devices and scenes than a page may have, all with long names.
func TestFleetPageIsBounded(t *testing.T) {
	s := NewStalls()
	rnd := rand.New(rand.NewPCG(1, 2))
	long := strings.Repeat("<", 400)
	stack := devicereport.Sample{Count: 1, Frames: slices.Repeat([]string{long}, 32)}
	for k := range 30_000 {
		id := fmt.Sprint(k)
		s.AddReport(&analysis.Row{Key: fmt.Sprint(k % 220), Recording: id, ReportID: id, ReportKind: "message", Wall: 1e9,
			Version: fmt.Sprint(k/220, long), Device: fmt.Sprint(rnd.IntN(2000), long), Scene: fmt.Sprint(rnd.IntN(2000), long),
			Method: long, HotPath: slices.Repeat([]string{long}, 100),
			Stacks: []devicereport.Sample{stack, stack, {Frames: stack.Frames[1:]}, {Frames: stack.Frames[2:]},
				{Frames: stack.Frames[3:]}},
			Calls: slices.Repeat([]analysis.RowCall{{Method: long, Count: 1}}, 30),
			Title: long, Verdict: long})
	}
	var b bytes.Buffer
	if err := s.Groups().WriteHTML(&b, 0); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 32<<20 {
		t.Errorf("%d bytes", b.Len())
	}
}
