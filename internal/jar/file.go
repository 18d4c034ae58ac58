package jar

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that comes into being all at once: what is written goes into a temporary file
// beside it, which Commit renames. Before that nobody sees anything, and an older file of that name
// stays whole. It serves every output of the program, not only archives.
//
//	f, err := jar.CreateFile(path)
//	if err != nil { … }
//	defer f.Abort()
//	… write to f …
//	return f.Commit()
//
// It is used by one goroutine.
type File struct {
	path   string   // what Commit makes
	name   string   // what the caller calls it, in errors
	file   *os.File // nil once closed
	temp   string   // empty if written in place
	synced bool
	err    error // first error of Write or Sync: such a file is never committed
}

// CreateFile begins the file at path. Its mode is that of the file it replaces, else that of any
// newly created file. A symbolic link is followed and stays: the file that it points to is replaced.
// What is no regular file (a device, a pipe) is written in place, and Abort cannot take back what
// was written to it. A directory is an error.
func CreateFile(path string) (*File, error) {
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
	temp := filepath.Join(filepath.Dir(target), ".tracegen-"+rand.Text()+".tmp")
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			f.Close()
			os.Remove(temp)
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	}
	return &File{path: target, name: path, file: f, temp: temp}, nil
}

// followLinks returns what the symbolic links at path lead to, which need not exist.
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
			// Not cleaned: dir/.. is another place when dir is a link.
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

// Sync brings what was written to the disk and ends writing. After it only a rename is left to
// Commit: who has several files to make calls it for all of them first, and commits when all of them
// are safe.
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

// Commit makes the file appear under its name, in the place of what was there. On an error nothing
// has changed there, and Abort removes the temporary file.
func (f *File) Commit() error {
	if err := f.Sync(); err != nil {
		return err
	}
	if f.temp == "" {
		return nil
	}
	if err := os.Rename(f.temp, f.path); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	f.temp = ""
	syncDir(filepath.Dir(f.path))
	return nil
}

// syncDir makes a rename last through a power failure, where a directory can be synced. Where it
// cannot, the file is nevertheless whole: either the old or the new one.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// Abort removes the temporary file. After Commit it does nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
	if f.temp != "" {
		os.Remove(f.temp)
		f.temp = ""
	}
	if f.err == nil {
		f.err = fmt.Errorf("write %s: %w", f.name, fs.ErrClosed)
	}
}

// Linked returns the first of inputs that is the same file as output, under the same name or through
// symbolic or hard links, or "". An output that does not exist is none of them.
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
