package incremental

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// knownFiles are files whose content was hashed, by the paths under which they were read. A file that is in the state
// in which it was then is not read again: size, times, and inode are the same, and it had been written so long before
// that another write would have changed its time. Goroutines share them.
type knownFiles struct {
	mu     sync.Mutex
	byPath map[filePath]knownFile
	key    cache.Key // of them, in the cache
	clock  fileClock // as it was before any file was read
	grown  bool      // there is one that the cache does not have
}

// filePath is a file, and how it was hashed.
type filePath struct {
	path string
	kind sumKind
}

// sumKind says how files are hashed. The same content has another hash in each kind.
type sumKind uint8

const (
	plainSum   sumKind = iota // as bytes
	archiveSum                // as an archive with entries, if it is one, else as bytes
	sumKinds   = iota
)

// knownFile is a file whose content was hashed when it was in a state.
type knownFile struct {
	sum   cache.Key
	state fileState
}

// loadFiles reads what is known of files from the cache.
func loadFiles(from *cache.Cache, key cache.Key) (*knownFiles, error) {
	f := &knownFiles{byPath: make(map[filePath]knownFile), key: key}
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
	paths := slices.SortedFunc(maps.Keys(f.byPath), func(a, b filePath) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind))
	})
	for _, path := range paths {
		file := f.byPath[path]
		k.Text(path.path)
		k.Int(int(path.kind))
		k.Raw(file.sum[:]...)
		file.state.pack(k)
	}
	return k.Bytes()
}

// readFiles reads what pack has written, nil if it is damaged.
func readFiles(data []byte) map[filePath]knownFile {
	u := wire.NewUnpacker(data)
	files := make(map[filePath]knownFile)
	for range u.Count(8 + len(cache.Key{})) {
		path := filePath{u.Text(), sumKind(u.Below(sumKinds))}
		files[path] = knownFile{cache.Key(u.Raw(len(cache.Key{}))), readState(u)}
	}
	if !u.End() {
		return nil
	}
	return files
}

// sum returns the hash of a file, which read makes if the file is not known.
func (f *knownFiles) sum(path filePath, read func() (cache.Key, error)) (cache.Key, error) {
	now, ok := stateOf(path.path) // before it is read: a write that comes after this changes the state
	now.oldEnough = now.oldEnough || f.clock.shows(now)
	f.mu.Lock()
	file, known := f.byPath[path]
	f.mu.Unlock()
	if known && ok && file.state.oldEnough && file.state.same(now) {
		return file.sum, nil
	}
	sum, err := read()
	if err == nil && ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.byPath[path], f.grown = knownFile{sum, now}, f.grown || now.oldEnough
	}
	return sum, err
}

// SumOf returns the hash of a file, in hexadecimal. The cache keeps it under a name; nil keeps nothing.
func SumOf(kept *cache.Cache, name, path string) (string, error) {
	read := func() (cache.Key, error) { return hashFile(path, make([]byte, bufferSize)) }
	if kept == nil {
		sum, err := read()
		return sum.String(), err
	}
	files, _ := loadFiles(kept, cache.KeyOf("file 2", name)) // without it, the file is read
	sum, err := files.sum(filePath{path: path}, read)
	if err != nil {
		return "", err
	}
	_ = files.store(kept) // the next run reads the file again
	return sum.String(), nil
}

// filesKey is the key of what is known of the files that a run reads, by their paths.
func filesKey(paths []string) cache.Key {
	directory, _ := os.Getwd() // what is known of other files is of no use, and does no harm
	return cache.KeyOf(append([]string{"files 2", directory}, paths...)...)
}
