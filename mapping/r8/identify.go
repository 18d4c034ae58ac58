package r8

import (
	"cmp"
	"slices"
)

// Identify gives for each of the residual methods, which must be all that are
// asked about of one class, a name in terms of the program before. No two of
// them get the same:
//
//   - the original of a method that has exactly one;
//   - the first in the file's order of one that stands for several;
//   - the original by name, if the file has one method of that name only but
//     other parameters;
//   - else, and where another method has the name already, the method's own name
//     in the original class, its descriptor translated. If that is taken too, the
//     method keeps its residual class and descriptor.
//
// The answer depends on the set of methods, and not on their order.
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
	// The surer an answer, the earlier it is served.
	order := [...]int{exact: 0, merged: 1, guess: 2, unlisted: 3}
	slices.SortFunc(list, func(a, b candidate) int {
		x, y := methods[a.at], methods[b.at]
		return cmp.Or(cmp.Compare(order[a.sure], order[b.sure]), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Descriptor, y.Descriptor))
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

// translated gives a residual method with its classes translated, and its own
// name.
func (m *Mapping) translated(residual Method) Method {
	class, ok := m.OriginalClass(residual.Class)
	if !ok {
		class = residual.Class
	}
	return Method{class, residual.Name, m.originalDescriptor(residual.Descriptor)}
}
