package classpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// ClassPath is an open class path. It implements [types.Hierarchy], and goroutines may share it.
type ClassPath struct {
	containers []container
	codec      zipfile.Codec

	found Recent[string, *types.ClassInfo] // nil for names of classes that do not exist

	mu         sync.Mutex
	unreadable map[string]error
}

// container is one element of a class path.
type container interface {
	// class returns the class file of the class with that name in internal form, nil if the container has none.
	class(name string, codec *zipfile.Codec) ([]byte, error)
	Close() error
}

// Open opens a class path. Each path is a jar, .aar or .jmod file, a directory of class files or of .jmod files, a
// lib/modules image, or the home directory of a JDK. Of a multi-release jar it uses the classes that release 17 uses,
// because the type checker follows that release for most classes. The caller must close the result.
func Open(paths ...string) (*ClassPath, error) {
	c := &ClassPath{unreadable: map[string]error{}}
	for _, path := range paths {
		opened, err := openContainers(path)
		c.containers = append(c.containers, opened...)
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("class path: %w", err)
		}
	}
	return c, nil
}

// Close closes the files. The ClassPath must not be used afterwards; the results of Lookup stay valid.
func (c *ClassPath) Close() error {
	var all error
	for _, s := range c.containers {
		all = errors.Join(all, s.Close())
	}
	c.containers = nil
	return all
}

// Lookup implements [types.Hierarchy]. A class that cannot be read or parsed counts as one that does not exist.
func (c *ClassPath) Lookup(name string) *types.ClassInfo {
	if len(c.containers) == 0 {
		return nil
	}
	if info, found := c.found.Get(name); found {
		return info
	}
	info, err := c.load(name)
	name = strings.Clone(name) // the name may be part of a class file in memory
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unreadable[name] = err
	}
	c.found.Put(name, info)
	return info
}

// Unreadable returns the names of the classes that could not be read, with the errors.
func (c *ClassPath) Unreadable() map[string]error {
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := make(map[string]error, len(c.unreadable))
	for name, err := range c.unreadable {
		copied[name] = err
	}
	return copied
}

// load reads a class from the first container that has it.
func (c *ClassPath) load(name string) (*types.ClassInfo, error) {
	for _, s := range c.containers {
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

// Chain is several hierarchies as one: the first that has a class wins.
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

// openContainers opens the container or containers at a path.
func openContainers(path string) ([]container, error) {
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
		return []container{image}, nil
	}
	a, err := zipfile.Open(path)
	if err != nil {
		return nil, err
	}
	return []container{&archive{Archive: a}}, nil
}

// openDirectory opens the home of a JDK, a directory of .jmod files, or a directory of class files.
func openDirectory(path string) ([]container, error) {
	for _, inside := range []string{"lib/modules", "jmods", "jre/lib/rt.jar", "lib/rt.jar"} {
		within := filepath.Join(path, filepath.FromSlash(inside))
		if _, err := os.Stat(within); err == nil {
			return openContainers(within)
		}
	}
	modules, err := filepath.Glob(filepath.Join(path, "*.jmod"))
	if err != nil || len(modules) == 0 {
		return []container{directory(path)}, err
	}
	var all []container
	for _, m := range modules {
		opened, err := openContainers(m)
		all = append(all, opened...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// directory is a directory of class files.
type directory string

func (d directory) class(name string, _ *zipfile.Codec) ([]byte, error) {
	if zipfile.CheckName(name) != nil {
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
