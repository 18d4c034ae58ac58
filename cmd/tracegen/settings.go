package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/internal/report"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// instrument holds what the command line and tracegen.yml say.
type instrument struct {
	con *console
	as  command // that is carried out

	// What the flags and tracegen.yml say, in the order of help.
	methods []string // of explain
	inJSON  bool     // likewise

	output                          string
	merge                           bool
	mapping, lines, skipped, report string
	slices                          string // directory of those of assign

	ids    string
	base   string
	baseR8 string
	prune  []string
	order  mapping.Order

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

	verify    pipeline.VerifyLevel
	classPath classPath
	guards    guards

	caching          caching
	jobs             int
	level            jar.Level
	dryRun, disabled bool

	// What follows from that.
	rows        options           // bound to the fields above
	unused      options           // the same options, for values in tracegen.yml that this command does not use
	configFiles []string          // that were read, tracegen.yml first
	rules       []filter.Rule     // of the preset, the block lists, and tracegen.yml
	runtime     string            // the runtime class in internal form
	values      map[string]string // of all options, used or not, by name
	baseMapping *mapping.Mapping
	pruneBy     []*mapping.Mapping
	slice       *pipeline.Slice // of --ids
	planned     bool            // the command writes no classes
	known       *pipeline.Incremental
	r8          *r8.Mapping
	r8Digest    string // of its file, "" if there is none
	destination destination
	reported    *report.Run // once it is known
}

// preset is a set of defaults.
type preset uint8

const (
	presetAndroid preset = iota
	presetMatrix
)

// sets reports whether the preset has a value for the option. presetAndroid is what the options say by themselves.
func (p preset) sets(o *option) bool { return p == presetMatrix && o.matrix != "" }

// presetRules are what a preset blocks, ahead of all other rules.
func presetRules(p preset) ([]filter.Rule, error) {
	if p != presetMatrix {
		return nil, nil
	}
	// What Matrix's plugin puts in front of every block list, but for its own package, which is the runtime's.
	rule, err := filter.ParseRule(false, "android.**", filter.Position{File: "preset matrix"})
	return []filter.Rule{rule}, err
}

// addOptions adds the options of the command that i stands for to its flags.
func (i *instrument) addOptions(cmd *cobra.Command, as command) {
	ignored := instrument{con: &console{}}
	i.as, i.rows, i.unused = as, i.table(), ignored.table()
	i.rows.addTo(cmd, as)
}

// uses reports whether the command uses the option, which it need not take on its command line: assign takes the
// options of its scan files, and with --ids most of what tracegen.yml says was decided before.
func (i *instrument) uses(o *option) bool {
	switch {
	case i.ids != "":
		return o.withIDs != idsRefuse
	case i.as == byAssign:
		return o.takenBy(byAssign | byScan)
	}
	return o.takenBy(i.as)
}

// flagOf returns the flag that holds the value of the row with that number.
func (i *instrument) flagOf(row int) *pflag.Flag {
	if i.uses(&i.rows[row]) {
		return i.rows[row].flag
	}
	return i.unused[row].flag
}

// resolve brings the command line, tracegen.yml and the preset together, and checks what excludes what.
func (i *instrument) resolve() error {
	if err := i.resolveOptions(); err != nil {
		return err
	}
	if i.baseR8 != "" && i.base == "" {
		return misuse("--base-r8-mapping needs --base: it is about the names in it")
	}
	if len(i.prune) > 0 && i.base == "" {
		return misuse("--prune needs --base: the IDs to be freed are in it")
	}
	return i.guards.checkBases(i.base)
}

// resolveOptions does so for what decides about classes.
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
		return misuse("--exits exact and --constructor-entry start exclude each other: " +
			"no handler may cover a constructor's code before super()")
	}
	i.entry = implied.ConstructorEntry
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

// applyPreset sets the options that neither the command line nor tracegen.yml sets: if one of them names a preset and
// a value, that value counts, in whichever order they stand.
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

// adoptOptions sets the options of a record to what a scan file or slice was made with, so that neither tracegen.yml nor
// a preset changes them.
func (i *instrument) adoptOptions(names []string, by pipeline.Origin) error {
	for _, name := range names {
		value, ok := by.Options[name]
		if !ok {
			return fmt.Errorf("the option %s is missing in it; make it again", name)
		}
		f := i.rows.find(name).flag
		if err := f.Value.Set(value); err != nil {
			return fmt.Errorf("option %s %q: %w", name, value, err)
		}
		f.Changed = true
	}
	return nil
}

// originOptions lists the options that scan files record. All parts of an app must be scanned with the same values.
func (i *instrument) originOptions() []string {
	return i.rows.names(func(o *option) bool { return o.takenBy(byScan) && o.omit&inOrigin == 0 })
}

// sliceOptions lists the options that slices carry on, sorted: the form of the calls depends on them.
func (i *instrument) sliceOptions() []string {
	return slices.Sorted(slices.Values(i.rows.names(func(o *option) bool { return o.withIDs == idsAgree })))
}

// valuesOf returns the values of the named options.
func (i *instrument) valuesOf(names []string) map[string]string {
	values := make(map[string]string, len(names))
	for _, name := range names {
		values[name] = i.values[name]
	}
	return values
}

// reportedOptions returns the values, defaults included, of the options that can change what is written. The
// number of workers and where files are cannot, and would make reports of equal runs differ.
func (i *instrument) reportedOptions() map[string]string {
	return i.valuesOf(i.rows.names(func(o *option) bool { return o.omit&inReport == 0 }))
}

// packageModule is the value of --add-requires without one.
const packageModule = "the runtime's package"

// dotted returns the name of a class with dots in place of slashes.
func dotted(class string) string { return strings.ReplaceAll(class, "/", ".") }

// internalName gives the internal form of a class name with dots or slashes.
func internalName(class string) (string, error) {
	name, err := mapping.ParseText(class)
	if err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.ContainsAny(part, ".;[") {
			return "", fmt.Errorf("%q is no class name", class)
		}
	}
	return name, nil
}
