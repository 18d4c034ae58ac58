package looper

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestTwoProcesses runs two processes of an app at the same time, with one directory for their files.
//
// Invariant: Two processes of an app never write one file, whether the app chose its name or not.
func TestTwoProcesses(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.findJDK(t) // the subtests alone would be skipped, and leave no recordings
			shared := filepath.Join(t.TempDir(), "proofs-shared")
			t.Run("processes", func(t *testing.T) {
				for _, process := range []string{appPackage, appPackage + ":push"} {
					t.Run(process, func(t *testing.T) {
						t.Parallel()
						one := b
						one.process, one.options = process, []string{"-Dproofs.shared=" + shared}
						one.prove(t, p, stock, "ProcessProofs")
					})
				}
			})
			got := map[string]bool{}
			for _, path := range recordingPaths(t, filepath.Dir(shared)) {
				got[filepath.Base(path)] = true
				r := readRecording(t, path)
				r.check(t, b, p)
				if r.end.Records == 0 {
					t.Errorf("%s has no records", path)
				}
			}
			want := []string{"app-push.tgd", "app.tgd", appPackage + ".tgd", appPackage + "_push.tgd"}
			if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
				t.Errorf("the recordings are %q, want %q", names, want)
			}
		})
	}
}
