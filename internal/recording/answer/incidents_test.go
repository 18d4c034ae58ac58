package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

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
fact age-millis=12000 asynchronous-answered=5 synchronous-answered=0
incident number=3 detector=watchdog kind=missed-poll thread=0 begin=21000 end=26000
fact poll-millis=5000
incident number=5 detector=anr kind=anr what="Handler (a.H) null: 7" thread=0 begin=30000 end=36000
fact limit-millis=5000 limit-of=input confirmed-by=process-error-state,waiting-message reason=input
incident number=6 detector=anr kind=anr thread=0 begin=40000
fact limit-millis=10000 limit-of=broadcast background-limit-millis=60000 confirmed-by=none
incident number=7 detector=sigquit kind=sigquit begin=41000 end=41000
incident number=9 detector=future kind=stacks-of-it thread=0 begin=42000 end=43000
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
fact frames=100 mean-millis=17.5 play-slow-frames=25 play-frozen-frames=1
fact worst-millis=710
incident number=14 detector=frames kind=scene-frames what=a.Other begin=46000 end=47000
fact frames=3 a=1 b=2 c=3 d=4 e=5 f=6 g=7
incident number=17 detector=future kind=of-the-future what=x begin=47000 end=47000
fact resume-n=1
dropped kind=8 count=3
exit reason=anr
`

// reportOf returns the text of a recording.
func reportOf(t *testing.T, tape string, o analysis.Options) string {
	t.Helper()
	var b bytes.Buffer
	text := NewText(&b)
	o.Begin, o.Stall, o.End = text.Begin, text.Stall, text.End
	analyze(t, "a.tgd", tape, o)
	return b.String()
}

// TestIncidents compares the report of all kinds of incidents with the golden file.
//
// Invariant: The report shows every incident, of which the last chunk counts, and what each detector did.
func TestIncidents(t *testing.T) {
	golden.Compare(t, "testdata/incidents.golden", reportOf(t, incidentTape, analysis.Options{}))
}

// TestNothingFound: a detector that is on and finds nothing is not the same as one that is off.
func TestNothingFound(t *testing.T) {
	const begin = "meta slowMillis=700\nclock now=0\nthread index=0 name=main main=1\n"
	if got := reportOf(t, begin+"end", analysis.Options{}); strings.Contains(got, "detectors") {
		t.Errorf("no chunk says what detectors did, and the report does: %s", got)
	}
	got := reportOf(t, begin+"detectors anr=on frames=off\nend", analysis.Options{})
	for _, want := range []string{"detectors: anr on; frames off\n", "those that were on found nothing; what the others " +
		"look for is not known\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q: %s", want, got)
		}
	}
}

// TestIncidentJSON: the JSON format has the same incidents.
func TestIncidentJSON(t *testing.T) {
	var b bytes.Buffer
	j, err := NewJSON(&b, "test")
	if err != nil {
		t.Fatal(err)
	}
	analyze(t, "a.tgd", incidentTape, analysis.Options{Stall: j.Stall, End: j.End})
	if err := j.Close(new(Methods), OrderSelf, 0); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Stalls []struct {
			Kind           string
			ThresholdNanos int64
		}
		Recordings []struct {
			Detectors []analysis.Detector
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
	if len(r.Detectors) != 4 || len(r.Incidents) != 14 || r.Incidents[1].Thread.Label != "main" ||
		r.Incidents[2].Thread != nil || len(r.Incidents[1].Stalls) != 1 || r.Incidents[1].Stalls[0] != 1 {
		t.Errorf("got %+v", r)
	}
}
