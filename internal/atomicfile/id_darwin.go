package atomicfile

import (
	"io/fs"
	"syscall"
)

// IDOf returns the ID of a file.
func IDOf(info fs.FileInfo) ID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}
	}
	return ID{uint64(s.Dev), s.Ino, s.Ctimespec.Nano()}
}
