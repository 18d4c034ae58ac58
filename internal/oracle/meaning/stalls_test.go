package meaning

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// stallingProgram stalls in every way that a program can, each in an outermost call of its own, and prints what it took
// by clocks of its own: name, nanoseconds, nanoseconds of CPU. They are read inside of the call: on a busy machine, what the
// recorder does behind a slow call may take long.
const stallingProgram = `import java.lang.management.*;
class Stalls {
    static final Object lock = new Object();
    static final java.util.concurrent.locks.ReentrantLock fair = new java.util.concurrent.locks.ReentrantLock();
    static volatile int sum;

    static void busy() { Driver.start(); long end = System.nanoTime() + 600000000L; while (System.nanoTime() < end) sum += 31; Driver.stop(); }
    static void sleeping() throws Exception { Driver.start(); Thread.sleep(600); Driver.stop(); }
    static void monitor() { Driver.start(); synchronized (lock) { sum++; } Driver.stop(); }
    static void waiting() { Driver.start(); fair.lock(); fair.unlock(); Driver.stop(); }
    static void reading() throws Exception {
        Driver.start();
        Process p = new ProcessBuilder("sleep", "0.6").start();
        p.getInputStream().read();
        Driver.stop();
    }
    static void collecting() { Driver.start(); long end = System.nanoTime() + 600000000L; while (System.nanoTime() < end) System.gc(); Driver.stop(); }
}
public class Driver {
    interface Call { void run() throws Exception; }

    static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    static long wall, cpu;

    static void start() { cpu = -clock.getCurrentThreadCpuTime(); wall = -System.nanoTime(); }
    static void stop() { wall += System.nanoTime(); cpu += clock.getCurrentThreadCpuTime(); }

    static void stall(String name, Call call) throws Exception {
        call.run();
        System.out.println(name + " " + wall + " " + cpu);
        Thread.sleep(100);
    }

    static void hold(boolean monitor) throws Exception {
        final java.util.concurrent.CountDownLatch held = new java.util.concurrent.CountDownLatch(1);
        Thread t = new Thread("holder") {
            public void run() {
                try {
                    if (monitor) synchronized (Stalls.lock) { held.countDown(); keep(); }
                    else { Stalls.fair.lock(); held.countDown(); keep(); Stalls.fair.unlock(); }
                } catch (Exception e) { throw new Error(e); }
            }
        };
        t.start();
        held.await();
    }
    static void keep() throws Exception { Thread.sleep(700); }

    public static void main(String[] args) throws Exception {
        Thread.sleep(200);
        stall("busy", Stalls::busy);
        stall("sleeping", Stalls::sleeping);
        hold(true);
        stall("monitor", Stalls::monitor);
        hold(false);
        stall("waiting", Stalls::waiting);
        stall("reading", Stalls::reading);
        stall("collecting", Stalls::collecting);
    }
}`

// A stall is what the program says of one.
type stall struct{ wall, cpu int64 }

// TestStalls has a program stall in every way, and its recording say how: what state its thread was in, who held the
// lock and what that did, how much CPU time it took, what was collected. Times are held to what the program measured.
//
// Invariant: A recording shows why a call stalled: CPU time, sleep, a lock and its owner, I/O, garbage collection;
// its times are those that the program measured.
func TestStalls(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the runtime with Maven")
	}
	j, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	jars, err := oracle.BuildRuntime(t.Context())
	oracle.Require(t, err)
	dir := t.TempDir()
	source := filepath.Join(dir, "Driver.java")
	if err := os.WriteFile(source, []byte(stallingProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	javac(t, j, filepath.Join(dir, "classes"), source)
	truth, methods, all := runStalls(t, j, dir, jars.Core)
	janks := map[string]*trace.StallChunk{}
	for _, c := range all {
		if jank, ok := c.(*trace.StallChunk); ok {
			id, err := strconv.Atoi(strings.TrimPrefix(jank.Description, "method "))
			e, known := methods.ByID(uint32(id))
			if err != nil || !known {
				t.Fatalf("a slow call is of %q", jank.Description)
			}
			janks[e.Name] = jank
		}
	}
	for _, row := range []struct {
		name, owner string
		state       string
		frame       string
	}{
		{"busy", "", "RUNNABLE", "Stalls.busy"},
		{"sleeping", "", "TIMED_WAITING", "Thread.sleep"},
		{"monitor", "holder holds java.lang.Object", "BLOCKED", "Stalls.monitor"},
		{"waiting", "holder holds java.util.concurrent.locks.ReentrantLock", "WAITING", "ReentrantLock.lock"},
		{"reading", "", "RUNNABLE", "FileInputStream.read"},
		{"collecting", "", "RUNNABLE", "gc"},
	} {
		t.Run(row.name, func(t *testing.T) {
			jank, want := janks[row.name], truth[row.name]
			if jank == nil {
				t.Fatalf("it was not found; found %v", janks)
			}
			if jank.State.String() != row.state || !strings.HasPrefix(jank.LockOwner, row.owner) || row.owner == "" && jank.LockOwner != "" {
				t.Errorf("state %v, owner %q; want %v, %q", jank.State, jank.LockOwner, row.state, row.owner)
			}
			closeTo(t, "wall", int64(jank.Wall), want.wall, wallSlack)
			closeTo(t, "CPU", jank.CPU, want.cpu, cpuSlack)
			if collected := row.name == "collecting"; collected != (jank.GCCount > 2) || jank.GCCount < 0 {
				t.Errorf("%d collections in %d ms", jank.GCCount, jank.GCMillis)
			}
			judgeSamples(t, all, jank, row.frame, row.owner != "")
			t.Logf("measured: %s: %d ms (truth %d), %d ms of CPU (truth %d), %d collections", row.name,
				jank.Wall/1e6, want.wall/1e6, jank.CPU/1e6, want.cpu/1e6, jank.GCCount)
		})
	}
}

// The recorder looks every 20 ms, and stamps by a clock that moves every 5; a busy machine lets it wait.
const (
	wallSlack = 100 * time.Millisecond
	cpuSlack  = 150 * time.Millisecond
)

func closeTo(t *testing.T, what string, got, want int64, slack time.Duration) {
	t.Helper()
	if d := time.Duration(got - want); d < -slack || d > slack || got < 0 {
		t.Errorf("%s %v, the program measured %v", what, time.Duration(got), time.Duration(want))
	}
}

// judgeSamples wants several samples of a slow call with a frame in them, and if it waits for a lock as many of the holder.
func judgeSamples(t *testing.T, all []trace.Chunk, jank *trace.StallChunk, frame string, held bool) {
	t.Helper()
	own, holders := 0, 0
	for _, c := range all {
		s, ok := c.(*trace.StackSample)
		if !ok || s.Nanos < jank.Begin || s.Nanos > jank.Begin+int64(jank.Wall) {
			continue
		}
		stack := strings.Join(s.Frames, "\n")
		switch {
		case s.Thread == jank.Thread && strings.Contains(stack, frame) && s.CPU >= 0:
			own++
		case s.Thread != jank.Thread && strings.Contains(stack, "Driver.keep"):
			holders++
		}
	}
	if own < 2 || held != (holders > 1) {
		t.Errorf("%d samples in %s, %d of who holds the lock", own, frame, holders)
	}
}

// runStalls instruments the program's stalls, runs it, and gives what it printed, the mapping, and its recording.
func runStalls(t *testing.T, j oracle.JDK, dir, core string) (map[string]stall, *mapping.Mapping, []trace.Chunk) {
	t.Helper()
	program, runtime := filepath.Join(dir, "program.jar"), filepath.Join(dir, "runtime.jar")
	// The calls of what is not traced are the outermost ones.
	rule, err := filter.ParseRule(false, "Driver", filter.Position{})
	if err != nil {
		t.Fatal(err)
	}
	only := filter.New(filter.Options{Trivial: filter.None, Rules: []filter.Rule{rule}})
	result, err := pipeline.Run(t.Context(), pipeline.Config{Filter: only, Inputs: []pipeline.Input{
		{Path: filepath.Join(dir, "classes"), Output: program}, {Path: core, Output: runtime},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "stalls.tgd")
	out := command{jdk: j, dir: dir, args: []string{"-Dtracegen.output=" + file, "-Dtracegen.slow=200", "-cp", pathList(program, runtime), "Driver"}}.run(t)
	truth := map[string]stall{}
	for line := range strings.Lines(out.text) {
		var name string
		var s stall
		if _, err := fmt.Sscan(line, &name, &s.wall, &s.cpu); err != nil {
			t.Fatalf("the program said %q", out.text)
		}
		truth[name] = s
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []trace.Chunk
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return truth, result.Mapping, all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
}
