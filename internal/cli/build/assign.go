package build

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
)

// assign holds the options of the command, and its parts.
type assign struct {
	settings
	sliceDirectory string // --slices
	parts          []*pipeline.Part
	slices         map[*pipeline.Part]string // paths of PART.scan=SLICE; empty with --slices
}

// NewAssign returns the command assign.
func NewAssign(con *console.Console) *cobra.Command {
	a := assign{settings: settings{con: con}}
	cmd := &cobra.Command{
		Use:   "assign PART.scan... --slices DIR -o FILE",
		Short: "Assign IDs to the methods of scanned parts, and write the method mapping",
		Long: `assign reads the scan files of all parts of an app, in any order. It makes the
decisions that need the whole app: the IDs of methods, which Activities report focus
changes, which rules on supertypes match, and which methods the runtime class
reaches. It writes the mapping, and for each PART.scan a slice DIR/PART.slice. The
slice holds the decisions on that part only. If a part has not changed and keeps its
IDs, as it does with --base, its slice stays the same, byte for byte. PART.scan=SLICE
names the slice of each part by itself, in place of --slices.

The scan files record the options of scan. They must come from the same version of
tracegen, with the same options. Give --config and --blocklist as for scan, since
assign needs the rules. @FILE stands for the scan files that FILE lists.`,
		Example: `  tracegen assign *.scan --slices ids/ -o methodMapping.txt
  tracegen assign @scans.txt --slices ids/ -o methodMapping.txt --base release/methodMapping.txt
  tracegen assign feed.scan=feed.slice app.scan=app.slice -o methodMapping.txt`,
		Args: cli.AtLeastOne("scan file"),
	}
	a.addOptions(cmd, byAssign,
		cli.Option{Name: "slices", Flag: cli.Text(&a.sliceDirectory, ""), Config: cli.OffLimits, Omit: cli.InNoRecord,
			File: cli.FileOutput,
			Help: "write the slice of each part into `DIR`"})
	cmd.RunE = a.run
	return cmd
}

func (a *assign) run(cmd *cobra.Command, args []string) error {
	if a.output == "" {
		return cli.Misuse("--output is missing: name the mapping")
	}
	list, argfiles, err := cli.ParseArguments(args)
	if err != nil {
		return err
	}
	if err := a.load(list); err != nil {
		return err
	}
	if err := a.adoptOptions(a.originOptions(), a.parts[0].Origin()); err != nil {
		return err
	}
	if a.guards.guards.Has("growth") { // in tracegen.yml, it is for instrument
		return cli.Misuse("--guard growth needs the rewritten classes: give it to instrument")
	}
	if err := a.resolve(); err != nil {
		return err
	}
	a.mapping, a.planned = a.output, true
	if err := a.read(); err != nil {
		return err
	}
	if here, there := rulesDigest(a.rules), a.parts[0].Origin().Options[rulesOption]; here != there {
		return cli.Misuse("%s was scanned with %s, but assign has %s: give the same --config and --blocklist",
			a.parts[0].Path(), orNo(there), orNo(here))
	}
	if there := a.parts[0].Origin().Options[r8Option]; a.r8Digest != there {
		return cli.Misuse("%s was scanned with another --r8-mapping or with none: give the same", a.parts[0].Path())
	}
	read := a.readFiles(argfiles)
	for _, arg := range list {
		read = append(read, arg.Path)
	}
	if err := checkWritten(destination{}, a.written(), read, a.base); err != nil {
		return err
	}
	return a.carryOut(cmd)
}

func orNo(rules string) string {
	if rules == "" {
		return "no rules"
	}
	return rules
}

// load reads the scan files. It fails if the slice of one is named by its argument and by --slices, or by neither.
func (a *assign) load(list []cli.Argument) error {
	if len(list) == 0 {
		return cli.Misuse("the argument files list no scan file")
	}
	a.slices = make(map[*pipeline.Part]string)
	for _, arg := range list {
		switch {
		case arg.Output == "" && a.sliceDirectory == "":
			return cli.Misuse("the slice of %s has no name: give --slices DIR, or %s=SLICE", arg.Path, arg.Path)
		case arg.Output != "" && a.sliceDirectory != "":
			return cli.Misuse("%s=%s with --slices: give one of the two", arg.Path, arg.Output)
		}
		part, err := pipeline.LoadPart(arg.Path)
		if err != nil {
			return err
		}
		if err := madeHere(arg.Path, part.Origin()); err != nil {
			return err
		}
		a.parts = append(a.parts, part)
		if arg.Output != "" {
			a.slices[part] = arg.Output
		}
	}
	return nil
}

// sliceOf returns the path of the slice of a part.
func (a *assign) sliceOf(p *pipeline.Part) string {
	if named, ok := a.slices[p]; ok {
		return named
	}
	return filepath.Join(a.sliceDirectory, p.Name()+pipeline.SliceExtension)
}

// written returns all files that are written, the mapping first.
func (a *assign) written() []cli.Target {
	files := []cli.Target{{What: "--output", Path: a.mapping}}
	seen := map[string]bool{}
	for _, p := range a.parts {
		if !seen[p.Name()] { // package pipeline refuses two parts of one name
			files = append(files, cli.Target{What: "the slice of " + p.Path(), Path: a.sliceOf(p)})
		}
		seen[p.Name()] = true
	}
	return append(files, a.sideFiles()[1:]...)
}

func (a *assign) carryOut(cmd *cobra.Command) error {
	ctx, stop := cli.Interruptible(cmd.Context()) // before the first temporary file
	defer stop()
	undo, err := cli.Prepare(a.con, a.written())
	if err != nil {
		return err
	}
	defer undo()
	_, err = pipeline.Assign(ctx, a.pipelineConfig(), a.parts, pipeline.Slices{Options: a.sliceOptions(), File: a.sliceOf})
	if err != nil {
		return err
	}
	for _, w := range a.reported.Warnings {
		a.con.Warn("%s", w)
	}
	if err := a.summarize(); err != nil {
		return err
	}
	return failedGuards(a.reported.Guards)
}
