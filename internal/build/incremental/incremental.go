// Package incremental lets a run reuse what earlier runs found out and wrote. The outputs are those of a run without
// it, byte for byte, and so are mapping, lists and warnings.
//
// Two things are kept of an input. The facts of the scan depend on its content, and on the options that decide about
// classes one by one. What was written depends on its content and on the decisions about it, IDs included, wherever
// they come from. All that needs the whole is decided anew in every run.
//
// A file is identified by its content alone, so that it may be renamed or moved. A file is assumed to have the content
// that an earlier run has found or left there if its size, times and inode are the same; where these could be wrong, it
// is read.
//
// [Memory] is the interface for a run. [New] returns one that keeps all this in a cache; [None] remembers nothing.
package incremental

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// Memory is what earlier runs have left for this one, and where this one leaves something for later runs. Its methods
// are called in this order: Recall, Archive, RecallClasses, AddBuiltIn, KeepFacts, then Reuse, Copy, Kept and Keep for
// each round of writing, Depart, HasFile, Staged, Finish.
type Memory interface {
	// Recall returns the facts of inputs that an earlier run has scanned, by number of input; without containers for
	// others. The error is the context's.
	Recall(ctx context.Context) ([]scan.Input, error)
	// Archive returns an input that Recall has opened as an archive to hash it, nil for others. It is the caller's then.
	Archive(input int) *zipfile.Archive
	// RecallClasses returns the facts of single classes of inputs that have changed, by number of class in the set; nil
	// for others. The error is the context's.
	RecallClasses(ctx context.Context, set *input.Set) ([]*scan.Class, error)
	// RemembersClasses reports whether results for single classes are kept, for which the type checker has to note the
	// classes that it looks for.
	RemembersClasses() bool
	// IDs returns the memory of the IDs that earlier runs have assigned; nil if there is none, as looking for them, and
	// keeping them, takes time.
	IDs() mapping.Memory
	// AddBuiltIn notes that the program adds an input of its own behind all others. It may be called after Recall.
	AddBuiltIn(name string, data []byte)
	// KeepFacts notes the facts of all inputs, by number of class.
	KeepFacts(set *input.Set, facts []*scan.Class)
	// Reuse stages outputs that an earlier run has written by the same decisions. It returns the record of each of
	// them, and nil for jobs that are left to do.
	Reuse(set *input.Set, decisions plan.Decisions, jobs []output.Job, stage *output.Stage) []*output.Record
	// Kept returns a class of a job that is left to do, if an earlier run has written it as this one would.
	Kept(class int) (output.Kept, bool)
	// Copy returns what has to take all that is written for a job.
	Copy(job int) output.Copy
	// Keep ends a round of writing, with the records of all jobs. It fails if an input was changed meanwhile.
	Keep(ctx context.Context, records []*output.Record) error
	// HasFile reports whether a file is there with this content already.
	HasFile(path string, content io.WriterTo) bool
	// Depart notes in staged directories which files of an earlier run are going to be removed from them.
	Depart(stage *output.Stage)
	// Staged is called when all is written, and nothing is in its place yet.
	Staged()
	// Finish is called when all outputs are in their places.
	Finish(stage *output.Stage)
	// Close drops what was not kept.
	Close()
}

// None is a [Memory] that remembers nothing.
type None struct {
	Inputs int // number of inputs
}

// Recall implements [Memory].
func (n None) Recall(context.Context) ([]scan.Input, error) { return make([]scan.Input, n.Inputs), nil }

// Archive implements [Memory].
func (None) Archive(int) *zipfile.Archive { return nil }

// RecallClasses implements [Memory].
func (None) RecallClasses(context.Context, *input.Set) ([]*scan.Class, error) { return nil, nil }

// RemembersClasses implements [Memory].
func (None) RemembersClasses() bool { return false }

// IDs implements [Memory].
func (None) IDs() mapping.Memory { return nil }

// AddBuiltIn implements [Memory].
func (None) AddBuiltIn(string, []byte) {}

// KeepFacts implements [Memory].
func (None) KeepFacts(*input.Set, []*scan.Class) {}

// Reuse implements [Memory].
func (None) Reuse(_ *input.Set, _ plan.Decisions, jobs []output.Job, _ *output.Stage) []*output.Record {
	return make([]*output.Record, len(jobs))
}

// Kept implements [Memory].
func (None) Kept(int) (output.Kept, bool) { return output.Kept{}, false }

// Copy implements [Memory].
func (None) Copy(int) output.Copy { return output.NoCopy{} }

// Keep implements [Memory].
func (None) Keep(context.Context, []*output.Record) error { return nil }

// HasFile implements [Memory].
func (None) HasFile(string, io.WriterTo) bool { return false }

// Depart implements [Memory].
func (None) Depart(*output.Stage) {}

// Staged implements [Memory].
func (None) Staged() {}

// Finish implements [Memory].
func (None) Finish(*output.Stage) {}

// Close implements [Memory].
func (None) Close() {}

// Options say where a memory is, and what its keys are made of.
type Options struct {
	// Cache is where results are kept.
	Cache *cache.Cache
	// Tool identifies this build of the program.
	Tool string
	// ScanKey is all options that shape the facts of a scan, and WriteKey all that shape what is written by given
	// decisions: equal options have equal texts, others have others. [Text] makes such texts.
	ScanKey, WriteKey string
	// Directory is where the outputs go, if each of them is named there by its input: outputs of earlier runs whose
	// inputs are not given any more are removed from it, unless they were changed. "" removes none.
	Directory string
	// Spare lists files and directories that are never removed: those that are read or written beside.
	Spare []string
	// Known is called with the number of inputs that an earlier run has scanned, and that of all, before the facts are
	// read. It may be nil.
	Known func(known, inputs int)
	// Detail is called with what is reused, and Warn with what is wrong with the cache. Neither is part of the result,
	// which is the same without a cache. They may be nil.
	Detail, Warn func(message string)
}

// Run describes the run to a memory.
type Run struct {
	Inputs    []string // paths
	ClassPath typecheck.ClassPath
	Types     bool   // rewritten classes are checked by the class path
	Scans     bool   // classes are scanned
	Lines     bool   // the facts have source files and lines
	Sliced    bool   // the decisions are those of a slice
	Merged    string // the output of all inputs; "" if each has its own
	Disabled  bool   // all is copied
	DryRun    bool   // nothing is written, and nothing kept
	Flat      bool   // no nested archives are opened
	Runtime   string // the runtime class as the inputs call it
	Workers   int
}

// memory is a Memory in a cache.
type memory struct {
	Options
	run   Run
	set   *input.Set // when it is known
	facts []*scan.Class
	// histories are those that were read, nil for those that are not there.
	histories map[cache.Key]*history
	inputs    []knownInput
	files     *knownFiles
	checked   string // what the type checker depends on; "" if that cannot be found out
	dirs      outputDirs
	besides   []*besideFile // that this run writes
	grown     bool          // something has been kept
	broken    bool          // the cache cannot be written

	recalled   int                // inputs
	remembered int                // classes of other inputs
	keptCount  int                // classes that were not written anew
	fresh      map[cache.Key]bool // outputs that this run has written

	// Of the round of writing that is going on.
	decisions             plan.Decisions
	jobs                  []*job
	left, copied, written int // outputs

	mu       sync.Mutex // for counts
	detailMu sync.Mutex // Detail is called by one worker at a time
}

// knownInput is what is known of an input by its content.
type knownInput struct {
	content cache.Key
	known   bool         // content is
	key     cache.Key    // of the facts
	recall  bool         // the facts are from an earlier run
	builtIn bool         // it is part of the program: it cannot change, and its facts are not kept
	pending *cache.Entry // the facts of this run

	// Of an archive that was hashed.
	zip      *zipfile.Archive // until [Memory.Archive] has returned it
	opened   *zipfile.Archive // from then on
	entryIDs []classID

	// Of an archive whose facts are not from an earlier run, if its classes are reused one by one.
	ids  []classID // of its classes
	past *past     // nil if there is none
	job  *job      // that writes it, of the round of writing that is going on
}

// New returns a memory in a cache.
func New(o Options, run Run) Memory {
	return &memory{Options: o, run: run, inputs: make([]knownInput, len(run.Inputs)), fresh: make(map[cache.Key]bool),
		histories: make(map[cache.Key]*history)}
}

func (m *memory) detail(format string, args ...any) {
	if m.Detail != nil {
		m.detailMu.Lock()
		defer m.detailMu.Unlock()
		m.Detail("cache: " + fmt.Sprintf(format, args...))
	}
}

// fail warns, once, that nothing more is kept.
func (m *memory) fail(err error) {
	if !m.broken && m.Warn != nil {
		m.Warn(fmt.Sprintf("nothing is kept for the next run: %v", err))
	}
	m.broken = true
}

// keeps reports whether the results of this run are kept.
func (m *memory) keeps() bool { return !m.broken && !m.run.DryRun }

// get reads an entry of the cache, nil if there is none that is whole.
func (m *memory) get(key cache.Key) []byte {
	data, err := m.Cache.Get(key)
	if err != nil {
		m.note(err)
		return nil
	}
	return data
}

// note reports why an entry could not be read, unless it is simply not there.
func (m *memory) note(err error) {
	if err != nil && !errors.Is(err, cache.ErrMissing) {
		m.detail("%v; it is made again", err)
	}
}

// Recall implements [Memory].
func (m *memory) Recall(ctx context.Context) ([]scan.Input, error) {
	var paths []hashing
	names := m.run.Inputs
	for _, path := range m.run.Inputs {
		paths = append(paths, inputPath(path))
	}
	if m.run.Types {
		names = slices.Concat(names, m.run.ClassPath.Paths)
		for _, path := range m.run.ClassPath.Paths {
			paths = append(paths, hashing{path: path})
		}
	}
	var err error
	m.files, err = loadFiles(m.Cache, filesKey(names))
	m.note(err)
	if m.keeps() {
		m.files.clock = readClock(m.Cache)
	}
	contents, err := hashPaths(ctx, paths, m.run.Workers, m.files)
	if err != nil {
		return nil, err
	}
	for i := range m.inputs {
		in := &m.inputs[i]
		if contents[i].ok {
			*in = knownInput{content: m.contentOf(i, contents[i]), known: true}
			in.key = m.scanKey(in.content)
		}
		in.zip, in.entryIDs = contents[i].zip, contents[i].ids
	}
	m.checked = "none"
	if m.run.Types {
		m.checked = classPathText(m.run.ClassPath, contents[len(m.inputs):])
	}
	if !m.run.Scans {
		return make([]scan.Input, len(m.inputs)), nil
	}
	return m.loadFacts()
}

// Archive implements [Memory].
func (m *memory) Archive(i int) *zipfile.Archive {
	in := &m.inputs[i]
	zip := in.zip
	in.zip, in.opened = nil, zip
	return zip
}

// inputPath returns how an input is hashed: as [input.Open] reads it.
func inputPath(path string) hashing {
	if strings.ToLower(filepath.Ext(path)) == classExtension {
		return hashing{path: path}
	}
	return hashing{path, archiveSum}
}

const classExtension = ".class"

// contentOf returns what identifies the content of an input.
func (m *memory) contentOf(i int, h hashed) cache.Key {
	return cache.KeyOf(kindOf(m.run.Inputs[i]), h.key.String())
}

// IDs implements [Memory].
func (m *memory) IDs() mapping.Memory { return m }

// Assigned implements [mapping.Memory].
func (m *memory) Assigned(key [sha256.Size]byte) []byte { return m.get(m.assignedKey(key)) }

// KeepAssigned implements [mapping.Memory].
func (m *memory) KeepAssigned(key [sha256.Size]byte, data []byte) {
	if !m.keeps() {
		return
	}
	m.grown = true
	if err := m.Cache.Put(m.assignedKey(key), data); err != nil {
		m.fail(err)
	}
}

func (m *memory) assignedKey(key [sha256.Size]byte) cache.Key {
	return cache.KeyOf("assigned 1", m.Tool, string(key[:]))
}

// AddBuiltIn implements [Memory].
func (m *memory) AddBuiltIn(name string, data []byte) {
	sum := sha256.Sum256(data)
	m.run.Inputs = append(slices.Clip(m.run.Inputs), name)
	m.inputs = append(m.inputs, knownInput{content: cache.KeyOf("built in", string(sum[:])), known: true, builtIn: true})
}

// kindOf returns what makes a difference between the same bytes under one name and another.
func kindOf(path string) string {
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case classExtension:
		return filepath.Base(path) // the name of the only entry
	case ".aar":
		return extension
	}
	return ""
}

// scanKey is that of the facts which a scan of this run finds out about an input of that content.
func (m *memory) scanKey(content cache.Key) cache.Key {
	return cache.KeyOf(append([]string{"scan 5", content.String(), m.ScanKey}, m.scanned()...)...)
}

// scanned returns what the facts depend on, besides content and options.
func (m *memory) scanned() []string { return []string{m.Tool, fmt.Sprint(m.run.Lines, m.run.Flat)} }

// writtenBy returns what an output depends on, besides the inputs and the decisions about their classes.
func (m *memory) writtenBy() []string {
	merged := m.run.Merged != ""
	return []string{m.Tool, m.checked, m.WriteKey, m.run.Runtime, fmt.Sprint(m.run.Disabled, m.run.Sliced, merged)}
}

// loadFacts reads what earlier scans found out, all inputs at a time: texts and lists of many classes.
func (m *memory) loadFacts() ([]scan.Input, error) {
	if m.Known != nil {
		known := 0
		for i, in := range m.inputs {
			if in.known && (m.Cache.Has(in.key) || m.hasHistory(i)) {
				known++
			}
		}
		m.Known(known, len(m.inputs))
	}
	var group errgroup.Group
	group.SetLimit(m.run.Workers)
	facts := make([]scan.Input, len(m.inputs))
	failures := make([]error, len(m.inputs))
	for i := range m.inputs {
		in := &m.inputs[i]
		if !in.known {
			continue
		}
		group.Go(func() error {
			var read *keptFacts
			if read, failures[i] = m.readFacts(in.key, i); read != nil {
				facts[i], in.recall = read.Input, true
				in.close()
			}
			return nil
		})
	}
	err := group.Wait()
	for i, failure := range failures {
		m.note(failure)
		if m.inputs[i].recall {
			m.recalled++
		}
	}
	return facts, err
}

// KeepFacts implements [Memory]. The facts are kept when the inputs prove to be the same still.
func (m *memory) KeepFacts(set *input.Set, facts []*scan.Class) {
	m.set, m.facts = set, facts
	if !m.run.Scans || !m.keeps() {
		return
	}
	var group errgroup.Group
	group.SetLimit(m.run.Workers)
	failures := make([]error, len(m.inputs))
	for i := range m.inputs {
		in := &m.inputs[i]
		if !in.known || in.recall || in.builtIn {
			continue
		}
		group.Go(func() error {
			if in.pending, failures[i] = m.Cache.Create(in.key); failures[i] == nil {
				first, end := set.ClassesOf(i)
				_, failures[i] = in.pending.Write(m.packFacts(i, scan.Input{Containers: set.Inputs[i].Containers,
					Classes: facts[first:end]}))
			}
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	for _, err := range failures {
		if err != nil {
			m.fail(err)
		}
	}
}

// sameInputs fails if an input that was read in this run has other content than when the run began.
func (m *memory) sameInputs(ctx context.Context) error {
	var paths []hashing
	var numbers []int
	for i := range m.inputs {
		if in := &m.inputs[i]; in.known && !in.builtIn && m.set.Inputs[i].Opened() {
			paths, numbers = append(paths, inputPath(m.run.Inputs[i])), append(numbers, i)
		}
	}
	again, err := hashPaths(ctx, paths, m.run.Workers, m.files)
	if err != nil {
		return err
	}
	closeHashed(again)
	for k, i := range numbers {
		if !again[k].ok || m.contentOf(i, again[k]) != m.inputs[i].content {
			return input.Changed(paths[k].path)
		}
	}
	if path, ok := m.unchangedOutputs(); !ok {
		return input.Changed(path)
	}
	return nil
}

// Close implements [Memory].
func (m *memory) Close() {
	m.giveUp()
	for i := range m.inputs {
		in := &m.inputs[i]
		if in.pending != nil {
			in.pending.Abort()
		}
		in.close()
	}
}

// close closes the archive that was hashed, unless it is the caller's of [Memory.Archive].
func (in *knownInput) close() {
	if in.zip != nil {
		in.zip.Close()
		in.zip = nil
	}
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
