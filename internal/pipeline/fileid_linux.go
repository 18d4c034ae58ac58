package pipeline

import (
	"io/fs"
	"syscall"
)

func idOf(info fs.FileInfo) fileID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(s.Dev), s.Ino, s.Ctim.Nano()}
}
