package analysis

import (
	"strings"
	"testing"
)

// TestCoroutineVerdicts has a stall in which main resumes a suspend function again and again, and one in which it waits
// in runBlocking.
func TestCoroutineVerdicts(t *testing.T) {
	const head = `header minor=6
meta slowMillis=700 clockPeriodMillis=5 records=all
clock now=0
thread index=0 name=main main=1
`
	const resumes = `marks thread=0 list="2:9:1@1 2:9:2@1 3:9:1@1 4:9@2 3:9:2@3 4:9@4 3:9:1@5"
records thread=0 first=0 list="+97@0 +9@10 -9@300 +9@300 -9@550 +9@550 -9@700 -97@900"
stall thread=0 sequence=1 begin=0 wall=900 cpu=890 end=8 what="method 97" state=RUNNABLE`
	const starved = `meta slowMillis=700 clockPeriodMillis=5 records=all threads=all
thread index=1 name=pool-1-thread-1
thread index=2 name=pool-1-thread-2
marks thread=0 list="2:15:1@1 2:16:5@1 2:16:6@1 3:15:1@1 2:12:9@2 4:15@2 3:15:1@3"
marks thread=1 list="3:16:5@0 3:12:9@2"
marks thread=2 list="3:16:6@0"
records thread=0 first=0 list="+10@0 +15@10 -15@20 +15@1000 -15@1010 -10@1020"
stall thread=0 sequence=1 begin=0 wall=1020 cpu=10 end=6 what="method 10" state=WAITING
records thread=1 first=0 list="+16@10 -16@800 +12@810 -12@995"
records thread=2 first=0 list="+16@12 -16@900"
end`
	for _, c := range []struct{ name, text, want string }{
		{"resumed", resumes, "; #9 was resumed 3 times"},
		{"resumed for less than half of the time", strings.Replace(resumes, "+9@10 -9@300", "+9@290 -9@300", 1), ""},
		{"runBlocking", `records thread=0 first=0 list="+97@0 -97@900"
sample time=700 thread=0 state=WAITING stack="java.util.concurrent.locks.LockSupport.park(L.java) ` +
			`kotlinx.coroutines.BlockingCoroutine.joinBlocking(B.kt:95) a.B.c(B.java:1)"
stall thread=0 sequence=1 begin=0 wall=900 cpu=1 end=2 what="method 97" state=WAITING`,
			"waiting in runBlocking for a coroutine: "},
		{"starved", starved, "; suspended 1.0 of 1.0 s waiting for #12 on pool-1-thread-1 #1; " +
			"#12 began 790 ms late: all 2 threads of pool-1-thread were busy, most with #16"},
		{"a thread of the pool was idle", strings.Replace(starved, "-16@900", "-16@300", 1),
			"; suspended 1.0 of 1.0 s waiting for #12 on pool-1-thread-1 #1$"},
		{"records are missing", strings.Replace(starved, " -16@900",
			" -16@300\"\nrecords thread=2 first=9 list=\"+16@850 -16@900", 1),
			"; suspended at most 1.0 of 1.0 s waiting for #12 on pool-1-thread-1 #1$"},
		{"only stalls are recorded", starved, "; suspended at most 1.0 of 1.0 s$"},
		{"only stalls are recorded, resumed", resumes, "; #9 was resumed 3 times"},
		{"the lambda was suspended", strings.NewReplacer("3:12:9@2", "3:12:9@2 4:13@4 4:12@5 3:12:9@6", "-16@800 +12@810 -12",
			"-16@30 +12@40 +13@45 -13@50 -12@50 +12@990 -12").Replace(starved),
			"; suspended 1.0 of 1.0 s waiting for #13 on pool-1-thread-1 #1$"},
		{"it is not known what for", strings.Replace(starved, "3:12:9@2", "", 1), "; suspended 1.0 of 1.0 s$"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []*Stall
			o := Options{Stall: func(s *Stall) error {
				if s.Thread.Main {
					all = append(all, s)
				}
				return nil
			}}
			text := head + c.text
			if strings.HasPrefix(c.name, "only stalls") {
				text = strings.ReplaceAll(text, "records=all", "records=slow")
			}
			analyze(t, "a.tgd", text, o)
			if len(all) != 1 {
				t.Fatalf("%d stalls", len(all))
			}
			text = all[0].Verdict.Text
			if c.want == "" && strings.Contains(text, "resumed") || !strings.Contains(text+"$", c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}

// TestPartlyRecorded: whether there are other threads is known from the option, or if there is one thread alone.
func TestPartlyRecorded(t *testing.T) {
	for _, c := range []struct {
		meta, threads string
		want          bool
	}{
		{"", "thread index=0 name=main main=1", true},
		{"", "thread index=0 name=main main=1\nthread index=1 name=io", false},
		{"threads=all", "thread index=0 name=main main=1", false},
		{"threads=chosen", "thread index=0 name=main main=1\nthread index=1 name=io", true},
		{"threads=all", "thread index=0 name=main main=1\ndropped kind=9 count=2", true},
	} {
		var r *Recording
		o := Options{End: func(x *Recording) error { r = x; return nil }}
		text := "meta records=all " + c.meta + "\nclock now=0\n" + c.threads +
			"\nrecords thread=0 first=0 list=\"+97@0 -97@900\"\nend"
		analyze(t, "a.tgd", text, o)
		if got := r.PartlyRecorded(); got != c.want {
			t.Errorf("%q, %q: %t", c.meta, c.threads, got)
		}
	}
}
