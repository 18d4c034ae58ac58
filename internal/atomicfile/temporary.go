package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A temporary file or directory is locked by the run that writes it, where the system has such locks. One that is not
// locked is of a run that was killed.
const (
	temporaryPrefix = ".tracegen-"
	temporarySuffix = ".tmp"
)

// IsTemporary reports whether a name is that of a temporary file or directory.
func IsTemporary(name string) bool {
	return len(name) > len(temporaryPrefix+temporarySuffix) && strings.HasPrefix(name, temporaryPrefix) &&
		strings.HasSuffix(name, temporarySuffix)
}

// directoryOf returns the directory of a path with a separator at its end, or "". In contrast to [filepath.Dir] it
// keeps "link/..", which is not the directory of the link.
func directoryOf(path string) string {
	dir, _ := filepath.Split(path)
	return dir
}

// createTemporary creates a file with a new name in dir, which is as directoryOf returns it.
func createTemporary(dir string) (*os.File, error) {
	for {
		f, err := os.OpenFile(dir+temporaryPrefix+rand.Text()+temporarySuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, err
		}
		if holds(f) {
			return f, nil
		}
		f.Close()
		os.Remove(f.Name())
	}
}

// CreateDirectory creates a temporary directory in dir. lock is closed after the directory was removed; it may be nil.
func CreateDirectory(dir string) (path string, lock *os.File, err error) {
	for {
		path, err := os.MkdirTemp(dir, temporaryPrefix+"*"+temporarySuffix)
		if err != nil {
			return "", nil, err
		}
		lock, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return path, nil, nil
		}
		got, supported := TryLock(lock)
		if !supported { // Windows does not remove or rename an open directory
			lock.Close()
			return path, nil, nil
		}
		if got && IsAt(lock, path) {
			return path, lock, nil
		}
		lock.Close()
		os.Remove(path)
	}
}

// holds locks a file that was just made, and reports whether it is still there: another run may have taken it for one
// of a killed run before it was locked.
func holds(f *os.File) bool {
	got, supported := TryLock(f)
	return !supported || got && IsAt(f, f.Name())
}

// IsAt reports whether a path leads to an open file.
func IsAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// Sweep removes temporary files and directories in dir that runs of this user have left when they were killed. Those of
// runs that are not over, and of other users, stay.
func Sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !IsTemporary(e.Name()) || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err != nil || !IsOwn(info) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0) // some file systems lock only what is open for writing
		if err != nil {
			f, err = os.Open(path)
		}
		if err != nil {
			continue
		}
		if got, _ := TryLock(f); got && IsAt(f, path) {
			os.RemoveAll(path)
		}
		f.Close()
	}
}
