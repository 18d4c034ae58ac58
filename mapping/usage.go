package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// IDUsage says what takes up the IDs of a build.
type IDUsage struct {
	Methods  int            // methods that are traced
	Retired  int            // IDs of methods that are gone
	Packages []PackageCount // packages with the most methods, the biggest first; at most ten
}

// PackageCount is the number of methods of one package.
type PackageCount struct {
	Package string // text form, "" for the unnamed package
	Methods int
}

// NearlyFull is the number of used IDs from which on users should be warned: nine tenths of all.
const NearlyFull = Capacity / 10 * 9

// FullError reports that there are more methods than IDs.
type FullError struct{ IDUsage }

// Error returns the numbers, the biggest packages and what would help.
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
	b.WriteString("; a rule \"- block: PACKAGE.**\" frees those of a package and all below it")
	if d.Retired > 0 {
		b.WriteString("; to free retired IDs, use --prune, or start without a base mapping")
	}
	return b.String()
}

// IDUsage returns what takes up the IDs of the mapping.
func (m *Mapping) IDUsage() IDUsage {
	return idUsage(func(yield func(string) bool) {
		for e := range m.All() {
			if !yield(e.Class) {
				return
			}
		}
	}, m.living, m.size()-m.living)
}

// idUsage computes the usage from the class of each method.
func idUsage(classes iter.Seq[string], methods, retired int) IDUsage {
	packages := make(map[string]int)
	for class := range classes {
		packages[class[:max(strings.LastIndexByte(class, '/'), 0)]]++
	}
	d := IDUsage{Methods: methods, Retired: retired}
	for p, n := range packages {
		d.Packages = append(d.Packages, PackageCount{Text(p), n})
	}
	slices.SortFunc(d.Packages, func(a, b PackageCount) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), strings.Compare(a.Package, b.Package))
	})
	d.Packages = d.Packages[:min(len(d.Packages), 10)]
	return d
}
