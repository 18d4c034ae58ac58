package meaning

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// serverProgram has a pool of its own: four threads whose loops last as long as the program, and three kinds of
// requests. One of them fails, one handles another one, and one is slow: it lasts for a number of beats, as in
// [stallingProgram]. The program prints how long the slow one took by a clock of its own, inside of the call and
// around.
const serverProgram = `import java.util.concurrent.*;
class Worker extends Thread {
    final BlockingQueue<Integer> queue;
    Worker(BlockingQueue<Integer> queue, int number) { super("worker-" + number); this.queue = queue; }
    public void run() {
        // Each thread handles a request, also if the machine is busy: a thread that never did is no thread of a pool.
        try { Server.dispatch(1); } catch (InterruptedException e) { return; }
        while (loop()) { }
    }
    boolean loop() {
        try {
            int request = queue.take();
            if (request < 0) return false;
            long around = -System.nanoTime();
            try { Server.dispatch(request); } catch (IllegalStateException e) { Driver.failed.incrementAndGet(); }
            if (request == 3) Driver.around = around + System.nanoTime();
            Driver.done.countDown();
            return true;
        } catch (InterruptedException e) { return false; }
    }
}
class Server {
    static void dispatch(int request) throws InterruptedException {
        switch (request) {
        case 1: handlePing(request); break;
        case 2: handleList(request); break;
        case 3: handleReport(); break;
        case 4: handlePing(-1); break;
        default: handleList(0);
        }
    }
    static void handlePing(int n) { if (n < 0) fail(n); Driver.sum += n; }
    static void fail(int n) { throw new IllegalStateException(); }
    static void handleList(int n) { if (n > 0) handleList(n - 1); handlePing(n); }
    static void handleReport() throws InterruptedException {
        long inside = -System.nanoTime();
        Driver.until = Driver.beats + 60;
        while (Driver.beats < Driver.until) Thread.sleep(20);
        Driver.inside = inside + System.nanoTime();
    }
}
public class Driver {
    static volatile int beats, until, sum;
    static final java.util.concurrent.atomic.AtomicInteger failed = new java.util.concurrent.atomic.AtomicInteger();
    static volatile long inside, around;
    static final CountDownLatch done = new CountDownLatch(44);
    public static void main(String[] args) throws Exception {
        Thread beating = new Thread("beating") {
            public void run() {
                for (;; beats++) try { Thread.sleep(20); } catch (InterruptedException e) { return; }
            }
        };
        beating.setDaemon(true);
        beating.start();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        Worker[] workers = new Worker[4];
        for (int k = 0; k < workers.length; k++) (workers[k] = new Worker(queue, k)).start();
        for (int k = 0; k < 20; k++) queue.add(1 + k % 2);
        queue.add(3);
        for (int k = 0; k < 23; k++) queue.add(1 + k % 2 * 3);
        done.await();
        // All that was idle until now is longer than the threshold.
        until = beats + 30;
        while (beats < until) Thread.sleep(20);
        for (Worker w : workers) queue.add(-1);
        for (Worker w : workers) w.join();
        System.out.println("result " + inside + " " + around + " " + failed);
    }
}`

// handlers returns the IDs of the methods of Server that handle requests.
func handlers(t *testing.T, mapping string) []string {
	t.Helper()
	text := fixture.Read(t, mapping)
	var ids []string
	for line := range strings.Lines(string(text)) {
		if id, method, ok := strings.Cut(line, ","); ok && strings.Contains(method, ",Server handle") {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestServer names the slow request of a server by its method and its time. The threads of the pool, which wait most of
// the time, are no stall.
//
// Invariant: A request that was declared to be a message is measured by itself, on a thread of a pool whose own calls
// never end.
func TestServer(t *testing.T) {
	nightly.Only(t, "programs")
	for _, row := range []struct {
		name    string
		rule    string
		flags   func(mapping string) []string
		samples bool // the device knows the methods
	}{
		{"by the mapping", "Server#handle*", func(m string) []string { return []string{"-Dtracegen.mapping=" + m} }, true},
		{"by a property", "", func(m string) []string {
			return []string{"-Dtracegen.message=" + strings.Join(handlers(t, m), ",")}
		}, true},
		{"when it is analyzed", "Server#handle*", func(string) []string { return nil }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			stalls, inside, around := runServer(t, row.rule, row.flags)
			slow := 0
			for _, s := range stalls {
				m := s.Message.Method
				if m == nil || m.Class != "Server" || !strings.HasPrefix(m.Name, "handle") {
					t.Errorf("%s is no request: %v", s.Title(), s.Message)
					continue
				}
				if m.Name != "handleReport" {
					continue // the machine was busy
				}
				slow++
				if s.Wall < inside-tick || s.Wall > around+tick || !s.Ended {
					t.Errorf("wall %v, the program measured %v inside and %v around; ended: %v", s.Wall, inside, around, s.Ended)
				}
				if row.samples && (len(s.Samples) == 0 || !s.Reported || s.Verdict.Kind != analysis.KindSleep) {
					t.Errorf("%d samples, reported %v, verdict %v", len(s.Samples), s.Reported, s.Verdict)
				}
				if len(s.HotPath) == 0 || s.HotPath[0].Method.Name != "handleReport" {
					t.Errorf("the hot path is %v", s.HotPath)
				}
			}
			if slow != 1 {
				t.Errorf("%d stalls are the slow request", slow)
			}
		})
	}
}

// runServer instruments and runs the server, and returns the stalls, and how long the slow request took.
func runServer(t *testing.T, rule string, flags func(mapping string) []string) (stalls []*analysis.Stall,
	inside, around time.Duration) {
	t.Helper()
	c := pipeline.Config{Inject: inject.Options{Exits: inject.ExitsExact}}
	if rule != "" {
		message, err := filter.ParseMessage(rule, filter.Position{})
		if err != nil {
			t.Fatal(err)
		}
		c.Messages = []filter.Rule{message}
	}
	d := newDriver(t, 17, serverProgram, c)
	file := filepath.Join(d.dir, "server.tgd")
	out := d.record(t, file, append(flags(d.mapping), "-Dtracegen.threads=all", "-Dtracegen.slow=200",
		"-Dtracegen.tick=us"))
	failed := 0
	// The runtime's log is there, too.
	_, said, _ := strings.Cut(out.text, "result ")
	if _, err := fmt.Sscan(said, &inside, &around, &failed); err != nil || failed != 11 {
		t.Fatalf("the program said %q", out.text)
	}
	taken{file: file, mapping: d.mapping}.analyze(t, analysis.Options{Stall: func(s *analysis.Stall) error {
		if thread := s.Thread.Name; strings.HasPrefix(thread, "worker-") {
			stalls = append(stalls, s)
		}
		return nil
	}})
	return stalls, inside, around
}
