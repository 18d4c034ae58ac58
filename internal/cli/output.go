package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/console"
)

// CheckDistinct refuses to write two files under two names of one.
func CheckDistinct(files []Target) error {
	first := map[string]Target{}
	for _, t := range files {
		identity, err := output.Identity(t.Path)
		if err != nil {
			identity = filepath.Clean(t.Path) // opening the file will report the error
		}
		other, taken := first[identity]
		if taken && identity != "" {
			if other.Path == t.Path {
				return Misuse("%s and %s are the same file, %s: give different names", other.What, t.What, t.Path)
			}
			return Misuse("%s %s and %s %s are two names of one file: name another file for one of them", other.What,
				other.Path, t.What, t.Path)
		}
		first[identity] = t
	}
	return nil
}

// CheckNotRead refuses to write a file that is read, or that lies in a directory that is read.
func CheckNotRead(written []Target, read []string) error {
	for _, t := range written {
		linked, err := atomicfile.Linked(t.Path, read...)
		if err != nil {
			return fmt.Errorf("%s: %w", t.What, err)
		}
		if linked != "" {
			return fmt.Errorf("%s: %s is %s, which is read, or a link to it; choose another name", t.What, t.Path,
				linked)
		}
		for _, dir := range read {
			if IsDirectory(dir) && liesIn(dir, t.Path) {
				return fmt.Errorf("%s: %s lies in %s, which is read; choose another directory", t.What, t.Path, dir)
			}
		}
	}
	return nil
}

// liesIn reports whether file, or the file that it links to, lies in dir.
func liesIn(dir, file string) bool {
	above, err := Resolved(dir)
	if err != nil {
		return false
	}
	below, err := Resolved(file)
	return err == nil && output.Below(above, below)
}

// Resolved returns the path in a form that can be compared, see [output.Resolve]. If links cannot be followed, it only
// makes the path absolute, as opening the file will report the error.
func Resolved(path string) (string, error) {
	if real, err := output.Resolve(path); err == nil {
		return real, nil
	}
	return filepath.Abs(path)
}

// MakeDirectories makes the directories of the files. undo removes those that it made and that are still empty.
func MakeDirectories(files []Target) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			os.Remove(dir) // fails if the directory is not empty, as intended
		}
	}
	for _, f := range files {
		var missing []string
		for dir := filepath.Dir(f.Path); ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
				break
			}
			missing = append(missing, dir)
		}
		for _, dir := range slices.Backward(missing) {
			err := os.Mkdir(dir, 0o777)
			if errors.Is(err, fs.ErrExist) && IsDirectory(dir) {
				continue // another process was faster, as in a build that scans parts at the same time
			}
			if err != nil {
				undo()
				return nil, fmt.Errorf("%s: %w", f.What, err)
			}
			made = append(made, dir)
		}
	}
	return undo, nil
}

// Prepare makes the directories of files, see [MakeDirectories], and checks that the files can be written, see
// [CheckWritable].
func Prepare(con *console.Console, files []Target) (undo func(), err error) {
	if undo, err = MakeDirectories(files); err != nil {
		return nil, err
	}
	if err = CheckWritable(con, files); err != nil {
		undo()
	}
	return undo, err
}

// CheckWritable fails if a file cannot be written. It is called before work that
// takes long, and first cleans up after runs that were killed, see [output.Recover]. It creates a file in each
// directory and removes it: on some file systems only an attempt shows whether that is possible. It expects that the
// directories exist.
func CheckWritable(con *console.Console, files []Target) error {
	var paths []string
	for _, t := range files {
		paths = append(paths, t.Path)
	}
	output.Recover(paths, con.WarnText)
	tried := map[string]bool{}
	for _, t := range files {
		info, err := os.Stat(t.Path)
		switch {
		case t.Directory:
			if err == nil && !info.IsDir() {
				return fmt.Errorf("%s: %s must be a directory, and there is a file of that name; choose another name",
					t.What, t.Path)
			}
			continue
		case err == nil && !info.IsDir() && !info.Mode().IsRegular():
			continue // opening a pipe waits for its reader
		case err != nil || info.Mode().IsRegular():
			if dir := filepath.Dir(t.Path); tried[dir] {
				continue
			} else {
				tried[dir] = true
			}
		}
		f, err := atomicfile.Create(t.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", t.What, err)
		}
		f.Abort()
	}
	return nil
}

// Target is a file or directory that is written.
type Target struct {
	What      string // its name in messages
	Path      string
	Directory bool // it is a directory, in which files are written
}

// IsDirectory reports whether the path is that of a directory.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// EndsInSeparator reports whether the path ends in a slash, which marks a directory.
func EndsInSeparator(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}
