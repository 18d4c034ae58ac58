package build

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// settings holds the options that instrument, scan, assign, explain and record share, and what follows from them.
type settings struct {
	con *console.Console
	as  cli.CommandSet // the command that runs

	outputs
	reports
	ids
	scope
	calls
	checks
	guards
	running
	flat bool // nested archives are not opened: record opens them by itself

	// What resolve and the functions after it find out.
	rows        cli.Options       // set the fields above
	unused      cli.Options       // the same options; hold values in tracegen.yml that this command does not use
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
	profile     *filter.Profile
	profileSums string // the hashes of its files
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
func (p preset) sets(o *cli.Option) bool { return p == presetMatrix && o.Matrix != "" }

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

// addOptions makes the table and adds the options that the command accepts to its flags. own are those that it has
// alone.
func (i *settings) addOptions(cmd *cobra.Command, as cli.CommandSet, own ...cli.Option) {
	ignored := settings{con: &console.Console{}}
	i.as = as
	i.rows, i.unused = i.table(own...), ignored.table()
	i.rows.AddTo(cmd, as)
}

// uses reports whether the command uses the option. This differs from what it accepts on the command line: assign uses
// the options that scan files record, and with --slice most options are ignored, as the decisions are in the slice.
func (i *settings) uses(o *cli.Option) bool {
	switch {
	case i.sliceFile != "":
		return o.WithSlice != cli.SliceRefuses
	case i.as == byAssign:
		return o.TakenBy(byAssign | byScan)
	}
	return o.TakenBy(i.as)
}

// flagOf returns the flag that holds the value of a row.
func (i *settings) flagOf(row int) *pflag.Flag {
	o := &i.rows[row]
	if i.uses(o) {
		return o.Flag
	}
	return i.unused.Find(o.Name).Flag
}

// resolve combines the command line, tracegen.yml and the preset, in this order of precedence, and checks that the
// options fit together.
func (i *settings) resolve() error {
	if err := i.resolveOptions(); err != nil {
		return err
	}
	if len(i.prune) > 0 && i.base == "" {
		return cli.Misuse("--prune frees IDs of --base: give both")
	}
	if i.as != byAssign {
		if err := i.libraries.check(); err != nil {
			return err
		}
	} else {
		i.guards.guards.Remove("growth")
	}
	return i.guards.checkBases(i.base)
}

// resolveOptions does the same without the options that only instrument and assign need.
func (i *settings) resolveOptions() error {
	var err error
	if i.configFiles, i.rules, err = i.readConfig(); err != nil {
		return err
	}
	if i.con.Quiet && i.con.Verbose {
		return cli.Misuse("--quiet and --verbose exclude each other")
	}
	if i.jobs < 0 {
		return cli.Misuse("--jobs %d: must not be negative", i.jobs)
	}
	if err := i.applyPreset(); err != nil {
		return err
	}
	if err := i.classPath.resolve(); err != nil {
		return err
	}
	implied := inject.Options{Exits: i.exits, ConstructorEntry: i.entry}.Normalized()
	if implied.ConstructorEntry != i.entry && i.rows.Given("constructor-entry") {
		return cli.Misuse("--exits exact and constructor-entry start exclude each other: an exception handler must " +
			"not cover the code of a constructor before super()")
	}
	i.entry = implied.ConstructorEntry
	if i.posts && i.runtimeExternal && i.preset == presetMatrix {
		return cli.Misuse("trace-posts and --runtime-external exclude each other with --preset matrix: Matrix's runtime " +
			"class has no method posted; leave trace-posts out, or use tracegen's runtime")
	}
	if i.coroutines == coroutinesOn && i.runtimeExternal && i.preset == presetMatrix {
		return cli.Misuse("trace-coroutines: on and --runtime-external exclude each other with --preset matrix: Matrix's " +
			"runtime class has no method resumes; leave trace-coroutines out, or use tracegen's runtime")
	}
	if i.runtime, err = internalName(i.runtimeClass); err != nil {
		return cli.Misuse("--runtime-class: %w", err)
	}
	i.runtimeClass = dotted(i.runtimeClass)
	if i.addRequires == packageModule {
		i.addRequires = dotted(path.Dir(i.runtime))
	}
	i.values = make(map[string]string, len(i.rows))
	for k := range i.rows {
		i.values[i.rows[k].Name] = i.flagOf(k).Value.String()
	}
	if len(i.configFiles) > 0 {
		i.con.Detail("options and %d rules from %s", len(i.rules), strings.Join(i.configFiles, ", "))
	}
	return nil
}

// applyPreset sets the options of the preset that neither the command line nor tracegen.yml sets. The order of options
// does not matter.
func (i *settings) applyPreset() error {
	for k := range i.rows {
		if f := i.flagOf(k); i.preset.sets(&i.rows[k]) && !f.Changed {
			if err := f.Value.Set(i.rows[k].Matrix); err != nil {
				return fmt.Errorf("--preset: %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// adoptOptions sets the named options to the values that a scan file or slice records. Neither tracegen.yml nor a
// preset changes them afterwards.
func (i *settings) adoptOptions(names []string, by pipeline.Origin) error {
	for _, name := range names {
		value, ok := by.Options[name]
		if !ok {
			return fmt.Errorf("option %s is missing in the file; write it again", name)
		}
		f := i.rows.Find(name).Flag
		if err := f.Value.Set(value); err != nil {
			return fmt.Errorf("option %s %q: %w", name, value, err)
		}
		f.Changed = true
	}
	return nil
}

// originOptions returns the names of the options that scan files record. All parts of an app must have the same values.
func (i *settings) originOptions() []string {
	return i.rows.Names(func(o *cli.Option) bool { return o.TakenBy(byScan) && o.Omit&cli.InOrigin == 0 })
}

// sliceOptions returns the names of the options that slices record, sorted. The form of the calls depends on them.
func (i *settings) sliceOptions() []string {
	return slices.Sorted(slices.Values(i.rows.Names(func(o *cli.Option) bool { return o.WithSlice == cli.SliceAgrees })))
}

// valuesOf returns the values of the named options by name.
func (i *settings) valuesOf(names []string) map[string]string {
	values := make(map[string]string, len(names))
	for _, name := range names {
		values[name] = i.values[name]
	}
	return values
}

// reportedOptions returns the values, defaults included, of the options that can change what is written. The number of
// workers and the names of files cannot, and would make the reports of equal runs differ.
func (i *settings) reportedOptions() map[string]string {
	return i.valuesOf(i.rows.Names(func(o *cli.Option) bool { return o.Omit&cli.InReport == 0 }))
}

// packageModule stands for the value of add-requires if none is given.
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
