package oracle

import (
	"errors"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

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
