package r8

import (
	"slices"
	"strings"
)

// Method identifies a method, as package mapping's Identity, which it converts
// to: Class, Name and Descriptor are raw modified UTF-8 in internal form.
type Method struct {
	Class, Name, Descriptor string
}

// Match says how sure an answer is.
type Match uint8

const (
	// Unlisted: the mapping has no line on the method. R8 writes none for a
	// method that kept name and lines. The answer is the method with its
	// classes translated.
	Unlisted Match = iota
	// Exact: the mapping names one method.
	Exact
	// Merged: the mapping names several, whose code is all in this method; or,
	// towards residual names, several methods that the code went to.
	Merged
	// Guess: the class has lines on that name, but not with that descriptor.
	// The answers have the name right; the compiler may have changed the
	// parameters without saying so, or this method may be unlisted.
	Guess
)

// String gives the name of the match in lower case.
func (m Match) String() string {
	return [...]string{"unlisted", "exact", "merged", "guess"}[m]
}

// Answer is what a mapping says of one method.
type Answer struct {
	Match Match // how sure it is
	// Methods is never empty; in the file's order. It has one method if Match is
	// Unlisted or Exact.
	Methods []Method
	// Synthesized: the compiler made the method, it was not in the program, and
	// Methods only describes it. Never set if Match is Unlisted.
	Synthesized bool
}

// Originals gives the original of a residual method. If methods were inlined
// into it, the answer is still the method itself.
func (m *Mapping) Originals(residual Method) Answer {
	c := m.find(fileName(residual.Class))
	unlisted := Method{Class: residual.Class, Name: residual.Name, Descriptor: m.OriginalDescriptor(residual.Descriptor)}
	if c == nil {
		return Answer{Methods: []Method{unlisted}}
	}
	unlisted.Class = rawName(c.original)
	want := fileName(residual.Descriptor)
	var exact, byName originals
	for _, g := range groups(c.named(fileName(residual.Name))) {
		byName.add(c, g)
		if m.residualDescriptor(g) == want {
			exact.add(c, g)
		}
	}
	switch {
	case len(exact.methods) == 1:
		return Answer{Exact, exact.methods, exact.synthesized}
	case len(exact.methods) > 1:
		return Answer{Merged, exact.methods, exact.synthesized}
	case len(byName.methods) > 0:
		return Answer{Guess, byName.methods, byName.synthesized}
	}
	return Answer{Methods: []Method{unlisted}}
}

// originals collects distinct original methods.
type originals struct {
	methods     []Method
	synthesized bool // all of them are
}

func (o *originals) add(c *class, g group) {
	method := originalOf(c, g.line)
	if slices.Contains(o.methods, method) {
		return
	}
	o.synthesized = g.synthesized && (o.synthesized || len(o.methods) == 0)
	o.methods = append(o.methods, method)
}

// originalOf gives the original method that a line is about.
func originalOf(c *class, l *line) Method {
	return Method{
		Class:      rawName(l.class(c)),
		Name:       rawName(l.method()),
		Descriptor: rawName(descriptor(l.returns(), l.arguments(), same)),
	}
}

// group is a method of the shrunk program, as the lines on it tell.
type group struct {
	line        *line  // the first line that is about the method itself
	residual    string // descriptor with dots, "" if no line says it
	synthesized bool
}

// groups gives the methods that lines of one residual name are about, without
// those that were inlined.
func groups(lines []line) []group {
	var all []group
	bySignature := map[string]int{}
	for i := range lines {
		l := &lines[i]
		// A following line with the same range is the caller, unless it has
		// lines of its own: then the two only look alike.
		if i+1 < len(lines) && l.sameRange(&lines[i+1]) && lines[i+1].number {
			continue
		}
		said := ""
		if l.info != nil {
			said = l.info.residual
		}
		at, ok := bySignature[l.signature]
		if !ok || said != "" && all[at].residual != "" && said != all[at].residual {
			at = len(all)
			bySignature[l.signature] = at
			all = append(all, group{line: l})
		}
		if said != "" {
			all[at].residual = said
		}
		all[at].synthesized = all[at].synthesized || l.synthesized()
	}
	return all
}

// residualDescriptor gives the descriptor, with dots, that g has in the shrunk
// program.
func (m *Mapping) residualDescriptor(g group) string {
	if g.residual != "" {
		return g.residual
	}
	return descriptor(g.line.returns(), g.line.arguments(), m.residual)
}

// reverseEntry is a method of the shrunk program that holds some original.
type reverseEntry struct {
	class int32
	group group
}

// reverseKey is what an original method is found by.
func reverseKey(class, returns, name, arguments string) string {
	return strings.Join([]string{class, returns, name, arguments}, " ")
}

// buildReverse indexes the methods of the shrunk program by their originals. It
// is done when it is first asked for: retracing has no need of it.
func (m *Mapping) buildReverse() map[string][]reverseEntry {
	index := make(map[string][]reverseEntry, len(m.classes))
	for i := range m.classes {
		c := &m.classes[i]
		if m.byResidual[c.residual] != int32(i) {
			continue
		}
		for rest := c.methods; len(rest) > 0; {
			lines := c.named(rest[0].residual)
			rest = rest[len(lines):]
			for _, g := range groups(lines) {
				key := reverseKey(g.line.class(c), g.line.returns(), g.line.method(), g.line.arguments())
				index[key] = append(index[key], reverseEntry{int32(i), g})
			}
		}
	}
	return index
}

// Residuals gives the method that an original one has become. Where it was
// inlined everywhere the answer is Unlisted, as it is for one that is gone: a
// mapping does not list what was removed. The first call makes an index.
func (m *Mapping) Residuals(original Method) Answer {
	class := fileName(original.Class)
	unlisted := Answer{Methods: []Method{{rawName(m.residual(class)), original.Name, m.ResidualDescriptor(original.Descriptor)}}}
	returns, arguments, ok := sourceTypes(fileName(original.Descriptor))
	if !ok || m.reverse == nil {
		return unlisted
	}
	var a Answer
	for _, e := range m.reverse()[reverseKey(class, returns, fileName(original.Name), arguments)] {
		a.Methods = append(a.Methods, Method{
			Class:      rawName(m.classes[e.class].residual),
			Name:       rawName(e.group.line.residual),
			Descriptor: rawName(m.residualDescriptor(e.group)),
		})
		a.Synthesized = e.group.synthesized && (a.Synthesized || len(a.Methods) == 1)
	}
	switch len(a.Methods) {
	case 0:
		return unlisted
	case 1:
		a.Match = Exact
	default:
		a.Match = Merged
	}
	return a
}
