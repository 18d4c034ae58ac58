package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Run instruments the inputs. On an error nothing has been written; it is one of reading, of writing, of a
// runtime class that is missing or wrong, or of IDs running out.
func Run(ctx context.Context, c Config) (*Result, error) {
	inputs, outputs := pathsOf(c.Inputs, c.Merge)
	if err := output.CheckPaths(outputs, inputs); err != nil {
		return nil, err
	}
	stage := &output.Stage{DryRun: c.DryRun}
	defer stage.Abort()
	done, err := carryOut(ctx, &c, stage)
	if err != nil {
		return nil, err
	}
	defer done.set.Close()
	planned := done.planned
	if builtIn := done.builtIn; builtIn != nil {
		done.totals.builtIn = len(inputs)
		_, outputs = pathsOf(c.Inputs, c.Merge)
		if err := output.CheckPaths(outputs, inputs); err != nil {
			return nil, fmt.Errorf("%s: %w", builtIn.Path, err)
		}
	}
	result := resultOf(planned.Draft, c.Inputs, c.Merge, &done.totals)
	result.Mapping = planned.Mapping
	if c.Lines {
		result.Lines = linesOf(planned)
	}
	result.Warnings = slices.Concat(done.work.warnings, planned.Warnings, planned.NearlyFull, done.rounds.warnings(),
		planned.ModuleWarnings(), messageWarnings(c.Messages, planned.Mapping))
	return finish(ctx, done.rounds, c.Files, result)
}

// carriedOut is what [carryOut] has done: the outputs are staged.
type carriedOut struct {
	*rounds
	planned *plan.Plan
	runtime string // the runtime class's name in the inputs
}

// carryOut opens the inputs, makes all decisions, and writes the outputs to the stage, until no check rejects a class.
// The caller closes the set of inputs. If the built-in runtime is added, it is the last of c.Inputs then.
func carryOut(ctx context.Context, c *Config, stage *output.Stage) (_ *carriedOut, err error) {
	inputs, _ := pathsOf(c.Inputs, c.Merge)
	options, original := renamed(c.Inject, c.R8)
	earlier, err := newResults(ctx, c.Incremental, runKey{
		inputs: inputs, classPath: c.ClassPath, runtime: options.RuntimeClass, types: c.checksTypes(), lines: c.Lines,
		scans: !c.Disabled, merged: c.Merge != "", disabled: c.Disabled, dryRun: c.DryRun, flat: c.Flat,
		workers: workers(c.Jobs),
	})
	if err != nil {
		return nil, err
	}
	known := earlier.facts()
	w, err := open(inputs, known, c.Jobs, c.Flat, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.set.Close()
		}
	}()
	if !c.RuntimeExternal && !c.Disabled && (c.BuiltIn == nil || options.RuntimeClass != original) {
		if err := w.checkRuntime(options.RuntimeClass); err != nil {
			return nil, err
		}
	}
	path := c.ClassPath.Lazy()
	defer path.Close()
	if c.checksTypes() {
		if err := path.Open(); err != nil { // before the scan, which takes half of the time
			return nil, err
		}
	}
	draft, err := decide(ctx, c, w, known, earlier, path, options, original)
	if err != nil {
		return nil, err
	}
	if w.builtIn != nil {
		c.Inputs = append(slices.Clip(c.Inputs), Input{Path: w.builtIn.Path, Output: c.BuiltIn.Output})
	}
	types, err := typesOf(c.checksTypes(), path, w.set, draft.Names())
	if err != nil {
		return nil, err
	}
	o := writeOptions{Rewrite: newRewriteOptions(options, c.AddRequires, types), Level: levelOf(c.Level, c.DryRun),
		Workers: w.workers, Progress: w.progress.add}
	_, outputs := pathsOf(c.Inputs, c.Merge)
	round := newRounds(w, stage, earlier, o, outputJobs(w.set.Containers(), outputs, c.Merge))
	planned, err := round.writeUntilStable(ctx, draft)
	return &carriedOut{round, planned, options.RuntimeClass}, err
}

func (c *Config) checksTypes() bool { return !c.Disabled && c.Verify == VerifyFull }

// decide scans the classes and decides all that needs the whole, but IDs.
func decide(ctx context.Context, c *Config, w *work, known []plan.InputFacts, r *results,
	path *openedClassPath, options inject.Options, original string) (*plan.Draft, error) {
	merged, err := w.merged(c.Merge)
	if err != nil {
		return nil, err
	}
	if c.Disabled {
		facts := make([]*plan.Class, len(w.set.Classes))
		for n, at := range w.set.Classes {
			facts[n] = plan.Undecided(at)
		}
		return plan.Copy(facts, plan.Options{Inputs: w.paths(), Base: c.Base, Prune: c.Prune, Order: c.Order,
			OriginalRuntime: original, Merged: merged, Android: c.Android}), nil
	}
	rules := filterOf(c.Filter, original, c.R8)
	scanning := plan.ScanOptions{Filter: rules, Inject: options, FocusHooks: c.FocusHooks, Renamed: c.R8 != nil,
		Lines: c.Lines}
	w.set.KeepClasses()
	facts, err := w.scan(ctx, known, scanning)
	if err != nil {
		return nil, err
	}
	if c.needsBuiltIn(facts, options.RuntimeClass, original) {
		if facts, err = w.addBuiltIn(c, facts, scanning, r); err != nil {
			return nil, err
		}
		if merged, err = w.merged(c.Merge); err != nil {
			return nil, err
		}
	}
	r.unstored = facts
	w.warnings = append(w.warnings, unmatchedWarnings(rules, facts)...)
	callsOf := func(class int) (inject.Calls, error) {
		return w.callsOf(class, facts, scanning.Inject.RuntimeClass)
	}
	o := c.planOptions(w.paths(), rules, options, original, path)
	o.Merged = merged
	return plan.New(facts, callsOf, o)
}

// planOptions returns what the plan depends on, for inputs with these names in messages.
func (c *Config) planOptions(inputs []string, rules *filter.Filter, options inject.Options, original string,
	path *openedClassPath) plan.Options {
	o := plan.Options{
		Inputs: inputs, Filter: rules, FocusHooks: c.FocusHooks, Inject: options, R8: c.R8,
		CoroutinesIfAny: c.CoroutinesIfAny, RuntimeExternal: c.RuntimeExternal, AddRequires: c.AddRequires != "",
		Runtime: options.RuntimeClass, OriginalRuntime: original, Base: c.Base, Prune: c.Prune, Order: c.Order,
		Messages: matchMessages(c.Messages), Android: c.Android,
	}
	if len(c.ClassPath.Paths) > 0 {
		o.ClassPath = path
	}
	return o
}

// unmatchedWarnings returns a warning if rules of files match nothing: a misspelled rule is otherwise never noticed. A
// list for many apps has many such rules, so that only the first are named. It also warns of a profile most of whose
// methods are gone.
func unmatchedWarnings(rules *filter.Filter, facts []*plan.Class) []string {
	unmatched := rules.Unmatched()
	for _, c := range facts {
		unmatched.Class(c.Name, func(i int) (name, descriptor string, ok bool) {
			if i >= len(c.Methods) {
				return "", "", false
			}
			return c.Methods[i].Name, c.Methods[i].Descriptor, true
		})
	}
	var warnings []string
	if all, missing := unmatched.Profile(); missing*2 > all {
		warnings = append(warnings, fmt.Sprintf("%d of %d methods of the profile are not in the inputs; record again, and "+
			"update it by tracegen analyze --profile", missing, all))
	}
	const named = 3
	list := unmatched.Rules()
	if len(list) == 0 {
		return warnings
	}
	text := ""
	for i := range list[:min(named, len(list))] {
		text += "; " + list[i].String()
	}
	if more := len(list) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return append(warnings, "no class or method of the inputs matches"+strings.TrimPrefix(text, ";"))
}

// rounds writes all outputs, in each round those that are not as the round before has written them.
type rounds struct {
	*work
	stage   *output.Stage
	results *results
	options writeOptions
	outputs []*writtenOutput
	totals  totals
}

func newRounds(w *work, stage *output.Stage, r *results, o writeOptions, jobs []outputJob) *rounds {
	round := &rounds{work: w, stage: stage, results: r, options: o}
	for _, job := range jobs {
		round.outputs = append(round.outputs, &writtenOutput{outputJob: job})
	}
	return round
}

// writeUntilStable assigns IDs and writes, again and again until no class fails. It ends, because every round but the
// last excludes at least one method or class.
func (r *rounds) writeUntilStable(ctx context.Context, draft *plan.Draft) (*plan.Plan, error) {
	for {
		p, err := draft.Assign()
		if err != nil {
			return nil, err
		}
		failures, err := r.write(ctx, p)
		if err != nil {
			return nil, err
		}
		if len(failures) == 0 {
			return p, nil
		}
		draft = draft.Without(failures)
	}
}

// write writes the outputs to the stage, by a plan or slice. It returns the classes that fail; if there are any, the
// outputs with them are not those that are wanted.
//
// What a class becomes, and what the checks say of it, depends on its task, and on nothing else that differs between
// rounds: they see the other classes as they came. So an output stays staged if its tasks are those of the round
// before.
func (r *rounds) write(ctx context.Context, by plan.Decisions) (map[int]*plan.Rejection, error) {
	r.progress.restart()
	var open []*writtenOutput
	for _, o := range r.outputs {
		key := r.results.outputKey(&o.outputJob, r.set, by)
		if o.record != nil && !o.record.Failed() && key == o.key {
			continue
		}
		r.stage.Discard(o.Path)
		*o = writtenOutput{outputJob: o.outputJob, key: key}
		open = append(open, o)
	}
	r.results.reuse(open, r.set, r.stage)
	open = slices.DeleteFunc(open, func(o *writtenOutput) bool { return o.record != nil })
	for _, o := range r.outputs {
		if o.record == nil {
			if err := r.openInputs(o.Inputs); err != nil {
				return nil, err
			}
			continue
		}
		for _, in := range o.Inputs {
			for _, c := range r.set.Inputs[in].Classes {
				r.progress.add(c.Size)
			}
		}
	}
	if err := r.writeOutputs(ctx, by, open); err != nil {
		return nil, err
	}
	if err := r.results.keep(ctx, r.set, open, r.stage); err != nil {
		return nil, err
	}
	return r.totals.add(r.set, r.outputs), nil
}

func (r *rounds) writeOutputs(ctx context.Context, by plan.Decisions, open []*writtenOutput) (err error) {
	var jobs []outputJob
	for _, o := range open {
		jobs = append(jobs, o.outputJob)
	}
	w := newOutputWriter(ctx, r.set, by, r.stage, jobs, r.options)
	defer w.Close()
	for _, o := range open {
		if o.record, err = w.Write(o.outputJob); err != nil {
			return err
		}
	}
	return nil
}

// warnings returns those of the last round.
func (r *rounds) warnings() (warnings []string) {
	for _, o := range r.outputs {
		for _, w := range o.record.Warnings {
			warnings = append(warnings, r.set.Inputs[o.Inputs[w.Input]].Path+w.Text)
		}
	}
	return warnings
}

// renamed returns the options with the runtime class's name in the inputs, and its original name.
func renamed(o inject.Options, by *r8.Mapping) (inject.Options, string) {
	o = o.Normalized()
	original := o.RuntimeClass
	if by != nil {
		if residual, ok := by.ResidualClass(original); ok {
			o.RuntimeClass = residual
		}
	}
	return o, original
}

// filterOf returns the filter that is given, or else one without rules.
func filterOf(f *filter.Filter, runtime string, by *r8.Mapping) *filter.Filter {
	if f != nil {
		return f
	}
	return filter.New(filter.Options{RuntimeClass: runtime, R8: by})
}

// typesOf returns the type checker for the classes of a set, if one is wanted. It opens the class path.
func typesOf(wanted bool, path *openedClassPath, set *input.Set, names []string) (*typeChecker, error) {
	if !wanted {
		return nil, nil
	}
	return newTypeChecker(path, set, names)
}

// expected is [plan.Expected], but for tests that let the equivalence check fail.
var expected = plan.Expected

func newRewriteOptions(o inject.Options, requires string, types *typeChecker) rewriteOptions {
	return rewriteOptions{Inject: o, Requires: requires, Types: types, Expected: expected}
}

// levelOf returns the level of compression: in a dry run, how small the outputs would get does not show.
func levelOf(level zipfile.Level, dryRun bool) zipfile.Level {
	if dryRun {
		return zipfile.LevelStore
	}
	return level
}
