package art

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// TestPairs measures what an entry and an exit cost on ART in each state of the recorder, beside a plain ring and
// Matrix's class in the same process. It checks no time; docs/performance.md has figures. Each process is one run;
// TRACEGEN_RUNS is their number.
func TestPairs(t *testing.T) {
	nightly.Only(t, "art")
	b := NeedCompiler(t)
	runs := numberOfRuns(t)
	dex := buildPairs(t, b)
	// The states, with the recorder's status in them.
	states := []struct{ name, status string }{{"start", "1"}, {"on", "2"}, {"off", "-1"}, {"gated", "2"},
		{"let-go", "2"}}
	times := map[string][]float64{}
	for range runs {
		for _, s := range states {
			for _, jit := range []bool{false, true} {
				args := []string{s.name, "11", "2000", t.TempDir()}
				if jit {
					args[1], args[2] = "41", "20000"
				}
				r := b.Run(t, Program{ClassPath: []string{dex}, Main: "art.Pairs", Args: args, JIT: jit})
				for line := range strings.Lines(r.Stdout) {
					row, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
					ns, err := strconv.ParseFloat(value, 64)
					if err != nil || row == "status" && value != s.status {
						t.Errorf("%s, JIT %t: %s\n%s", s.name, jit, line, r.Stderr)
					}
					key := fmt.Sprint(s.name, " ", jit, " ", row)
					times[key] = append(times[key], ns)
				}
			}
		}
	}
	for _, s := range states {
		for _, jit := range []bool{false, true} {
			row := fmt.Sprintf("measured: %s, JIT %t, ns a pair:", s.name, jit)
			for _, of := range []string{"plain", "matrix", "ours"} {
				all := times[fmt.Sprint(s.name, " ", jit, " ", of)]
				if len(all) != runs {
					t.Fatalf("%s, JIT %t: %d results of %s, want %d", s.name, jit, len(all), of, runs)
				}
				slices.Sort(all)
				row += fmt.Sprintf(" %s %.1f (%.1f to %.1f)", of, all[runs/2], all[0], all[runs-1])
			}
			t.Log(row)
		}
	}
}

// numberOfRuns is 1, or TRACEGEN_RUNS.
func numberOfRuns(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TRACEGEN_RUNS")
	if text == "" {
		return 1
	}
	runs, err := strconv.Atoi(text)
	if err != nil || runs < 1 {
		t.Fatalf("TRACEGEN_RUNS is %q, want a number of runs", text)
	}
	return runs
}

// buildPairs returns a jar of DEX files with the program that measures, the recorder, and Matrix's published class.
func buildPairs(t *testing.T, b *Bench) string {
	t.Helper()
	dir := t.TempDir()
	jars := make([]string, 0, 3)
	for _, f := range runtimejars.All() {
		if f.Name == runtimejars.CoreName {
			jars = append(jars, filepath.Join(dir, f.Name))
			fixture.Write(t, jars[0], f.Data)
		}
	}
	cache, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	for _, name := range []string{"matrix-trace-canary", "matrix-android-lib"} {
		a := oracle.Artifact{Group: "com.tencent.matrix", Name: name, Version: "0.6.0", Type: "aar"}
		oracle.Require(t, oracle.FetchMaven(t.Context(), cache, []oracle.Artifact{a}))
		jar, err := corpus.ClassesOfAAR(filepath.Join(cache, a.File()), filepath.Join(dir, name+".jar"))
		oracle.Require(t, err)
		jars = append(jars, jar)
	}
	return b.dexOf(t, "pairs.jar", []string{"Pairs.java"}, jars...)
}

// dexOf returns a jar of DEX files of that name, with programs of runtime-java/bench/src/art and the jars that they
// use.
func (b *Bench) dexOf(t *testing.T, name string, sources []string, jars ...string) string {
	t.Helper()
	dir, classes := t.TempDir(), t.TempDir()
	root, err := oracle.Root()
	if err != nil {
		t.Fatal(err)
	}
	files := make([]string, len(sources))
	for i, source := range sources {
		files[i] = filepath.Join(root, "runtime-java/bench/src/art", source)
	}
	b.javac(t, classes, jars, files...)
	dex := filepath.Join(dir, name)
	b.D8(t, dex, append(oracle.ClassFiles(t, classes), jars...)...)
	return dex
}
