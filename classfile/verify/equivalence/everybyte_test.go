package equivalence_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

var mutationStep = flag.Int("mutation-step", 4, "change each so-many-th byte of a class in TestEveryByteCounts")

// TestEveryByteCounts changes the rewritten classes byte by byte. There is no byte that may be another.
//
// Invariant: The equivalence checker reports every change of a class that is not an inserted call.
func TestEveryByteCounts(t *testing.T) {
	const large, stride = 8192, 501 // of large classes, which are padded with nops, some bytes must do
	accepted, tried := 0, 0
	for _, c := range crafted.All(t) {
		for i, m := range crafted.Modes {
			data, want, ok := m.Instrument(t, c)
			if !ok {
				continue
			}
			step := *mutationStep
			switch {
			case testing.Short() && len(data) > large:
				continue
			case testing.Short():
				step *= 10
			case len(data) > large:
				step = stride
			}
			for at := i % step; at < len(data); at += step {
				changed := slices.Clone(data)
				changed[at] ^= [...]byte{1, 0x80, 0x14}[at%3]
				rewritten, err := classfile.Parse(changed)
				if err != nil {
					continue
				}
				tried++
				if findings := equivalence.Check(c, rewritten, want); len(findings) == 0 {
					accepted++
					t.Errorf("%s, %s: byte %d of %d is %#x, not %#x, and there is no finding", c.Name(), m.Name, at,
						len(data), changed[at], data[at])
				}
			}
		}
	}
	if tried < 4000 {
		t.Errorf("only %d changes tried", tried)
	}
	t.Logf("measured: %d changed bytes, %d not seen", tried, accepted)
}
