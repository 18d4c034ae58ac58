// Package nightly says which tests run only in a share of `make nightly`: those that fuzz, kill processes, watch a real
// clock, or work on corpora for minutes. `make test` leaves them out, `make nightly` runs all shares, and each CI run
// takes one of them: consecutive landings take one after the other.
//
// A test function names its share itself, by [Only] or [Runs], and .ci/nightly finds it by that call. The package has
// no imports of ours, so that tests of every package may use it.
package nightly

import (
	"os"
	"slices"
	"testing"
)

// Shares are the names of all shares. The two of fuzz targets have no tests: .ci/fuzz divides the targets.
var Shares = []string{"fuzz-1", "fuzz-2", "mutants", "corpora", "classes", "gradle", "android", "tools", "looper",
	"programs", "kotlin", "commands", "art", "art-programs", "android-apps", "engines"}

// Stages are names of tests that each CI run has in a stage of its own, beside its share, because they need more than
// `make test` should: those of art-push build ART, and are what `make art` runs.
var Stages = []string{"art-push"}

// Runs reports whether the tests of a share or stage run: TRACEGEN_SHARE names it, or is all.
func Runs(share string) bool {
	if !slices.Contains(Shares, share) && !slices.Contains(Stages, share) {
		panic("no share of make nightly is called " + share)
	}
	run := os.Getenv("TRACEGEN_SHARE")
	return run == share || run == "all"
}

// Only skips the test unless its share runs.
func Only(t testing.TB, share string) {
	t.Helper()
	if !Runs(share) {
		t.Skipf("skipped: it runs in the share %s of make nightly", share)
	}
}
