package corpus_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestCorpusRenamed instruments a real library that ProGuard has renamed in two ways. Under their original names
// methods have the IDs that they have without renaming, and every class that linked before still links.
//
// Invariant: Methods keep their IDs in a library that ProGuard renames in two ways, and its classes still link.
func TestCorpusRenamed(t *testing.T) {
	nightly.Only(t, "corpora")
	library := corpus.Need(t, "guava-18.0")[0]
	bin := oracle.BuildTool(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	letters := "abcdefghijklmnopqrstuvwxyz"
	for n, rules := range [][]string{{"-repackageclasses", "one"},
		{"-flattenpackagehierarchy", "two", "-classobfuscationdictionary", at("words"), "-obfuscationdictionary",
			at("words")}} {
		var words strings.Builder
		for i := range 2000 {
			words.WriteString(string(letters[(i*7+3)%26]) + string(letters[i%26]) + string(letters[i/26%26]) +
				string(letters[i/676]) + "\n")
		}
		fixture.Write(t, at("words"), words.String())
		oracle.Require(t, findProGuard(t).Rename(t.Context(), library.Classes, at([]string{"one.jar", "two.jar"}[n]),
			at([]string{"one.map", "two.map"}[n]), rules...))
	}
	instrument := func(in, out, mapping string, flags ...string) map[string]int {
		t.Helper()
		tracegen(t, bin, append([]string{"instrument", in, "-o", at(out), "--mapping", at(mapping), "--runtime-external",
			"--set", "trivial=none",
			"--compression", "fast", "-q"}, flags...)...)
		return readMapping(t, at(mapping))
	}
	compiled := instrument(library.Classes, "compiled.jar", "compiled.txt")
	first := instrument(at("one.jar"), "first.jar", "first.txt", "--r8-mapping", at("one.map"), "--base",
		at("compiled.txt"))
	second := instrument(at("two.jar"), "second.jar", "second.txt", "--r8-mapping", at("two.map"), "--base",
		at("first.txt"))
	if !maps.Equal(first, second) {
		t.Errorf("renamed %d and %d methods; they differ: %s", len(first), len(second), firstDifference(first, second))
	}
	// ProGuard removes the bridge flag from bridges that it renames, so that more methods are traced.
	for name, id := range compiled {
		if first[name] != id {
			t.Errorf("%s has ID %d without renaming, but %d with it", name, id, first[name])
		}
	}

	jdk := oracle.NeedJDK(t, 17)
	link := func(jars ...string) []oracle.LinkResult {
		t.Helper()
		var list []oracle.LinkJob
		for _, name := range jars[1:] {
			list = append(list, oracle.LinkJob{ID: jars[0] + name, Jar: at(name), Deps: library.DepPaths})
		}
		results := oracle.Link(t, jdk, list)
		for i := range results {
			results[i].Job = ""
		}
		return results
	}
	for before, after := range map[string]string{"one.jar": "first.jar", "two.jar": "second.jar"} {
		lost := oracle.Regressions(link("", before), link("", after))
		for _, r := range lost {
			t.Errorf("%s: %s linked before: %s", after, r.Entry, r.Message)
		}
	}
	t.Logf("measured: guava 18 renamed by ProGuard in two ways: %d methods have the IDs that they have without "+
		"renaming, and %d keep them from one to the other; no class links less", len(compiled), len(second))
}

// firstDifference returns a method whose ID is not the same everywhere.
func firstDifference(list ...map[string]int) string {
	for _, m := range list {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			for _, other := range list {
				if id, ok := other[name]; !ok || id != m[name] {
					return name
				}
			}
		}
	}
	return ""
}

func findProGuard(t *testing.T) oracle.ProGuard {
	t.Helper()
	jdk := oracle.NeedJDK(t, 17)
	p := oracle.FindProGuard(t, jdk)
	return p
}
