package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/recording/resolve"
)

// StandardOutput is the file name that stands for standard output.
const StandardOutput = "-"

// WriteTo calls emit with standard output, or with a file that appears when it is complete.
func WriteTo(con *console.Console, path string, emit func(io.Writer) error) error {
	if path == StandardOutput {
		con.HideProgress()
		return emit(con.Out)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := emit(f); err != nil {
		return err
	}
	return f.Commit()
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

// Refusal turns the error for a mapping of another build into one with exit code 1.
func Refusal(err error) error {
	if errors.As(err, new(*resolve.MismatchError)) {
		return CheckFailed{Err: err}
	}
	return err
}
