package pipeline

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/cache"
)

// writtenOutput is one output of the run.
type writtenOutput struct {
	outputJob
	key    cache.Key     // of the output by the decisions of the last round
	record *outputRecord // of the last round; nil if it has still to be written
	way    way
}

// way is how an output came to where it is.
type way uint8

const (
	written   way = iota
	leftAlone     // it was there
	copied        // from the cache
)

// reusable reports whether the inputs of an output are known by their content, and all that it depends on.
func (r *results) reusable(o *writtenOutput) bool {
	return r.Incremental != nil && r.checked != "" &&
		!slices.ContainsFunc(o.Inputs, func(i int) bool { return r.contents[i] == (cache.Key{}) })
}

// reuse looks up outputs, and stages those that are found or leaves them alone. They have a record then.
func (r *results) reuse(outputs []*writtenOutput, set *input.Set, stage *output.Stage) {
	if !r.stores() {
		return
	}
	r.each(len(outputs), func(i int) { // what fails is written anew
		o := outputs[i]
		if !r.reusable(o) {
			return
		}
		var classes []int
		for _, i := range o.Inputs {
			classes = append(classes, len(set.Inputs[i].Classes))
		}
		record := readRecord(r.lookup(o.key), classes)
		// An output with failures is never seen: there is another round.
		if record != nil && (record.Failed() || r.place(o, record, stage)) {
			o.record = record
		}
	})
}

// place stages a known output, or leaves it alone. It returns false if the output has to be written.
func (r *results) place(o *writtenOutput, known *outputRecord, stage *output.Stage) bool {
	info, err := os.Stat(o.Path)
	if err == nil && !info.Mode().IsRegular() && o.Kind != input.Directory {
		return false // a device cannot be replaced
	}
	if err == nil && info.IsDir() == (o.Kind == input.Directory) && o.holds(known.Files) {
		if o.Kind == input.Directory {
			stage.Stay(o.Path, known.Files)
		}
		o.way = leftAlone
		return true
	}
	if o.Kind == input.Directory {
		return false // the cache does not have its files
	}
	if err := r.putFile(o, stage); err != nil {
		r.note(err)
		stage.Discard(o.Path)
		return false
	}
	o.way = copied
	return true
}

func (r *results) putFile(o *writtenOutput, stage *output.Stage) error {
	f, err := stage.Create(o.Path)
	if err != nil {
		return err
	}
	return r.Cache.LookupTo(f, bytesKey(o.key))
}

// holds reports whether an output is there with these files: their contents, and of those in a directory also the
// permissions.
func (o *writtenOutput) holds(files []output.File) bool {
	return !slices.ContainsFunc(files, func(f output.File) bool {
		path := filepath.Join(o.Path, filepath.FromSlash(f.Name))
		info, err := os.Stat(path)
		if err != nil || strings.HasSuffix(f.Name, "/") {
			return err != nil || !info.IsDir()
		}
		if !info.Mode().IsRegular() || info.Size() != f.Size || f.Name != "" && info.Mode().Perm() != f.Mode {
			return true
		}
		sum, err := checksumOf(path)
		return err != nil || sum != f.Sum
	})
}

// checksumOf returns the checksum of a file.
func checksumOf(path string) (cache.Checksum, error) {
	f, err := os.Open(path)
	if err != nil {
		return cache.Checksum{}, err
	}
	defer f.Close()
	var sum cache.Summer
	_, err = io.Copy(&sum, f)
	return sum.Sum(), err
}

// keep stores what this run has found, and the outputs that it has written, if all inputs are still what they were
// when it began. Otherwise it fails.
func (r *results) keep(ctx context.Context, set *input.Set, outputs []*writtenOutput, stage *output.Stage) error {
	if r.Incremental == nil {
		return nil
	}
	if err := r.checkInputs(ctx, set); err != nil {
		return err
	}
	r.storeFacts(set)
	for _, o := range outputs {
		if r.reusable(o) && !o.record.Refused() &&
			(o.record.Failed() || o.Kind == input.Directory || r.storeBytes(o, stage)) {
			r.store(o.key, packRecord(o.record))
		}
	}
	return nil
}

// storeBytes stores the bytes of an output that is a file, and reports whether it has.
func (r *results) storeBytes(o *writtenOutput, stage *output.Stage) bool {
	content := stage.Content(o.Path)
	if content == nil || !r.tryStoring() {
		return false
	}
	defer content.Close()
	size, sum, err := r.Cache.StoreFrom(bytesKey(o.key), content)
	r.stored(err)
	o.record.Files = []output.File{{Size: size, Sum: sum}}
	return err == nil
}
