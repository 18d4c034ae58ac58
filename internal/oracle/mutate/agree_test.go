package mutate_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
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

var (
	mutants = flag.Int("mutants", 0, "how many mutants to put to HotSpot; 0: some, or many for the full corpus")
	seed    = flag.Uint64("seed", 1, "for the choice of mutants")
	listed  = flag.Int("list", 40, "how many disagreements to print")
	others  = flag.Bool("others", false, "ask java.lang.classfile and ASM too")
	dump    = flag.String("dump", "", "directory to write disagreements to")
	only    = flag.String("only", "", "kind of mutants to make")
	release = flag.Int("jdk", 17, "`release` of the JDK to compare with, or the next newer one")
	rows    = flag.String("rows", "", "rows of the corpus to take classes from")
)

// mutantRows are rows of the corpus, made by different compilers, of class file versions from 45 to 69.
var mutantRows = []string{
	"commons-lang3-3.17.0", "groovy-4.0.28", "spring-core-6.2.7", "kotlin-stdlib-2.2.20", "rhino-1.7.15", "guava-18.0",
	"proguard-base-5.3.3", "ant-1.5.4", "h2-1.3.176", "itext-1.3",
}

// The numbers of mutants without the flag: for an ordinary test run, and for the full corpus.
const someMutants, manyMutants = 2000, 140000

// tally counts the results for one kind of mutants.
type tally struct {
	made, rejected, falseAlarms, missed, left int
	jdkFalse, jdkMissed, asmFalse, asmMissed  int // of the other verifiers
	findings, single                          int // of mutants that both reject, and those of them with one finding
}

// addResult adds the result for a mutant that HotSpot links or does not.
func addResult(accepted, linked bool, falseAlarms, missed *int) {
	switch {
	case linked && !accepted:
		*falseAlarms++
	case !linked && accepted:
		*missed++
	}
}

// TestCorpusMutantsAgree compares the type checker with HotSpot for mutants of real classes, with the same class path.
//
// Invariant: A class that HotSpot links has no findings about its types, and one that it rejects has some.
func TestCorpusMutantsAgree(t *testing.T) {
	if os.Getenv("TRACEGEN_CORPUS") == "off" || testing.Short() {
		t.Skip("mutants are not linked by HotSpot in short tests")
	}
	count := *mutants
	if count == 0 {
		count = someMutants
		if os.Getenv("TRACEGEN_CORPUS") == "full" {
			count = manyMutants
		}
	}
	ctx := context.Background()
	jdk, err := oracle.FindJDK(*release)
	oracle.Require(t, err)
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	names := mutantRows
	if *rows != "" {
		names = strings.Split(*rows, ",")
	}
	jars, err := c.Fetch(ctx, names...)
	oracle.Require(t, err)
	tallies := map[mutate.Kind]*tally{}
	printed := 0
	for i, j := range jars {
		h, err := classpath.Open(append([]string{j.Classes}, append(slices.Clone(j.DepPaths), jdk.Home)...)...)
		if err != nil {
			t.Fatal(err)
		}
		made := makeMutants(t, j.Classes, count/len(jars), uint64(i), jdk.MaxMajor())
		job := oracle.VariantJob{Jar: j.Classes, Deps: j.DepPaths}
		for _, m := range made {
			job.Variants = append(job.Variants, m.variant)
		}
		verdicts, err := oracle.LinkVariants(ctx, jdk, []oracle.VariantJob{job})
		oracle.Require(t, err)
		var opinions [][]oracle.Opinion
		if *others {
			opinions, err = oracle.VariantOpinions(ctx, []oracle.VariantJob{job})
			oracle.Require(t, err)
		}
		for n, m := range made {
			v := verdicts[0][n]
			row := tallies[m.kind]
			if row == nil {
				row = &tally{}
				tallies[m.kind] = row
			}
			if v.MissingClass() {
				row.left++
				continue
			}
			row.made++
			if !v.Linked {
				row.rejected++
			}
			if opinions != nil {
				addResult(opinions[0][n].ClassFile, v.Linked, &row.jdkFalse, &row.jdkMissed)
				addResult(opinions[0][n].ASM, v.Linked, &row.asmFalse, &row.asmMissed)
			}
			complaint, unknown, findings := firstFinding(m.variant, h)
			if (complaint == "") == v.Linked {
				row.findings += findings
				if findings == 1 {
					row.single++
				}
				continue
			}
			addResult(complaint == "", v.Linked, &row.falseAlarms, &row.missed)
			if printed++; printed <= *listed {
				t.Logf("%s %s #%d: HotSpot %s %s; we %q (unknown %v)", m.kind, m.variant.Class, n, v.Exception, v.Message,
					complaint, unknown)
			}
			if *dump != "" {
				name := fmt.Sprintf("%s/%d-%s.class", *dump, printed, strings.ReplaceAll(m.variant.Class, "/", "."))
				if err := os.WriteFile(name, m.variant.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		h.Close()
	}
	report(t, tallies)
}

func report(t *testing.T, tallies map[mutate.Kind]*tally) {
	var all tally
	kinds := mutate.Weighted()
	slices.Sort(kinds)
	for _, kind := range slices.Compact(kinds) {
		row := tallies[kind]
		if row == nil {
			continue
		}
		line(t, string(kind), *row)
		if wrong := row.falseAlarms + row.missed; wrong > 1 && wrong*100 > row.made {
			t.Errorf("%s: %d of %d mutants have another result than with HotSpot", kind, wrong, row.made)
		}
		all.made += row.made
		all.rejected += row.rejected
		all.falseAlarms += row.falseAlarms
		all.missed += row.missed
		all.left += row.left
		all.jdkFalse += row.jdkFalse
		all.jdkMissed += row.jdkMissed
		all.asmFalse += row.asmFalse
		all.asmMissed += row.asmMissed
		all.findings += row.findings
		all.single += row.single
	}
	line(t, "all", all)
	if wrong := all.falseAlarms + all.missed; wrong > 1 && wrong*1000 > all.made {
		t.Errorf("%d of %d mutants have another result than with HotSpot", wrong, all.made)
	}
}

func line(t *testing.T, kind string, row tally) {
	alike := 100 * float64(row.made-row.falseAlarms-row.missed) / float64(max(1, row.made))
	t.Logf("measured: %-24s %6d mutants, %6d rejected by HotSpot, %4d false alarms, %4d missed, %7.3f %% alike, %d "+
		"left out",
		kind, row.made, row.rejected, row.falseAlarms, row.missed, alike, row.left)
	caught := float64(max(1, row.rejected-row.missed))
	t.Logf("measured: %-24s one fault is %.2f findings; one finding for %.1f %% of the mutants", kind,
		float64(row.findings)/caught, 100*float64(row.single)/caught)
	if *others {
		t.Logf("measured: %-24s java.lang.classfile %d false alarms, %d missed; ASM %d, %d", kind, row.jdkFalse,
			row.jdkMissed, row.asmFalse, row.asmMissed)
	}
}

type mutant struct {
	kind    mutate.Kind
	variant oracle.Variant
}

// makeMutants makes n mutants of a jar's classes.
func makeMutants(t *testing.T, path string, n int, stream uint64, maxMajor int) []mutant {
	a, err := jar.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var codec jar.Codec
	var classes []*classfile.Class
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if !strings.HasSuffix(e.Name, ".class") || strings.HasPrefix(e.Name, "META-INF/") ||
			strings.HasSuffix(e.Name, "module-info.class") {
			continue
		}
		data, err := codec.Read(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(data)
		if err != nil {
			continue
		}
		if _, major := c.Version(); int(major) <= maxMajor && c.Name()+".class" == e.Name {
			classes = append(classes, c)
		}
	}
	rng := rand.New(rand.NewPCG(*seed, stream))
	kinds := mutate.Weighted()
	if *only != "" {
		kinds = []mutate.Kind{mutate.Kind(*only)}
	}
	seen := map[uint64]bool{}
	var made []mutant
	for tries := 0; len(made) < n && tries < 50*n; tries++ {
		c := classes[rng.IntN(len(classes))]
		kind := kinds[rng.IntN(len(kinds))]
		data, ok := mutate.New(c, rng).Mutate(kind)
		if !ok {
			continue
		}
		sum := fnv.New64a()
		sum.Write(data)
		if seen[sum.Sum64()] {
			continue
		}
		seen[sum.Sum64()] = true
		// A class with another name is not found, whatever it contains.
		if changed, err := classfile.Parse(data); err == nil && changed.Name() != c.Name() {
			continue
		}
		made = append(made, mutant{kind, oracle.Variant{Class: c.Name(), Data: data}})
	}
	return made
}

// firstFinding returns the type checker's first finding, "" if there is none, and the number of findings.
func firstFinding(v oracle.Variant, h types.Hierarchy) (complaint string, unknown []string, findings int) {
	c, err := classfile.Parse(v.Data)
	if err != nil {
		return err.Error(), nil, 1
	}
	k := types.Checker{Hierarchy: h, Frames: true}
	r := k.Check(c)
	if len(r.Findings) == 0 {
		return "", r.Unknown, 0
	}
	return r.Findings[0].String() + " " + r.Findings[0].Frame, r.Unknown, len(r.Findings)
}
