package answer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// blocked is a thread of a trace that waits for a lock and has one.
func blocked(name string, id, waits, holder, locked int) string {
	return fmt.Sprintf("%q prio=5 tid=%d Blocked\n  at a.b.c(SourceFile:1)\n"+
		"  - waiting to lock <0x%d> (a a.b) held by thread %d\n"+
		"  - locked <0x%d> (a a.b)\n\n", name, id, waits, holder, locked)
}

// TestWriteTrace: all circles are shown, with the names of the source, and a process that is cut off says so.
func TestWriteTrace(t *testing.T) {
	by, err := r8.Parse("m", "x.Store -> a.b:\n    1:1:void read():12:12 -> c\n")
	if err != nil {
		t.Fatal(err)
	}
	text := "----- pid 7 at now -----\nCmd line: app\n\n" + blocked("main", 1, 2, 2, 1) + blocked("two", 2, 3, 3, 2) +
		blocked("three", 3, 1, 1, 3) + blocked("four", 4, 5, 5, 4) + blocked("five", 5, 4, 4, 5) +
		blocked("six", 6, 1, 1, 6) + "----- end 7 -----\n\n----- pid 8 at then -----\n" + blocked("main", 1, 9, 9, 1)
	var b bytes.Buffer
	if err := WriteTrace(&b, "f", resolve.ReadTrace(text, by)); err != nil {
		t.Fatal(err)
	}
	const want = `f: process 7, app, now: 6 threads
  deadlock main in x.Store.read waits for x.Store@0x2 held by two, two in x.Store.read waits for x.Store@0x3 held by ` +
		`three, three in x.Store.read waits for x.Store@0x1 held by main
  deadlock four in x.Store.read waits for x.Store@0x5 held by five, five in x.Store.read waits for x.Store@0x4 held by four
  main     Blocked; in a deadlock
             at x.Store.read(Store.java:12)

f: process 8, then: 1 thread; the text is cut off, so that threads and deadlocks may be missing
  deadlock cannot be known from this text: it is cut off; it does not show which thread holds x.Store, for which main in ` +
		`x.Store.read waits
  main     Blocked; main waits for x.Store, the trace does not show its holder
             at x.Store.read(Store.java:12)

`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestExitLocks: deadlocks in the system's trace are reported although no stall was open, and a trace that is as long
// as the runtime keeps it is called cut off.
//
// Invariant: Of any stacks, exactly the circles of locks are reported as deadlocks.
func TestExitLocks(t *testing.T) {
	trace := blocked("one", 1, 2, 2, 1) + blocked("two", 2, 1, 1, 2)
	for long, want := range map[bool]string{false: "by anr:\n  one in a.b.c waits for a.b@0x2 held by two, two in " +
		"a.b.c waits for a.b@0x1 held by one\n\n",
		true: "held by one\n  the trace is cut off at 256 KiB, so that threads and " +
			"deadlocks may be missing\n"} {
		text := trace
		if long {
			text += strings.Repeat("x", (256<<10)-len(text))
		}
		text = strings.NewReplacer("\n", `\n`, `"`, "'").Replace(text)
		got := reportOf(t, "header minor=3\nmeta slowMillis=700\nclock now=0\nexit reason=anr pid=5 trace=\""+text+"\"",
			analysis.Options{})
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q: %s", want, got)
		}
	}
}
