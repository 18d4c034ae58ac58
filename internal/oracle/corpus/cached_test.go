package corpus_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// TestCorpusCached builds the corpus, some jars at a time, without a cache and with one: with an empty cache, with a
// full one, with a full one after the outputs were removed, and after a rule was added. Files, lists, reports and
// everything that is printed must be the same.
//
// Invariant: A build with a cache writes for the corpus what a build without one writes.
func TestCorpusCached(t *testing.T) {
	nightly.Only(t, "corpora")
	jars := fetch(t)
	bin := buildTool(t)
	modes := [][]string{{"--exits", "throws", "--trivial", "none"}, {"--exits", "exact", "--compression", "store"},
		{"--exits", "normal", "--verify", "equivalence", "--id-order", "compact"}}
	files, left := 0, 0
	for bunch := 0; len(jars) > 0; bunch++ {
		dir := t.TempDir()
		var inputs []string
		var size int64
		for len(jars) > 0 && size < bunchBytes {
			info, err := os.Stat(jars[0].Path)
			if err != nil {
				t.Fatal(err)
			}
			inputs, size, jars = append(inputs, jars[0].Path), size+info.Size(), jars[1:]
		}
		build := func(what, out string, flags ...string) (said string) {
			t.Helper()
			args := append([]string{"instrument", "-o", out + "/", "--runtime-external", "--report", out + "/report.json",
				"--skipped", out + "/skipped.tsv", "--lines", out + "/lines.tsv"}, inputs...)
			cmd := exec.Command(bin, append(args, flags...)...)
			cmd.Dir = dir
			output, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", what, err, output)
			}
			return strings.ReplaceAll(string(output), out+"/", "OUT/")
		}
		for _, mode := range modes {
			want := build("without a cache", "cold", mode...)
			for _, what := range []string{"empty cache", "all is known", "outputs are gone"} {
				if what == "outputs are gone" {
					if err := os.RemoveAll(filepath.Join(dir, "warm")); err != nil {
						t.Fatal(err)
					}
				}
				if got := build(what, "warm", append(mode, "--cache", "kept")...); got != want {
					t.Errorf("%v, %s: printed\n%s\nwithout a cache\n%s", mode, what, got, want)
				}
				files += compareOutputs(t, fmt.Sprint(mode, what), filepath.Join(dir, "cold"), filepath.Join(dir, "warm"))
			}
			output := build("what was taken over", "warm", append(mode, "--cache", "kept", "-v")...)
			if strings.Contains(output, fmt.Sprintf("cache: %d inputs known, %[1]d outputs left alone, 0 copied, 0 written",
				len(inputs))) {
				left += len(inputs)
			} else {
				t.Errorf("%v: the cache was not used for all inputs: %s", mode, output)
			}
			if err := os.RemoveAll(filepath.Join(dir, "cold")); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("measured: %d files are the same with a cache as without one; %d outputs were left alone", files, left)
}

// TestCorpusCachedEvolutions changes a library of real classes from build to build: classes come and go, are renamed,
// and get other methods and code, all in another order. Each build is made without a cache, and with that of the builds
// before.
//
// Invariant: A build with a cache writes what a build without one writes, however classes have changed since the last.
func TestCorpusCachedEvolutions(t *testing.T) {
	nightly.Only(t, "corpora")
	e := newEvolving(t, 3, fetch(t, "guava-18.0")[0])
	steps := 8
	if isFull() {
		steps = 200
	}
	dir, copied, asked := t.TempDir(), 0, regexp.MustCompile(`classes known, (\d+) copied`)
	store, err := cache.Open(filepath.Join(dir, "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	build := func(name string, known *pipeline.Incremental) string {
		c := pipeline.Config{Inputs: e.write(t, dir), RuntimeExternal: true, Level: zipfile.LevelStore, Incremental: known,
			Filter: filter.New(filter.Options{Trivial: filter.None})}
		c.Inputs[0].Output = filepath.Join(dir, name)
		result, err := pipeline.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(c.Inputs[0].Output)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x %q %q %v", sha256.Sum256(data), result.Unknown, result.Warnings, result.Inputs[0].Calls)
	}
	for step := range steps + 1 {
		if step > 0 {
			e.step(t)
		}
		e.jars = 1
		order := e.random.Uint64() // of the entries, the same in both builds
		e.random = rand.New(rand.NewPCG(order, 0))
		want := build("cold.jar", nil)
		e.random = rand.New(rand.NewPCG(order, 0))
		said := ""
		if got := build("warm.jar", &pipeline.Incremental{Cache: store, Tool: "t", ScanKey: "s", WriteKey: "w",
			Detail: func(s string) { said += s }, Warn: func(s string) { t.Error(s) }}); got != want {
			t.Errorf("step %d: with a cache\n%s\nwithout one\n%s", step, got, want)
		}
		if number := asked.FindStringSubmatch(said); number != nil {
			n, _ := strconv.Atoi(number[1])
			copied += n
		}
	}
	t.Logf("measured: %d builds, edits %v; %d classes were copied", steps+1, e.done, copied)
	if copied < steps*len(e.classes)/3 {
		t.Errorf("%d classes of %d were copied in %d builds", copied, len(e.classes), steps)
	}
}

// compareOutputs compares the files of two directories, except for their names, and returns their number.
func compareOutputs(t *testing.T, what, cold, warm string) (n int) {
	t.Helper()
	err := filepath.WalkDir(cold, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(cold, path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(warm, name))
		if filepath.Ext(name) == ".json" {
			want, got = bytes.ReplaceAll(want, []byte("cold/"), nil), bytes.ReplaceAll(got, []byte("warm/"), nil)
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s is not as without a cache: %v", what, name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
