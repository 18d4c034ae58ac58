package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/mapping"
)

func newInstrumentCmd(con *console) *cobra.Command {
	i := instrument{con: con}
	cmd := &cobra.Command{
		Use:   "instrument INPUT... -o OUT",
		Short: "insert the calls, and write the mapping",
		Long: `instrument copies its inputs and makes every method worth measuring call the
runtime class: i(ID) at its entry, o(ID) at its exit. Every class that changes is
proven to be otherwise the same, or is left as it was.

INPUT is a .jar, .zip, .aar or .class file, or a directory of classes. @FILE
stands for the inputs that FILE lists, one a line, as they are: no quotes, no
options; empty lines and lines that start with # are left out.

Of one input, OUT is the output, or the directory for it if it is one or ends in
a slash (a directory of classes becomes OUT itself). Of several, OUT is a
directory; an input whose name is taken gets -2, -3 and so on appended. With
INPUT=OUTPUT each input has its own output, and there is no --output.

Outputs, mapping and lists appear together when all of them are whole, or not at
all. Nothing that is written may be a file that is read, but for one: --base may
name the mapping that is going to be replaced.

Options can also be in tracegen.yml, by the same names without dashes, besides
the rules that say what is traced. The command line wins; file names are
relative to that file.

    exits: exact
    rules:
      - block: com.example.generated.**
      - allow: com.example.generated.Important
      - block: com.example.Feed#get*(**)`,
		Example: `  tracegen instrument app.jar -o out.jar
  tracegen instrument app.jar lib.aar -o out/ --base release/methodMapping.txt
  tracegen instrument app.jar=build/app.jar lib.aar=build/lib.aar
  tracegen instrument @inputs.txt --merge -o all.jar --report report.json`,
		Args: atLeastOne("input"),
	}
	addGroups(cmd, i.outputFlags(), i.idFlags(), i.methodFlags(), i.callFlags(), i.runFlags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := i.settle(cmd.Flags()); err != nil {
			return usageError(cmd, err)
		}
		if err := i.read(); err != nil {
			return err
		}
		if err := i.locate(args); err != nil {
			return usageError(cmd, err)
		}
		return i.run(cmd)
	}
	return cmd
}

// instrument holds what the command line and tracegen.yml say.
type instrument struct {
	con *console

	output                   string
	merge                    bool
	mapping, lines           string
	skipped, report          string
	baseMapping              *mapping.Mapping
	base                     string
	order                    mapping.Order
	config                   string
	blocklists               []string
	trivial                  filter.TrivialMode
	preset                   preset
	runtimeClass             string
	runtimeExternal          bool
	exits                    inject.ExitMode
	entry                    inject.ConstructorEntry
	focus, forJVM, allowHuge bool
	jobs                     int
	level                    jar.Level
	dryRun, disabled         bool
	rules                    []filter.Rule
	options                  map[string]string // for the report
	configFile, runtime      string            // as found; in internal form
	destination              destination
	argfiles                 []string
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

func (i *instrument) outputFlags() flagGroup {
	f := newFlags()
	f.StringVarP(&i.output, "output", "o", "", "output `OUT`: a file, or a directory")
	f.BoolVar(&i.merge, "merge", false, "write all inputs into one jar; of entries of one name the first input's wins")
	f.StringVar(&i.mapping, "mapping", "", "method mapping `FILE` (default "+defaultMapping+" beside OUT)")
	f.StringVar(&i.lines, "lines", "", "write a table of IDs, source files and first lines to `FILE`")
	f.StringVar(&i.skipped, "skipped", "", "write the methods that are not traced, and why, to `FILE` (tab-separated)")
	f.StringVar(&i.report, "report", "", "write what was done to `FILE` (JSON)")
	return flagGroup{"Output", f}
}

func (i *instrument) idFlags() flagGroup {
	f := newFlags()
	f.StringVar(&i.base, "base", "", "mapping `FILE` of an earlier build, whose methods keep their IDs")
	f.Var(newChoice(&i.order, mapping.OrderHash, named[mapping.Order]{"hash", mapping.OrderHash}, named[mapping.Order]{"compact", mapping.OrderCompact}),
		"id-order", "IDs of new methods: by hash, so that separate builds agree, or the lowest that are free")
	return flagGroup{"Method IDs", f}
}

func (i *instrument) methodFlags() flagGroup {
	f := newFlags()
	f.StringVar(&i.config, "config", "", "read options and rules from `FILE` (default "+defaultConfig+" if it is there)")
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
		"preset", "defaults for tracegen's own runtime or that of Matrix (its runtime class, after-super, its trivial rule)")
	f.StringVar(&i.runtimeClass, "runtime-class", strings.ReplaceAll(inject.DefaultRuntimeClass, "/", "."), "the `CLASS` to call")
	f.BoolVar(&i.runtimeExternal, "runtime-external", false, "the runtime class is not among the inputs, and this is meant")
	f.Var(newChoice(&i.exits, inject.ExitsThrows, named[inject.ExitMode]{"normal", inject.ExitsNormal}, named[inject.ExitMode]{"throws", inject.ExitsThrows},
		named[inject.ExitMode]{"exact", inject.ExitsExact}), "exits", "report returns, also throws that the method does not catch, or every way out")
	f.Var(newChoice(&i.entry, inject.EntryAtStart, named[inject.ConstructorEntry]{"start", inject.EntryAtStart}, named[inject.ConstructorEntry]{"after-super", inject.EntryAfterSuper}),
		"constructor-entry", "where constructors report their entry; exact exits need after-super, and set it")
	f.Var(newChoice(&i.focus, true, named[bool]{"auto", true}, named[bool]{"off", false}), "focus-hook", "let Activities report focus changes")
	return flagGroup{"Calls", f}
}

func (i *instrument) runFlags() flagGroup {
	f := newFlags()
	f.IntVarP(&i.jobs, "jobs", "j", 0, "`N` classes at a time; 0 is one per processor")
	f.Var(compression(&i.level), "compression", "of entries that change; the others are copied as they are")
	f.BoolVar(&i.dryRun, "dry-run", false, "do everything but write nothing")
	f.BoolVar(&i.disabled, "disabled", false, "copy the inputs as they are, with an empty mapping")
	addVerbosity(f, i.con)
	return flagGroup{"Run", f}
}

// addVerbosity adds what commands with a progress bar and a summary have in common.
func addVerbosity(f *pflag.FlagSet, con *console) {
	f.BoolVarP(&con.quiet, "quiet", "q", false, "print warnings and errors only")
	f.BoolVarP(&con.verbose, "verbose", "v", false, "print more")
}

func compression(level *jar.Level) *choice[jar.Level] {
	return newChoice(level, jar.LevelDefault, named[jar.Level]{"store", jar.LevelStore}, named[jar.Level]{"fast", jar.LevelFast},
		named[jar.Level]{"default", jar.LevelDefault}, named[jar.Level]{"best", jar.LevelBest})
}

// settle brings the command line, tracegen.yml and the preset together, and checks what excludes what.
func (i *instrument) settle(flags *pflag.FlagSet) error {
	var err error
	if i.configFile, i.rules, err = readConfig(i.config, flags); err != nil {
		return err
	}
	if i.con.quiet && i.con.verbose {
		return errors.New("--quiet and --verbose exclude each other")
	}
	if i.jobs < 0 {
		return fmt.Errorf("--jobs %d: must not be negative", i.jobs)
	}
	if i.exits == inject.ExitsExact && i.entry == inject.EntryAtStart && flags.Changed("constructor-entry") {
		return errors.New("--exits exact and --constructor-entry start exclude each other: " +
			"no handler may cover a constructor's code before super()")
	}
	for name, value := range presetValues(i.preset) {
		if f := flags.Lookup(name); f != nil && !f.Changed {
			if err := f.Value.Set(value); err != nil {
				return fmt.Errorf("--preset: %s: %w", name, err)
			}
		}
	}
	if i.exits == inject.ExitsExact {
		i.entry = inject.EntryAfterSuper
	}
	if i.runtime, err = internalName(i.runtimeClass); err != nil {
		return fmt.Errorf("--runtime-class: %w", err)
	}
	i.options = reportedOptions(flags)
	if i.configFile != "" {
		i.con.detail("options and %d rules from %s", len(i.rules), i.configFile)
	}
	return nil
}

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

// reportedOptions gives the values, defaults included, of the flags that can change what is written.
func reportedOptions(flags *pflag.FlagSet) map[string]string {
	options := map[string]string{}
	for _, name := range []string{"merge", "id-order", "trivial", "target", "allow-huge", "preset", "runtime-class", "runtime-external",
		"exits", "constructor-entry", "focus-hook", "compression", "disabled"} {
		options[name] = flags.Lookup(name).Value.String()
	}
	options["runtime-class"] = strings.ReplaceAll(options["runtime-class"], "/", ".")
	return options
}

// locate finds out what is read and where everything goes.
func (i *instrument) locate(args []string) error {
	list, argfiles, err := parseArguments(args)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("the argument file lists no input")
	}
	i.argfiles = argfiles
	if i.destination, err = resolveOutputs(list, i.output, i.merge); err != nil {
		return err
	}
	if i.mapping == "" {
		i.mapping = filepath.Join(i.destination.beside, defaultMapping)
	}
	read := append(slices.Clone(argfiles), i.blocklists...)
	if i.configFile != "" {
		read = append(read, i.configFile)
	}
	if i.base != "" && !i.replacesBase() {
		read = append(read, i.base)
	}
	return checkWritten(i.destination, i.sideFiles(), read)
}

// replacesBase says whether the new mapping takes the place of the one that it is based on. By then that has
// been read, or the run has failed.
func (i *instrument) replacesBase() bool {
	same, err := jar.Linked(i.mapping, i.base)
	return err == nil && same != ""
}

// sideFiles lists the files to be written beside the outputs.
func (i *instrument) sideFiles() []sideFile {
	files := []sideFile{{"mapping", i.mapping}}
	for _, f := range []sideFile{{"lines", i.lines}, {"skipped", i.skipped}, {"report", i.report}} {
		if f.path != "" {
			files = append(files, f)
		}
	}
	return files
}

func (i *instrument) run(cmd *cobra.Command) error {
	config := i.pipelineConfig()
	if !i.dryRun {
		undo, err := makeDirectories(append(i.destination.outputs(), i.sideFiles()...))
		if err != nil {
			return err
		}
		defer undo() // after success there is nothing to undo: something lies in each of them
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	advance, done := i.con.progress("instrumenting")
	config.Progress = advance
	result, err := pipeline.Run(ctx, config)
	done()
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		i.con.warn("%s", w)
	}
	if i.con.quiet {
		return nil
	}
	return i.reportOf(result).WriteSummary(i.con.out, i.con.verbose)
}

// read reads the base mapping and the block lists.
func (i *instrument) read() error {
	var listed []filter.Rule
	for _, name := range i.blocklists {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("--blocklist: %w", err)
		}
		rules, err := filter.ParseBlockList(name, data)
		if err != nil {
			return err
		}
		listed = append(listed, rules...)
	}
	i.rules = append(listed, i.rules...)
	if i.base == "" {
		return nil
	}
	base, err := mapping.Load(i.base)
	if err != nil {
		return fmt.Errorf("--base: %w", err)
	}
	i.baseMapping = base
	i.con.detail("base mapping %s: %d methods, digest %s", i.base, base.Len(), base.Digest())
	return nil
}

// pipelineConfig puts everything into the terms of package pipeline.
func (i *instrument) pipelineConfig() pipeline.Config {
	return pipeline.Config{
		Inputs: i.destination.inputs,
		Merge:  i.destination.merge,
		Filter: filter.New(filter.Options{
			Rules:         i.rules,
			Trivial:       i.trivial,
			RuntimeClass:  i.runtime,
			MatrixRuntime: i.preset == presetMatrix,
		}),
		Inject: inject.Options{
			RuntimeClass:     i.runtime,
			Exits:            i.exits,
			ConstructorEntry: i.entry,
			KeepCompilable:   i.forJVM && !i.allowHuge,
		},
		FocusHooks:      i.focus,
		RuntimeExternal: i.runtimeExternal,
		Base:            i.baseMapping,
		Order:           i.order,
		Level:           i.level,
		Jobs:            i.jobs,
		DryRun:          i.dryRun,
		Disabled:        i.disabled,
		Lines:           i.lines != "",
		Files:           i.files,
	}
}
