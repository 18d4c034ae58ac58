package pipeline_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

// TestDamagedClassesBreakNoRun instruments archives in which most classes have a fault. The run succeeds, whatever the
// faults are, and a class that it changes can be read.
//
// Invariant: No content of a class file makes a run fail.
func TestDamagedClassesBreakNoRun(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	random := rand.New(rand.NewPCG(5, 6))
	committed := crafted.Committed(t)
	paths := slices.Sorted(maps.Keys(committed))
	mutators := make(map[string]*mutate.Mutator, len(paths))
	for _, path := range paths {
		if c, err := classfile.Parse(committed[path]); err == nil {
			mutators[path] = mutate.New(c, random)
		}
	}
	dir := t.TempDir()
	changed := 0
	for round := range rounds {
		var files []file
		for _, path := range paths {
			files = append(files, file{path, damaged(committed[path], mutators[path], random)})
		}
		mode := crafted.Modes[round%len(crafted.Modes)]
		c := config(archive(t, filepath.Join(dir, "in.jar"), files...), filepath.Join(dir, "out.jar"))
		c.Inject, c.RuntimeExternal = mode.Options, true
		if round%3 == 0 {
			c.Filter = filter.New(filter.Options{})
		}
		if round%4 == 1 {
			c.Verify = pipeline.VerifyEquivalence
		}
		instrument(t, c)
		out := contents(t, c.Inputs[0].Output)
		if len(out) != len(files) {
			t.Fatalf("round %d: %d entries, want %d", round, len(out), len(files))
		}
		for i, f := range files {
			if bytes.Equal(out[i].data, f.data) {
				continue
			}
			changed++
			if _, err := classfile.Parse(out[i].data); err != nil {
				t.Errorf("round %d: %s: %v", round, f.name, err)
			}
		}
	}
	if changed < 5*rounds {
		t.Errorf("only %d classes were changed in %d rounds", changed, rounds)
	}
}

// damaged returns a class with up to three changes: a fault of the mutator's, if there is one, and bytes.
func damaged(data []byte, m *mutate.Mutator, random *rand.Rand) []byte {
	if m != nil && random.IntN(2) == 0 {
		sorts := mutate.Sorts()
		kinds := mutate.Weighted(sorts[random.IntN(len(sorts))])
		if mutant, ok := m.Mutate(kinds[random.IntN(len(kinds))]); ok {
			return mutant
		}
	}
	data = slices.Clone(data)
	for range random.IntN(4) {
		at := 8 + random.IntN(len(data)-8)
		switch random.IntN(3) {
		case 0:
			data[at] = byte(random.IntN(256))
		case 1:
			data[at] += byte(1 + 254*random.IntN(2))
		default:
			data[at] = data[8+random.IntN(len(data)-8)]
		}
	}
	return data
}
