package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
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
	addGroups(cmd, i.outputFlags(), i.idFlags(), i.methodFlags(), i.callFlags(), i.verifyFlags(), i.guards.add(), i.runFlags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := i.settle(cmd.Flags()); err != nil {
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
	if i.mapping == "" {
		i.mapping = filepath.Join(i.destination.beside, defaultMapping)
	}
	read := slices.Concat(argfiles, i.blocklists, i.prune, i.configFiles)
	if i.guards.baseReport != "" {
		read = append(read, i.guards.baseReport)
	}
	return checkWritten(i.destination, i.sideFiles(), read, i.base)
}

// sideFiles lists the files to be written beside the outputs, the mapping first.
func (i *instrument) sideFiles() []target {
	files := []target{{"--mapping", i.mapping}}
	for _, f := range []target{{"--lines", i.lines}, {"--skipped", i.skipped}, {"--report", i.report}} {
		if f.path != "" && !(f.what == "--report" && f.path == standardOutput) {
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
	i.con.detail("classes that the verifier did not find, and assumed to fit: %d", len(result.Unknown))
	for _, name := range result.Unknown {
		i.con.detail("not found: %s", mapping.Text(name))
	}
	if err := i.summarize(); err != nil {
		return err
	}
	return judge(i.reported.Guards)
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

// read reads the mappings of earlier builds and the block lists, and puts all rules in order.
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
	ofPreset, err := presetRules(i.preset)
	if err != nil {
		return err
	}
	i.rules = slices.Concat(ofPreset, listed, i.rules)
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
	i.baseMapping = base
	i.con.detail("base mapping %s: %d methods, digest %s", i.base, base.Len(), base.Digest())
	return nil
}

// surroundings looks for a JDK only if one is needed.
func (i *instrument) surroundings() pipeline.Surroundings {
	if i.disabled || i.verify == pipeline.VerifyEquivalence {
		return pipeline.Surroundings{ClassPath: i.around.files()} // for rules on supertypes
	}
	return i.around.find(i.con)
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
		AddRequires:     classfile.EncodeMUTF8(i.addRequires),
		Base:            i.baseMapping,
		Prune:           i.pruneBy,
		Order:           i.order,
		Verify:          i.verify,
		Surroundings:    i.surroundings(),
		Level:           i.level,
		Jobs:            i.jobs,
		DryRun:          i.dryRun,
		Disabled:        i.disabled,
		Lines:           i.lines != "",
		Files:           i.files,
	}
}
