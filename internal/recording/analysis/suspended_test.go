package analysis

import (
	"testing"
	"time"
)

// TestSuspended has stalls in which the process did not run.
//
// Invariant: Time in which the process did not run is no part of a stall, whatever else the recording says.
func TestSuspended(t *testing.T) {
	const head = `header minor=3
meta slowMillis=700 clockPeriodMillis=5 records=all
clock now=0
thread index=0 name=main main=1
`
	for _, c := range []struct {
		name, text, want string
		precision        time.Duration
	}{
		{"a hang that ran all the time between samples, but for the time in which it was frozen", head + `
records thread=0 first=0 list="+1048574@0 +97@10"
sample time=1000 thread=0 state=TIMED_WAITING stack="java.lang.Thread.sleep(T.java) a.B.c(B.java:1)"
suspended begin=1500 end=61500 cause=1
sample time=62000 thread=0 state=TIMED_WAITING stack="java.lang.Thread.sleep(T.java) a.B.c(B.java:1)"
late begin=62000 end=62300
alive now=62010 thread=0 message=0 state=RUNNABLE`,
			"stuck for at least 2.00 s in #97 (2 of 2 samples: sleeping in Thread.sleep); of 62.0 s the process was " +
				"suspended for 60.0 s", 300 * ms},
		{"several causes", head + `
suspended begin=100 end=5100 cause=1
suspended begin=6000 end=7000 cause=2
suspended begin=7500 end=8000 cause=3
suspended begin=8100 end=8200 cause=77
suspended begin=8200 end=8400 cause=1
records thread=0 first=0 list="+1048574@0 +97@10 -97@9900 -1048574@10000"
sample time=400 thread=0 state=RUNNABLE stack="a.B.c(B.java:1)"
stall thread=0 sequence=1 begin=0 wall=10000 cpu=3100 end=4 state=RUNNABLE`,
			"own work: #97 (own time 3090 ms); CPU 97 %; of 10.0 s the process was suspended for 5.2 s, the device slept for " +
				"1.0 s, a debugger was attached for 0.5 s, the process did not run for 0.1 s", 5 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []*Stall
			o := Options{Stall: func(s *Stall) error { all = append(all, s); return nil }}
			analyze(t, "a.tgd", c.text, o)
			if len(all) != 1 || all[0].Verdict.Text != c.want || all[0].Precision != c.precision {
				t.Fatalf("%d stalls: %q\nwant %q", len(all), all[0].Verdict.Text, c.want)
			}
		})
	}
}
