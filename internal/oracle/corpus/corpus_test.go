package corpus_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// isFull reports whether TRACEGEN_CORPUS selects the whole corpus, as make corpus does. Other runs use the small set.
func isFull() bool { return os.Getenv("TRACEGEN_CORPUS") == "full" }

// fetch fetches rows of the corpus, whatever their set, or without names those of the run.
func fetch(t *testing.T, names ...string) []corpus.Jar {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: it works on released jars")
	}
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		names = c.Names(isFull())
	}
	jars, err := c.Fetch(t.Context(), names...)
	oracle.Require(t, err)
	for _, n := range names {
		if !slices.ContainsFunc(jars, func(j corpus.Jar) bool { return j.Name == n }) {
			t.Logf("measured: not run, because its JDK is missing: %s", n)
		}
	}
	return jars
}

// pushed are the jars that each push works on: subroutines, an archive of Android, two compilers, and Java 21.
var pushed = []string{"commons-collections-2.1", "bsh-1.3.0", "lottie-6.6.6", "groovy-json-4.0.28",
	"helidon-common-4.2.2"}

func jobs(jars []corpus.Jar) []oracle.LinkJob {
	list := make([]oracle.LinkJob, len(jars))
	for k, j := range jars {
		list[k] = oracle.LinkJob{ID: j.Name, Jar: j.Classes, Deps: j.DepPaths}
	}
	return list
}

// linkAll links the classes of the jars. Released jars are linked by the oldest JDK from 17 on, which still has more of
// the classes that old jars need, classes that are too new for it by the newest JDK, and modules of a JDK by that JDK.
func linkAll(ctx context.Context, jars []corpus.Jar) ([]oracle.LinkResult, error) {
	jdks, err := oracle.FindJDKs()
	if err != nil {
		return nil, err
	}
	first, err := oracle.FindJDK(17)
	if err != nil {
		return nil, err
	}
	var released []corpus.Jar
	modules := map[oracle.JDK][]corpus.Jar{}
	for _, j := range jars {
		if j.Module == "" {
			released = append(released, j)
		} else {
			modules[j.JDK] = append(modules[j.JDK], j)
		}
	}
	results, err := linkReleased(ctx, jobs(released), first, jdks[len(jdks)-1])
	for jdk, list := range modules {
		if err != nil {
			return nil, err
		}
		var more []oracle.LinkResult
		more, err = oracle.LinkBoot(ctx, jdk, jobs(list))
		results = append(results, more...)
	}
	return results, err
}

func linkReleased(ctx context.Context, list []oracle.LinkJob, first, newest oracle.JDK) ([]oracle.LinkResult, error) {
	results, err := oracle.Link(ctx, first, list)
	if err != nil || newest.Feature == first.Feature {
		return results, err
	}
	tooNew := map[string]bool{}
	for _, r := range results {
		if r.Status == oracle.LinkNewer {
			tooNew[r.Job] = true
		}
	}
	again := slices.DeleteFunc(slices.Clone(list), func(j oracle.LinkJob) bool { return !tooNew[j.ID] })
	later, err := oracle.Link(ctx, newest, again)
	if err != nil {
		return nil, err
	}
	by := map[[2]string]oracle.LinkResult{}
	for _, r := range later {
		by[[2]string{r.Job, r.Entry}] = r
	}
	for k, r := range results {
		if r.Status == oracle.LinkNewer {
			results[k] = by[[2]string{r.Job, r.Entry}]
		}
	}
	return results, nil
}

// TestCorpusOriginalsLink counts the classes of the corpus that a JVM links before they are instrumented. Only those
// can show that instrumenting broke something.
func TestCorpusOriginalsLink(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	results, err := linkAll(t.Context(), jars)
	oracle.Require(t, err)
	total, linked, by50, newer, jdk := 0, 0, 0, 0, 0
	perJar := map[string][2]int{}
	for _, r := range results {
		total++
		n := perJar[r.Job]
		n[1]++
		switch r.Status {
		case oracle.LinkedBy50:
			by50++
			fallthrough
		case oracle.Linked:
			linked++
			n[0]++
		case oracle.LinkNewer:
			newer++
		}
		perJar[r.Job] = n
		if strings.HasPrefix(r.Job, "jdk") {
			jdk++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(perJar)) {
		if n := perJar[name]; n[0] != n[1] {
			t.Logf("%s: %d of %d link", name, n[0], n[1])
		}
	}
	rate := 100 * float64(linked) / float64(total)
	t.Logf("measured: %d jars, %d classes (%d of JDKs), %d link (%.2f %%, %d of them only with their frames ignored), "+
		"%d too new for the JDKs here", len(jars), total, jdk, linked, rate, by50, newer)
	if rate < 95 {
		t.Errorf("only %.2f %% of the originals link, want 95", rate)
	}
}

// TestCorpusKinds checks that the full corpus has every kind of class file that it is meant to have.
func TestCorpusKinds(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	classes, _, err := oracle.Disassemble(t.Context(), jobs(jars), oracle.AsmOptions{})
	oracle.Require(t, err)
	majors := map[int]int{}
	subroutines, released, fromJDK, unread := 0, 0, 0, 0
	for _, c := range classes {
		if strings.HasPrefix(c.Error, "read: ") {
			unread++
			t.Logf("%s!%s: %s", c.Job, c.Entry, c.Error)
			continue
		}
		majors[c.Major]++
		if c.Subroutines {
			subroutines++
		}
		if strings.HasPrefix(c.Job, "jdk") {
			fromJDK++
		} else {
			released++
		}
	}
	var text []string
	for _, m := range slices.Sorted(maps.Keys(majors)) {
		text = append(text, fmt.Sprintf("%d: %d", m, majors[m]))
	}
	t.Logf("measured: %d released classes, %d of JDKs, %d with jsr/ret, %d not read by ASM; by major version %s",
		released, fromJDK, subroutines, unread, strings.Join(text, ", "))
	if !isFull() {
		return
	}
	if released+fromJDK < 60000 || fromJDK > 20000 || subroutines < 300 {
		t.Error("the corpus must have 60,000 classes, at most 20,000 of them of JDKs, and 300 with jsr/ret")
	}
	if majors[45] == 0 {
		t.Error("there is no class of major version 45")
	}
}
