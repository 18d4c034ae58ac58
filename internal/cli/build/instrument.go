package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// NewInstrument returns the command instrument.
func NewInstrument(con *console.Console) *cobra.Command {
	i := settings{con: con}
	cmd := &cobra.Command{
		Use:   "instrument INPUT... -o OUT",
		Short: "Insert entry and exit calls, and write the method mapping",
		Long: `instrument copies its inputs and makes every method worth measuring call the
runtime class: i(ID) at its entry, o(ID) at its exit. It checks that each
rewritten class is the original plus these calls, and that a JVM links it. If a
check fails, the class is rejected: the original is written instead.

INPUT is a .jar, .zip, .aar or .class file, or a directory of classes. A pattern
such as 'libs/**/*.jar' stands for all files and directories that match it, here, in
--classpath and in tracegen.yml. @FILE stands for the inputs that the argument file
FILE lists, one per line and without quoting; empty lines and lines that start with #
are skipped.

If there is one input, OUT is its output. If OUT is a directory or ends in a
slash, the output of a file is written into it, and that of a directory is OUT
itself. If there are several inputs, OUT is a directory. If two inputs have the
same name, the output of the second gets -2 appended, and so on. INPUT=OUTPUT
names the output of each input by itself, in place of --output.

If the runtime class is in none of the inputs, instrument adds the runtime that is
built into tracegen, and writes it beside OUT as tracegen-runtime.jar; with --merge
into the one jar. --runtime-external, --runtime-class and --preset matrix say that
the runtime is another one; nothing is added then.

Outputs, mapping and lists appear together when all of them are complete;
otherwise none appears. If a run is killed while they appear, the next one that
writes there finishes or undoes it. A file that is read may not be overwritten,
with one exception: --base may name the mapping that is replaced.

With --slice, instrument is the last of three steps for builds that are spread
over machines; see tracegen help scan. Give the inputs that were scanned, in the
same order. The slice holds all decisions, and the options that they depend on.
instrument fails if a class has changed since the scan, or if a check fails.

tracegen.yml can hold the same options, by their names without dashes, and rules
that decide which methods are traced. The command line takes precedence. File
names are relative to tracegen.yml.

    exits: exact
    rules:
      - block: com.example.generated.**
      - allow: com.example.generated.Important
      - block: com.example.Feed#get*(**)`,
		Example: `  tracegen instrument app.jar -o out.jar
  tracegen instrument app.jar lib.aar -o out/ --base release/methodMapping.txt
  tracegen instrument app.jar=build/app.jar lib.aar=build/lib.aar
  tracegen instrument @inputs.txt --merge -o all.jar --report report.json`,
		Args: cli.AtLeastOne("input"),
	}
	i.addOptions(cmd, byInstrument)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if i.sliceFile != "" {
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

// locate resolves the arguments to inputs and outputs, checks that nothing that is read is overwritten, and opens the
// cache.
func (i *settings) locate(args []string) error {
	list, argfiles, err := cli.ParseArguments(args)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return cli.Misuse("the argument files list no input")
	}
	if i.destination, err = resolveOutputs(list, i.output, i.merge); err != nil {
		return err
	}
	if i.mapping == "" && i.sliceFile == "" {
		i.mapping = filepath.Join(i.destination.beside, cli.DefaultMapping)
	}
	i.filesRead = i.readFiles(argfiles)
	if err := checkWritten(i.destination, i.sideFiles(), i.filesRead, i.base); err != nil {
		return err
	}
	i.known, err = i.incremental()
	return err
}

// readFiles returns the files that are read beside the inputs and the base mapping.
func (i *settings) readFiles(argfiles []string) []string {
	return slices.Concat(argfiles, i.configFiles, i.rows.Files(cli.FileRead))
}

// sideFiles returns the files that are written beside the outputs, the mapping first. With --slice there are none, as
// assign has written them.
func (i *settings) sideFiles() []cli.Target {
	return append(i.rows.Targets(cli.FileBeside), i.reportFiles()...)
}

func (i *settings) run(cmd *cobra.Command) error {
	ctx, stop := cli.Interruptible(cmd.Context()) // before the first temporary file
	defer stop()
	if !i.dryRun {
		undo, err := cli.Prepare(i.con, append(i.destination.outputs(), i.sideFiles()...))
		if err != nil {
			return err
		}
		defer undo() // removes empty directories only, and so none after success
	}
	advance, done := i.con.Progress("instrumenting")
	result, err := i.instrument(ctx, advance)
	done()
	if err != nil {
		return err
	}
	if i.reported == nil { // assign has written the files
		i.reported = i.reportOf(result)
		if err := i.printReport(); err != nil {
			return err
		}
	}
	i.printWarnings(result, i.reported.Warnings)
	if err := i.summarize(); err != nil {
		return err
	}
	return failedGuards(i.reported.Guards)
}

// instrument runs the pipeline: with all decisions, or with those of a slice.
func (i *settings) instrument(ctx context.Context, progress func(done, total int64)) (*pipeline.Result, error) {
	config := i.pipelineConfig()
	config.Progress = progress
	if i.slice == nil {
		return pipeline.Run(ctx, config)
	}
	return pipeline.Instrument(ctx, config, i.slice)
}

// summarize prints the summary, unless --report - has printed the report. On GitHub it also prints a notice. If the
// summary cannot be printed, it prints a warning, as the work is done.
func (i *settings) summarize() error {
	if i.con.Format == console.LogGitHub && i.reported.Mapping != nil {
		i.con.Notify("%s", i.reported.Notice())
	}
	if i.report == cli.StandardOutput { // printReport has printed it
		return nil
	}
	if i.con.Quiet {
		return nil
	}
	if err := i.reported.WriteSummary(i.con.Out, i.con.Verbose); err != nil {
		i.con.Warn("the summary could not be printed: %v", err)
	}
	return nil
}

// readRules reads the block lists, --libraries, the profiles and --r8-mapping, and puts all rules in order.
func (i *settings) readRules() error {
	var listed []filter.Rule
	for _, name := range i.blocklists {
		data, err := userfile.ReadSettings(name)
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
	if err := i.libraries.read(); err != nil {
		return err
	}
	if err := i.readProfiles(); err != nil {
		return err
	}
	return i.readR8()
}

// readProfiles reads the files of --profile.
func (i *settings) readProfiles() error {
	for _, name := range i.profiles {
		data, err := userfile.ReadText(name, maxText)
		if err != nil {
			return fmt.Errorf("--profile: %w", err)
		}
		p, err := filter.ParseProfile(name, []byte(data))
		if err != nil {
			return fmt.Errorf("--profile: %w", err)
		}
		if i.profile == nil {
			i.profile = p
		} else {
			i.profile.Add(p)
		}
		i.profileSums += fmt.Sprintf("profile %x\n", sha256.Sum256([]byte(data)))
		i.con.Detail("%s: %d methods, %d rules for the start of an app, of which %d are not understood", name,
			len(p.Lines), p.Rules, p.Ignored)
	}
	return nil
}

// readR8 reads --r8-mapping.
func (i *settings) readR8() error {
	if i.r8File == "" {
		return nil
	}
	data, err := userfile.ReadText(i.r8File, maxText)
	if err != nil {
		return fmt.Errorf("--r8-mapping: %w", err)
	}
	if i.r8, err = r8.Parse(i.r8File, data); err != nil {
		return fmt.Errorf("--r8-mapping: %w", err)
	}
	sum := sha256.Sum256([]byte(data))
	i.r8Digest = hex.EncodeToString(sum[:8])
	return nil
}

// read reads the rules and the files of earlier builds.
func (i *settings) read() error {
	if err := i.readRules(); err != nil {
		return err
	}
	if i.base == "" {
		return nil
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
	i.con.Detail("base mapping %s: %d methods, digest %s", i.base, base.Len(), base.Digest())
	return nil
}

// neededClassPath returns where classes are looked up. It looks for a JDK only if the type checker needs one.
func (i *settings) neededClassPath() pipeline.ClassPath {
	if i.disabled || i.verify == pipeline.VerifyEquivalence {
		return pipeline.ClassPath{Paths: i.classPath.files} // for rules on supertypes
	}
	return i.classPath.find(i.con)
}

func (i *settings) filterOptions() filter.Options {
	return filter.Options{
		Rules:         i.rules,
		Trivial:       i.trivial,
		RuntimeClass:  i.runtime,
		MatrixRuntime: i.preset == presetMatrix,
		R8:            i.r8,
		Profile:       i.profile,
		Scope:         i.libraries.scope,
		Libraries:     i.libraries.classes,
	}
}

// pipelineConfig returns the configuration of the run for package pipeline.
func (i *settings) pipelineConfig() pipeline.Config {
	return pipeline.Config{
		Inputs: i.destination.inputs,
		Flat:   i.flat,
		Merge:  i.destination.merge,
		Filter: filter.New(i.filterOptions()),
		Inject: inject.Options{
			RuntimeClass:     i.runtime,
			Exits:            i.exits,
			ConstructorEntry: i.entry,
			KeepCompilable:   i.forJVM && !i.allowHuge,
			Posts:            i.posts,
			Coroutines:       i.coroutines.areReported(i.runtime),
		},
		CoroutinesIfAny: i.coroutines == coroutinesAuto,
		FocusHooks:      i.focus,
		Android:         !i.forJVM,
		RuntimeExternal: i.runtimeExternal,
		BuiltIn:         i.builtIn(),
		AddRequires:     classfile.EncodeMUTF8(i.addRequires),
		Base:            i.baseMapping,
		Prune:           i.pruneBy,
		R8:              i.r8,
		Order:           i.order,
		Messages:        filter.MessageRules(i.rules),
		Verify:          i.verify,
		ClassPath:       i.neededClassPath(),
		Level:           i.level,
		Jobs:            i.jobs,
		DryRun:          i.dryRun,
		Disabled:        i.disabled,
		Incremental:     i.known,
		Lines:           i.directory != "",
		Files:           i.sideContents(),
	}
}

// followSlice instruments by the decisions of a slice. It refuses options on the command line that the slice makes
// irrelevant. In tracegen.yml, which serves all three steps, it ignores them; but the options that the slice records
// must agree with it.
func (i *settings) followSlice(cmd *cobra.Command, args []string) error {
	for k := range i.rows { // of the command line: tracegen.yml has not been read
		if o := &i.rows[k]; o.Flag.Changed && (o.WithSlice == cli.SliceRefuses || o.WithSlice == cli.SliceIgnores) {
			return cli.Misuse("%s has no effect with --slice, which holds all decisions: give it to scan or assign", o.Title())
		}
	}
	slice, err := pipeline.LoadSlice(i.sliceFile)
	if err != nil {
		return err
	}
	if err := madeHere(i.sliceFile, slice.Origin()); err != nil {
		return err
	}
	if err := i.adoptSlice(slice.Origin()); err != nil {
		return err
	}
	i.slice = slice
	if err := i.locate(args); err != nil {
		return err
	}
	return i.run(cmd)
}

// adoptSlice sets the options that the slice records. It fails if one is given with another value.
func (i *settings) adoptSlice(by pipeline.Origin) error {
	if err := i.resolveOptions(); err != nil {
		return err
	}
	for _, name := range i.sliceOptions() {
		here, there := i.values[name], by.Options[name]
		if o := i.rows.Find(name); (o.Flag.Changed || i.preset.sets(o)) && here != there {
			return cli.Misuse("%s is %s, but %s was made with %s", o.Title(), cmp.Or(here, "none"), i.sliceFile,
				cmp.Or(there, "none"))
		}
	}
	if err := i.adoptOptions(i.sliceOptions(), by); err != nil {
		return fmt.Errorf("%s: %w", i.sliceFile, err)
	}
	return i.resolveOptions()
}

// printWarnings prints the warnings of a run and, with -v, the classes that the type checker did not find.
func (i *settings) printWarnings(result *pipeline.Result, warnings []string) {
	for _, w := range warnings {
		i.con.Warn("%s", console.Printable(w)) // a name may have a line end
	}
	if i.verify == pipeline.VerifyFull {
		i.con.Detail("classes not found by the type checker, which assumed that they fit: %d", len(result.Unknown))
	}
	for _, name := range result.Unknown {
		i.con.Detail("not found: %s", console.Printable(strings.ReplaceAll(name, "/", ".")))
	}
}
