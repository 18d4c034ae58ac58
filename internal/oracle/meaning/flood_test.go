package meaning

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// manyCalls is the methods of a class that make very many calls: a recursion, texts, and a sort; and a
// thread that measures how late the clock of the records may be.
const manyCalls = `    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static char digit(int k) { return (char) ('0' + k % 10); }
    static void append(StringBuilder b, int k) { b.append(digit(k)); b.append(digit(k / 10)); }
    static boolean less(int a, int b) { return a < b; }
    static void swap(int[] a, int i, int j) { int t = a[i]; a[i] = a[j]; a[j] = t; }
    static void quick(int[] a, int lo, int hi) {
        if (lo >= hi) return;
        int p = a[(lo + hi) >>> 1], i = lo, j = hi;
        while (i <= j) {
            while (less(a[i], p)) i++;
            while (less(p, a[j])) j--;
            if (i <= j) swap(a, i++, j--);
        }
        quick(a, lo, j);
        quick(a, i, hi);
    }

    // How long a thread may have to wait for a processor: it should sleep for 5 ms, as the clock of the records does.
    static volatile long latest;
    static volatile boolean ended;
    static void watch() {
        for (long t = System.nanoTime(); !ended; t = System.nanoTime()) {
            java.util.concurrent.locks.LockSupport.parkNanos(5000000);
            latest = Math.max(latest, System.nanoTime() - t - 5000000);
        }
    }
`

// totals sums the time of each method's calls, without those below a call of the same method, and keeps the chunks.
type totals struct {
	nanos   map[trace.Method]int64
	repairs trace.Repairs
	chunks  []trace.Chunk
}

func (s *totals) Chunk(c trace.Chunk) error        { s.chunks = append(s.chunks, c); return nil }
func (s *totals) Named(trace.Method, string) error { return nil }
func (s *totals) Segment(g *trace.Segment) error {
	s.repairs.Add(g.Repairs)
	for i := range g.Calls {
		c := &g.Calls[i]
		outer := c.Parent
		for outer >= 0 && g.Calls[outer].Method != c.Method {
			outer = g.Calls[outer].Parent
		}
		if outer < 0 {
			s.nanos[c.Method] += c.End - c.Begin
		}
	}
	return nil
}

func readTotals(t *testing.T, file string) *totals {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := &totals{nanos: map[trace.Method]int64{}}
	if err := trace.Replay(r, s, trace.ReplayOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := r.Damage(); d.Malformed > 0 || d.LostChunks > 0 {
		t.Errorf("the recording is damaged: %+v", d)
	}
	return s
}

// jump returns the longest time between two records of a thread, in nanoseconds. Without exact times the clock of the
// records is set by a thread that a busy machine delays. A record is at most so much too early as the next ones then
// jump.
func (s *totals) jump() int64 {
	var longest, unit int64
	last := map[uint32]int64{}
	for _, c := range s.chunks {
		switch c := c.(type) {
		case *trace.Meta:
			d, _ := c.Tick()
			unit = d.Nanoseconds()
		case *trace.Records:
			for _, r := range c.List {
				if before, ok := last[c.Thread]; ok {
					longest = max(longest, (r.Ticks()-before)*unit)
				}
				last[c.Thread] = r.Ticks()
			}
		}
	}
	return longest
}

// TestFloodIsNotLost records a program that makes calls faster than they can be written.
//
// Invariant: A call-dense program loses no record by default, and the phases' times are those that it measures itself.
func TestFloodIsNotLost(t *testing.T) {
	nightly.Only(t, "programs")
	d := newDriver(t, 17, phasesProgram, pipeline.Config{})
	for _, row := range []struct {
		name  string
		exact bool
		flags []string
	}{
		{"default", false, nil},
		{"small ring", true, []string{"-Dtracegen.tick=us", "-Dtracegen.ring=1024"}},
		{"exact times", true, []string{"-Dtracegen.tick=us", "-Dtracegen.threads=all"}},
		{"windows only", false, []string{"-Dtracegen.gate=off"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "flood.tgd")
			out := d.record(t, file, row.flags, "sort", "watched")
			got := readTotals(t, file)
			var windows, leftOut, gates uint64
			slack := int64(tick)
			if !row.exact {
				slack = 2 * (got.jump() + int64(10*time.Millisecond))
			}
			for _, c := range got.chunks {
				switch c := c.(type) {
				case *trace.Window:
					windows += c.Calls
				case *trace.LeftOut:
					for _, m := range c.Methods {
						leftOut += m.Calls
					}
				case *trace.Gate:
					gates++
				}
			}
			if got.repairs != (trace.Repairs{}) {
				t.Errorf("repairs were needed: %+v", got.repairs)
			}
			if _, late, _ := strings.Cut(out.text, "latest "); !row.exact {
				var latest int64
				if _, err := fmt.Sscan(late, &latest); err != nil {
					t.Fatalf("the program said %q", out.text)
				}
				slack += 2 * latest
			}
			checkPhases(t, d.methods, got, out.text, slack)
			t.Logf("measured: %s: 0 lost, %d calls left out in windows, %d by the gate in %d changes",
				row.name, windows, leftOut, gates)
		})
	}
}

// checkPhases compares the times of phases with those that the program printed: the call lasts longer than the
// method measures inside, and not as long as its caller measures around it.
func checkPhases(t *testing.T, methods *mapping.Mapping, got *totals, text string, slack int64) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "tracegen: ") {
			continue // On a busy machine, stack samples may be lost.
		}
		var phase string
		var inside, around int64
		if _, err := fmt.Sscan(line, &phase, &inside, &around); err != nil {
			t.Fatalf("the program said %q", text)
		}
		if phase == "latest" {
			continue
		}
		id, ok := methodID(methods, phase)
		if !ok {
			t.Fatalf("no method %s in the mapping", phase)
		}
		if d := got.nanos[id]; d < inside-slack || d > around+slack {
			t.Errorf("%s took %v, the program measured %v inside and %v around, to %v", phase, time.Duration(d),
				time.Duration(inside), time.Duration(around), time.Duration(slack))
		}
	}
}

// methodID returns the ID of the method of a name.
func methodID(methods *mapping.Mapping, name string) (trace.Method, bool) {
	for id := uint32(1); id < trace.MethodDispatch; id++ {
		if e, ok := methods.ByID(id); ok && e.Name == name {
			return trace.Method(id), true
		}
	}
	return 0, false
}
