package pipeline

import (
	"slices"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// outputJob is one output that has to be written: of one input, or of all inputs that are merged.
type outputJob struct {
	Inputs []int // numbers of the inputs that go into it, one behind the other
	Path   string
	Kind   input.Kind
}

// outputJobs returns the outputs of inputs: into merged all of them, or unless that is empty, each into its own of
// paths.
func outputJobs(containers []*input.Container, paths []string, merged string) []outputJob {
	if merged != "" {
		job := outputJob{Path: merged, Kind: input.Archive}
		for i := range containers {
			job.Inputs = append(job.Inputs, i)
		}
		return []outputJob{job}
	}
	jobs := make([]outputJob, len(containers))
	for i, c := range containers {
		jobs[i] = outputJob{[]int{i}, paths[i], c.Kind}
		if c.Kind == input.Directory && output.IsArchiveName(paths[i]) {
			jobs[i].Kind = input.Archive
		}
	}
	return jobs
}

// outputRecord is the result of writing one output. It holds no paths of inputs and outputs, so that it can be kept
// for a run in which they lie elsewhere.
type outputRecord struct {
	Inputs   []inputRecord // as in the job
	Warnings []inputWarning
	Files    []output.File // of the output; those of an archive or class file are set when it is kept
}

// inputRecord is the result of writing one input. Its classes have their numbers among those of the input.
type inputRecord struct {
	ClassBytes  int64 // of all classes, uncompressed
	OutputBytes int64 // of all classes as written, uncompressed
	Calls       int   // of the runtime, in the classes that changed
	Classes     []classRecord
	Failures    []failure // if there are any, the output is worth nothing
	Unknown     []string  // classes that the type checker did not find, sorted, in internal form
}

// classRecord is the result of rewriting one class. A class for which all would be 0 has none.
type classRecord struct {
	Class int
	Calls int   // of the runtime, that were inserted
	Grown int64 // bytes
}

// failure is a class that could not be written as planned.
type failure struct {
	Class int
	plan.Rejection
}

// inputWarning is a warning about an input, without the input's path that it begins with.
type inputWarning struct {
	Input int // index into Job.Inputs
	Text  string
}

// Refused reports whether methods of a class have no room for their calls.
func (r *outputRecord) Refused() bool {
	return slices.ContainsFunc(r.Inputs, func(in inputRecord) bool {
		return slices.ContainsFunc(in.Failures, func(f failure) bool { return len(f.Refusals) > 0 })
	})
}

// Failed reports whether a class could not be written as planned.
func (r *outputRecord) Failed() bool {
	return slices.ContainsFunc(r.Inputs, func(in inputRecord) bool { return len(in.Failures) > 0 })
}
