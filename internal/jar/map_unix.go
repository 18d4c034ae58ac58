//go:build unix

package jar

import (
	"fmt"
	"io"
	"math"

	"golang.org/x/sys/unix"

	"github.com/tracegen/tracegen/internal/userfile"
)

// mapFile maps a regular file and reads every other one (a pipe, for instance). The mapping stays valid after the
// file is closed, and if another file is renamed to its path.
func mapFile(path string) (data []byte, unmap func() error, mapped bool, err error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, false, err
	}
	none := func() error { return nil }
	if !info.Mode().IsRegular() || info.Size() == 0 {
		data, err = io.ReadAll(f)
		return data, none, false, err
	}
	if info.Size() > math.MaxInt {
		return nil, nil, false, fmt.Errorf("%s: %d bytes are too many for the address space", path, info.Size())
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		// Some file systems cannot map.
		data, err = io.ReadAll(f)
		return data, none, false, err
	}
	return data, func() error { return unix.Munmap(data) }, true, nil
}

// release advises the system to free the memory of whole pages of a mapping. An error is ignored, since the pages
// stay valid anyway.
func release(pages []byte) { _ = unix.Madvise(pages, unix.MADV_DONTNEED) }
