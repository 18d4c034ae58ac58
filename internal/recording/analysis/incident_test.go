package analysis

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// incidentTape has incidents of every kind that there are words for, and some of others.
const incidentTape = `header minor=4
meta slowMillis=700 slowIdleMillis=2000 slowInputMillis=300 clockPeriodMillis=5 records=all
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=worker
detectors anr=on frames="not available: needs API 24" sync-barrier=on watchdog=off
records thread=0 first=0 list="+1048574@0 +97@0 -97@100 -1048574@100 +1048574@150 +98@160 -98@400 -1048574@400"
incident number=0 detector=startup kind=startup what=a.Main thread=0 begin=0 end=450 first=0 stop=8 scene=a.Main foreground=1
fact type=cold slow=true limit-millis=400
fact process-millis=120
fact first-activity-millis=300
detectors anr=on sync-barrier=on watchdog=on
incident number=1 detector=anr kind=lag what="Handler (a.H) null: 7" thread=0 begin=1000 first=8 stop=10 foreground=1
fact limit-millis=2000 limit-of=lag
stack thread=main time=3000 state=BLOCKED stack="java.lang.Object.wait(Object.java) a.B.c(B.java:7)"
records thread=0 first=8 list="+1048574@1000 +99@1000 -99@3490 -1048574@3500"
machine thread=0 message=1 time=1700 facts="load-1 9"
machine thread=0 message=2 time=1700 facts="process-cpu-percent 3, low-memory true"
machine thread=0 message=2 time=3500 facts="future-key x"
stall thread=0 sequence=2 begin=1000 wall=2500 first=8 end=12 what="Handler (a.H) null: 7"
incident number=1 detector=anr kind=lag what="Handler (a.H) null: 7" thread=0 begin=1000 end=3500 first=8 stop=12 foreground=1
fact limit-millis=2000 limit-of=lag
stack thread=main time=3000 state=BLOCKED stack="java.lang.Object.wait(Object.java) a.B.c(B.java:7)"
stack thread=worker time=3100 state=RUNNABLE stack="a.W.run(W.java:7)"
stall kind=5 thread=0 sequence=3 begin=4000 wall=2100 first=12 end=12 what="IdleHandler a.B$1"
stall kind=6 thread=0 sequence=4 begin=7000 wall=310 first=12 end=12 what="input a.Main"
incident number=2 detector=sync-barrier kind=sync-barrier begin=8000 end=20000
fact token=77 age-millis=12000 found-by=probes asynchronous-answered=5 synchronous-answered=0 removed=false
incident number=3 detector=watchdog kind=missed-poll thread=0 begin=21000 end=26000
fact poll-millis=5000
incident number=4 detector=short-polls kind=missed-polls thread=0 begin=21000 end=26000
fact poll-millis=1000 polls=5
incident number=5 detector=anr kind=anr what="Handler (a.H) null: 7" thread=0 begin=30000 end=36000
fact limit-millis=5000 limit-of=input confirmed-by=process-error-state,waiting-message reason=input
incident number=6 detector=anr kind=anr thread=0 begin=40000
fact limit-millis=10000 limit-of=broadcast background-limit-millis=60000 confirmed-by=none
incident number=7 detector=sigquit kind=sigquit begin=41000 end=41000
incident number=8 detector=hold kind=hold what="Handler (a.H) null: 8" thread=1 begin=41000 end=42000
fact hold-millis=1000
incident number=9 detector=steady-samples kind=samples thread=0 begin=42000 end=43000
fact interval-millis=52 counts=3,7,7,1
stack thread=main time=42000 state=RUNNABLE stack="a.B.first(B.java:1)"
stack thread=main time=42100 state=RUNNABLE stack="a.B.second(B.java:1)"
stack thread=main time=42200 state=RUNNABLE stack="a.B.most(B.java:1)"
stack thread=main time=42300 state=RUNNABLE stack="a.B.last(B.java:1)"
incident number=10 detector=native-touch kind=touch-lag thread=0 begin=43000 end=44000
fact connection=3 slots=2
incident number=11 detector=frames kind=dropped-frames what=a.Main thread=0 begin=44000 end=45000
fact dropped=42 level=frozen refresh-hz=120
incident number=12 detector=frames kind=frozen-frame what=a.Main thread=0 begin=45000 end=46000
incident number=13 detector=frames kind=scene-frames what=a.Main begin=44000 end=46000
fact frames=100 mean-millis=17.5
fact worst-millis=700
incident number=14 detector=frames kind=scene-frames what=a.Other begin=46000 end=47000
fact frames=3 a=1 b=2 c=3 d=4 e=5 f=6 g=7
fact jitter-millis=1.5
incident number=15 detector=profiling kind=profile begin=47000 end=47000
fact file=/data/a/profile.perfetto-trace type=system-trace tag=x
incident number=16 detector=profiling kind=profile begin=47000 end=47000
fact error=rate-limited type=java-heap-dump
incident number=17 detector=future kind=of-the-future what=x begin=47000 end=47000
fact resume-n=1
dropped kind=8 count=3
exit reason=anr
`

// reportOf returns the text of a recording.
func reportOf(t *testing.T, tape string, o Options) string {
	t.Helper()
	var b bytes.Buffer
	text := NewText(&b)
	o.Begin, o.Stall, o.End = text.Begin, text.Stall, text.End
	if err := analyze(t, "a.tgd", tape, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestIncidents compares the report of all kinds of incidents with the golden file.
//
// Invariant: The report shows every incident, of which the last chunk counts, and what each detector did.
func TestIncidents(t *testing.T) {
	const golden = "testdata/incidents.golden"
	got := reportOf(t, incidentTape, Options{})
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// TestNothingFound: a detector that is on and finds nothing is not the same as one that is off.
func TestNothingFound(t *testing.T) {
	const begin = "meta slowMillis=700\nclock now=0\nthread index=0 name=main main=1\n"
	if got := reportOf(t, begin+"end", Options{}); strings.Contains(got, "detectors") {
		t.Errorf("no chunk says what detectors did, and the report does: %s", got)
	}
	got := reportOf(t, begin+"detectors anr=on frames=off\nend", Options{})
	for _, want := range []string{"detectors: anr on; frames off\n", "those that were on found nothing; what the others " +
		"look for is not known\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q: %s", want, got)
		}
	}
}

// TestIncidentCalls: an incident has the calls of its records, wherever its chunk stands among them.
func TestIncidentCalls(t *testing.T) {
	const head = "meta slowMillis=700 records=all\nclock now=0\nthread index=0 name=main main=1\n"
	message := func(k int) string {
		return fmt.Sprintf("records thread=0 first=%d list=\"+1048574@%d +%d@%d -%d@%d -1048574@%d\"\n", 4*k, 100*k, 10+k,
			100*k+10, 10+k, 100*k+90, 100*k+90)
	}
	const incident = "incident number=0 detector=x kind=x thread=0 begin=100 end=300 first=4 stop=12\n"
	for name, c := range map[string]struct {
		tape, want string
	}{
		"behind":    {message(0) + message(1) + message(2) + message(3) + incident, "11 80 12 80"},
		"before":    {incident + message(0) + message(1) + message(2) + message(3), "11 80 12 80"},
		"among":     {message(0) + message(1) + incident + message(2) + message(3), "11 80 12 80"},
		"twice":     {message(0) + message(1) + incident + message(2) + incident + message(3), "11 80 12 80"},
		"too late":  {message(2) + incident + message(3), "12 80 missing"},
		"no calls":  {incident, "missing"},
		"elsewhere": {strings.ReplaceAll(message(1)+message(2), "thread=0", "thread=1") + incident, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			o := Options{End: func(r *Recording) error {
				for _, i := range r.Incidents {
					for _, s := range i.MostSelf {
						got = append(got, fmt.Sprint(s.Method.ID), fmt.Sprint(s.Self/1e6))
					}
					if i.CallsMissing {
						got = append(got, "missing")
					}
				}
				return nil
			}}
			if err := analyze(t, "a", head+c.tape, o); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestIncidentBounds: what is kept of incidents is bounded, and what is left out is counted.
//
// Invariant: The memory for incidents does not grow with the recording.
func TestIncidentBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("meta slowMillis=700 records=all\nclock now=0\nthread index=0 name=main main=1\n")
	for k := range maxIncidents + 10 {
		fmt.Fprintf(&b, "incident number=%d detector=x kind=x thread=0 begin=1 end=2 first=%d stop=%d\n", k, k, k+5)
	}
	o := Options{End: func(r *Recording) error {
		if len(r.Incidents) != maxIncidents || r.OmittedIncidents != 10 {
			t.Errorf("%d incidents and %d omitted", len(r.Incidents), r.OmittedIncidents)
		}
		return nil
	}}
	if err := analyze(t, "a", b.String(), o); err != nil {
		t.Fatal(err)
	}
}

// TestIncidentJSON: the JSON format has the same incidents.
func TestIncidentJSON(t *testing.T) {
	var b bytes.Buffer
	j, err := NewJSON(&b, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := analyze(t, "a.tgd", incidentTape, Options{Methods: new(Methods), Stall: j.Stall, End: j.End}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(new(Methods), OrderSelf, 0); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Stalls []struct {
			Kind           string
			ThresholdNanos int64
		}
		Recordings []struct {
			Detectors []Detector
			Incidents []struct {
				Number uint64
				Kind   string
				Thread *struct{ Label string }
				Stalls []int
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, s := range got.Stalls {
		kinds = append(kinds, fmt.Sprint(s.Kind, " ", s.ThresholdNanos/1e6))
	}
	if text := strings.Join(kinds, ", "); text != "message 700, idle-handler 2000, input 300" {
		t.Errorf("stalls: %s", text)
	}
	r := got.Recordings[0]
	if len(r.Detectors) != 4 || len(r.Incidents) != 18 || r.Incidents[1].Thread.Label != "main" ||
		r.Incidents[2].Thread != nil || len(r.Incidents[1].Stalls) != 1 || r.Incidents[1].Stalls[0] != 1 {
		t.Errorf("got %+v", r)
	}
}

// TestThresholdOfKind: what the device did not report is a stall by the threshold of its kind, which the history has.
func TestThresholdOfKind(t *testing.T) {
	for kind, want := range map[int]int{0: 1, 5: 0, 6: 1} {
		got := 0
		err := analyze(t, "a", fmt.Sprintf(`header minor=4
meta slowMillis=700 slowIdleMillis=2000 slowInputMillis=300 records=all
clock now=0
thread index=0 name=main main=1
records thread=0 first=0 list="+1048574@0 +97@0 -97@1500 -1048574@1500"
message thread=0 kind=%d sequence=0 begin=0 wall=1500 what="x"
end`, kind), Options{Stall: func(*Stall) error { got++; return nil }})
		if err != nil || got != want {
			t.Errorf("kind %d: %d stalls, want %d, %v", kind, got, want, err)
		}
	}
}
