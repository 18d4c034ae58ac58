package mutate_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

// TestEveryKindMakesMutants: each kind has mutants of the sample classes, which are not the class itself, and the same
// random numbers make the same mutants.
func TestEveryKindMakesMutants(t *testing.T) {
	var classes []*classfile.Class
	committed := crafted.Committed(t)
	for _, name := range slices.Sorted(maps.Keys(committed)) {
		if c, err := classfile.Parse(committed[name]); err == nil {
			classes = append(classes, c)
		}
	}
	made := func(seed uint64, kind mutate.Kind) (mutants [][]byte) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for i, c := range classes {
			m := mutate.New(c, rng)
			m.Cross(mutate.New(classes[(i+1)%len(classes)], rng))
			for range 20 {
				before := bytes.Clone(c.Bytes())
				data, ok := m.Mutate(kind)
				if !bytes.Equal(c.Bytes(), before) {
					t.Fatalf("%s: the class itself was changed", kind)
				}
				if ok && !bytes.Equal(data, before) {
					mutants = append(mutants, data)
				}
			}
		}
		return mutants
	}
	for _, sort := range mutate.Sorts() {
		kinds := mutate.Weighted(sort)
		slices.Sort(kinds)
		for _, kind := range slices.Compact(kinds) {
			first := made(7, kind)
			if len(first) < 5 {
				t.Errorf("%s, %s: %d mutants of %d classes", sort, kind, len(first), len(classes))
			}
			if !slices.EqualFunc(first, made(7, kind), bytes.Equal) {
				t.Errorf("%s, %s: other mutants from the same random numbers", sort, kind)
			}
		}
	}
}
