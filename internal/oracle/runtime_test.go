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
	oracle.Require(t, oracle.MavenRuntime(t.Context(), dir, "package"))
	reports, err := filepath.Glob(filepath.Join(dir, "runtime-java", "*", "target", "surefire-reports", "*.txt"))
	if err != nil || len(reports) < 5 {
		t.Fatalf("%d reports of tests, %v", len(reports), err)
	}
	for _, report := range reports {
		text := fixture.Read(t, report)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "Tests run:") {
				t.Logf("%s: %s", strings.TrimSuffix(filepath.Base(report), ".txt"), strings.TrimSpace(line))
			}
		}
	}
}
