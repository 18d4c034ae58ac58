package builds

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// Small and Full are how much TRACEGEN_BUILDS demands.
const (
	Small = "small"
	Full  = "full"
)

// Require skips the test unless TRACEGEN_BUILDS demands at least as much: [Small] or [Full].
func Require(t testing.TB, atLeast string) {
	t.Helper()
	switch have := os.Getenv("TRACEGEN_BUILDS"); have {
	case "", "off":
		t.Skipf("skipped: TRACEGEN_BUILDS is %q; `make builds` runs real builds", have)
	case Small:
		if atLeast == Full {
			t.Skip("skipped: TRACEGEN_BUILDS is small; `make builds` runs all builds")
		}
	case Full:
	default:
		t.Fatalf("TRACEGEN_BUILDS is %q, want off, small or full", have)
	}
}

// Root returns the directory of the repository.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
	}
}

// Repository returns a directory in the layout of a Maven repository, with the binary of this machine, the runtime and
// the plugins, as release/maven-repository writes it. The error wraps [oracle.ErrMissing] if Maven is missing.
func Repository(ctx context.Context, t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("mvn"); err != nil {
		oracle.Require(t, fmt.Errorf("no mvn on PATH to build the plugins: %w", oracle.ErrMissing))
	}
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "release", "maven-repository"), dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release/maven-repository: %v\n%s", err, out)
	}
	return dir
}
