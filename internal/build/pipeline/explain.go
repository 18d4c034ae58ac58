package pipeline

import (
	"context"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/mapping"
)

// Explained is the answer of [Explain].
type Explained struct {
	Classes  []buildreport.ExplainedClass // in input order
	Mapping  *mapping.Mapping
	Warnings []string
	// Names are those of every class, and every method with code, of the inputs, in input order.
	Names []mapping.Identity
}

// Explain makes all the decisions of [Run], checks included, and reports those about the methods that are asked for. It
// writes nothing: of what c says about outputs, only that there is a Merge matters. The runtime class may be missing.
func Explain(ctx context.Context, c Config, asked Question) (*Explained, error) {
	c.RuntimeExternal, c.Disabled = true, false
	options, original := renamed(c.Inject, c.R8)
	inputs, _ := pathsOf(c.Inputs, c.Merge)
	w, err := open(inputs, nil, c.Jobs, c.Flat, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	path := c.ClassPath.Lazy()
	defer path.Close()
	draft, err := decide(ctx, &c, w, nil, &results{}, path, options, original)
	if err != nil {
		return nil, err
	}
	types, err := typesOf(c.checksTypes(), path, w.set, draft.Names())
	if err != nil {
		return nil, err
	}
	rewriting := newRewriteOptions(options, c.AddRequires, types)
	rehearse := func(p *plan.Plan) (map[int]*plan.Rejection, error) { return w.rehearse(ctx, p, rewriting) }
	planned, err := assignUntilStable(draft, rehearse)
	if err != nil {
		return nil, err
	}
	classes, err := explainClasses(w.set, planned, options.RuntimeClass, asked)
	if err != nil {
		return nil, err
	}
	setMessages(classes, c.Messages)
	return &Explained{
		Classes: classes, Mapping: planned.Mapping, Names: namesOf(planned),
		Warnings: slices.Concat(w.warnings, planned.Warnings, planned.NearlyFull, planned.ModuleWarnings(),
			messageWarnings(c.Messages, planned.Mapping)),
	}, nil
}

// rehearse rewrites what changes and keeps nothing but the failures.
func (w *work) rehearse(ctx context.Context, by *plan.Plan, o rewriteOptions) (map[int]*plan.Rejection, error) {
	w.progress.restart()
	var mu sync.Mutex
	failures := make(map[int]*plan.Rejection)
	err := w.each(ctx, by.Len(), func() (func(int) error, func()) {
		r := newRewriter(o, w.set)
		work := func(n int) error {
			outcome := rewriteOutcome{}
			if by.Changes(n) {
				var err error
				if outcome, err = r.Rewrite(n, by); err != nil {
					return err
				}
			}
			w.progress.add(w.set.Classes[n].Size)
			if outcome.Failure != nil {
				mu.Lock()
				defer mu.Unlock()
				failures[n] = outcome.Failure
			}
			return nil
		}
		return work, func() {}
	})
	return failures, err
}
