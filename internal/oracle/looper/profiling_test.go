package looper

import (
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestProfiling has the detector of results use the real ProfilingManager, whose service is a stand-in. Android has it
// from API 35 on.
func TestProfiling(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms[2:4] {
		t.Run(p.name, func(t *testing.T) { b.prove(t, p, stock, "ProfilingProofs") })
	}
}
