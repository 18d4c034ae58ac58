package oracle

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// SmallDisk is a directory on a file system of its own, which a test makes full. All tests with a full disk have this
// one.
type SmallDisk struct {
	t   testing.TB
	dir string
}

// MountSmallDisk mounts a file system of so many bytes at a directory until the test ends. It skips the test where that
// is not possible.
func MountSmallDisk(t testing.TB, dir string, size uint64) SmallDisk {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		t.Skip("skipped: no file system can be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return SmallDisk{t, dir}
}

// Leave resizes the disk: so many blocks are free beside those in use that Used has returned before.
func (d SmallDisk) Leave(used, blocks uint64) {
	d.t.Helper()
	var disk unix.Statfs_t
	err := unix.Statfs(d.dir, &disk)
	if err == nil {
		err = unix.Mount("tmpfs", d.dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprint("size=", (used+blocks)*uint64(disk.Bsize)))
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// Used returns the number of blocks that are in use.
func (d SmallDisk) Used() uint64 {
	d.t.Helper()
	var disk unix.Statfs_t
	if err := unix.Statfs(d.dir, &disk); err != nil {
		d.t.Fatal(err)
	}
	return disk.Blocks - disk.Bfree
}
