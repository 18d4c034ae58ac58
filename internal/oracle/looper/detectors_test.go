package looper

import (
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestLooperDetectors runs the proofs about IdleHandlers and sync barriers on every platform.
//
// Invariant: A sync barrier that was not removed is found on real Android classes, by the queue or by probes, and no
// probe is left behind.
//
// Invariant: A slow IdleHandler is a stall of its own kind.
func TestLooperDetectors(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		for _, w := range p.worlds() {
			t.Run(p.name+" "+string(w), func(t *testing.T) {
				t.Parallel()
				b.prove(t, p, w, "IdleStallProofs", "BarrierProofs")
			})
		}
	}
}
