// Package classpath finds the classes that the type checker needs besides the one it checks: in jars, .aar and .jmod
// files, directories, and the image of a JDK. [ClassPath] implements [types.Hierarchy].
package classpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/recent"
)

// ClassPath is a types.Hierarchy over files. Nothing is read before it is asked for; what was read last is kept, up to
// a bound, so that its size does not depend on that of the class path.
type ClassPath struct {
	sources []source
	codec   jar.Codec

	found recent.Map[string, *types.ClassInfo] // nil for names that are not there

	mu         sync.Mutex
	unreadable map[string]error
}

// source is one place to look for classes.
type source interface {
	// class gives the class file of that name, nil if it has none.
	class(name string, codec *jar.Codec) ([]byte, error)
	Close() error
}

// Open opens a class path: jars, .aar and .jmod files, directories of classes, lib/modules images, and
// the home directories of JDKs. The first that has a class wins; a multi-release jar has those that release 17 sees, by
// which most classes are judged. The caller closes it.
func Open(paths ...string) (*ClassPath, error) {
	c := &ClassPath{unreadable: map[string]error{}}
	for _, path := range paths {
		opened, err := openSources(path)
		c.sources = append(c.sources, opened...)
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("class path: %w", err)
		}
	}
	return c, nil
}

// Close releases the files. The ClassPath must not be used afterwards; what it gave out stays good.
func (c *ClassPath) Close() error {
	var all error
	for _, s := range c.sources {
		all = errors.Join(all, s.Close())
	}
	c.sources = nil
	return all
}

// Lookup implements [types.Hierarchy]. A class that cannot be read or parsed counts as not there.
func (c *ClassPath) Lookup(name string) *types.ClassInfo {
	if info, found := c.found.Get(name); found {
		return info
	}
	info, err := c.load(name)
	name = strings.Clone(name) // which may be cut from a class file
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unreadable[name] = err
	}
	c.found.Put(name, info)
	return info
}

// Unreadable gives the classes that are on the class path but could not be read, and why.
func (c *ClassPath) Unreadable() map[string]error {
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := make(map[string]error, len(c.unreadable))
	for name, err := range c.unreadable {
		copied[name] = err
	}
	return copied
}

func (c *ClassPath) load(name string) (*types.ClassInfo, error) {
	for _, s := range c.sources {
		data, err := s.class(name, &c.codec)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		class, err := classfile.Parse(data)
		if err != nil {
			return nil, err
		}
		if class.Name() != name {
			return nil, fmt.Errorf("%s holds class %s", name, class.Name())
		}
		return types.NewClassInfo(class), nil
	}
	return nil, nil
}

// Chain is several hierarchies as one: the first that knows a class wins.
type Chain []types.Hierarchy

// Lookup implements [types.Hierarchy].
func (c Chain) Lookup(name string) *types.ClassInfo {
	for _, h := range c {
		if info := h.Lookup(name); info != nil {
			return info
		}
	}
	return nil
}

// openSources opens what a path stands for.
func openSources(path string) ([]source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openDirectory(path)
	}
	if isImage(path) {
		image, err := openImage(path)
		if err != nil {
			return nil, err
		}
		return []source{image}, nil
	}
	a, err := jar.Open(path)
	if err != nil {
		return nil, err
	}
	return []source{&archive{Archive: a}}, nil
}

// openDirectory opens a JDK, a directory of .jmod files, or one of classes.
func openDirectory(path string) ([]source, error) {
	for _, inside := range []string{"lib/modules", "jmods", "jre/lib/rt.jar", "lib/rt.jar"} {
		within := filepath.Join(path, filepath.FromSlash(inside))
		if _, err := os.Stat(within); err == nil {
			return openSources(within)
		}
	}
	modules, err := filepath.Glob(filepath.Join(path, "*.jmod"))
	if err != nil || len(modules) == 0 {
		return []source{directory(path)}, err
	}
	var all []source
	for _, m := range modules {
		opened, err := openSources(m)
		all = append(all, opened...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// directory is a directory of class files.
type directory string

func (d directory) class(name string, _ *jar.Codec) ([]byte, error) {
	if jar.CheckName(name) != nil {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(string(d), filepath.FromSlash(name)+".class"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Close does nothing.
func (d directory) Close() error { return nil }

// archive is a jar, .aar or .jmod file.
type archive struct {
	*jar.Archive
	once    sync.Once
	entries map[string]*jar.Entry // by class name
	inner   *archive              // classes.jar of an .aar
}

// moduleClasses is where a .jmod file has its classes.
const moduleClasses = "classes/"

func (a *archive) class(name string, codec *jar.Codec) ([]byte, error) {
	a.once.Do(func() { a.index(codec) })
	if e, found := a.entries[name]; found {
		return codec.Read(e, nil)
	}
	if a.inner != nil {
		return a.inner.class(name, codec)
	}
	return nil, nil
}

// What a multi-release jar has for releases from 9 on, and the latest that is looked at.
const (
	versionsDirectory = "META-INF/versions/"
	firstRelease      = 9
	latestRelease     = 17
)

func (a *archive) index(codec *jar.Codec) {
	isModule := strings.HasSuffix(a.Name(), ".jmod")
	a.entries = map[string]*jar.Entry{}
	releases := map[string]int{}
	multiRelease := a.isMultiRelease(codec)
	entries := a.Entries()
	for i := range entries {
		e := &entries[i]
		if e.Name == "classes.jar" {
			if data, err := codec.Read(e, nil); err == nil {
				if inner, err := jar.New(a.Name()+"!"+e.Name, data); err == nil {
					a.inner = &archive{Archive: inner}
				}
			}
			continue
		}
		name, isClass := strings.CutSuffix(e.Name, ".class")
		if isClass && isModule {
			name, isClass = strings.CutPrefix(name, moduleClasses)
		}
		release := 0
		if multiRelease {
			name, release = cutRelease(name)
		}
		if _, twice := a.entries[name]; isClass && (!twice || release > releases[name]) {
			a.entries[name], releases[name] = e, release
		}
	}
}

// cutRelease takes apart what a multi-release jar calls a class; of other names it gives all. What is there for later
// releases keeps its name, by which nobody asks for it.
func cutRelease(path string) (name string, release int) {
	within, ok := strings.CutPrefix(path, versionsDirectory)
	number, name, inside := strings.Cut(within, "/")
	release, err := strconv.Atoi(number)
	if !ok || !inside || err != nil || release < firstRelease || release > latestRelease {
		return path, 0
	}
	return name, release
}

// isMultiRelease says whether the jar's manifest has "Multi-Release: true" in its main section.
func (a *archive) isMultiRelease(codec *jar.Codec) bool {
	entries := a.Entries()
	i := slices.IndexFunc(entries, func(e jar.Entry) bool { return jar.IsManifest(e.Name) })
	if i < 0 {
		return false
	}
	manifest, err := codec.Read(&entries[i], nil)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(manifest)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			return false // the main section ends
		}
		if strings.EqualFold(name, "Multi-Release") {
			return strings.EqualFold(strings.TrimSpace(value), "true")
		}
	}
	return false
}
