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

// stallingProgram stalls in every way that a program can, each in an outermost call of its own, and prints its own
// measurements in nanoseconds: name, wall time inside of the call, wall time around the call, CPU time inside of the
// call, and by how much a thread that wanted to run every 5 ms came too late meanwhile, at most.
const stallingProgram = `import java.lang.management.*;
class Stalls {
    static final Object lock = new Object();
    static final java.util.concurrent.locks.ReentrantLock fair = new java.util.concurrent.locks.ReentrantLock();
    static volatile int sum;

    static void busy() {
        Driver.start();
        long end = System.nanoTime() + 600000000L;
        while (System.nanoTime() < end) sum += 31;
        Driver.stop();
    }
    static void sleeping() throws Exception { Driver.start(); Thread.sleep(600); Driver.stop(); }
    static void monitor() { Driver.start(); synchronized (lock) { sum++; } Driver.stop(); }
    static void waiting() { Driver.start(); fair.lock(); fair.unlock(); Driver.stop(); }
    static void reading() throws Exception {
        Driver.start();
        Process p = new ProcessBuilder("sleep", "0.6").start();
        p.getInputStream().read();
        Driver.stop();
    }
    static void collecting() {
        Driver.start();
        long end = System.nanoTime() + 600000000L;
        while (System.nanoTime() < end) System.gc();
        Driver.stop();
    }
}
public class Driver {
    interface Call { void run() throws Exception; }

    static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    static long wall, cpu;
    static volatile long late;

    static void watchMachine() {
        Thread t = new Thread("late") {
            public void run() {
                for (long before = System.nanoTime(); ; ) {
                    try { Thread.sleep(5); } catch (InterruptedException e) { return; }
                    long now = System.nanoTime();
                    late = Math.max(late, now - before - 5000000L);
                    before = now;
                }
            }
        };
        t.setDaemon(true);
        t.start();
    }

    static void start() { cpu = -clock.getCurrentThreadCpuTime(); wall = -System.nanoTime(); }
    static void stop() { wall += System.nanoTime(); cpu += clock.getCurrentThreadCpuTime(); }

    static void stall(String name, Call call) throws Exception {
        late = 0;
        long around = -System.nanoTime();
        call.run();
        around += System.nanoTime();
        Thread.sleep(100);
        System.out.println(name + " " + wall + " " + around + " " + cpu + " " + late);
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
        watchMachine();
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

// A stall is the program's own measurement of one.
type stall struct{ wall, around, cpu, late int64 }

// TestStalls runs a program that stalls in every way. Its recording must show why: the state of its thread, the owner
// of the lock and what that did, the CPU time, the garbage collections. Times are compared with those that the program
// measured, within bounds that hold on a busy machine too.
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
	stalls := map[string]*trace.StallChunk{}
	for _, c := range all {
		if found, ok := c.(*trace.StallChunk); ok {
			id, err := strconv.Atoi(strings.TrimPrefix(found.Description, "method "))
			e, known := methods.ByID(uint32(id))
			if err != nil || !known {
				t.Fatalf("a slow call is of %q", found.Description)
			}
			stalls[e.Name] = found
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
			found, want := stalls[row.name], truth[row.name]
			if found == nil {
				t.Fatalf("the method was not found; found %v", stalls)
			}
			if found.State.String() != row.state || !strings.HasPrefix(found.LockOwner, row.owner) || row.owner == "" &&
				found.LockOwner != "" {
				t.Errorf("state %v, owner %q; want %v, %q", found.State, found.LockOwner, row.state, row.owner)
			}
			slack := measuringError + 2*want.late
			if wall := int64(found.Wall); wall < want.wall-slack || wall > want.around+slack {
				t.Errorf("got a wall time of %v, but the program measured %v inside of the call and %v around it; late by %v",
					time.Duration(wall), time.Duration(want.wall), time.Duration(want.around), time.Duration(want.late))
			}
			if found.CPU < max(0, want.cpu-slack) || found.CPU > want.cpu+slack {
				t.Errorf("got a CPU time of %v, but the program measured %v; late by %v",
					time.Duration(found.CPU), time.Duration(want.cpu), time.Duration(want.late))
			}
			if collected := row.name == "collecting"; collected != (found.GCCount > 2) || found.GCCount < 0 {
				t.Errorf("%d garbage collections in %d ms", found.GCCount, found.GCMillis)
			}
			samples := 2
			if want.late > quiet {
				samples = 1
			}
			checkSamples(t, all, found, row.frame, row.owner != "", samples)
			t.Logf("measured: %s: %d ms (by the program %d), %d ms of CPU (by the program %d), %d collections, late by %d ms",
				row.name,
				found.Wall/1e6, want.wall/1e6, found.CPU/1e6, want.cpu/1e6, found.GCCount, want.late/1e6)
		})
	}
}

// measuringError is the greatest error of recorded times on a quiet machine. A thread updates the clock of the records
// every 5 ms, and a CPU time is an estimate from samples that are taken every 20 ms. On a busy machine both threads
// come late, which the program measures with a thread of its own.
const (
	measuringError = int64(50 * time.Millisecond)
	quiet          = int64(10 * time.Millisecond)
)

// checkSamples checks that a slow call has at least so many samples with a traced method in them, and, if it waits for
// a lock, as many of the owner.
func checkSamples(t *testing.T, all []trace.Chunk, found *trace.StallChunk, frame string, held bool, want int) {
	t.Helper()
	own, holders := 0, 0
	for _, c := range all {
		s, ok := c.(*trace.StackSample)
		if !ok || s.Nanos < found.Begin || s.Nanos > found.Begin+int64(found.Wall) {
			continue
		}
		stack := strings.Join(s.Frames, "\n")
		switch {
		case s.Thread == found.Thread && strings.Contains(stack, frame) && s.CPU >= 0:
			own++
		case s.Thread != found.Thread && strings.Contains(stack, "Driver.keep"):
			holders++
		}
	}
	if own < want || held && holders < want || !held && holders > 1 {
		t.Errorf("%d samples in %s, %d of the lock's owner", own, frame, holders)
	}
}

// runStalls instruments the program, runs it, and returns its output, the mapping, and its recording.
func runStalls(t *testing.T, j oracle.JDK, dir, core string) (map[string]stall, *mapping.Mapping, []trace.Chunk) {
	t.Helper()
	program, runtime := filepath.Join(dir, "program.jar"), filepath.Join(dir, "runtime.jar")
	// Calls made by a method that is not traced are the outermost ones.
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
	out := command{jdk: j, dir: dir, args: []string{"-Dtracegen.output=" + file, "-Dtracegen.slow=200", "-cp",
		pathList(program, runtime), "Driver"}}.run(t)
	truth := map[string]stall{}
	for line := range strings.Lines(out.text) {
		var name string
		var s stall
		if _, err := fmt.Sscan(line, &name, &s.wall, &s.around, &s.cpu, &s.late); err != nil {
			t.Fatalf("the program printed %q", out.text)
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
