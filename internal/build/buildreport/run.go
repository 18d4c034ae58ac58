package buildreport

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/mapping"
)

// Run is a run of instrument, scan or assign.
type Run struct {
	// Version is the version of tracegen.
	Version string
	// Options are the options that can change the output, with their values, by name.
	Options map[string]string
	// Rules are the rules of block lists and tracegen.yml in their order, each with its position.
	Rules []string
	// MappingFile and BaseFile are the names of the mapping and the base mapping on the command line; BaseFile may be
	// empty.
	MappingFile, BaseFile string
	// Base is the base mapping, or nil.
	Base *mapping.Mapping
	Result
	// Runtime is the built-in runtime, if the run added it, else nil. No number of the run counts it.
	Runtime *Runtime
	// Guards are the results of the enabled guards.
	Guards []Guard
	// Planned is true for scan and assign, which write no classes: the sizes of outputs and the number of calls are
	// unknown.
	Planned bool
	// DryRun is true if nothing was written.
	DryRun bool
}

// Result is what a run has done.
type Result struct {
	Mapping   *mapping.Mapping // of every traced method; nil for scan, and with a slice
	Inputs    []Input          // in the order of the command line
	Own       Methods          // of the program itself; without --libraries, all methods are its own
	Libraries Methods          // of classes that are of libraries
	Packages  []Package        // those with classes that changed, by name
	// Skipped are the methods with code that are not traced, and the classes that could not be read, in any order; nil if
	// there are none. They are read several times.
	Skipped  iter.Seq[Skipped]
	Warnings []string  // in input order
	LeftOut  []LeftOut // entries that a merged output does not have, in input order

	Introduced  int // rewritten classes that were rejected and stay as they were: a fault of tracegen
	PreExisting int // classes that were wrong before and are left as they came
	Unchecked   int // classes that stay as they were because a check reached its limit
}

// Runtime is the built-in runtime that a run added.
type Runtime struct {
	Input   string `json:"input"` // stands for its path
	Output  string `json:"output"`
	Version string `json:"version"`
}

// Input counts what was done with one input.
type Input struct {
	Path        string // as the user named it
	Output      string // file or directory that was written
	Classes     int    // class entries
	Rewritten   int    // of them, classes that changed
	Methods     int    // methods with code, in classes that could be read
	Traced      int    // of them, methods with an ID
	ClassBytes  int64  // of all classes, uncompressed
	OutputBytes int64  // of all classes as written, uncompressed
	Calls       int    // of the runtime, in the classes that changed
}

// Methods counts methods of the program itself, or of its libraries.
type Methods struct {
	WithCode int `json:"methods"` // methods with code
	Traced   int `json:"traced"`  // of them, methods with an ID
}

// Package counts what was inserted into the classes of one package, wherever they lie.
type Package struct {
	Package string // in internal form, "" for the unnamed one
	Calls   int    // of the runtime
	Bytes   int64  // that the classes grew by
}

// Skipped is a method that is not traced, or with an empty Name a class of which no method could be read.
type Skipped struct {
	Input      string // the path of its input
	Entry      string // the class's entry in it
	Class      string // in internal form, as the constant pool has it
	Name       string // likewise
	Descriptor string // likewise
	Reason     filter.Reason
	Detail     string // which rule, which limit, which path of calls
}

// LeftOut is an entry that is not written, because an earlier input of the merged output has an entry of that name.
type LeftOut struct {
	Input string `json:"input"` // the path of the input with the entry
	Entry string `json:"entry"` // the name of the entry in the merged archive
	First string `json:"first"` // the path of the input whose entry is written
}

// classOf returns the internal name of the class; for a class that could not be read, the name of its entry.
func classOf(s Skipped) string {
	if s.Class == "" {
		return strings.TrimSuffix(s.Entry, ".class")
	}
	return s.Class
}

// total returns the sums of the inputs.
func (r *Run) total() Input {
	var t Input
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

// skipped returns the skipped methods; it is never nil.
func (r *Run) skipped() iter.Seq[Skipped] {
	if r.Skipped == nil {
		return func(func(Skipped) bool) {}
	}
	return r.Skipped
}

// reasons counts the skipped methods of each input by reason, in the order of Inputs. If an input is given twice, both
// share one count.
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

// freed returns the number of IDs that pruning freed.
func (r *Run) freed() int {
	if r.Base == nil {
		return 0
	}
	return r.Mapping.Freed(r.Base)
}

// packageCount counts the methods of one package, and what was inserted into them.
type packageCount struct {
	Package         string
	Traced, Skipped int
	Calls           int
	AddedBytes      int64
}

// packageOf returns the package of a class.
func packageOf(class string) string { return class[:max(0, strings.LastIndexByte(class, '/'))] }

// packages returns the numbers by package, sorted by name.
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
	Skipped
}

// skippedLines returns the skipped methods sorted: the order of zip entries must not show.
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
