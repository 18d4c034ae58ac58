package r8

import (
	"cmp"
	"slices"
	"strings"
)

// frame is one original stack frame.
type frame struct {
	class  string // with dots and in UTF-8, as in stack traces
	method string // its name
	source string // the source file in the mapping, or ""
	line   int    // the original line, 0 if it is not known
}

// context is what the previous line of a stack trace contributes to retracing the next one.
type context struct {
	thrown  string // the residual class of the exception, if the previous line was its header
	outline int32  // the line in the outline that the previous line was a frame of; 0 if it was none
}

// stack is one alternative for the original frames of a residual frame.
type stack struct {
	frames []frame
	// next is the context of the next line.
	next context
}

// maxAlternatives limits the alternatives for one frame. A mapping may give two billion original lines to one
// residual line.
const maxAlternatives = 64

// frames returns the original frames of a residual frame: a class with dots, a method and a line, 0 if the line is
// unknown. There may be several alternatives; each is a stack of inlined frames, the innermost first, and is empty if
// the compiler made the method. ambiguous reports that there were several alternatives, even if they are equal.
//
// It does what R8's retrace does, so that the same mapping results in the same frames:
//
//  1. The mapping's lines about the residual name are divided into original methods (partition): overloads with
//     different descriptors share a residual name, and a stack trace does not contain descriptors.
//  2. Each method is narrowed to its lines that cover the residual line (narrowing). If no method has one, weaker
//     matches are used.
//  3. What remains of each method is divided into runs of lines with the same range. Each run is one stack of inlined
//     frames, and one alternative. If several original lines may belong to the residual line, each of them is an
//     alternative.
//
// The time is linear in the number of lines about the residual name and the number of alternatives, which
// maxAlternatives limits.
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
	if len(n.matches) == 0 {
		return []stack{{frames: []frame{m.unlisted(c, method, at)}}}, false
	}
	ambiguous = n.ambiguous()
	for _, f := range n.matches {
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

// partition divides the lines with one residual name where the original method changes. The original method of a run
// of lines with the same range is the method of the last line; the others are inlined into it.
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

// lineMatch is what narrowing leaves of a method.
type lineMatch struct {
	method []line // all lines about it
	lines  []line // the lines that match
}

// narrowing finds the lines of some methods that match a residual line.
type narrowing struct {
	methods [][]line
	at      int32 // the residual line, 0 if it is unknown
	matches []lineMatch
}

// narrow sets matches. If the residual line is known, a method matches by its first run of lines that covers it; if
// no method does, by all its lines without a range. If the line is unknown, a method matches by the run that covers
// line 0 or else by its first line without a range; if no method does, all methods match, without original lines.
//
// An outline is code that R8 moved from several methods into one of its own. If the previous frame was in an
// outline, the line of this frame says nothing. The mapping then translates the line within the outline
// (outlineCallsite) to a line of the method that called it, and narrowing starts again with that line.
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
		for _, f := range n.matches {
			if i := f.lines[len(f.lines)-1].info; i != nil && i.callsite != nil {
				n.at = ctx.outline
				if to, ok := i.callsite[ctx.outline]; ok {
					n.at = to
				}
				n.matches = nil
				n.narrow(context{})
				return
			}
		}
	}
	if n.at > 0 {
		if len(n.matches) == 0 {
			n.each(func(method []line) []line { return unranged(method, len(method)) })
		}
		return
	}
	if len(n.matches) == 0 {
		// Nothing matches: the frame may be in any of the methods, at an unknown line.
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
			n.matches = append(n.matches, lineMatch{method, lines})
		}
	}
}

// covering returns the first run of lines whose range contains at.
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

// unranged returns up to n lines that have no range.
func unranged(method []line, n int) []line {
	var lines []line
	for _, l := range method {
		if !l.ranged() && len(lines) < n {
			lines = append(lines, l)
		}
	}
	return lines
}

// ambiguous reports whether more than one stack was found.
func (n *narrowing) ambiguous() bool {
	if len(n.matches) > 1 {
		return true
	}
	lines := n.matches[0].lines
	for i := range lines {
		if lines[i].spread() || i > 0 && !lines[0].sameRange(&lines[i]) {
			return true
		}
	}
	return false
}

// spread reports whether one residual line stands for several original lines.
func (l *line) spread() bool {
	if l.first < 0 || l.first == l.last {
		return false
	}
	return !l.ranged() || l.to-l.from != l.last-l.first
}

// appendStacks appends the alternatives for one stack of inlined frames, given by lines: several if it is unknown
// which of some original lines it was.
func (m *Mapping) appendStacks(dst []stack, c *class, lines, method []line, at int32, ambiguous bool,
	ctx context) []stack {
	positions := []int32{-1}
	if ambiguous && lines[0].spread() {
		positions = positions[:0]
		for p := lines[0].first; p <= lines[0].last && len(positions) < maxAlternatives; p++ {
			positions = append(positions, p)
		}
	}
	synthesized, outline := compilerMade(method)
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

// original returns the original line of the residual line at, 0 if it is unknown. position is the original line if
// the caller has already chosen it, else -1.
func (l *line) original(at, position int32, ambiguous bool) int32 {
	if position < 0 && l.first == l.last {
		position = l.first // -1 if there are no original lines
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

// compilerMade reports whether a compiler made a method, and whether it is an outline.
func compilerMade(method []line) (synthesized, outline bool) {
	self := method[len(method)-1].signature
	for i := range method {
		if l := &method[i]; l.info != nil && l.signature == self {
			synthesized = synthesized || l.synthesized()
			outline = outline || l.info.outline
		}
	}
	return synthesized, outline
}

// removed returns the number of inner frames that the mapping says to leave out.
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
		return 0 // the mapping is wrong; like R8, remove nothing
	}
	return n
}

// distinct returns the alternatives sorted and without repetitions. Two are the same if their innermost frames are
// equal; unless lines is true, source lines are not compared.
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
