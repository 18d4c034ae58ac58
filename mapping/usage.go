package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// IDUsage says what takes up the IDs of a build.
type IDUsage struct {
	Methods  int            // methods that are traced
	Retired  int            // IDs of methods that are gone
	Packages []PackageCount // packages with the most methods, the biggest first; at most ten
	Rules    []RuleCount    // rules that would free the most IDs, the best first; at most five
}

// PackageCount is the number of methods of one package.
type PackageCount struct {
	Package string // text form, "" for the unnamed package
	Methods int
}

// RuleCount is a possible rule and the number of methods that it would block.
type RuleCount struct {
	Pattern string // a pattern of package filter
	Methods int
}

// NearlyFull is the number of used IDs from which on users should be warned: nine tenths of all.
const NearlyFull = Capacity / 10 * 9

// FullError reports that there are more methods than IDs.
type FullError struct{ IDUsage }

// Error returns the numbers, the biggest packages and the rules that would help.
func (e *FullError) Error() string {
	return fmt.Sprintf("method IDs run out: %v; nothing was written", &e.IDUsage)
}

// String returns all of it in one line, with what a user can do.
func (d *IDUsage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d methods and %d retired IDs make %d, %d IDs exist; biggest packages:",
		d.Methods, d.Retired, d.Methods+d.Retired, Capacity)
	separator := " "
	for _, p := range d.Packages {
		fmt.Fprintf(&b, "%s%s (%d)", separator, cmp.Or(p.Package, "the unnamed package"), p.Methods)
		separator = ", "
	}
	separator = "; rules that would free the most: "
	for _, r := range d.Rules {
		fmt.Fprintf(&b, "%s\"- block: %s\" (%d)", separator, r.Pattern, r.Methods)
		separator = ", "
	}
	if d.Retired > 0 {
		b.WriteString("; to free retired IDs, use --prune, or start without a base mapping")
	}
	return b.String()
}

// IDUsage returns what takes up the IDs of the mapping.
func (m *Mapping) IDUsage() IDUsage {
	return idUsage(m.perClass(), m.living, m.size()-m.living)
}

// perClass yields the classes of living methods in text form, each with a number of methods. A class may be yielded
// more than once; the numbers then add up.
func (m *Mapping) perClass() iter.Seq2[string, int] {
	if m.table != nil {
		return m.table.perClass()
	}
	return func(yield func(string, int) bool) {
		for i := range m.records[:m.living] {
			if class, _, _ := split(m.records[i].key); !yield(class, 1) {
				return
			}
		}
	}
}

// idUsage computes the usage from the numbers of methods of classes, which may be in any order.
func idUsage(classes iter.Seq2[string, int], methods, retired int) IDUsage {
	packages := make(map[string]int)
	words := make(map[string]int)
	for class, n := range classes {
		dot := strings.LastIndexByte(class, '.')
		packages[class[:max(dot, 0)]] += n
		if w := lastWord(class[dot+1:]); w != "" {
			words[w] += n
		}
	}
	d := IDUsage{Methods: methods, Retired: retired}
	for p, n := range packages {
		d.Packages = append(d.Packages, PackageCount{p, n})
	}
	slices.SortFunc(d.Packages, func(a, b PackageCount) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), strings.Compare(a.Package, b.Package))
	})
	d.Packages = d.Packages[:min(len(d.Packages), 10)]

	d.Rules = packageRules(packages, methods/2)
	for w, n := range words {
		d.Rules = append(d.Rules, RuleCount{"**.*" + w, n})
	}
	d.Rules = slices.DeleteFunc(d.Rules, func(r RuleCount) bool {
		// Such a pattern would mean something else to package filter, or is escaped in the text form.
		return strings.ContainsAny(r.Pattern, "%?;[]()<>#")
	})
	slices.SortFunc(d.Rules, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), strings.Compare(a.Pattern, b.Pattern))
	})
	d.Rules = d.Rules[:min(len(d.Rules), 5)]
	return d
}

// packageRules returns rules that together block all packages without overlap: the widest ones that block at most
// most methods each, because "com.**" would free many IDs and be useless. Each pattern is written for the innermost
// package that contains all of its classes. It walks down the tree of packages from the root and stops at each
// package that is small enough.
func packageRules(packages map[string]int, most int) []RuleCount {
	below := map[string]int{}       // methods of a package and all below it
	inside := map[string][]string{} // packages directly below
	for _, p := range slices.Sorted(maps.Keys(packages)) {
		for at := p; ; {
			if _, met := below[at]; !met && at != "" {
				outer := at[:max(strings.LastIndexByte(at, '.'), 0)]
				inside[outer] = append(inside[outer], at)
			}
			below[at] += packages[p]
			if at == "" {
				break
			}
			at = at[:max(strings.LastIndexByte(at, '.'), 0)]
		}
	}
	var rules []RuleCount
	open := []string{""}
	for len(open) > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		alone := packages[p] == 0 && len(inside[p]) == 1
		switch {
		case p != "" && !alone && (below[p] <= most || len(inside[p]) == 0):
			rules = append(rules, RuleCount{p + ".**", below[p]})
			continue
		case p != "" && packages[p] > 0:
			rules = append(rules, RuleCount{p + ".*", packages[p]})
		}
		open = append(open, inside[p]...)
	}
	return rules
}

// lastWord returns the word that the names of generated classes end in: "_Factory" of Feed_Factory, "Binding" of
// FeedBinding; "" if the name is a single word. For a nested class it looks at the outermost class, because a class
// pattern matches nested classes, too.
func lastWord(simple string) string {
	simple, _, _ = strings.Cut(simple, "$")
	at := strings.LastIndexByte(simple, '_')
	if at <= 0 {
		at = strings.LastIndexAny(simple, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	if at <= 0 || len(simple)-at < 4 {
		return ""
	}
	return simple[at:]
}
