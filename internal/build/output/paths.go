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

// CheckPaths refuses outputs that would destroy an input or each other.
func CheckPaths(outputs, inputs []string) error {
	among := newInputFiles(inputs)
	seen := make(map[string]string)
	for _, output := range outputs {
		if among.mayMeet(output) {
			if err := CheckPath(output, inputs); err != nil {
				return err
			}
		}
		identity, err := Identity(output)
		if err != nil {
			return fmt.Errorf("check output: %w", err)
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

// inputFiles finds out quickly that an output is none of many inputs, and lies in none.
type inputFiles struct {
	files       map[atomicfile.ID]bool
	directories bool // there are some among them
	vague       bool // some have no ID
}

func newInputFiles(inputs []string) *inputFiles {
	p := &inputFiles{files: make(map[atomicfile.ID]bool, len(inputs))}
	for _, input := range inputs {
		info, err := os.Stat(input)
		if err != nil {
			p.vague = true
			continue
		}
		id := atomicfile.IDOf(info)
		p.vague = p.vague || id == atomicfile.ID{}
		p.directories = p.directories || info.IsDir()
		p.files[atomicfile.ID{Device: id.Device, Inode: id.Inode}] = true
	}
	return p
}

// mayMeet reports whether an output could be an input, or one of the two lie in the other.
func (p *inputFiles) mayMeet(output string) bool {
	info, err := os.Stat(output)
	switch {
	case p.vague || p.directories:
		return true
	case err != nil:
		return !errors.Is(err, fs.ErrNotExist)
	}
	id := atomicfile.IDOf(info)
	return info.IsDir() || p.files[atomicfile.ID{Device: id.Device, Inode: id.Inode}]
}

// CheckPath refuses an output that is an input, or one of the two lies in the other.
func CheckPath(output string, inputs []string) error {
	linked, err := atomicfile.Linked(output, inputs...)
	if err != nil {
		return err
	}
	if linked != "" {
		return fmt.Errorf("output %s is the input %s, or a link to it; choose another output", output, linked)
	}
	for _, input := range inputs {
		if Contains(input, output) || Contains(output, input) {
			return fmt.Errorf("output %s and input %s lie in each other; choose another output", output, input)
		}
	}
	return nil
}

// Contains reports whether dir is a directory and name lies in it, or is it, links followed as far as there are files.
func Contains(dir, name string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	above, err := Resolve(dir)
	if err != nil {
		return false
	}
	below, err := Resolve(name)
	return err == nil && Below(above, below)
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
