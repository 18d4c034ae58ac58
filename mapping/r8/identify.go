package r8

import (
	"cmp"
	"slices"
)

// Identify returns an original name for each of the residual methods, which must be all methods of one class that the
// caller names. No two methods get the same name:
//
//   - A method with exactly one original gets that.
//   - A method that several originals were merged into gets the first of them in the file's order.
//   - If the file has a single method of that residual name, but with other parameters, the method gets its original.
//   - Otherwise, and if another method already has the name, the method keeps its own name, in the original class and
//     with a translated descriptor. If that is taken, too, it keeps its residual class and descriptor.
//
// Method IDs are kept by these names over builds, so that each method needs a name of its own, and the same one in
// every build. Therefore methods get their names in order of certainty and then by residual name and descriptor: an
// exact original is never taken by a guess, and the result depends on the set of methods but not on their order.
func (m *Mapping) Identify(methods []Method) []Method {
	type candidate struct {
		at     int
		sure   certainty
		method Method
	}
	list := make([]candidate, len(methods))
	for i, method := range methods {
		a := m.originals(method)
		list[i] = candidate{i, a.certainty, a.methods[0]}
		if a.certainty == guess && len(a.methods) > 1 {
			list[i].sure, list[i].method = unlisted, m.translated(method)
		}
	}
	// The more certain an answer is, the earlier it gets its name.
	order := [...]int{exact: 0, merged: 1, guess: 2, unlisted: 3}
	slices.SortFunc(list, func(a, b candidate) int {
		x, y := methods[a.at], methods[b.at]
		return cmp.Or(cmp.Compare(order[a.sure], order[b.sure]), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Descriptor, y.Descriptor))
	})
	taken := make(map[Method]bool, len(methods))
	names := make([]Method, len(methods))
	for _, c := range list {
		name := c.method
		if taken[name] {
			name = m.translated(methods[c.at])
		}
		if taken[name] {
			name = methods[c.at]
		}
		taken[name], names[c.at] = true, name
	}
	return names
}

// translated returns a residual method with its classes translated and its name unchanged.
func (m *Mapping) translated(residual Method) Method {
	class, ok := m.OriginalClass(residual.Class)
	if !ok {
		class = residual.Class
	}
	return Method{class, residual.Name, m.originalDescriptor(residual.Descriptor)}
}

// Originals returns the original methods whose code a residual method has: several if R8 has merged them, not those
// that were put into it as callees. If the mapping does not say, it is the method with its classes translated.
func (m *Mapping) Originals(residual Method) []Method {
	if a := m.originals(residual); a.certainty == exact || a.certainty == merged {
		return a.methods
	}
	return []Method{m.translated(residual)}
}
