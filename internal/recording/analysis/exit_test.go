package analysis

import (
	"strings"
	"testing"
)

// exitTape is a message of the main thread that has not ended: it is in load for 5 s.
const exitTape = `header minor=3
meta slowMillis=700 clockPeriodMillis=5 records=all
clock now=0 wall=1795341600000
thread index=0 name=main main=1
thread index=1 name=worker
records thread=THREAD first=0 list="+1048574@0 +97@10"
alive now=5000 thread=THREAD message=0 state=RUNNABLE what="Handler (a.H) {1a} null: 7"
`

// TestExit joins hangs with what the system says of the end of the process.
//
// Invariant: A hang is called an ANR only if the system says that the process ended by one.
func TestExit(t *testing.T) {
	const stuck = "stuck for at least 4.99 s in #97 (no stack sample was taken; state RUNNABLE)"
	main := func(frames string) string {
		return `trace="----- pid 7 -----\n\n'Signal Catcher' daemon prio=10 tid=6 Runnable\n  at a.No.no(No.java:1)\n\n'main' prio=5 ` +
			`tid=1 Blocked\n  | group='main'\n  native: #00 pc 1 libc.so\n` + frames + `\n'x' prio=5 tid=9 Native\n  at a.B.c(N.java:2)\n"`
	}
	for _, c := range []struct{ name, exit, thread, want string }{
		{"none", "", "0", stuck},
		{"an ANR", "exit reason=anr wallMillis=1795341606250", "0", stuck + "; the process ended by anr " +
			"(ApplicationExitInfo) 1.25 s after it was last seen"},
		{"the clock was set back", "exit reason=anr wallMillis=1795341600250", "0", stuck + "; the process ended by anr " +
			"(ApplicationExitInfo)"},
		{"the system's trace", "exit reason=anr " + main(`  at java.lang.Object.wait(Native method)\n  at b.C.d(C.java:5)\n`), "0",
			stuck + "; the process ended by anr (ApplicationExitInfo); the system's trace shows the main thread in b.C.d"},
		{"only frames of the platform", "exit reason=anr " + main(`  at java.lang.Object.wait(Native method)\n`), "0",
			stuck + "; the process ended by anr (ApplicationExitInfo)"},
		{"no main thread", `exit reason=anr trace="----- pid 7 -----\n'x' prio=5 tid=9 Native\n  at a.B.c(B.java)"`, "0",
			stuck + "; the process ended by anr (ApplicationExitInfo)"},
		{"another thread hangs", "exit reason=anr " + main(`  at b.C.d(C.java:5)\n`), "1",
			stuck + "; the process ended by anr (ApplicationExitInfo)"},
		{"a deadlock", "exit reason=anr " + main(`  at b.C.d(C.java:5)\n  - waiting to lock <0x1> (a b.L) held by thread 9\n`+
			`  - locked <0x2> (a b.L)\n\n'y' prio=5 tid=9 Blocked\n  - waiting to lock <0x2> (a b.L) held by thread 1\n`), "0",
			stuck + "; the process ended by anr (ApplicationExitInfo); the system's trace shows the main thread in b.C.d; in " +
				"that trace, deadlock: main in b.C.d waits for b.L@0x1 held by y, y waits for b.L@0x2 held by main"},
		{"a lock", "exit reason=anr " + main(`  at b.C.d(C.java:5)\n  - waiting to lock <0x1> (a b.L) held by thread 9\n`), "0",
			stuck + "; the process ended by anr (ApplicationExitInfo); the system's trace shows the main thread in b.C.d; in " +
				"that trace, main waits for b.L, held by x, which is Native in a.B.c"},
		{"a lock without a holder", "exit reason=anr " + main(`  at b.C.d(C.java:5)\n  - waiting to lock <0x1> (a b.L)\n`), "0",
			stuck + "; the process ended by anr (ApplicationExitInfo); the system's trace shows the main thread in b.C.d; in " +
				"that trace, main waits for b.L, the trace does not show its holder"},
		{"the user", `exit reason=user-requested description="stop a by user"`, "0", stuck + "; the process ended by " +
			"user-requested (ApplicationExitInfo): stop a by user; the system reports no ANR"},
		{"two", "exit reason=low-memory\nexit reason=anr", "0", stuck + "; the process ended by low-memory " +
			"(ApplicationExitInfo); the system reports no ANR"},
		{"nothing known", "exit x=y", "0", stuck + "; the process ended by unknown (ApplicationExitInfo); the system " +
			"reports no ANR"},
		{"the stall had ended", "records thread=0 first=2 list=\"-97@5990 -1048574@6000\"\nexit reason=anr", "0",
			"cause unknown: #97 (own time 5980 ms); CPU time was not recorded; no stack sample was taken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			o := Options{Stall: func(s *Stall) error { got = append(got, s.Verdict.Text); return nil }}
			analyze(t, "a.tgd", strings.ReplaceAll(exitTape, "THREAD", c.thread)+c.exit, o)
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
