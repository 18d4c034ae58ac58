package oracle

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ErrMissing is wrapped by every error that reports that this machine lacks something an oracle or a corpus needs: a
// JDK, Maven, a package, the network.
var ErrMissing = errors.New("not available here")

// ErrOptional is wrapped by errors about what CI need not have either.
var ErrOptional = fmt.Errorf("optional, and %w", ErrMissing)

// Require ends the test if err is not nil. If a tool or corpus is missing the test is skipped, so that the tests run on
// a bare machine, but it fails if CI is set, so that nothing is left out there but what needs a newer JDK than 17.
func Require(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrOptional), errors.Is(err, ErrMissing) && os.Getenv("CI") == "":
		t.Skipf("skipped: %v", err)
	default:
		t.Fatal(err)
	}
}

// NeedJDK is [FindJDK] for a test, which cannot go on without it.
func NeedJDK(t testing.TB, atLeast int) JDK {
	t.Helper()
	j, err := FindJDK(atLeast)
	Require(t, err)
	return j
}

// NeedRuntime is [Runtime] for a test, which cannot go on without it.
func NeedRuntime(t testing.TB) RuntimeJars {
	t.Helper()
	jars, err := Runtime()
	Require(t, err)
	return jars
}

// NeedRecorder is [Recorder] for a test, which cannot go on without it.
func NeedRecorder(t testing.TB) string {
	t.Helper()
	jar, err := Recorder(t.Context())
	Require(t, err)
	return jar
}

// BuildTool compiles the program tracegen for a test, as a user would, and returns its path.
func BuildTool(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "tracegen")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/tracegen/tracegen/cmd/tracegen").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// CacheDir creates and returns a directory of that name for downloads and compiled tools, below the user's cache
// directory.
func CacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory: %w: %w", err, ErrMissing)
	}
	dir := filepath.Join(base, "tracegen", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache directory: %w", err)
	}
	return dir, nil
}

// Publish renames a finished temporary directory to its final name. It is no error if that exists already, because
// another process then has made the same content.
func Publish(tmp, final string) error {
	err := os.Rename(tmp, final)
	if err == nil {
		return nil
	}
	if _, statErr := os.Stat(final); statErr == nil {
		return os.RemoveAll(tmp)
	}
	return fmt.Errorf("publish %s: %w", final, err)
}
