package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Trim removes entries until the cache is within its limit, first those that were not read or written for the
// longest time, and temporary files that are a day old. Other processes may read and write at the same time.
func (c *Cache) Trim() error {
	type entry struct {
		path string
		size int64
		used time.Time
	}
	var entries []entry
	var total int64
	var failures []error
	note := func(err error) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process was faster
			failures = append(failures, err)
		}
	}
	subdirectories, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	for _, subdirectory := range subdirectories {
		if !subdirectory.IsDir() || !isSubdirectory(subdirectory.Name()) {
			continue // not a part of the cache
		}
		files, err := os.ReadDir(c.path(subdirectory.Name()))
		note(err)
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				note(err)
				continue
			}
			e := entry{c.path(subdirectory.Name(), f.Name()), info.Size(), info.ModTime()}
			switch {
			case strings.HasSuffix(f.Name(), temporary) && time.Since(e.used) > maxTemporaryAge:
				note(os.Remove(e.path))
			case strings.HasSuffix(f.Name(), extension) && info.Mode().IsRegular():
				entries = append(entries, e)
				total += e.size
			}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path))
	})
	for _, e := range entries {
		if total <= c.limit {
			break
		}
		if err := os.Remove(e.path); err != nil {
			note(err)
		}
		total -= e.size
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}

// isSubdirectory reports whether a directory has the name of one with entries: the first two digits of their keys.
func isSubdirectory(name string) bool {
	return len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}
