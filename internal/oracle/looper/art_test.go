package looper

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// android11 is what the bench of package art is. Its message queue is the list.
var android11 = platform{"API 30", 30, "11-robolectric-6757853",
	"62f577ca49f62f0da5d6a2a839d80ef377054b9ccd14811035593bf351295b31", false, 17}

// onART is what the proofs need to run on ART.
type onART struct {
	bench *art.Bench
	// jars are the DEX files of everything on the path.
	jars []string
}

// buildOnART returns a bench that runs the proofs on ART. The classes are those that run on JVMs, through D8.
func buildOnART(t *testing.T) bench {
	t.Helper()
	on := &onART{bench: art.NeedApps(t)}
	b := build(t)
	dir := t.TempDir()
	for _, classes := range []string{b.lib, b.app, b.device, b.proofs} {
		jar := filepath.Join(dir, filepath.Base(classes)+".jar")
		on.bench.D8(t, jar, oracle.ClassFiles(t, classes)...)
		on.jars = append(on.jars, jar)
	}
	resources := filepath.Join(dir, "resources.jar")
	oracle.JarOf(t, filepath.Join("testdata", "resources"), resources)
	on.jars = append(on.jars, resources)
	b.art = on
	return b
}

// onART returns the command that runs the proofs of some classes on ART.
func (b bench) onART(ctx context.Context, t *testing.T, p platform, w world, recordings string, classes ...string,
) *exec.Cmd {
	t.Helper()
	return b.art.bench.Command(ctx, art.Program{
		ClassPath: b.art.jars,
		Main:      "Bench",
		Args:      append([]string{b.natives, "30", "list"}, classes...),
		Options:   b.properties(t, p, w, recordings),
	})
}

// TestProofsOnART runs the proofs about the looper on ART with the real Looper, Handler and MessageQueue of Android 11:
// messages by Printer and Observer, idle handlers, sync barriers, watchdogs, posts, and the runtime's start in an
// Application. What a proof says of a JVM it says of ART.
//
// Invariant: On ART the runtime sees every message, finds a slow message with the right call tree, and leaves the
// looper as it was.
func TestProofsOnART(t *testing.T) {
	nightly.Only(t, "art")
	b := buildOnART(t)
	for _, w := range android11.worlds() {
		t.Run(string(w), func(t *testing.T) {
			t.Run("looper", func(t *testing.T) { b.proveLooper(t, android11, w) })
			t.Run("posts", func(t *testing.T) { b.provePosts(t, android11, w) })
			t.Run("watch", func(t *testing.T) { b.proveWatch(t, android11, w) })
			t.Run("detectors", func(t *testing.T) { b.prove(t, android11, w, "IdleStallProofs", "BarrierProofs") })
		})
	}
	t.Run("hardships", func(t *testing.T) { b.prove(t, android11, stock, "HardshipProofs") })
}
