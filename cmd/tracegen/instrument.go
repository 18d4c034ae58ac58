package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/internal/report"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

func newInstrumentCmd(con *console) *cobra.Command {
	i := instrument{con: con}
	cmd := &cobra.Command{
		Use:   "instrument INPUT... -o OUT",
		Short: "insert the calls, and write the mapping",
		Long: `instrument copies its inputs and makes every method worth measuring call the
runtime class: i(ID) at its entry, o(ID) at its exit. Every class that changes is
proven to be otherwise the same and to be one that a JVM takes, or is left as it
was.

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

With --ids it is the last of three steps that do the same, for builds that are spread
over machines; see tracegen help scan. INPUT are those that were scanned, in the same
order. All that was decided is in the slice, and so are the options; a class that is
not as it was scanned is an error, and so is an objection of a referee.

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
	cmd.ValidArgsFunction = completeFiles(classFiles...)
	i.addOptions(cmd, byInstrument)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if i.ids != "" {
			return i.followSlice(cmd, args)
		}
		if err := i.resolve(); err != nil {
			return err
		}
		if err := i.read(); err != nil {
			return err
		}
		if err := i.locate(args); err != nil {
			return err
		}
		return i.run(cmd)
	}
	return cmd
}

// locate finds out what is read and where everything goes.
func (i *instrument) locate(args []string) error {
	list, argfiles, err := parseArguments(args)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return misuse("the argument file lists no input")
	}
	if i.destination, err = resolveOutputs(list, i.output, i.merge); err != nil {
		return err
	}
	if i.mapping == "" && i.ids == "" {
		i.mapping = filepath.Join(i.destination.beside, defaultMapping)
	}
	if err := checkWritten(i.destination, i.sideFiles(), i.readFiles(argfiles), i.base); err != nil {
		return err
	}
	i.known, err = i.incremental(argfiles)
	return err
}

// readFiles lists what is read beside the inputs and the base.
func (i *instrument) readFiles(argfiles []string) []string {
	return slices.Concat(argfiles, i.configFiles, i.rows.files(fileRead))
}

// sideFiles lists the files to be written beside the outputs, the mapping first; none with --ids, as assign has written
// them.
func (i *instrument) sideFiles() []target {
	return i.rows.targets(fileBeside)
}

func (i *instrument) run(cmd *cobra.Command) error {
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
	result, err := i.instrument(ctx, advance)
	done()
	if err != nil {
		return err
	}
	i.tell(result)
	if i.reported == nil {
		i.reported = i.reportOf(result)
	}
	for _, fault := range result.Tolerated {
		i.con.detail("wrong before and left so, beside the classes of this JDK: %s", fault)
	}
	if err := i.summarize(); err != nil {
		return err
	}
	return failedGuards(i.reported.Guards)
}

// instrument decides and writes, or writes what a slice says.
func (i *instrument) instrument(ctx context.Context, progress func(done, total int64)) (*pipeline.Result, error) {
	config := i.pipelineConfig()
	if i.slice == nil {
		config.Progress = progress
		return pipeline.Run(ctx, config)
	}
	return pipeline.Instrument(ctx, pipeline.SliceConfig{
		Inputs: config.Inputs, Inject: config.Inject, AddRequires: config.AddRequires, Verify: config.Verify, ClassPath: config.ClassPath,
		Level: config.Level, Jobs: config.Jobs, Incremental: config.Incremental, DryRun: config.DryRun, Progress: progress,
	}, i.slice)
}

// standardOutput is the name of standard output where a file could be named.
const standardOutput = "-"

// summarize prints what was done, or the report if it is asked for there. That a summary cannot be printed is no
// error: what it would sum up is done.
func (i *instrument) summarize() error {
	if i.report == standardOutput {
		if err := i.reported.WriteJSON(i.con.out); err != nil {
			return fmt.Errorf("--report: %w; all else has been written", err)
		}
		return nil
	}
	if i.con.quiet {
		return nil
	}
	if err := i.reported.WriteSummary(i.con.out, i.con.verbose); err != nil {
		i.con.warn("the summary could not be printed: %v", err)
	}
	return nil
}

// readRules reads the block lists, and puts all rules in order.
func (i *instrument) readRules() error {
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
	ofPreset, err := presetRules(i.preset)
	if err != nil {
		return err
	}
	i.rules = slices.Concat(ofPreset, listed, i.rules)
	return i.readR8()
}

// readR8 reads what the names in the inputs were.
func (i *instrument) readR8() error {
	if i.r8File == "" {
		return nil
	}
	data, err := os.ReadFile(i.r8File)
	if err != nil {
		return fmt.Errorf("--r8-mapping: %w", err)
	}
	if i.r8, err = r8.Parse(i.r8File, bytes.NewReader(data)); err != nil {
		return fmt.Errorf("--r8-mapping: %w", err)
	}
	sum := sha256.Sum256(data)
	i.r8Digest = hex.EncodeToString(sum[:8])
	return nil
}

// read reads the rules and the mappings of earlier builds.
func (i *instrument) read() error {
	if err := i.readRules(); err != nil {
		return err
	}
	if err := i.guards.read(); err != nil || i.base == "" {
		return err
	}
	base, err := mapping.Load(i.base)
	if err != nil {
		return fmt.Errorf("--base: %w", err)
	}
	for _, name := range i.prune {
		m, err := mapping.Load(name)
		if err != nil {
			return fmt.Errorf("--prune: %w", err)
		}
		i.pruneBy = append(i.pruneBy, m)
	}
	if i.baseR8 != "" {
		by, err := r8.Load(i.baseR8)
		if err != nil {
			return fmt.Errorf("--base-r8-mapping: %w", err)
		}
		base = base.Renamed(by)
	}
	i.baseMapping = base
	i.con.detail("base mapping %s: %d methods, digest %s", i.base, base.Len(), base.Digest())
	return nil
}

// neededClassPath looks for a JDK only if one is needed.
func (i *instrument) neededClassPath() pipeline.ClassPath {
	if i.disabled || i.verify == pipeline.VerifyEquivalence {
		return pipeline.ClassPath{Paths: i.classPath.files()} // for rules on supertypes
	}
	return i.classPath.find(i.con)
}

func (i *instrument) filterOptions() filter.Options {
	return filter.Options{
		Rules:         i.rules,
		Trivial:       i.trivial,
		RuntimeClass:  i.runtime,
		MatrixRuntime: i.preset == presetMatrix,
		R8:            i.r8,
	}
}

// pipelineConfig puts everything into the terms of package pipeline.
func (i *instrument) pipelineConfig() pipeline.Config {
	return pipeline.Config{
		Inputs: i.destination.inputs,
		Merge:  i.destination.merge,
		Filter: filter.New(i.filterOptions()),
		Inject: inject.Options{
			RuntimeClass:     i.runtime,
			Exits:            i.exits,
			ConstructorEntry: i.entry,
			KeepCompilable:   i.forJVM && !i.allowHuge,
		},
		FocusHooks:      i.focus,
		RuntimeExternal: i.runtimeExternal,
		AddRequires:     classfile.EncodeMUTF8(i.addRequires),
		Base:            i.baseMapping,
		Prune:           i.pruneBy,
		R8:              i.r8,
		Order:           i.order,
		Verify:          i.verify,
		ClassPath:       i.neededClassPath(),
		Level:           i.level,
		Jobs:            i.jobs,
		DryRun:          i.dryRun,
		Disabled:        i.disabled,
		Incremental:     i.known,
		Lines:           i.lines != "",
		Files:           i.sideContents(),
	}
}

// followSlice carries out what a slice says. Options of the command line that could only contradict it are refused;
// in tracegen.yml, which is there for all three steps, they are passed over, but for those that shape the calls.
func (i *instrument) followSlice(cmd *cobra.Command, args []string) error {
	var idle string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if o := i.rows.find(f.Name); o != nil && (o.withIDs == idsRefuse || o.withIDs == idsConfig) {
			idle = f.Name
		}
	})
	if idle != "" {
		return misuse("--%s has no say with --ids, all is decided: give it to scan or assign", idle)
	}
	slice, err := pipeline.LoadSlice(i.ids)
	if err != nil {
		return err
	}
	if err := madeHere(i.ids, slice.Origin()); err != nil {
		return err
	}
	if err := i.shape(slice.Origin()); err != nil {
		return err
	}
	i.slice = slice
	if err := i.locate(args); err != nil {
		return err
	}
	return i.run(cmd)
}

// shape takes over from a slice how calls look. What is said elsewhere has to be the same.
func (i *instrument) shape(by pipeline.Origin) error {
	if err := i.resolveOptions(); err != nil {
		return err
	}
	for _, name := range i.sliceOptions() {
		here, there := i.values[name], by.Options[name]
		if o := i.rows.find(name); (o.flag.Changed || i.preset.sets(o)) && here != there {
			return misuse("--%s is %s, and %s was made with %s", name, cmp.Or(here, "none"), i.ids, cmp.Or(there, "none"))
		}
	}
	if err := i.adoptOptions(i.sliceOptions(), by); err != nil {
		return fmt.Errorf("%s: %w", i.ids, err)
	}
	return i.resolveOptions()
}

// tell prints the warnings of a run, and with -v what the type verifier lacked.
func (i *instrument) tell(result *pipeline.Result) {
	for _, w := range result.Warnings {
		i.con.warn("%s", w)
	}
	if i.verify == pipeline.VerifyFull {
		i.con.detail("classes that the verifier did not find, and assumed to fit: %d", len(result.Unknown))
	}
	for _, name := range result.Unknown {
		i.con.detail("not found: %s", report.Printable(strings.ReplaceAll(name, "/", ".")))
	}
}
