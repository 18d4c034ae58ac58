package art

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestBuild builds with a recipe whose second step fails at first, then twice at once, then with a changed step.
//
// Invariant: A step of the bench runs until it succeeds and never again; what a failed one left is not used.
func TestBuild(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("skipped: needs Linux, this is %s", runtime.GOOS)
	}
	cache := t.TempDir()
	count := filepath.Join(t.TempDir(), "runs")
	recipe := fstest.MapFS{
		"prelude.sh": {},
		"one.sh":     {Data: []byte("echo one >>$count; echo a >file")},
		"two.sh": {Data: []byte("set -e; echo two >>$count; cp $one/file .; sleep 0.2; [ -e $count.go ]\n" +
			"cat $recipe/b >>file")},
		"b": {Data: []byte("b")},
	}
	build := func() (string, error) {
		b := builder{cache: cache, recipe: recipe, log: t.Logf,
			environment: func(context.Context) ([]string, error) { return []string{"count=" + count}, nil }}
		dirs, err := b.build(t.Context(), []step{{name: "one"},
			{name: "two", after: []string{"one"}, files: []string{"b"}}})
		if err != nil {
			return "", err
		}
		data, err := os.ReadFile(filepath.Join(dirs["two"], "file"))
		return string(data), err
	}
	check := func(want, runs string) {
		t.Helper()
		if got, err := build(); err != nil || got != want {
			t.Errorf("the step made %q, %v; want %q", got, err, want)
		}
		if data, _ := os.ReadFile(count); strings.Join(strings.Fields(string(data)), " ") != runs {
			t.Errorf("the steps ran: %q, want %q", data, runs)
		}
	}
	if _, err := build(); err == nil || !strings.Contains(err.Error(), "step two") {
		t.Fatalf("a step failed, the error is %v", err)
	}
	fixture.Write(t, count+".go", "")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { build() })
	}
	wg.Wait()
	check("a\nb", "one two two")
	recipe["b"] = &fstest.MapFile{Data: []byte("c")}
	check("a\nc", "one two two two")
}

// TestMissing names what a machine lacks, and with it the package of Debian.
func TestMissing(t *testing.T) {
	err := check([]requirement{{"/no/such/file", "some-package"}, {"no-such-program", "other-package"}})
	if !errors.Is(err, oracle.ErrMissing) {
		t.Fatalf("the error is %v", err)
	}
	const packages = "apt-get install some-package other-package"
	if !errors.Is(err, oracle.ErrOptional) && !strings.Contains(err.Error(), packages) {
		t.Errorf("the error is %q", err)
	}
}
