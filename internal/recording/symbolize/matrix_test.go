package symbolize

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// TestMatrix holds that what Matrix's published classes print is what is
// recognised: no line, and no ID, is left over.
//
// Invariant: Every ID that Matrix prints is recognised, and JSON stays valid JSON.
func TestMatrix(t *testing.T) {
	jdk := oracle.NeedJDK(t, 17)
	dir, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	a := oracle.Artifact{Group: "com.tencent.matrix", Name: "matrix-trace-canary", Version: "0.6.0", Type: "aar"}
	oracle.Require(t, oracle.FetchMaven(t.Context(), dir, []oracle.Artifact{a}))
	classes, err := corpus.ClassesOfAAR(filepath.Join(dir, a.File()), filepath.Join(t.TempDir(), "classes.jar"))
	oracle.Require(t, err)
	out, err := exec.CommandContext(t.Context(), jdk.Tool("java"), "-cp", classes,
		filepath.Join("testdata", "Report.java")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, counts := symbolized(t, symbolizer(t), strings.NewReader(string(out)))
	if counts != (Counts{IDs: 4, Unknown: 1}) {
		t.Errorf("counts: %+v", counts)
	}
	// Only 777777 has no name in the mapping of the test.
	named := regexp.MustCompile(`^(\d,\d+,\d+,\d+,|\|\*\t\t\.*\d+ \d+ \d+ )[A-Za-z]+\..*$|777777|^\|\*\tTraceStack:$|^\|\*\t\t\[id count cost\]$|^stackKey = [a-z]`)
	for line := range strings.Lines(got) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !named.MatchString(line) {
			t.Errorf("no name in %q of\n%s", line, out)
		}
	}
	if n := strings.Count(got, "Handler.dispatchMessage"); n < 3 {
		t.Errorf("the dispatch is named %d times in\n%s", n, got)
	}
}
