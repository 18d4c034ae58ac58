package looper

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
)

// A platform is a version of Android's classes, and the queue that an app gets.
type platform struct {
	name string
	api  int
	// version of org.robolectric:android-all, and the SHA-256 of its jar.
	version, sum string
	// lockFree means that the app targets Android 17.
	lockFree bool
	// jdk is the oldest JDK that reads the classes.
	jdk int
}

var platforms = []platform{
	{"API 23", 23, "6.0.1_r3-robolectric-r1", "a2d84271c5f033b1d082741a02f37a2d043120c0c09e5854e97ece9c3bb11d31", false,
		17},
	{"API 28", 28, "9-robolectric-4913185-2", "cf4aed5e458deb48ddc0ca92fc25156e6f478d9d5c1d948cdd1817a67ee11b32", false,
		17},
	{"API 34", 34, "14-robolectric-10818077", "6be2218c6a53fe3c57bc22ebdc723edcb7270a8a6f187545708aa5c0ed813977", false,
		17},
	{"API 37", 37, "17-robolectric-16653203", "60f983b8bf180fa0790596c22a130c79ecf18b6d991b719de23100d4d6ff61a1", false,
		21},
	{"API 37 lock-free", 37, "17-robolectric-16653203",
		"60f983b8bf180fa0790596c22a130c79ecf18b6d991b719de23100d4d6ff61a1", true, 21},
}

// TestProofs runs every proof on every platform. Proofs about frames measure time, so that they run after all others,
// one platform after the other.
//
// Invariant: On real Android classes the runtime sees every message, leaves the looper as it was, and finds a slow
// message with the right call tree.
//
// Invariant: What cannot be seen of a message queue is reported as not available, never as empty.
func TestProofs(t *testing.T) {
	b := build(t)
	t.Run("looper", func(t *testing.T) {
		for _, p := range platforms {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				dir := b.prove(t, p, "MonitorProofs", "TheftProofs", "IdleProofs", "PendingProofs", "RecordingProofs")
				stalls := checkFeeds(t, readRecordings(t, dir), b, p)
				checkAnswers(t, dir, b, p, stalls)
			})
		}
	})
	t.Run("frames", func(t *testing.T) {
		for _, p := range platforms {
			t.Run(p.name, func(t *testing.T) {
				checkFrames(t, readRecordings(t, b.prove(t, p, "FrameProofs")), b, p)
			})
		}
	})
}

// appPackage is the app's package and the name of its main process. As on a device, it is the first string of the
// process's command line.
const appPackage = "dev.tracegen.proofs"

// runLimit is far beyond what the proofs need; it ends proofs that hang.
const runLimit = 5 * time.Minute

// prove runs the proofs of some classes of testdata/proofs in one JVM and makes a subtest of each. Their recordings are
// below the directory that it returns.
func (b bench) prove(t *testing.T, p platform, classes ...string) (recordings string) {
	t.Helper()
	j, err := oracle.FindJDK(p.jdk)
	if err != nil {
		// Not Require: a second JDK is optional, also in CI.
		t.Skipf("skipped: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	recordings = t.TempDir()
	cmd := exec.CommandContext(ctx, j.Tool("java"), b.arguments(t, j, p, recordings, classes...)...)
	cmd.Args[0] = appPackage
	out, err := cmd.CombinedOutput()
	text := string(out)
	if got := report(t, p, text); got != len(classes) || (err != nil) != t.Failed() {
		t.Errorf("%d of %d classes were proven; java: %v", got, len(classes), err)
	}
	if t.Failed() {
		t.Log(text)
	}
	return recordings
}

// arguments returns the arguments of java that run the proofs of some classes; recordings is a directory.
func (b bench) arguments(t *testing.T, j oracle.JDK, p platform, recordings string, classes ...string) []string {
	t.Helper()
	queue := "list"
	if p.lockFree {
		queue = "lock-free"
	}
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m",
		"-Djava.io.tmpdir=" + recordings, "-Dproofs.mapping=" + b.mapping, "-cp",
		b.path + string(os.PathListSeparator) + p.fetch(t)}
	if j.Feature >= 24 {
		args = append(args, "--enable-native-access=ALL-UNNAMED")
	}
	args = append(args, "Bench", b.natives, strconv.Itoa(p.api), queue)
	return append(args, classes...)
}

// report turns the output of the proofs into subtests and measurements, and returns the number of classes whose proofs
// ran.
func report(t *testing.T, p platform, text string) (classes int) {
	proofs := 0
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "measured:":
			t.Logf("measured: %s: %s", p.name, rest)
		case "proof":
			name, verdict, _ := strings.Cut(rest, " ")
			proofs++
			t.Run(name, func(t *testing.T) {
				if verdict != "ok" {
					t.Error(verdict)
				}
			})
		case "class":
			_, count, _ := strings.Cut(rest, " ")
			if n, err := strconv.Atoi(count); err != nil || n == 0 || n != proofs {
				t.Errorf("%s proofs, %d were run", rest, proofs)
			}
			proofs = 0
			classes++
		}
	}
	return classes
}
