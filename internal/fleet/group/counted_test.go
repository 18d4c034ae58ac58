package group

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// countedTape has a stall and incidents, some of which do not count.
const countedTape = `header minor=4
meta slowMillis=700 records=all package=app recordingId=ab
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=worker
records thread=0 first=0 list="+1048574@0 +97@0 -97@900 -1048574@900"
stall thread=0 sequence=0 begin=0 wall=900 first=0 end=4
incident number=0 detector=anr kind=lag thread=0 begin=0 end=900 first=0 stop=4
incident number=1 detector=hold kind=hold thread=0 begin=460 end=1400 first=0 stop=4
incident number=2 detector=startup kind=startup thread=1 begin=0 end=900
fact slow=false
incident number=3 detector=startup kind=startup thread=1 begin=0 end=900
fact slow=true
incident number=4 detector=frames kind=scene-frames begin=0 end=900
incident number=6 detector=anr kind=sigquit thread=0 begin=5000 end=5900
end`

// countedReports are the reports that a device sends of the same.
func countedReports() (all []*devicereport.Report) {
	add := func(id, kind, thread string, begin, end int64, slow string) {
		began, lasted := 1_700_000_000_000+begin, time.Duration(end-begin)*time.Millisecond
		all = append(all, &devicereport.Report{ID: "ab-" + id, Recording: "ab", Kind: kind, Thread: thread, Began: &began,
			Duration: &lasted, Facts: map[string]string{"slow": slow}})
	}
	add("s0-0", "message", "main", 0, 900, "")
	add("i0", "lag", "main", 0, 900, "")
	add("i1", "hold", "main", 460, 1400, "")
	add("i2", "startup", "worker", 0, 900, "false")
	add("i3", "startup", "worker", 0, 900, "true")
	add("i4", "scene-frames", "", 0, 900, "")
	add("i6", "sigquit", "main", 5000, 5900, "")
	return all
}

// TestOneRule adds a recording, its reports, or both: the same stalls and incidents count.
//
// Invariant: One rule says which stalls and incidents count, for recordings and for reports.
func TestOneRule(t *testing.T) {
	data, err := tape.Make(countedTape)
	if err != nil {
		t.Fatal(err)
	}
	in, err := source.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	entry := Entry{Recording: Digest{1}}
	err = analysis.Analyze("r", in, analysis.Options{
		Stall: func(s *analysis.Stall) error { entry.Stalls = append(entry.Stalls, analysis.RowOf(s)); return nil },
		End: func(r *analysis.Recording) error {
			entry.Info, entry.Stalls = NewInfo(r), append(entry.Stalls, analysis.IncidentRows(r)...)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var reports []analysis.Row
	for _, r := range countedReports() {
		reports = append(reports, analysis.RowOfReport(r, resolve.NewNames(nil, nil), nil))
	}
	steps := map[rune]func(*Stalls) error{
		'r': func(s *Stalls) error { return s.Add(entry) },
		'a': func(s *Stalls) error { return addReports(s, reports[:1]) },
		'b': func(s *Stalls) error { return addReports(s, reports[1:]) },
	}
	for _, order := range []string{"r", "rr", "ab", "ba", "rab", "rba", "rb"} {
		counted := map[string]int{}
		s := NewStalls()
		s.Each = func(_ Digest, c *analysis.Row) error { counted[c.ReportID]++; return nil }
		for _, step := range order {
			if err := steps[step](s); err != nil {
				t.Fatal(err)
			}
		}
		if f, err := s.Groups(); err != nil || f.Stalls != 3 || f.Recordings != 1 {
			t.Errorf("%s: %+v %v", order, f, err)
		}
		if len(counted) != 3 || counted["ab-s0-0"] != 1 || counted["ab-i1"] != 1 || counted["ab-i3"] != 1 {
			t.Errorf("%s: %v", order, counted)
		}
	}
}

func addReports(s *Stalls, rows []analysis.Row) error {
	for i := range rows {
		if err := s.AddReport(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// TestLengthThatIsNotKnown has stalls of which the device wrote nothing: where the clock of records was late, their
// calls may be shorter than they seem.
func TestLengthThatIsNotKnown(t *testing.T) {
	const head = "header minor=4\nmeta slowMillis=700 records=all clockPeriodMillis=5\nclock now=0 wall=1700000000000\n" +
		"thread index=0 name=main main=1\n"
	for _, c := range []struct {
		name, body string
		want       analysis.NotCounted
	}{
		{"whole", `records thread=0 first=0 list="+97@0 +98@10 -98@880 -97@900"`, ""},
		{"late clock", `records thread=0 first=0 list="+97@0 +98@10 -98@880 -97@900"
late begin=600 end=890`, analysis.NotCountedClock},
		{"late clock, but long", `records thread=0 first=0 list="+97@0 +98@10 -98@1880 -97@1900"
late begin=600 end=890`, ""},
	} {
		data, err := tape.Make(head + c.body + "\nend")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		in, err := source.New(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = analysis.Analyze("r", in, analysis.Options{Stall: func(s *analysis.Stall) error {
			got = append(got, string(analysis.RowOf(s).NotCounted))
			return nil
		}})
		if err != nil || strings.Join(got, " ") != string(c.want) || len(got) != 1 {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
}
