package oracle

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestSecondOpinions runs the JDK's javap, which does not work in batches.
func TestSecondOpinions(t *testing.T) {
	jar := compileShapes(t, "17")
	file := filepath.Join(t.TempDir(), "Shapes.class")
	if err := Extract(jar, "Shapes.class", file); err != nil {
		t.Fatal(err)
	}
	text, err := Javap(t.Context(), file)
	Require(t, err)
	for _, want := range []string{"major version: 61", "StackMapTable", "int guarded(java.lang.Object)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output of javap lacks %q", want)
		}
	}
}

func TestVerifyClassFiles(t *testing.T) {
	nightly.Only(t, "classes")
	jar := compileShapes(t, "17")
	for fault, want := range map[string]string{"none": "", "stack": "stack", "frame": "frame"} {
		results, err := VerifyClassFiles(t.Context(), []LinkJob{{ID: "x", Jar: plant(t.Context(), t, jar, fault)}})
		if errors.Is(err, ErrMissing) {
			// Unlike all other tools, a JDK this new may be missing in CI.
			t.Skipf("skipped: %v", err)
		}
		Require(t, err)
		var found []string
		for _, r := range results {
			found = appendIf(found, r.Error != "", strings.ToLower(r.Error))
		}
		wantPart(t, fault, found, want)
	}
}
