package corpus_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
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
	if err := os.WriteFile(config, []byte("rules:\n  - block: \"**\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
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

// TestCorpusStable instruments the same classes in ways that must not change the result: with one worker and with
// eight, with the entries of the jar shuffled, with other times, another name and directory of the file, another time
// zone and locale, and with the output as the input.
//
// Invariant: Workers, the order of entries, times, names, time zone and locale do not change the output, and neither
// does instrumenting twice.
func TestCorpusStable(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := corpus.NeedAll(t)
	bin := oracle.BuildTool(t)
	n := 0
	for _, mode := range []string{"throws", "exact"} {
		flags := []string{"--exits", mode, "--set", "trivial=none"}
		first := instrumentAll(t, bin, jars, append(flags, "-j", "1")...)
		var again []corpus.Jar
		for _, m := range first {
			out := m.Jar
			out.Path = m.released
			again = append(again, out)
		}
		twice := instrumentAll(t, bin, again, append(flags, "-j", "8")...)
		for k, m := range first {
			n += sameClasses(t, m.Name+" twice", m.Classes, twice[k].Classes)
			sameMapping(t, m.Name+" twice", m.mapping, twice[k].mapping)
		}
		t.Setenv("TZ", "Asia/Kathmandu")
		t.Setenv("LC_ALL", "tr_TR.UTF-8")
		var moved []corpus.Jar
		for _, j := range jars {
			j.Path = shuffle(t, j.Classes)
			j.Classes = j.Path
			moved = append(moved, j)
		}
		for k, m := range instrumentAll(t, bin, moved, append(flags, "-j", "8")...) {
			n += sameSet(t, m.Name, first[k].Classes, m.Classes)
			sameMapping(t, m.Name, first[k].mapping, m.mapping)
		}
	}
	t.Logf("measured: %d class files are the same whatever the workers, order, times, names, zone, and when "+
		"instrumented twice", n)
}

func sameMapping(t *testing.T, name string, want, got map[string]int) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d methods in the mapping, want %d", name, len(got), len(want))
	}
	for method, id := range want {
		if got[method] != id {
			t.Errorf("%s: %s has ID %d, want %d", name, method, got[method], id)
			return
		}
	}
}

// sameSet is like sameClasses, but for jars whose entries are in different order.
func sameSet(t *testing.T, name, want, got string) int {
	t.Helper()
	by := map[string][]byte{}
	for _, f := range classFiles(t, got) {
		by[f.name] = f.data
	}
	files := classFiles(t, want)
	for _, f := range files {
		if !bytes.Equal(f.data, by[f.name]) {
			t.Errorf("%s!%s differs", name, f.name)
		}
	}
	return len(files)
}

// shuffle writes the entries of a jar in reverse order, with another time, to a file of another name. Of entries with
// one name it keeps the first only, because their order would otherwise matter.
func shuffle(t *testing.T, jar string) string {
	t.Helper()
	in, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	to := filepath.Join(t.TempDir(), "another name.jar")
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := zip.NewWriter(f)
	var files []*zip.File
	seen := map[string]bool{}
	for _, e := range in.File {
		if !seen[e.Name] && !strings.HasSuffix(e.Name, "/") {
			seen[e.Name] = true
			files = append(files, e)
		}
	}
	slices.Reverse(files)
	for _, e := range files {
		header := e.FileHeader
		header.Modified = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		w, err := out.CreateRaw(&header)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := e.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

// compile makes a jar of the sources by javac for a release.
func compile(t *testing.T, javac, release string, sources ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"--release", release, "-Xlint:none", "-g", "-d", dir}, sources...)
	if out, err := exec.Command(javac, args...).CombinedOutput(); err != nil {
		t.Fatalf("javac --release %s: %v\n%s", release, err, out)
	}
	return oracle.JarOf(t, dir, filepath.Join(t.TempDir(), "shapes-"+release+".jar"))
}
