package group

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
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
	steps := map[rune]func(*Stalls){
		'r': func(s *Stalls) { s.Add(entry) },
		'a': func(s *Stalls) { addReports(s, reports[:1]) },
		'b': func(s *Stalls) { addReports(s, reports[1:]) },
	}
	for _, order := range []string{"r", "rr", "ab", "ba", "rab", "rba", "rb"} {
		counted := map[string]int{}
		s := NewStalls()
		s.each = func(c *analysis.Row) { counted[c.ReportID]++ }
		for _, step := range order {
			steps[step](s)
		}
		if f := s.Groups(); f.Stalls != 3 || f.Recordings != 1 {
			t.Errorf("%s: %+v", order, f)
		}
		if len(counted) != 3 || counted["ab-s0-0"] != 1 || counted["ab-i1"] != 1 || counted["ab-i3"] != 1 {
			t.Errorf("%s: %v", order, counted)
		}
	}
}

// programTape has a server: its main, which waits, its acceptor, the run of a thread, and a slow task of a pool.
const programTape = `header minor=4
meta slowMillis=700 records=all package=app recordingId=ab
clock now=0 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=acceptor
thread index=2 name=refresh
thread index=3 name=pool-1
records thread=0 first=0 list="+10@0 -10@9000"
sample time=3000 thread=0 state=WAITING stack="java.lang.Object.wait(Native) a.B.main(B.java)"
stall thread=0 sequence=0 begin=0 wall=9000 first=0 end=2 what="method 10"
records thread=1 first=0 list="+20@0 -20@8000"
sample time=3000 thread=1 state=RUNNABLE stack="java.net.ServerSocket.accept(S.java) a.B.accept(B.java) java.lang.Thread.run(T.java)"
stall thread=1 sequence=0 begin=0 wall=8000 first=0 end=2 what="method 20"
records thread=2 first=0 list="+30@0 -30@7000"
sample time=3000 thread=2 state=RUNNABLE stack="a.B.refresh(B.java) java.lang.Thread.run(T.java)"
stall thread=2 sequence=0 begin=0 wall=7000 first=0 end=2 what="method 30"
records thread=3 first=0 list="+40@0 -40@900"
sample time=500 thread=3 state=RUNNABLE stack="a.B.task(B.java) java.util.concurrent.ThreadPoolExecutor.runWorker(T.java)"
stall thread=3 sequence=0 begin=0 wall=900 first=0 end=2 what="method 40"
end`

// programNames are the names of its methods.
type programNames struct{}

// Name implements [trace.Names].
func (programNames) Name(m trace.Method) (trace.Name, bool) {
	name, ok := map[trace.Method]string{10: "main", 20: "accept", 30: "refresh", 40: "task"}[m]
	return trace.Name{Class: "a.B", Method: name}, ok
}

// programReports are the reports that a device sends of the same.
func programReports() (all []analysis.Row) {
	for thread, of := range []struct {
		millis int
		id     uint32
		stack  string
	}{
		{9000, 10, "java.lang.Object.wait(Native) a.B.main(B.java)"},
		{8000, 20, "java.net.ServerSocket.accept(S.java) a.B.accept(B.java) java.lang.Thread.run(T.java)"},
		{7000, 30, "a.B.refresh(B.java) java.lang.Thread.run(T.java)"},
		{900, 40, "a.B.task(B.java) java.util.concurrent.ThreadPoolExecutor.runWorker(T.java)"},
	} {
		lasted := time.Duration(of.millis) * time.Millisecond
		r := devicereport.Report{ID: fmt.Sprintf("ab-s0-%d", thread), Recording: "ab", Kind: "message", Thread: "t",
			What: fmt.Sprintf("method %d", of.id), Duration: &lasted, HotPath: []uint32{of.id},
			Samples: []devicereport.Sample{{Thread: "t", State: "RUNNABLE", Count: 1, Frames: strings.Fields(of.stack)}}}
		all = append(all, analysis.RowOfReport(&r, resolve.NamesBy(programNames{}), nil))
	}
	return all
}

// TestRunsAndWaitsAreNoStalls: groups, comparisons and the summary of a recording count what the screen calls a stall.
//
// Invariant: One rule says what is a stall, a run, or a wait for work, for recordings and for reports.
func TestRunsAndWaitsAreNoStalls(t *testing.T) {
	data, err := tape.Make(programTape)
	if err != nil {
		t.Fatal(err)
	}
	in, err := source.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	entry, sample, summary := Entry{Recording: Digest{1}}, Sample{}, ""
	err = analysis.Analyze("r", in, analysis.Options{
		Names: programNames{},
		Stall: func(s *analysis.Stall) error {
			entry.Stalls = append(entry.Stalls, analysis.RowOf(s))
			return sample.Stall(s)
		},
		End: func(r *analysis.Recording) error { summary = r.Summary(); return nil },
	})
	if err != nil || len(entry.Stalls) != 4 {
		t.Fatal(err, entry.Stalls)
	}
	if len(sample.stalls) != 1 || sample.stalls[entry.Stalls[3].Key] == nil {
		t.Errorf("a comparison counts %d groups", len(sample.stalls))
	}
	if want := "1 stall in 9.0 s, of 700 ms and more; 2 runs; 1 wait for work; "; !strings.HasPrefix(summary, want) {
		t.Errorf("%q, want %q", summary, want)
	}
	for name, add := range map[string]func(*Stalls){
		"recordings": func(s *Stalls) { s.Add(entry) },
		"reports":    func(s *Stalls) { addReports(s, programReports()) },
	} {
		s := NewStalls()
		add(s)
		if f := s.Groups(); f.Stalls != 1 || f.Groups[0].Longest != 900*time.Millisecond {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func addReports(s *Stalls, rows []analysis.Row) {
	for i := range rows {
		s.AddReport(&rows[i])
	}
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
