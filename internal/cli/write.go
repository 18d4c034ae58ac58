package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/console"
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
