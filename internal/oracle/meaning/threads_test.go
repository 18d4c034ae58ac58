package meaning

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/trace"
)

// manyThreads is a program with many threads. Only the methods of Work are traced, and Driver counts how many calls of
// them were made, so that the test knows how many records there must be.
const manyThreads = `import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
class Work {
    static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
}
public class Driver {
    static final LongAdder sum = new LongAdder(), calls = new LongAdder();
    static long callsOf(int n) { return n < 2 ? 1 : 1 + callsOf(n - 1) + callsOf(n - 2); }
    static void work(int n) { sum.add(Work.fib(n)); calls.add(callsOf(n)); }
    static Thread start(boolean virtual, Runnable r) throws Exception {
        if (virtual) return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
        Thread t = new Thread(r);
        t.start();
        return t;
    }
    // Threads that begin and end, so many at a time.
    static void brief(int threads, int atATime, int n) throws Exception {
        Semaphore free = new Semaphore(atATime);
        for (int k = 0; k < threads; k++) {
            free.acquire();
            start(false, () -> { try { work(n); } finally { free.release(); } });
        }
        free.acquire(atATime);
    }
    // Threads that all live until each of them has made its calls twice, or for ever.
    static void live(boolean virtual, int threads, int n, boolean ends) throws Exception {
        CountDownLatch begun = new CountDownLatch(threads), go = new CountDownLatch(1);
        Thread[] all = new Thread[threads];
        for (int k = 0; k < threads; k++) {
            all[k] = start(virtual, () -> {
                try { work(n); begun.countDown(); go.await(); work(n); } catch (InterruptedException e) { }
            });
        }
        begun.await();
        if (ends) go.countDown(); else System.out.println("ready");
        for (Thread t : all) t.join();
    }
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]), n = Integer.parseInt(args[2]);
        Work.fib(3);
        calls.add(callsOf(3));
        switch (args[0]) {
            case "one": brief(threads, 1, n); break;
            case "fifty": brief(threads, 50, n); break;
            case "live": live(false, threads, n, true); break;
            case "virtual": live(true, threads, n, true); break;
            default: live(true, threads, n, false);
        }
        System.out.println("sum " + sum.sum() + " calls " + calls.sum());
        System.exit(7);
    }
}`

// threadsBench is the program of many threads.
type threadsBench struct{ driver }

// run starts the program and waits for its end. If the arguments are of a program that does not end, it sends SIGTERM
// when the program is ready.
func (b threadsBench) run(t *testing.T, path string, flags, args []string) (out string, code int, errors string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.jdk.Tool("java"), append(append(flags[:len(flags):len(flags)],
		"-cp", path, "Driver"), args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if lines.Text() == "ready" {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // its exit code is an outcome
	if ctx.Err() != nil {
		t.Fatalf("%v did not end\n%s", args, tail(stderr.String()))
	}
	return text.String(), cmd.ProcessState.ExitCode(), stderr.String()
}

// accounts is what a recording says about the number of records.
type accounts struct {
	written, lost, leftOut, dropped uint64
	threads                         int
	virtual                         uint64 // threads that are not recorded
}

func (a accounts) all() uint64 { return a.written + a.lost + a.leftOut + a.dropped }

// account reads all parts of a recording and fails the test if one is damaged.
func account(t *testing.T, file string) (a accounts) {
	t.Helper()
	files, err := filepath.Glob(strings.TrimSuffix(file, ".tgd") + "*.tgd")
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no recording: %v", err)
	}
	for _, name := range files {
		damage := eachChunk(t, name, func(c trace.Chunk) {
			switch c := c.(type) {
			case *trace.Threads:
				a.threads += len(c.List)
			case *trace.Records:
				a.written += uint64(len(c.List))
				a.lost += c.Overwritten
			case *trace.Window:
				a.leftOut += 2 * c.Calls
			case *trace.LeftOut:
				for _, m := range c.Methods {
					a.leftOut += 2 * m.Calls
				}
			case *trace.Dropped:
				for _, d := range c.List {
					switch d.Kind {
					case trace.DroppedRecords:
						a.dropped += d.Count
					case trace.DroppedVirtual:
						a.virtual += d.Count
					}
				}
			}
		})
		if d := damage; !d.Closed || d.Malformed+d.LostChunks > 0 || d.SkippedBytes > 0 {
			t.Errorf("%s: %+v", filepath.Base(name), d)
		}
	}
	return a
}

// TestManyThreads runs programs with many threads in small heaps, as they are and with all threads recorded.
//
// Invariant: With threads=all a program with many threads has the output and the exit code that it has without
// tracegen, in the same heap, and the number of records that were written and that are said to be missing is exactly
// that of its calls.
func TestManyThreads(t *testing.T) {
	nightly.Only(t, "programs")
	// Virtual threads are of release 21. The other rows do not depend on the release.
	b := threadsBench{newDriver(t, 21, manyThreads, pipeline.Config{Filter: withoutDriver(t)})}
	for _, row := range []struct {
		name    string
		heap    []string
		threads string
		args    []string
		// recorded is how many of its threads must be in the recording, besides the main thread; -1 for any number.
		recorded int
	}{
		{"one at a time", []string{"-XX:+UseG1GC", "-Xmx128m"}, "all", []string{"one", "400", "16"}, 400},
		{"fifty at a time in 512 MB", []string{"-Xmx512m"}, "all", []string{"fifty", "100000", "3"}, -1},
		{"fifty at a time in 64 MB", []string{"-Xmx64m"}, "all", []string{"fifty", "100000", "3"}, -1},
		{"fifty at a time in 30 MB", []string{"-Xmx30m"}, "all", []string{"fifty", "100000", "3"}, -1},
		{"many live ones in 256 MB", []string{"-Xmx256m"}, "all", []string{"live", "1500", "14"}, -1},
		{"many live ones in 1 GB", []string{"-Xmx1g"}, "all", []string{"live", "1500", "14"}, 1500},
		{"virtual ones", []string{"-Xmx512m"}, "all", []string{"virtual", "20000", "12"}, 0},
		{"5,000 virtual ones that are recorded", []string{"-Xmx1g"}, "all,virtual",
			[]string{"virtual", "5000", "12"}, 5000},
		{"20,000 virtual ones that are recorded", []string{"-Xmx512m"}, "all,virtual",
			[]string{"virtual", "20000", "12"}, -1},
		{"2,000 virtual ones and SIGTERM", []string{"-Xmx512m"}, "all,virtual", []string{"endless", "2000", "12"}, -1},
		{"20,000 virtual ones and SIGTERM", []string{"-Xmx512m"}, "all,virtual", []string{"endless", "20000", "12"}, -1},
		{"virtual ones and SIGTERM", []string{"-Xmx512m"}, "all", []string{"endless", "20000", "12"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			want, wantCode, stderr := b.run(t, b.plain, row.heap, row.args)
			if wantCode != 7 && wantCode != 143 && wantCode != -1 {
				t.Fatalf("the program fails without tracegen: exit code %d\n%s", wantCode, tail(stderr))
			}
			// The memory of threads that have ended is free when the recorder has had its turn. On a busy machine others may
			// find no memory before that, but not each time.
			for try := 1; !t.Failed(); try++ {
				a := b.recordThreads(t, append([]string{"-Dtracegen.threads=" + row.threads, "-Dtracegen.gate=counted"},
					row.heap...), row.args, want,
					wantCode)
				if row.recorded < 0 || a.threads == row.recorded+1 {
					return
				}
				if a.dropped == 0 || try == 5 {
					t.Errorf("%d threads are recorded, want %d", a.threads, row.recorded+1)
				}
			}
		})
	}
}

// recordThreads records the program once, compares its outcome with that without tracegen, and the number of records
// with that of its calls.
func (b threadsBench) recordThreads(t *testing.T, flags, args []string, want string, wantCode int) accounts {
	t.Helper()
	file := filepath.Join(t.TempDir(), "threads.tgd")
	got, code, stderr := b.run(t, b.path, append([]string{"-Dtracegen.output=" + file}, flags...), args)
	if got != want || code != wantCode {
		t.Errorf("it printed %q and ended with %d, without tracegen it printed %q and ended with %d\n%s", got, code, want,
			wantCode, tail(stderr))
	}
	if strings.Contains(stderr, "Error") {
		t.Errorf("an error was seen:\n%s", tail(stderr))
	}
	a := account(t, file)
	t.Logf("measured: %s: %d records, %d lost, %d left out, %d dropped, %d threads; the log says: %s", t.Name(),
		a.written, a.lost, a.leftOut, a.dropped, a.threads, stderr)
	var sum, calls uint64
	if _, err := fmt.Sscanf(got, "sum %d calls %d", &sum, &calls); err != nil {
		return a // it was ended by a signal
	}
	if args[0] == "virtual" && flags[0] == "-Dtracegen.threads=all" {
		calls = 5 // those of the main thread
		if n, err := strconv.ParseUint(args[1], 10, 64); err != nil || a.virtual != n {
			t.Errorf("%d virtual threads are said not to be recorded, want %s", a.virtual, args[1])
		}
	}
	if a.all() != 2*calls {
		t.Errorf("the recording has an account of %d records, want %d", a.all(), 2*calls)
	}
	return a
}
