package userfile

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// IsCompressed reports whether a file that begins with these bytes is compressed.
func IsCompressed(head []byte) bool { return len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B }

// Inflate returns a reader of what r contains, inflated if it is compressed. The error of a Read says if the
// compressed data are damaged.
func Inflate(r io.Reader) (io.Reader, error) {
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

// Inflated is a file that is read, inflated if it is compressed.
type Inflated struct {
	io.Reader
	file *os.File
}

// OpenInflated opens the file at path.
func OpenInflated(path string) (*Inflated, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	r, err := Inflate(f)
	if err != nil {
		f.Close()
		return nil, Named(path, err)
	}
	return &Inflated{r, f}, nil
}

// Close closes the file.
func (f *Inflated) Close() error { return f.file.Close() }

// ReadInflated returns what the file at path contains. It fails if that has more than limit bytes.
func ReadInflated(path string, limit int64) ([]byte, error) {
	f, err := OpenInflated(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, limit)
}
