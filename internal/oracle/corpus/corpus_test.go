package corpus_test

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

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

// linkAll links the classes of the jars by the oldest JDK from 17 on, which still has more of the classes that old jars
// need, and classes that are too new for it by the newest JDK.
func linkAll(t *testing.T, jars []corpus.Jar) []oracle.LinkResult {
	t.Helper()
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	first := oracle.NeedJDK(t, 17)
	list, newest := jobs(jars), jdks[len(jdks)-1]
	results := oracle.Link(t, first, list)
	if newest.Feature == first.Feature {
		return results
	}
	tooNew := map[string]bool{}
	for _, r := range results {
		if r.Status == oracle.LinkNewer {
			tooNew[r.Job] = true
		}
	}
	again := slices.DeleteFunc(slices.Clone(list), func(j oracle.LinkJob) bool { return !tooNew[j.ID] })
	by := map[[2]string]oracle.LinkResult{}
	for _, r := range oracle.Link(t, newest, again) {
		by[[2]string{r.Job, r.Entry}] = r
	}
	for k, r := range results {
		if r.Status == oracle.LinkNewer {
			results[k] = by[[2]string{r.Job, r.Entry}]
		}
	}
	return results
}

// checkLinked checks how many of the originals link. Only those can show that instrumenting broke something.
func checkLinked(t *testing.T, jars []corpus.Jar, results []oracle.LinkResult) {
	t.Helper()
	linked, newer := 0, 0 // newer are too new for every JDK that is installed
	for _, r := range results {
		switch r.Status {
		case oracle.Linked, oracle.LinkedBy50:
			linked++
		case oracle.LinkNewer:
			newer++
		}
	}
	rate := 100 * float64(linked) / float64(len(results)-newer)
	t.Logf("measured: %d jars, %d classes, of which %d are newer than the JDK; %.2f %% of the others link", len(jars),
		len(results), newer, rate)
	if rate < 95 {
		t.Errorf("only %.2f %% of the originals link, want 95", rate)
	}
}

// checkKinds checks that the full corpus has the kinds of class files that it is meant to have.
func checkKinds(t *testing.T, classes []oracle.AsmClass) {
	t.Helper()
	majors, subroutines := map[int]int{}, 0
	for _, c := range classes {
		majors[c.Major]++
		if c.Subroutines {
			subroutines++
		}
	}
	t.Logf("measured: %d classes, %d with jsr/ret; by major version %v", len(classes), subroutines, majors)
	if len(classes) < 60000 || subroutines < 300 || majors[45] == 0 {
		t.Error("the corpus must have 60,000 classes, 300 with jsr/ret, and some of major version 45")
	}
}
