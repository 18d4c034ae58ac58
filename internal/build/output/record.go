package output

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/cache"
)

// Job is one output that has to be written: of one input, or of all inputs that are merged.
type Job struct {
	Inputs []int // numbers of the inputs that go into it, one behind the other
	Path   string
	Kind   input.Kind
}

// Jobs returns the outputs of inputs: into merged all of them, or unless that is empty, each into its own of paths.
func Jobs(containers []*input.Container, paths []string, merged string) []Job {
	if merged != "" {
		job := Job{Path: merged, Kind: input.Archive}
		for i := range containers {
			job.Inputs = append(job.Inputs, i)
		}
		return []Job{job}
	}
	jobs := make([]Job, len(containers))
	for i, c := range containers {
		jobs[i] = Job{[]int{i}, paths[i], c.Kind}
		if c.Kind == input.Directory && IsArchiveName(paths[i]) {
			jobs[i].Kind = input.Archive
		}
	}
	return jobs
}

// IsArchiveName reports whether a directory that is written to that path becomes an archive.
func IsArchiveName(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return extension == ".jar" || extension == ".zip"
}

// Record is the result of writing one output. It holds no paths of inputs and outputs, so that it can be kept for a run
// in which they lie elsewhere.
type Record struct {
	Inputs   []InputRecord // as in the job
	Warnings []Warning
	Files    []File // of the output; those of an archive or class file are set when it is kept
}

// File is a file of an output: the only one, whose name is empty, or one of a directory.
type File struct {
	Name string      // with slashes; that of a directory ends in one
	Mode fs.FileMode // permissions, of files in a directory
	Size int64
	Sum  cache.Checksum // of the content
}

// InputRecord is the result of writing one input. Its classes have their numbers among those of the input.
type InputRecord struct {
	ClassBytes  int64 // of all classes, uncompressed
	OutputBytes int64 // of all classes as written, uncompressed
	Calls       int   // of the runtime, in the classes that changed
	Classes     []ClassRecord
	Failures    map[int]plan.Failure // if there are any, the output is worth nothing
	Notes       typecheck.Notes
}

// ClassRecord is the result of rewriting one class. A class for which all would be 0 has none.
type ClassRecord struct {
	Class int
	Calls int   // of the runtime, that were inserted
	Grown int64 // bytes
}

// Warning is a warning about an input, without the input's path that it begins with.
type Warning struct {
	Input int // index into Job.Inputs
	Text  string
}

// Failed reports whether a class could not be written as planned.
func (r *Record) Failed() bool {
	for i := range r.Inputs {
		if len(r.Inputs[i].Failures) > 0 {
			return true
		}
	}
	return false
}
