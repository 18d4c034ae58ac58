// Package output makes outputs appear together, or not at all: files and directories that are staged under temporary
// names. A [Stage] has those of one run. Its commit writes a journal first, by which the next run finishes or undoes
// it if it is killed ([Recover]).
package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/cache"
)

// Stage has the files and directories that are being written. None is visible before Commit. Goroutines may share it.
type Stage struct {
	DryRun bool              // what is written is forgotten
	Warn   func(text string) // called by Commit about what killed runs left, as by Recover; may be nil

	mu          sync.Mutex
	files       []*atomicfile.File
	directories []*Directory
}

// Create starts a file.
func (o *Stage) Create(name string) (io.Writer, error) {
	if o.DryRun {
		return io.Discard, nil
	}
	f, err := atomicfile.Create(name)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files = append(o.files, f)
	return f, nil
}

// Discard removes again what was staged for an output of that name.
func (o *Stage) Discard(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files = slices.DeleteFunc(o.files, func(f *atomicfile.File) bool {
		if f.Name() != name {
			return false
		}
		f.Abort()
		return true
	})
	o.directories = slices.DeleteFunc(o.directories, func(d *Directory) bool {
		if d.Target != filepath.Clean(name) {
			return false
		}
		d.Abort()
		return true
	})
}

// Content opens what is staged for a file of that name. It is nil if nothing is staged, or if it was written to a
// device.
func (o *Stage) Content(name string) *os.File {
	for _, f := range o.files {
		if temp, _ := f.Paths(); f.Name() == name && temp != "" {
			if content, err := os.Open(temp); err == nil {
				return content
			}
		}
	}
	return nil
}

// Directories returns the directories that are staged.
func (o *Stage) Directories() []*Directory { return o.directories }

func (o *Stage) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}

// Abort removes whatever was not committed, and temporary directories. Then it is empty, and can be used again.
func (o *Stage) Abort() {
	for _, f := range o.files {
		f.Abort()
	}
	for _, d := range o.directories {
		d.Abort()
	}
	o.files, o.directories = nil, nil
}

// File is a file of an output: the only one, whose name is empty, or one of a directory.
type File struct {
	Name string      // with slashes; that of a directory ends in one
	Mode fs.FileMode // permissions, of files in a directory
	Size int64
	Sum  cache.Checksum // of the content
}

// Directory is an output directory whose files are written elsewhere first. A target that is not there
// appears whole, by one renaming. One that is there may be another file system's: its stage lies in it, so that
// every file can be renamed.
type Directory struct {
	Target string
	temp   string   // "" for a dry run, and when nothing is left to remove
	lock   *os.File // of temp, or nil
	stage  string   // in temp

	files []File // all of them, in the order in which they were written
	stays bool   // the target has them already
}

// Stay stages nothing: the target is a directory that has all files already.
func (o *Stage) Stay(target string, files []File) {
	d := &Directory{Target: filepath.Clean(target), files: files, stays: true}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.directories = append(o.directories, d)
}

// Directory starts a directory.
func (o *Stage) Directory(target string) (*Directory, error) {
	d := &Directory{Target: filepath.Clean(target)}
	beside := filepath.Dir(d.Target)
	switch info, err := os.Stat(target); {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("output %s must be a directory, and there is a file of that name; choose another name",
			target)
	case err == nil:
		beside = d.Target
	}
	if o.DryRun {
		return d, nil
	}
	var err error
	if d.temp, d.lock, err = atomicfile.CreateDirectory(beside); err != nil {
		return nil, fmt.Errorf("cannot write output directory %s: %w", target, err)
	}
	o.mu.Lock()
	o.directories = append(o.directories, d)
	o.mu.Unlock()
	// MkdirTemp denies access to all other users. The output must not.
	d.stage = filepath.Join(d.temp, "output")
	if err := os.Mkdir(d.stage, 0o777); err != nil {
		return nil, fmt.Errorf("cannot write output directory %s: %w", target, err)
	}
	return d, nil
}

// Files returns the files that were written, in their order.
func (d *Directory) Files() []File { return d.files }

// Write writes a file of that name and mode; one whose name ends in a slash is an empty directory.
func (d *Directory) Write(name string, mode fs.FileMode, data []byte) error {
	d.files = append(d.files, File{name, mode.Perm(), int64(len(data)), cache.ChecksumOf(data)})
	if d.temp == "" {
		return nil
	}
	file := filepath.Join(d.stage, filepath.FromSlash(name))
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(file, 0o777)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		return err
	}
	return os.Chmod(file, mode.Perm())
}

// Check finds what would keep Commit from putting the files into the target that is there, and counts the files
// in it that are not of this run.
func (d *Directory) Check() (others int, err error) {
	ours := make(map[string]bool, len(d.files))
	for _, f := range d.files {
		ours[f.Name] = true
		to := filepath.Join(d.Target, filepath.FromSlash(f.Name))
		info, err := os.Stat(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, fmt.Errorf("cannot write output directory %s: %w", d.Target, err)
		case info.IsDir() != strings.HasSuffix(f.Name, "/"):
			return 0, fmt.Errorf("cannot write %s: a directory is in the place of a file, or a file in the place of a "+
				"directory; remove it", to)
		}
	}
	behindLink := d.Target + string(filepath.Separator)
	err = filepath.WalkDir(behindLink, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the target appears with this run
		case err != nil:
			return err
		case entry.IsDir() && atomicfile.IsTemporary(entry.Name()): // of this run, or of another that writes here now
			return fs.SkipDir
		case atomicfile.IsTemporary(entry.Name()) || isJournal(entry.Name()):
			return nil
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(d.Target, file)
		if !ours[filepath.ToSlash(name)] {
			others++
		}
		return err
	})
	return others, err
}

// moves returns what makes the staged directory the target, or moves its files into the target that is there. What is
// left of the stage, Abort removes.
func (d *Directory) moves() ([]move, error) {
	if _, err := os.Stat(d.Target); errors.Is(err, fs.ErrNotExist) {
		if d.stays && len(d.files) > 0 {
			return nil, fmt.Errorf("cannot write output directory %s: it was removed while tracegen was running; run it "+
				"again", d.Target)
		}
		if d.temp == "" {
			return nil, nil
		}
		return []move{{from: d.stage, to: d.Target}}, nil
	}
	if d.stays {
		return nil, nil
	}
	moves := make([]move, len(d.files))
	for i, f := range d.files {
		moves[i].to = filepath.Join(d.Target, filepath.FromSlash(f.Name))
		if !strings.HasSuffix(f.Name, "/") {
			moves[i].from = filepath.Join(d.stage, filepath.FromSlash(f.Name))
		}
	}
	return moves, nil
}

// Abort removes what was staged of the directory.
func (d *Directory) Abort() {
	if d.temp != "" {
		os.RemoveAll(d.temp) // before its lock ends
		d.leave()
	}
}

// leave makes Abort leave what was staged, for another run.
func (d *Directory) leave() {
	d.temp = ""
	if d.lock != nil {
		d.lock.Close()
		d.lock = nil
	}
}
