package program

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/cache"
)

// Store keeps instrumented programs, each in a directory with the name of its key. A directory appears complete, by
// being renamed. Any number of processes may use a store at the same time.
type Store struct {
	dir   string
	limit int64
}

const (
	completeName = "complete"       // the last file of a directory: names and sizes of the others
	temporary    = ".new-"          // what the name of a directory begins with while it is written, or removed
	maxAge       = 24 * time.Hour   // of a temporary directory: older ones belong to processes that have ended
	inUse        = 10 * time.Minute // a directory that was used since is not removed, whatever the limit is
	keySize      = 2 * len(cache.Key{})
)

// OpenStore opens the store in a directory, and creates the directory if it does not exist. [Store.Trim] reduces it to
// limit bytes.
func OpenStore(dir string, limit int64) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Store{dir, limit}, nil
}

// Find returns the directory with the program of that key; ok is false if there is none. A damaged directory is
// removed.
func (s *Store) Find(key cache.Key) (dir string, ok bool) {
	dir = filepath.Join(s.dir, key.String())
	complete := filepath.Join(dir, completeName)
	data, err := os.ReadFile(complete)
	if err != nil {
		return "", false
	}
	var sizes map[string]int64
	damaged := json.Unmarshal(data, &sizes) != nil
	for name, size := range sizes {
		info, err := os.Stat(filepath.Join(dir, name))
		damaged = damaged || err != nil || info.Size() != size
	}
	if damaged {
		s.remove(dir)
		return "", false
	}
	now := time.Now()
	_ = os.Chtimes(complete, now, now) // fails in a store that is not writable
	return dir, true
}

// Begin returns a new directory for the files of a program. It must be passed to Commit, or removed.
func (s *Store) Begin() (dir string, err error) {
	dir = filepath.Join(s.dir, temporary+rand.Text())
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return dir, nil
}

// Commit makes a directory that Begin returned the program of the key, and returns the directory that it is found in.
// If another process was faster, its directory is that of the key.
func (s *Store) Commit(key cache.Key, dir string) (final string, err error) {
	sizes := map[string]int64{}
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return "", fmt.Errorf("cache: %w", err)
		}
		sizes[f.Name()] = info.Size()
	}
	data, err := json.Marshal(sizes)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, completeName), data, 0o666); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	final = filepath.Join(s.dir, key.String())
	if err = os.Rename(dir, final); err != nil {
		if found, ok := s.Find(key); ok {
			return found, os.RemoveAll(dir)
		}
		err = os.Rename(dir, final) // Find has removed a damaged one
	}
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return final, nil
}

// Trim removes the programs that have not been used for the longest time, until the store has at most its limit, and
// what processes that were killed have left.
func (s *Store) Trim() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	type program struct {
		dir  string
		size int64
		used time.Time
	}
	var programs []program
	total := int64(0)
	for _, e := range entries {
		dir := filepath.Join(s.dir, e.Name())
		info, err := e.Info()
		if err != nil {
			continue
		}
		if strings.HasPrefix(e.Name(), temporary) && time.Since(info.ModTime()) > maxAge {
			os.RemoveAll(dir)
		}
		if len(e.Name()) != keySize {
			continue
		}
		p := program{dir: dir, used: info.ModTime()}
		if info, err := os.Stat(filepath.Join(dir, completeName)); err == nil {
			p.used = info.ModTime()
		}
		p.size = sizeOf(dir)
		total += p.size
		programs = append(programs, p)
	}
	slices.SortFunc(programs, func(a, b program) int { return a.used.Compare(b.used) })
	for _, p := range programs {
		if total <= s.limit || time.Since(p.used) < inUse {
			break
		}
		s.remove(p.dir)
		total -= p.size
	}
	return nil
}

// remove removes a program: first its name, so that no other process finds a part of it.
func (s *Store) remove(dir string) {
	away := filepath.Join(s.dir, temporary+rand.Text())
	if os.Rename(dir, away) == nil {
		os.RemoveAll(away)
	}
}

func sizeOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
