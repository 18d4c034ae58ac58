package corpus_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// make corpus sets it; an ordinary test run has minutes only for the small share.
var full = flag.Bool("full", false, "use the full corpus and not its small share")

func fetch(t *testing.T) []corpus.Jar {
	t.Helper()
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(t.Context(), c.Names(*full)...)
	oracle.Require(t, err)
	return jars
}

func jobs(jars []corpus.Jar) []oracle.LinkJob {
	list := make([]oracle.LinkJob, len(jars))
	for k, j := range jars {
		list[k] = oracle.LinkJob{ID: j.Name, Jar: j.Classes, Deps: j.DepPaths}
	}
	return list
}

// linkAll links the jobs on the oldest JDK from 17 on, and what is too new for that one on the newest
// that is installed. JDK 17 judges all it can: newer ones no longer have classes that old jars use.
func linkAll(ctx context.Context, list []oracle.LinkJob) ([]oracle.LinkResult, error) {
	jdks, err := oracle.FindJDKs()
	if err != nil {
		return nil, err
	}
	first, err := oracle.FindJDK(17)
	if err != nil {
		return nil, err
	}
	newest := jdks[len(jdks)-1]
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
	var again []oracle.LinkJob
	for _, j := range list {
		if tooNew[j.ID] {
			again = append(again, j)
		}
	}
	later, err := oracle.Link(ctx, newest, again)
	if err != nil {
		return nil, err
	}
	type key struct{ job, entry string }
	by := map[key]oracle.LinkResult{}
	for _, r := range later {
		by[key{r.Job, r.Entry}] = r
	}
	for k, r := range results {
		if r.Status == oracle.LinkNewer {
			results[k] = by[key{r.Job, r.Entry}]
		}
	}
	return results, nil
}

// TestOriginalsLink shows what the corpus is worth: how many of its classes a JVM takes before
// tracegen has touched them, for only those can show that something was broken.
func TestOriginalsLink(t *testing.T) {
	jars := fetch(t)
	results, err := linkAll(t.Context(), jobs(jars))
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
	t.Logf("%d jars, %d classes (%d of JDKs), %d link (%.2f %%, %d of them only with their frames ignored), "+
		"%d too new for the JDKs here", len(jars), total, jdk, linked, rate, by50, newer)
	if rate < 95 {
		t.Errorf("only %.2f %% of the originals link, want 95", rate)
	}
}

// TestKinds holds the full corpus to what it is there for.
func TestKinds(t *testing.T) {
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
	t.Logf("%d released classes, %d of JDKs, %d with jsr/ret, %d not read by ASM; by major version %s",
		released, fromJDK, subroutines, unread, strings.Join(text, ", "))
	if !*full {
		return
	}
	if released+fromJDK < 60000 || fromJDK > 20000 || subroutines < 300 {
		t.Error("the corpus no longer has 60,000 classes, at most 20,000 of JDKs, 300 with jsr/ret")
	}
	if majors[45] == 0 {
		t.Error("no class of major version 45")
	}
}
