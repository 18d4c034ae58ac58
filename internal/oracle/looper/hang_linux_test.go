package looper

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// TestHangOnLooper kills processes in which a message of the real main looper never ends.
//
// Invariant: If a process is killed while a message of the main looper hangs, its recording names the handler and the
// traced method in which the message hangs.
func TestHangOnLooper(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			b.proveHang(t, p)
		})
	}
}

// TestHangOnART kills a process of ART in which a message never ends: see TestHangOnLooper.
func TestHangOnART(t *testing.T) {
	nightly.Only(t, "art-push")
	buildOnART(t).proveHang(t, android11)
}

// proveHang kills a process that hangs, and checks what its recording says.
func (b bench) proveHang(t *testing.T, p platform) {
	t.Helper()
	dir, life := b.hang(t, p)
	paths := recordingPaths(t, dir)
	if len(paths) != 1 {
		t.Fatalf("the recordings are %q, want one", paths)
	}
	stalls := b.stallsOf(t, paths[0])
	if len(stalls) != 1 || stalls[0].Hang == nil {
		t.Fatalf("the stalls are %+v, want one that hangs", stalls)
	}
	s := stalls[0]
	h, m := s.Hang, s.Message
	if h.Method.Identity() != "app.Freeze.stuck" || s.Verdict.Kind != analysis.KindSleep || h.Calling ||
		h.Samples*2 <= h.Of || h.Of == 0 || !strings.HasPrefix(s.Verdict.Text, "stuck for at least ") ||
		!strings.Contains(s.Verdict.Text, " in app.Freeze.stuck (") {
		t.Errorf("%s; %+v", s.Verdict.Text, h)
	}
	// On some platforms a message is known only when it has ended.
	if m.Kind != "unknown" && m.Handler != "HangProofs$FreezeHandler" {
		t.Errorf("the message is %s", m)
	}
	if h.AtLeast > life || h.AtLeast < 700*time.Millisecond {
		t.Errorf("at least %v is reported, the process hung for %v at most", h.AtLeast, life)
	}
	t.Logf("measured: %s: %s, killed after %v: %s", p.name, m, life, s.Verdict.Text)
}

// hang runs HangProofs on a platform and kills it when the recording shows that the message hangs. It returns the
// directory with the recording and how long the message hung at most.
func (b bench) hang(t *testing.T, p platform) (dir string, life time.Duration) {
	t.Helper()
	dir = t.TempDir()
	cmd := b.command(t.Context(), t, p, stock, dir, "HangProofs")
	k, err := oracle.Victim{Command: cmd, Ready: hangs, Moment: func(<-chan struct{}) { b.waitUntilHung(t, dir) }}.Kill()
	if err != nil {
		t.Fatal(err)
	}
	begin, err := strconv.ParseInt(k.LineWith("hangs "), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return dir, time.Duration(monotonic(t) - begin)
}

// hangs reports whether a line of a process says that a message that hangs has begun.
func hangs(line string) bool { return strings.HasPrefix(line, "hangs ") }

// monotonic returns the time of the clock that System.nanoTime reads.
func monotonic(t *testing.T) int64 {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Error(err)
	}
	return now.Nano()
}

// waitUntilHung waits until the recording of the running process shows a hang with a stack sample: how soon that is
// depends on the machine.
func (b bench) waitUntilHung(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		for _, path := range recordingPaths(t, dir) {
			if info, err := os.Stat(path); err != nil || info.Size() < 32 {
				continue
			}
			for _, s := range b.stallsOf(t, path) {
				if s.Hang != nil && !s.Hang.Calling && s.Hang.Of > 2 {
					return
				}
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("after two minutes the recording shows no hang")
		}
	}
}

func (b bench) stallsOf(t *testing.T, file string) (all []*analysis.Stall) {
	t.Helper()
	mappings, err := resolve.OpenMappings(b.mapping, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := source.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = analysis.Analyze(file, r, analysis.Options{Mappings: mappings, Stall: func(s *analysis.Stall) error {
		all = append(all, s)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
