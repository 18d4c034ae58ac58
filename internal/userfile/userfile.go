// Package userfile opens files that a user has named. A device file is refused, because reading it may never end.
// Pipes are read, because shells make them for <(command).
//
// The functions with Text in their names read texts: they may be compressed with gzip (RFC 1952), and in UTF-16 or
// behind a byte order mark. They go by the first bytes, not by the name: a mapping that was stored as an artifact of a
// build often has another name. A small file can inflate to a very large one, so a caller that keeps what it reads must
// limit its size. Only package source inflates recordings by itself: its errors differ.
//
// The package is small, and apart from all others, so that every file that a user names is opened in one way.
package userfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// MaxSettings is how many bytes a file of settings, rules or arguments may have: 64 MiB, which is thousands of times
// what people write.
const MaxSettings = 64 << 20

// Check returns an error if info, which is that of the file at path, is of a device or a socket.
func Check(path string, info fs.FileInfo) error {
	if info.Mode()&(fs.ModeDevice|fs.ModeCharDevice|fs.ModeSocket|fs.ModeIrregular) != 0 {
		return fmt.Errorf("%s is a device or a socket, not a file; check the path", path)
	}
	return nil
}

// Open opens the file at path for reading.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil { // opening some devices has an effect
		if err := Check(path, info); err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeNamedPipe != 0 {
			return openPipe(path, patience)
		}
	}
	return os.Open(path)
}

// patience is how long a pipe may have no writer.
const patience = 20 * time.Second

// openPipe opens a named pipe, for which the system waits until a program opens it for writing. It fails if that takes
// longer than limit, and leaves no reader behind, which would take from the next one what a late writer writes.
func openPipe(path string, limit time.Duration) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-time.After(limit):
		if w, err := os.OpenFile(path, os.O_RDWR, 0); err == nil { // does not wait, and is a writer for the open above
			if o := <-done; o.err == nil {
				o.file.Close()
			}
			w.Close()
		}
		return nil, fmt.Errorf("%s is a pipe that no program writes to; start the writer, then read it", path)
	}
}

// Read returns what is in the file at path. It fails if that is more than limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, limit)
}

// ReadAll returns what r reads, which stands for the file at path. It fails if that is more than limit bytes.
func ReadAll(r io.Reader, path string, limit int64) ([]byte, error) {
	var data bytes.Buffer
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			data.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
		}
	}
	if n, err := data.ReadFrom(io.LimitReader(r, limit)); err != nil {
		return nil, Named(path, err)
	} else if n < limit {
		return data.Bytes(), nil
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); err {
	case io.EOF:
		return data.Bytes(), nil
	case nil:
		return nil, fmt.Errorf("%s: longer than %d MiB; check the path", path, limit>>20)
	default:
		return nil, Named(path, err)
	}
}

// Named returns an error that names the file at path: err, if it does so itself.
func Named(path string, err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
