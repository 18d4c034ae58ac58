package meaning

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/foreign"
)

// waitsProgram waits in many ways, each in a method and on a thread of its own. A method "hold..." has what a method
// "wait..." waits for.
const waitsProgram = `import java.lang.reflect.Method;
import java.net.*;
import java.nio.channels.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
class Driver {
    static final int MILLIS = 4000;
    static final Object monitor = new Object();
    static final ReentrantLock reentrant = new ReentrantLock();
    static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    static final ReentrantReadWriteLock writeRead = new ReentrantReadWriteLock();
    static final StampedLock stamped = new StampedLock();
    static final ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
    static final ExecutorService pool = Executors.newCachedThreadPool(r -> daemon(r, "pool"));
    static int sink;
    static class Slow { static int x; static { pause(); x = 3; } }

    static Thread daemon(Runnable r, String name) { Thread t = new Thread(r, name); t.setDaemon(true); return t; }
    static void pause() { try { Thread.sleep(MILLIS); } catch (InterruptedException e) { throw new Error(e); } }

    static void holdMonitor() { synchronized (monitor) { pause(); } }
    static void holdReentrant() { reentrant.lock(); pause(); reentrant.unlock(); }
    static void holdWrite() { readWrite.writeLock().lock(); pause(); readWrite.writeLock().unlock(); }
    static void holdRead() { writeRead.readLock().lock(); pause(); writeRead.readLock().unlock(); }
    static void holdStamped() { long s = stamped.writeLock(); pause(); stamped.unlockWrite(s); }
    static void holdMap() { map.computeIfAbsent("x", k -> { pause(); return "a"; }); }
    static void holdClass() { sink += Slow.x; }

    static void waitMonitor() { synchronized (monitor) { sink++; } }
    static void waitReentrant() throws Exception { reentrant.tryLock(MILLIS * 2, TimeUnit.MILLISECONDS); }
    static void waitWrite() { readWrite.readLock().lock(); readWrite.readLock().unlock(); }
    static void waitRead() { writeRead.writeLock().lock(); writeRead.writeLock().unlock(); }
    static void waitStamped() { stamped.unlockRead(stamped.readLock()); }
    static void waitMap() { map.computeIfAbsent("x", k -> "b"); }
    static void waitClass() { sink += Slow.x; }

    static void condition() throws Exception {
        ReentrantLock l = new ReentrantLock();
        l.lock();
        l.newCondition().await(MILLIS, TimeUnit.MILLISECONDS);
    }
    static void objectWait() throws Exception { Object o = new Object(); synchronized (o) { o.wait(MILLIS); } }
    static void futureGet() throws Exception { pool.submit(Driver::pause).get(); }
    static void futureJoin() { CompletableFuture.runAsync(Driver::pause, pool).join(); }
    static void forkJoin() { new ForkJoinPool(1).submit(Driver::pause).join(); }
    static void threadJoin() throws Exception { Thread t = daemon(Driver::pause, "joined"); t.start(); t.join(); }
    static void latch() throws Exception { new CountDownLatch(1).await(MILLIS, TimeUnit.MILLISECONDS); }
    static void queue() throws Exception { new LinkedBlockingQueue<String>().poll(MILLIS, TimeUnit.MILLISECONDS); }
    static void semaphore() throws Exception { new Semaphore(0).tryAcquire(MILLIS, TimeUnit.MILLISECONDS); }
    static void park() { LockSupport.parkNanos(MILLIS * 1000000L); }
    static void sleep() throws Exception { TimeUnit.MILLISECONDS.sleep(MILLIS); }
    static void select() throws Exception { Selector.open().select(MILLIS); }
    static void accept() throws Exception {
        ServerSocket s = new ServerSocket(0);
        s.setSoTimeout(MILLIS);
        try { s.accept(); } catch (SocketTimeoutException e) { sink++; }
    }
    static void read() throws Exception {
        ServerSocket s = new ServerSocket(0);
        Socket c = new Socket("localhost", s.getLocalPort());
        c.setSoTimeout(MILLIS);
        try { c.getInputStream().read(); } catch (SocketTimeoutException e) { sink++; }
    }
    static void process() throws Exception { new ProcessBuilder("sleep", "4").start().waitFor(); }

    static Thread start(boolean virtual, Method m) throws Exception {
        Runnable r = () -> { try { m.invoke(null); } catch (Exception e) { e.printStackTrace(); } };
        if (!virtual) { Thread t = new Thread(r, m.getName()); t.start(); return t; }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, m.getName());
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, r);
    }
    public static void main(String[] args) throws Exception {
        List<Thread> all = new ArrayList<>();
        for (boolean holds : new boolean[] {true, false}) {
            for (Method m : Driver.class.getDeclaredMethods()) {
                boolean waits = m.getParameterCount() == 0 && !m.isSynthetic() && !m.getName().equals("pause");
                if (waits && m.getName().startsWith("hold") == holds) all.add(start(args.length > 0, m));
            }
            Thread.sleep(500);
        }
        for (Thread t : all) t.join();
        System.exit(0);
    }
}`

// waitsIn says what a thread does in each method of the program.
var waitsIn = map[string]foreign.Activity{
	"waitMonitor": foreign.ActivityLock, "waitReentrant": foreign.ActivityLock, "waitWrite": foreign.ActivityLock,
	"waitRead": foreign.ActivityLock, "waitStamped": foreign.ActivityLock, "waitMap": foreign.ActivityLock,
	"waitClass": foreign.ActivityLock, "condition": foreign.ActivityWait, "objectWait": foreign.ActivityWait,
	"futureGet": foreign.ActivityWait, "futureJoin": foreign.ActivityWait, "forkJoin": foreign.ActivityWait,
	"threadJoin": foreign.ActivityWait, "latch": foreign.ActivityWait, "queue": foreign.ActivityWait,
	"semaphore": foreign.ActivityWait, "park": foreign.ActivityWait, "sleep": foreign.ActivitySleep,
	"select": foreign.ActivityNetwork, "accept": foreign.ActivityNetwork, "read": foreign.ActivityNetwork,
	"process": foreign.ActivityProcess, "pause": foreign.ActivitySleep,
}

// TestWaits records a program that waits in many ways, on threads of all kinds and JDKs.
//
// Invariant: No sample of a thread that waits says that it waits for something else, most say for what it waits, and no
// thread is said to hold a lock that another one holds.
func TestWaits(t *testing.T) {
	nightly.Only(t, "programs")
	d := newDriver(t, 17, waitsProgram, pipeline.Config{})
	jdks, err := oracle.FindJDKs()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jdks {
		for _, kind := range []string{"platform", "virtual"} {
			args, threads := []string{}, "all"
			if kind == "virtual" {
				args, threads = []string{kind}, "all,virtual"
			}
			if j.Feature < 17 || kind == "virtual" && j.Feature < 21 {
				continue
			}
			t.Run(filepath.Base(j.Home)+" "+kind, func(t *testing.T) {
				d.jdk = j
				seen := map[string]*waitSamples{}
				// On a very busy machine, the sampler may not have its turn while the program waits.
				for run := 0; run < 5 && len(seen) < len(waitsIn)/2; run++ {
					file := filepath.Join(t.TempDir(), "waits.tgd")
					d.record(t, file, []string{"-Dtracegen.threads=" + threads}, args...)
					taken{file: file, mapping: d.mapping}.analyze(t, analysis.Options{Stall: func(s *analysis.Stall) error {
						checkWait(t, s, seen)
						return nil
					}})
				}
				for method, of := range seen {
					t.Logf("measured: %d of %d samples show how the thread waits in %s", of.right, of.all, method)
					if of.right*2 <= of.all && !(kind == "virtual" && method == "waitClass") {
						t.Errorf("%d of %d samples show how the thread waits in %s", of.right, of.all, method)
					}
				}
				if len(seen) < len(waitsIn)/2 {
					t.Errorf("samples in %d of %d methods", len(seen), len(waitsIn))
				}
			})
		}
	}
}

// waitSamples is how many samples there are in a method, and how many of them show how it waits. A virtual thread that
// waits for a class to be ready runs, as far as the JVM says, and no sample shows which thread makes it ready.
type waitSamples struct{ all, right int }

// checkWait compares the samples of a stall with what its thread did, and adds how many of them show that it waited.
func checkWait(t *testing.T, s *analysis.Stall, seen map[string]*waitSamples) {
	for _, sample := range s.Samples {
		method := foreign.FrameMethod(foreign.FirstOfApp(sample.Frames))
		name := strings.TrimPrefix(method, "Driver.")
		want, ok := waitsIn[name]
		if !ok {
			continue
		}
		if seen[name] == nil {
			seen[name] = &waitSamples{}
		}
		seen[name].all++
		switch a := sample.Activity; {
		case a == want:
			seen[name].right++
		case !a.Runs() && a != foreign.ActivityFile: // before it waits; what loads classes reads files
			t.Errorf("%s: %s in %s, want %s:\n%s", s.Title(), a, sample.State, want, strings.Join(sample.Frames, "\n"))
		}
	}
	name := s.Thread.Name
	held, waits := strings.CutPrefix(name, "wait")
	if s.LockOwner != "" && !(waits && strings.HasPrefix(s.LockOwner, "hold"+held+" #")) {
		t.Errorf("%s: %s on thread %s", s.Title(), s.LockOwner, name)
	}
}
