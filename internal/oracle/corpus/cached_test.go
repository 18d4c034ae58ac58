package corpus_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
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
	modes := [][]string{{"--exits", "throws", "--set", "trivial=none"}, {"--exits", "exact", "--compression", "store"},
		{"--exits", "normal", "--verify", "equivalence", "--set", "id-order=compact"}}
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
			args := append([]string{"instrument", "-o", out + "/", "--runtime-external", "--reports", out}, inputs...)
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
