package output

import (
	"io/fs"
	"syscall"
)

// IDOf returns the ID of a file.
func IDOf(info fs.FileInfo) FileID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return FileID{uint64(s.Dev), s.Ino, s.Ctim.Nano()}
}
