// Package cache keeps the results of earlier runs in a directory. The key of an entry is the hash of everything
// that its content depends on, so an entry never becomes outdated: other inputs have another key.
//
// # Damage and concurrency
//
// A program works without the entries of a [Cache] too: it computes again what is missing or damaged. So there are
// no locks, and files are not synced to the disk. A file is written under a temporary name and then renamed. It
// begins with its key and ends with the checksum of its content. For an entry that is truncated, in the wrong place
// or changed, reading returns a [DamagedError], and the next [Cache.Store] replaces it. A process that is killed may
// leave temporary files; [Cache.Trim] removes them when they are a day old.
//
// Any number of processes may use one directory. A process that reads an entry while another one removes it gets
// either the whole content or an error.
//
// # Files
//
//	CACHEDIR.TAG          marks the directory as a cache, for backup programs (bford.info/cachedir)
//	ab/abcd….entry        an entry: magic, key, content, checksum of the content
//	ab/abcd….entry-….tmp  an entry that is being written
package cache

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Key identifies an entry: it is the SHA-256 of everything that the content depends on.
type Key [sha256.Size]byte

// KeyOf returns the key of a list of strings. Each is hashed together with its length, so that different lists have
// different keys.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		io.WriteString(h, p)
	}
	return Key(h.Sum(nil))
}

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Cache is a directory of entries. Any number of goroutines and processes may use it at the same time.
type Cache struct {
	dir   string
	limit int64
}

const (
	magic     = "tracegen-cache 2\n"
	headSize  = len(magic) + len(Key{})
	extension = ".entry"
	temporary = ".tmp"
	tagName   = "CACHEDIR.TAG"
	tag       = "Signature: 8a477f597d28d172789f06886806bc55\n" +
		"# Everything here can be made again by tracegen, and may be deleted at any time.\n"
	// maxTemporaryAge is the age from which on a temporary file is assumed to belong to a process that has ended.
	maxTemporaryAge = 24 * time.Hour
)

var (
	// ErrMissing is wrapped by the error of reading a key that has no entry.
	ErrMissing = errors.New("not in the cache")
	// ErrForeign is wrapped by the error of Open for a directory that has other files than those of a cache.
	ErrForeign = errors.New("contains files that do not belong to a cache; " +
		"name an empty directory, or one that does not exist yet")
)

// DamagedError is the error of reading an entry whose file is not as it was written.
type DamagedError struct {
	File string // the path of the entry
	What string // the fault
}

// Error implements error.
func (e *DamagedError) Error() string { return e.File + ": damaged: " + e.What }

// Open opens the cache in a directory, and creates the directory if it does not exist. [Cache.Trim] reduces the
// cache to limit bytes. The error wraps ErrForeign if the directory has files that do not belong to a cache; any
// other error is from the file system. A cache in a directory that is not writable can be opened too, and read.
func Open(dir string, limit int64) (*Cache, error) {
	c := &Cache{dir: dir, limit: limit}
	if data, err := os.ReadFile(c.path(tagName)); err == nil && string(data) == tag {
		return c, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	for _, f := range files {
		// Another process may be creating the cache at this moment.
		if f.Name() != tagName && !strings.HasSuffix(f.Name(), temporary) && !(f.IsDir() && isSubdirectory(f.Name())) {
			return nil, fmt.Errorf("cache: %s %w", dir, ErrForeign)
		}
	}
	f, err := createTemp(c.path(tagName))
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	_, err = io.WriteString(f, tag)
	if err = commitFile(f, c.path(tagName), err); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return c, nil
}

// Dir returns the directory that was passed to Open.
func (c *Cache) Dir() string { return c.dir }

func (c *Cache) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

func (c *Cache) file(k Key) string {
	name := k.String()
	return c.path(name[:2], name+extension)
}

// createTemp creates a temporary file in the directory of path, which will be renamed to path. Unlike a file of
// os.CreateTemp, it has the default mode, so that other users may read it.
func createTemp(path string) (*os.File, error) {
	return os.OpenFile(path+"-"+rand.Text()+temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// createBelow is createTemp for a path in a subdirectory, which need not exist.
func createBelow(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	f, err := createTemp(path)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return f, nil
}

// commitFile closes a temporary file and renames it to path, or removes it if failure is not nil. It replaces an
// existing file, and also an existing directory, which it removes.
func commitFile(f *os.File, path string, failure error) error {
	err := errors.Join(failure, f.Close())
	if err == nil {
		if err = os.Rename(f.Name(), path); err != nil {
			if info, is := os.Lstat(path); is == nil && info.IsDir() {
				os.RemoveAll(path)
				err = os.Rename(f.Name(), path)
			}
		}
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Lookup returns the content of an entry. The error wraps ErrMissing, or is a *[DamagedError], or is from the file
// system.
func (c *Cache) Lookup(k Key) ([]byte, error) {
	var content bytes.Buffer
	if err := c.LookupTo(&content, k); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// LookupTo is [Cache.Lookup] for content that is written to w. Errors are those of Lookup, and those of w; after an
// error, the data that was written must not be used.
func (c *Cache) LookupTo(w io.Writer, k Key) error {
	f, size, err := c.openEntry(k)
	if err != nil {
		return err
	}
	defer f.Close()
	if b, inMemory := w.(*bytes.Buffer); inMemory {
		b.Grow(int(size))
	}
	sum := new(Summer)
	n, err := io.CopyBuffer(io.MultiWriter(w, sum), io.LimitReader(f, size), make([]byte, min(size+1, bufferSize)))
	switch {
	case err != nil:
		return fmt.Errorf("cache: %w", err)
	case n != size:
		return &DamagedError{f.Name(), cutOff}
	}
	return f.check(sum.Sum())
}

const (
	bufferSize = 1 << 18
	cutOff     = "truncated while it was read"
)

// openedEntry is an entry that is being read.
type openedEntry struct{ *os.File }

// openEntry opens an entry at the start of its content, and returns the content's length. Errors are those of Lookup.
func (c *Cache) openEntry(k Key) (openedEntry, int64, error) {
	f, err := os.Open(c.file(k))
	if errors.Is(err, fs.ErrNotExist) {
		return openedEntry{}, 0, fmt.Errorf("cache: %s: %w", k, ErrMissing)
	}
	if err != nil {
		return openedEntry{}, 0, fmt.Errorf("cache: %w", err)
	}
	size, err := checkHead(f, k)
	if err != nil {
		f.Close()
		return openedEntry{}, 0, err
	}
	return openedEntry{f}, size, nil
}

// checkHead reads and checks the bytes before the content, and returns the content's length.
func checkHead(f *os.File, k Key) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("cache: %w", err)
	}
	size := info.Size() - int64(headSize) - int64(len(Checksum{}))
	if !info.Mode().IsRegular() || size < 0 {
		return 0, &DamagedError{f.Name(), "not an entry, or truncated"}
	}
	var head [headSize]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return 0, fmt.Errorf("cache: %w", err)
	}
	if string(head[:len(magic)]) != magic || Key(head[len(magic):]) != k {
		return 0, &DamagedError{f.Name(), "its key is not the one in its name"}
	}
	return size, nil
}

// check compares the sum of the content that was read with the one behind the content. If they agree, it sets the
// file's time, by which Trim finds out when the entry was last used.
func (f openedEntry) check(sum Checksum) error {
	var want Checksum
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return &DamagedError{f.Name(), cutOff}
	}
	if sum != want {
		return &DamagedError{f.Name(), "its content has changed since it was written"}
	}
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now) // if that is not permitted, entries cannot be removed either
	return nil
}

// Store writes or replaces an entry. It does nothing if the content is bigger than the limit of the whole cache.
func (c *Cache) Store(k Key, content []byte) error {
	_, _, err := c.StoreFrom(k, bytes.NewReader(content))
	return err
}

// StoreFrom is [Cache.Store] for content that is read from r. It returns the content's length and checksum.
func (c *Cache) StoreFrom(k Key, r io.Reader) (size int64, sum Checksum, err error) {
	f, err := createBelow(c.file(k))
	if err != nil {
		return 0, sum, err
	}
	sums := new(Summer)
	_, err = f.Write(append([]byte(magic), k[:]...))
	if err == nil {
		size, err = io.Copy(io.MultiWriter(f, sums), r)
	}
	sum = sums.Sum()
	if err == nil {
		_, err = f.Write(sum[:])
	}
	if err == nil && size > c.limit {
		f.Close()
		os.Remove(f.Name())
		return size, sum, nil
	}
	if err = commitFile(f, c.file(k), err); err != nil {
		return size, sum, fmt.Errorf("cache: %w", err)
	}
	return size, sum, nil
}
