package pipeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/mapping"
)

// near is how many names [Near] returns at most.
const near = 3

// Near returns names that may be meant by a text that names nothing: CLASS or CLASS#METHOD, in the same form, with
// dots. If there is the class, they are of its methods.
func Near(text string, names []mapping.Identity) []string {
	text = strings.ReplaceAll(text, "/", ".")
	class, method, ofMethod := strings.Cut(text, "#")
	method, _, _ = strings.Cut(method, "(")
	there := slices.ContainsFunc(names, func(n mapping.Identity) bool { return mapping.Text(n.Class) == class })
	distances := map[string]int{}
	consider := func(name, wanted, candidate string) {
		limit := max(3, len(wanted)/3)
		if strings.EqualFold(candidate, wanted) {
			distances[name] = 0
		} else if d := filter.Distance(wanted, candidate, limit); d < limit {
			distances[name] = d
		}
	}
	for _, n := range names {
		name := mapping.Text(n.Class)
		switch {
		case there && (!ofMethod || name != class || n.Name == ""):
		case there:
			consider(name+"#"+mapping.Text(n.Name)+mapping.Text(n.Descriptor), method, mapping.Text(n.Name))
		case n.Name == "" && simpleName(name) == simpleName(class) && name != class:
			distances[name] = 0 // in another package
		case n.Name == "" && name != class:
			consider(name, class, name)
		}
	}
	list := slices.Collect(maps.Keys(distances))
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), strings.Compare(a, b))
	})
	return list[:min(len(list), near)]
}

// simpleName returns the part of a class name behind its package.
func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }
