package r8

import (
	"cmp"
	"slices"
	"strings"
)

// frame is one original stack frame.
type frame struct {
	class  string // with dots, in UTF-8, as stack traces have it
	method string // its name
	source string // the source file that the mapping names, or ""
	line   int    // the original line, 0 if it is not known
}

// context is what the line before in a stack trace means for this one.
type context struct {
	thrown  string // residual class of the exception, if the line before told it
	outline int32  // line in the outline that was left out before, 0 if none was
}

// stack is one alternative of what a frame stood for.
type stack struct {
	frames []frame
	// next is the context of the line below.
	next context
}

// maxAlternatives bounds what one frame can become. A mapping may say that a
// method is somewhere in two billion lines.
const maxAlternatives = 64

// frames gives what a residual frame, a class with dots and a method, at a line
// (0 if it is not known), stood for: alternatives, of which there is mostly one,
// each a stack of inlined frames with the innermost first. A stack is empty if
// the compiler made the method. ambiguous tells that more than one was found,
// even if they turn out to be equal.
//
// The steps are those of R8's retrace, so that the same mapping gives the same
// frames: a method is narrowed to the lines that fit, these are divided where
// another method or stack of inlined ones begins.
func (m *Mapping) frames(class, method string, at int32, ctx context) (stacks []stack, ambiguous bool) {
	c := m.find(class)
	if c == nil {
		return []stack{{frames: []frame{{class: class, method: method, line: int(at)}}}}, false
	}
	lines := c.named(method)
	if len(lines) == 0 {
		return []stack{{frames: []frame{m.unlisted(c, method, at)}}}, false
	}
	n := narrowing{at: at, methods: partition(lines)}
	n.narrow(ctx)
	if len(n.found) == 0 {
		return []stack{{frames: []frame{m.unlisted(c, method, at)}}}, false
	}
	ambiguous = n.ambiguous()
	for _, f := range n.found {
		for len(f.lines) > 0 {
			k := 1
			for k < len(f.lines) && f.lines[k-1].sameRange(&f.lines[k]) {
				k++
			}
			stacks = m.appendStacks(stacks, c, f.lines[:k], f.method, n.at, ambiguous, ctx)
			f.lines = f.lines[k:]
		}
	}
	return stacks, ambiguous
}

func (m *Mapping) unlisted(c *class, method string, at int32) frame {
	return frame{class: c.original, method: method, source: m.sources[c.original], line: int(at)}
}

// partition divides the lines of one residual name where the method, which is
// the outermost of inlined ones, changes.
func partition(lines []line) [][]line {
	outermost := func(i int) int {
		for i+1 < len(lines) && lines[i].sameRange(&lines[i+1]) {
			i++
		}
		return i
	}
	last := outermost(0)
	if lines[last].signature == lines[len(lines)-1].signature {
		return [][]line{lines}
	}
	var parts [][]line
	from := 0
	for i := last + 1; i < len(lines); {
		next := outermost(i)
		if lines[next].signature != lines[last].signature {
			parts = append(parts, lines[from:i])
			from = i
		}
		i, last = next+1, next
	}
	return append(parts, lines[from:])
}

// found is what is left of a method when it is narrowed to a line.
type found struct {
	method []line // all lines on it
	lines  []line // those that fit
}

// narrowing looks for the lines on some methods that fit a residual line.
type narrowing struct {
	methods [][]line
	at      int32 // 0 if it is not known
	found   []found
}

// narrow finds what fits. An outline that was left out above has a line of its
// own, which the method that called it translates.
func (n *narrowing) narrow(ctx context) {
	n.each(func(method []line) []line {
		if n.at > 0 {
			return covering(method, n.at)
		}
		if at := covering(method, 0); len(at) > 0 {
			return at
		}
		return unranged(method, 1)
	})
	if ctx.outline > 0 {
		for _, f := range n.found {
			if i := f.lines[len(f.lines)-1].info; i != nil && i.callsite != nil {
				n.at = ctx.outline
				if to, ok := i.callsite[ctx.outline]; ok {
					n.at = to
				}
				n.found = nil
				n.narrow(context{})
				return
			}
		}
	}
	if n.at > 0 {
		if len(n.found) == 0 {
			n.each(func(method []line) []line { return unranged(method, len(method)) })
		}
		return
	}
	if len(n.found) == 0 {
		// All that can be said is which methods it may be.
		n.each(func(method []line) []line {
			if len(method) == 1 && method[0].from == 0 && method[0].to == 65535 {
				return method
			}
			self := method[len(method)-1]
			return []line{{signature: self.signature, residual: self.residual, from: -1, to: -1,
				first: -1, last: -1, name: self.name, qualif: self.qualif, info: self.info}}
		})
	}
}

func (n *narrowing) each(fitting func([]line) []line) {
	for _, method := range n.methods {
		if lines := fitting(method); len(lines) > 0 {
			n.found = append(n.found, found{method, lines})
		}
	}
}

// covering gives the first lines whose range has at.
func covering(method []line, at int32) []line {
	for i := range method {
		if method[i].contains(at) {
			k := i + 1
			for k < len(method) && method[i].sameRange(&method[k]) {
				k++
			}
			return method[i:k]
		}
	}
	return nil
}

// unranged gives up to n lines that have no range.
func unranged(method []line, n int) []line {
	var lines []line
	for _, l := range method {
		if !l.ranged() && len(lines) < n {
			lines = append(lines, l)
		}
	}
	return lines
}

// ambiguous reports whether what was found is more than one stack.
func (n *narrowing) ambiguous() bool {
	if len(n.found) > 1 {
		return true
	}
	lines := n.found[0].lines
	for i := range lines {
		if lines[i].spread() || i > 0 && !lines[0].sameRange(&lines[i]) {
			return true
		}
	}
	return false
}

// spread reports whether several original lines fall on one residual one.
func (l *line) spread() bool {
	if l.first < 0 || l.first == l.last {
		return false
	}
	return !l.ranged() || l.to-l.from != l.last-l.first
}

// appendStacks appends what one stack of inlined frames, lines, stands for:
// several where it is not known which of some original lines it was.
func (m *Mapping) appendStacks(dst []stack, c *class, lines, method []line, at int32, ambiguous bool, ctx context) []stack {
	positions := []int32{-1}
	if ambiguous && lines[0].spread() {
		positions = positions[:0]
		for p := lines[0].first; p <= lines[0].last && len(positions) < maxAlternatives; p++ {
			positions = append(positions, p)
		}
	}
	synthesized, outline := made(method)
	for _, position := range positions {
		frames := make([]frame, len(lines))
		for i := range lines {
			l := &lines[i]
			if i > 0 {
				position = -1
			}
			class := l.class(c)
			frames[i] = frame{class, l.method(), m.sources[class], int(l.original(at, position, ambiguous))}
		}
		if synthesized {
			frames = frames[:len(frames)-1]
		}
		s := stack{frames: frames[min(ctx.removed(lines), len(frames)):]}
		if outline {
			s.next.outline = at
		}
		if len(dst) < maxAlternatives {
			dst = append(dst, s)
		}
	}
	return dst
}

// original gives the original line of a residual one, 0 if it is not known.
// position is the line if that was decided already, else -1.
func (l *line) original(at, position int32, ambiguous bool) int32 {
	if position < 0 && l.first == l.last {
		position = l.first // which may be -1 as well
	}
	switch {
	case position >= 0:
		return position
	case at > 0 && l.contains(at):
		if l.first < 0 {
			return at
		}
		return l.first + (at - l.from)
	case ambiguous:
		return max(at, 0)
	case l.first >= 0:
		return l.first
	case at > 0:
		return at
	}
	return max(l.from, 0)
}

// made reports whether the compiler made a method, and as an outline.
func made(method []line) (synthesized, outline bool) {
	self := method[len(method)-1].signature
	for i := range method {
		if l := &method[i]; l.info != nil && l.signature == self {
			synthesized = synthesized || l.synthesized()
			outline = outline || l.info.outline
		}
	}
	return synthesized, outline
}

// removed gives how many inner frames the mapping says to leave out.
func (ctx context) removed(lines []line) int {
	n := 0
	for i := range lines {
		if lines[i].info == nil {
			continue
		}
		for _, r := range lines[i].info.rewrites {
			if !slices.ContainsFunc(r.thrown, func(class string) bool { return class != ctx.thrown }) {
				n += r.remove
			}
		}
	}
	if n > len(lines) {
		return 0 // the mapping is wrong; R8 shows all then
	}
	return n
}

// distinct sorts alternatives, and leaves out those whose innermost frame is that
// of one before, when lines do not count only by their names.
func distinct(stacks []stack, lines bool) []stack {
	seen := map[frame]bool{}
	kept := stacks[:0:0]
	for _, s := range stacks {
		if len(s.frames) == 0 {
			continue
		}
		key := s.frames[0]
		if !lines {
			key.line = 0
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, func(a, b stack) int {
		x, y := a.frames[0], b.frames[0]
		return cmp.Or(strings.Compare(x.class, y.class), strings.Compare(x.method, y.method),
			strings.Compare(x.source, y.source), cmp.Compare(x.line, y.line))
	})
	return kept
}
