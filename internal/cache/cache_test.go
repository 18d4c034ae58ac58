package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

func open(t *testing.T, dir string, limit int64) *Cache {
	t.Helper()
	c, err := Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t *testing.T, c *Cache, k Key, content string) {
	t.Helper()
	if err := c.Store(k, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestDifferentListsHaveDifferentKeys(t *testing.T) {
	lists := [][]string{nil, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"ab"}, {"a", "b"}, {"1:a"}, {"a1:b"},
		{"b", "a"}}
	seen := map[Key][]string{}
	for _, list := range lists {
		k := KeyOf(list...)
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", list, other)
		}
		if seen[k] = list; KeyOf(list...) != k {
			t.Errorf("%q has two keys", list)
		}
	}
}

func TestStoreAndLookup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cache")
	c := open(t, dir, 1<<20)
	for _, content := range []string{"", "text", strings.Repeat("long ", 100_000)} {
		k := KeyOf(content)
		if _, err := c.Lookup(k); !errors.Is(err, ErrMissing) {
			t.Errorf("before Store: %v", err)
		}
		put(t, c, k, content)
		if got, err := open(t, dir, 1<<20).Lookup(k); err != nil || string(got) != content {
			t.Errorf("%d bytes come back as %d, %v", len(content), len(got), err)
		}
	}
	put(t, c, KeyOf("text"), "other")
	if got, err := c.Lookup(KeyOf("text")); err != nil || string(got) != "other" {
		t.Errorf("replaced: %q, %v", got, err)
	}
	if got := files(t, dir); len(got) != 4 { // and the tag
		t.Errorf("files: %q", got)
	}
}

// files lists what is in a cache.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	for _, pattern := range []string{"*", "??/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && !info.IsDir() {
				list = append(list, f)
			}
		}
	}
	return list
}

// TestDamage changes each byte of an entry, truncates the file at every place, lengthens it, and replaces it by
// other things. None of them may be read as the entry, and Store must replace all of them.
//
// Invariant: A damaged cache entry is never used.
func TestDamage(t *testing.T) {
	c := open(t, t.TempDir(), 1<<20)
	k, content := KeyOf("k"), "the content"
	put(t, c, k, content)
	name := c.file(k)
	whole := fixture.Read(t, name)
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
		var damaged *DamagedError
		if got, err := c.Lookup(k); !errors.As(err, &damaged) {
			t.Errorf("%s: got %q, %v", what, got, err)
		}
		if err := c.LookupTo(io.Discard, k); !errors.As(err, &damaged) {
			t.Errorf("%s: copied, %v", what, err)
		}
		put(t, c, k, content)
		if got, err := c.Lookup(k); err != nil || string(got) != content {
			t.Errorf("%s, then replaced: got %q, %v", what, got, err)
		}
	}
	for i := range whole {
		for _, bits := range []byte{0x01, 0x80, 0xff} {
			flipped := bytes.Clone(whole)
			flipped[i] ^= bits
			check(fmt.Sprintf("byte %d", i), os.WriteFile(name, flipped, 0o666))
		}
		check(fmt.Sprintf("cut at %d", i), os.WriteFile(name, whole[:i], 0o666))
	}
	check("longer", os.WriteFile(name, append(bytes.Clone(whole), 0), 0o666))
	check("doubled", os.WriteFile(name, append(bytes.Clone(whole), whole...), 0o666))
	put(t, c, KeyOf("other"), content)
	other := fixture.Read(t, c.file(KeyOf("other")))
	check("another entry", os.WriteFile(name, other, 0o666))
	directory := errors.Join(os.Remove(name), os.Mkdir(name, 0o777))
	check("a directory", directory)
	directory = errors.Join(os.Remove(name), os.MkdirAll(filepath.Join(name, "with", "more"), 0o777))
	check("a directory that is not empty", directory)
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fixture.Write(t, filepath.Join(dir, "notes.txt"), "")
	if _, err := Open(dir, 1); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory with other files: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "notes.txt"), 1); err == nil {
		t.Error("a file is opened as a cache")
	}
	// A cache can be opened without its tag, or with a damaged one.
	own := t.TempDir()
	c := open(t, own, 1<<20)
	put(t, c, KeyOf("k"), "content")
	for _, damage := range []error{os.Remove(c.path(tagName)), os.WriteFile(c.path(tagName), []byte("Sig"), 0o666)} {
		if damage != nil {
			t.Fatal(damage)
		}
		if got, err := open(t, own, 1<<20).Lookup(KeyOf("k")); err != nil || string(got) != "content" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if got, _ := os.ReadFile(c.path(tagName)); string(got) != tag {
		t.Errorf("the tag is %q", got)
	}
}

// TestTrim checks that those entries are removed that were not used for the longest time, no matter when they were
// written.
//
// Invariant: The cache keeps to its size, and its entries may be deleted while they are read.
func TestTrim(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, 1<<20)
	content := strings.Repeat("x", 1000)
	for i := range 10 {
		k := KeyOf(fmt.Sprint(i))
		put(t, c, k, content)
		at := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(c.file(k), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Lookup(KeyOf("0")); err != nil { // now the youngest
		t.Fatal(err)
	}
	one := c.file(KeyOf("1"))
	stale, fresh, foreign := one+"-OLD"+temporary, one+"-NEW"+temporary, filepath.Join(filepath.Dir(one), "foreign.txt")
	for _, name := range []string{stale, fresh, foreign} {
		fixture.Write(t, name, content)
	}
	old := time.Now().Add(-2 * maxTemporaryAge)
	if err := errors.Join(os.Chtimes(stale, old, old), os.Chtimes(foreign, old, old)); err != nil {
		t.Fatal(err)
	}
	entry := int64(headSize + len(content) + len(Key{}))
	if err := open(t, dir, 3*entry).Trim(); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		_, err := c.Lookup(KeyOf(fmt.Sprint(i)))
		if kept := i == 0 || i >= 8; kept != (err == nil) {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	for name, stays := range map[string]bool{stale: false, fresh: true, foreign: true} {
		if _, err := os.Stat(name); stays != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTooBig(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, 100)
	put(t, c, KeyOf("k"), strings.Repeat("x", 101))
	if _, err := c.Lookup(KeyOf("k")); !errors.Is(err, ErrMissing) {
		t.Errorf("an entry bigger than the cache: %v", err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

// TestEvictedWhileRead checks that a reader gets the whole content of an entry or an error while others remove
// entries.
//
// Invariant: The cache keeps to its size, and its entries may be deleted while they are read.
func TestEvictedWhileRead(t *testing.T) {
	dir := t.TempDir()
	content := strings.Repeat("content ", 1<<14)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			c, err := Open(dir, int64(n%2)*1<<20) // with the limit 0, Trim removes everything
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 100 {
				k := KeyOf(fmt.Sprint(i % 5))
				err := (&Cache{dir, 1 << 20}).Store(k, []byte(content))
				if err != nil {
					t.Error("store:", err)
				}
				if got, err := c.Lookup(k); err == nil && string(got) != content || err != nil &&
					!errors.Is(err, ErrMissing) {
					t.Errorf("got %d bytes, %v", len(got), err)
				}
				if err := c.Trim(); err != nil {
					t.Error("trim:", err)
				}
			}
		})
	}
	group.Wait()
}

// TestFailedStore stores content that cannot be read to its end.
func TestFailedStore(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, 1<<20)
	failing := io.MultiReader(strings.NewReader("content"), iotest.ErrReader(io.ErrNoProgress))
	if _, _, err := c.StoreFrom(KeyOf("k"), failing); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Lookup(KeyOf("k")); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 1 { // the tag
		t.Errorf("left behind: %q", got)
	}
}
