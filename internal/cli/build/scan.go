package build

import (
	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
)

// NewScan returns the command scan.
func NewScan(con *console.Console) *cobra.Command {
	i := settings{con: con}
	cmd := &cobra.Command{
		Use:   "scan INPUT... -o PART.scan",
		Short: "Scan a part of an app for assign",
		Long: `scan is the first of three steps that together do the work of instrument, for
builds that are spread over machines or that redo only the parts that changed:

    tracegen scan INPUT... -o part.scan              for each module or jar
    tracegen assign part.scan... --slices DIR -o methodMapping.txt
    tracegen instrument --slice DIR/part.slice INPUT... -o OUT

scan decides which methods are traced, as far as each class decides it by itself,
rewrites each class on trial, and runs the checks of instrument on the result. The
scan file depends on the content and names of the inputs, the options and the
rules, and on nothing else.

INPUT and tracegen.yml are those of instrument. Options in tracegen.yml for other
commands are ignored.`,
		Example: `  tracegen scan feed.jar -o feed.scan --classpath android.jar
  tracegen scan @inputs.txt -o app.scan --exits exact`,
		Args: cli.AtLeastOne("input"),
	}
	i.addOptions(cmd, byScan)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if i.output == "" {
			return cli.Misuse("no output given: name the scan file by --output")
		}
		if err := i.resolveOptions(); err != nil {
			return err
		}
		i.planned = true
		if err := i.readRules(); err != nil {
			return err
		}
		return i.scan(cmd, args)
	}
	return cmd
}

// scan scans the inputs and writes the scan file.
func (i *settings) scan(cmd *cobra.Command, args []string) error {
	inputs, argfiles, err := cli.Paths(args)
	if err != nil {
		return err
	}
	for _, path := range inputs {
		i.destination.inputs = append(i.destination.inputs, pipeline.Input{Path: path, Output: i.output})
	}
	written := []cli.Target{{What: "--output", Path: i.output}}
	if err := cli.CheckNotRead(written, append(i.readFiles(argfiles), inputs...)); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(cmd.Context()) // before the first temporary file
	defer stop()
	undo, err := cli.Prepare(i.con, written)
	if err != nil {
		return err
	}
	defer undo()
	config := i.pipelineConfig()
	advance, done := i.con.Progress("scanning")
	config.Progress = advance
	result, err := pipeline.Scan(ctx, config, i.origin(), i.output)
	done()
	if err != nil {
		return err
	}
	i.printWarnings(result, result.Warnings)
	i.reported = i.reportOf(result)
	return i.summarize()
}
