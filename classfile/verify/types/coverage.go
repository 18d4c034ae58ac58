package types

// coverage answers which handlers cover a position of the code. The answer holds up to where a range begins or ends, so
// that not each instruction is compared with each handler: a method may have thousands of handlers and tens of
// thousands of instructions, for example one with many returns whose calls of the runtime no handler may cover.
type coverage struct {
	from, to int     // the positions for which the answer holds
	answer   []int32 // indices of handlers, ascending
	seen     int     // the changes of the type state when these handlers saw it; -1 if they did not
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
	m.spend(1 + len(m.handlers)/wordsPerStep)
	*c = coverage{from: 0, to: len(m.starts) + 1, answer: c.answer[:0], seen: -1}
	for i := range m.handlers {
		h := &m.handlers[i]
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
	m.spend(len(c.answer))
	return c.answer
}
