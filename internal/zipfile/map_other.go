//go:build !unix

package zipfile

import (
	"io/fs"
	"math"
	"os"

	"github.com/tracegen/tracegen/internal/userfile"
)

// mapFile reads the whole file. On some of these systems, a mapped file could not be replaced by other programs.
func mapFile(path string) (data []byte, unmap func() error, info fs.FileInfo, err error) {
	data, err = userfile.Read(path, math.MaxInt)
	return data, func() error { return nil }, nil, err
}

// MapStart reads the first bytes of a file.
func MapStart(f *os.File, size int) (data []byte, unmap func() error, err error) {
	return readStart(f, size)
}

// release does nothing, since files are not mapped.
func release([]byte) {}
