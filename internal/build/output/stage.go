// Package output writes outputs: files and directories that are staged under temporary names and appear together, or
// not at all. A [Stage] has those of one run. A [Writer] writes archives, directories and class files in the order of
// entries, while its workers rewrite the classes to come. The result of writing one output is a [Record].
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

	"github.com/tracegen/tracegen/internal/zipfile"
)

// Stage has the files and directories that are being written. None is visible before Commit. Goroutines may share it.
type Stage struct {
	DryRun bool              // what is written is forgotten
	Warn   func(text string) // called by Commit about what killed runs left, as by Recover; may be nil

	mu          sync.Mutex
	files       []*zipfile.File
	directories []*Directory
}

// Create starts a file.
func (o *Stage) Create(name string) (io.Writer, error) {
	if o.DryRun {
		return io.Discard, nil
	}
	f, err := zipfile.CreateFile(name)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files = append(o.files, f)
	return f, nil
}

// Discard removes a file again that Create has started.
func (o *Stage) Discard(file io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files = slices.DeleteFunc(o.files, func(f *zipfile.File) bool {
		if io.Writer(f) != file {
			return false
		}
		f.Abort()
		return true
	})
}

// Take returns a Stage with all that is staged; o is empty then.
func (o *Stage) Take() *Stage {
	taken := &Stage{files: o.files, directories: o.directories}
	o.files, o.directories = nil, nil
	return taken
}

// Written returns the temporary file that has what was written to a file of that name; ok is false if there is none.
func (o *Stage) Written(name string) (temp string, ok bool) {
	for _, f := range o.files {
		if temp, _ := f.Paths(); f.Name() == name && temp != "" {
			return temp, true
		}
	}
	return "", false
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

// Directory is an output directory whose files are written elsewhere first. A target that is not there
// appears whole, by one renaming. One that is there may be another file system's: its stage lies in it, so that
// every file can be renamed.
type Directory struct {
	Target string
	temp   string   // "" for a dry run, and when nothing is left to remove
	lock   *os.File // of temp, or nil
	stage  string   // in temp
	names  []string

	kept      []string // files that are in the target as they should be
	departing []string // files of an earlier run that are going to be removed from it
}

// Stay stages nothing: the target is a directory that has all files already.
func (o *Stage) Stay(target string, files []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.directories = append(o.directories, &Directory{Target: filepath.Clean(target), kept: files})
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
	if d.temp, d.lock, err = zipfile.CreateDirectory(beside); err != nil {
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

// Drop takes a directory out of the stage again, and removes what was staged of it.
func (o *Stage) Drop(d *Directory) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d.Abort()
	o.directories = slices.DeleteFunc(o.directories, func(other *Directory) bool { return other == d })
}

// Keep notes that the target has a file as it should be.
func (d *Directory) Keep(name string) { d.kept = append(d.kept, name) }

// Depart notes files in the target that are going to be removed from it.
func (d *Directory) Depart(names []string) { d.departing = names }

// Departing returns what [Directory.Depart] was given.
func (d *Directory) Departing() []string { return d.departing }

// Write writes a file of that name and mode; one whose name ends in a slash is an empty directory.
func (d *Directory) Write(name string, mode fs.FileMode, data []byte) error {
	if d.temp == "" {
		return nil
	}
	file := filepath.Join(d.stage, filepath.FromSlash(name))
	d.names = append(d.names, name)
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
	ours := make(map[string]bool, len(d.names))
	for _, name := range slices.Concat(d.names, d.kept, d.departing) {
		ours[name] = true
		to := filepath.Join(d.Target, filepath.FromSlash(name))
		info, err := os.Stat(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, fmt.Errorf("cannot write output directory %s: %w", d.Target, err)
		case info.IsDir() != strings.HasSuffix(name, "/"):
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
		case entry.IsDir() && zipfile.IsTemporary(entry.Name()): // of this run, or of another that writes here now
			return fs.SkipDir
		case zipfile.IsTemporary(entry.Name()) || isJournal(entry.Name()):
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
		if len(d.kept) > 0 {
			return nil, fmt.Errorf("cannot write output directory %s: it was removed while tracegen was running; run it "+
				"again", d.Target)
		}
		if d.temp == "" {
			return nil, nil
		}
		return []move{{from: d.stage, to: d.Target}}, nil
	}
	moves := make([]move, len(d.names))
	for i, name := range d.names {
		moves[i].to = filepath.Join(d.Target, filepath.FromSlash(name))
		if !strings.HasSuffix(name, "/") {
			moves[i].from = filepath.Join(d.stage, filepath.FromSlash(name))
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
