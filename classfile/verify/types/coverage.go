package types

import (
	"cmp"
	"slices"
)

// coverage answers which handlers cover a position of the code.
//
// A method may have thousands of handlers and tens of thousands of instructions, for example one with many returns
// whose calls of the runtime no handler may cover. Comparing each instruction with each handler would be quadratic.
// Many handlers are therefore kept in a tree by where they start. The answer holds up to where a range begins or ends.
type coverage struct {
	bounds  []int   // where ranges begin and end, ascending, each once
	byStart []int32 // indices of handlers, by where they start
	maxEnd  []int   // a tree: node n stands for nodes 2n+1 and 2n+2; the leaves are byStart
	leaves  int     // of the tree, a power of two

	from, to int     // the positions for which the answer holds
	answer   []int32 // indices of handlers, ascending
	seen     int     // the changes of the type state when these handlers saw it; -1 if they did not
}

// empty returns a coverage of no handlers that keeps the memory of c.
func (c *coverage) empty() coverage {
	return coverage{bounds: c.bounds[:0], byStart: c.byStart[:0], maxEnd: c.maxEnd[:0], answer: c.answer[:0]}
}

// build reads the ranges of all handlers.
func (c *coverage) build(handlers []handler) {
	*c = c.empty()
	for i := range handlers {
		h := &handlers[i]
		c.bounds = append(c.bounds, h.start, h.end)
		c.byStart = append(c.byStart, int32(i))
	}
	slices.Sort(c.bounds)
	c.bounds = slices.Compact(c.bounds)
	slices.SortStableFunc(c.byStart, func(a, b int32) int { return cmp.Compare(handlers[a].start, handlers[b].start) })
	for c.leaves = 1; c.leaves < len(handlers); c.leaves *= 2 {
	}
	c.maxEnd = resize(c.maxEnd, 2*c.leaves-1)
	for i, handler := range c.byStart {
		c.maxEnd[c.leaves-1+i] = handlers[handler].end
	}
	for n := c.leaves - 2; n >= 0; n-- {
		c.maxEnd[n] = max(c.maxEnd[2*n+1], c.maxEnd[2*n+2])
	}
}

// scan looks for the answer among few handlers, which most methods have: that is faster than to make a tree.
func (c *coverage) scan(handlers []handler, pc, end int) {
	c.from, c.to = 0, end
	for i := range handlers {
		h := &handlers[i]
		for _, bound := range [2]int{h.start, h.end} {
			if bound <= pc {
				c.from = max(c.from, bound)
			} else {
				c.to = min(c.to, bound)
			}
		}
		if h.covers(pc) {
			c.answer = append(c.answer, int32(i))
		}
	}
}

// search looks for the answer in the tree.
func (c *coverage) search(handlers []handler, pc, end int) {
	if len(c.byStart) == 0 {
		c.build(handlers)
	}
	next, isBound := slices.BinarySearch(c.bounds, pc)
	if isBound {
		next++
	}
	c.from, c.to = 0, end
	if next > 0 {
		c.from = c.bounds[next-1]
	}
	if next < len(c.bounds) {
		c.to = c.bounds[next]
	}
	c.collect(handlers, 0, 0, c.leaves, pc)
	slices.Sort(c.answer)
}

// collect adds the handlers below a node of the tree that cover pc to the answer. The node stands for size leaves from
// first on.
func (c *coverage) collect(handlers []handler, node, first, size, pc int) {
	switch {
	case first >= len(c.byStart) || c.maxEnd[node] <= pc || handlers[c.byStart[first]].start > pc:
	case size == 1:
		c.answer = append(c.answer, c.byStart[first])
	default:
		c.collect(handlers, 2*node+1, first, size/2, pc)
		c.collect(handlers, 2*node+2, first+size/2, size/2, pc)
	}
}

// covering returns the indices of the handlers that cover a position, in the order of the exception table, which
// matters to what is reported first. Handlers that were disabled since readHandlers may be among them. The next call
// uses the memory of the result.
func (m *method) covering(pc int) []int32 {
	c := &m.coverage
	if pc >= c.from && pc < c.to {
		m.spend(len(c.answer) / wordsPerStep)
		return c.answer
	}
	c.answer, c.seen = c.answer[:0], -1
	if end := len(m.starts) + 1; len(m.handlers) < wordsPerStep {
		c.scan(m.handlers, pc, end)
	} else {
		c.search(m.handlers, pc, end)
	}
	m.spend(1 + len(c.answer))
	return c.answer
}
