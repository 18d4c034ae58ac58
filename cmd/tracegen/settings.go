package main

import (
	"fmt"
	"path"
	"strings"

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

	// What the flags and tracegen.yml say, in the order of help.
	output                          string
	merge                           bool
	mapping, lines, skipped, report string

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

	verify pipeline.VerifyLevel
	around surroundings
	guards guards

	caching          caching
	jobs             int
	level            jar.Level
	dryRun, disabled bool
	planned          bool // the command writes no classes

	// What follows from that.
	configFiles []string      // that were read, tracegen.yml first
	rules       []filter.Rule // of the preset, the block lists, and tracegen.yml
	runtime     string        // the runtime class in internal form
	options     map[string]string
	baseMapping *mapping.Mapping
	pruneBy     []*mapping.Mapping
	slice       *pipeline.Slice // of --ids
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

// presetValues are what a preset changes, by flag. presetAndroid is what the flags say by themselves.
func presetValues(p preset) map[string]string {
	if p != presetMatrix {
		return nil
	}
	return map[string]string{
		"runtime-class":     strings.ReplaceAll(inject.MatrixRuntimeClass, "/", "."),
		"constructor-entry": "after-super",
		"trivial":           "matrix",
	}
}

// presetRules are what a preset blocks, ahead of all other rules.
func presetRules(p preset) ([]filter.Rule, error) {
	if p != presetMatrix {
		return nil, nil
	}
	// What Matrix's plugin puts in front of every block list, but for its own package, which is the runtime's.
	rule, err := filter.ParseRule(false, "android.**", filter.Position{File: "preset matrix"})
	return []filter.Rule{rule}, err
}

func (i *instrument) outputFlags() flagGroup {
	f := newFlags()
	f.StringVarP(&i.output, "output", "o", "", "output `OUT`: a file, or a directory")
	f.BoolVar(&i.merge, "merge", false, "write all inputs into one jar; of entries of one name the first input's wins")
	f.StringVar(&i.mapping, "mapping", "", "method mapping `FILE` (default "+defaultMapping+" beside OUT)")
	f.StringVar(&i.lines, "lines", "", "write a table of IDs, source files and first lines to `FILE`")
	f.StringVar(&i.skipped, "skipped", "", "write the methods that are not traced, and why, to `FILE` (tab-separated)")
	f.StringVar(&i.report, "report", "", "write what was done to `FILE` (JSON); - is standard output, in place of the summary, also for a dry run")
	return flagGroup{"Output", f}
}

func (i *instrument) idFlags() flagGroup {
	f := newFlags()
	f.StringVar(&i.ids, "ids", "", "decide nothing, and write what assign has decided: the slice `FILE` of the inputs")
	f.StringVar(&i.base, "base", "", "mapping `FILE` of an earlier build, whose methods keep their IDs")
	f.StringVar(&i.baseR8, "base-r8-mapping", "", "mapping `FILE` of R8 or ProGuard, of the build that --base is of; needed only if that was instrumented after renaming, without --r8-mapping")
	f.StringArrayVar(&i.prune, "prune", nil, "free the IDs of methods that are gone and that no mapping `FILE` given so still has: name those of all releases in use; needs --base; repeatable")
	f.Var(newChoice(&i.order, mapping.OrderHash, named[mapping.Order]{"hash", mapping.OrderHash}, named[mapping.Order]{"compact", mapping.OrderCompact}),
		"id-order", "IDs of new methods: by hash, so that separate builds agree, or the lowest that are free")
	return flagGroup{"Method IDs", f}
}

func (i *instrument) methodFlags() flagGroup {
	f := newFlags()
	f.StringVar(&i.config, "config", "", "read options and rules from `FILE` (default "+defaultConfig+" if it is there)")
	f.StringVar(&i.r8File, "r8-mapping", "", "the inputs have been renamed: the mapping `FILE` that R8 or ProGuard wrote; rules, lists and the method mapping go by original names")
	f.StringArrayVar(&i.blocklists, "blocklist", nil, "block list `FILE` of Matrix (-keepclass, -keeppackage), ahead of the rules; repeatable")
	f.Var(newChoice(&i.trivial, filter.Smart, named[filter.TrivialMode]{"smart", filter.Smart}, named[filter.TrivialMode]{"matrix", filter.Matrix},
		named[filter.TrivialMode]{"none", filter.None}), "trivial", "which methods are too small to be traced")
	f.Var(newChoice(&i.forJVM, false, named[bool]{"android", false}, named[bool]{"jvm", true}),
		"target", "jvm: leave out methods that would grow past what HotSpot compiles")
	f.BoolVar(&i.allowHuge, "allow-huge", false, "with --target jvm, trace those too")
	return flagGroup{"Which methods", f}
}

func (i *instrument) callFlags() flagGroup {
	f := newFlags()
	f.Var(newChoice(&i.preset, presetAndroid, named[preset]{"android", presetAndroid}, named[preset]{"matrix", presetMatrix}),
		"preset", "defaults for tracegen's own runtime or that of Matrix (its runtime class, after-super, its trivial rule, android.** blocked)")
	f.StringVar(&i.runtimeClass, "runtime-class", strings.ReplaceAll(inject.DefaultRuntimeClass, "/", "."), "the `CLASS` to call")
	f.BoolVar(&i.runtimeExternal, "runtime-external", false, "the runtime class is not among the inputs, and this is meant")
	f.StringVar(&i.addRequires, "add-requires", "", "let the modules among the inputs require `MODULE`, that of the runtime class (without a value: the name of its package)")
	f.Lookup("add-requires").NoOptDefVal = packageModule
	f.Var(newChoice(&i.exits, inject.ExitsThrows, byName(inject.ExitModes())...), "exits", "report returns, also throws that the method does not catch, or every way out")
	f.Var(newChoice(&i.entry, inject.EntryAtStart, byName(inject.ConstructorEntries())...),
		"constructor-entry", "where constructors report their entry; exact exits need after-super, and set it")
	f.Var(newChoice(&i.focus, true, named[bool]{"auto", true}, named[bool]{"off", false}), "focus-hook", "let Activities report focus changes")
	return flagGroup{"Calls", f}
}

func (i *instrument) verifyFlags() flagGroup {
	f := newFlags()
	f.Var(newChoice(&i.verify, pipeline.VerifyFull, named[pipeline.VerifyLevel]{"full", pipeline.VerifyFull}, named[pipeline.VerifyLevel]{"equivalence", pipeline.VerifyEquivalence}),
		"verify", "prove that each class is the original with calls inserted, and that a JVM takes it, or only the former")
	i.around.add(f)
	return flagGroup{"Verification", f}
}

func (i *instrument) runFlags() flagGroup {
	f := newFlags()
	f.IntVarP(&i.jobs, "jobs", "j", 0, "`N` classes at a time; 0 is one per processor")
	f.Var(compression(&i.level), "compression", "of entries that change; the others are copied as they are")
	f.StringVar(&i.caching.directory, "cache", "", "keep in `DIR` what was found out and written, and leave alone or copy what the next run would write again; it may be deleted at any time")
	i.caching.size = defaultCacheSize
	f.Var(&i.caching.size, "cache-size", "how big that may get; what was not used for the longest time goes first")
	f.BoolVar(&i.dryRun, "dry-run", false, "do everything but write nothing")
	f.BoolVar(&i.disabled, "disabled", false, "copy the inputs as they are, with an empty mapping")
	addQuiet(f, i.con)
	f.BoolVarP(&i.con.verbose, "verbose", "v", false, "print what is read, and every input even of many")
	return flagGroup{"Run", f}
}

// addQuiet adds the flag of commands that print a summary.
func addQuiet(f *pflag.FlagSet, con *console) {
	f.BoolVarP(&con.quiet, "quiet", "q", false, "print warnings and errors only")
}

func compression(level *jar.Level) *choice[jar.Level] {
	return newChoice(level, jar.LevelDefault, named[jar.Level]{"store", jar.LevelStore}, named[jar.Level]{"fast", jar.LevelFast},
		named[jar.Level]{"default", jar.LevelDefault}, named[jar.Level]{"best", jar.LevelBest})
}

// settle brings the command line, tracegen.yml and the preset together, and checks what excludes what.
func (i *instrument) settle(flags *pflag.FlagSet) error {
	if err := i.settleOptions(flags); err != nil {
		return err
	}
	if i.baseR8 != "" && i.base == "" {
		return misuse("--base-r8-mapping needs --base: it is about the names in it")
	}
	if len(i.prune) > 0 && i.base == "" {
		return misuse("--prune needs --base: the IDs to be freed are in it")
	}
	return i.guards.settle(i.base)
}

// settleOptions does so for what decides about classes.
func (i *instrument) settleOptions(flags *pflag.FlagSet) error {
	var err error
	if i.configFiles, i.rules, err = readConfig(i.config, flags); err != nil {
		return err
	}
	if i.con.quiet && i.con.verbose {
		return misuse("--quiet and --verbose exclude each other")
	}
	if i.jobs < 0 {
		return misuse("--jobs %d: must not be negative", i.jobs)
	}
	if i.exits == inject.ExitsExact && i.entry == inject.EntryAtStart && flags.Changed("constructor-entry") {
		return misuse("--exits exact and --constructor-entry start exclude each other: " +
			"no handler may cover a constructor's code before super()")
	}
	// A preset changes only what neither the command line nor the file says: who names a preset and a value
	// wants that value, in whichever place it stands.
	for name, value := range presetValues(i.preset) {
		if f := flags.Lookup(name); f != nil && !f.Changed {
			if err := f.Value.Set(value); err != nil {
				return fmt.Errorf("--preset: %s: %w", name, err)
			}
		}
	}
	i.entry = i.injectOptions().Normalized().ConstructorEntry // for the report to say what is done
	if i.runtime, err = internalName(i.runtimeClass); err != nil {
		return misuse("--runtime-class: %w", err)
	}
	if i.addRequires == packageModule {
		i.addRequires = strings.ReplaceAll(path.Dir(i.runtime), "/", ".")
	}
	i.options = reportedOptions(flags)
	if len(i.configFiles) > 0 {
		i.con.detail("options and %d rules from %s", len(i.rules), strings.Join(i.configFiles, ", "))
	}
	return nil
}

// packageModule is the value of --add-requires without one.
const packageModule = "the runtime's package"

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

// reportedOptions gives the values, defaults included, of the flags that can change what is written. The
// number of workers and where files are cannot, and would make reports of equal runs differ.
func reportedOptions(flags *pflag.FlagSet) map[string]string {
	options := map[string]string{}
	for _, name := range []string{"merge", "id-order", "trivial", "target", "allow-huge", "preset", "runtime-class", "runtime-external", "add-requires",
		"exits", "constructor-entry", "focus-hook", "compression", "disabled", "verify", "strict-classpath"} {
		options[name] = flags.Lookup(name).Value.String()
	}
	options["runtime-class"] = strings.ReplaceAll(options["runtime-class"], "/", ".")
	return options
}
