package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/atomicfile"
)

// directory is a store in a directory.
type directory string

func (d directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// List leaves out files whose names begin with a dot: they are not complete.
func (d directory) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	within := prefix[:strings.LastIndexByte(prefix, '/')+1]
	return func(yield func(Object, error) bool) {
		err := fs.WalkDir(os.DirFS(string(d)), path.Clean(within), func(name string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // nothing was written yet, or another process has removed it
			}
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			if !e.Type().IsRegular() || !strings.HasPrefix(name, prefix) || strings.HasPrefix(e.Name(), ".") {
				return nil
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && !yield(Object{name, info.Size(), info.ModTime()}, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(Object{}, err)
		}
	}
}

// Read opens the file.
func (d directory) Read(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return os.Open(d.path(name))
}

// Put writes a temporary file, syncs and renames it.
func (d directory) Put(ctx context.Context, name string, data []byte) error {
	return d.write(ctx, name, func(f *atomicfile.File) error {
		_, err := f.Write(data)
		return err
	})
}

func (d directory) write(ctx context.Context, name string, write func(*atomicfile.File) error) error {
	err := errors.Join(ctx.Err(), d.makeDirs(name))
	if err != nil {
		return err
	}
	atomicfile.Sweep(filepath.Dir(d.path(name))) // of writers that were killed
	f, err := atomicfile.Create(d.path(name))
	if errors.Is(err, fs.ErrNotExist) && d.makeDirs(name) == nil { // Remove found the directory empty
		f, err = atomicfile.Create(d.path(name))
	}
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// PutFile syncs and renames the file, or copies it from another file system.
func (d directory) PutFile(ctx context.Context, name, file string) error {
	if err := errors.Join(ctx.Err(), d.makeDirs(name)); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if os.Rename(file, d.path(name)) == nil {
		atomicfile.SyncDirectory(filepath.Dir(d.path(name)))
		return nil
	}
	err = d.write(ctx, name, func(to *atomicfile.File) error {
		from, err := os.Open(file)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(to, from)
		return err
	})
	if err != nil {
		return err
	}
	return os.Remove(file)
}

// makeDirs makes the directories of a name, and writes their entries to the disk. Neither one of them nor the file may
// be a symbolic link: what is stored stays in the store.
func (d directory) makeDirs(name string) error {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	at := string(d)
	within, file := path.Split(name)
	for _, part := range strings.Split(strings.TrimSuffix(within, "/"), "/") {
		parent := at
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a directory, as it must be in a store", at)
		case err == nil:
			continue
		}
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		atomicfile.SyncDirectory(parent)
	}
	if info, err := os.Lstat(filepath.Join(at, file)); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file, as it must be in a store", filepath.Join(at, file))
	}
	return nil
}

// Remove removes the file, and its directory if that is empty: a bucket has no directories.
func (d directory) Remove(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "." && os.Remove(d.path(dir)) == nil; dir = path.Dir(dir) {
	}
	return nil
}
