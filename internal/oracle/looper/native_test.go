package looper

import (
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestNativeAbsent switches the detectors of the native library on in an app that does not have it.
func TestNativeAbsent(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms[2:4] {
		t.Run(p.name, func(t *testing.T) { b.prove(t, p, stock, "NativeProofs") })
	}
}
