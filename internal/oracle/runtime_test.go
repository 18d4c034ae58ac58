package oracle_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestRuntime builds the runtime and runs its own tests. For a longer run use -Dtracegen.stress=1000000000 (a thousand
// million records) by hand.
//
// Invariant: The runtime's own tests pass: no torn or misplaced record is accepted, overwritten records are counted,
// the clock never goes back and loses no time when it pauses, and the no-op has the surface of all other parts.
func TestRuntime(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds and tests the runtime with Maven, which takes a minute")
	}
	dir := t.TempDir()
	failed := oracle.MavenRuntime(t.Context(), dir, "package")
	reports, err := filepath.Glob(filepath.Join(dir, "runtime-java", "*", "target", "surefire-reports", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range reports {
		// A failed test is a line that ends with a mark, and the lines of its stack trace behind it.
		for test := range strings.SplitSeq(string(fixture.Read(t, report)), "\n\n") {
			if strings.Contains(test, "<<<") {
				t.Error(test)
			}
		}
	}
	if !t.Failed() {
		oracle.Require(t, failed)
	}
	if len(reports) < 5 {
		t.Fatalf("%d reports of tests", len(reports))
	}
}
