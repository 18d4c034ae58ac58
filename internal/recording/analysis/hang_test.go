package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// A hanging stall is made of the calls that were open, with their begins in milliseconds, and of samples.
type hanging struct {
	open       []evidence.OpenAtEnd
	lastRecord time.Duration
	wall       time.Duration
	samples    []trace.StackSample
	holders    []evidence.HolderSample
	// initializing has samples of threads that initialize a class.
	initializing []evidence.HolderSample
	closed       bool // the program ended by itself
	kind         trace.SegmentKind
}

const (
	hangMain = trace.FirstNamed + iota
	hangLoop
	hangStuck
)

// stall returns what the analysis makes of it.
func (c hanging) stall() *Stall {
	names := resolve.NewNames(nil, nil)
	names.Named(hangMain, "a.B.main")
	names.Named(hangLoop, "a.B.loop")
	names.Named(hangStuck, "a.B.stuck")
	from := &evidence.Stall{Kind: c.kind, Thread: trace.Thread{Index: 1, ID: 7, Name: "worker"}, Open: c.open,
		LastRecord: int64(c.lastRecord), Holders: c.holders, Report: trace.StallChunk{Thread: 1, Wall: uint64(c.wall),
			CPU: -1, GCCount: -1, GCMillis: -1}}
	segment := trace.Segment{End: int64(c.wall)}
	for i, o := range c.open {
		segment.Calls = append(segment.Calls, trace.Call{Method: o.Method, Parent: int32(i) - 1, Next: int32(len(c.open)),
			Count: 1, Begin: o.Begin, End: int64(c.wall), Marks: trace.MarkOpen})
	}
	from.Tree.Add(&segment)
	for i := range c.samples {
		from.Samples = append(from.Samples, &c.samples[i])
	}
	from.Initializing = c.initializing
	r := &Recording{Meta: map[string]string{"slowMillis": "700"}, Names: names, Damage: trace.Damage{Closed: c.closed}}
	r.addThread(from.Thread)
	for _, h := range slices.Concat(c.holders, c.initializing) {
		if r.threads[h.Thread.Index] == nil {
			r.addThread(h.Thread)
		}
	}
	return newStall(from, r)
}

// taken is a stack sample of the thread 1.
func taken(at time.Duration, cpu time.Duration, state trace.ThreadState, frames ...string) trace.StackSample {
	return trace.StackSample{Thread: 1, Nanos: int64(at), CPU: int64(cpu), State: state, Frames: frames}
}

// The states of threads.
const (
	stateRunnable = 2 + iota
	stateBlocked
	stateWaiting
	stateTimed
)

// TestHang has threads that hang in all ways, at different depths.
//
// Invariant: A thread that hangs is said to be stuck in the innermost traced method that was open and that its stack
// samples show, for as long as it made no traced call.
func TestHang(t *testing.T) {
	const s = time.Second
	sleep, frame, base := "java.base/java.lang.Thread.sleep(Native Method)", "a.B.stuck(B.java:9)", "a.B.main(B.java:1)"
	deep := []evidence.OpenAtEnd{{Method: hangMain}, {Method: hangLoop, Begin: int64(1 * s)},
		{Method: hangStuck, Begin: int64(92 * s)}}
	asleep := taken(93*s, 0, stateTimed, sleep, frame, base)
	later := taken(95*s, 0, stateTimed, sleep, frame, base)
	early := taken(50*s, 0, stateRunnable, "a.B.loop(B.java:5)", base)
	park := "java.base/jdk.internal.misc.Unsafe.park(Native Method)"
	for _, c := range []struct {
		name    string
		hanging hanging
		kind    Kind
		likely  bool
		text    string
	}{
		{"deep below a long call", hanging{open: deep, lastRecord: 92 * s, wall: 99_787 * ms,
			samples: []trace.StackSample{early, asleep, later}}, KindSleep, false,
			"stuck for at least 7.78 s in a.B.stuck (2 of 2 samples: sleeping in Thread.sleep)"},
		{"most samples decide", hanging{open: deep, lastRecord: 92 * s, wall: 112 * s, samples: []trace.StackSample{asleep,
			taken(94*s, 0, stateWaiting, park, "java.util.concurrent.FutureTask.get(F.java:1)", frame),
			taken(97*s, 0, stateWaiting, park, "java.util.concurrent.FutureTask.get(F.java:1)", frame)}}, KindWait, false,
			"stuck for at least 20.0 s in a.B.stuck (2 of 3 samples: waiting in FutureTask.get)"},
		{"busy", hanging{open: deep, lastRecord: 92 * s, wall: 99 * s, samples: []trace.StackSample{
			taken(93*s, 1*s, stateRunnable, frame), taken(95*s, 29*s/10, stateRunnable, frame)}}, KindOwnWork, false,
			"stuck for at least 7.00 s in a.B.stuck (2 of 2 samples: running, CPU 95 %)"},
		{"no processor", hanging{open: deep, lastRecord: 92 * s, wall: 99 * s, samples: []trace.StackSample{
			taken(93*s, 1*s, stateRunnable, frame), taken(95*s, 11*s/10, stateRunnable, frame)}}, KindStarved, false,
			"stuck for at least 7.00 s in a.B.stuck (2 of 2 samples: running, CPU 5 %)"},
		{"I/O", hanging{open: deep, lastRecord: 92 * s, wall: 99 * s, samples: []trace.StackSample{
			taken(93*s, 0, stateRunnable, "java.io.FileInputStream.read0(Native)", "java.io.FileInputStream.read(F.java:1)",
				frame)}}, KindIO, false,
			"stuck for at least 7.00 s in a.B.stuck (1 of 1 sample: file I/O in FileInputStream.read)"},
		{"it still makes calls", hanging{open: deep, lastRecord: 99*s - 200*ms, wall: 99 * s, samples: []trace.StackSample{
			asleep, later}}, KindSleep, false, "not ended after at least 7.00 s in a.B.stuck, which still made calls " +
			"(2 of 2 samples: sleeping in Thread.sleep)"},
		{"an exception left the innermost", hanging{open: deep, lastRecord: 93 * s, wall: 99 * s,
			samples: []trace.StackSample{taken(94*s, 0, stateTimed, sleep, "a.B.loop(B.java:5)", base)}}, KindSleep, false,
			"stuck for at least 6.00 s in a.B.loop (1 of 1 sample: sleeping in Thread.sleep)"},
		{"the order of calls is a wrong guess", hanging{open: []evidence.OpenAtEnd{deep[0], deep[2], deep[1]},
			lastRecord: 92 * s, wall: 99 * s, samples: []trace.StackSample{taken(93*s, 0, stateTimed, sleep, frame,
				"a.B.loop(B.java:5)", base)}}, KindSleep, false,
			"stuck for at least 7.00 s in a.B.stuck (1 of 1 sample: sleeping in Thread.sleep)"},
		{"names in stacks are others", hanging{open: deep, lastRecord: 92 * s, wall: 99 * s,
			samples: []trace.StackSample{taken(93*s, 0, stateTimed, sleep, "x.a(SourceFile:1)")}}, KindSleep, true,
			"stuck for at least 7.00 s in a.B.stuck (1 of 1 sample: sleeping in Thread.sleep); the samples do not show the " +
				"method, so that an exception may have ended it"},
		{"no sample", hanging{open: deep, lastRecord: 92 * s, wall: 93 * s}, KindUnknown, true,
			"stuck for at least 1.00 s in a.B.stuck; no stack sample was taken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := c.hanging.stall().Verdict
			if v.Kind != c.kind || v.Likely != c.likely || v.Text != c.text {
				t.Errorf("%s, likely %t: %s\nwant %s, likely %t: %s", v.Kind, v.Likely, v.Text, c.kind, c.likely, c.text)
			}
		})
	}
}

// TestExitIsNoHang has a program that ends by itself while its main thread makes calls.
func TestExitIsNoHang(t *testing.T) {
	const s = time.Second
	calling := hanging{open: []evidence.OpenAtEnd{{Method: hangMain}, {Method: hangStuck}}, lastRecord: 9 * s, wall: 9 * s,
		samples: []trace.StackSample{taken(3*s, 0, stateRunnable, "a.B.stuck(B.java:9)"),
			taken(6*s, 29*s/10, stateRunnable, "a.B.stuck(B.java:9)")}, closed: true}
	stuck := calling
	stuck.lastRecord = 2 * s
	for _, c := range []struct {
		hanging hanging
		hangs   bool
	}{{calling, false}, {stuck, true}} {
		v := c.hanging.stall().Verdict
		if strings.Contains(v.Text, "at least") != c.hangs {
			t.Errorf("last call after %v: %s: %s", c.hanging.lastRecord, v.Kind, v.Text)
		}
	}
}

// TestIdleIsNoHang has a run that waits for its next task when the recording ends: it is not stuck, as a message is.
func TestIdleIsNoHang(t *testing.T) {
	const s = time.Second
	waiting := hanging{open: []evidence.OpenAtEnd{{Method: hangMain}, {Method: hangStuck, Begin: int64(1 * s)}},
		lastRecord: 1 * s, wall: 9 * s, kind: trace.SegmentOutermost}
	for k := range 4 {
		waiting.samples = append(waiting.samples, taken(time.Duration(2+k)*s, 0, stateWaiting,
			"java.base/jdk.internal.misc.Unsafe.park(Native Method)",
			"java.base/java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)", "a.B.stuck(B.java:9)"))
	}
	locked := waiting
	lock := taken(1500*ms, 0, stateBlocked, "a.B.stuck(B.java:9)")
	lock.Lock = trace.LockWait{Class: "a.Lock", Identity: 1, Owner: 2, Owned: true}
	locked.samples = slices.Concat([]trace.StackSample{lock}, waiting.samples)
	locked.holders = []evidence.HolderSample{{Waiting: &locked.samples[0], Thread: trace.Thread{Index: 2, ID: 8,
		Name: "holder"}, Holder: &trace.StackSample{Thread: 2, State: stateRunnable, Frames: []string{"a.B.held(B.java:5)"}}}}
	for name, c := range map[string]hanging{"idle": waiting, "behind a wait for a lock": locked} {
		s := c.stall()
		if want := "idle, waiting for the next task of its pool: "; !strings.HasPrefix(s.Verdict.Text, want) {
			t.Errorf("%s: %s: %s", name, s.Verdict.Kind, s.Verdict.Text)
		}
	}
	waiting.kind = trace.SegmentRequest // a message has no work to wait for
	if v := waiting.stall().Verdict; !strings.HasPrefix(v.Text, "stuck for at least 8.00 s in a.B.stuck (") {
		t.Errorf("a message: %s: %s", v.Kind, v.Text)
	}
}

// lockedBy has a thread that waits for a lock, and the stack of its holder, which waits for a lock of its own if next
// is one.
func lockedBy(held, next trace.LockWait, holderState trace.ThreadState, frames ...string) hanging {
	c := hanging{open: []evidence.OpenAtEnd{{Method: hangMain}, {Method: hangStuck, Begin: int64(time.Second)}},
		lastRecord: time.Second, wall: 9 * time.Second}
	for k := range 3 {
		waiting := taken(time.Duration(2+k)*time.Second, 0, stateBlocked, "a.B.stuck(B.java:9)")
		waiting.Lock = held
		c.samples = append(c.samples, waiting)
	}
	for k := range c.samples {
		c.holders = append(c.holders, evidence.HolderSample{Waiting: &c.samples[k], Thread: trace.Thread{Index: 2, ID: 8,
			Name: "worker"}, Holder: &trace.StackSample{Thread: 2, State: holderState, Frames: frames, Lock: next}})
	}
	return c
}

// TestHangNamesLocks: a lock is named with its holder and what that does, a deadlock with both threads and both locks.
//
// Invariant: A deadlock of two threads is reported with both threads and both locks.
func TestHangNamesLocks(t *testing.T) {
	x := trace.LockWait{Class: "a.X", Identity: 1, Owned: true, Owner: 2}
	for _, c := range []struct {
		name    string
		hanging hanging
		kind    Kind
		text    string
	}{
		{"the holder sleeps", lockedBy(x, trace.LockWait{}, stateTimed, "java.lang.Thread.sleep(Native)",
			"a.C.keep(C.java:1)"), KindLock,
			"waiting for a.X held by worker #8: sleeping in Thread.sleep, in a.C.keep"},
		{"deadlock", lockedBy(x, trace.LockWait{Class: "a.Y", Identity: 2, Owned: true, Owner: 1}, stateBlocked,
			"a.C.keep(C.java:1)"), KindDeadlock, "deadlock: worker #7 waits for a.X held by worker #8, " +
			"worker #8 waits for a.Y held by worker #7"},
		{"deadlock, locks of one class", lockedBy(x, trace.LockWait{Class: "a.X", Identity: 0xab, Owned: true, Owner: 1},
			stateBlocked, "a.C.keep(C.java:1)"), KindDeadlock, "deadlock: worker #7 waits for a.X@1 held by " +
			"worker #8, worker #8 waits for a.X@ab held by worker #7"},
		{"the holder waits for a third", lockedBy(x, trace.LockWait{Class: "a.Y", Identity: 2, Owned: true, Owner: 3},
			stateBlocked, "a.C.keep(C.java:1)"), KindLock, "waiting for a.X held by worker #8, which waits for a.Y " +
			"held by thread 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.hanging.stall()
			want := fmt.Sprintf("stuck for at least 8.00 s in a.B.stuck (3 of 3 samples: %s)", c.text)
			if s.Verdict.Kind != c.kind || s.Verdict.Text != want {
				t.Errorf("%s: %s\nwant %s: %s", s.Verdict.Kind, s.Verdict.Text, c.kind, want)
			}
			if !strings.HasPrefix(s.LockOwner, "worker #8 holds a.X") {
				t.Errorf("the owner is %q", s.LockOwner)
			}
		})
	}
}
