package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// TestUnwritableCache uses a cache on a disk that is too small for it, and then the cache of another user, whose
// entries are reused.
//
// Invariant: A cache that cannot be written does not stop a build.
func TestUnwritableCache(t *testing.T) {
	sample, err := filepath.Abs("../../testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := builtTool(t), t.TempDir()
	run := func(user *syscall.SysProcAttr, out string, args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, append([]string{"instrument", sample, "-v", "-o", out + "/"}, args...)...)
		cmd.Dir, cmd.SysProcAttr = dir, user
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, said)
		}
		return string(said)
	}
	same := func(out string) {
		t.Helper()
		for _, name := range []string{"sample.jar", "methodMapping.txt"} {
			want, err := os.ReadFile(filepath.Join(dir, "cold", name))
			if is, _ := os.ReadFile(filepath.Join(dir, out, name)); err != nil || !bytes.Equal(is, want) {
				t.Errorf("%s/%s is not as without a cache: %v", out, name, err)
			}
		}
	}
	const warning = "warning: --cache: nothing is kept for the next run: "
	run(nil, "cold")
	oracle.MountSmallDisk(t, filepath.Join(dir, "small"), 16<<10)
	if said := run(nil, "full", "--cache", "small/kept"); strings.Count(said, warning) != 1 {
		t.Errorf("said\n%s", said)
	}
	same("full")

	if os.Geteuid() != 0 {
		t.Skip("only root can be two users")
	}
	run(nil, "mine", "--cache", "kept")
	// The directory of the test is not readable for other users.
	for _, dir := range []string{filepath.Dir(dir), dir, filepath.Dir(bin)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	other := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	const reused = "1 inputs known, 0 outputs left alone, 1 copied"
	if said := run(other, "other", "--cache", "kept"); !strings.Contains(said, reused) {
		t.Errorf("said\n%s", said)
	}
	same("other")
	if said := run(other, "exact", "--cache", "kept", "--exits", "exact"); strings.Count(said, warning) != 1 {
		t.Errorf("said\n%s", said)
	}
}
