package pipeline

import (
	"context"
	"fmt"

	"github.com/tracegen/tracegen/internal/build/output"
)

// Instrument writes what a slice says about the inputs, which have to be those that were scanned, in the same order. It
// decides nothing: of what c says, how calls are inserted, classes checked and outputs written has to be the same as in
// the scan. Errors are as for [Run]; besides, it fails if a class is not as it was scanned, or a check rejects
// one that it did not reject in the scan.
func Instrument(ctx context.Context, c Config, s *Slice) (*Result, error) {
	inputs, outputs := pathsOf(c.Inputs, "")
	if err := output.CheckPaths(outputs, inputs); err != nil {
		return nil, err
	}
	options := c.Inject.Normalized()
	options.RuntimeClass = s.tasks.Runtime
	earlier, err := newResults(ctx, c.Incremental, runKey{
		inputs: inputs, classPath: c.ClassPath, types: c.Verify == VerifyFull, sliced: true, dryRun: c.DryRun,
		runtime: options.RuntimeClass, workers: workers(c.Jobs),
	})
	if err != nil {
		return nil, err
	}
	w, err := open(inputs, nil, c.Jobs, c.Flat, c.Progress, 1)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	tasks, err := s.tasks.Bind(w.set)
	if err != nil {
		return nil, err
	}
	path := c.ClassPath.Lazy()
	defer path.Close()
	types, err := typesOf(c.Verify == VerifyFull, path, w.set, tasks.Names())
	if err != nil {
		return nil, err
	}

	stage := &output.Stage{DryRun: c.DryRun}
	defer stage.Abort()
	o := writeOptions{Rewrite: newRewriteOptions(options, c.AddRequires, types), Level: levelOf(c.Level, c.DryRun),
		Workers: w.workers, Progress: w.progress.add}
	round := newRounds(w, stage, earlier, o, outputJobs(w.set.Containers(), outputs, ""))
	failures, err := round.write(ctx, tasks)
	if err != nil {
		return nil, err
	}
	for n, at := range w.set.Classes {
		if rejection := failures[n]; rejection != nil {
			return nil, fmt.Errorf("%s: the rewritten class fails a check that it passed when it was scanned: %s; "+
				"scan it again with the class path that is used here, or report this",
				at.Where(), rejection.Detail)
		}
	}
	result := countsOf(tasks, w.set.Classes, c.Inputs, "", &round.totals)
	result.Warnings = append(w.warnings, round.warnings()...)
	return finish(ctx, round, nil, result)
}
