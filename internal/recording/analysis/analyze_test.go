package analysis

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// analyze reads a recording of the given text.
func analyze(t *testing.T, name, text string, o Options) {
	t.Helper()
	data, err := tape.Make(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := source.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := Analyze(name, r, o); err != nil {
		t.Fatal(err)
	}
}

// TestThresholdOfKind: what the device did not report is a stall by the threshold of its kind, which the history has.
func TestThresholdOfKind(t *testing.T) {
	for kind, want := range map[int]int{0: 1, 5: 0, 6: 1} {
		got := 0
		analyze(t, "a", fmt.Sprintf(`header minor=4
meta slowMillis=700 slowIdleMillis=2000 slowInputMillis=300 records=all
clock now=0
thread index=0 name=main main=1
records thread=0 first=0 list="+1048574@0 +97@0 -97@1500 -1048574@1500"
message thread=0 kind=%d sequence=0 begin=0 wall=1500 what="x"
end`, kind), Options{Stall: func(*Stall) error { got++; return nil }})
		if got != want {
			t.Errorf("kind %d: %d stalls, want %d", kind, got, want)
		}
	}
}
