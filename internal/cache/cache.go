// Package cache keeps what is costly to find out in a directory, each thing under the hash of all that it depends on.
//
// # What can happen to it
//
// A [Cache] is never needed: whatever is missing or damaged is made again. So there are no locks and nothing is
// brought onto the disk by force. A file is written under a name of its own and renamed, and says itself what it
// is: its head holds the key that it belongs to, its end the SHA-256 of its content. One that was cut off, that lies in
// the wrong place or in which a bit has turned is a [DamagedError], and is replaced by the next [Cache.Put]. A process that
// is killed leaves temporary files behind and nothing else; [Cache.Trim] removes them when they are a day old.
//
// Any number of processes may use one directory. Whoever reads a file that another one evicts reads it to its end or
// does not find it, both of which are told.
//
// # Files
//
//	CACHEDIR.TAG       says that all this can be made again (bford.info/cachedir)
//	ab/abcd….entry     an entry: magic, key, content, SHA-256 of the content
//	ab/abcd….entry-….tmp  one that is being written
package cache

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Key is what an entry is found by: the SHA-256 of all that it depends on.
type Key [sha256.Size]byte

// KeyOf hashes a list of texts. Each counts with its length, so that no two lists are the same to it.
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

// Cache is a directory of entries. Goroutines and processes may share it.
type Cache struct {
	dir   string
	limit int64
}

const (
	magic     = "tracegen-cache 1\n"
	headSize  = len(magic) + len(Key{})
	extension = ".entry"
	temporary = ".tmp"
	tagName   = "CACHEDIR.TAG"
	tag       = "Signature: 8a477f597d28d172789f06886806bc55\n# Everything here can be made again by tracegen, and may be deleted at any time.\n"
	// abandoned is how old a temporary file is of which nobody will ask any more.
	abandoned = 24 * time.Hour
)

var (
	// ErrMissing is wrapped when there is no entry of that key.
	ErrMissing = errors.New("not in the cache")
	// ErrForeign is wrapped by Open's error about a directory that holds something else.
	ErrForeign = errors.New("holds what is not a cache's; name an empty directory, or one that does not exist yet")
)

// DamagedError says that an entry is not as it was written.
type DamagedError struct {
	File string // its path
	What string // what is wrong
}

// Error implements error.
func (e *DamagedError) Error() string { return e.File + ": damaged: " + e.What }

// Open uses the directory as a cache of at most limit bytes; it is made if it is not there. The error wraps ErrForeign for a
// directory that is not empty and no cache. Any other error is the file system's: where nothing can be written but a cache
// is there, it can be read all the same.
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
		// Another process may be making it at this moment.
		if f.Name() != tagName && !strings.HasSuffix(f.Name(), temporary) && !(f.IsDir() && isShelf(f.Name())) {
			return nil, fmt.Errorf("cache: %s %w", dir, ErrForeign)
		}
	}
	f, err := createTemp(c.path(tagName))
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	_, err = io.WriteString(f, tag)
	if err = appear(f, c.path(tagName), err); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return c, nil
}

// Dir returns the directory as Open was given it.
func (c *Cache) Dir() string { return c.dir }

func (c *Cache) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}

func (c *Cache) file(k Key) string {
	name := k.String()
	return c.path(name[:2], name+extension)
}

// createTemp makes a file beside path that will become it. Others may read it as far as the user lets them, unlike those of
// os.CreateTemp.
func createTemp(path string) (*os.File, error) {
	return os.OpenFile(path+"-"+rand.Text()+temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// appear closes a temporary file and gives it its name, or removes it if something went wrong with it. What stands in
// its way, a directory even, gives way.
func appear(f *os.File, path string, wrong error) error {
	err := errors.Join(wrong, f.Close())
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

// Has reports whether there is an entry, whole or not.
func (c *Cache) Has(k Key) bool {
	_, err := os.Lstat(c.file(k))
	return err == nil
}

// Get returns the content of an entry. The error wraps ErrMissing, or is a *DamagedError, or the file system's.
func (c *Cache) Get(k Key) ([]byte, error) {
	f, size, err := c.openEntry(k)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content := make([]byte, size)
	switch _, err := io.ReadFull(f, content); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &DamagedError{f.Name(), cutOff}
	case err != nil:
		return nil, fmt.Errorf("cache: %w", err)
	}
	if err := f.check(sha256.Sum256(content)); err != nil {
		return nil, err
	}
	return content, nil
}

// CopyTo writes the content of an entry to w and gives its length. Errors are as for Get, or w's own; after any of them, what
// was written is worth nothing.
func (c *Cache) CopyTo(w io.Writer, k Key) (int64, error) {
	f, size, err := c.openEntry(k)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(w, sum), io.LimitReader(f, size), make([]byte, min(size+1, bufferSize)))
	switch {
	case err != nil:
		return n, fmt.Errorf("cache: %w", err)
	case n != size:
		return n, &DamagedError{f.Name(), cutOff}
	}
	return n, f.check(Key(sum.Sum(nil)))
}

const (
	bufferSize = 1 << 18
	cutOff     = "cut off while it was read"
)

// openedEntry is an entry that is being read.
type openedEntry struct{ *os.File }

// openEntry opens an entry where its content begins, and returns the content's length. Errors are as for Get.
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

// checkHead reads what is before the content, and returns the content's length.
func checkHead(f *os.File, k Key) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("cache: %w", err)
	}
	size := info.Size() - int64(headSize) - sha256.Size
	if !info.Mode().IsRegular() || size < 0 {
		return 0, &DamagedError{f.Name(), "no entry, or cut off"}
	}
	var head [headSize]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return 0, fmt.Errorf("cache: %w", err)
	}
	if string(head[:len(magic)]) != magic || Key(head[len(magic):]) != k {
		return 0, &DamagedError{f.Name(), "not the entry that its name says"}
	}
	return size, nil
}

// check compares what was read with the sum behind it, and notes that the entry was of use.
func (f openedEntry) check(sum Key) error {
	var want Key
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return &DamagedError{f.Name(), cutOff}
	}
	if sum != want {
		return &DamagedError{f.Name(), "its content is not what was written"}
	}
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now) // where it cannot be, nobody evicts either
	return nil
}

// Put makes or replaces an entry. It does nothing for one that is bigger than the whole cache may be.
func (c *Cache) Put(k Key, content []byte) error {
	e, err := c.Create(k)
	if err != nil {
		return err
	}
	defer e.Abort()
	if _, err := e.Write(content); err != nil {
		return err
	}
	return e.Commit()
}

// Entry is an entry that is being written. It is used by one goroutine.
type Entry struct {
	cache *Cache
	file  *os.File // nil after Commit and Abort
	key   Key
	sum   hash.Hash
	size  int64
	err   error
}

// Create begins an entry. Nobody sees it before it is committed.
func (c *Cache) Create(k Key) (*Entry, error) {
	name := c.file(k)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	f, err := createTemp(name)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	e := &Entry{cache: c, file: f, key: k, sum: sha256.New()}
	if _, err := f.Write(append([]byte(magic), k[:]...)); err != nil {
		e.Abort()
		return nil, fmt.Errorf("cache: %w", err)
	}
	return e, nil
}

// Write implements io.Writer. It takes everything: what went wrong, Commit tells, so that a cache that is full keeps
// nobody from writing the same elsewhere.
func (e *Entry) Write(p []byte) (int, error) {
	e.sum.Write(p)
	e.size += int64(len(p))
	if e.err == nil && e.size <= e.cache.limit {
		_, e.err = e.file.Write(p)
	}
	return len(p), nil
}

// Sum returns the SHA-256 of what was written so far.
func (e *Entry) Sum() (sum [sha256.Size]byte) {
	e.sum.Sum(sum[:0])
	return sum
}

// Size returns the number of bytes that were written so far.
func (e *Entry) Size() int64 { return e.size }

// Commit makes the entry appear. One that is bigger than the whole cache may be does not, which is no error.
func (e *Entry) Commit() error {
	if e.file == nil {
		return fmt.Errorf("cache: %w", fs.ErrClosed)
	}
	if e.size > e.cache.limit {
		e.Abort()
		return nil
	}
	f, err := e.file, e.err
	e.file = nil
	if err == nil {
		_, err = f.Write(e.sum.Sum(nil))
	}
	if err = appear(f, e.cache.file(e.key), err); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}

// Abort removes what was written. After Commit it does nothing, so that it can be deferred.
func (e *Entry) Abort() {
	if e.file != nil {
		e.file.Close()
		os.Remove(e.file.Name())
		e.file = nil
	}
}
