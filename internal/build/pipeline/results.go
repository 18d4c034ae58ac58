package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/cache"
)

// Incremental says where results of earlier runs are, and what they depend on. Outputs, mapping, lists, and warnings
// are those of a run without it, byte for byte.
//
// Of an input, the facts about its classes are looked up by its content, and an output by the content of its inputs
// and the decisions about their classes. Everything that needs all classes is decided anew in every run.
type Incremental struct {
	// Cache is where results are stored.
	Cache *cache.Cache
	// Tool identifies this build of the program.
	Tool string
	// ScanKey is all options that shape the facts of a scan, and WriteKey all that shape what is written by given
	// decisions: equal options have equal texts, others have others.
	ScanKey, WriteKey string
	// Detail is called with what is reused, and Warn with what is wrong with the cache. Neither is part of the result,
	// which is the same without a cache. They may be nil.
	Detail, Warn func(message string)
}

// results are what earlier runs have left in the cache for this one, and what this one leaves there. Without a cache
// nothing is found, and nothing stored.
type results struct {
	*Incremental // nil without a cache
	run          runKey
	contents     []cache.Key // of the inputs; the zero Key for one that cannot be read, or twice with the same result
	checked      string      // what the type checker depends on; "" if that cannot be found out
	recalled     []bool      // inputs whose facts were found
	unstored     []*plan.Class

	mu     sync.Mutex
	grown  bool // something was stored
	broken bool // the cache cannot be written
}

// newResults returns the results for a run. It hashes the inputs, and the class path if classes are checked by it. The
// error is the context's.
func newResults(ctx context.Context, o *Incremental, run runKey) (*results, error) {
	r := &results{Incremental: o, run: run}
	if o == nil {
		return r, nil
	}
	paths := run.inputs
	if run.types {
		paths = slices.Concat(paths, run.classPath.Paths)
	}
	contents, err := r.contentsOf(ctx, paths)
	if err != nil {
		return nil, err
	}
	r.checked = "none"
	if run.types {
		r.checked = checkedKey(run.classPath, contents[len(run.inputs):])
	}
	r.contents = contents[:len(run.inputs):len(run.inputs)]
	for i, path := range run.inputs {
		if r.contents[i] != (cache.Key{}) {
			r.contents[i] = inputKey(path, r.contents[i])
		}
	}
	return r, nil
}

// stores reports whether the results of this run are stored.
func (r *results) stores() bool { return r.Incremental != nil && !r.run.dryRun }

// lookup returns the content of an entry of the cache, nil if there is none that is whole.
func (r *results) lookup(key cache.Key) []byte {
	data, err := r.Cache.Lookup(key)
	if err != nil {
		r.note(err)
		return nil
	}
	return data
}

// store stores an entry. The first error is a warning, and ends storing.
func (r *results) store(key cache.Key, content []byte) {
	if r.tryStoring() {
		r.stored(r.Cache.Store(key, content))
	}
}

// tryStoring reports whether something can be stored; stored is called with the error of that.
func (r *results) tryStoring() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stores() && !r.broken
}

func (r *results) stored(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grown = true
	if err != nil && !r.broken && r.Warn != nil {
		r.Warn(fmt.Sprintf("nothing is kept for the next run: %v", err))
	}
	r.broken = r.broken || err != nil
}

func (r *results) detail(format string, args ...any) {
	if r.Detail != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Detail("cache: " + fmt.Sprintf(format, args...))
	}
}

// note reports why an entry could not be read, unless it is simply not there.
func (r *results) note(err error) {
	if err != nil && !errors.Is(err, cache.ErrMissing) {
		r.detail("%v; it is made again", err)
	}
}

// contentsOf returns the hashes of files and directories. What cannot be read has the zero Key: using it will report
// why. The error is the context's.
func (r *results) contentsOf(ctx context.Context, paths []string) ([]cache.Key, error) {
	contents := make([]cache.Key, len(paths))
	r.each(len(paths), func(i int) {
		if ctx.Err() == nil {
			contents[i] = r.contentOf(paths[i])
		}
	})
	return contents, ctx.Err()
}

// each calls work with each number below n, by as many goroutines as there are workers.
func (r *results) each(n int, work func(i int)) {
	var group errgroup.Group
	group.SetLimit(r.run.workers)
	for i := range n {
		group.Go(func() error {
			work(i)
			return nil
		})
	}
	_ = group.Wait() // none of them fails
}

// contentOf returns the hash of a file, or of a directory with the names and permissions of what is in it. It does not
// read files that are in the state in which an earlier run has read them.
func (r *results) contentOf(path string) cache.Key {
	info, err := os.Stat(path)
	what, files := "file", []string{path}
	switch {
	case err != nil:
		return cache.Key{}
	case info.IsDir():
		entries, err := input.List(path)
		if err != nil {
			return cache.Key{}
		}
		parts := []string{"directory"}
		files = nil
		for _, e := range entries {
			parts = append(parts, fmt.Sprintf("%o %s", e.Mode.Perm(), e.Name))
			if !e.IsDirectory() {
				files = append(files, e.File)
			}
		}
		what = cache.KeyOf(parts...).String()
	case !info.Mode().IsRegular():
		return cache.Key{} // to read it twice need not return the same
	}
	key, known := sumKey(what, files)
	if known {
		if data := r.lookup(key); len(data) == len(key) {
			return cache.Key(data)
		}
	}
	sum, err := hashFiles(what, files)
	if err != nil {
		return cache.Key{}
	}
	if known {
		r.store(key, sum[:])
	}
	return sum
}

// hashFiles returns the hash of the contents of files.
func hashFiles(what string, files []string) (cache.Key, error) {
	parts := []string{what}
	buffer := make([]byte, 1<<18)
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return cache.Key{}, err
		}
		h := sha256.New()
		// Hidden from CopyBuffer, the file's own way of copying does not allocate another buffer.
		_, err = io.CopyBuffer(h, struct{ io.Reader }{f}, buffer)
		f.Close()
		if err != nil {
			return cache.Key{}, err
		}
		parts = append(parts, string(h.Sum(nil)))
	}
	return cache.KeyOf(parts...), nil
}

// SumOf returns the hash of a file, in hexadecimal, which the cache keeps; nil keeps nothing.
func SumOf(kept *cache.Cache, path string) (string, error) {
	if kept == nil {
		sum, err := hashFiles("file", []string{path})
		return sum.String(), err
	}
	r := &results{Incremental: &Incremental{Cache: kept}}
	sum := r.contentOf(path)
	if sum == (cache.Key{}) {
		return "", fmt.Errorf("%s cannot be read", path)
	}
	return sum.String(), nil
}

// facts returns the facts of inputs that an earlier run has scanned, by number of input; without containers for others.
func (r *results) facts() []plan.InputFacts {
	facts := make([]plan.InputFacts, len(r.run.inputs))
	r.recalled = make([]bool, len(facts))
	if r.Incremental == nil || !r.run.scans {
		return facts
	}
	r.each(len(r.contents), func(i int) {
		if r.contents[i] == (cache.Key{}) {
			return
		}
		data := r.lookup(r.factsKey(r.contents[i]))
		path := func(int, string) (int, string) { return i, r.run.inputs[i] }
		if inputs, ok := plan.UnpackFacts(data, false, path); ok && len(inputs) == 1 {
			facts[i], r.recalled[i] = inputs[0], true
		}
	})
	return facts
}

// storeFacts stores the facts of inputs that no earlier run has scanned.
func (r *results) storeFacts(set *input.Set) {
	facts := r.unstored
	r.unstored = nil
	if facts == nil || !r.run.scans || !r.tryStoring() {
		return
	}
	r.each(len(r.recalled), func(i int) {
		if !r.recalled[i] && r.contents[i] != (cache.Key{}) {
			first, end := set.ClassesOf(i)
			r.store(r.factsKey(r.contents[i]), plan.PackFacts([]plan.InputFacts{{Containers: set.Inputs[i].Containers,
				Classes: facts[first:end]}}, false))
		}
	})
}

// addBuiltIn notes that the program adds an input of its own behind all others.
func (r *results) addBuiltIn(data []byte) {
	if r.Incremental != nil {
		r.contents = append(r.contents, builtInKey(data))
	}
}

// checkInputs fails if an input that was read in this run has another content than when the run began.
func (r *results) checkInputs(ctx context.Context, set *input.Set) error {
	var paths []string
	var numbers []int
	for i, path := range r.run.inputs {
		if r.contents[i] != (cache.Key{}) && set.Inputs[i].Opened() {
			paths, numbers = append(paths, path), append(numbers, i)
		}
	}
	again, err := r.contentsOf(ctx, paths)
	if err != nil {
		return err
	}
	for k, i := range numbers {
		if again[k] == (cache.Key{}) || inputKey(paths[k], again[k]) != r.contents[i] {
			return input.Changed(paths[k])
		}
	}
	return nil
}

// finish is called when all outputs are in their places.
func (r *results) finish(outputs []*writtenOutput) {
	r.summary(outputs)
	if r.tryStoring() && r.grown {
		r.stored(r.Cache.Trim())
	}
}

// summary reports what was reused.
func (r *results) summary(outputs []*writtenOutput) {
	if r.Incremental == nil {
		return
	}
	var ways [3]int
	for _, o := range outputs {
		ways[o.way]++
	}
	known := 0
	for _, recalled := range r.recalled {
		if recalled {
			known++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{known, "inputs known"}, {ways[leftAlone], "outputs left alone"}, {ways[copied], "copied"},
		{ways[written], "written"}} {
		parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
	}
	r.detail("%s", strings.Join(parts, ", "))
}
