package looper

import (
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// The states of DetectorCosts.java, each with one detector or source of messages more than the one that it is compared
// with.
var costStates = []string{"messages", "idle-handlers", "sync-barrier", "watchdog", "anr", "frames", "startup"}

// TestDetectorCosts switches each detector on and off while the app runs. It compares no times.
//
// Invariant: A message allocates no more with any detector than without.
//
// Invariant: After a detector was switched off at run time, it posts no message, and nothing holds what it used.
func TestDetectorCosts(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			seen := b.prove(t, p, stock, "DetectorCosts").seen
			for _, state := range costStates {
				if _, ok := seen[state+" message bytes"]; !ok && !t.Failed() {
					t.Errorf("no figures of %s", state)
				}
			}
		})
	}
}
