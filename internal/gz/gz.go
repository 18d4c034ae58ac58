// Package gz reads files that may be compressed with gzip (RFC 1952). It goes by the first two bytes, not by the name:
// a mapping that was stored as an artifact of a build often has another name. All commands read mappings, R8 mappings,
// reports, tables of lines, and texts by this package. Package trace inflates recordings by itself: its errors differ.
//
// A small file can inflate to a very large one. A caller that keeps what it reads must limit its size.
package gz

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/tracegen/tracegen/internal/userfile"
)

// IsCompressed reports whether a file that begins with these bytes is compressed.
func IsCompressed(head []byte) bool { return len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B }

// NewReader returns a reader of what r contains, inflated if it is compressed. The error of a Read says if the
// compressed data are damaged.
func NewReader(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !IsCompressed(head) {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, damaged(err)
	}
	return inflating{z}, nil
}

// inflating is a reader whose errors say what was read.
type inflating struct{ z *gzip.Reader }

func (i inflating) Read(p []byte) (int, error) {
	n, err := i.z.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("compressed with gzip, and damaged or cut off: %w", err)
}

// File is a file that is read, inflated if it is compressed.
type File struct {
	io.Reader
	file *os.File
}

// Open opens the file at path.
func Open(path string) (*File, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f)
	if err != nil {
		f.Close()
		return nil, userfile.Named(path, err)
	}
	return &File{r, f}, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// ReadFile returns what the file at path contains. It fails if that has more than limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return userfile.ReadAll(f, path, limit)
}
