package pipeline

import (
	"context"
	"path/filepath"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// Scan finds out about the inputs all that can be found out about each class by itself, and writes it to the file part.
// The result has the inputs, as far as they can be counted, and warnings. Errors are as for [Run]; nothing has been
// written then.
//
// What it writes depends on the inputs' content and last names, the options and the version alone, not on the order of
// entries.
func Scan(ctx context.Context, c Config, by Origin, part string) (*Result, error) {
	paths, _ := pathsOf(c.Inputs, "")
	if err := output.CheckPaths([]string{part}, paths); err != nil {
		return nil, err
	}
	w, err := open(paths, nil, c.Jobs, c.Flat, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	path := c.ClassPath.Lazy()
	defer path.Close()
	facts, totals, err := scanWithTrial(ctx, &c, w, path)
	if err != nil {
		return nil, err
	}

	stage := &output.Stage{}
	defer stage.Abort()
	if err := writeFile(stage, part, partOf(w.set, facts, by).seal()); err != nil {
		return nil, err
	}
	var inputs []Input
	for _, path := range paths {
		inputs = append(inputs, Input{Path: path, Output: part})
	}
	result := resultOf(plan.AsScanned(facts), inputs, "", totals)
	result.Warnings = append(w.warnings, scanWarnings(facts)...)
	return finish(ctx, &rounds{work: w, stage: stage, results: &results{}}, nil, result)
}

// scanWarnings returns what the scan warns of.
func scanWarnings(facts []*plan.Class) []string {
	warnings := plan.ScanWarnings(facts)
	for _, c := range facts {
		switch {
		case c.Rejection == nil || c.Rejection.PreExisting:
		case c.Rejection.Unchecked:
			warnings = append(warnings, c.At.Where()+": "+plan.UncheckedText+": "+c.Rejection.Detail)
		default:
			warnings = append(warnings, c.At.Where()+": the rewritten class fails a check, and the class will be "+
				"written unchanged; please report this: "+c.Rejection.Detail)
		}
	}
	return warnings
}

// partOf returns the facts of a set's inputs as a scan file has them.
func partOf(set *input.Set, facts []*plan.Class, by Origin) *Part {
	p := &Part{origin: by}
	for i, in := range set.Inputs {
		first, end := set.ClassesOf(i)
		p.inputs = append(p.inputs, plan.InputFacts{Name: lastName(in.Path), Containers: in.Containers,
			Classes: facts[first:end]}.Sorted())
	}
	return p
}

// lastName returns the name of an input without the directories that it happens to lie in.
func lastName(path string) string {
	name := filepath.Base(filepath.Clean(path))
	if name == "." || name == ".." {
		if absolute, err := filepath.Abs(path); err == nil {
			name = filepath.Base(absolute)
		}
	}
	return name
}

// scanWithTrial scans every class. Then it tries each one that could be read: the class is rewritten with all that a
// plan may ask for, and checked. The type check needs the names of all classes.
func scanWithTrial(ctx context.Context, c *Config, w *work, path *openedClassPath) ([]*plan.Class, *totals, error) {
	options, original := renamed(c.Inject, c.R8)
	w.set.KeepClasses()
	facts, err := w.scan(ctx, nil, plan.ScanOptions{Filter: filterOf(c.Filter, original, c.R8), Inject: options,
		FocusHooks: c.FocusHooks, Renamed: c.R8 != nil, Lines: true, Complete: true})
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, len(facts))
	for n, f := range facts {
		names[n] = f.Name
	}
	types, err := typesOf(c.Verify == VerifyFull, path, w.set, names)
	if err != nil {
		return nil, nil, err
	}
	err = w.each(ctx, len(facts), func() func(int) error {
		reader := classReader{Set: w.set, Runtime: options.RuntimeClass}
		r := newRewriter(newRewriteOptions(options, c.AddRequires, types), w.set)
		return func(n int) error {
			found := facts[n]
			w.progress.add(found.At.Size)
			if found.Name == "" {
				return nil
			}
			class, err := reader.Read(n, plan.ByNames(facts), found.Foreign)
			if err != nil {
				return err
			}
			facts[n] = r.Trial(n, found, class, c.FocusHooks)
			return nil
		}
	})
	t := &totals{}
	for i := range w.set.Inputs {
		t.note(types.TakeUnknown(i))
	}
	return facts, t, err
}
