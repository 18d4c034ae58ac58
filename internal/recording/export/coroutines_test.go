package export_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/trace"
)

// feedTape is a coroutine of main that calls Feed.load, which waits for a lambda on another thread, and a second lambda
// that runs meanwhile and is suspended at the end.
const feedTape = `
header minor=6
meta clockPeriodMillis=5 records=all threads=all
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=worker-1
marks thread=0 list="2:15:1@1 2:16:5@1 3:15:1@1 1:11:7@3 2:12:9@3 4:11@3 4:15@4 3:11:7@6 3:15:1@8"
marks thread=1 list="3:12:9@0 3:16:5@4 4:16@5"
records thread=0 first=0 list="+10@0 +15@10 +11@20 -11@40 -15@40 -10@50 +11@1030 -11@1040 +15@1040 -15@1050"
records thread=1 first=0 list="+12@250 +13@260 -13@1010 -12@1020 +16@1021 -16@1030"
end`

// feedNames are the names of its methods.
type feedNames struct{}

// Name implements [trace.Names].
func (feedNames) Name(m trace.Method) (trace.Name, bool) {
	names := map[trace.Method]string{10: "app.Main.main", 11: "app.Feed.load", 12: "app.Feed$load$2.invokeSuspend",
		13: "app.Db.query", 15: "app.Main$main$1.invokeSuspend", 16: "app.Feed$refresh$1.invokeSuspend",
		20: "io.ktor.util.Pipeline.loop"}
	at := strings.LastIndexByte(names[m], '.')
	return trace.Name{Class: names[m][:max(0, at)], Method: names[m][at+1:]}, at >= 0
}

func feedRecording(t *testing.T) []byte {
	t.Helper()
	b, err := tape.Make(feedTape)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCoroutinesInPerfetto: asynchronous calls nest in tracks of their own, with the times in which they ran.
func TestCoroutinesInPerfetto(t *testing.T) {
	nightly.Only(t, "commands")
	file := exportFile(t, "perfetto", "feed.perfetto-trace", feedNames{}, feedRecording(t))
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"select t.name a, s.depth b, s.name c, s.ts / 1e6 d, s.dur / 1e6 e from slice s join track t on t.id = " +
			"s.track_id where s.category = 'coroutine' order by t.name, s.ts, s.depth", []string{
			"coroutines 1 0 app.Main.main{coroutine 1} 10 1040",
			"coroutines 1 1 on main 10 10",
			"coroutines 1 1 app.Feed.load 20 1020",
			"coroutines 1 2 on main 20 20",
			"coroutines 1 2 app.Feed.load{coroutine 2} 250 770",
			"coroutines 1 3 on worker-1 #1 250 770",
			"coroutines 1 2 on main 1030 10",
			"coroutines 1 1 on main 1040 10",
			"coroutines 2 0 app.Feed.refresh{coroutine 1} 1021 29",
			"coroutines 2 1 on worker-1 #1 1021 9",
		}},
		{"select s.name a, key b, display_value c from args join slice s using (arg_set_id) where key in " +
			"('debug.waited for', 'debug.launched by', 'debug.end') and s.name != 'recording' order by s.name, key", []string{
			"app.Feed.load debug.end returned", "app.Feed.load debug.waited for app.Db.query on worker-1 #1",
			"app.Feed.load{coroutine 2} debug.end returned",
			"app.Feed.load{coroutine 2} debug.launched by app.Feed.load",
			"app.Feed.refresh{coroutine 1} debug.end still suspended",
			"app.Feed.refresh{coroutine 1} debug.launched by app.Main.main",
			"app.Main.main{coroutine 1} debug.end returned",
			"app.Main.main{coroutine 1} debug.launched by app.Main.main",
			"app.Main.main{coroutine 1} debug.waited for app.Feed.load",
		}},
		{"select count(*) a from slice where category = 'method'", []string{"8"}},
		// The pieces of a call are linked, each with its call on the thread.
		{"select o.name a, o.ts / 1e6 b, i.name c, i.ts / 1e6 d from flow join slice o on o.id = slice_out join slice i " +
			"on i.id = slice_in where o.category = 'coroutine' order by o.ts, i.ts", []string{"on main 10 on main 1040",
			"on main 20 on main 1030"}},
		{"select o.name a, o.ts / 1e6 b, i.name c, i.ts / 1e6 d from flow join slice o on o.id = slice_out join slice i " +
			"on i.id = slice_in where o.category = 'method' order by o.ts, o.depth", []string{
			"app.Main.main{coroutine 1} 10 on main 10", "app.Feed.load 20 on main 20",
			"app.Feed.load{coroutine 2} 250 on worker-1 #1 250", "app.Feed.refresh{coroutine 1} 1021 on worker-1 #1 1021",
			"app.Feed.load 1030 on main 1030", "app.Main.main{coroutine 1} 1040 on main 1040"}},
	} {
		if diff := gocmp.Diff(c.want, query(t, file, c.sql)); diff != "" {
			t.Errorf("%s:\n%s", c.sql, diff)
		}
	}
}

// foxMarkers returns the markers of a profile, with two of the things that they say.
func foxMarkers(t *testing.T, file, one, other string) (markers []string) {
	t.Helper()
	var got struct {
		Threads []struct {
			Name    string
			Markers struct {
				FlatMarkers []struct {
					Name            string
					Start, Duration float64
					Data            map[string]any
				}
			}
		}
	}
	ask(t, "firefox", file, nil, &got)
	for _, th := range got.Threads {
		for _, m := range th.Markers.FlatMarkers {
			markers = append(markers, fmt.Sprintf("%s %s %v %v: %v, %v", th.Name, m.Name, m.Start, m.Duration, m.Data[one],
				m.Data[other]))
		}
	}
	return markers
}

// TestCoroutinesInFirefox: the pieces of an asynchronous call are markers of their threads with one flow.
func TestCoroutinesInFirefox(t *testing.T) {
	nightly.Only(t, "commands")
	markers := foxMarkers(t, exportFile(t, "firefox", "feed.json", feedNames{}, feedRecording(t)), "flow", "waited for")
	want := []string{
		"main app.Main.main{coroutine 1} 10 30: recording 1, call 1, app.Feed.load",
		"main app.Feed.load 20 20: recording 1, call 2, app.Db.query on worker-1 #1",
		"main app.Feed.load 1030 10: recording 1, call 2, app.Db.query on worker-1 #1",
		"main app.Main.main{coroutine 1} 1040 10: recording 1, call 1, app.Feed.load",
		"worker-1 #1 app.Feed.load{coroutine 2} 250 770: recording 1, call 3, <nil>",
		"worker-1 #1 app.Feed.refresh{coroutine 1} 1021 9: recording 1, call 4, <nil>",
	}
	if diff := gocmp.Diff(want, markers); diff != "" {
		t.Error(diff)
	}
}

// TestCoroutinesInSpeedscope: asynchronous calls are profiles of their own.
func TestCoroutinesInSpeedscope(t *testing.T) {
	nightly.Only(t, "commands")
	all, _ := readSpeedscope(t, exportFile(t, "speedscope", "feed.json", feedNames{}, feedRecording(t)))
	got := map[string]int64{}
	for m, took := range all {
		if strings.HasPrefix(m.Thread, "coroutines") {
			got[m.Thread+" "+m.Name] = took.Total / 1e6
		}
	}
	want := map[string]int64{"coroutines 1 app.Main.main{coroutine 1}": 1040, "coroutines 1 app.Feed.load": 1020,
		"coroutines 1 app.Feed.load{coroutine 2}": 770, "coroutines 1 on main": 50, "coroutines 1 on worker-1 #1": 770,
		"coroutines 2 app.Feed.refresh{coroutine 1}": 29, "coroutines 2 on worker-1 #1": 9}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCoroutinesOfLibraries: where tracks are missing, those of the program are there.
func TestCoroutinesOfLibraries(t *testing.T) {
	nightly.Only(t, "commands")
	var marks, records strings.Builder
	for k := range 260 {
		fmt.Fprintf(&marks, "1:20:%d@%d 4:20@%[2]d ", k+1, 2*k+1)
		fmt.Fprintf(&records, "+20@%d -20@%[1]d ", k)
	}
	b, err := tape.Make(strings.NewReplacer(`"3:12:9@0 3:16:5@4 4:16@5"`, `"`+marks.String()+`1:11:8@521 4:11@521"`,
		`"+12@250 +13@260 -13@1010 -12@1020 +16@1021 -16@1030"`, `"`+records.String()+`+11@300 -11@340"`).Replace(feedTape))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := readSpeedscope(t, exportFile(t, "speedscope", "feed.json", feedNames{}, b))
	loads := 0
	for m := range all {
		if strings.HasPrefix(m.Thread, "coroutines") && m.Name == "app.Feed.load" {
			loads++
		}
		if strings.HasPrefix(m.Thread, "coroutines") && strings.HasPrefix(m.Name, "io.ktor") {
			t.Errorf("%v is there", m)
		}
	}
	if loads != 2 {
		t.Errorf("%d tracks have Feed.load", loads)
	}
}

// TestCoroutinesOnPage: asynchronous calls have lanes among the threads, and their time is in no sum of all threads.
func TestCoroutinesOnPage(t *testing.T) {
	nightly.Only(t, "commands")
	file := exportFile(t, "html", "feed.html", feedNames{}, feedRecording(t))
	var got struct {
		Lanes, All, Links []string
	}
	inBrowser(t, file, `(async () => {
  const out = { Lanes: [], All: [] }, { threads } = page.recordings[0];
  for (const t of threads.filter((t) => t.async)) {
    const calls = await decodeCalls(t.events, t.calls);
    for (let i = 0; i < calls.length; i++)
      out.Lanes.push([t.name, calls.depth[i], shown.names(calls.method[i]).text, calls.begin[i] / 1e6, calls.end[i] / 1e6].join(" "));
  }
  shown.setScope(-1);
  const tree = await shown.treeOf(() => true);
  for (const m of methodTimes(tree).values()) out.All.push(shown.names(m.method).text + " " + m.total / 1e6);
  out.All.sort();
  const row = { kind: "calls", depth: 1, t: shown.threads.threads.find((t) => t.thread.async) };
  out.Links = shown.threads.links({ row, i: row.t.calls.at(30e6, 1) }).map((l) =>
    [l.row.t.thread.name, l.begin / 1e6, l.end / 1e6].join(" "));
  return out;
})()`, "", &got)
	want := []string{"coroutines 1 0 app.Main.main{coroutine 1} 10 1050", "coroutines 1 1 on main 10 20",
		"coroutines 1 1 app.Feed.load 20 1040", "coroutines 1 2 on main 20 40",
		"coroutines 1 2 app.Feed.load{coroutine 2} 250 1020", "coroutines 1 3 on worker-1 #1 250 1020",
		"coroutines 1 2 on main 1030 1040", "coroutines 1 1 on main 1040 1050",
		"coroutines 2 0 app.Feed.refresh{coroutine 1} 1021 1050", "coroutines 2 1 on worker-1 #1 1021 1030"}
	if diff := gocmp.Diff(want, got.Lanes); diff != "" {
		t.Error(diff)
	}
	want = []string{"app.Db.query 750", "app.Feed.load 30", "app.Feed.load{coroutine 2} 770",
		"app.Feed.refresh{coroutine 1} 9", "app.Main.main 50", "app.Main.main{coroutine 1} 40"}
	if diff := gocmp.Diff(want, got.All); diff != "" {
		t.Error(diff)
	}
	// Those of Feed.load, which ran on main twice.
	if diff := gocmp.Diff([]string{"main 20 40", "main 1030 1040"}, got.Links); diff != "" {
		t.Error(diff)
	}
}
