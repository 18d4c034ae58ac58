package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/expect"
	"github.com/tracegen/tracegen/internal/build/incremental"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/rewrite"
	"github.com/tracegen/tracegen/internal/build/scan"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Run instruments the inputs. On an error nothing has been written; it is one of reading, of writing, of a
// runtime class that is missing or wrong, or of IDs running out.
func Run(ctx context.Context, c Config) (*Result, error) {
	inputs, outputs := pathsOf(c.Inputs, c.Merge)
	if err := output.CheckPaths(outputs, inputs); err != nil {
		return nil, err
	}
	options, original := renamed(c.Inject, c.R8)
	memory := memoryOf(c.Incremental, incremental.Run{
		Inputs: inputs, ClassPath: c.ClassPath, Runtime: options.RuntimeClass, Types: c.checksTypes(), Lines: c.Lines,
		Scans: !c.Disabled, Merged: c.Merge, Disabled: c.Disabled, DryRun: c.DryRun, Flat: c.Reading.Flat,
		Workers: workers(c.Jobs),
	})
	defer memory.Close()
	known, err := memory.Recall(ctx)
	if err != nil {
		return nil, err
	}
	w, err := open(inputs, known, memory.Archive, c.Jobs, c.Reading, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	if !c.RuntimeExternal && !c.Disabled && (c.BuiltIn == nil || options.RuntimeClass != original) {
		if err := w.checkRuntime(options.RuntimeClass); err != nil {
			return nil, err
		}
	}
	stage := &output.Stage{DryRun: c.DryRun}
	defer stage.Abort()
	path := c.ClassPath.Lazy()
	defer path.Close()
	if c.checksTypes() {
		if err := path.Open(); err != nil { // before the scan, which takes half of the time
			return nil, err
		}
	}

	draft, err := decide(ctx, &c, w, known, memory, path, options, original)
	if err != nil {
		return nil, err
	}
	if builtIn := w.builtIn; builtIn != nil {
		c.Inputs = append(slices.Clip(c.Inputs), Input{Path: builtIn.Path, Output: c.BuiltIn.Output})
		_, outputs = pathsOf(c.Inputs, c.Merge)
		if err := output.CheckPaths(outputs, inputs); err != nil {
			return nil, fmt.Errorf("%s: %w", builtIn.Path, err)
		}
	}
	types, err := typesOf(c.checksTypes(), path, w.set, draft.Names(), memory.RemembersClasses())
	if err != nil {
		return nil, err
	}
	o := output.Options{Rewrite: rewriteOptions(options, c.AddRequires, types), Level: levelOf(c.Level, c.DryRun),
		Workers: w.workers, Progress: w.progress.add}
	round := &rounds{work: w, stage: stage, memory: memory, options: o,
		jobs: output.Jobs(w.set.Containers(), outputs, c.Merge)}
	defer round.close()
	if w.builtIn != nil {
		round.totals.builtIn = len(inputs)
	}
	rewrite := func(p *plan.Plan) (map[int]plan.Failure, error) { return round.write(ctx, p) }
	planned, err := assignUntilStable(draft, rewrite)
	if err != nil {
		return nil, err
	}
	result := resultOf(planned.Draft, c.Inputs, c.Merge, &round.totals)
	result.Mapping = planned.Mapping
	if c.Lines {
		result.Lines = linesOf(planned)
	}
	result.Warnings = slices.Concat(w.warnings, planned.Warnings, planned.NearlyFull, round.warnings(),
		planned.ModuleWarnings(), messageWarnings(c.Messages, planned.Mapping))
	return finish(ctx, w.set, stage, memory, c.Files, result)
}

func (c *Config) checksTypes() bool { return !c.Disabled && c.Verify == VerifyFull }

// decide scans the classes and decides all that needs the whole, but IDs.
func decide(ctx context.Context, c *Config, w *work, known []scan.Input, memory incremental.Memory,
	path *typecheck.Opened, options inject.Options, original string) (*plan.Draft, error) {
	merged, err := w.merged(c.Merge)
	if err != nil {
		return nil, err
	}
	if c.Disabled {
		facts := make([]*scan.Class, len(w.set.Classes))
		for n, at := range w.set.Classes {
			facts[n] = scan.Undecided(at)
		}
		memory.KeepFacts(w.set, facts)
		return plan.Copy(facts, plan.Options{Inputs: w.paths(), Base: c.Base, Prune: c.Prune, Order: c.Order,
			OriginalRuntime: original, Merged: merged, Android: c.Android})
	}
	rules := filterOf(c.Filter, original, c.R8)
	scanning := scan.Options{Filter: rules, Inject: options, FocusHooks: c.FocusHooks, Renamed: c.R8 != nil,
		Lines: c.Lines, Places: c.Order == mapping.OrderHash && c.Base == nil && c.R8 == nil}
	w.set.KeepClasses()
	single, err := memory.RecallClasses(ctx, w.set)
	if err != nil {
		return nil, err
	}
	facts, err := w.scan(ctx, known, single, scanning)
	if err != nil {
		return nil, err
	}
	if c.needsBuiltIn(facts, options.RuntimeClass, original) {
		if facts, err = w.addBuiltIn(c, facts, scanning, memory); err != nil {
			return nil, err
		}
		if merged, err = w.merged(c.Merge); err != nil {
			return nil, err
		}
	}
	memory.KeepFacts(w.set, facts)
	w.warnings = append(w.warnings, unmatchedWarnings(rules, facts)...)
	return plan.New(facts, classFiles{w.set, facts, scanning}, plan.Options{
		Inputs: w.paths(), Filter: rules, FocusHooks: c.FocusHooks, Posts: options.Posts, R8: c.R8,
		AddRequires:     c.AddRequires != "",
		RuntimeExternal: c.RuntimeExternal, Runtime: options.RuntimeClass, OriginalRuntime: original,
		Base: c.Base, Prune: c.Prune, Order: c.Order, Messages: matchMessages(c.Messages), Memory: memory.IDs(),
		Merged: merged, Android: c.Android, ClassPath: supertypesOf(c.ClassPath, path),
	})
}

// unmatchedWarnings returns a warning if rules of files match nothing: a misspelled rule is otherwise never noticed. A
// list for many apps has many such rules, so that only the first are named.
func unmatchedWarnings(rules *filter.Filter, facts []*scan.Class) []string {
	unmatched := rules.Unmatched()
	for _, c := range facts {
		unmatched.Class(c.Name, func(i int) (name, descriptor string, ok bool) {
			if i >= len(c.Methods) {
				return "", "", false
			}
			return c.Methods[i].Name, c.Methods[i].Descriptor, true
		})
	}
	const named = 3
	list := unmatched.Rules()
	if len(list) == 0 {
		return nil
	}
	text := ""
	for i := range list[:min(named, len(list))] {
		text += "; " + list[i].String()
	}
	if more := len(list) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return []string{"no class or method of the inputs matches" + strings.TrimPrefix(text, ";")}
}

// assignUntilStable assigns IDs and calls rewrite, again and again until no class fails. It ends, because every round
// but the last excludes at least one method or class.
func assignUntilStable(draft *plan.Draft, rewrite func(*plan.Plan) (map[int]plan.Failure, error)) (*plan.Plan, error) {
	for {
		p, err := draft.Assign()
		if err != nil {
			return nil, err
		}
		failures, err := rewrite(p)
		if err != nil {
			return nil, err
		}
		if len(failures) == 0 {
			return p, nil
		}
		draft = draft.Without(failures)
	}
}

// rounds writes all outputs, in each round anew.
type rounds struct {
	*work
	stage   *output.Stage
	memory  incremental.Memory
	options output.Options
	jobs    []output.Job

	records []*output.Record // of the last round, as jobs
	totals  totals
	before  *earlier // the last round, if classes failed in it
}

// write writes every output to the stage, by a plan or slice. It returns the classes that fail; if there are any, the
// outputs are not those that are wanted, and are taken out of the stage.
func (r *rounds) write(ctx context.Context, by plan.Decisions) (map[int]plan.Failure, error) {
	before := r.before
	r.before = nil
	if before != nil {
		defer before.close()
	}
	r.progress.restart()
	r.records = r.memory.Reuse(r.set, by, r.jobs, r.stage)
	for i, job := range r.jobs {
		if r.records[i] == nil {
			if err := r.openInputs(job.Inputs); err != nil {
				return nil, err
			}
			continue
		}
		for _, in := range job.Inputs {
			for _, c := range r.set.Inputs[in].Classes {
				r.progress.add(c.Size)
			}
		}
	}
	if err := r.writeJobs(ctx, by, before); err != nil {
		return nil, err
	}
	if before != nil {
		before.note(r.jobs, r.records)
	}
	if err := r.memory.Keep(ctx, r.records); err != nil {
		return nil, err
	}
	failures := r.totals.add(r.set, r.jobs, r.records)
	if len(failures) > 0 {
		r.before = r.setAside(by)
	}
	return failures, nil
}

// close removes what a round has left in which classes failed.
func (r *rounds) close() {
	if r.before != nil {
		r.before.close()
	}
}

func (r *rounds) writeJobs(ctx context.Context, by plan.Decisions, before *earlier) (err error) {
	var jobs []output.Job
	for i, job := range r.jobs {
		if r.records[i] == nil {
			jobs = append(jobs, job)
		}
	}
	options := r.options
	options.Kept = func(class int) (output.Kept, bool) {
		kept, ok := r.memory.Kept(class)
		if !ok && before != nil {
			return before.Kept(class, by)
		}
		return kept, ok
	}
	w := output.NewWriter(ctx, r.set, by, r.stage, jobs, options)
	defer w.Close()
	for i, job := range r.jobs {
		if r.records[i] != nil {
			continue
		}
		if r.records[i], err = w.Write(job, r.memory.Copy(i)); err != nil {
			return err
		}
	}
	return nil
}

// warnings returns those of the last round.
func (r *rounds) warnings() (warnings []string) {
	for i, record := range r.records {
		for _, w := range record.Warnings {
			warnings = append(warnings, r.set.Inputs[r.jobs[i].Inputs[w.Input]].Path+w.Text)
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

func memoryOf(o *Incremental, run incremental.Run) incremental.Memory {
	if o == nil {
		return incremental.None{Inputs: len(run.Inputs)}
	}
	return incremental.New(*o, run)
}

// typesOf returns the type checker for the classes of a set, if one is wanted. It opens the class path. If asked is
// set, the checker notes which classes it looks for.
func typesOf(wanted bool, path *typecheck.Opened, set *input.Set, names []string,
	asked bool) (typecheck.Rewritten, error) {
	if !wanted {
		return typecheck.None{}, nil
	}
	return typecheck.New(path, set, names, asked)
}

func supertypesOf(p ClassPath, opened *typecheck.Opened) plan.ClassPath {
	if len(p.Paths) == 0 {
		return plan.NoClassPath{}
	}
	return opened
}

// expected is [expect.Instrumentation], but for tests that let the equivalence check fail.
var expected = expect.Instrumentation

func rewriteOptions(o inject.Options, requires string, types typecheck.Rewritten) rewrite.Options {
	return rewrite.Options{Inject: o, Requires: requires, Types: types, Expected: expected}
}

// levelOf returns the level of compression: in a dry run, how small the outputs would get does not show.
func levelOf(level zipfile.Level, dryRun bool) zipfile.Level {
	if dryRun {
		return zipfile.LevelStore
	}
	return level
}
