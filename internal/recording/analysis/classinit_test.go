package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

// TestWaitForClass has threads that are ready to run and get no processor time while another one initializes a class,
// and threads of which that is not so.
//
// Invariant: A thread that runs, or that only lacks a processor, is not said to wait until a class is initialized.
func TestWaitForClass(t *testing.T) {
	const s, asleep = time.Second, "java.lang.Thread.sleep(Native)"
	open := []evidence.OpenAtEnd{{Method: hangMain}, {Method: hangStuck}}
	use, init, other := "a.B.stuck(B.java:9)", "a.Slow.<clinit>(Slow.java:1)", "a.B.<clinit>(B.java:2)"
	// two takes a sample of the thread 1 after 1 s and after 3 s, and one of the thread 2 right behind each.
	two := func(cpu time.Duration, own, initializer []string) hanging {
		h := hanging{open: open, wall: 5 * s, samples: []trace.StackSample{taken(1*s, 0, stateRunnable, own...),
			taken(3*s, cpu, stateRunnable, own...)}}
		for k, at := range []time.Duration{1 * s, 3 * s} {
			state := trace.ThreadState(stateRunnable)
			if initializer[0] == asleep {
				state = stateTimed
			}
			of := taken(at+time.Millisecond, 0, state, initializer...)
			of.Thread = 2
			h.initializing = append(h.initializing, evidence.HolderSample{Waiting: &h.samples[k], Holder: &of,
				Thread: trace.Thread{Index: 2, ID: 8, Name: "initializer"}})
		}
		return h
	}
	for _, c := range []struct {
		name    string
		hanging hanging
		kind    Kind
		text    string
	}{
		{"it waits for the class", two(0, []string{use}, []string{asleep, init}), KindLock,
			"waiting for the initialization of a.Slow held by initializer #8"},
		{"each waits for the other's class", two(0, []string{use, other}, []string{init}), KindDeadlock,
			"deadlock: worker #7 waits for the initialization of a.Slow held by initializer #8, initializer #8 waits for " +
				"the initialization of a.B held by worker #7"},
		{"the other one does not initialize a class that this one waits for", two(0, []string{use}, []string{init}), KindLock,
			"waiting for the initialization of a.Slow held by initializer #8"},
		{"it runs", two(2*s, []string{use}, []string{asleep, init}), KindOwnWork, "running, CPU 100 %"},
		{"it runs a little", two(200*time.Millisecond, []string{use}, []string{asleep, init}), KindStarved, "CPU 10 %"},
		{"it is in a method of the JDK", two(0, []string{"java.util.zip.Inflater.inflate(I)", use}, []string{asleep, init}),
			KindStarved, "running, CPU 0 %"},
		{"its processor time is not known", two(-1, []string{use}, []string{asleep, init}), KindOwnWork, "running"},
	} {
		got := c.hanging.stall()
		if v := got.Verdict; v.Kind != c.kind || !strings.Contains(v.Text, c.text) ||
			(c.kind == KindLock || c.kind == KindDeadlock) && !(v.Likely && got.Role == RoleStall) {
			t.Errorf("%s: %s, likely %t, a %s: %s; want %s: %s", c.name, v.Kind, v.Likely, got.Role, v.Text, c.kind, c.text)
		}
	}
}

// TestWaitForClassInARecording: the samples of all threads lead to the one that initializes the class.
func TestWaitForClassInARecording(t *testing.T) {
	const text = `
meta slowMillis=700 records=all
clock now=0
thread index=1 name=w
thread index=2 name=x
records thread=1 first=0 list="+1@0 -1@1000"
sample time=300 thread=1 state=RUNNABLE stack="a.B.m(B.java:1)" cpu=10
sample time=301 thread=2 state=TIMED_WAITING stack="java.lang.Thread.sleep(N) a.Slow.<clinit>(S.java:1)" cpu=1
sample time=700 thread=1 state=RUNNABLE stack="a.B.m(B.java:1)" cpu=10
stall thread=1 sequence=0 begin=0 wall=1000 cpu=10 first=0 end=2 what="method 1" state=RUNNABLE
end`
	var got *Stall
	analyze(t, "r", text, Options{Stall: func(s *Stall) error { got = s; return nil }})
	const want = "while x #2 holds the initialization of a.Slow; 2 of 2 samples"
	if v := got.Verdict; v.Kind != KindLock || !v.Likely || !strings.Contains(v.Text, want) {
		t.Errorf("%s, likely %t: %s, want %s", v.Kind, v.Likely, v.Text, want)
	}
}
