package meaning

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/trace"
)

// stallingProgram stalls in every way that a program can, each in an outermost call of its own, and prints what it took
// by clocks of its own: name, nanoseconds inside of the call and around it, and nanoseconds of CPU inside and around.
//
// A stall lasts for a number of checks of the recorder's thread, which parks after each, and not for a time. So it
// lasts longer if that thread gets its turns late, or waits until the disk has written the stall before.
const stallingProgram = `import java.lang.management.*;
class Stalls {
    static final Object lock = new Object();
    static final java.util.concurrent.locks.ReentrantLock fair = new java.util.concurrent.locks.ReentrantLock();
    static volatile int sum;

    static void warm() throws Exception { Driver.start(); while (Driver.stalling()) Thread.sleep(20); Driver.stop(); }
    static void busy() { Driver.start(); while (Driver.stalling()) sum += 31; Driver.stop(); }
    static void sleeping() throws Exception { Driver.start(); do Thread.sleep(1200); while (Driver.stalling()); Driver.stop(); }
    static void monitor() { Driver.start(); synchronized (lock) { sum++; } Driver.stop(); }
    static void waiting() { Driver.start(); fair.lock(); fair.unlock(); Driver.stop(); }
    static void reading() throws Exception {
        Driver.start();
        Driver.read();
        Driver.stop();
    }
    static void collecting() { Driver.start(); while (Driver.stalling()) System.gc(); Driver.stop(); }
}
public class Driver {
    interface Call { void run() throws Exception; }

    static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    static long wall, cpu;
    static volatile int beats, until;

    static void start() { until = beats + 60; cpu = -clock.getCurrentThreadCpuTime(); wall = -System.nanoTime(); }
    static void stop() { wall += System.nanoTime(); cpu += clock.getCurrentThreadCpuTime(); }
    static boolean stalling() { return beats < until; }

    static void stall(String name, Call call) throws Exception {
        long cpuAround = -clock.getCurrentThreadCpuTime(), around = -System.nanoTime();
        call.run();
        around += System.nanoTime();
        cpuAround += clock.getCurrentThreadCpuTime();
        System.out.println(name + " " + wall + " " + around + " " + cpu + " " + cpuAround);
        Thread.sleep(100);
    }

    static void read() throws Exception {
        Process p = new ProcessBuilder("cat").start();
        Thread t = new Thread("closer") {
            public void run() {
                try { keep(); p.getOutputStream().close(); } catch (Exception e) { throw new Error(e); }
            }
        };
        t.start();
        p.getInputStream().read();
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
        until = beats + 60;
        t.start();
        held.await();
    }
    static void keep() throws Exception { do Thread.sleep(20); while (stalling()); }

    public static void main(String[] args) throws Exception {
        Thread beating = new Thread("beating") {
            public void run() {
                for (long recorder = 0;;) try {
                    Thread.sleep(20);
                    for (Thread t : recorder == 0 ? Thread.getAllStackTraces().keySet() : new java.util.HashSet<Thread>())
                        if (t.getName().equals("tracegen-sampler")) recorder = t.getId();
                    ThreadInfo info = recorder == 0 ? null : clock.getThreadInfo(recorder);
                    if (info != null) beats = (int) info.getWaitedCount(); // it ends before this thread
                } catch (InterruptedException e) { return; }
            }
        };
        beating.setDaemon(true);
        beating.start();
        Thread.sleep(200);
        stall("warm", Stalls::warm); // so that the recorder's own classes are loaded
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

// A stall is what the program says of one, measured inside of the call and around it.
type stall struct{ wall, wallAround, cpu, cpuAround int64 }

// TestStalls has a program stall in every way, and its recording say how: what state its thread was in, who held the
// lock and what that did, how much CPU time it took, what was collected. With a tick of a microsecond every record has
// its exact time, so that the duration of a call is between what the program measured inside of it and around it, both
// by the same clock, but for a tick at each end. CPU time is an estimate whose error depends on how often the recorder
// gets its turn: it is shown, and held to the duration; what stack samples say of it is exact.
//
// Invariant: A recording shows why a call stalled: CPU time, sleep, a lock and its owner, I/O, garbage collection;
// its times are those that the program measured.
func TestStalls(t *testing.T) {
	d := newDriver(t, 17, stallingProgram, pipeline.Config{Filter: withoutDriver(t)})
	truth, all := runStalls(t, d)
	stalls := map[string]*trace.StallChunk{}
	for _, c := range all {
		if stalled, ok := c.(*trace.StallChunk); ok {
			id, err := strconv.Atoi(strings.TrimPrefix(stalled.Description, "method "))
			e, known := d.methods.ByID(uint32(id))
			if err != nil || !known {
				t.Fatalf("a slow call is of %q", stalled.Description)
			}
			stalls[e.Name] = stalled
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
			stalled, want := stalls[row.name], truth[row.name]
			if stalled == nil {
				t.Fatalf("it was not found; found %v", stalls)
			}
			if stalled.State.String() != row.state || !strings.HasPrefix(stalled.LockOwner, row.owner) ||
				row.owner == "" && stalled.LockOwner != "" {
				t.Errorf("state %v, owner %q; want %v, %q", stalled.State, stalled.LockOwner, row.state, row.owner)
			}
			if got := int64(stalled.Wall); got < want.wall-tick || got > want.wallAround+tick {
				t.Errorf("wall %v, the program measured %v inside and %v around", time.Duration(got),
					time.Duration(want.wall), time.Duration(want.wallAround))
			}
			if stalled.CPU < 0 || stalled.CPU > int64(stalled.Wall) {
				t.Errorf("CPU %v of %v", time.Duration(stalled.CPU), time.Duration(stalled.Wall))
			}
			if collected := row.name == "collecting"; collected != (stalled.GCCount > 2) || stalled.GCCount < 0 {
				t.Errorf("%d collections in %d ms", stalled.GCCount, stalled.GCMillis)
			}
			checkSamples(t, all, stalled, want, row.frame, row.owner != "")
			t.Logf("measured: %s: %d ms (%d to %d), %d ms of CPU (%d to %d), %d collections", row.name,
				stalled.Wall/1e6, want.wall/1e6, want.wallAround/1e6, stalled.CPU/1e6, want.cpu/1e6, want.cpuAround/1e6,
				stalled.GCCount)
		})
	}
}

// tick is how exact records are, in nanoseconds.
const tick = 1000

// checkSamples wants several samples of a slow call with a frame in them, and if it waits for a lock as many of the
// holder. Between two samples the thread cannot have had more CPU time than the program measured around the call.
func checkSamples(t *testing.T, all []trace.Chunk, stalled *trace.StallChunk, want stall, frame string, held bool) {
	t.Helper()
	own, holders := 0, 0
	first, last, latest := int64(-1), int64(-1), int64(-1)
	for _, c := range all {
		s, ok := c.(*trace.StackSample)
		if !ok || s.Nanos < stalled.Begin || s.Nanos > stalled.Begin+int64(stalled.Wall) {
			continue
		}
		stack := strings.Join(s.Frames, "\n")
		switch {
		case s.Thread == stalled.Thread && strings.Contains(stack, frame) && s.CPU >= 0:
			own++
			if first < 0 {
				first, last = s.CPU, s.CPU
			} else {
				// That of the sample before was read before this stack was taken, while the call went on.
				last, latest = latest, s.CPU
			}
		case s.Thread != stalled.Thread && strings.Contains(stack, "Driver.keep"):
			holders++
		}
	}
	if last < first || last-first > want.cpuAround {
		t.Errorf("CPU %v at the first sample and %v at the last, the program measured %v around", time.Duration(first),
			time.Duration(last), time.Duration(want.cpuAround))
	}
	if own < 2 || held != (holders > 1) {
		t.Errorf("%d samples in %s, %d of who holds the lock", own, frame, holders)
	}
}

// runStalls runs the program, and returns what it printed, and its recording.
func runStalls(t *testing.T, d driver) (map[string]stall, []trace.Chunk) {
	t.Helper()
	file := filepath.Join(d.dir, "stalls.tgd")
	out := d.record(t, file, []string{"-Dtracegen.slow=200", "-Dtracegen.tick=us"})
	truth := map[string]stall{}
	for line := range strings.Lines(out.text) {
		var name string
		var s stall
		if _, err := fmt.Sscan(line, &name, &s.wall, &s.wallAround, &s.cpu, &s.cpuAround); err != nil {
			t.Fatalf("the program said %q", out.text)
		}
		truth[name] = s
	}
	var all []trace.Chunk
	eachChunk(t, file, func(c trace.Chunk) { all = append(all, c) })
	return truth, all
}
