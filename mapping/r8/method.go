package r8

import (
	"slices"
)

// Method identifies a method, as package mapping's Identity, which it converts
// to: Class, Name and Descriptor are raw modified UTF-8 in internal form.
type Method struct {
	Class, Name, Descriptor string
}

// certainty says how sure an answer is.
type certainty uint8

const (
	// unlisted: the mapping has no line on the method. R8 writes none for a
	// method that kept name and lines. The answer is the method with its
	// classes translated.
	unlisted certainty = iota
	// exact: the mapping names one method.
	exact
	// merged: the mapping names several, whose code is all in this method.
	merged
	// guess: the class has lines on that name, but not with that descriptor.
	// The answers have the name right; the compiler may have changed the
	// parameters without saying so, or this method may be unlisted.
	guess
)

// answer is what a mapping says of one method.
type answer struct {
	certainty certainty // how sure it is
	// methods is never empty; in the file's order. It has one method if certainty is
	// unlisted or exact.
	methods []Method
	// synthesized: the compiler made the method, it was not in the program, and
	// methods only describes it. Never set if certainty is unlisted.
	synthesized bool
}

// originals gives the original of a residual method. If methods were inlined
// into it, the answer is still the method itself.
func (m *Mapping) originals(residual Method) answer {
	c := m.find(fileName(residual.Class))
	kept := Method{Class: residual.Class, Name: residual.Name, Descriptor: m.originalDescriptor(residual.Descriptor)}
	if c == nil {
		return answer{methods: []Method{kept}}
	}
	kept.Class = rawName(c.original)
	want := fileName(residual.Descriptor)
	var listed, byName originalSet
	for _, g := range groups(c.named(fileName(residual.Name))) {
		byName.add(c, g)
		if m.residualDescriptor(g) == want {
			listed.add(c, g)
		}
	}
	switch {
	case len(listed.methods) == 1:
		return answer{exact, listed.methods, listed.synthesized}
	case len(listed.methods) > 1:
		return answer{merged, listed.methods, listed.synthesized}
	case len(byName.methods) > 0:
		return answer{guess, byName.methods, byName.synthesized}
	}
	return answer{methods: []Method{kept}}
}

// originalSet collects distinct original methods.
type originalSet struct {
	methods     []Method
	synthesized bool // all of them are
}

func (o *originalSet) add(c *class, g group) {
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
