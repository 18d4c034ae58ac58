package analysis

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

const ms = time.Millisecond

// sample makes a sample at a state and a stack.
func sample(after time.Duration, cpu time.Duration, state string, frames ...string) StackSample {
	return StackSample{After: after, State: state, Activity: foreign.ActivityOf(state, frames), Frames: frames, cpu: cpu}
}

// slowIn is a message of 1000 ms that spent so long in a.B.m by itself, and the rest in the dispatch.
func slowIn(self, cpu, gc time.Duration, samples ...StackSample) *Stall {
	segment := trace.Segment{Kind: trace.SegmentMessage, End: int64(1000 * ms), Calls: []trace.Call{
		{Method: trace.MethodDispatch, Parent: -1, Next: 2, Count: 1, End: int64(1000 * ms)},
		{Method: trace.FirstNamed, Next: 2, Count: 1, End: int64(self)},
	}}
	s := &Stall{Recording: new(Recording), Wall: 1000 * ms, CPU: cpu, GC: gc, Samples: samples, State: "unknown",
		Tree: new(evidence.Tree), Names: resolve.NewNames(nil, nil)}
	s.Names.Named(trace.FirstNamed, "a.B.m")
	s.Tree.Add(&segment)
	s.HotPath, s.MostSelf = hotPath(s.Tree, s.Names), mostSelf(s.Tree, s.Names, 5)
	return s
}

// at is a sample at another time.
func at(after time.Duration, s StackSample) StackSample {
	s.After = after
	return s
}

// mixOf makes samples at the same distance from each other, a letter each: l BLOCKED, s sleeping, r running, all in
// a.B.m, and R running elsewhere.
func mixOf(letters string) []StackSample {
	var all []StackSample
	for i, letter := range letters {
		after := time.Duration(2*i+1) * 1000 * ms / time.Duration(2*len(letters))
		switch letter {
		case 'l':
			all = append(all, sample(after, -1, "BLOCKED", "a.B.m(B.java:1)"))
		case 's':
			all = append(all, sample(after, -1, "TIMED_WAITING", "java.lang.Thread.sleep(Native)", "a.B.m(B.java:1)"))
		case 'r':
			all = append(all, sample(after, -1, "RUNNABLE", "a.B.m(B.java:1)"))
		case 'R':
			all = append(all, sample(after, -1, "RUNNABLE", "a.C.n(C.java:1)"))
		}
	}
	return all
}

// TestVerdictsWeighSamples: a cause is the verdict only if it explains half of the stall.
//
// Invariant: A verdict names a single cause only if the samples and CPU time that show it stand for half of the stall.
func TestVerdictsWeighSamples(t *testing.T) {
	for _, c := range []struct {
		name    string
		self    time.Duration
		cpu, gc time.Duration
		samples string
		kind    Kind
		text    string // in it
	}{
		{"one of 17, CPU known", 1000 * ms, 900 * ms, 0, "rrrrrrrrlrrrrrrrr", KindOwnWork, "own work: a.B.m"},
		{"one of 17, CPU unknown", 1000 * ms, -1, -1, "rrrrrrrrlrrrrrrrr", KindOwnWork,
			"16 of 17 samples, about 0.9 of 1.0 s; CPU time was not recorded"},
		{"12 of 17", 1000 * ms, 200 * ms, 0, "lllllrllllrlllrrr", KindLock,
			"a.B.m (own time 1000 ms), while w holds a.L; 12 of 17 samples, about 0.7 of 1.0 s; CPU 20 %"},
		{"one of 17 in a method whose exits are lost", 1000 * ms, -1, -1, "RRRRRRRRlRRRRRRRR", KindUnknown,
			"cause unknown: a.B.m (own time 1000 ms); CPU time was not recorded"},
		{"exactly half", 1000 * ms, -1, -1, "lr", KindLock, "1 of 2 samples, about 0.5 of 1.0 s"},
		{"less than half each", 1000 * ms, -1, -1, "llssr", KindMixed,
			"mixed: waiting for a lock 40 %, sleep 40 %, own work 20 %; most own time: a.B.m (own time 1000 ms)"},
		{"mixed, and something is missing", 800 * ms, 300 * ms, 0, "lllRRRRRRR", KindMixed,
			"mixed: own work 30 %, waiting for a lock 30 %, starved 20 %, not explained 20 %"},
		{"CPU time limits what samples claim", 1000 * ms, 700 * ms, 0, "llllllllll", KindOwnWork,
			"own work: a.B.m (own time 1000 ms); CPU 70 %; waiting for a lock 30 %"},
		{"running samples have the CPU time first", 1000 * ms, 500 * ms, 0, "lllllrrrrr", KindLock,
			"5 of 10 samples, about 0.5 of 1.0 s; CPU 50 %"},
		{"collections are no lack of a processor", 1000 * ms, 100 * ms, 450 * ms, "rrrrrrrrrr", KindMixed,
			"mixed: starved 45 %, garbage collection 45 %, own work 10 %"},
		{"half are collections", 1000 * ms, 100 * ms, 500 * ms, "rrrrrrrrrr", KindGC, "garbage collection: 500 ms"},
		{"a small method does not explain a stall", 510 * ms, 100 * ms, 0, "lllRRRRRRR", KindMixed, "starved"},
		{"little is known", 1000 * ms, 100 * ms, 0, "", KindUnknown, "cause unknown: a.B.m (own time 1000 ms); CPU 10 %"},
	} {
		s := slowIn(c.self, c.cpu, c.gc, mixOf(c.samples)...)
		s.LockOwner = "w holds a.L"
		v := verdictOn(s)
		if v.Kind != c.kind || !strings.Contains(v.Text, c.text) {
			t.Errorf("%s: %s: %s; want %s: %s\ncauses %+v", c.name, v.Kind, v.Text, c.kind, c.text, v.Causes)
		}
		sum := time.Duration(0)
		for _, cause := range v.Causes {
			if cause.Kind != KindGC {
				sum += cause.Nanos
			}
		}
		if sum > s.Wall {
			t.Errorf("%s: the causes are %v of %v: %+v", c.name, sum, s.Wall, v.Causes)
		}
	}
}

func TestVerdictOn(t *testing.T) {
	blocked := sample(700*ms, -1, "BLOCKED", "a.B.m(B.java:1)", "a.B.main(B.java:9)")
	parked := sample(700*ms, -1, "WAITING", "java.base/jdk.internal.misc.Unsafe.park(Native Method)",
		"java.base/java.util.concurrent.locks.LockSupport.park(LockSupport.java:1)",
		"java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)", "a.B.m(B.java:1)")
	future := sample(700*ms, -1, "WAITING", "java.base/jdk.internal.misc.Unsafe.park(Native Method)",
		"java.base/java.util.concurrent.FutureTask.get(FutureTask.java:1)", "a.B.m(B.java:1)")
	sleeping := sample(700*ms, -1, "TIMED_WAITING", "java.lang.Thread.sleep(Native Method)", "a.B.m(B.java:1)")
	reading := sample(700*ms, -1, "RUNNABLE", "java.io.FileInputStream.readBytes(Native Method)",
		"java.io.FileInputStream.read(FileInputStream.java:1)", "a.B.m(B.java:1)")
	binder := sample(700*ms, -1, "RUNNABLE", "android.os.BinderProxy.transactNative(Native Method)",
		"android.os.BinderProxy.transact(Binder.java:1)", "a.B.m(B.java:1)")
	running := sample(700*ms, -1, "RUNNABLE", "a.B.m(B.java:1)")
	elsewhere := sample(700*ms, -1, "BLOCKED", "a.C.n(C.java:1)")
	worker := sample(700*ms, -1, "WAITING", "jdk.internal.misc.Unsafe.park(Native Method)",
		"java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)", "a.B.m(B.java:1)")
	accepting := sample(700*ms, -1, "RUNNABLE", "sun.nio.ch.Net.accept(Native Method)",
		"java.net.ServerSocket.accept(S.java:1)", "a.B.m(B.java:1)")
	virtual := sample(700*ms, -1, "TIMED_WAITING", "jdk.internal.misc.Unsafe.park(Native Method)",
		"java.lang.VirtualThread.parkOnCarrierThread(V.java:1)", "java.lang.VirtualThread.sleepNanos(V.java:1)",
		"java.lang.Thread.sleepNanos(T.java:1)", "java.lang.Thread.sleep(T.java:1)", "a.B.m(B.java:1)")
	direct := sample(700*ms, -1, "TIMED_WAITING", "java.lang.Thread.sleep(Native Method)",
		"java.nio.Bits.reserveMemory(B.java:1)", "java.nio.ByteBuffer.allocateDirect(B.java:1)", "a.B.m(B.java:1)")
	load := []string{"jdk.internal.loader.URLClassPath.getResource(U.java:1)", "java.lang.ClassLoader.loadClass(C.java:1)",
		"a.B.m(B.java:1)"}
	loading := sample(700*ms, -1, "RUNNABLE", append([]string{"java.util.zip.Inflater.inflate(I.java:1)"}, load...)...)
	loadingSlowly := sample(700*ms, -1, "RUNNABLE",
		append([]string{"java.io.RandomAccessFile.readBytes(Native Method)"}, load...)...)
	stateAlone := slowIn(900*ms, 10*ms, 0)
	stateAlone.State = "TIMED_WAITING"
	for _, c := range []struct {
		name   string
		s      *Stall
		owner  string
		kind   Kind
		likely bool
		text   string // in it
	}{
		{"busy", slowIn(900*ms, 950*ms, 0), "", KindOwnWork, false, "own work: a.B.m (own time 900 ms); CPU 95 %"},
		{"busy, though it was seen to wait", slowIn(900*ms, 950*ms, 0, blocked), "", KindOwnWork, false,
			"the stack samples show lock"},
		{"busy, as far as the samples show", slowIn(900*ms, -1, -1, running), "", KindOwnWork, true,
			"CPU time was not recorded"},
		{"lock", slowIn(900*ms, 10*ms, 0, blocked), "w holds a.L", KindLock, false,
			"waiting for a lock: a.B.m (own time 900 ms), while w holds a.L; 1 of 1 sample, about 0.9 of 1.0 s; CPU 1 %"},
		{"lock, owner unknown", slowIn(900*ms, 10*ms, 0, blocked), "", KindLock, false, "the holder was not recorded"},
		{"lock, CPU unknown", slowIn(900*ms, -1, 0, blocked), "", KindLock, true, "CPU time was not recorded"},
		{"ReentrantLock", slowIn(900*ms, 10*ms, 0, parked), "", KindLock, false, "waiting for a lock"},
		{"waiting, and an owner is known", slowIn(900*ms, 10*ms, 0, future), "w holds it", KindLock, false,
			"while w holds it"},
		{"future", slowIn(900*ms, 10*ms, 0, future), "", KindWait, false,
			"waiting for another thread: a.B.m (own time 900 ms) in java.util.concurrent.FutureTask.get"},
		{"worker of a pool", slowIn(900*ms, 10*ms, 0, worker), "", KindWait, false,
			"idle, waiting for the next task of its pool: a.B.m"},
		{"server", slowIn(900*ms, 10*ms, 0, accepting), "", KindIO, false, "idle, waiting for a connection: a.B.m"},
		{"state alone", stateAlone, "", KindWait, true, "waiting, for what is not known: a.B.m"},
		{"sleep of a virtual thread", slowIn(900*ms, 10*ms, 0, virtual), "", KindSleep, false, "in java.lang.Thread.sleep"},
		{"direct memory", slowIn(900*ms, 10*ms, 0, direct), "", KindGC, false,
			"garbage collection: waited 900 ms for it in java.nio.ByteBuffer.allocateDirect; a.B.m (own time 900 ms)"},
		{"loading classes", slowIn(900*ms, 950*ms, 0, loading), "", KindOwnWork, false,
			"the stack samples show class-loading"},
		{"loading classes from a slow disk", slowIn(900*ms, 10*ms, 0, loadingSlowly), "", KindIO, false,
			"I/O (file): a.B.m (own time 900 ms) in java.lang.ClassLoader.loadClass"},
		{"sleep", slowIn(900*ms, 10*ms, 0, sleeping), "", KindSleep, false,
			"sleep: a.B.m (own time 900 ms) in java.lang.Thread.sleep"},
		{"file", slowIn(900*ms, 100*ms, 0, reading), "", KindIO, false, "I/O (file): a.B.m"},
		{"binder", slowIn(900*ms, 0, 0, binder), "", KindIO, false, "I/O (binder): a.B.m"},
		{"starved", slowIn(900*ms, 100*ms, 0, running), "", KindStarved, false, "without a processor"},
		{"garbage", slowIn(900*ms, 100*ms, 600*ms, running), "", KindGC, false, "garbage collection: 600 ms"},
		{"some garbage", slowIn(900*ms, 700*ms, 200*ms, running), "", KindOwnWork, false, "garbage collection 20 %"},
		{"no stack sample", slowIn(900*ms, 100*ms, 0), "", KindUnknown, false,
			"cause unknown: a.B.m (own time 900 ms); CPU 10 %; no stack sample was taken"},
		{"nothing at all", slowIn(900*ms, -1, -1), "", KindUnknown, false,
			"CPU time was not recorded; no stack sample was taken"},
		{"sampled elsewhere", slowIn(900*ms, 100*ms, 0, elsewhere), "", KindUnknown, false,
			"the stack samples were elsewhere, in a.C.n (lock)"},
		{"untraced", slowIn(100*ms, 950*ms, 0), "", KindOwnWork, false,
			"own work: most of the time was in no traced method"},
		{"untraced lock", slowIn(100*ms, 50*ms, 0, elsewhere), "", KindLock, false,
			"waiting for a lock: most of the time was in no traced method"},
		// The method slept for most of its own time, in a message that computed for more than half of its time.
		{"two samples, untraced", slowIn(600*ms, 520*ms, 0, sample(100*ms, 50*ms, "TIMED_WAITING", sleeping.Frames...),
			sample(500*ms, 60*ms, "TIMED_WAITING", sleeping.Frames...)),
			"", KindOwnWork, false, "own work: not in a.B.m, which has the most own time (600 ms); CPU 52 %, in this " +
				"method 3 %; sleep 48 %"},
		{"most samples", slowIn(900*ms, -1, 0, at(100*ms, sleeping), at(500*ms, reading), at(900*ms, reading)), "",
			KindIO, true, "I/O (file): a.B.m (own time 900 ms) in java.io.FileInputStream.read; 2 of 3 samples, " +
				"about 0.6 of 1.0 s; CPU time was not recorded; sleep 27 %"},
	} {
		c.s.LockOwner = c.owner
		v := verdictOn(c.s)
		if v.Kind != c.kind || v.Likely != c.likely || !strings.Contains(v.Text+" ", c.text) {
			t.Errorf("%s: %s, likely %t: %s; want %s, likely %t: %s", c.name, v.Kind, v.Likely, v.Text, c.kind,
				c.likely, c.text)
		}
		if untraced := strings.Contains(c.name, "untraced"); (v.Method == nil) != untraced || !untraced &&
			v.Method.Identity() != "a.B.m" {
			t.Errorf("%s: to blame is %v", c.name, v.Method)
		}
	}
}

// TestVerdictByStateAlone: a state without a stack, as older runtimes and cut recordings have it, decides a verdict.
func TestVerdictByStateAlone(t *testing.T) {
	for state, want := range map[string]Kind{"BLOCKED": KindLock, "WAITING": KindWait, "RUNNABLE": KindStarved,
		"unknown": KindUnknown} {
		s := slowIn(900*ms, 10*ms, 0)
		s.State = state
		if v := verdictOn(s); v.Kind != want {
			t.Errorf("%s: %s, want %s: %s", state, v.Kind, want, v.Text)
		}
	}
}

// TestVerdictOnUnresolvedMethod: a stack does not show whether a method without a name is on it. A sample counts then,
// but the verdict is only likely.
func TestVerdictOnUnresolvedMethod(t *testing.T) {
	s := slowIn(900*ms, 10*ms, 0, sample(700*ms, -1, "TIMED_WAITING", "java.lang.Thread.sleep(Native)",
		"a.B.m(B.java:1)"))
	s.MostSelf[0].Method = resolve.Method{Name: "#17", ID: 17, Unresolved: true}
	if v := verdictOn(s); v.Kind != KindSleep || !v.Likely {
		t.Errorf("%s, likely %t: %s", v.Kind, v.Likely, v.Text)
	}
}

func TestActivityOf(t *testing.T) {
	for _, c := range []struct {
		state, frames string
		want          foreign.Activity
	}{
		{"BLOCKED", "a.B.m(B.java:1)", foreign.ActivityLock},
		{"WAITING", "java.lang.Object.wait(Native Method) java.io.PipedInputStream.read(P.java:1)", foreign.ActivityWait},
		{"WAITING", "java.lang.Object.wait(Native Method) java.lang.ProcessImpl.waitFor(P.java:1)", foreign.ActivityProcess},
		{"WAITING", "jdk.internal.misc.Unsafe.park(Native Method) " +
			"java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock(R.java:1)", foreign.ActivityLock},
		{"WAITING", "a.B.m(B.java:1)", foreign.ActivityWait},
		{"TIMED_WAITING", "java.base@17.0.1/java.lang.Thread.sleep(Native Method) a.B.m(B.java:1)", foreign.ActivitySleep},
		{"RUNNABLE", "sun.nio.ch.Net.poll(Native Method) sun.nio.ch.NioSocketImpl.park(N.java:1)", foreign.ActivityNetwork},
		{"RUNNABLE", "libcore.io.Linux.recvfromBytes(Native Method) libcore.io.ForwardingOs.recvfrom(F.java:1)",
			foreign.ActivityNetwork},
		{"RUNNABLE", "libcore.io.Linux.open(Native Method)", foreign.ActivityFile},
		{"RUNNABLE", "android.database.sqlite.SQLiteConnection.nativeExecute(Native Method)", foreign.ActivityDatabase},
		{"RUNNABLE", "a.B.m(B.java:1) java.io.FileInputStream.read(F.java:1)", foreign.ActivityRunning},
		// What computes deep below a read does not read.
		{"RUNNABLE", "java.util.Arrays.fill(A.java:1) java.util.X.a(X.java:1) java.util.X.b(X.java:1) " +
			"java.io.FileInputStream.read(F.java:1)", foreign.ActivityRunning},
		{"RUNNABLE", "java.net.URL.<init>(URL.java:1)", foreign.ActivityRunning},
		{"RUNNABLE", "", foreign.ActivityRunning},
		{"unknown", "", foreign.ActivityUnknown},
		{"unknown", "java.lang.Thread.sleep(Native Method)", foreign.ActivitySleep},
	} {
		if got := foreign.ActivityOf(c.state, strings.Fields(strings.ReplaceAll(c.frames, "Native Method",
			"Native"))); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.state, c.frames, got, c.want)
		}
	}
}

// TestVerdictsAreInTheSchema: the schema has the kinds of the table of verdicts, and no other.
func TestVerdictsAreInTheSchema(t *testing.T) {
	text := fixture.Read(t, "../../../docs/analyze.schema.json")
	var schema struct {
		Defs struct {
			Verdict struct {
				Properties struct{ Kind struct{ Enum []Kind } }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var want []Kind
	for _, v := range Verdicts() {
		want = append(want, v.Kind)
	}
	got := schema.Defs.Verdict.Properties.Kind.Enum
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the schema has %q, the table %q", got, want)
	}
}
