package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/mapping"
)

// totals sum up the records of rounds.
type totals struct {
	inputs  []inputRecord // of the last round, by input; empty if nothing is written
	unknown []string      // of all rounds
	builtIn int           // number of the built-in runtime, which is never the first input; 0 if there is none
}

// add takes the records of a round, and returns the classes that failed in it.
func (t *totals) add(set *input.Set, outputs []*writtenOutput) map[int]*plan.Rejection {
	t.inputs = make([]inputRecord, len(set.Inputs))
	failures := make(map[int]*plan.Rejection)
	for _, o := range outputs {
		for i, number := range o.Inputs {
			in, first := o.record.Inputs[i], set.Inputs[number].First
			t.inputs[number] = in
			for i := range in.Failures {
				failures[first+in.Failures[i].Class] = &in.Failures[i].Rejection
			}
			t.note(in.Unknown)
		}
	}
	return failures
}

// note takes the classes that the type checker did not find.
func (t *totals) note(unknown []string) { t.unknown = append(t.unknown, unknown...) }

// isBuiltIn reports whether the input of that number is the built-in runtime.
func (t *totals) isBuiltIn(input int) bool { return input > 0 && input == t.builtIn }

// decided is what results are made from: a draft, a plan, or a slice.
type decided interface {
	Changes(class int) bool
	ClassName(class int) string
	// Counts returns how many methods with code a class has, and how many of them are traced.
	Counts(class int) (withCode, traced int)
}

// countsOf returns a result with what is counted, for classes at these places.
func countsOf(by decided, at []*input.Class, inputs []Input, merge string, t *totals) *Result {
	result := &Result{Unknown: slices.Compact(slices.Sorted(slices.Values(t.unknown)))}
	result.Inputs = make([]buildreport.Input, len(inputs))
	result.Skipped = func(func(buildreport.Skipped) bool) {}
	for i, in := range inputs {
		result.Inputs[i] = buildreport.Input{Path: in.Path, Output: cmp.Or(merge, in.Output)}
	}
	packages := make(map[string]*buildreport.Package)
	packageOf := func(class string) *buildreport.Package {
		name := class[:max(0, strings.LastIndexByte(class, '/'))]
		if packages[name] == nil {
			packages[name] = &buildreport.Package{Package: name}
		}
		return packages[name]
	}
	first := make([]int, len(inputs)) // class of each input
	for n, c := range at {
		in := &result.Inputs[c.Container.Input]
		if in.Classes == 0 {
			first[c.Container.Input] = n
		}
		withCode, traced := by.Counts(n)
		in.Classes++
		in.Methods += withCode
		in.Traced += traced
		in.ClassBytes += c.Size
		if !by.Changes(n) {
			continue
		}
		in.Rewritten++
		if !t.isBuiltIn(c.Container.Input) {
			packageOf(by.ClassName(n))
		}
	}
	for i, written := range t.inputs {
		in := &result.Inputs[i]
		in.ClassBytes, in.OutputBytes, in.Calls = written.ClassBytes, written.OutputBytes, written.Calls
		if t.isBuiltIn(i) {
			continue
		}
		for _, c := range written.Classes {
			p := packageOf(by.ClassName(first[i] + c.Class))
			p.Calls += c.Calls
			p.Bytes += c.Grown
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		result.Packages = append(result.Packages, *packages[name])
	}
	if n := t.builtIn; n > 0 {
		result.BuiltIn, result.Inputs = &result.Inputs[n], result.Inputs[:n:n]
	}
	return result
}

// resultOf returns the result of deciding, and of writing if the totals are not empty. It lacks the mapping, lines and
// warnings.
func resultOf(d *plan.Draft, inputs []Input, merge string, t *totals) *Result {
	at := make([]*input.Class, d.Len())
	for n := range at {
		at[n] = d.Facts(n).At
	}
	result := countsOf(d, at, inputs, merge, t)
	result.Introduced, result.PreExisting, result.Unchecked = d.Introduced, d.PreExisting, d.Unchecked
	for n := range d.Len() {
		if t.isBuiltIn(at[n].Container.Input) {
			continue
		}
		of := &result.Own
		if d.Facts(n).Library {
			of = &result.Libraries
		}
		withCode, traced := d.Counts(n)
		of.WithCode += withCode
		of.Traced += traced
	}
	for _, e := range d.LeftOut {
		result.LeftOut = append(result.LeftOut, buildreport.LeftOut(e))
	}
	result.Skipped = func(yield func(buildreport.Skipped) bool) { eachSkipped(d, inputs, t, yield) }
	return result
}

// eachSkipped is [Result].Skipped. There may be as many as there are methods, so that no list is made of them.
func eachSkipped(d *plan.Draft, inputs []Input, t *totals, yield func(buildreport.Skipped) bool) {
	for n := range d.Len() {
		c := d.Facts(n)
		if t.isBuiltIn(c.At.Container.Input) {
			continue
		}
		skipped := func(m mapping.Identity, by filter.Decision) buildreport.Skipped {
			return buildreport.Skipped{
				Input: inputs[c.At.Container.Input].Path, Entry: d.Path(n),
				Class: m.Class, Name: m.Name, Descriptor: m.Descriptor, Reason: by.Reason, Detail: by.Detail,
			}
		}
		whole := d.WholeDecision(n)
		if whole.Reason != "" && len(c.Methods) == 0 && !yield(skipped(mapping.Identity{Class: d.ClassName(n)},
			whole)) {
			return
		}
		for i := range c.Methods {
			by := d.Decision(n, i)
			if by.Traced() {
				continue
			}
			s := skipped(d.Identity(n, i), by)
			if residual := d.Residual(n, i); residual != "" {
				s.Detail = strings.TrimPrefix(s.Detail+"; in the input it is "+residual, "; ")
			}
			if !yield(s) {
				return
			}
		}
	}
}

// linesOf returns the first lines of traced methods. A class that is there twice, as under META-INF/versions, has one
// ID and, as far as the list goes, the source that sorts first.
func linesOf(p *plan.Plan) []mapping.SourceLine {
	var lines []mapping.SourceLine
	for n := range p.Len() {
		c, ids := p.Facts(n), p.IDs(n)
		for i := range c.Methods {
			if by := p.Decision(n, i); !by.Traced() {
				continue
			}
			id := ids[0]
			ids = ids[1:]
			if m := &c.Methods[i]; c.SourceFile != "" || m.Line != 0 {
				lines = append(lines, mapping.SourceLine{ID: id, Source: c.SourceFile, First: int(m.Line)})
			}
		}
	}
	slices.SortFunc(lines, func(a, b mapping.SourceLine) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Source, b.Source), cmp.Compare(a.First, b.First))
	})
	return slices.CompactFunc(lines, func(a, b mapping.SourceLine) bool { return a.ID == b.ID })
}

// finish writes the files beside the outputs, and makes everything appear, unless an input was changed meanwhile.
func finish(ctx context.Context, r *rounds, files func(*Result) ([]File, error), result *Result) (*Result, error) {
	stage := r.stage
	for _, d := range stage.Directories() {
		others, err := d.Check()
		if err != nil {
			return nil, err
		}
		if others > 0 {
			result.Warnings = append(result.Warnings,
				fmt.Sprintf("%s: holds %d files that this run does not write, and keeps them; classes of an earlier "+
					"run call with the IDs of its mapping", d.Target, others))
		}
	}
	if files != nil {
		list, err := files(result)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			if err := writeFile(stage, f.Path, f.Content); err != nil {
				return nil, err
			}
		}
	}
	if err := cmp.Or(ctx.Err(), r.set.CheckUnchanged()); err != nil {
		return nil, err
	}
	stage.Warn = func(text string) { result.Warnings = append(result.Warnings, text) }
	if err := stage.Commit(); err != nil {
		return nil, err
	}
	r.results.finish(r.outputs)
	return result, nil
}

// writeFile writes a file beside the outputs to the stage.
func writeFile(stage *output.Stage, path string, content io.WriterTo) error {
	out, err := stage.Create(path)
	if err != nil {
		return err
	}
	if _, err := content.WriteTo(out); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// pathsOf returns the paths of inputs, and those of all outputs.
func pathsOf(list []Input, merge string) (inputs, outputs []string) {
	for _, in := range list {
		inputs = append(inputs, in.Path)
		if merge == "" {
			outputs = append(outputs, in.Output)
		}
	}
	if merge != "" {
		outputs = []string{merge}
	}
	return inputs, outputs
}
