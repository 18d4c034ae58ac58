package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Assign decides for all parts together what needs the whole, gives every traced method its ID, and writes into the
// directory one slice for each part, with what it decided about that part and nothing else. Of c, all that is about
// IDs, RuntimeExternal and Files are used, besides what the parts were scanned with. The order of parts is of
// no account. In the result, an input is called PART!INPUT, and output sizes are not known.
//
// It fails if parts do not fit together: two of one name, or scanned by other tools or with other options; else as
// [Run] does. Nothing has been written then.
func Assign(ctx context.Context, c Config, parts []*Part, directory string) (*Result, error) {
	parts = slices.SortedFunc(slices.Values(parts), func(a, b *Part) int { return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.path, b.path)) })
	if len(parts) == 0 {
		return nil, errors.New("no scan file: there is nothing to assign IDs to")
	}
	for i, p := range parts[1:] {
		if p.name == parts[i].name {
			return nil, fmt.Errorf("scan files %s and %s are of one name, and so would their slices be; rename one", parts[i].path, p.path)
		}
		if err := checkOrigin(parts[0].path, parts[0].origin, p.path, p.origin); err != nil {
			return nil, err
		}
	}
	c.Inputs = nil
	var starts []int
	for _, p := range parts {
		starts = append(starts, len(c.Inputs))
		for _, in := range p.inputs {
			c.Inputs = append(c.Inputs, Input{Path: p.name + "!" + in.name, Output: filepath.Join(directory, p.name+SliceExtension)})
		}
	}
	r := newRun(c)
	defer r.close()
	for i, p := range parts {
		r.adopt(p, starts[i])
	}
	r.countClasses()
	if err := r.decideWhole(); err != nil {
		return nil, err
	}
	r.sustain(r.foreseen())
	r.warnOfModules()
	if err := r.assign(); err != nil {
		return nil, err
	}
	var files []File
	for i, p := range parts {
		end := len(r.config.Inputs)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		files = append(files, File{filepath.Join(directory, p.name+SliceExtension), r.slice(p.origin, starts[i], end).seal()})
	}
	if err := r.writeFiles(files); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// adopt makes the part's inputs those of the run from number start on. The part stays as it is.
func (r *run) adopt(p *Part, start int) {
	sources := make(map[*source]*source, len(p.sources))
	counts := make(map[*source]int, len(p.sources))
	for _, u := range p.units {
		counts[u.source]++
	}
	for _, s := range p.sources {
		copied := &source{outer: s.outer, input: start + s.input, lone: s.lone, entries: make([]entry, 0, counts[s])}
		copied.name = r.config.Inputs[copied.input].Path
		if s.outer != "" {
			copied.name += "!" + strings.TrimSuffix(s.outer, "!")
		}
		sources[s] = copied
		r.sources = append(r.sources, copied)
	}
	for _, u := range p.units {
		s := sources[u.source]
		s.entries = append(s.entries, *u.entry) // has room: its address stays
		e := &s.entries[len(s.entries)-1]
		copied := *u
		copied.source, copied.entry, copied.methods = s, e, slices.Clone(u.methods)
		e.unit = &copied
		r.units = append(r.units, &copied)
	}
}

// foreseen gives the objections that the referees raised in the scan against what is going to be written. Run finds
// the same ones when it writes: a referee says the same whatever the IDs.
func (r *run) foreseen() map[*unit]*objection {
	against := make(map[*unit]*objection)
	for _, u := range r.units {
		switch {
		case u.focus != 0 && u.focusObjection != nil:
			against[u] = u.focusObjection
		case u.objection != nil && u.instrumented():
			against[u] = u.objection
		}
	}
	return against
}
