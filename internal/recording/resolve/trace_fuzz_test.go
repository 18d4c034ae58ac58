package resolve

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzReadTrace reads anything as the stacks of all threads.
//
// Invariant: What is shown of a text with stacks has one line for each name, whatever the text has.
func FuzzReadTrace(f *testing.F) {
	f.Add("----- pid 12 at 2026-11-22 10:00:00 -----\nCmd line: com.a\n\"main\" prio=5 tid=1 Blocked\n" +
		"  at a.B.c(B.java:1)\n  - waiting to lock <0x0c> (a java.lang.Object) held by thread 2\n\n" +
		"\"x\" prio=5 tid=2 Blocked\n  - locked <0x0c> (a java.lang.Object)\n  at a.C.d(C.java:2)\n" +
		"  - waiting to lock <0x0d> (a java.lang.Class<a.B>) held by thread 1\n----- end 12 -----\n")
	f.Add("\"main\" #1 prio=5\n   java.lang.Thread.State: BLOCKED\n\tat a.B.c(B.java)\n" +
		"\t- waiting to lock <0x1> (a a.B)\n")
	f.Add("\"main\" \r\nat \n at")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range ReadTrace(text, nil) {
			if p.Threads < 0 || p.Threads > len(text) {
				t.Errorf("%d threads", p.Threads)
			}
			if _, err := json.Marshal(p); err != nil {
				t.Error(err)
			}
			names := []string{p.Time, p.Command}
			for _, circle := range append(p.Deadlocks, p.Waits) {
				for _, w := range circle {
					names = append(names, w.Thread, w.In, w.Class, w.Lock, w.Holder, w.HolderState, w.HolderIn)
				}
			}
			if p.Main != nil {
				names = append(append(names, p.Main.State), p.Main.Frames...)
			}
			for _, name := range names {
				if strings.ContainsAny(name, "\r\n\x00\x1b") {
					t.Errorf("%q", name)
				}
			}
		}
	})
}
