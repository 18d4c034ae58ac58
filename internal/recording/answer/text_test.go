package answer

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// analyze reads a recording of the given text.
func analyze(t *testing.T, name, text string, o analysis.Options) {
	t.Helper()
	data, err := tape.Make(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := source.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := analysis.Analyze(name, r, o); err != nil {
		t.Fatal(err)
	}
}

// TestHangIsInAllFormats: a hang that the recording ends with has the same sentence in the report and in JSON.
func TestHangIsInAllFormats(t *testing.T) {
	var text, object strings.Builder
	report := NewText(&text)
	json, err := NewJSON(&object, "v")
	if err != nil {
		t.Fatal(err)
	}
	analyze(t, "r", `
meta slowMillis=700 records=all
clock now=0
thread index=0 name=main main=1
records thread=0 first=0 list="+1@0 +2@10"
sample time=900 thread=0 state=TIMED_WAITING stack="java.lang.Thread.sleep(Native) a.B.stuck(B.java:1)"
alive now=4000 thread=0 state=TIMED_WAITING`, analysis.Options{Begin: report.Begin, End: report.End, Stall: func(s *analysis.Stall) error {
		return errors.Join(report.Stall(s), json.Stall(s))
	}})
	if err := json.w.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = "stuck for at least 3.99 s in #2 (1 of 1 sample: sleeping in Thread.sleep)"
	for _, all := range []string{text.String(), object.String()} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%q is not there once in\n%s", want, all)
		}
	}
}
