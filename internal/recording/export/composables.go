package export

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/composition"
	"github.com/tracegen/tracegen/trace"
)

// maxExecutions is how many executions of composables of a recording are shown at most.
const maxExecutions = 200_000

// executions are those of composables, by thread, in the order of their ends.
type executions struct {
	of map[uint32][]trace.Composition
	// kept is how many these are, left how many were lost or have no room.
	kept int
	left uint64
}

func (x *executions) add(c *trace.Compositions) {
	n := min(len(c.List), maxExecutions-x.kept)
	if n > 0 {
		if x.of == nil {
			x.of = map[uint32][]trace.Composition{}
		}
		x.of[c.Thread] = append(x.of[c.Thread], c.List[:n]...)
	}
	x.kept, x.left = x.kept+n, x.left+uint64(len(c.List)-n)+c.Lost
}

// composables lays out the executions of composables: those of a thread are in one lane, each in the one around it.
func (r *recording) composables() (list []*lane) {
	for index, all := range r.executions.of {
		l := &lane{name: clean(r.Thread(index).Label) + ": composables", thread: index}
		for i := range slices.Backward(all) { // what is around others ends behind them
			e := &all[i]
			l.slices = append(l.slices, laneSlice{begin: r.since(e.Begin), end: r.since(e.Begin + e.Nanos), executed: e})
		}
		slices.SortStableFunc(l.slices, func(a, b laneSlice) int {
			return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end))
		})
		var ends []int64 // of those that are open
		for i := range l.slices {
			s := &l.slices[i]
			for len(ends) > 0 && ends[len(ends)-1] <= s.begin {
				ends = ends[:len(ends)-1]
			}
			if s.depth = len(ends); s.depth > 0 {
				s.end = min(s.end, ends[s.depth-1])
			}
			ends = append(ends, s.end)
		}
		list = append(list, l)
	}
	r.notComposed = r.executions.left
	slices.SortFunc(list, func(a, b *lane) int { return cmp.Compare(a.thread, b.thread) })
	return list
}

// composable returns the number of a composable by the text of Compose's compiler.
func (f *methods) composable(text string) int32 {
	id := identity{method: text, descriptor: "composable"}
	k, ok := f.index[id]
	if !ok {
		c := composition.Of(text)
		k = int32(len(f.list))
		f.index[id] = k
		pkg := packageOf(c.String())
		name := trace.Name{Class: pkg, Method: strings.TrimPrefix(c.String(), pkg+"."), File: c.File, Line: c.Line}
		f.list = append(f.list, method{Name: name, label: f.label(trace.Name{Method: text}, c.String())})
	}
	return k
}

// packageOf returns the package of a composable, which the page shows behind its name: what is before the first part
// that is capitalized, or before the last part if none is, those in angle brackets left out.
func packageOf(name string) string {
	text, _, _ := strings.Cut(name, ".<")
	parts := strings.Split(text, ".")
	n := slices.IndexFunc(parts, func(part string) bool { return part != "" && part[0] >= 'A' && part[0] <= 'Z' })
	if n < 0 {
		n = len(parts) - 1
	}
	return strings.Join(parts[:n], ".")
}

// executionFacts say what the dirty bits of an execution do.
func executionFacts(e *trace.Composition) (all []fact) {
	c := composition.Of(e.Composable)
	c.Add(e)
	if c.Again > 0 {
		all = append(all, fact{"recomposed", true})
	}
	if c.Itself > 0 {
		all = append(all, fact{"began", "with it: a state that it reads changed"})
	}
	var changed []string
	for i, n := range c.Changed {
		if n > 0 {
			changed = append(changed, "parameter "+strconv.Itoa(i+1))
		}
	}
	if len(changed) > 0 {
		all = append(all, fact{"changed", strings.Join(changed, ", ")})
	}
	return all
}
