package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// TestReadOnlyCache uses a cache of another user: its entries are reused, and nothing is written to it.
//
// Invariant: A cache that cannot be written does not stop a build.
func TestReadOnlyCache(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	a := newCachedApp(t)
	a.run(t, a.command("out", "--cache", "kept"))
	if err := os.Mkdir(a.path("other"), 0o777); err != nil {
		t.Fatal(err)
	}
	// The directory of the test is not readable for other users.
	for _, dir := range []string{filepath.Dir(a.dir), a.dir, a.path("other")} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	otherUser := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd := a.command("other", "--cache", "kept", "-v")
	cmd.SysProcAttr = otherUser
	if said := a.run(t, cmd); !strings.Contains(said, "cache: 8 inputs known, 0 outputs left alone, 8 copied") {
		t.Errorf("said\n%s", said)
	}
	a.check(t, "all is known", "other")
	cmd = a.command("other", "--cache", "kept", "--exits", "exact")
	cmd.SysProcAttr = otherUser
	if said := a.run(t, cmd); strings.Count(said, "warning: --cache: nothing is kept for the next run: ") != 1 {
		t.Errorf("said\n%s", said)
	}
	cmd = a.command("other", "--cache", "kept")
	cmd.SysProcAttr = otherUser
	a.run(t, cmd)
	a.check(t, "again", "other")
	cmd = a.command("other", "--cache", "out/new", "--mapping", "m.txt")
	cmd.SysProcAttr = otherUser
	if said := a.run(t, cmd); !strings.Contains(said, "continuing without a cache") {
		t.Errorf("said\n%s", said)
	}
}

// TestCacheOnFullDisk puts the cache on a disk that is too small for it.
//
// Invariant: A cache that cannot be written does not stop a build.
func TestCacheOnFullDisk(t *testing.T) {
	a := newCachedApp(t)
	oracle.MountSmallDisk(t, a.path("small"), 64<<10)
	for _, what := range []string{"first", "second"} {
		said := a.run(t, a.command("out", "--cache", "small/kept"))
		if strings.Count(said, "warning: --cache: nothing is kept for the next run: ") != 1 {
			t.Errorf("%s: said\n%s", what, said)
		}
		a.check(t, what, "out")
	}
}
