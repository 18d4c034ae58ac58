package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
)

// TestRowOfReport makes rows of reports: with calls, with stacks alone, and with nothing.
func TestRowOfReport(t *testing.T) {
	names := resolve.NewNames(nil, nil)
	duration, suspended, cpu := 3*time.Second, time.Second, 1900*time.Millisecond
	frames := []string{"java.lang.Object.wait(Native Method)", "com.a.B.c(B.java:1)", "com.a.B.d(B.java:2)",
		"android.os.Looper.loop(Looper.java:1)", "com.a.B.e(B.java:3)", "com.a.B.f(B.java:4)"}
	sample := devicereport.Sample{Thread: "main", State: "WAITING", Count: 2, Frames: frames}
	once := devicereport.Sample{Thread: "main", State: "RUNNABLE", Count: 1, Frames: frames[2:3]}
	holder := devicereport.Sample{Thread: "worker", State: "RUNNABLE", Count: 9, Frames: []string{"com.a.W.w(W.java:1)"}}
	_, key := namedPath(names, []uint32{17, 97})
	for _, c := range []struct {
		report devicereport.Report
		want   Row
	}{
		{devicereport.Report{Kind: "message", HotPath: []uint32{17, 97}, Duration: &duration, Suspended: &suspended,
			CPU: &cpu, Calls: []devicereport.Call{{ID: 17, Count: 1, Total: duration},
				{ID: 97, Depth: 1, Count: 2, Total: cpu}}},
			Row{Key: key, Wall: 2e9, CPU: 1.9e9, Kind: KindOwnWork, Verdict: "own work: #97; CPU 95 %",
				HotPath: []string{"#17", "#97"}, Method: "#97",
				Calls: []RowCall{{0, "#17", 1, 3e9}, {1, "#97", 2, 1.9e9}}}},
		{devicereport.Report{Kind: "input", HotPath: []uint32{17, 97}, Duration: &duration},
			Row{Key: "input:" + key, Wall: 3e9, CPU: -1, Kind: KindUnknown, Verdict: "input, cause unknown: #97",
				HotPath: []string{"#17", "#97"}, Method: "#97"}},
		{devicereport.Report{Kind: "missed-poll", Thread: "main", Duration: &duration, LockOwner: "worker\x1b holds a.B",
			Samples: []devicereport.Sample{once, sample, once, holder}},
			Row{Key: "missed-poll:" + textKey("frames", "com.a.B.e", "com.a.B.d", "com.a.B.c"), Wall: 3e9, CPU: -1,
				Kind: KindLock, Verdict: "missed-poll, waiting for a lock: com.a.B.c, while worker\uFFFD holds a.B",
				HotPath: []string{"com.a.B.e", "com.a.B.d", "com.a.B.c"}, Method: "com.a.B.c"}},
		{devicereport.Report{Kind: "sync-barrier", What: "w\x1b"},
			Row{Key: "sync-barrier:" + textKey("what", "w\uFFFD"), CPU: -1,
				Kind: KindUnknown, Verdict: "sync-barrier, cause unknown", Title: "w\uFFFD"}},
	} {
		got := RowOfReport(&c.report, names, nil)
		c.want.ReportKind, c.want.Thread = c.report.Kind, c.report.Thread
		if c.report.Duration != nil {
			c.want.Lasted = 3e9
		}
		if len(c.report.Samples) > 0 {
			c.want.Stack, c.want.Stacks = frames, []devicereport.Sample{sample, once, once}
		}
		if c.want.Title == "" {
			c.want.Title = c.report.Kind
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.report.Kind, diff)
		}
	}
}

// TestIncidentAndItsReport has an incident in a recording, and the report that the device sent of it: they are one.
func TestIncidentAndItsReport(t *testing.T) {
	frames := []string{"java.lang.Object.wait(Native Method)", "com.a.B.c(B.java:1)"}
	wall := 3 * time.Second
	r := &Recording{Name: "r.tgd", Meta: map[string]string{"recordingId": "ab", "package": "com.a"}}
	i := &Incident{Number: 4, Detector: "watchdog", Kind: "missed-poll", Wall: wall, Thread: &Thread{},
		Stacks: []IncidentStack{{Thread: "worker", State: "RUNNABLE", Frames: []string{"com.a.W.w(W.java:1)"}},
			{Thread: "main", State: "WAITING", Activity: foreign.ActivityWait, Frames: frames}}}
	i.Thread.Name, i.Facts = "main", []IncidentFact{{"limit-of", "input"}}
	r.Incidents = []*Incident{i}
	i.Begin, i.Ended = 0, true
	all := IncidentRows(r)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	recorded := all[0]
	report := devicereport.Report{ID: "ab-i4", Recording: "ab", Kind: "missed-poll", Detector: "watchdog",
		Package: "com.a", Thread: "main", Duration: &wall, Facts: map[string]string{"limit-of": "input"},
		Samples: []devicereport.Sample{{Thread: "main", State: "WAITING", Count: 1, Frames: frames}}}
	sent := RowOfReport(&report, resolve.NewNames(nil, nil), nil)
	// The recording shows more of the cause.
	recorded.Recording, recorded.Number, recorded.Incident = "ab", 0, ""
	recorded.Kind, recorded.Verdict, recorded.Title = sent.Kind, sent.Verdict, sent.Title
	if diff := cmp.Diff(recorded, sent); diff != "" {
		t.Error(diff)
	}
}
