package looper

import (
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCosts counts what the runtime allocates for messages of the real main looper. It counts bytes, and no time.
//
// Invariant: A message of a real Looper that turns out to be fast allocates nothing more than with a Printer that does
// nothing.
func TestCosts(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		for _, w := range p.worlds() {
			t.Run(p.name+" "+string(w), func(t *testing.T) {
				t.Parallel()
				b.prove(t, p, w, "CostProofs")
			})
		}
	}
}
