package corpus_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusUntouched runs tracegen with nothing to do: with a rule that blocks all methods, for which each class is
// still read and decided about, and with --disabled. No byte may change.
//
// Invariant: A run that has nothing to do changes no byte.
func TestCorpusUntouched(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := corpus.NeedAll(t)
	bin := oracle.BuildTool(t)
	config := filepath.Join(t.TempDir(), "tracegen.yml")
	fixture.Write(t, config, "rules:\n  - block: \"**\"\n")
	for _, flags := range [][]string{{"--config", config}, {"--disabled"}} {
		n := 0
		for _, m := range instrumentAll(t, bin, jars, flags...) {
			if len(m.mapping) != 0 {
				t.Errorf("%s %v: %d methods in the mapping", m.Name, flags, len(m.mapping))
			}
			n += sameClasses(t, m.Name, m.original, m.Classes)
		}
		t.Logf("measured: %s: %d class files unchanged", flags[0], n)
	}
}

// compile makes a jar of the sources by javac for a release.
func compile(t *testing.T, javac, release string, sources ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"--release", release, "-Xlint:none", "-g", "-d", dir}, sources...)
	fixture.Run(t, exec.Command(javac, args...))
	return oracle.JarOf(t, dir, filepath.Join(t.TempDir(), "shapes-"+release+".jar"))
}
