package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestResolve follows links as far as there are files, and by their names beyond.
func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	fixture.Directory(t, at("a/b"))
	for from, to := range map[string]string{"link": "a", "gone": "a/new/file", "circle": "circle"} {
		if err := os.Symlink(filepath.FromSlash(to), at(from)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	for name, want := range map[string]string{
		"a/b": "a/b", "a/../a/b": "a/b", "link/b": "a/b", "link/new/x": "a/new/x", "none/x": "none/x",
		"gone": "a/new/file", "gone/y": "a/new/file/y",
	} {
		if got, err := output.Resolve(at(name)); err != nil || got != at(want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, at(want))
		}
	}
	if got, err := output.Resolve(at("circle")); err == nil {
		t.Errorf("a circle leads to %s", got)
	}
	for path, message := range map[string]string{"link/b/new": "lie in each other", "a": "lie in each other",
		"link": "lie in each other", "none/x": ""} {
		err := output.CheckPaths([]string{at(path)}, []string{at("a/b")})
		if (err != nil) != (message != "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", path, err, message)
		}
	}
}
