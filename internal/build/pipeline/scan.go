package pipeline

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/mapping/r8"
)

// ScanConfig says what [Scan] does. Inputs are needed. The fields are as in [Config].
type ScanConfig struct {
	Inputs  []string // paths
	Reading Reading  // the limits of what is read

	// What decides about classes, and how the scan works.
	Filter      *filter.Filter
	Inject      inject.Options
	FocusHooks  bool
	AddRequires string
	R8          *r8.Mapping
	Verify      VerifyLevel
	ClassPath   ClassPath
	Jobs        int
	Progress    func(done, total int64)
}

// Scan finds out about the inputs all that can be found out about each class by itself, and writes it to the file part.
// The result has the inputs, as far as they can be counted, and warnings. Errors are as for [Run]; nothing has been
// written then.
//
// What it writes depends on the inputs' content and last names, the options and the version alone, not on the order of
// entries.
func Scan(ctx context.Context, c ScanConfig, by Origin, part string) (*Result, error) {
	if err := output.CheckPath(part, c.Inputs); err != nil {
		return nil, err
	}
	w, err := open(c.Inputs, nil, c.Jobs, c.Reading, c.Progress, 1)
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
	none := &results{}
	if err := writeFile(stage, none, part, partOf(w.set, facts, by).seal()); err != nil {
		return nil, err
	}
	var inputs []Input
	for _, path := range c.Inputs {
		inputs = append(inputs, Input{Path: path, Output: part})
	}
	result := resultOf(plan.AsScanned(facts), inputs, "", totals)
	result.Warnings = append(w.warnings, scanWarnings(facts)...)
	return finish(ctx, &rounds{work: w, stage: stage, results: none}, nil, result)
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

// trial is a scan in which each class is also rewritten with all that a plan may ask for, and checked.
type trial struct {
	*work
	config  *ScanConfig
	options plan.ScanOptions
	path    *openedClassPath
	facts   []*plan.Class
	totals  totals
}

// scanWithTrial scans every class, with a trial. The type checker needs the names of all classes, before all are
// scanned. So the first trials assume the names that the entries suggest. If one of them was wrong, all trials are made
// again.
func scanWithTrial(ctx context.Context, c *ScanConfig, w *work, path *openedClassPath) (
	[]*plan.Class, *totals, error) {
	options, original := renamed(c.Inject, c.R8)
	t := &trial{work: w, config: c, path: path, facts: make([]*plan.Class, len(w.set.Classes))}
	t.options = plan.ScanOptions{Filter: filterOf(c.Filter, original, c.R8), Inject: options, FocusHooks: c.FocusHooks,
		Renamed: c.R8 != nil, Lines: true, Complete: true}
	names := make([]string, len(t.facts))
	for n, at := range w.set.Classes {
		names[n] = at.UsualName()
	}
	misled, err := t.first(ctx, names)
	if err != nil || !misled {
		return t.facts, &t.totals, err
	}
	for n, c := range t.facts {
		names[n] = c.Name
	}
	t.totals = totals{}
	return t.facts, &t.totals, t.again(ctx, names)
}

// first scans and tries every class. It reports whether a class has another name than was assumed: then no trial
// counts.
func (t *trial) first(ctx context.Context, names []string) (bool, error) {
	types, err := typesOf(t.config.Verify == VerifyFull, t.path, t.set, names)
	if err != nil {
		return false, err
	}
	defer t.note(types)
	graph := plan.NewGraph()
	var misled atomic.Bool
	err = t.each(ctx, len(t.facts), func() (func(int) error, func()) {
		s := t.newScanner(t.options, graph)
		r := newRewriter(newRewriteOptions(t.options.Inject, t.config.AddRequires, types), t.set)
		work := func(n int) error {
			found, c, err := s.scan(n)
			if err != nil {
				return err
			}
			if found.Name != names[n] {
				misled.Store(true)
			}
			if c != nil && !misled.Load() {
				found = r.Trial(n, found, c, t.config.FocusHooks)
			}
			t.facts[n] = found
			return nil
		}
		return work, s.behind.End
	})
	return misled.Load(), err
}

// again tries every class that could be read, with all names known.
func (t *trial) again(ctx context.Context, names []string) error {
	types, err := typesOf(t.config.Verify == VerifyFull, t.path, t.set, names)
	if err != nil {
		return err
	}
	defer t.note(types)
	return t.each(ctx, len(t.facts), func() (func(int) error, func()) {
		reader := classReader{Set: t.set, Runtime: t.options.Inject.RuntimeClass}
		r := newRewriter(newRewriteOptions(t.options.Inject, t.config.AddRequires, types), t.set)
		work := func(n int) error {
			found := t.facts[n]
			if found.Name == "" {
				return nil
			}
			c, err := reader.Read(n, plan.ByNames(t.facts), found.Foreign)
			if err != nil {
				return err
			}
			t.facts[n] = r.Trial(n, found, c, t.config.FocusHooks)
			return nil
		}
		return work, func() {}
	})
}

// note takes the notes of the type checker.
func (t *trial) note(types typeCheck) {
	for i := range t.set.Inputs {
		t.totals.note(t.set, i, types.TakeNotes(i))
	}
}
