package userfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IsPattern reports whether a name that no file has is a pattern.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[{") }

// Expand returns the paths that a name on a command line or in a file of settings stands for. A name of something that
// exists stands for itself, whatever its characters. Any other name with one of *, ?, [ or { is a pattern of
// [doublestar]: ** spans directories, and does not follow symbolic links. Its paths are sorted, so that output does not
// depend on the file system. It fails if nothing has the name, or nothing matches the pattern.
func Expand(name string) ([]string, error) {
	switch _, err := os.Lstat(name); {
	case err == nil:
		return []string{name}, nil
	case !IsPattern(name):
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist", name)
		}
		return nil, err
	}
	paths, err := doublestar.FilepathGlob(name, doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow())
	switch {
	case errors.Is(err, doublestar.ErrBadPattern):
		return nil, fmt.Errorf("%s does not exist, and is not a pattern: a [ or { is not closed", name)
	case err != nil:
		return nil, Named(name, err)
	case len(paths) == 0:
		return nil, fmt.Errorf("%s matches no file or directory", name)
	}
	slices.Sort(paths)
	return paths, nil
}
