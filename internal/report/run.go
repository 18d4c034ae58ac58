package report

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/mapping"
)

// Run is what there is to report on.
type Run struct {
	// Version is tracegen's.
	Version string
	// Options are all that can change the output, by name.
	Options map[string]string
	// Rules are those of block lists and tracegen.yml in their order, each with its position.
	Rules []string
	// MappingFile and BaseFile are where the mapping goes to and where its IDs come from, as the user named
	// them; BaseFile may be empty.
	MappingFile, BaseFile string
	// Mapping holds the IDs that were given, Base those that were to be kept; Base may be nil.
	Mapping, Base *mapping.Mapping
	// Inputs are in the order of the command line.
	Inputs []pipeline.InputResult
	// Packages are those that something was inserted into, in any order.
	Packages []pipeline.PackageResult
	// Guards are what was asked of the run, in the order in which it is told.
	Guards []Guard
	// Skipped are the methods that are not traced, in any order; nil if there are none. It is gone through several times.
	Skipped iter.Seq[pipeline.Skipped]
	// Warnings are what the user was told.
	Warnings []string
	// Introduced is the number of classes that came out wrong and were put back, PreExisting of those that were
	// wrong before and left as they came.
	Introduced, PreExisting int
	// Planned says that no class has been written yet, so that the sizes of outputs and the number of calls are not
	// known.
	Planned bool
	// DryRun says that nothing was written.
	DryRun bool
}

// classOf gives the internal name of the class; of one that could not be read, what its entry is called.
func classOf(s pipeline.Skipped) string {
	if s.Class == "" {
		return strings.TrimSuffix(s.Entry, ".class")
	}
	return s.Class
}

// total sums the inputs up.
func (r *Run) total() pipeline.InputResult {
	var t pipeline.InputResult
	for _, in := range r.Inputs {
		t.Classes += in.Classes
		t.Rewritten += in.Rewritten
		t.Methods += in.Methods
		t.Traced += in.Traced
		t.ClassBytes += in.ClassBytes
		t.OutputBytes += in.OutputBytes
		t.Calls += in.Calls
	}
	return t
}

// skipped gives the skipped methods.
func (r *Run) skipped() iter.Seq[pipeline.Skipped] {
	if r.Skipped == nil {
		return func(func(pipeline.Skipped) bool) {}
	}
	return r.Skipped
}

// reasons counts the skipped methods of each input by reason, in the order of Inputs. An input that is given
// twice under one name shares its counts with itself.
func (r *Run) reasons() []map[filter.Reason]int {
	byPath := make(map[string]map[filter.Reason]int, len(r.Inputs))
	counts := make([]map[filter.Reason]int, len(r.Inputs))
	for i, in := range r.Inputs {
		if byPath[in.Path] == nil {
			byPath[in.Path] = map[filter.Reason]int{}
		}
		counts[i] = byPath[in.Path]
	}
	for s := range r.skipped() {
		if c := byPath[s.Input]; c != nil {
			c[s.Reason]++
		}
	}
	return counts
}

// retired gives the number of IDs that methods which are gone keep.
func (r *Run) retired() int { return mapping.Capacity - r.Mapping.Headroom() - r.Mapping.Len() }

// freed gives the number of IDs that pruning gave up.
func (r *Run) freed() int {
	if r.Base == nil {
		return 0
	}
	return r.Mapping.Freed(r.Base)
}

// packageCount is what the report says of one package.
type packageCount struct {
	Package    string `json:"package"`
	Traced     int    `json:"traced"`
	Skipped    int    `json:"skipped"`
	Calls      int    `json:"calls"`
	AddedBytes int64  `json:"addedBytes"`
}

// plannedCount is what there is to say of it before anything is written.
type plannedCount struct {
	Package string `json:"package"`
	Traced  int    `json:"traced"`
	Skipped int    `json:"skipped"`
}

// packageOf gives the package of a class.
func packageOf(class string) string { return class[:max(0, strings.LastIndexByte(class, '/'))] }

// packages counts by package, sorted by name.
func (r *Run) packages() []packageCount {
	counts := map[string]*packageCount{}
	of := func(name string) *packageCount {
		if counts[name] == nil {
			counts[name] = &packageCount{Package: mapping.Text(name)}
		}
		return counts[name]
	}
	for e := range r.Mapping.All() {
		of(packageOf(e.Class)).Traced++
	}
	for s := range r.skipped() {
		of(packageOf(classOf(s))).Skipped++
	}
	for _, p := range r.Packages {
		c := of(p.Package)
		c.Calls, c.AddedBytes = c.Calls+p.Calls, c.AddedBytes+p.Bytes
	}
	list := make([]packageCount, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[name])
	}
	return list
}

// skippedLine is a skipped method with its class in text form.
type skippedLine struct {
	class string
	pipeline.Skipped
}

// skippedLines gives the skipped methods in the order of the list: not in that of the inputs, which follows
// the order of zip entries.
func (r *Run) skippedLines() []skippedLine {
	var lines []skippedLine
	for s := range r.skipped() {
		lines = append(lines, skippedLine{mapping.Text(classOf(s)), s})
	}
	slices.SortFunc(lines, func(a, b skippedLine) int {
		return cmp.Or(strings.Compare(a.class, b.class), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Descriptor, b.Descriptor), strings.Compare(string(a.Reason), string(b.Reason)),
			strings.Compare(a.Detail, b.Detail))
	})
	return lines
}
