package corpus_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusEveryRelease compiles small programs for every release that the newest installed javac supports, because
// released jars hardly have versions between the long-term ones, and checks them as released jars are checked. Without
// the full corpus it uses some releases only.
func TestCorpusEveryRelease(t *testing.T) {
	nightly.Only(t, "corpora")
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	jdk := jdks[len(jdks)-1]
	var jars []corpus.Jar
	for release := 8; release <= jdk.Feature; release++ {
		if !corpus.IsFull() && !slices.Contains([]int{8, 12, 17, 21, jdk.Feature}, release) {
			continue
		}
		var sources []string
		for _, since := range []int{8, 17, 21, 25} {
			if since <= release {
				sources = append(sources, filepath.Join("testdata", "shapes", "Since"+strconv.Itoa(since)+".java"))
			}
		}
		jar := compile(t, jdk.Tool("javac"), strconv.Itoa(release), sources...)
		jars = append(jars, corpus.Jar{Row: corpus.Row{Name: strconv.Itoa(release)}, Path: jar, Classes: jar})
	}
	if jdk.Feature < 25 {
		t.Logf("measured: no JDK 25 here (newest is %d): newer class files and code before super() not run", jdk.Feature)
	}
	bin := oracle.BuildTool(t)
	linked := oracle.Link(t, jdk, jobs(jars))
	for _, r := range linked {
		if r.Status != oracle.Linked {
			t.Fatalf("release %s: %s: %s", r.Job, r.Class, r.Message)
		}
	}
	classes, methods := oracle.Disassemble(t, jobs(jars), oracle.AsmOptions{Check: true})
	before := asmIndex(classes, methods)
	for _, flags := range []string{"normal", "throws", "exact", "throws --set constructor-entry=after-super",
		"normal --set constructor-entry=after-super"} {
		t.Run(flags, func(t *testing.T) {
			f := strings.Fields(flags)
			made := instrumentAll(t, bin, jars, append([]string{"--set", "trivial=none", "--exits"}, f...)...)
			now := oracle.Link(t, jdk, jobs(outputs(made)))
			for _, r := range oracle.Regressions(linked, now) {
				t.Errorf("release %s: %s: %s", r.Job, r.Class, r.Message)
			}
			classes, methods := oracle.Disassemble(t, jobs(outputs(made)), oracle.AsmOptions{Check: true})
			after := asmIndex(classes, methods)
			compareAsm(t, before, after)
			traced := compareMethods(t, made, before, after, f[0], len(f) > 1 || f[0] == "exact")
			compareStripped(t, bin, made)
			t.Logf("measured: %s: %d releases from 8 to %d, %d classes, %d methods traced", t.Name(), len(jars), jdk.Feature,
				len(now), traced)
		})
	}
}
