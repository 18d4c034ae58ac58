package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/mapping"
)

// mostNear is how many names [Near] returns at most.
const mostNear = 3

// Near returns names that may be meant by a text that names nothing, in the same form: CLASS or CLASS#METHOD with dots.
// The names of classes have no method. If there is the class, the names are of its methods. A word without dots may be
// part of the name of any class or method.
func Near(text string, names []mapping.Identity) []string {
	if strings.ContainsAny(text, "*?") {
		return nil
	}
	text = strings.NewReplacer("/", ".", " ", "%20", ",", "%2C").Replace(text)
	class, method, ofMethod := strings.Cut(text, "#")
	method, _, _ = strings.Cut(method, "(")
	known := func(class string) bool {
		return slices.ContainsFunc(names, func(n mapping.Identity) bool { return mapping.Text(n.Class) == class })
	}
	if i := strings.LastIndexByte(class, '.'); !ofMethod && i > 0 && !known(class) && known(class[:i]) {
		class, method, ofMethod = class[:i], class[i+1:], true
	}
	there := known(class)
	distances := map[string]int{}
	consider := func(name, wanted, candidate string) {
		if d := distance(wanted, candidate); d >= 0 {
			distances[name] = d
		}
	}
	for _, n := range names {
		name := mapping.Text(n.Class)
		switch isMethod := n.Name != ""; {
		case there && (!ofMethod || name != class || !isMethod):
		case there:
			consider(name+"#"+mapping.Text(n.Name)+mapping.Text(n.Descriptor), method, mapping.Text(n.Name))
		case !isMethod && simpleName(name) == simpleName(class) && name != class:
			distances[name] = 0 // in another package
		case !isMethod && strings.Contains(class, "."):
			consider(name, class, name)
		case !isMethod:
			consider(name, class, simpleName(name))
		case !ofMethod && !strings.Contains(class, "."):
			consider(name+"#"+mapping.Text(n.Name), class, mapping.Text(n.Name))
		}
	}
	list := slices.Collect(maps.Keys(distances))
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), strings.Compare(a, b))
	})
	return list[:min(len(list), mostNear)]
}

// leastPart is how many characters of a name stand for it.
const leastPart = 3

// distance returns how far a name is from what was typed: the less, the nearer; -1 if it is another name. Letters of
// the other case are near, then a name that begins with what was typed, or has it: compilers add to names.
func distance(typed, name string) int {
	limit := max(3, len(simpleName(typed))/3)
	lower, typedLower := strings.ToLower(name), strings.ToLower(typed)
	switch d := filter.Distance(typed, name, limit); {
	case lower == typedLower:
		return 0
	case d < limit:
		return d
	case len(typed) < leastPart:
	case strings.HasPrefix(lower, typedLower):
		return limit
	case strings.Contains(lower, typedLower):
		return limit + 1
	}
	return -1
}

// simpleName returns the part of a class name behind its package.
func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }
