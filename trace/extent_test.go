package trace_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/trace"
)

// TestExtent reads how long recordings are: by records, by a sample, and cut.
func TestExtent(t *testing.T) {
	data, err := tape.Make(`
meta slowMillis=700 tickNanos=1000000 clockPeriodMillis=5 records=all
clock now=1000 wall=1700000000000
thread index=0 name=main main=1
thread index=1 name=worker
records thread=1 first=0 list="+5@1500 -5@3500"
records thread=0 first=0 list="+1@1000 -1@2000"
end`)
	if err != nil {
		t.Fatal(err)
	}
	hanging, err := tape.Make(`
meta slowMillis=700 tickNanos=1000000 clockPeriodMillis=5 records=all
clock now=0
thread index=0 name=main main=1
records thread=0 first=0 list="+1@1000"
sample time=9000 thread=0 state=RUNNABLE stack="a.b.c(D.java:1)"`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want trace.Extent
	}{
		{"records", data, trace.Extent{Span: 2500 * time.Millisecond, Precision: 5 * time.Millisecond}},
		{"cut", data[:len(data)-50], trace.Extent{Span: 2500 * time.Millisecond, Precision: 5 * time.Millisecond}},
		{"a sample", hanging, trace.Extent{Span: 9 * time.Second, Precision: 5 * time.Millisecond}},
	} {
		r, err := trace.NewReader(bytes.NewReader(c.data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := trace.ReadExtent(r)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}
