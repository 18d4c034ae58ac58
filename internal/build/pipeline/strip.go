package pipeline

import (
	"context"
	"slices"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// Strip takes the calls of earlier runs out of the inputs. Of what c says about calls, only that of the runtime class
// matters. The result counts as Rewritten the classes that held calls;
// its mapping is empty. Errors are as for [Run].
func Strip(ctx context.Context, c Config) (*Result, error) {
	inputs, outputs := pathsOf(c.Inputs, "")
	if err := output.CheckPaths(outputs, inputs); err != nil {
		return nil, err
	}
	w, err := open(inputs, nil, c.Jobs, c.Flat, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	w.set.KeepClasses()
	options := inject.Options{RuntimeClass: c.Inject.RuntimeClass}.Normalized()
	rules := filter.New(filter.Options{RuntimeClass: options.RuntimeClass})
	facts, err := w.scan(ctx, nil, plan.ScanOptions{Filter: rules, Inject: options})
	if err != nil {
		return nil, err
	}
	draft := plan.Strip(facts, plan.Options{Inputs: inputs, OriginalRuntime: options.RuntimeClass})
	planned, err := draft.Assign()
	if err != nil {
		return nil, err
	}

	stage := &output.Stage{}
	defer stage.Abort()
	o := writeOptions{Rewrite: newRewriteOptions(options, "", nil), Level: c.Level, Workers: w.workers,
		Progress: w.progress.add}
	round := newRounds(w, stage, &results{}, o, outputJobs(w.set.Containers(), outputs, ""))
	if _, err := round.write(ctx, planned); err != nil {
		return nil, err
	}
	result := resultOf(draft, c.Inputs, "", &round.totals)
	result.Mapping = planned.Mapping
	result.Warnings = slices.Concat(w.warnings, draft.Warnings, round.warnings())
	return finish(ctx, round, nil, result)
}
