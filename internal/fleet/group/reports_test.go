package group

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// reported is the stall of a report.
func reported(recording string, number int, key string, wall time.Duration) analysis.Row {
	return analysis.Row{Key: key, Recording: recording,
		ReportID: fmt.Sprintf("%s-s%d-1", recording, number), ReportKind: "message",
		Version: "1.0", Code: "1", Device: "Pixel 7", Wall: wall.Nanoseconds(), CPU: -1, Title: "t"}
}

// TestReportsAndRecordings adds a recording and then reports of it in every order, also twice: a stall counts once, and
// the recording counts once.
//
// Invariant: A stall that a recording has and a report is about counts once.
func TestReportsAndRecordings(t *testing.T) {
	recording := Entry{Recording: Digest{1}, Info: Info{ID: "ab"}, Stalls: []analysis.Row{
		{Key: "k1", Recording: "r.tgd", Number: 1, ReportID: "ab-s1-1", Wall: 1e9, CPU: -1},
		{Key: "k2", Recording: "r.tgd", Number: 2, ReportID: "ab-s2-1", Wall: 2e9, CPU: -1}}}
	// The third stall is of a part of the recording that the device has lost.
	reports := []analysis.Row{reported("ab", 1, "k1", time.Second), reported("ab", 3, "k2", 3*time.Second),
		reported("cd", 1, "k2", 5*time.Second)}
	steps := map[string]func(*Stalls){
		"r": func(s *Stalls) { s.Add(recording) },
		"a": func(s *Stalls) { addReports(s, reports[:2]) },
		"b": func(s *Stalls) { addReports(s, reports[1:]) },
	}
	first := ""
	for _, order := range []string{"rab", "rba", "rabrab"} {
		s := NewStalls()
		for _, step := range strings.Split(order, "") {
			steps[step](s)
		}
		f := s.Groups()
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
	s := NewStalls()
	var stalls []analysis.Row
	for i, of := range []struct{ version, code, device, user string }{{"1.10", "10", "a", "ann"}, {"1.9", "9", "b", "ann"},
		{"1.9", "9", "b", "bob"}, {"", "", "", "eve"}} {
		c := reported(fmt.Sprint("ab", i), 1, "k", time.Second)
		c.Version, c.Code, c.Device, c.User = of.version, of.code, of.device, of.user
		stalls = append(stalls, c)
	}
	addReports(s, stalls)
	f := s.Groups()
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
