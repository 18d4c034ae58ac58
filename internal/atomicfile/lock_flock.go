//go:build linux || darwin

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// TryLock takes the lock of an open file or directory, unless another process has it. The system ends the lock with the
// process. supported is false on a file system without such locks.
func TryLock(f *os.File) (got, supported bool) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, true
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, true
		default:
			return false, false
		}
	}
}

// IsOwn reports whether a file belongs to the user of this process.
func IsOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// keepLock returns a second descriptor of the file, which keeps its lock when the first is closed; or nil.
func keepLock(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), f.Name())
}
