package types

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

// knownClasses is a hierarchy of some classes.
type knownClasses map[string]*ClassInfo

// Lookup implements Hierarchy.
func (k knownClasses) Lookup(name string) *ClassInfo { return k[name] }

// TestQuickPathAgrees: with the quick path and without it, the same is found, in real classes and in mutants of them,
// by frames and by inference.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestQuickPathAgrees(t *testing.T) {
	const mutants = 600
	rng := rand.New(rand.NewPCG(5, 8))
	var classes [][]byte
	known := knownClasses{}
	err := filepath.WalkDir(filepath.Join("..", "..", "..", "testdata", "classes", "bin"),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".class" {
				return err
			}
			data, err := os.ReadFile(path)
			classes = append(classes, data)
			if c, err := classfile.Parse(data); err == nil {
				known[c.Name()] = NewClassInfo(c)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	kinds := slices.Concat(mutate.Weighted(mutate.Instructions), mutate.Weighted(mutate.Recombined))
	quick, slow := &Checker{Hierarchy: known, Frames: true}, &Checker{Hierarchy: known, Frames: true, slow: true}
	checked, rejected := 0, 0
	for _, data := range classes {
		original, err := classfile.Parse(data)
		if err != nil {
			continue
		}
		m := mutate.New(original, rng)
		for n := range mutants {
			variant := data
			if n > 0 {
				mutant, ok := m.Mutate(kinds[rng.IntN(len(kinds))])
				if !ok {
					continue
				}
				variant = mutant
			}
			if n%3 == 2 { // no frames are looked at
				variant = slices.Clone(variant)
				variant[6], variant[7] = 0, majorFrames-1
			}
			c, err := classfile.Parse(variant)
			if err != nil {
				continue
			}
			got, want := quick.Check(c), slow.Check(c)
			if checked++; len(want.Findings) > 0 {
				rejected++
			}
			if !slices.Equal(got.Findings, want.Findings) || !slices.Equal(got.Unknown, want.Unknown) ||
				got.Inferred != want.Inferred {
				t.Fatalf("%s, variant %d: quick %v\nslow %v", c.Name(), n, got, want)
			}
		}
	}
	t.Logf("%d classes, %d of them rejected", checked, rejected)
	if checked < 1000 || rejected < checked/4 {
		t.Errorf("%d classes, %d of them rejected, are too few", checked, rejected)
	}
}
