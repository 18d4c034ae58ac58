package analysis

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestHolderIsNotNamedLikeTheWaiter: the device writes the name of a lock's holder, which other threads may have too,
// the one that waits among them.
//
// Invariant: The holder of a lock is never called by the same name as the thread that waits for it.
func TestHolderIsNotNamedLikeTheWaiter(t *testing.T) {
	const waits = `
meta slowMillis=700 records=all
clock now=0
THREADS
records thread=1 first=0 list="+1@0 -1@1000"
sample time=500 thread=1 state=BLOCKED stack="a.B.m(B.java:1)"LOCK
stall thread=1 sequence=0 begin=0 wall=1000 cpu=10 first=0 end=2 what="method 1" state=BLOCKED owner="w holds a.L"
end`
	const one, two, three = "thread index=1 name=w\n", "thread index=2 name=w\n", "thread index=3 name=w\n"
	const holder = `sample time=500 thread=3 state=RUNNABLE stack="a.C.n(C.java:1)"`
	for _, c := range []struct{ name, threads, sample, want string }{
		{"a sample of the holder", one + two + three, " lock=a.L owner=3\n" + holder, "w #3 holds a.L"},
		{"the next sample is of any thread", one + two + three, "\n" + holder, "w (one of 2 threads of this name) holds a.L"},
		{"the next sample is of another thread than the holder", one + two + three, " lock=a.L owner=2\n" + holder,
			"w #2 holds a.L"},
		{"one other thread", one + two, "", "w #2 holds a.L"},
		{"several other threads", one + two + three, "", "w (one of 2 threads of this name) holds a.L"},
		{"the recording does not have the holder", one, "", "w (another thread of this name) holds a.L"},
		{"another name", "thread index=1 name=v\n", "", "w holds a.L"},
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(waits, "THREADS\n", c.threads), "LOCK\n", c.sample+"\n")
		var got *Stall
		analyze(t, "r", text, Options{Stall: func(s *Stall) error { got = s; return nil }})
		if got.LockOwner != c.want || !strings.Contains(got.Verdict.Text, ", while "+c.want+"; 1 of 1 sample") {
			t.Errorf("%s: %s: %s, want %s", c.name, got.LockOwner, got.Verdict.Text, c.want)
		}
	}
}

// TestThreadLabels: no two threads have the same label.
func TestThreadLabels(t *testing.T) {
	r := new(Recording)
	for i, c := range []struct {
		thread trace.Thread
		want   string
	}{
		{trace.Thread{ID: 1, Name: "main", Main: true}, "main"},
		{trace.Thread{ID: 12, Name: "worker"}, "worker #12"},
		{trace.Thread{ID: 13, Name: "worker"}, "worker #13"},
		{trace.Thread{Name: "worker"}, "worker"},
		{trace.Thread{Name: "worker"}, "worker (thread 4)"},
		{trace.Thread{ID: 99, Name: "main", Main: true}, "main (thread 5)"},
		{trace.Thread{ID: 7}, "thread 6"},
		{trace.Thread{ID: 8, Name: "a\x1b[31mb"}, "a\uFFFD[31mb #8"},
	} {
		c.thread.Index = uint32(i)
		if got := r.addThread(c.thread).Label; got != c.want || r.Thread(uint32(i)).Label != c.want {
			t.Errorf("%+v is %q, want %q", c.thread, got, c.want)
		}
	}
	if got := r.Thread(77).Label; got != "thread 77" {
		t.Errorf("a thread that is not introduced is %q", got)
	}
}

// TestOrigin: times count from tick 0, in a recording without a clock from the earliest time.
func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int64 // when the stall begins, in milliseconds
	}{
		{"tick 0 is 1 s before the clock", "clock now=5000 wall=7000\nthread index=0 name=main main=1\n" +
			`records thread=0 first=0 list="+1@100 -1@900"`, 100},
		{"no clock, and a sample comes first", "thread index=0 name=main main=1\n" +
			`sample time=50 thread=0 state=RUNNABLE stack="a.B.m(B.java:1)"` + "\n" +
			`records thread=0 first=0 list="+1@100 -1@900"`, 50},
		{"no clock, records come first", "thread index=0 name=main main=1\n" +
			`records thread=0 first=0 list="+1@100 -1@900"`, 0},
	} {
		got := int64(-1)
		analyze(t, "r", "meta slowMillis=700 records=all\n"+c.text+"\nend",
			Options{Stall: func(s *Stall) error { got = s.Begin.Milliseconds(); return nil }})
		if got != c.want {
			t.Errorf("%s: the stall begins at %d ms, want %d", c.name, got, c.want)
		}
	}
}

// TestWhatSamplesContradict: the samples that contradict calls are counted beside the calls, which are many more where
// exceptions leave a method often.
func TestWhatSamplesContradict(t *testing.T) {
	for _, c := range []struct {
		samples uint64
		want    string
	}{
		{1, "5 calls without an exit, 4 of them ended earlier, as 1 sample shows of their methods"},
		{2000, "5 calls without an exit, 4 of them ended earlier, as 2,000 samples show of their methods"},
	} {
		r := Recording{Repairs: trace.Repairs{Unwound: 5, Contradicted: 4}, contradicting: c.samples}
		if got := r.Repaired(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
