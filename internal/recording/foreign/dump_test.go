package foreign

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// art is a part of what ART writes in an ANR, with two processes, of which the second is cut off.
const art = `
----- pid 4711 at 2026-11-22 13:19:28.350123456+0000 -----
Cmd line: com.example.app
Build fingerprint: 'x'
DALVIK THREADS (5):
"Signal Catcher" daemon prio=10 tid=6 Runnable
  | group="system" sCount=0
  native: #00 pc 00000000004d1e9a  /apex/com.android.art/lib64/libart.so (x+1)
  (no managed stack frames)

"main" prio=5 tid=1 Blocked
  | group="main" sCount=1 ucsCount=0 flags=1 obj=0x72 self=0xb4
  | held mutexes=
  at com.example.Store.read(Store.java:12)
  - waiting to lock <0x0d2a> (a com.example.Lock) held by thread 12
  at com.example.Main.click(Main.java:5)
  - locked <0x0e01> (a java.lang.Class<com.example.Main>)

"a "quoted" prio=1 tid=3 name" daemon prio=5 tid=12 Blocked
  at com.example.Sync.run(Sync.java:7)
  - waiting to lock <0x0e01> (a java.lang.Class<com.example.Main>) held by thread 1
  - locked <0x0d2a> (a com.example.Lock)

"waiter" prio=5 tid=13 Waiting
  native: #00 pc 000000000004dc2c  /apex/com.android.runtime/lib64/bionic/libc.so (syscall+28)
  at java.lang.Object.wait(Native method)
  - waiting on <0x0f00> (a java.lang.Object)
  at com.example.Q.take(Q.java:1)
  - locked <0x0f00> (a java.lang.Object)

"third" prio=5 tid=14 Blocked
  at com.example.Q.put(Q.java:9)
  - waiting to lock <0x0f00> (a java.lang.Object)

----- end 4711 -----

----- pid 99 at 2026-11-22 13:19:29 -----
Cmd line: system_server

"main" prio=5 tid=1 Native
  native: #00 pc 00000000000a1c98  /apex/com.android.runtime/lib64/bionic/libc.so (__epoll_pwait+8)
  at android.os.MessageQueue.nativePollOnce(Native method)
`

// hotspot is a part of what jstack writes.
const hotspot = `2026-11-22 13:19:28
Full thread dump OpenJDK 64-Bit Server VM (17.0.9+9 mixed mode):

"main" #1 prio=5 os_prio=0 cpu=53.21ms elapsed=2.11s tid=0x00007f1 nid=0x1a waiting for monitor entry  [0x00007f2]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at a.Store.read(Store.java:12)
	- waiting to lock <0x000000076b> (a a.Lock)
	at a.Main.main(Main.java:5)

   Locked ownable synchronizers:
	- <0x000000076c> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)

"worker" #12 daemon prio=5 os_prio=0 tid=0x00007f3 nid=0x1b waiting on condition  [0x00007f4]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17.0.9/Native Method)
	- parking to wait for  <0x000000076c> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
	at a.Worker.run(Worker.java:3)
	- locked <0x000000076b> (a a.Lock)

   Locked ownable synchronizers:
	- None

"VM Thread" os_prio=0 cpu=1.26ms elapsed=2.10s tid=0x00007f5 nid=0x1c runnable

JNI global refs: 7, weak refs: 0
`

// circles shows deadlocks.
func circles(all [][]Wait) []string {
	var out []string
	for _, c := range all {
		var parts []string
		for _, w := range c {
			parts = append(parts, fmt.Sprintf("%s<-%s(%s)", w.Thread.Name, w.Lock.Class, w.Holder.Name))
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

func TestArt(t *testing.T) {
	d := ParseDump(art)
	if len(d.Processes) != 2 || d.Omitted {
		t.Fatalf("%+v", d)
	}
	app, system := d.Processes[0], d.Processes[1]
	if app.PID != 4711 || app.Command != "com.example.app" || app.Time != "2026-11-22 13:19:28.350123456+0000" ||
		app.Truncated || !system.Truncated || len(app.Threads) != 5 || len(system.Threads) != 1 {
		t.Errorf("%+v, %+v", app, system)
	}
	main := app.Main()
	if diff := cmp.Diff([]string{"com.example.Store.read(Store.java:12)", "com.example.Main.click(Main.java:5)"},
		main.Frames); diff != "" || main.State != "Blocked" || main.ID != "1" || main.Native {
		t.Errorf("%s %+v", diff, main)
	}
	if other := app.Threads[2]; other.Name != `a "quoted" prio=1 tid=3 name` || other.ID != "12" {
		t.Errorf("%+v", other)
	}
	want := []string{`main<-com.example.Lock(a "quoted" prio=1 tid=3 name) a "quoted" prio=1 tid=3 name<-` +
		`java.lang.Class<com.example.Main>(main)`}
	if diff := cmp.Diff(want, circles(app.Deadlocks())); diff != "" {
		t.Error(diff)
	}
	// A thread that waits on an object has released its lock.
	if c := app.Chain(app.Threads[4]); len(c) != 1 || c[0].Holder != nil {
		t.Errorf("%+v", c)
	}
	if len(app.Chain(app.Threads[3])) != 0 || len(app.Chain(main)) != 2 || !app.Threads[3].Native {
		t.Errorf("%+v", app.Chain(main))
	}
}

func TestHotSpot(t *testing.T) {
	d := ParseDump(hotspot)
	if len(d.Processes) != 1 || len(d.Processes[0].Threads) != 3 {
		t.Fatalf("%+v", d)
	}
	p := d.Processes[0]
	want := []string{"main<-a.Lock(worker) worker<-java.util.concurrent.locks.ReentrantLock$NonfairSync(main)"}
	if diff := cmp.Diff(want, circles(p.Deadlocks())); diff != "" || p.Truncated || p.Main().State != "BLOCKED" {
		t.Errorf("%s %+v", diff, p.Main())
	}
}

// TestDeadlocks makes random graphs of locks: exactly the circles are found, each once, and each chain leads where the
// graph does.
//
// Invariant: Of any stacks, exactly the circles of locks are reported as deadlocks.
func TestDeadlocks(t *testing.T) {
	found := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(12)
		next := make([]int, n) // what a thread waits for; n if for nothing
		for k := range next {
			if next[k] = r.IntN(n + 1 + n/2); next[k] >= n || next[k] == k {
				next[k] = n
			}
		}
		named := r.IntN(2) == 0 // the text names holders; otherwise the stacks show them
		order := r.Perm(n)
		var b strings.Builder
		b.WriteString("----- pid 1 at x -----\n")
		for _, k := range order {
			fmt.Fprintf(&b, "\"t%d\" prio=5 tid=%d Blocked\n  at a.B.c(B.java:1)\n", k, k+1)
			if next[k] < n {
				fmt.Fprintf(&b, "  - waiting to lock <0x%x> (a l.L%d)", next[k]+1, next[k])
				if named {
					fmt.Fprintf(&b, " held by thread %d", next[k]+1)
				}
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "  - locked <0x%x> (a l.L%d)\n\n", k+1, k)
		}
		b.WriteString("----- end 1 -----\n")
		p := ParseDump(b.String()).Processes[0]
		// The circles of the graph: threads that come back to themselves.
		var want []string
		taken := make([]bool, n)
		for _, k := range order {
			var circle []string
			at := k
			for range n {
				if next[at] == n {
					break
				}
				circle = append(circle, fmt.Sprintf("t%d<-l.L%d(t%d)", at, next[at], next[at]))
				if at = next[at]; at == k {
					break
				}
			}
			if at != k || len(circle) == 0 || taken[k] {
				continue
			}
			for taken[k] = true; !taken[next[at]]; at = next[at] {
				taken[next[at]] = true
			}
			want = append(want, strings.Join(circle, " "))
		}
		found += len(want)
		if diff := cmp.Diff(want, circles(p.Deadlocks())); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, b.String())
		}
		for _, thread := range p.Threads {
			var k int
			fmt.Sscanf(thread.Name, "t%d", &k)
			seen := map[int]bool{}
			steps := 0
			for at := k; next[at] < n && !seen[at]; at = next[at] {
				seen[at] = true
				steps++
			}
			if got := len(p.Chain(thread)); got != steps {
				t.Fatalf("seed %d: the chain of %s has %d steps, want %d", seed, thread.Name, got, steps)
			}
		}
	}
	t.Logf("measured: %d deadlocks in 2000 graphs", found)
}

// TestBounds: however long a text is, what is kept is bounded, and that is said.
func TestBounds(t *testing.T) {
	var many strings.Builder
	for k := range maxThreads + 1 {
		fmt.Fprintf(&many, "\"x\" prio=5 tid=%d Native\n", k)
	}
	d := ParseDump(many.String())
	if len(d.Processes[0].Threads) != maxThreads || !d.Omitted {
		t.Errorf("%d threads, omitted %t", len(d.Processes[0].Threads), d.Omitted)
	}
	d = ParseDump(strings.Repeat("----- pid 1 at x -----\n\"x\" prio=5 tid=1 Native\n", maxProcesses+5))
	if len(d.Processes) != maxProcesses || !d.Omitted {
		t.Errorf("%d processes, omitted %t", len(d.Processes), d.Omitted)
	}
	d = ParseDump("\"x\" prio=5 tid=1 Native\n" +
		strings.Repeat("  at "+strings.Repeat("x", 5000)+"\n", maxThreadFrames+1))
	if f := d.Processes[0].Threads[0].Frames; len(f) != maxThreadFrames || len(f[0]) != maxThreadText {
		t.Errorf("%d frames", len(f))
	}
}

// FuzzParseDump reads anything. Each circle is one: every thread holds what the one before it waits for.
//
// Invariant: No text makes the reader of thread dumps panic or keep more than its bounds.
func FuzzParseDump(f *testing.F) {
	f.Add(art)
	f.Add(hotspot)
	texts, err := filepath.Glob("../answer/testdata/threads/*")
	if err != nil || len(texts) == 0 {
		f.Fatal(texts, err)
	}
	for _, file := range texts {
		data := fixture.Read(f, file)
		f.Add(string(data))
	}
	f.Add("\"a\" tid=1\n- waiting to lock <1> held by thread 2\n\n\"b\" tid=2\n- waiting to lock <2> held by tid=1")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range ParseDump(text).Processes {
			if len(p.Threads) == 0 {
				t.Error("a process without threads")
			}
			for _, d := range p.Doubts() {
				for _, w := range d.Waits {
					if !slices.Contains(p.Threads, w.Thread) {
						t.Errorf("a doubt about a thread of another process: %+v", w)
					}
				}
			}
			var in []*Thread
			for _, c := range p.Deadlocks() {
				for k, w := range c {
					if w.Holder != c[(k+1)%len(c)].Thread || w.Thread.Waits == nil || slices.Contains(in, w.Thread) {
						t.Errorf("no circle: %+v", c)
					}
					in = append(in, w.Thread)
				}
				if len(c) < 2 {
					t.Errorf("a circle of %d", len(c))
				}
			}
			for _, thread := range p.Threads[:min(len(p.Threads), 50)] {
				p.Chain(thread)
			}
		}
	})
}

// TestFrames: a frame is as Java prints it, whatever notation it had.
func TestFrames(t *testing.T) {
	for line, want := range map[string]string{
		"at a.B.c (B.java:1)":                                     "a.B.c(B.java:1)",
		"at java.lang.Object.wait!(Native method)":                "java.lang.Object.wait(Native method)",
		"at java/lang/Thread.run(Thread.java:857(Compiled Code))": "java.lang.Thread.run(Thread.java:857)",
		"at java.base@17/java.lang.Thread.run(Thread.java:857)":   "java.base@17/java.lang.Thread.run(Thread.java:857)",
		"at app//Main.main(Main.java:1)":                          "app//Main.main(Main.java:1)",
		"at a.B$$Lambda/0x0a.run(Unknown Source)":                 "a.B$$Lambda/0x0a.run(Unknown Source)",
	} {
		d := ParseDump("\"main\" prio=5 tid=1 Native\n  " + line + "\n")
		if len(d.Processes) != 1 || strings.Join(d.Processes[0].Threads[0].Frames, " ") != want {
			t.Errorf("%s: %+v, want %s", line, d.Processes, want)
		}
	}
}
