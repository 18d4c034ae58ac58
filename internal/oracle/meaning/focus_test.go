package meaning

import (
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestFocus runs Activities on an imitated framework and counts the calls of the focus hook.
func TestFocus(t *testing.T) {
	nightly.Only(t, "programs")
	recorder := oracle.NeedRecorder(t)
	j := jdk(t, 17)
	framework, app := compileFocus(t)
	run := func(t *testing.T, app string, flags ...string) outcome {
		t.Helper()
		args := append(flags, "-cp", pathList(app, framework, recorder), "-Xverify:all", "Focus")
		return command{j, args, t.TempDir()}.run(t)
	}
	original := run(t, app)
	for _, m := range shapeModes {
		t.Run(m.word, func(t *testing.T) {
			m.mode.focus = true
			outputs, _ := instrument(t, filepath.Join(t.TempDir(), "out"), m.mode, []string{app})
			summary := filepath.Join(t.TempDir(), "summary")
			compare(t, run(t, outputs[app], oracle.RecorderFlag(summary)), original)
			s := oracle.ReadSummary(t, summary)
			checkFocus(t, m.mode, s)
			t.Logf("measured: focus hook, %s: %d changes reported, %d events, %d exits too many", m.word, s.FocusCalls,
				s.Entries+s.Exits, s.ExitsTooMany)
		})
	}
}

// compileFocus returns directories with the classes of the imitated framework and of the program.
func compileFocus(t *testing.T) (framework, app string) {
	t.Helper()
	j, dir := jdk(t, 17), t.TempDir()
	framework, app = filepath.Join(dir, "framework"), filepath.Join(dir, "app")
	javac(t, j, framework, "--release", "8", filepath.Join("testdata", "focus", "android", "app", "Activity.java"))
	javac(t, j, app, "--release", "8", "-cp", framework, filepath.Join("testdata", "focus", "Focus.java"))
	return framework, app
}

func checkFocus(t *testing.T, m mode, s oracle.Summary) {
	t.Helper()
	checkSummary(t, m, s)
	// Plain, Quiet and Own call it once, Child twice, each for two changes.
	const calls = 2 * (1 + 1 + 1 + 2)
	if s.FocusCalls != calls {
		t.Errorf("reported %d focus changes, want %d", s.FocusCalls, calls)
	}
}
