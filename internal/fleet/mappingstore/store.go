package mappingstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/atomicfile"
)

// store is a set of named files. Names have the form of paths with slashes. It is safe for several goroutines.
type store interface {
	// list returns the names that begin with the prefix, in any order.
	list(ctx context.Context, prefix string) ([]string, error)
	// get returns the content of a file. The error wraps fs.ErrNotExist if there is none.
	get(ctx context.Context, name string) ([]byte, error)
	// put writes or replaces a file. It appears as a whole or not at all.
	put(ctx context.Context, name string, data []byte) error
	// remove removes a file; it is no error if there is none.
	remove(ctx context.Context, name string) error
}

// directory is a store in a directory.
type directory string

func (d directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

func (d directory) list(ctx context.Context, prefix string) ([]string, error) {
	within := prefix[:strings.LastIndexByte(prefix, '/')+1]
	var names []string
	err := fs.WalkDir(os.DirFS(string(d)), path.Clean(within), func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // nothing was written yet, or another process has removed it
		}
		return errors.Join(err, ctx.Err())
	})
	return names, err
}

func (d directory) get(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return os.ReadFile(d.path(name))
}

func (d directory) put(ctx context.Context, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	file := d.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := atomicfile.Create(file)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

func (d directory) remove(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// The file that marks an archive.
const (
	markName = "tracegen-archive"
	mark     = "tracegen-archive 2\n"
)

// IsArchive reports whether a directory is an archive.
func IsArchive(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, markName))
	return err == nil && strings.HasPrefix(string(data), "tracegen-archive ")
}

// checkMark returns an error if the archive is of another version. found is false if there is no archive.
func checkMark(ctx context.Context, s store) (found bool, err error) {
	data, err := s.get(ctx, markName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && string(data) != mark {
		first, _, _ := strings.Cut(string(data[:min(len(data), 80)]), "\n")
		err = fmt.Errorf("%s has the text %q: the archive is of another version of tracegen; use that version, or push "+
			"to an empty location", markName, first)
	}
	return err == nil, err
}
