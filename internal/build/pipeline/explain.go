package pipeline

import (
	"context"
	"slices"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/output"
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
	c.RuntimeExternal, c.Disabled, c.DryRun, c.Incremental = true, false, true, nil
	done, err := carryOut(ctx, &c, &output.Stage{DryRun: true})
	if err != nil {
		return nil, err
	}
	defer done.set.Close()
	planned := done.planned
	classes, err := explainClasses(done.set, planned, done.runtime, asked)
	if err != nil {
		return nil, err
	}
	setMessages(classes, c.Messages)
	return &Explained{
		Classes: classes, Mapping: planned.Mapping, Names: namesOf(planned),
		Warnings: slices.Concat(done.work.warnings, planned.Warnings, planned.NearlyFull, planned.ModuleWarnings(),
			messageWarnings(c.Messages, planned.Mapping)),
	}, nil
}
