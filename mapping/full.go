package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Demand says what takes the IDs of a build.
type Demand struct {
	Methods  int            // methods that are traced, or to be
	Retired  int            // IDs that methods which are gone keep
	Packages []PackageCount // of the methods, the biggest first; at most ten
	Rules    []RuleCount    // that would free the most, that one first; at most five
}

// PackageCount is the number of methods of one package.
type PackageCount struct {
	Package string // text form, "" for the unnamed package
	Methods int
}

// RuleCount is a rule that could be written, and how many methods it would block.
type RuleCount struct {
	Pattern string // as package filter reads it
	Methods int
}

// Crowded is the number of IDs that, once taken, should be told of: nine tenths.
const Crowded = Capacity / 10 * 9

// FullError says that there are more methods than IDs.
type FullError struct{ Demand }

// Error names the numbers, the biggest packages and the rules that would help.
func (e *FullError) Error() string {
	return fmt.Sprintf("method IDs run out: %v; nothing was written", &e.Demand)
}

// String tells all of it in one line, and what can be done.
func (d *Demand) String() string {
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
		b.WriteString("; retired IDs are freed by --prune, or by beginning anew without a base mapping")
	}
	return b.String()
}

// Demand says what takes the IDs of the mapping.
func (m *Mapping) Demand() Demand {
	return demandOf(m.perClass(), m.living, m.size()-m.living)
}

// perClass gives the classes of the living, in text form and perhaps more than once, each with a number of its methods.
func (m *Mapping) perClass() iter.Seq2[string, int] {
	if m.given != nil {
		return m.given.perClass()
	}
	return func(yield func(string, int) bool) {
		for i := range m.records[:m.living] {
			if class, _, _ := split(m.records[i].key); !yield(class, 1) {
				return
			}
		}
	}
}

// demandOf counts the methods of the classes, in whatever order they are.
func demandOf(classes iter.Seq2[string, int], methods, retired int) Demand {
	packages := make(map[string]int)
	words := make(map[string]int)
	for class, n := range classes {
		dot := strings.LastIndexByte(class, '.')
		packages[class[:max(dot, 0)]] += n
		if w := lastWord(class[dot+1:]); w != "" {
			words[w] += n
		}
	}
	d := Demand{Methods: methods, Retired: retired}
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
		// What filter reads otherwise, or we write otherwise: nothing to show by example.
		return strings.ContainsAny(r.Pattern, "%?;[]()<>#")
	})
	slices.SortFunc(d.Rules, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), strings.Compare(a.Pattern, b.Pattern))
	})
	d.Rules = d.Rules[:min(len(d.Rules), 5)]
	return d
}

// packageRules gives rules that divide the packages among them: the widest that
// block at most most methods, each written for the innermost package that has
// them all. "com.**" would free much and help nobody.
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

// lastWord gives what the names of generated classes end in: "_Factory" of
// Feed_Factory, "Binding" of FeedBinding; "" if the name is but one word. Of a
// nested class it is the outermost that is asked: a rule goes for both.
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
