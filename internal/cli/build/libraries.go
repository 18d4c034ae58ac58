package build

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/cli"
)

// libraries says which classes are of libraries, and how much of these is traced. Classes are recognized by their
// names: tools that run before may have moved them into other archives.
type libraries struct {
	scope   filter.Scope
	lists   []string        // of paths and patterns, separated as the system does it
	classes map[string]bool // the names of the classes there, in internal form
}

// check fails if a scope has no effect. It is not for scan: a part may have no class of a library.
func (l *libraries) check() error {
	if l.scope != filter.ScopeAll && len(l.lists) == 0 {
		return cli.Misuse("--scope %v needs --libraries: name the jars that are not the program itself", l.scope)
	}
	return nil
}

// read finds the names of all classes in the lists.
func (l *libraries) read() error {
	files, err := l.files()
	if err != nil {
		return err
	}
	return l.readFrom(files)
}

// readFrom finds the names of all classes in archives and directories.
func (l *libraries) readFrom(files []string) error {
	l.classes = make(map[string]bool)
	for i, file := range files {
		in, err := input.Open(i, file, false)
		if err != nil {
			return fmt.Errorf("--libraries: %w", err)
		}
		for _, c := range in.Classes {
			directory, _ := input.ReleaseOf(c.Name)
			l.classes[strings.Clone(strings.TrimSuffix(strings.TrimPrefix(c.Name, directory), ".class"))] = true
		}
		in.Close()
	}
	return nil
}

// files returns what the lists name. A list that is an argument file may be longer than a command line.
func (l *libraries) files() (files []string, err error) {
	for _, list := range l.lists {
		var named []string
		if strings.HasPrefix(list, "@") {
			named, _, err = cli.Paths([]string{list})
		} else {
			named, err = cli.ExpandList("--libraries", []string{list})
		}
		if err != nil {
			return nil, err
		}
		files = append(files, named...)
	}
	return files, nil
}

// digest returns a hash of the names.
func (l *libraries) digest() string {
	names := slices.Sorted(maps.Keys(l.classes))
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return string(sum[:])
}
