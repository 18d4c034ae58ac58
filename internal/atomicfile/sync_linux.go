package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncData makes sure that what was written over old content of a file survives a power failure.
func SyncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
