package looper

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
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

// A world is what an app may do on a platform.
type world string

const (
	// open lets an app use every member of Android, as no device from Android 9 on does.
	open world = "open"
	// stock denies what a device denies.
	stock world = "stock"
)

// worlds returns the worlds of a platform. Before Android 9 no device denies anything.
func (p platform) worlds() []world {
	if p.api < enforced {
		return []world{stock}
	}
	return []world{open, stock}
}

// seesIdleHandlers reports whether the lock of the list of idle handlers is known.
func (p platform) seesIdleHandlers(w world) bool { return !p.lockFree || w == open }

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

// findJDK returns a JDK that reads the platform's classes, or ends the test.
func (p platform) findJDK(t *testing.T) oracle.JDK {
	t.Helper()
	j := oracle.NeedJDK(t, p.jdk)
	return j
}

// TestProofs runs every proof on every platform. Proofs about frames measure time, so that they run after all others,
// one platform after the other. A push runs those about the looper on one platform.
//
// Invariant: On real Android classes the runtime sees every message, leaves the looper as it was, and finds a slow
// message with the right call tree.
//
// Invariant: What cannot be seen of a message queue is reported as not available, never as empty.
func TestProofs(t *testing.T) {
	b := build(t)
	proven, measured := platforms, platforms
	if !nightly.Runs("looper") {
		proven, measured = platforms[2:3], nil
	}
	t.Run("looper", func(t *testing.T) {
		for _, p := range proven {
			for _, w := range p.worlds() {
				t.Run(p.name+" "+string(w), func(t *testing.T) {
					t.Parallel()
					b.proveLooper(t, p, w)
				})
			}
		}
	})
	t.Run("frames", func(t *testing.T) {
		for _, p := range measured {
			t.Run(p.name, func(t *testing.T) {
				dir := b.prove(t, p, stock, "FrameProofs").recordings
				checkFrames(t, readRecordings(t, dir), b, p)
				dir = b.prove(t, p, stock, "VsyncProofs").recordings
				checkVsyncs(t, dir, p)
				b.prove(t, p, stock, "FrameDetectorProofs", "StartupProofs")
			})
		}
	})
}

// proveLooper runs the proofs about the looper, and checks the recordings that they left.
func (b bench) proveLooper(t *testing.T, p platform, w world) {
	t.Helper()
	dir := b.prove(t, p, w, "MonitorProofs", "TheftProofs", "IdleProofs", "PendingProofs", "RecordingProofs",
		"StartProofs", "StopProofs", "ListenerProofs").recordings
	stalls := checkFeeds(t, readRecordings(t, dir), b, p, w)
	checkAnswers(t, dir, b, p, w, stalls)
}

// appPackage is the app's package and the name of its main process. As on a device, it is the first string of the
// process's command line.
const appPackage = "dev.tracegen.proofs"

// runLimit is far beyond what the proofs need; it ends proofs that hang.
const runLimit = 12 * time.Minute

// A run is what proofs left.
type run struct {
	// recordings is the directory below which their recordings are.
	recordings string
	// seen is what they saw of each kind of fact.
	seen map[string]string
}

// prove runs the proofs of some classes of testdata/proofs in one JVM and makes a subtest of each.
func (b bench) prove(t *testing.T, p platform, w world, classes ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	recordings := t.TempDir()
	cmd := b.command(ctx, t, p, w, recordings, classes...)
	out, err := cmd.CombinedOutput()
	text := string(out)
	if got := report(t, p, text); got != len(classes) || (err != nil) != t.Failed() {
		t.Errorf("%d of %d classes were proven; java: %v", got, len(classes), err)
	}
	if t.Failed() {
		t.Log(text)
	}
	return run{recordings: recordings, seen: seenFacts(text)}
}

// command returns the command that runs the proofs of some classes; recordings is a directory. As on a device, the
// first word of the process's command line is its name.
func (b bench) command(ctx context.Context, t *testing.T, p platform, w world, recordings string,
	classes ...string,
) *exec.Cmd {
	t.Helper()
	var cmd *exec.Cmd
	if b.art != nil {
		cmd = b.onART(ctx, t, p, w, recordings, classes...)
	} else {
		j := p.findJDK(t)
		cmd = exec.CommandContext(ctx, j.Tool("java"), b.arguments(t, j, p, w, recordings, classes...)...)
	}
	cmd.Args[0] = cmp.Or(b.process, appPackage)
	return cmd
}

// properties returns the system properties that the proofs read.
func (b bench) properties(t *testing.T, p platform, w world, recordings string) []string {
	t.Helper()
	members := filepath.Join(recordings, "members.txt")
	p.writeMembers(t, members)
	return []string{"-Djava.io.tmpdir=" + recordings, "-Dproofs.mapping=" + b.mapping, "-Ddevice.members=" + members,
		"-Ddevice.denies=" + strconv.FormatBool(w == stock && p.api >= enforced)}
}

// arguments returns the arguments of java that run the proofs of some classes; recordings is a directory.
func (b bench) arguments(t *testing.T, j oracle.JDK, p platform, w world, recordings string,
	classes ...string,
) []string {
	t.Helper()
	queue := "list"
	if p.lockFree {
		queue = "lock-free"
	}
	args := append(slices.Clone(b.options), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")
	args = append(args, b.properties(t, p, w, recordings)...)
	args = append(args, "-cp", b.path+string(os.PathListSeparator)+p.fetch(t))
	if j.Feature < 24 {
		// One proof observes which files the main thread touches. Newer JDKs have nothing for that.
		args = append(args, "-Djava.security.manager=allow")
	}
	if j.Feature >= 24 {
		args = append(args, "--enable-native-access=ALL-UNNAMED")
	}
	args = append(args, "Bench", b.natives, strconv.Itoa(p.api), queue)
	return append(args, classes...)
}

// seenFacts returns what proofs say that they saw, by kind of fact.
func seenFacts(text string) map[string]string {
	seen := map[string]string{}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "seen: "); ok {
			fact, what, _ := strings.Cut(rest, ": ")
			seen[fact] = what
		}
	}
	return seen
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
