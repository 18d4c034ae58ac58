package types_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

// quickRows are rows of the corpus without frames and with, made by different compilers.
var quickRows = []string{
	"hsqldb-1.8.0.10", "jython-2.2.1", "guava-18.0", "kotlin-stdlib-2.2.20", "netty-all-4.0.56.Final",
}

// TestCorpusQuickPath compares the findings of the quick path with those of the full path for real classes and for
// mutants of them. A correct class must not need the full path, which takes much longer.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestCorpusQuickPath(t *testing.T) {
	if os.Getenv("TRACEGEN_CORPUS") == "off" || testing.Short() {
		t.Skip("no corpus in short tests")
	}
	mutants := 5000
	if os.Getenv("TRACEGEN_CORPUS") == "full" {
		mutants = 200000
	}
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(t.Context(), quickRows...)
	oracle.Require(t, err)
	jdk, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	for n, j := range jars {
		t.Run(quickRows[n], func(t *testing.T) {
			h, err := classpath.Open(append([]string{j.Classes}, append(slices.Clone(j.DepPaths), jdk.Home)...)...)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			p := &quickPaths{quick: &types.Checker{Hierarchy: h, Frames: true}}
			p.full = p.quick.OnFullPath()
			classes := classesOf(t, j.Classes)
			p.compareReal(t, classes)
			p.compareMutants(t, classes, mutants/len(jars), rand.New(rand.NewPCG(6, uint64(n))))
		})
	}
}

// quickPaths are two checkers that must agree.
type quickPaths struct {
	quick, full       *types.Checker
	checked, rejected int
}

// compare checks a class on both paths and returns the number of findings.
func (p *quickPaths) compare(t *testing.T, c *classfile.Class) int {
	t.Helper()
	got, want := p.quick.Check(c), p.full.Check(c)
	if !slices.Equal(got.Findings, want.Findings) || !slices.Equal(got.Unknown, want.Unknown) ||
		got.Inferred != want.Inferred {
		t.Fatalf("%s: quick path %+v\nfull path %+v", c.Name(), got, want)
	}
	p.checked++
	if len(want.Findings) > 0 {
		p.rejected++
	}
	return len(want.Findings)
}

// compareReal compares the findings for real classes, nearly all of which must take the quick path.
func (p *quickPaths) compareReal(t *testing.T, classes []*classfile.Class) {
	for _, c := range classes {
		if p.compare(t, c) == 0 && !p.quick.PassesQuickly(c) {
			t.Errorf("%s: correct, but not on the quick path", c.Name())
		}
	}
	t.Logf("%d classes, %d of them rejected", p.checked, p.rejected)
}

// compareMutants compares the findings for mutants.
func (p *quickPaths) compareMutants(t *testing.T, classes []*classfile.Class, n int, rng *rand.Rand) {
	p.checked, p.rejected = 0, 0
	sorts := mutate.Sorts()
	for tries := 0; p.checked < n && tries < 20*n; tries++ {
		original, donor := classes[rng.IntN(len(classes))], classes[rng.IntN(len(classes))]
		m := mutate.New(original, rng)
		m.Cross(mutate.New(donor, rng))
		kinds := mutate.Weighted(sorts[tries%len(sorts)])
		data, ok := m.Mutate(kinds[rng.IntN(len(kinds))])
		if !ok {
			continue
		}
		if _, major := original.Version(); major > 48 && tries%5 == 0 && len(data) >= 8 { // no frames are looked at
			binary.BigEndian.PutUint16(data[6:], 48)
		}
		if c, err := classfile.Parse(data); err == nil {
			p.compare(t, c)
		}
	}
	t.Logf("%d mutants, %d of them rejected", p.checked, p.rejected)
	if p.checked < n || p.rejected < n/4 {
		t.Errorf("%d mutants, %d of them rejected, are too few", p.checked, p.rejected)
	}
}

// classesOf returns the classes of a jar.
func classesOf(t *testing.T, path string) (classes []*classfile.Class) {
	a, err := jar.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var codec jar.Codec
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if !strings.HasSuffix(e.Name, ".class") || strings.HasPrefix(e.Name, "META-INF/") {
			continue
		}
		data, err := codec.Read(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		classes = append(classes, c)
	}
	return classes
}
