//go:build unix

package zipfile

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tracegen/tracegen/internal/userfile"
)

// mapFile maps a regular file and reads every other one (a pipe, for instance). The mapping stays valid after the
// file is closed, and if another file is renamed to its path. Info shows whether the file was written since; it is
// nil if the file is not mapped.
func mapFile(path string) (data []byte, unmap func() error, info fs.FileInfo, err error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil {
		return nil, nil, nil, err
	}
	none := func() error { return nil }
	if !info.Mode().IsRegular() || info.Size() == 0 {
		data, err = io.ReadAll(f)
		return data, none, nil, err
	}
	if info.Size() > math.MaxInt {
		return nil, nil, nil, fmt.Errorf("%s: %d bytes are too many for the address space", path, info.Size())
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		// Some file systems cannot map.
		data, err = io.ReadAll(f)
		return data, none, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, info, nil
}

// MapStart maps the first bytes of a file, or reads them where that is not possible. They may be read in [Guard] only.
func MapStart(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return readStart(f, size)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// release advises the system to free the memory of whole pages of a mapping. An error is ignored, since the pages
// stay valid anyway.
func release(pages []byte) { _ = unix.Madvise(pages, unix.MADV_DONTNEED) }
