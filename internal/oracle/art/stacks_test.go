package art

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestStacks measures what a stack of another thread takes on ART, and for how long it stops the thread, interpreted
// and compiled. It checks no time: docs/recording.md says what steady samples cost.
func TestStacks(t *testing.T) {
	nightly.Only(t, "art")
	b := NeedCompiler(t)
	dex := b.dexOf(t, "stacks.jar", []string{"Stacks.java"})
	for _, jit := range []bool{false, true} {
		r := b.Run(t, Program{ClassPath: []string{dex}, Main: "art.Stacks", Args: []string{"200"}, JIT: jit})
		rows := 0
		for line := range strings.Lines(r.Stdout) {
			row, values, _ := strings.Cut(strings.TrimSpace(line), "\t")
			for _, value := range strings.Fields(values) {
				if _, err := strconv.Atoi(value); err != nil {
					t.Errorf("JIT %t: %s", jit, line)
				}
			}
			t.Logf("measured: JIT %t, %s, microseconds, least, lower quarter, median: %s", jit, row, values)
			rows++
		}
		if rows != 6 {
			t.Errorf("JIT %t: %d rows, want 6\n%s%s", jit, rows, r.Stdout, r.Stderr)
		}
	}
}
