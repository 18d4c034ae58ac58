package incremental

import (
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/wire"
)

// knownFiles are files whose content was hashed, by the paths under which they were read. A file that is in the state
// in which it was then is not read again: size, times, and inode are the same, and it had been written so long before
// that another write would have changed its time. Goroutines share them.
type knownFiles struct {
	mu     sync.Mutex
	byPath map[string]knownFile
	key    cache.Key // of them, in the cache
	grown  bool      // there is one that the cache does not have
}

// knownFile is a file whose content was hashed when it was in a state.
type knownFile struct {
	sum   cache.Key
	state fileState
}

// loadFiles reads what is known of files from the cache.
func loadFiles(from *cache.Cache, key cache.Key) (*knownFiles, error) {
	f := &knownFiles{byPath: make(map[string]knownFile), key: key}
	data, err := from.Get(key)
	if err != nil {
		return f, err
	}
	if byPath := readFiles(data); byPath != nil {
		f.byPath = byPath
	}
	return f, nil
}

// store writes it to the cache, unless that has it.
func (f *knownFiles) store(to *cache.Cache) error {
	if !f.grown {
		return nil
	}
	f.grown = false
	return to.Put(f.key, f.pack())
}

func (f *knownFiles) pack() []byte {
	k := wire.NewPacker()
	k.Int(len(f.byPath))
	for _, path := range slices.Sorted(maps.Keys(f.byPath)) {
		file := f.byPath[path]
		k.Text(path)
		k.Raw(file.sum[:]...)
		file.state.pack(k)
	}
	return k.Bytes()
}

// readFiles reads what pack has written, nil if it is damaged.
func readFiles(data []byte) map[string]knownFile {
	u := wire.NewUnpacker(data)
	files := make(map[string]knownFile)
	for range u.Count(7 + len(cache.Key{})) {
		path := u.Text()
		files[path] = knownFile{cache.Key(u.Raw(len(cache.Key{}))), readState(u)}
	}
	if !u.End() {
		return nil
	}
	return files
}

// hash returns the SHA-256 of a file.
func (f *knownFiles) hash(path string, buffer []byte) (cache.Key, error) {
	now, ok := stateOf(path) // before it is read: a write that comes after this changes the state
	f.mu.Lock()
	file, known := f.byPath[path]
	f.mu.Unlock()
	if known && ok && file.state.oldEnough && file.state.same(now) {
		return file.sum, nil
	}
	sum, _, err := hashFile(path, buffer)
	if err == nil && ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.byPath[path], f.grown = knownFile{sum, now}, f.grown || now.oldEnough
	}
	return sum, err
}

// SumOf returns the SHA-256 of a file, in hexadecimal. The cache keeps it under a name; nil keeps nothing.
func SumOf(kept *cache.Cache, name, path string) (string, error) {
	if kept == nil {
		sum, _, err := hashFile(path, make([]byte, 1<<18))
		return sum.String(), err
	}
	files, _ := loadFiles(kept, cache.KeyOf("file 1", name)) // without it, the file is read
	sum, err := files.hash(path, make([]byte, 1<<18))
	if err != nil {
		return "", err
	}
	_ = files.store(kept) // the next run reads the file again
	return sum.String(), nil
}

// filesKey is the key of what is known of the files that a run reads, by their paths.
func filesKey(paths []string) cache.Key {
	directory, _ := os.Getwd() // what is known of other files is of no use, and does no harm
	return cache.KeyOf(append([]string{"files 1", directory}, paths...)...)
}
