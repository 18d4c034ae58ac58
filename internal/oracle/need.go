package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// ErrMissing is wrapped by every error that says that this machine lacks something a referee or a
// corpus needs: a JDK, Maven, a package, the network.
var ErrMissing = errors.New("not available here")

// Require ends the test if err is not nil. A missing tool or corpus skips it, so that the suite runs
// on a bare machine, but fails it where CI is set: there nothing may be left out unseen.
func Require(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrMissing) && os.Getenv("CI") == "":
		t.Skipf("skipped: %v", err)
	default:
		t.Fatal(err)
	}
}

// CacheDir returns a directory of that name for downloads and compiled tools, which it creates below
// the user's cache directory.
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

// publish makes a finished temporary directory appear under its final name at once. Another process
// that was quicker has made the same thing, so losing the race is no error.
func publish(tmp, final string) error {
	err := os.Rename(tmp, final)
	if err == nil {
		return nil
	}
	if _, statErr := os.Stat(final); statErr == nil {
		return os.RemoveAll(tmp)
	}
	return fmt.Errorf("publish %s: %w", final, err)
}
