package classfile

import (
	"errors"
	"fmt"
)

// ErrVersion is wrapped by the error of [Parse] for a class file whose major version is below [MinMajor],
// or above [MaxMajor] if it has another structure. Such a class may be valid; this package cannot read its format.
var ErrVersion = errors.New("unsupported class file version")

// ErrMagic is wrapped by the error of [Parse] for data that does not start with 0xCAFEBABE (JVMS 4.1) and so is not
// a class file.
var ErrMagic = errors.New("not a class file: magic is not 0xCAFEBABE")

// FormatError is an error in the structure of a class file, with its position.
type FormatError struct {
	Offset int    // of the offending byte, from the start of the class file
	Path   string // the structures around it, outermost first: "class a/B: method run()V: Code"
	Err    error  // the fault
}

// Error returns "PATH: REASON at offset 0xNN".
func (e *FormatError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%v at offset %#x", e.Err, e.Offset)
	}
	return fmt.Sprintf("%s: %v at offset %#x", e.Path, e.Err, e.Offset)
}

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }

func formatErrorf(offset int, path, format string, args ...any) *FormatError {
	return &FormatError{Offset: offset, Path: path, Err: fmt.Errorf(format, args...)}
}
