package meaning

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// phasesProgram has three phases of very many calls. Each runs for a time and not for a number of rounds, so that their
// shares do not depend on the machine. It prints how long each took by its own clock, in nanoseconds inside of the
// phase's method and around the call, and with a second argument how late a thread was that should sleep for 5 ms.
const phasesProgram = `import java.util.Random;
public class Driver {
    static long sum, inside;
` + manyCalls + `
    static void recursion(long nanos) {
        long t = System.nanoTime();
        while (System.nanoTime() - t < nanos) sum += fib(15);
        inside = System.nanoTime() - t;
    }
    static void strings(long nanos) {
        long t = System.nanoTime();
        StringBuilder b = new StringBuilder();
        for (int k = 0; System.nanoTime() - t < nanos; k++) { append(b, k); if (b.length() > 100000) b.setLength(0); }
        inside = System.nanoTime() - t;
    }
    static void sort(long nanos) {
        long t = System.nanoTime();
        for (int k = 0; System.nanoTime() - t < nanos; k++) {
            int[] a = new Random(k).ints(2000).toArray();
            quick(a, 0, a.length - 1);
        }
        inside = System.nanoTime() - t;
    }
    static void said(String phase, long since) {
        System.out.println(phase + " " + inside + " " + (System.nanoTime() - since));
    }
    public static void main(String[] args) throws Exception {
        String longest = args[0];
        Thread watch = new Thread(Driver::watch);
        watch.setDaemon(true);
        if (args.length > 1) watch.start();
        long t = System.nanoTime();
        recursion(longest.equals("recursion") ? 1700000000L : 500000000L);
        said("recursion", t);
        t = System.nanoTime();
        strings(longest.equals("strings") ? 1700000000L : 300000000L);
        said("strings", t);
        t = System.nanoTime();
        sort(longest.equals("sort") ? 1700000000L : 500000000L);
        said("sort", t);
        ended = true;
        watch.join();
        if (args.length > 1) System.out.println("latest " + latest + " " + latest);
    }
}
`

// phases are the methods of each phase. Any of them may be switched off, so that its time is its caller's.
var phases = map[string][]string{
	"recursion": {"recursion", "fib"},
	"strings":   {"strings", "append", "digit"},
	"sort":      {"sort", "quick", "less", "swap"},
}

// TestPhasesAreBlamed records a program of three phases, with another longest one each time, with default options. The
// verdict must name a method of the longest phase. With exact times, the phases' times must be those that the program
// measured.
//
// Invariant: In a program that makes very many calls, the verdict names a method of the phase that took longest.
func TestPhasesAreBlamed(t *testing.T) {
	nightly.Only(t, "programs")
	d := newDriver(t, 17, phasesProgram, pipeline.Config{})
	for longest, inside := range phases {
		t.Run(longest, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "phases.tgd")
			d.record(t, file, nil, longest)
			slow, found := analyzed(t, taken{file: file, mapping: d.mapping}, false)
			if len(slow) != 1 {
				t.Fatalf("%d stalls, want 1", len(slow))
			}
			v := slow[0].Verdict
			if v.Method == nil || !slices.Contains(inside, v.Method.Name) {
				t.Errorf("the reported method is %v, want one of %q: %s", v.Method, inside, v.Text)
			}
			// On a busy machine the thread may be off the processor, and few stack samples may be there to explain it.
			if slices.Contains([]analysis.Kind{analysis.KindGC, analysis.KindLock, analysis.KindIO, analysis.KindSleep,
				analysis.KindWait}, v.Kind) {
				t.Errorf("the verdict is %s: %s", v.Kind, v.Text)
			}
			t.Logf("measured: %s: %d calls left out; %s", longest, found, v.Text)
			// The times, in a second run with exact ones: by default the clock of the records is set by a thread that a busy
			// machine delays, by 350 ms once.
			exact := filepath.Join(t.TempDir(), "exact.tgd")
			out := d.record(t, exact, []string{"-Dtracegen.tick=us"}, longest)
			_, found = analyzed(t, taken{file: exact, mapping: d.mapping}, false)
			checkPhases(t, d.methods, readTotals(t, exact), out.text, tick)
			t.Logf("measured: %s: %d calls left out with exact times", longest, found)
		})
	}
}

// analyzed returns the stalls of a recording, the longest first, and how many calls were left out. It fails if a record
// is lost, if a repair was needed, or if no call was left out: then the program made too few to test anything. Of a
// program that throws exceptions, samples may show that they have ended calls; of any other that is a wrong repair.
func analyzed(t *testing.T, rec taken, throws bool) (slow []*analysis.Stall, leftOut uint64) {
	t.Helper()
	rec.analyze(t, analysis.Options{
		Stall: func(s *analysis.Stall) error { slow = append(slow, s); return nil },
		End: func(r *analysis.Recording) error {
			if r.Overwritten > 0 || r.Damage.LostChunks > 0 || !r.Damage.Closed {
				t.Errorf("%d records are lost, and the damage is %+v", r.Overwritten, r.Damage)
			}
			// Exceptions end calls, which needs no exit by default.
			t.Logf("measured: %+v", r.Repairs)
			if throws && r.Repairs.Contradicted <= r.Repairs.Unwound {
				r.Repairs.Contradicted = 0
			}
			r.Repairs.Unwound = 0
			if r.Repairs != (trace.Repairs{}) {
				t.Errorf("repairs were needed: %+v", r.Repairs)
			}
			return nil
		},
	})
	for _, c := range readTotals(t, rec.file).chunks {
		switch c := c.(type) {
		case *trace.Window:
			leftOut += c.Calls
		case *trace.LeftOut:
			for _, m := range c.Methods {
				leftOut += m.Calls
			}
		}
	}
	if leftOut == 0 {
		t.Error("no call was left out")
	}
	slices.SortStableFunc(slow, func(a, b *analysis.Stall) int { return int(b.Wall - a.Wall) })
	return slow, leftOut
}

// TestCorpusPauseAmongCalls plants a pause among very many calls of a real program, which is recorded with default
// options. The analysis must name the method that sleeps.
func TestCorpusPauseAmongCalls(t *testing.T) {
	nightly.Only(t, "programs")
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	p := planted{
		program: program{name: "Groovy sleeps", jars: []string{"groovy-4.0.28"},
			files: []string{"plant/Pause.java", "plant/pause.groovy"},
			args:  []string{"groovy.ui.GroovyMain", "pause.groovy"}},
		kind: analysis.KindSleep, method: "plant.Pause.rest",
		path: []string{"plant.Pause.take", "plant.Pause.wind", "plant.Pause.rest"},
	}
	slow, leftOut := analyzed(t, newRunner(t, p.program, j, "").record(t, jars.JVM), true)
	if len(slow) == 0 {
		t.Fatal("nothing was slow")
	}
	p.checkVerdict(t, slow[0])
	t.Logf("measured: %d calls left out; %s", leftOut, slow[0].Verdict.Text)
}
