package userfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestExpand checks names, patterns, and names that look like patterns.
func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.jar", "libs/b.jar", "libs/x/c.jar", "libs/x/y/d.jar", "libs/x/y/d.txt", "conf[1]",
		"e{f}"} {
		fixture.Write(t, name, "")
	}
	if err := os.Symlink("..", filepath.FromSlash("libs/loop")); err != nil {
		t.Log("no symbolic links here:", err)
	}
	for name, want := range map[string]string{
		"a.jar":            "a.jar",
		"libs":             "libs",
		"conf[1]":          "conf[1]",
		"e{f}":             "e{f}",
		"*.jar":            "a.jar",
		"libs/**/*.jar":    "libs/b.jar libs/x/c.jar libs/x/y/d.jar",
		"libs/{b,x/c}.jar": "libs/b.jar libs/x/c.jar",
		"libs/x/?":         "libs/x/y",
		"libs/[a-c].jar":   "libs/b.jar",
		"none.jar":         "none.jar does not exist",
		"libs/*.war":       "libs/*.war matches no file or directory",
		"none/**":          "none/** matches no file or directory",
		"libs/[a":          "libs/[a does not exist, and is not a pattern: a [ or { is not closed",
	} {
		paths, err := Expand(filepath.FromSlash(name))
		got := strings.Join(paths, " ")
		if err != nil {
			got = err.Error()
		}
		if filepath.ToSlash(got) != want {
			t.Errorf("%s: %q, want %q", name, filepath.ToSlash(got), want)
		}
		if !slices.IsSorted(paths) {
			t.Errorf("%s: %q is not sorted", name, paths)
		}
	}
}
