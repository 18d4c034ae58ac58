package launch

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/zipfile"
)

// Containers returns the archives and directories that the class path and the module path name, in their order, each
// once: wildcards are expanded, and the Class-Path of the manifest of an archive is followed. What is not there is
// returned in missing; java ignores it.
func (c *Command) Containers() (found, missing []string) {
	return containersOf(c.ClassPath, c.ModulePath)
}

// Expand returns the same for a list of paths, as a class path has them.
func Expand(elements []string) (found, missing []string) {
	return containersOf(elements, nil)
}

func containersOf(classPath, modulePath []string) (found, missing []string) {
	var s search
	for _, element := range classPath {
		if rest, ok := cutWildcard(element); ok {
			for _, file := range archivesIn(rest) {
				s.add(file)
			}
			continue
		}
		if element == "" {
			element = "."
		}
		if !s.add(element) {
			missing = append(missing, element)
		}
	}
	for _, element := range modulePath {
		if !isDirectory(element) || isFile(filepath.Join(element, "module-info.class")) {
			if !s.add(element) {
				missing = append(missing, element)
			}
			continue
		}
		for _, file := range modulesIn(element) {
			s.add(file)
		}
	}
	return s.found, missing
}

// cutWildcard returns the directory of DIR/*.
func cutWildcard(element string) (dir string, ok bool) {
	if element == "*" {
		return ".", true
	}
	rest, ok := strings.CutSuffix(element, "*")
	if !ok || !os.IsPathSeparator(rest[len(rest)-1]) {
		return "", false
	}
	return rest, true
}

// archivesIn returns the archives that a wildcard stands for, in the order of names.
func archivesIn(dir string) (files []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".jar") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// modulesIn returns the archives and the directories of modules in a directory of modules.
func modulesIn(dir string) []string {
	files := archivesIn(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if isFile(filepath.Join(path, "module-info.class")) {
			files = append(files, path)
		}
	}
	return files
}

// search collects containers.
type search struct {
	found []string
	seen  []os.FileInfo
}

// add adds a container and what its manifest names. It returns false if there is none.
func (s *search) add(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	if slices.ContainsFunc(s.seen, func(other os.FileInfo) bool { return os.SameFile(other, info) }) {
		return true
	}
	s.found, s.seen = append(s.found, path), append(s.seen, info)
	if info.IsDir() {
		return true
	}
	for _, reference := range strings.Fields(mainAttributes(path)["class-path"]) {
		if file, ok := resolve(path, reference); ok {
			s.add(file)
		}
	}
	return true
}

// resolve returns the file that an entry of a Class-Path names: a URL that is relative to the archive, or one with the
// scheme file.
func resolve(archive, reference string) (file string, ok bool) {
	u, err := url.Parse(reference)
	if err != nil || u.Host != "" || u.Scheme != "" && u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := filepath.FromSlash(u.Path)
	if runtime.GOOS == "windows" && len(path) > 2 && path[2] == ':' {
		path = path[1:] // file:/C:/lib
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(archive), path)
	}
	return path, true
}

// mainAttributes returns the attributes of the main section of an archive's manifest, by name in lower case. It is
// empty if the archive or its manifest cannot be read.
func mainAttributes(path string) map[string]string {
	a, err := zipfile.Open(path)
	if err != nil {
		return nil
	}
	defer a.Close()
	return a.MainAttributes()
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
