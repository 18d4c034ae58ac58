package r8

import (
	"slices"
)

// Method identifies a method. Class, Name and Descriptor are modified UTF-8 in internal form. A Method can be
// converted to package mapping's Identity.
type Method struct {
	Class, Name, Descriptor string
}

// certainty says how reliable an answer is.
type certainty uint8

const (
	// unlisted: the mapping has no line about the method. R8 writes none for a method that kept its name and lines.
	// The answer is the method with its classes translated.
	unlisted certainty = iota
	// exact: the mapping has exactly one original.
	exact
	// merged: the mapping has several originals, whose code is all in this method.
	merged
	// guess: the class has lines with that residual name, but none with that descriptor. The answers have the right
	// name; the compiler may have changed the parameters without writing it down, or the method may be unlisted.
	guess
)

// answer contains the originals of one method.
type answer struct {
	certainty certainty
	// methods is never empty. It is in the file's order, and has one method if certainty is unlisted or exact.
	methods []Method
}

// originals returns the originals of a residual method. If other methods were inlined into it, the answer is still
// the method itself. It takes time linear in the number of lines with that residual name in the class.
func (m *Mapping) originals(residual Method) answer {
	c := m.find(fileName(residual.Class))
	kept := Method{Class: residual.Class, Name: residual.Name, Descriptor: m.originalDescriptor(residual.Descriptor)}
	if c == nil {
		return answer{methods: []Method{kept}}
	}
	kept.Class = rawName(c.original)
	want := fileName(residual.Descriptor)
	var listed, byName []Method
	for _, g := range groups(c.named(fileName(residual.Name))) {
		byName = appendOriginal(byName, c, g.line)
		if m.residualDescriptor(g) == want {
			listed = appendOriginal(listed, c, g.line)
		}
	}
	switch {
	case len(listed) == 1:
		return answer{exact, listed}
	case len(listed) > 1:
		return answer{merged, listed}
	case len(byName) > 0:
		return answer{guess, byName}
	}
	return answer{methods: []Method{kept}}
}

// appendOriginal appends the original method that a line is about, unless the list has it.
func appendOriginal(list []Method, c *class, l *line) []Method {
	method := Method{
		Class:      rawName(l.class(c)),
		Name:       rawName(l.method()),
		Descriptor: rawName(descriptor(l.returns(), l.arguments(), same)),
	}
	if slices.Contains(list, method) {
		return list
	}
	return append(list, method)
}

// group is a residual method as the lines about it describe it.
type group struct {
	line     *line  // the first line that is about the method itself and not an inlined one
	residual string // the residual descriptor, with dots; "" if no line has it
}

// groups returns the methods that lines with one residual name are about, without inlined methods. Lines with the
// same original signature are about the same method, unless their comments have different residual descriptors: then
// the original became several methods.
func groups(lines []line) []group {
	var all []group
	bySignature := map[string]int{}
	for i := range lines {
		l := &lines[i]
		// If the next line has the same range, it is the caller into which this method was inlined. This holds only if
		// its original lines are a single number; else it is an unrelated method that has the same range.
		if i+1 < len(lines) && l.sameRange(&lines[i+1]) && lines[i+1].number {
			continue
		}
		signature := ""
		if l.info != nil {
			signature = l.info.residual
		}
		at, ok := bySignature[l.signature]
		if !ok || signature != "" && all[at].residual != "" && signature != all[at].residual {
			at = len(all)
			bySignature[l.signature] = at
			all = append(all, group{line: l})
		}
		if signature != "" {
			all[at].residual = signature
		}
	}
	return all
}

// residualDescriptor returns the residual descriptor of g, with dots.
func (m *Mapping) residualDescriptor(g group) string {
	if g.residual != "" {
		return g.residual
	}
	return descriptor(g.line.returns(), g.line.arguments(), m.residual)
}
