package group

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/recording/resolve"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// reported is the stall of a report.
func reported(recording string, number int, key string, wall time.Duration) Stall {
	return Stall{Key: key, Recording: recording, ReportID: stallID(recording, uint64(number), 1), ReportKind: "message",
		Version: "1.0", Code: "1", Device: "Pixel 7", Wall: wall.Nanoseconds(), CPU: -1, Title: "t"}
}

// TestReportsAndRecordings adds a recording and reports of it in every order, also twice: a stall counts once, and the
// recording counts once.
//
// Invariant: A stall that a recording has and a report is about counts once, in whatever order they are added.
func TestReportsAndRecordings(t *testing.T) {
	recording := Entry{Recording: Digest{1}, Info: Info{Name: "r.tgd", ID: "ab"}, Stalls: []Stall{
		{Key: "k1", Recording: "r.tgd", Number: 1, ReportID: "ab-s1-1", Wall: 1e9, CPU: -1},
		{Key: "k2", Recording: "r.tgd", Number: 2, ReportID: "ab-s2-1", Wall: 2e9, CPU: -1}}}
	// The third stall is of a part of the recording that the device has lost.
	reports := []Stall{reported("ab", 1, "k1", time.Second), reported("ab", 3, "k2", 3*time.Second),
		reported("cd", 1, "k2", 5*time.Second)}
	steps := map[string]func(*Store) error{
		"r": func(s *Store) error { return s.Add([]Entry{recording}) },
		"a": func(s *Store) error { _, err := s.AddReports(reports[:2]); return err },
		"b": func(s *Store) error { _, err := s.AddReports(reports[1:]); return err },
	}
	first := ""
	for _, order := range []string{"rab", "rba", "arb", "abr", "bar", "bra", "abrabr"} {
		s := open(t, "")
		for _, step := range strings.Split(order, "") {
			if err := steps[step](s); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.Groups()
		if err != nil {
			t.Fatal(err)
		}
		if f.Recordings != 2 || f.Stalls != 4 || f.Users != 2 || len(f.Groups) != 2 || f.Groups[0].Stalls != 3 ||
			f.Groups[0].Recordings != 2 {
			t.Errorf("%s: %+v %+v", order, f, f.Groups[0])
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if string(text) != first {
			t.Errorf("%s: %s", order, gocmp.Diff(first, string(text)))
		}
	}
}

// TestShares counts stalls and users by version and device.
func TestShares(t *testing.T) {
	s := open(t, "")
	var stalls []Stall
	for i, of := range []struct{ version, code, device, user string }{{"1.10", "10", "a", "ann"}, {"1.9", "9", "b", "ann"},
		{"1.9", "9", "b", "bob"}, {"", "", "", "eve"}} {
		c := reported(fmt.Sprint("ab", i), 1, "k", time.Second)
		c.Version, c.Code, c.Device, c.User = of.version, of.code, of.device, of.user
		stalls = append(stalls, c)
	}
	if n, err := s.AddReports(stalls); err != nil || n != 4 {
		t.Fatal(n, err)
	}
	f, err := s.Groups()
	if err != nil {
		t.Fatal(err)
	}
	g := f.Groups[0]
	if diff := gocmp.Diff([]Share{{Version: "1.9", Code: "9", Stalls: 2, Users: 2},
		{Version: "1.10", Code: "10", Stalls: 1, Users: 1}}, g.ByVersion); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]Share{{Device: "b", Stalls: 2, Users: 2}, {Device: "a", Stalls: 1, Users: 1}},
		g.ByDevice); diff != "" {
		t.Error(diff)
	}
}

// TestFromReport makes stalls of reports: with calls, with stacks alone, and with nothing.
func TestFromReport(t *testing.T) {
	names := resolve.NewNames(nil, nil)
	duration, suspended, cpu := 3*time.Second, time.Second, 1900*time.Millisecond
	frames := []string{"java.lang.Object.wait(Native Method)", "com.a.B.c(B.java:1)", "com.a.B.d(B.java:2)",
		"android.os.Looper.loop(Looper.java:1)", "com.a.B.e(B.java:3)", "com.a.B.f(B.java:4)"}
	sample := devicereport.Sample{Thread: "main", State: "WAITING", Count: 2, Frames: frames}
	holder := devicereport.Sample{Thread: "worker", State: "RUNNABLE", Count: 9, Frames: []string{"com.a.W.w(W.java:1)"}}
	_, key := analysis.NamedPath(names, []uint32{17, 97})
	for _, c := range []struct {
		report devicereport.Report
		want   Stall
	}{
		{devicereport.Report{Kind: "message", HotPath: []uint32{17, 97}, Duration: &duration, Suspended: &suspended,
			CPU: &cpu},
			Stall{Key: key, Wall: 2e9, CPU: 1.9e9, Kind: analysis.KindOwnWork, Verdict: "own work: #97; CPU 95 %",
				HotPath: []string{"#17", "#97"}, Method: "#97"}},
		{devicereport.Report{Kind: "input", HotPath: []uint32{17, 97}, Duration: &duration},
			Stall{Key: "input:" + key, Wall: 3e9, CPU: -1, Kind: analysis.KindUnknown, Verdict: "input, cause unknown: #97",
				HotPath: []string{"#17", "#97"}, Method: "#97"}},
		{devicereport.Report{Kind: "missed-poll", Thread: "main", Duration: &duration, LockOwner: "worker\x1b holds a.B",
			Samples: []devicereport.Sample{sample, holder}},
			Stall{Key: "missed-poll:" + textKey("frames", []string{"com.a.B.e", "com.a.B.d", "com.a.B.c"}), Wall: 3e9, CPU: -1,
				Kind: analysis.KindWait, Verdict: "missed-poll, waiting: com.a.B.c",
				HotPath: []string{"com.a.B.e", "com.a.B.d", "com.a.B.c"}, Method: "com.a.B.c"}},
		{devicereport.Report{Kind: "sync-barrier", What: "w\x1b"},
			Stall{Key: "sync-barrier:" + textKey("what", []string{"w\x1b"}), CPU: -1,
				Kind: analysis.KindUnknown, Verdict: "sync-barrier, cause unknown", Title: "w\uFFFD"}},
	} {
		got := FromReport(&c.report, names, nil)
		c.want.ReportKind, c.want.Thread = c.report.Kind, c.report.Thread
		if c.report.Duration != nil {
			c.want.Lasted = 3e9
		}
		if c.want.Title == "" {
			c.want.Title = c.report.Kind
		}
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.report.Kind, diff)
		}
	}
}

// TestIncidentAndItsReport has an incident in a recording, and the report that the device sent of it: they are one.
func TestIncidentAndItsReport(t *testing.T) {
	frames := []string{"java.lang.Object.wait(Native Method)", "com.a.B.c(B.java:1)"}
	wall := 3 * time.Second
	r := &analysis.Recording{Name: "r.tgd", Meta: map[string]string{"recordingId": "ab", "package": "com.a"}}
	i := &analysis.Incident{Number: 4, Detector: "watchdog", Kind: "missed-poll", Wall: wall, Thread: &analysis.Thread{},
		Stacks: []analysis.IncidentStack{{Thread: "worker", State: "RUNNABLE", Frames: []string{"com.a.W.w(W.java:1)"}},
			{Thread: "main", State: "WAITING", Activity: analysis.ActivityWait, Frames: frames}}}
	i.Thread.Name = "main"
	r.Incidents = []*analysis.Incident{i}
	i.Begin, i.Ended = 0, true
	all := NewIncidents(r)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	recorded := all[0]
	report := devicereport.Report{ID: "ab-i4", Recording: "ab", Kind: "missed-poll", Detector: "watchdog",
		Package: "com.a", Thread: "main", Duration: &wall,
		Samples: []devicereport.Sample{{Thread: "main", State: "WAITING", Count: 1, Frames: frames}}}
	sent := FromReport(&report, resolve.NewNames(nil, nil), nil)
	if recorded.source() != "r.tgd i4" || sent.source() != "report ab-i4" {
		t.Errorf("%s, %s", recorded.source(), sent.source())
	}
	// The recording shows more of the cause.
	recorded.Recording, recorded.Number, recorded.Incident = "ab", 0, ""
	recorded.Kind, recorded.Verdict, recorded.Title = sent.Kind, sent.Verdict, sent.Title
	if diff := gocmp.Diff(recorded, sent); diff != "" {
		t.Error(diff)
	}
}
