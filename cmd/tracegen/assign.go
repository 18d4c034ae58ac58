package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/pipeline"
)

// assign holds what the command line says beyond what instrument knows.
type assign struct {
	instrument
	parts []*pipeline.Part
}

func newAssignCmd(con *console) *cobra.Command {
	a := assign{instrument: instrument{con: con}}
	cmd := &cobra.Command{
		Use:   "assign PART.scan... --slices DIR -o FILE",
		Short: "give the methods of scanned parts their IDs, and write the mapping",
		Long: `assign puts together what scan found out about the parts of an app, in any order. It
decides what needs the whole: IDs, which Activities report focus changes, rules on
supertypes, and what the runtime class reaches. It writes the mapping, and for each
PART.scan a slice DIR/PART.ids: the decisions on that part and nothing else, so that
a part that has not changed keeps its slice, byte by byte, as long as its IDs stay
where they are (which --base sees to).

How classes are instrumented is in the scan files. All have to be made by the same
version of tracegen, with the same options. Rules have to be named again, by the
same --config and --blocklist. @FILE stands for the scan files that FILE lists.`,
		Example: `  tracegen assign *.scan --slices ids/ -o methodMapping.txt
  tracegen assign @scans.txt --slices ids/ -o methodMapping.txt --base release/methodMapping.txt`,
		Args: atLeastOne("scan file"),
	}
	cmd.ValidArgsFunction = completeFiles("scan")
	a.addOptions(cmd, byAssign)
	cmd.RunE = a.run
	return cmd
}

func (a *assign) run(cmd *cobra.Command, args []string) error {
	if a.output == "" || a.slices == "" {
		return misuse("--output and --slices are needed: where the mapping goes, and the slices")
	}
	files, argfiles, err := paths(args)
	if err != nil {
		return err
	}
	if err := a.load(files); err != nil {
		return err
	}
	if err := a.adoptOptions(a.originOptions(), a.parts[0].Origin()); err != nil {
		return err
	}
	if err := a.resolve(); err != nil {
		return err
	}
	if a.guards.asks("growth") || a.guards.asks("calls") {
		return misuse("--fail-on growth and calls are about what instrument writes, which is not known yet")
	}
	a.mapping, a.planned = a.output, true
	if err := a.read(); err != nil {
		return err
	}
	if here, there := rulesDigest(a.rules), a.parts[0].Origin().Options[rulesOption]; here != there {
		return misuse("%s was scanned with %s, and assign is given %s: name the same --config and --blocklist", a.parts[0].Path(), orNo(there), orNo(here))
	}
	if there := a.parts[0].Origin().Options[r8Option]; a.r8Digest != there {
		return misuse("%s was scanned with another --r8-mapping, or with none: name the same", a.parts[0].Path())
	}
	read := append(a.readFiles(argfiles), files...)
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

func (a *assign) load(files []string) error {
	for _, file := range files {
		part, err := pipeline.LoadPart(file)
		if err != nil {
			return err
		}
		if err := madeHere(file, part.Origin()); err != nil {
			return err
		}
		a.parts = append(a.parts, part)
	}
	return nil
}

// written lists all files that are going to be written, the mapping first.
func (a *assign) written() []target {
	files := []target{{"--output", a.mapping}}
	seen := map[string]bool{}
	for _, p := range a.parts {
		if !seen[p.Name()] { // that there are two, package pipeline explains
			files = append(files, target{"the slice of " + p.Path(), filepath.Join(a.slices, p.Name()+pipeline.SliceExtension)})
		}
		seen[p.Name()] = true
	}
	return append(files, a.sideFiles()[1:]...)
}

func (a *assign) carryOut(cmd *cobra.Command) error {
	undo, err := makeDirectories(a.written())
	if err != nil {
		return err
	}
	defer undo()
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	config := a.pipelineConfig()
	result, err := pipeline.Assign(ctx, pipeline.AssignConfig{
		Filter: config.Filter, RuntimeClass: config.Inject.RuntimeClass, FocusHooks: config.FocusHooks, RuntimeExternal: config.RuntimeExternal,
		AddRequires: config.AddRequires, R8: config.R8, Base: config.Base, Prune: config.Prune, Order: config.Order,
		ClassPath: config.ClassPath.Paths, Lines: config.Lines, Files: config.Files,
	}, a.parts, a.slices)
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		a.con.warn("%s", w)
	}
	if err := a.summarize(); err != nil {
		return err
	}
	return failedGuards(a.reported.Guards)
}
