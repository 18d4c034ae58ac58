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

// Trim removes entries until the cache is no bigger than it may be, those first that were not read or written for the longest
// time, and temporary files that nobody writes any more. Others may read and write meanwhile: what they miss, they
// make again.
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
	shelves, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	for _, shelf := range shelves {
		if !shelf.IsDir() || !isShelf(shelf.Name()) {
			continue // none of ours, whoever put it there
		}
		files, err := os.ReadDir(c.path(shelf.Name()))
		note(err)
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				note(err)
				continue
			}
			e := entry{c.path(shelf.Name(), f.Name()), info.Size(), info.ModTime()}
			switch {
			case strings.HasSuffix(f.Name(), temporary) && time.Since(e.used) > abandoned:
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

// isShelf reports whether a directory is called as those that entries lie in.
func isShelf(name string) bool {
	return len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}
