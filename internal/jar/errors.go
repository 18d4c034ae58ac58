package jar

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

var (
	// ErrFormat is wrapped by every error about a container, or an entry of it, that is damaged,
	// cut short or contradicts itself.
	ErrFormat = errors.New("malformed zip")
	// ErrUnsupported is wrapped by errors about entries that may be well but cannot be read here:
	// encrypted ones and those of a compression method other than stored and deflated. They can be
	// copied raw.
	ErrUnsupported = errors.New("unsupported zip entry")
)

// Error says where in which archive something is wrong.
type Error struct {
	File   string // the archive as it was named in Open or New
	Entry  string // the entry's raw name; meaningless without InEntry
	Offset int64  // from the start of the archive, in bytes; -1 when no place can be named
	Err    error  // what is wrong; wraps ErrFormat or ErrUnsupported

	// InEntry tells an error about the entry Entry, whose name may be empty, from one about the
	// archive as a whole.
	InEntry bool
}

// Error returns file!entry: at 0xoffset: reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.InEntry {
		b.WriteByte('!')
		b.WriteString(printable(e.Entry))
	}
	b.WriteString(": ")
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "at 0x%x: ", e.Offset)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns what is wrong without the place.
func (e *Error) Unwrap() error { return e.Err }

// printable quotes names that would garble a terminal or hide a part of themselves: an entry's name
// is whatever the maker of the archive wanted it to be.
func printable(name string) string {
	for _, r := range name {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.Quote(name)
		}
	}
	return name
}

// errorf makes an error about the archive as a whole.
func (a *Archive) errorf(offset int64, format string, args ...any) error {
	return &Error{File: a.name, Offset: offset, Err: wrap(ErrFormat, format, args...)}
}

// errorf makes an error about one entry; sentinel is ErrFormat or ErrUnsupported.
func (e *Entry) errorf(sentinel error, offset int64, format string, args ...any) error {
	return &Error{File: e.archive.name, Entry: e.Name, InEntry: true, Offset: offset, Err: wrap(sentinel, format, args...)}
}

func wrap(sentinel error, format string, args ...any) error {
	return fmt.Errorf("%w: %w", sentinel, fmt.Errorf(format, args...))
}

// fault turns what recover returned while a mapping was read into an error, if it is the memory
// fault that a file gives which somebody shortened after it was mapped. Any other panic goes on:
// it is a defect, and hiding it would keep it.
func (a *Archive) fault(recovered any) error {
	if _, ok := recovered.(interface {
		runtime.Error
		Addr() uintptr
	}); !ok {
		panic(recovered)
	}
	return a.errorf(-1, "the file was shortened while it was read; run again when nothing else writes it")
}
