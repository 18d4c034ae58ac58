package export

import (
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestManyExecutions: what has no room is counted, and what the recorder has lost.
func TestManyExecutions(t *testing.T) {
	var x executions
	for thread := range uint32(3) {
		x.add(&trace.Compositions{Thread: thread, Lost: 1, List: make([]trace.Composition, maxExecutions/2+1)})
	}
	if len(x.of) != 2 || len(x.of[1]) != maxExecutions/2-1 || x.left != maxExecutions/2+1+2+3 {
		t.Errorf("%d threads, %d of the second, %d left", len(x.of), len(x.of[1]), x.left)
	}
}

// TestPackageOf divides names of composables as the page shows them.
func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{"app.Feed": "app", "a.b.Theme.<get-shapes>": "a.b", "a.b.remember": "a.b",
		"a.b.setContent.<anonymous>.<anonymous> of line 3": "a.b", "Feed": "", "feed": "", "a.B.c.D": "a", "": "",
		"a..": "a."} {
		if got := packageOf(name); got != want {
			t.Errorf("%s is in the package %q, want %q", name, got, want)
		}
	}
}
