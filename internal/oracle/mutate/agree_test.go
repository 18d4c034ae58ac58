package mutate_test

import (
	"encoding/binary"
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
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/zipfile"
)

var (
	mutants = flag.Int("mutants", 0, "how many mutants to put to HotSpot; 0: some, or many for the full corpus")
	seed    = flag.Uint64("seed", 1, "for the choice of mutants")
	listed  = flag.Int("list", 40, "how many disagreements to print")
	dump    = flag.String("dump", "", "directory to write disagreements to")
	only    = flag.String("only", "", "sort or kind of mutants to make")
	release = flag.Int("jdk", 17, "`release` of the JDK to compare with, or the next newer one")
	rows    = flag.String("rows", "", "rows of the corpus to take classes from")
)

// mutantRows are rows of the corpus, made by different compilers, of class file versions from 45 to 61. Seeds take
// turns with the two sets; the first is that of an ordinary test run.
var mutantRows = [2][]string{{
	"commons-lang3-3.17.0", "groovy-4.0.28", "spring-core-6.2.7", "kotlin-stdlib-2.2.20", "rhino-1.7.15", "guava-18.0",
	"proguard-base-5.3.3", "ant-1.5.4", "h2-1.3.176", "itext-1.3",
}, {
	"hsqldb-1.8.0.10", "derby-10.1.3.1", "jython-2.2.1", "netty-all-4.0.56.Final", "scala-library-2.11.12",
	"janino-3.1.12", "ecj-4.6.1", "clojure-1.12.0", "xalan-2.7.0", "groovy-all-2.4.21", "antlr-2.7.6",
}}

// newRows are of class file versions up to 67, which JDK 17 cannot read.
var newRows = []string{
	"helidon-common-4.2.2", "lucene-core-10.2.0", "javafx-base-25", "h2-2.3.232", "derby-10.17.1.0",
}

// rowsFor returns the rows for a JDK and a seed.
func rowsFor(jdk int, seed uint64) []string {
	if *rows != "" {
		return strings.Split(*rows, ",")
	}
	names := mutantRows[(seed+1)%2]
	if jdk >= 25 {
		names = append(slices.Clone(names), newRows...)
	}
	return names
}

// The numbers of mutants without the flag: for an ordinary test run, and for the full corpus.
const someMutants, manyMutants = 3000, 140000

// tally counts the results for one kind of mutants.
type tally struct {
	accepted, refused, explained, unexplained int // accepted or refused by both, or a disagreement
	falseAlarms, missed                       int // the disagreements that no rule explains
	findings, single                          int // of mutants that both reject, and those of them with one finding
}

func (a tally) sum() int { return a.accepted + a.refused + a.explained + a.unexplained }

func (a *tally) add(b tally) {
	for _, n := range [][2]*int{
		{&a.accepted, &b.accepted}, {&a.refused, &b.refused}, {&a.explained, &b.explained},
		{&a.unexplained, &b.unexplained}, {&a.falseAlarms, &b.falseAlarms}, {&a.missed, &b.missed},
		{&a.findings, &b.findings}, {&a.single, &b.single},
	} {
		*n[0] += *n[1]
	}
}

// campaign is one run of the test.
type campaign struct {
	t       *testing.T
	jdk     oracle.JDK
	tallies map[mutate.Kind]*tally
	printed int
}

// TestCorpusMutantsAgree compares the type checker with HotSpot for mutants of real classes, with the same class path.
//
// Invariant: A class that HotSpot links has no findings about its types, and one that it rejects has some.
func TestCorpusMutantsAgree(t *testing.T) {
	nightly.Only(t, "mutants")
	jdk := oracle.NeedJDK(t, *release)
	count := *mutants
	if count == 0 {
		count = someMutants
		if corpus.IsFull() {
			count = manyMutants
		}
	}
	jars := corpus.Need(t, rowsFor(jdk.Feature, *seed)...)
	run := &campaign{t: t, jdk: jdk, tallies: map[mutate.Kind]*tally{}}
	for i, j := range jars {
		run.check(j, makeMutants(t, j.Classes, count/len(jars), uint64(i), jdk.MaxMajor()))
	}
	run.report()
}

// check asks HotSpot and the type check about the mutants of a jar.
func (run *campaign) check(j corpus.Jar, made []mutant) {
	t := run.t
	h, err := classpath.Open(append([]string{j.Classes}, append(slices.Clone(j.DepPaths), run.jdk.Home)...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	job := oracle.VariantJob{Jar: j.Classes, Deps: j.DepPaths}
	for _, m := range made {
		job.Variants = append(job.Variants, m.variant)
	}
	verdicts := oracle.LinkVariants(t, run.jdk, job)
	var open []disagreement
	for n, m := range made {
		v := verdicts[n]
		row := run.tallies[m.kind]
		if row == nil {
			row = &tally{}
			run.tallies[m.kind] = row
		}
		complaint, findings := firstFinding(m.variant, h)
		if !run.agree(row, v, complaint, findings) {
			open = append(open, disagreement{number: n, kind: m.kind, variant: m.variant, maxMajor: run.jdk.MaxMajor(),
				verdict: v, complaint: complaint})
		}
	}
	run.askOlder(j, open)
	for _, d := range open {
		run.count(d)
	}
}

// agree counts a mutant of which both say the same.
func (run *campaign) agree(row *tally, v oracle.Verdict, complaint string, findings int) bool {
	switch {
	case complaint == "" && v.Linked:
		row.accepted++
	case complaint != "" && !v.Linked:
		row.refused++
		row.findings += findings
		if findings == 1 {
			row.single++
		}
	default:
		return false
	}
	return true
}

// askOlder asks HotSpot 17 about mutants of versions up to 61, which the type check treats as HotSpot 17 does.
func (run *campaign) askOlder(j corpus.Jar, open []disagreement) {
	older, err := oracle.FindJDK(17)
	if err != nil || older.Feature != 17 || run.jdk.Feature == 17 {
		return
	}
	job := oracle.VariantJob{Jar: j.Classes, Deps: j.DepPaths}
	var asked []int
	for i, d := range open {
		if _, explained := explain(d); !explained && int(binary.BigEndian.Uint16(d.variant.Data[6:])) <= older.MaxMajor() {
			job.Variants = append(job.Variants, d.variant)
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return
	}
	verdicts := oracle.LinkVariants(run.t, older, job)
	for n, i := range asked {
		open[i].older = &verdicts[n]
	}
}

// count counts a mutant of which they say different things.
func (run *campaign) count(d disagreement) {
	row, v := run.tallies[d.kind], d.verdict
	if rule, ok := explain(d); ok {
		row.explained++
		if rule != "missing class" && rule != "newer version" {
			run.t.Logf("explained: %s: %s, %s: HotSpot %s %s; we %q", rule, d.kind, d.variant.Class, v.Exception, v.Message,
				d.complaint)
		}
		return
	}
	row.unexplained++
	if v.Linked {
		row.falseAlarms++
	} else {
		row.missed++
	}
	if run.printed++; run.printed <= *listed {
		run.t.Logf("%s %s #%d: HotSpot %s %s; we %q", d.kind, d.variant.Class, d.number, v.Exception, v.Message,
			d.complaint)
	}
	if *dump != "" {
		name := fmt.Sprintf("%s/%d-%s.class", *dump, run.printed, strings.ReplaceAll(d.variant.Class, "/", "."))
		if err := os.WriteFile(name, d.variant.Data, 0o644); err != nil {
			run.t.Fatal(err)
		}
	}
}

// report prints the results and fails for a mutant that no rule explains.
func (run *campaign) report() {
	var all tally
	for _, sort := range mutate.Sorts() {
		var sum tally
		kinds := mutate.Weighted(sort)
		slices.Sort(kinds)
		for _, kind := range slices.Compact(kinds) {
			if row := run.tallies[kind]; row != nil {
				line(run.t, string(kind), *row)
				sum.add(*row)
			}
		}
		line(run.t, "all: "+string(sort), sum)
		all.add(sum)
	}
	line(run.t, "all", all)
	if all.unexplained > 0 {
		run.t.Errorf("%d of %d mutants have another result than with HotSpot, and no rule explains it: run with -list, "+
			"-dump", all.unexplained, all.sum())
	}
}

func line(t *testing.T, kind string, row tally) {
	t.Logf("measured: %-30s %6d mutants, %6d accepted by both, %6d refused by both, %4d explained, %4d false alarms, "+
		"%4d missed", kind, row.sum(), row.accepted, row.refused, row.explained, row.falseAlarms, row.missed)
	caught := float64(max(1, row.refused))
	t.Logf("measured: %-30s one fault is %.2f findings; one finding for %.1f %% of the mutants", kind,
		float64(row.findings)/caught, 100*float64(row.single)/caught)
}

type mutant struct {
	sort    mutate.Sort
	kind    mutate.Kind
	variant oracle.Variant
}

// makeMutants makes n mutants of a jar's classes.
func makeMutants(t *testing.T, path string, n int, stream uint64, maxMajor int) []mutant {
	a, err := zipfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var codec zipfile.Codec
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
	sorts := mutate.Sorts()
	mutators := map[*classfile.Class]*mutate.Mutator{}
	mutator := func() (*classfile.Class, *mutate.Mutator) {
		c := classes[rng.IntN(len(classes))]
		if mutators[c] == nil {
			mutators[c] = mutate.New(c, rng)
		}
		return c, mutators[c]
	}
	seen := map[uint64]bool{}
	var made []mutant
	for tries := 0; len(made) < n && tries < 50*n; tries++ {
		c, m := mutator()
		_, donor := mutator()
		m.Cross(donor)
		sort := sorts[len(made)%len(sorts)]
		kinds := mutate.Weighted(sort)
		kind := kinds[rng.IntN(len(kinds))]
		if *only != "" && *only != string(sort) && *only != string(kind) {
			continue
		}
		data, ok := m.Mutate(kind)
		if !ok {
			continue
		}
		framesCount(c, sort, data, rng)
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
		made = append(made, mutant{sort, kind, oracle.Variant{Class: c.Name(), Data: data}})
	}
	return made
}

// framesCount sets the version of most mutants of version 50 to 51, so that wrong frames are an error: HotSpot infers
// the types of version 50 instead and links the class.
func framesCount(c *classfile.Class, sort mutate.Sort, data []byte, rng *rand.Rand) {
	if _, major := c.Version(); major == 50 && sort != mutate.Structure && rng.IntN(4) > 0 {
		binary.BigEndian.PutUint16(data[6:], 51)
	}
}

// firstFinding returns the type checker's first finding, "" if there is none, and the number of findings.
func firstFinding(v oracle.Variant, h types.Hierarchy) (complaint string, findings int) {
	c, err := classfile.Parse(v.Data)
	if err != nil {
		return err.Error(), 1
	}
	k := types.Checker{Hierarchy: h, Frames: true}
	r := k.Check(c)
	if len(r.Findings) == 0 {
		return "", 0
	}
	return r.Findings[0].String() + " " + r.Findings[0].Frame, len(r.Findings)
}
