package export_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/tape"
)

// rowsTape is a program whose main composes a feed with two rows, and again as a state has changed: one of the rows,
// whose second parameter is new. A worker composes a lambda that captures nothing.
const rowsTape = `
header minor=6
meta clockPeriodMillis=5 records=all threads=all
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=worker-1
composed thread=0 list="app.Row\_(Feed.kt:20)=4:-1@2+0/10+100 app.Row\_(Feed.kt:20)=4:-1@4+0/120+100 app.Feed\_(Feed.kt:7)=0:-1@1+5/5+335"
composed thread=1 lost=2 list="app.ComposableSingletons$FeedKt.lambda-1.<anonymous>\_(Feed.kt:30)=0:-1@0+0/50+10"
records thread=0 first=0 list="+10@0 +11@10 -11@110 +11@120 -11@220 -10@340 +10@380"
composed thread=0 list="app.Row\_(Feed.kt:20)=34:-1@8+0/400+200 app.Feed\_(Feed.kt:7)=1:-1@7+3/390+500"
records thread=0 first=7 list="+11@400 -11@600 -10@890"
end`

func rowsRecording(t *testing.T) []byte {
	t.Helper()
	b, err := tape.Make(rowsTape)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestComposablesInPerfetto: executions nest in a track of their thread, and say why they were executed again.
func TestComposablesInPerfetto(t *testing.T) {
	nightly.Only(t, "commands")
	file := exportFile(t, "perfetto", "rows.perfetto-trace", feedNames{}, rowsRecording(t))
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"select t.name a, s.depth b, s.name c, s.ts / 1e6 d, s.dur / 1e6 e from slice s join track t on t.id = " +
			"s.track_id where s.category = 'composable' order by t.name, s.ts, s.depth", []string{
			"main: composables 0 app.Feed 5 335", "main: composables 1 app.Row 10 100",
			"main: composables 1 app.Row 120 100", "main: composables 0 app.Feed 390 500",
			"main: composables 1 app.Row 400 200",
			"worker-1 #1: composables 0 app.FeedKt.<anonymous> of line 30 50 10",
		}},
		{"select s.name a, s.ts / 1e6 b, key c, display_value d from args join slice s using (arg_set_id) where " +
			"s.category = 'composable' and key glob 'debug.*' order by s.ts, key", []string{
			"app.Feed 390 debug.began with it: a state that it reads changed", "app.Feed 390 debug.recomposed true",
			"app.Row 400 debug.changed parameter 2", "app.Row 400 debug.recomposed true",
		}},
		{"select key a, display_value b from args join slice s using (arg_set_id) where s.name = 'recording' and key glob " +
			"'*composables*'", []string{"debug.executions of composables without a track 2"}},
	} {
		if diff := gocmp.Diff(c.want, query(t, file, c.sql)); diff != "" {
			t.Errorf("%s:\n%s", c.sql, diff)
		}
	}
}

// TestComposablesInFirefox: executions are markers of their thread, and say why they were executed again.
func TestComposablesInFirefox(t *testing.T) {
	nightly.Only(t, "commands")
	got := foxMarkers(t, exportFile(t, "firefox", "rows.json", feedNames{}, rowsRecording(t)), "source", "changed")
	want := []string{"main app.Feed 5 335: app.Feed (Feed.kt:7), <nil>",
		"main app.Row 10 100: app.Row (Feed.kt:20), <nil>",
		"main app.Row 120 100: app.Row (Feed.kt:20), <nil>", "main app.Feed 390 500: app.Feed (Feed.kt:7), <nil>",
		"main app.Row 400 200: app.Row (Feed.kt:20), parameter 2"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestComposablesInSpeedscope: executions are profiles of their own.
func TestComposablesInSpeedscope(t *testing.T) {
	nightly.Only(t, "commands")
	all, _ := readSpeedscope(t, exportFile(t, "speedscope", "rows.json", feedNames{}, rowsRecording(t)))
	got := map[string]int64{}
	for m, took := range all {
		if strings.HasSuffix(m.Thread, ": composables") {
			got[m.Thread+" "+m.Name] = took.Total / 1e6
		}
	}
	want := map[string]int64{"main: composables app.Feed": 835, "main: composables app.Row": 400,
		"worker-1 #1: composables app.FeedKt.<anonymous> of line 30": 10}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestComposablesOnPage: executions have lanes among the threads, and their time is in no sum of all threads.
func TestComposablesOnPage(t *testing.T) {
	nightly.Only(t, "commands")
	file := exportFile(t, "html", "rows.html", feedNames{}, rowsRecording(t))
	var got struct {
		Lanes, All []string
	}
	inBrowser(t, file, `(async () => {
  const out = { Lanes: [], All: [] }, { threads } = page.recordings[0];
  for (const t of threads.filter((t) => t.async)) {
    const calls = await decodeCalls(t.events, t.calls);
    for (let i = 0; i < calls.length; i++) {
      const { method, of } = shown.names(calls.method[i]), { source } = shown.named[calls.method[i]];
      out.Lanes.push([t.name, calls.depth[i], method, "in", of, source, calls.begin[i] / 1e6, calls.end[i] / 1e6].join(" "));
    }
  }
  shown.setScope(-1);
  const tree = await shown.treeOf(() => true);
  for (const m of methodTimes(tree).values()) out.All.push(shown.names(m.method).text + " " + m.total / 1e6);
  out.All.sort();
  return out;
})()`, "", &got)
	want := []string{"main: composables 0 Feed in app Feed.kt:7 5 340", "main: composables 1 Row in app Feed.kt:20 10 110",
		"main: composables 1 Row in app Feed.kt:20 120 220", "main: composables 0 Feed in app Feed.kt:7 390 890",
		"main: composables 1 Row in app Feed.kt:20 400 600",
		"worker-1 #1: composables 0 FeedKt.<anonymous> of line 30 in app Feed.kt:30 50 60"}
	if diff := gocmp.Diff(want, got.Lanes); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]string{"app.Feed.load 400", "app.Main.main 850"}, got.All); diff != "" {
		t.Error(diff)
	}
}
