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

// Full reports whether TRACEGEN_BUILDS demands all builds, with every version, as `make builds` does.
func Full() bool { return os.Getenv("TRACEGEN_BUILDS") == "full" }

// RequireFull skips the test unless all builds are demanded.
func RequireFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("skipped: only make builds runs it")
	}
}

// Repository returns a directory in the layout of a Maven repository, with the binary of this machine, the runtime and
// the plugins, as release/maven-repository writes it. The error wraps [oracle.ErrMissing] if Maven is missing.
func Repository(ctx context.Context, t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("mvn"); err != nil {
		oracle.Require(t, fmt.Errorf("no mvn on PATH to build the plugins: %w", oracle.ErrMissing))
	}
	root, err := oracle.Root()
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
