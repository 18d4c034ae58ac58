package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tracegen/tracegen/internal/cli"
)

// builtTool returns the program, in a directory of its own: this test binary under that name, see TestMain.
func builtTool(t *testing.T) string {
	t.Helper()
	here, err := exec.LookPath("tracegen")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), filepath.Base(here))
	if err := os.Link(here, bin); err != nil {
		t.Fatal(err)
	}
	return bin
}

// otherVersion returns a program that does the same and is another file: it has one more byte.
func otherVersion(t *testing.T, bin string) string {
	t.Helper()
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), filepath.Base(bin))
	if err := os.WriteFile(other, append(data, 0), 0o777); err != nil {
		t.Fatal(err)
	}
	return other
}

// cachedApp is an app that separate processes instrument.
type cachedApp struct {
	bin    string
	dir    string // working directory: what is said must not depend on where that is
	inputs []string
	want   map[string]string // outputs of a run without a cache
	said   string            // what that printed
}

// newCachedApp makes jars of the sample's classes and instruments them without a cache.
func newCachedApp(t *testing.T) *cachedApp {
	t.Helper()
	a := &cachedApp{bin: builtTool(t), dir: t.TempDir()}
	sample, err := zip.OpenReader("../../testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	defer sample.Close()
	for n := range 8 {
		a.inputs = append(a.inputs, fmt.Sprintf("in%d.jar", n))
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i, f := range sample.File {
			if i%8 != n && !strings.HasSuffix(f.Name, ".class") {
				continue
			}
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
		}
		if e, err := w.Create("text"); err != nil {
			t.Fatal(err)
		} else if _, err := io.WriteString(e, strings.Repeat(fmt.Sprint(n, " "), 10_000)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.dir, a.inputs[n]), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	a.said = a.run(t, a.command("cold"))
	a.want = a.files(t, "cold")
	return a
}

func (a *cachedApp) path(name string) string { return filepath.Join(a.dir, name) }

func (a *cachedApp) command(out string, more ...string) *exec.Cmd {
	args := append([]string{"instrument", "-o", out + "/", "--reports", out}, a.inputs...)
	cmd := exec.Command(a.bin, append(args, more...)...)
	cmd.Dir = a.dir
	return cmd
}

// run returns the output of a run on both streams, with the directory of the outputs replaced.
func (a *cachedApp) run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failure := cmd.Run(); failure != nil {
		t.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), failure, &err)
	}
	return strings.ReplaceAll(err.String()+out.String(), cmd.Args[3], "OUT/")
}

// files reads a directory of outputs, with its name in the texts replaced.
func (a *cachedApp) files(t *testing.T, out string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(a.path(out), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[d.Name()] = strings.ReplaceAll(string(data), out+"/", "OUT/")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// check compares the outputs of a run with those of a run without a cache.
func (a *cachedApp) check(t *testing.T, what, out string) {
	t.Helper()
	got := a.files(t, out)
	for name, want := range a.want {
		if got[name] != want {
			t.Errorf("%s: %s differs from that without a cache", what, name)
		}
	}
	if len(got) != len(a.want) {
		t.Errorf("%s: %d files, %d without a cache", what, len(got), len(a.want))
	}
}

// cacheSize returns the total size of the entries of a cache.
func cacheSize(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".entry" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// TestCachedBuilds compares runs with and without a cache: files, output and exit codes.
//
// Invariant: A build with a cache prints, writes and returns what a build without one does.
func TestCachedBuilds(t *testing.T) {
	a := newCachedApp(t)
	for _, what := range []string{"first", "second"} {
		if said := a.run(t, a.command("out", "--cache", "kept")); said != a.said {
			t.Errorf("%s: said\n%s\nwithout a cache\n%s", what, said, a.said)
		}
		a.check(t, what, "out")
	}
	// The same version of the program, built with other options.
	old := a.bin
	a.bin = otherVersion(t, a.bin)
	if said := a.run(t, a.command("out", "--cache", "kept", "-v")); !strings.Contains(said, "cache: 0 inputs known") {
		t.Errorf("another build of the program reuses the entries of this one:\n%s", said)
	}
	a.check(t, "another build of the program", "out")
	a.bin = old
	if said := a.run(t, a.command("out", "--cache", "kept", "-v")); !strings.Contains(said,
		"cache: 8 inputs known, 8 outputs left alone") {
		t.Errorf("the first one again:\n%s", said)
	}
	// The exit codes agree, too.
	for _, flags := range [][]string{{"--guard", "growth=0"}, {"--guard", "growth=0", "--cache", "kept"}} {
		cmd := a.command("grown", flags...)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

// TestCacheSize checks that a cache keeps to its size, and that outputs do not depend on removed entries.
//
// Invariant: The cache keeps to its size, and several processes may use it at once.
func TestCacheSize(t *testing.T) {
	a := newCachedApp(t)
	for _, limit := range []string{"1B", "20KB", "100KB", "1GiB"} {
		for range 2 {
			a.run(t, a.command("out", "--cache", "kept", "--set", "cache-size="+limit))
			a.check(t, limit, "out")
			var bytes cli.ByteSize
			if err := bytes.Set(limit); err != nil {
				t.Fatal(err)
			}
			if size := cacheSize(t, a.path("kept")); size > int64(bytes) {
				t.Errorf("with --cache-size %s it holds %d bytes", limit, size)
			}
			if err := os.RemoveAll(a.path("out")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if size := cacheSize(t, a.path("kept")); size == 0 {
		t.Error("the cache is empty")
	}
}

// TestCacheIsShared lets processes use one cache at the same time. Some remove entries that others use.
//
// Invariant: The cache keeps to its size, and several processes may use it at once.
func TestCacheIsShared(t *testing.T) {
	a := newCachedApp(t)
	var group sync.WaitGroup
	for n := range 5 {
		group.Go(func() {
			out := fmt.Sprint("out", n)
			flags := []string{"--cache", "kept"}
			if n%2 == 1 {
				flags = append(flags, "--set", "cache-size=30KB")
			}
			for range 6 {
				a.run(t, a.command(out, flags...))
				a.check(t, out, out)
				if err := os.RemoveAll(a.path(out)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
