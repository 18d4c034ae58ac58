package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tracegen/tracegen/internal/atomicfile"
)

// CheckPaths refuses outputs that would destroy an input or each other: none may be an input or a link to it, and of an
// output and an input none may lie in the other.
func CheckPaths(outputs, inputs []string) error {
	byIdentity, places := make(map[string]string), make([]place, len(inputs))
	for i, input := range inputs {
		places[i] = placeOf(input)
		if identity, err := Identity(input); err == nil && identity != "" { // else reading it will say more
			byIdentity[identity] = input
		}
	}
	seen := make(map[string]string)
	for _, output := range outputs {
		identity, err := Identity(output)
		if err != nil {
			return fmt.Errorf("check output %s: %w", output, err)
		}
		if input, ok := byIdentity[identity]; ok {
			return fmt.Errorf("output %s is the input %s, or a link to it; choose another output", output, input)
		}
		at := placeOf(output)
		for i, in := range places {
			if in.contains(at) || at.contains(in) {
				return fmt.Errorf("output %s and input %s lie in each other; choose another output", output, inputs[i])
			}
		}
		if identity == "" {
			continue
		}
		if other, ok := seen[identity]; ok {
			return fmt.Errorf("outputs %s and %s are the same file; choose another for one of them", other, output)
		}
		seen[identity] = output
	}
	return nil
}

// place is where a file is, or will be: as [Resolve] returns it, "" if that fails.
type place struct {
	real      string
	directory bool // there is a directory
}

func placeOf(name string) place {
	info, err := os.Stat(name)
	real, _ := Resolve(name) // "" if it fails
	return place{real, err == nil && info.IsDir()}
}

// contains reports whether the other place lies in this one, or is it.
func (p place) contains(other place) bool {
	return p.directory && p.real != "" && other.real != "" && Below(p.real, other.real)
}

// Identity returns a text that is the same for all names of one file, also of one that is not there yet: links to it,
// names in directories that are the same, and on systems that do not distinguish them, names that differ in case. It is
// "" for a file that takes any number of outputs, as a device.
func Identity(name string) (string, error) {
	real, err := Resolve(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "", nil
	}
	missing := ""
	for at := real; ; {
		info, err := os.Stat(at)
		if err == nil {
			if id := atomicfile.IDAt(at, info); id != (atomicfile.ID{}) {
				return fmt.Sprintf("%d %d %s", id.Device, id.Inode, folded(missing)), nil
			}
			return folded(real), nil
		}
		parent := filepath.Dir(at)
		if !errors.Is(err, fs.ErrNotExist) || parent == at {
			return folded(real), nil
		}
		at, missing = parent, filepath.Join(filepath.Base(at), missing)
	}
}

// folded returns the path in lower case on systems whose file systems usually do not distinguish it.
func folded(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// Below reports whether a path is another one or lies in it, both as [Resolve] returns them.
func Below(dir, path string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(relative)
}

// Resolve returns the absolute path that name leads to when all links are followed. What does not exist yet lies
// where its name, or the link that names it, says.
func Resolve(name string) (string, error) {
	missing := ""
	for at := name; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			real, err = filepath.Abs(real)
			return filepath.Join(real, missing), err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		dir, base := split(at)
		if to, err := os.Readlink(at); err == nil {
			if !filepath.IsAbs(to) {
				to = dir + string(filepath.Separator) + to
			}
			at = to
			continue
		}
		if base == "." || base == ".." { // of a directory that is not there
			if cleaned := filepath.Clean(at); cleaned != at {
				at = cleaned
				continue
			}
			return filepath.Abs(filepath.Join(at, missing))
		}
		at, missing = dir, filepath.Join(base, missing)
		if at == "" || base == "" {
			return filepath.Abs(name)
		}
	}
}

// realNames has what [Resolve] has returned, for a short time in which many files of the same directories are asked
// for.
type realNames map[string]string

func (r realNames) of(dir string) (string, error) {
	if real, known := r[dir]; known {
		return real, nil
	}
	real, err := Resolve(dir)
	if err == nil {
		r[dir] = real
	}
	return real, err
}

// split returns directory and name of a path. It keeps "link/..", which is not the directory of the link.
func split(path string) (dir, base string) {
	trim := func(path string) string {
		end := len(path)
		for end > len(filepath.VolumeName(path))+1 && os.IsPathSeparator(path[end-1]) {
			end--
		}
		return path[:end]
	}
	dir, base = filepath.Split(trim(path))
	if dir == "" && base != "" {
		return ".", base
	}
	return trim(dir), base
}

// IsArchiveName reports whether a directory that is written to that path becomes an archive.
func IsArchiveName(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return extension == ".jar" || extension == ".zip"
}
