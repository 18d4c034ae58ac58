package group

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// TestIncidentRows: an incident is a stall of its own kind in groups, but for figures and what a stall covers; an idle
// handler has another key than a message with the same path.
func TestIncidentRows(t *testing.T) {
	const text = `header minor=4
meta slowMillis=700 records=all package=app versionName=1 user=u device=d
clock now=0 wall=1700000000000
thread index=0 name=main main=1
records thread=0 first=0 list="+1048574@0 +97@0 -97@900 -1048574@900 +1048574@1000 +97@1000 -97@1900 -1048574@1900"
stall thread=0 sequence=0 begin=0 wall=900 first=0 end=4
stall kind=5 thread=0 sequence=1 begin=1000 wall=900 first=4 end=8
incident number=0 detector=anr kind=lag thread=0 begin=0 end=900 first=0 stop=4
incident number=1 detector=sync-barrier kind=sync-barrier begin=2000 end=9000
incident number=2 detector=frames kind=scene-frames begin=2000 end=9000
incident number=3 detector=startup kind=startup thread=0 begin=2000 end=9000
incident number=4 detector=watchdog kind=missed-poll thread=0 begin=3000
stack thread=main time=8000 state=RUNNABLE stack="java.lang.Object.wait(O.java) a.B.c(B.java:7) a.B.d(B.java:8)"
end`
	data, err := tape.Make(text)
	if err != nil {
		t.Fatal(err)
	}
	in, err := source.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var stalls, incidents []analysis.Row
	err = analysis.Analyze("r", in, analysis.Options{
		Stall: func(s *analysis.Stall) error { stalls = append(stalls, analysis.RowOf(s)); return nil },
		End:   func(r *analysis.Recording) error { incidents = analysis.IncidentRows(r); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(stalls) != 2 || stalls[1].Key != "idle-handler:"+stalls[0].Key ||
		!strings.HasPrefix(stalls[1].Verdict, "idle-handler, ") || placeOf(&stalls[0]) != "r #1" {
		t.Errorf("%+v", stalls)
	}
	var got []string
	left := map[int]analysis.NotCounted{}
	for _, c := range incidents {
		if c.NotCounted != "" {
			left[c.Number] = c.NotCounted
			continue
		}
		kind, _, _ := strings.Cut(c.Key, ":")
		got = append(got, fmt.Sprint(kind, " ", placeOf(&c), " ", c.Wall/1e6, " ", c.HotPath, " ", c.Method, " ",
			c.App, c.User, c.Version, c.Device, " ", c.Time))
	}
	want := []string{"sync-barrier r i1 7000 []  appu1d 1700000002000",
		"missed-poll r i4 5000 [a.B.d a.B.c] a.B.c appu1d 1700000003000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	reasons := map[int]analysis.NotCounted{0: analysis.NotCountedCovered, 2: analysis.NotCountedFigures,
		3: analysis.NotCountedNormal}
	if d := cmp.Diff(reasons, left); d != "" {
		t.Error(d)
	}
}
