package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// instrument holds the options of instrument, scan, assign and explain, and what follows from them.
type instrument struct {
	con *console
	as  command // the command that runs

	// Values of options, in the order of the table.
	methods []string // of explain
	inJSON  bool     // likewise

	output                          string
	merge                           bool
	mapping, lines, skipped, report string
	summary, sarif                  string
	summaryFile                     *os.File // of --summary, while it is open
	digest                          string   // --digest
	sliceDirectory                  string   // of assign

	sliceFile string // --slice
	base      string
	baseR8    string
	prune     []string
	order     mapping.Order

	config            string
	r8File            string
	blocklists        []string
	trivial           filter.TrivialMode
	forJVM, allowHuge bool

	preset          preset
	runtimeClass    string
	runtimeExternal bool
	addRequires     string
	exits           inject.ExitMode
	entry           inject.ConstructorEntry
	focus           bool
	posts           bool

	verify    pipeline.VerifyLevel
	classPath classPath
	guards    guards

	caching          caching
	jobs             int
	level            zipfile.Level
	reading          readLimits
	futureVersions   bool
	dryRun, disabled bool

	// What resolve and the functions after it find out.
	rows        options           // set the fields above
	unused      options           // the same options; hold values in tracegen.yml that this command does not use
	configFiles []string          // that were read, tracegen.yml first
	rules       []filter.Rule     // of the preset, the block lists, and tracegen.yml
	runtime     string            // the runtime class in internal form
	values      map[string]string // of all options by name
	baseMapping *mapping.Mapping
	pruneBy     []*mapping.Mapping
	slice       *pipeline.Slice // of --slice
	planned     bool            // the command writes no classes, as scan and assign
	known       *pipeline.Incremental
	r8          *r8.Mapping
	r8Digest    string // of the file, or ""
	destination destination
	filesRead   []string         // beside the inputs and the base mapping
	reported    *buildreport.Run // nil until the result is known
}

// preset is a set of defaults, see option.matrix.
type preset uint8

const (
	presetAndroid preset = iota
	presetMatrix
)

// sets reports whether the preset has a value for the option. presetAndroid stands for the defaults in the table.
func (p preset) sets(o *option) bool { return p == presetMatrix && o.matrix != "" }

// presetRules returns the rules of a preset. They precede all other rules.
func presetRules(p preset) ([]filter.Rule, error) {
	if p != presetMatrix {
		return nil, nil
	}
	// Matrix's plugin puts this rule in front of every block list, and one for its own package, which is that of the
	// runtime.
	rule, err := filter.ParseRule(false, "android.**", filter.Position{File: "preset matrix"})
	return []filter.Rule{rule}, err
}

// addOptions makes the table and adds the options that the command accepts to its flags.
func (i *instrument) addOptions(cmd *cobra.Command, as command) {
	ignored := instrument{con: &console{}}
	i.as, i.rows, i.unused = as, i.table(), ignored.table()
	i.rows.addTo(cmd, as)
}

// uses reports whether the command uses the option. This differs from what it accepts on the command line: assign uses
// the options that scan files record, and with --slice most options are ignored, as the decisions are in the slice.
func (i *instrument) uses(o *option) bool {
	switch {
	case i.sliceFile != "":
		return o.withSlice != sliceRefuses
	case i.as == byAssign:
		return o.takenBy(byAssign | byScan)
	}
	return o.takenBy(i.as)
}

// flagOf returns the flag that holds the value of a row.
func (i *instrument) flagOf(row int) *pflag.Flag {
	if i.uses(&i.rows[row]) {
		return i.rows[row].flag
	}
	return i.unused[row].flag
}

// resolve combines the command line, tracegen.yml and the preset, in this order of precedence, and checks that the
// options fit together.
func (i *instrument) resolve() error {
	if err := i.resolveOptions(); err != nil {
		return err
	}
	if i.baseR8 != "" && i.base == "" {
		return misuse("--base-r8-mapping renames the methods of --base: give both")
	}
	if len(i.prune) > 0 && i.base == "" {
		return misuse("--prune frees IDs of --base: give both")
	}
	return i.guards.checkBases(i.base)
}

// resolveOptions does the same without the options that only instrument and assign need.
func (i *instrument) resolveOptions() error {
	var err error
	if i.configFiles, i.rules, err = i.readConfig(); err != nil {
		return err
	}
	if i.con.quiet && i.con.verbose {
		return misuse("--quiet and --verbose exclude each other")
	}
	if i.jobs < 0 {
		return misuse("--jobs %d: must not be negative", i.jobs)
	}
	if err := i.applyPreset(); err != nil {
		return err
	}
	implied := inject.Options{Exits: i.exits, ConstructorEntry: i.entry}.Normalized()
	if implied.ConstructorEntry != i.entry && i.rows.given("constructor-entry") {
		return misuse("--exits exact and --constructor-entry start exclude each other: an exception handler must " +
			"not cover the code of a constructor before super()")
	}
	i.entry = implied.ConstructorEntry
	if i.posts && i.runtimeExternal && i.preset == presetMatrix {
		return misuse("--trace-posts and --runtime-external exclude each other with --preset matrix: Matrix's runtime " +
			"class has no method posted; leave --trace-posts out, or use tracegen's runtime")
	}
	if i.runtime, err = internalName(i.runtimeClass); err != nil {
		return misuse("--runtime-class: %w", err)
	}
	i.runtimeClass = dotted(i.runtimeClass)
	if i.addRequires == packageModule {
		i.addRequires = dotted(path.Dir(i.runtime))
	}
	i.values = make(map[string]string, len(i.rows))
	for k := range i.rows {
		i.values[i.rows[k].name] = i.flagOf(k).Value.String()
	}
	if len(i.configFiles) > 0 {
		i.con.detail("options and %d rules from %s", len(i.rules), strings.Join(i.configFiles, ", "))
	}
	return nil
}

// applyPreset sets the options of the preset that neither the command line nor tracegen.yml sets. The order of options
// does not matter.
func (i *instrument) applyPreset() error {
	for k := range i.rows {
		if f := i.flagOf(k); i.preset.sets(&i.rows[k]) && !f.Changed {
			if err := f.Value.Set(i.rows[k].matrix); err != nil {
				return fmt.Errorf("--preset: %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// adoptOptions sets the named options to the values that a scan file or slice records. Neither tracegen.yml nor a
// preset changes them afterwards.
func (i *instrument) adoptOptions(names []string, by pipeline.Origin) error {
	for _, name := range names {
		value, ok := by.Options[name]
		if !ok {
			return fmt.Errorf("option %s is missing in the file; write it again", name)
		}
		f := i.rows.find(name).flag
		if err := f.Value.Set(value); err != nil {
			return fmt.Errorf("option %s %q: %w", name, value, err)
		}
		f.Changed = true
	}
	return nil
}

// originOptions returns the names of the options that scan files record. All parts of an app must have the same values.
func (i *instrument) originOptions() []string {
	return i.rows.names(func(o *option) bool { return o.takenBy(byScan) && o.omit&inOrigin == 0 })
}

// sliceOptions returns the names of the options that slices record, sorted. The form of the calls depends on them.
func (i *instrument) sliceOptions() []string {
	return slices.Sorted(slices.Values(i.rows.names(func(o *option) bool { return o.withSlice == sliceAgrees })))
}

// valuesOf returns the values of the named options by name.
func (i *instrument) valuesOf(names []string) map[string]string {
	values := make(map[string]string, len(names))
	for _, name := range names {
		values[name] = i.values[name]
	}
	return values
}

// reportedOptions returns the values, defaults included, of the options that can change what is written. The number of
// workers and the names of files cannot, and would make the reports of equal runs differ.
func (i *instrument) reportedOptions() map[string]string {
	return i.valuesOf(i.rows.names(func(o *option) bool { return o.omit&inReport == 0 }))
}

// packageModule stands for the value of --add-requires if none is given.
const packageModule = "the runtime's package"

// dotted returns the name of a class with dots in place of slashes.
func dotted(class string) string { return strings.ReplaceAll(class, "/", ".") }

// internalName returns the internal form (JVMS 4.2.1) of a class name with dots or slashes.
func internalName(class string) (string, error) {
	name, err := mapping.ParseText(class)
	if err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.ContainsAny(part, ".;[") {
			return "", fmt.Errorf("%q is not a class name", class)
		}
	}
	return name, nil
}
