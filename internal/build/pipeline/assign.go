package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/wire"
)

// Slices says which slices [Assign] writes.
type Slices struct {
	Options []string           // names of the options in the parts' origins that slices record
	File    func(*Part) string // returns the path of the slice of a part
}

// Assign decides for all parts together what needs the whole, assigns an ID to every traced method, and writes a slice
// for each part, with what it decided about that part and nothing else. Of c, what a scan takes has to be the same. The
// result does not depend on the order of parts. In it, an input is called PART!INPUT, and output sizes are not known.
//
// It fails if parts do not fit together: two of one name, or scanned with other options; else as
// [Run] does. Nothing has been written then.
func Assign(ctx context.Context, c Config, parts []*Part, to Slices) (*Result, error) {
	parts, err := sortedParts(parts)
	if err != nil {
		return nil, err
	}
	a := adopt(parts)
	options, original := renamed(c.Inject, c.R8)
	opened := ClassPath{Paths: c.ClassPath.Paths}.Lazy()
	defer opened.Close()
	rules := filterOf(c.Filter, original, c.R8)
	callsOf := func(class int) (inject.Calls, error) { return a.facts[class].CallsOf(), nil }
	draft, err := plan.New(a.facts, callsOf, c.planOptions(a.names, rules, options, original, opened))
	if err != nil {
		return nil, err
	}
	draft = draft.Without(draft.ScanRejections())
	planned, err := draft.Assign()
	if err != nil {
		return nil, err
	}

	stage := &output.Stage{DryRun: c.DryRun}
	defer stage.Abort()
	var inputs []Input
	for i, p := range parts {
		file := to.File(p)
		slice := newSlice(planned.Slice(a.parts[i], func(c *plan.Class) int { return a.numbers[c] }), p.origin,
			to.Options)
		if err := writeFile(stage, file, slice.seal()); err != nil {
			return nil, err
		}
		for _, in := range p.inputs {
			inputs = append(inputs, Input{Path: p.inputName(in.Name), Output: file})
		}
	}
	result := resultOf(draft, inputs, "", &totals{})
	result.Mapping = planned.Mapping
	if c.Lines {
		result.Lines = linesOf(planned)
	}
	result.Warnings = slices.Concat(unmatchedWarnings(rules, a.facts), draft.Warnings, draft.ModuleWarnings(),
		planned.NearlyFull, messageWarnings(c.Messages, planned.Mapping))
	return finish(ctx, &rounds{work: &work{set: &input.Set{}}, stage: stage, results: &results{}}, c.Files, result)
}

// sortedParts returns the parts by name. It fails if they do not fit together.
func sortedParts(parts []*Part) ([]*Part, error) {
	if len(parts) == 0 {
		return nil, errNoParts
	}
	parts = slices.SortedFunc(slices.Values(parts), func(a, b *Part) int {
		return cmp.Or(strings.Compare(a.name,
			b.name), strings.Compare(a.path, b.path))
	})
	for i, p := range parts[1:] {
		if p.name == parts[i].name {
			return nil, fmt.Errorf("scan files %s and %s are of one name, which names their inputs in lists; rename one",
				parts[i].path, p.path)
		}
		if err := wire.CheckOrigin(parts[0].path, parts[0].origin, p.path, p.origin); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// adopted are the facts of several parts together, as those of one run.
type adopted struct {
	facts   []*plan.Class
	numbers map[*plan.Class]int
	parts   [][]plan.InputFacts // by part
	names   []string            // of inputs
}

// adopt numbers the inputs of all parts. The parts stay as they are.
func adopt(parts []*Part) *adopted {
	a := &adopted{numbers: make(map[*plan.Class]int)}
	for _, p := range parts {
		var inputs []plan.InputFacts
		for _, in := range p.inputs {
			inputs = append(inputs, a.adopt(in, p.inputName(in.Name)))
		}
		a.parts = append(a.parts, inputs)
	}
	return a
}

func (a *adopted) adopt(in plan.InputFacts, name string) plan.InputFacts {
	copied := plan.InputFacts{Name: in.Name, Classes: make([]*plan.Class, len(in.Classes))}
	containers := make(map[*input.Container]*input.Container, len(in.Containers))
	for _, c := range in.Containers {
		own := *c
		own.Input = len(a.names)
		copied.Containers = append(copied.Containers, &own)
		containers[c] = &own
	}
	for i, c := range in.Classes {
		at, own := *c.At, *c
		at.Container = containers[at.Container]
		own.At = &at
		copied.Classes[i] = &own
		a.numbers[&own] = len(a.facts)
		a.facts = append(a.facts, &own)
	}
	a.names = append(a.names, name)
	return copied
}
