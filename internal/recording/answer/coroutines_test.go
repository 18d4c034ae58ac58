package answer

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// feedTape is a program whose main waits in runBlocking for a coroutine. That calls Feed.load, which waits for a query
// on a dispatcher's thread. The query begins late, because the thread is busy with another coroutine.
const feedTape = `
header minor=6
meta slowMillis=700 clockPeriodMillis=5 records=all threads=all
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=DefaultDispatcher-worker-1
marks thread=0 list="2:15:1@1 2:16:5@1 3:15:1@1 1:11:7@3 2:12:9@4 4:14@4 4:11@5 4:15@6 3:11:7@7 3:15:1@9"
marks thread=1 list="3:16:5@0 3:12:9@2"
records thread=0 first=0 list="+10@0 +15@10 +11@20 +14@30 -14@40 -11@40 -15@40 +11@1030 -11@1040 +15@1040 -15@1050 -10@1060"
records thread=1 first=0 list="+16@10 -16@245 +12@250 +13@260 -13@1010 -12@1020"
sample time=700 thread=0 state=TIMED_WAITING stack="jdk.internal.misc.Unsafe.park(Native) java.util.concurrent.locks.LockSupport.parkNanos(L.java) kotlinx.coroutines.BlockingCoroutine.joinBlocking(Builders.kt:95) app.Main.main(Main.kt:7)"
stall thread=0 sequence=0 begin=0 wall=1060 cpu=30 first=0 end=12 what="method 10"
end`

// feedNames are the names of its methods.
type feedNames struct{}

// Name implements [trace.Names].
func (feedNames) Name(m trace.Method) (trace.Name, bool) {
	names := map[trace.Method]string{10: "app.Main.main", 11: "app.Feed.load", 12: "app.Feed$load$row$1.invokeSuspend",
		13: "app.Db.query", 14: "kotlinx.coroutines.BuildersKt.withContext", 15: "app.Main$main$1.invokeSuspend",
		16: "app.Feed$refresh$1.invokeSuspend"}
	at := strings.LastIndexByte(names[m], '.')
	return trace.Name{Class: names[m][:at], Method: names[m][at+1:]}, true
}

// TestCoroutines compares the block about coroutines with golden files: on the screen, in the report with all details,
// and in JSON.
func TestCoroutines(t *testing.T) {
	compareBlock(t, "coroutines", feedTape, feedNames{})
}

// TestCoroutinesBeginUnknown: pieces that cannot be joined are not as many calls.
func TestCoroutinesBeginUnknown(t *testing.T) {
	const mark = "1:11:7@3 " // the continuation of Feed.load is made
	tape := strings.Replace(feedTape, mark, "", 1)
	screen := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = feedNames{}
		analyze(t, "feed.tgd", tape, o)
	})
	for _, want := range []string{"Coroutines: ≤ 5 calls of 4 ", "      ≤ 2       ≥ 0 "} {
		if tape == feedTape || !strings.Contains(screen, want) {
			t.Errorf("%q is missing:\n%s", want, screen)
		}
	}
}

// TestCoroutineMadeOutsideOfCalls: a lambda that was made when no call was open, after a long time, did not begin late.
func TestCoroutineMadeOutsideOfCalls(t *testing.T) {
	tape := strings.NewReplacer("2:12:9@4 ", "", "3:16:5@0 ", "3:16:5@0 2:12:9@2 ", "-16@245", "-16@30").Replace(feedTape)
	screen := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = feedNames{}
		analyze(t, "feed.tgd", tape, o)
	})
	if strings.Contains(screen, "began up to") || !strings.Contains(screen, "app.Feed.load{coroutine row.1}") {
		t.Error(screen)
	}
}

// clientNames are names of feedTape with a library in place of some.
type clientNames struct{ feedNames }

func (n clientNames) Name(m trace.Method) (trace.Name, bool) {
	switch m {
	case 13:
		return trace.Name{Class: "io.ktor.util.Pipeline", Method: "loop"}, true
	case 14:
		return trace.Name{Class: "io.ktor.client.HttpStatement", Method: "execute"}, true
	}
	return n.feedNames.Name(m)
}

// TestCoroutineWaitsForLibrary: what the program called of a library says more than what that did.
func TestCoroutineWaitsForLibrary(t *testing.T) {
	tape := strings.NewReplacer("2:12:9@4 4:14@4 4:11@5 4:15@6 3:11:7@7 3:15:1@9",
		"4:13@5 4:14@6 4:11@7 4:15@8 3:11:7@9 3:15:1@11", "+14@30 -14@40", "+14@30 +13@31 -13@40 -14@40").Replace(feedTape)
	screen := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = clientNames{}
		analyze(t, "feed.tgd", tape, o)
	})
	analyze(t, "feed.tgd", tape, analysis.Options{Names: clientNames{}, Stall: func(s *analysis.Stall) error {
		if want := "s waiting for app.Feed.load"; s.Thread.Main && !strings.HasSuffix(s.Verdict.Text, want) {
			t.Errorf("%q is missing: %s", want, s.Verdict.Text)
		}
		return nil
	}})
	for _, want := range []string{"waiting for app.Feed.load (", "waiting for io.ktor.client.HttpStatement.execute ("} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing:\n%s", want, screen)
		}
	}
}

// TestCoroutineLostMarks: what is lost is missing in all numbers.
func TestCoroutineLostMarks(t *testing.T) {
	tape := strings.Replace(feedTape, "1:11:7@3 2:12:9@4", "0:3@3", 1)
	screen := screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = feedNames{}
		analyze(t, "feed.tgd", tape, o)
	})
	for _, want := range []string{"Coroutines: ~ 5 calls of 4 ", "      ~ 2       ≥ 0 "} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing:\n%s", want, screen)
		}
	}
}

// compareBlock compares the screen, the report with -v, and the object of that name in the JSON about a recording with
// golden files, and the JSON with its schema. It returns the report.
func compareBlock(t *testing.T, name, tape string, names trace.Names) string {
	t.Helper()
	golden.Compare(t, "testdata/screen-"+name+".golden", screenOf(t, new(Screen), func(o analysis.Options) {
		o.Names = names
		analyze(t, "feed.tgd", tape, o)
	}))
	var report, object bytes.Buffer
	text := NewText(&report)
	j, err := NewJSON(&object, "1")
	if err != nil {
		t.Fatal(err)
	}
	end := func(r *analysis.Recording) error {
		j.End(r)
		return text.End(r)
	}
	o := analysis.Options{Names: names, Begin: text.Begin, Stall: text.Stall, End: end}
	analyze(t, "feed.tgd", tape, o)
	if err := j.Close(new(Methods), OrderSelf, 0); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/"+name+".golden", report.String())
	schema, err := jsonschema.NewCompiler().Compile("../../../docs/analyze.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(object.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
	var parsed struct{ Recordings []map[string]json.RawMessage }
	if err := json.Unmarshal(object.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, parsed.Recordings[0][name], "", " "); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/"+name+".json.golden", indented.String()+"\n")
	return report.String()
}

// TestNoCoroutines: a recording without marks has nothing about coroutines in JSON.
func TestNoCoroutines(t *testing.T) {
	var object bytes.Buffer
	j, err := NewJSON(&object, "1")
	if err != nil {
		t.Fatal(err)
	}
	analyze(t, "a.tgd", serverTape, analysis.Options{Names: names{}, End: j.End})
	if err := j.Close(new(Methods), OrderSelf, 0); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(object.Bytes(), []byte("coroutines")) {
		t.Errorf("%s", object.Bytes())
	}
}
