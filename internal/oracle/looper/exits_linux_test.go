package looper

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// TestExits kills a process in which a message of the main looper hangs, starts the app again, and reads what the
// system said of the end of the first process.
//
// Invariant: A hang is called an ANR only if the system says that the process ended by one.
func TestExits(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, c := range []struct {
		platform int // of platforms
		reason   int // of ApplicationExitInfo
		start    bool
		want     string
	}{
		{2, 6, true, "the process ended by anr (ApplicationExitInfo)"},
		{3, 6, false, "the process ended by anr (ApplicationExitInfo)"},
		{2, 10, false, "the process ended by user-requested (ApplicationExitInfo)"},
	} {
		p := platforms[c.platform]
		t.Run(fmt.Sprintf("%s reason %d", p.name, c.reason), func(t *testing.T) {
			t.Parallel()
			dir, _ := b.hang(t, p)
			paths := recordingPaths(t, dir)
			if len(paths) != 1 {
				t.Fatalf("the recordings are %q, want one", paths)
			}
			before := readRecording(t, paths[0])
			at := time.Now().UnixMilli()
			b.restart(t, p, dir, "-Dproofs.pid="+before.meta.Values["pid"],
				"-Dproofs.process="+before.meta.Values["process"], "-Dproofs.exit.reason="+strconv.Itoa(c.reason),
				"-Dproofs.exit.at="+strconv.FormatInt(at, 10), "-Dproofs.exit.start="+strconv.FormatBool(c.start))
			found := 0
			for _, path := range recordingPaths(t, dir) {
				for _, s := range b.stallsOf(t, path) {
					if found++; s.Recording.Exit == nil || s.Exit == nil {
						t.Fatalf("%s does not say how its process ended; %s", path, s.Verdict.Text)
					}
					checkExit(t, s, c.reason, at)
					if !strings.Contains(s.Verdict.Text, c.want) || !strings.HasPrefix(s.Verdict.Text, "stuck for at least ") {
						t.Errorf("the verdict is %q, want %q in it", s.Verdict.Text, c.want)
					}
					t.Logf("measured: %s: %s", p.name, s.Verdict.Text)
				}
			}
			if found != 1 {
				t.Errorf("%d stalls, want one", found)
			}
		})
	}
}

// checkExit compares what a recording says of the end of its process with what the system said.
func checkExit(t *testing.T, s *analysis.Stall, reason int, at int64) {
	t.Helper()
	e := s.Recording.Exit
	if e.WallMillis == nil || *e.WallMillis != at || e.Status == nil || *e.Status != 9 || e.PSS == nil || *e.PSS != 1234 ||
		e.RSS == nil || *e.RSS != 5678 || e.Importance == nil || *e.Importance != 100 || e.JoinedBy != "pid" ||
		e.Description != "Input dispatching timed out" {
		t.Errorf("%+v", e)
	}
	if reason != 6 {
		if e.Trace != "" || e.Main != nil {
			t.Errorf("there is a trace, and the process ended by %s", e.Reason)
		}
		return
	}
	if len(e.Trace) != 256<<10 || e.Main == nil || len(e.Main.Frames) != 3 || e.Main.State != "Sleeping" || !s.Exit.Same {
		t.Errorf("the trace has %d bytes, its main thread is %+v; same method: %t", len(e.Trace), e.Main, s.Exit.Same)
	}
}

// restart starts the app of a directory again, with the system properties.
func (b bench) restart(t *testing.T, p platform, dir string, properties ...string) {
	t.Helper()
	cmd := b.command(t.Context(), t, p, stock, dir, "ExitProofs")
	cmd.Args = slices.Insert(cmd.Args, 1, properties...)
	out, err := cmd.CombinedOutput()
	if got := report(t, p, string(out)); got != 1 || err != nil || t.Failed() {
		t.Fatalf("java: %v\n%s", err, out)
	}
}
