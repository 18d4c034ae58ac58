package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/zipfile"
)

func newStripCmd(con *console) *cobra.Command {
	s := strip{con: con}
	cmd := &cobra.Command{
		Use:   "strip INPUT -o OUT",
		Short: "Remove the calls that instrument inserted",
		Long: `strip copies its input and removes all that instrument added to the classes. Each
class then has the bytes of its original.

INPUT and OUT are those of instrument.`,
		Example: `  tracegen strip out/app.jar -o original.jar`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("give one input; %d given", len(args))
			}
			return nil
		},
	}
	cmd.ValidArgsFunction = completeFiles(classFiles...)
	table := s.options()
	table.addTo(cmd, byStrip)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o := table.find("runtime-class"); s.preset.sets(o) && !o.flag.Changed {
			s.runtimeClass = o.matrix
		}
		config, err := s.config(args[0])
		if err != nil {
			return err
		}
		return s.run(cmd, config)
	}
	return cmd
}

// strip holds the options of the command. It does not read tracegen.yml, which may name another runtime class than the
// file that was used when the input was instrumented.
type strip struct {
	con          *console
	output       string
	preset       preset
	runtimeClass string
	jobs         int
	level        zipfile.Level
	reading      readLimits
}

func (s *strip) options() options {
	return newOptions(s.reading.rows(), []option{
		outputOption(&s.output),
		presetOption(&s.preset, "set the default of --runtime-class: that of tracegen or that of Matrix"),
		runtimeClassOption(&s.runtimeClass, "the `CLASS` whose calls are removed"),
		jobsOption(&s.jobs),
		compressionOption(&s.level),
		quietOption(s.con, byStrip),
	})
}

func (s *strip) config(arg string) (pipeline.StripConfig, error) {
	runtime, err := internalName(s.runtimeClass)
	if err != nil {
		return pipeline.StripConfig{}, misuse("--runtime-class: %w", err)
	}
	if s.jobs < 0 {
		return pipeline.StripConfig{}, misuse("--jobs %d: must not be negative", s.jobs)
	}
	input, err := parseArgument(arg)
	if err != nil {
		return pipeline.StripConfig{}, err
	}
	d, err := resolveOutputs([]argument{input}, s.output, false)
	if err != nil {
		return pipeline.StripConfig{}, err
	}
	return pipeline.StripConfig{
		Inputs:       d.inputs,
		Reading:      s.reading.options(),
		RuntimeClass: runtime,
		Level:        s.level,
		Jobs:         s.jobs,
	}, nil
}

func (s *strip) run(cmd *cobra.Command, config pipeline.StripConfig) error {
	ctx, stop := interruptible(cmd.Context()) // before the first temporary file
	defer stop()
	undo, err := makeDirectories([]target{{"--output", config.Inputs[0].Output}})
	if err != nil {
		return err
	}
	defer undo()
	if err := s.con.checkWritable(destination{inputs: config.Inputs}, nil); err != nil {
		return err
	}
	advance, done := s.con.progress("stripping")
	config.Progress = advance
	result, err := pipeline.Strip(ctx, config)
	done()
	if err != nil {
		return err
	}
	changed := 0
	for _, in := range result.Inputs {
		changed += in.Rewritten
	}
	if changed == 0 {
		result.Warnings = append(result.Warnings,
			"no class calls "+dotted(s.runtimeClass)+"; if the input is instrumented, give the --runtime-class "+
				"that was used")
	}
	for _, w := range result.Warnings {
		s.con.warn("%s", w)
	}
	if s.con.quiet {
		return nil
	}
	for _, in := range result.Inputs {
		if _, err := fmt.Fprintf(s.con.out, "%s -> %s: calls removed from %d of %d classes\n",
			buildreport.Printable(in.Path), buildreport.Printable(in.Output), in.Rewritten, in.Classes); err != nil {
			s.con.warn("the summary could not be printed: %v", err)
		}
	}
	return nil
}
