package zipfile

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

var (
	// ErrFormat is wrapped by every error about a container, or an entry of it, that is damaged,
	// cut short or contradicts itself.
	ErrFormat = errors.New("malformed zip")
	// ErrUnsupported is wrapped by errors about entries that may be valid but cannot be read here: encrypted
	// entries, and entries with a compression method other than stored and deflated. They can be copied.
	ErrUnsupported = errors.New("unsupported zip entry")
)

// Error is an error in an archive, with its position.
type Error struct {
	File   string // the archive's name as passed to Open or New
	Entry  string // the entry's raw name; meaningless without InEntry
	Offset int64  // in bytes from the start of the archive; -1 if the position is unknown
	Err    error  // what is wrong; wraps ErrFormat or ErrUnsupported

	// InEntry reports that the error is about the entry Entry, whose name may be empty, and not about the archive
	// as a whole.
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

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// printable returns name, quoted if it contains characters that would confuse a terminal or be invisible: an
// entry's name may contain any bytes.
func printable(name string) string {
	for _, r := range name {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.Quote(name)
		}
	}
	return name
}

// errorf returns an error about the archive as a whole, which wraps ErrFormat.
func (a *Archive) errorf(offset int64, format string, args ...any) error {
	return &Error{File: a.name, Offset: offset, Err: wrap(ErrFormat, format, args...)}
}

// errorf returns an error about the entry; sentinel is ErrFormat or ErrUnsupported.
func (e *Entry) errorf(sentinel error, offset int64, format string, args ...any) error {
	return &Error{File: e.archive.name, Entry: e.Name, InEntry: true, Offset: offset,
		Err: wrap(sentinel, format, args...)}
}

func wrap(sentinel error, format string, args ...any) error {
	return fmt.Errorf("%w: %w", sentinel, fmt.Errorf(format, args...))
}

// Guard calls read, which reads what [MapStart] returned, or an archive that is mapped. It returns false if the file
// does not have it any more: another program has shortened it. A panic for any other reason is a defect in this
// program.
func Guard(read func()) (whole bool) {
	restore := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(restore)
		if r := recover(); r != nil {
			if _, isFault := r.(interface {
				runtime.Error
				Addr() uintptr
			}); !isFault {
				panic(r)
			}
		}
	}()
	read()
	return true
}
