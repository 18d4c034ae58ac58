package incremental

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/cache"
)

// TestKnownFiles changes a file in ways that are hard to find, and hashes it with what is known of it.
//
// Invariant: What is known of a file is used only if the file was not changed since.
func TestKnownFiles(t *testing.T) {
	store, err := cache.Open(filepath.Join(t.TempDir(), "cache"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	path, key := filepath.Join(t.TempDir(), "file"), cache.KeyOf("k")
	old := time.Now().Add(-time.Hour)
	hash := func() cache.Key {
		t.Helper()
		files, _ := loadFiles(store, key)
		sum, err := files.sum(filePath{path: path}, func() (cache.Key, error) { return hashFile(path, make([]byte, 10)) })
		if err = errors.Join(err, files.store(store)); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	write := func(content string) error { return os.WriteFile(path, []byte(content), 0o666) }
	for i, change := range []func(content string) error{
		write,
		func(content string) error { return errors.Join(write(content), os.Chtimes(path, old, old)) },
		func(content string) error { return errors.Join(write(content), os.Chtimes(path, old, old)) },
		func(content string) error { // another file under the name
			return errors.Join(os.WriteFile(path+"2", []byte(content), 0o666), os.Chtimes(path+"2", old, old),
				os.Rename(path+"2", path))
		},
		func(content string) error {
			return errors.Join(write("longer"+content), os.Chtimes(path, old, old), write(content))
		},
	} {
		content := string(rune('a' + i))
		if err := change(content); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if sum := hash(); sum != plainSumOf(content) {
				t.Errorf("change %d: an outdated hash", i)
			}
		}
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	hash()
	// What is remembered is used: the content that is asked for is not read.
	files, _ := loadFiles(store, key)
	file, ok := files.byPath[filePath{path: path}]
	if now, is := stateOf(path); !ok || !is || !now.oldEnough {
		t.Skip("the file system does not report enough about files")
	}
	file.sum = cache.KeyOf("mark")
	files.byPath[filePath{path: path}], files.grown = file, true
	if err := files.store(store); err != nil {
		t.Fatal(err)
	}
	if sum := hash(); sum != file.sum {
		t.Error("a file that is known is read again")
	}
}

// plainSumOf is what hashFile returns for a file with this content.
func plainSumOf(content string) cache.Key {
	sum := sha256.Sum256([]byte(content))
	return cache.KeyOf("file", string(sum[:]))
}

// summed is the content of a file, with its sum.
type summed []byte

func (s summed) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(s)
	return int64(n), err
}

func (s summed) ContentSum() [sha256.Size]byte { return sha256.Sum256(s) }

// TestFileBeside changes a file beside the outputs, and asks whether it has its content.
//
// Invariant: A file beside the outputs is left alone only if it has the content that it is to have.
func TestFileBeside(t *testing.T) {
	store, err := cache.Open(filepath.Join(t.TempDir(), "cache"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mapping.txt")
	old := time.Now().Add(-time.Hour)
	for i, content := range []string{"a", "a", "b", "a", "", "long"} {
		m := New(Options{Cache: store}, Run{})
		if got := m.HasFile(path, summed("other")); got {
			t.Errorf("step %d: another content is there", i)
		}
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o666), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if !m.HasFile(path, summed(content)) || m.HasFile(path, summed(content+"!")) ||
				m.HasFile(path, summed(bytes.Repeat([]byte("x"), len(content)))) && content != "" {
				t.Errorf("step %d: HasFile is wrong about %q", i, content)
			}
		}
		other := bytes.Repeat([]byte("y"), len(content))
		if err := errors.Join(os.WriteFile(path, other, 0o666), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		if m.HasFile(path, summed(content)) && content != "" {
			t.Errorf("step %d: a change with the time set back is not seen", i)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if New(Options{Cache: store}, Run{}).HasFile(path, summed("long")) {
		t.Error("a file that is gone is there")
	}
}
