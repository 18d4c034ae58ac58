// Package atomicfile writes files that appear whole or not at all, also if the run is killed: under a temporary name,
// which is locked while the run lasts, and which a later run removes otherwise. It finds out whether two names are of
// one file.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is staged and then appears at once: data is written to a temporary file in the same
// directory, which Commit renames. Until then, an older file of that name stays unchanged. It is used for every
// output of the program, not only for archives.
//
//	f, err := atomicfile.Create(path)
//	if err != nil { … }
//	defer f.Abort()
//	… write to f …
//	return f.Commit()
//
// It is used by one goroutine.
type File struct {
	path   string   // the path that Commit renames to, without symbolic links
	name   string   // the path in errors, as the caller named it
	file   *os.File // nil once closed
	temp   string   // the temporary file; empty if the file is written in place
	lock   *os.File // keeps the lock of the temporary file when that is closed; or nil
	synced bool
	err    error // first error of Write or Sync, after which Commit fails
}

// Create starts to write the file at path. The new file has the mode of the file that it replaces, else the
// default mode of new files. If path is a symbolic link, the link stays and the file that it points to is replaced.
// A file that is not regular (a device, a pipe) is written in place, and Abort cannot undo what was written to it.
// Create fails for a directory.
func Create(path string) (*File, error) {
	target, err := followLinks(path)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	var old fs.FileInfo
	switch info, err := os.Stat(target); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("create %s: %w", path, err)
	case info.IsDir():
		return nil, fmt.Errorf("create %s: it is a directory; name a file", path)
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		return &File{path: target, name: path, file: f}, nil
	default:
		old = info
	}
	f, err := createTemporary(directoryOf(target))
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	created := &File{path: target, name: path, file: f, temp: f.Name()}
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			created.Abort()
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	}
	return created, nil
}

// followLinks follows the symbolic links at path and returns the last path, which need not exist.
func followLinks(path string) (string, error) {
	for range 40 { // as many as Linux follows
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return path, err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			// filepath.Join would remove "dir/..", which is a different directory if dir is a link.
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return "", errors.New("too many symbolic links")
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.file == nil {
		return 0, fmt.Errorf("write %s: %w", f.name, fs.ErrClosed)
	}
	n, err := f.file.Write(p)
	if err != nil {
		f.err = fmt.Errorf("write %s: %w", f.name, err)
	}
	return n, f.err
}

// Sync writes the data to the disk and closes the temporary file, so that nothing more can be written and Commit
// only has to rename. A caller with several files should call Sync for all of them before it commits the first.
func (f *File) Sync() error {
	if f.err != nil || f.synced {
		return f.err
	}
	if f.file == nil {
		return fmt.Errorf("sync %s: %w", f.name, fs.ErrClosed)
	}
	var err error
	if f.temp != "" {
		err = f.file.Sync()
	}
	if f.temp != "" {
		f.lock = keepLock(f.file)
	}
	if closing := f.file.Close(); err == nil {
		err = closing
	}
	f.file = nil
	if err != nil {
		f.err = fmt.Errorf("write %s: %w", f.name, err)
		return f.err
	}
	f.synced = true
	return nil
}

// Commit makes the file appear under its name, where it replaces an older file. If it fails, the older file is
// unchanged, and Abort removes the temporary file.
func (f *File) Commit() error {
	if f.temp == "" {
		return f.Sync()
	}
	if err := f.Rename(); err != nil {
		return err
	}
	SyncDirectory(filepath.Dir(f.path))
	return nil
}

// Rename is Commit for a caller with several files, who calls [SyncDirectory] when all are renamed.
func (f *File) Rename() error {
	if err := f.Sync(); err != nil || f.temp == "" {
		return err
	}
	if err := os.Rename(f.temp, f.path); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	f.Leave()
	return nil
}

// Name returns the path as the caller of Create named it.
func (f *File) Name() string { return f.name }

// Paths returns the path of the temporary file, "" if the file is written in place or was renamed, and the path that it
// will have.
func (f *File) Paths() (temp, path string) { return f.temp, f.path }

// Leave makes Abort leave the temporary file, for another run.
func (f *File) Leave() {
	f.temp = ""
	f.unlock()
}

func (f *File) unlock() {
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}

// SyncDirectory makes sure that renames in a directory survive a power failure, on systems that can sync a directory.
// On others, there is either the whole old file or the whole new one afterwards.
func SyncDirectory(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// Abort removes the temporary file. After Commit it does nothing, so that a caller can defer it.
func (f *File) Abort() {
	temp := f.temp
	removed := temp == "" || os.Remove(temp) == nil // before its lock ends
	f.Leave()
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
	if !removed {
		os.Remove(temp) // Windows does not remove an open file
	}
	if f.err == nil {
		f.err = fmt.Errorf("write %s: %w", f.name, fs.ErrClosed)
	}
}

// ID identifies a file, whatever its name, and says when anything of it was changed last, which no program can set
// back. It is zero where the system does not say.
type ID struct {
	Device, Inode uint64 // which file it is
	Changed       int64  // nanoseconds of the Unix epoch
}

// Linked returns the first of inputs that is the same file as output, by the same name or by symbolic or hard
// links, and "" if there is none or if output does not exist.
func Linked(output string, inputs ...string) (string, error) {
	out, err := os.Stat(output)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("check output: %w", err)
	}
	for _, input := range inputs {
		in, err := os.Stat(input)
		if err != nil {
			return "", fmt.Errorf("check input: %w", err)
		}
		if os.SameFile(out, in) {
			return input, nil
		}
	}
	return "", nil
}
