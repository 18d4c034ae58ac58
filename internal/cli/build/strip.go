package build

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// NewStrip returns the command strip.
func NewStrip(con *console.Console) *cobra.Command {
	s := strip{con: con}
	cmd := &cobra.Command{
		Use:   "strip INPUT -o OUT | strip --check ORIGINAL OUTPUT",
		Short: "Remove the calls that instrument inserted",
		Long: `strip copies its input and removes all that instrument added to the classes. Each
class then has the bytes of its original. INPUT and OUT are those of instrument.

With --check, strip writes nothing. It removes the calls from OUTPUT in a temporary
directory, and compares the result with ORIGINAL, from which instrument has made it: the
same entries, in the same order, with the same bytes. Two differences are allowed, and
named: calls of an earlier run and signatures of jars, which instrument removes.
Compression, times and permissions are not compared, nor are the IDs of the calls. The
output of --merge has no single original, and cannot be checked.

The exit code of --check is 0 if OUTPUT is ORIGINAL plus calls, 1 if it is not, with each
difference on standard error, and 2 if one of them cannot be read.`,
		Example: `  tracegen strip out/app.jar -o original.jar
  tracegen strip --check app.jar out/app.jar`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case s.check && len(args) != 2:
				return cli.Misuse("--check needs ORIGINAL and OUTPUT; %d given", len(args))
			case !s.check && len(args) != 1:
				return cli.Misuse("give one input; %d given", len(args))
			}
			return nil
		},
	}
	table := s.options()
	table.AddTo(cmd, byStrip)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o := table.Find("runtime-class"); s.preset.sets(o) && !o.Flag.Changed {
			s.runtimeClass = o.Matrix
		}
		if s.check {
			if s.output != "" {
				return cli.Misuse("--check writes nothing; it excludes --output")
			}
			return s.compare(cmd.Context(), args[0], args[1])
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
	con          *console.Console
	check        bool
	output       string
	preset       preset
	runtimeClass string
	jobs         int
	level        zipfile.Level
}

func (s *strip) options() cli.Options {
	return cli.NewOptions([]cli.Option{
		{Name: "check", Flag: cli.Yes(&s.check), Help: "compare an output with its original instead of writing one"},
		outputOption(&s.output),
		presetOption(&s.preset, "set the default of --runtime-class: that of tracegen or that of Matrix"),
		runtimeClassOption(&s.runtimeClass, "the `CLASS` whose calls are removed"),
		jobsOption(&s.jobs),
		compressionOption(&s.level),
		cli.QuietOption(s.con, byStrip),
	})
}

// common checks the options that --check has too, and returns the internal name of the runtime class.
func (s *strip) common() (string, error) {
	runtime, err := internalName(s.runtimeClass)
	if err != nil {
		return "", cli.Misuse("--runtime-class: %w", err)
	}
	if s.jobs < 0 {
		return "", cli.Misuse("--jobs %d: must not be negative", s.jobs)
	}
	return runtime, nil
}

func (s *strip) config(arg string) (pipeline.Config, error) {
	runtime, err := s.common()
	if err != nil {
		return pipeline.Config{}, err
	}
	inputs, _, err := cli.ParseArguments([]string{arg})
	if err != nil {
		return pipeline.Config{}, err
	}
	if len(inputs) != 1 {
		return pipeline.Config{}, cli.Misuse("%s: give one input; %d match", arg, len(inputs))
	}
	d, err := resolveOutputs(inputs, s.output, false)
	if err != nil {
		return pipeline.Config{}, err
	}
	return pipeline.Config{Inputs: d.inputs, Inject: inject.Options{RuntimeClass: runtime}, Level: s.level,
		Jobs: s.jobs}, nil
}

func (s *strip) run(cmd *cobra.Command, config pipeline.Config) error {
	ctx, stop := cli.Interruptible(cmd.Context()) // before the first temporary file
	defer stop()
	undo, err := cli.Prepare(s.con, destination{inputs: config.Inputs}.outputs())
	if err != nil {
		return err
	}
	defer undo()
	advance, done := s.con.Progress("stripping")
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
		s.con.Warn("%s", w)
	}
	if s.con.Quiet {
		return nil
	}
	for _, in := range result.Inputs {
		if _, err := fmt.Fprintf(s.con.Out, "%s -> %s: calls removed from %d of %d classes\n",
			console.Printable(in.Path), console.Printable(in.Output), in.Rewritten, in.Classes); err != nil {
			s.con.Warn("the summary could not be printed: %v", err)
		}
	}
	return nil
}

// compare does the work of --check.
func (s *strip) compare(ctx context.Context, original, output string) error {
	runtime, err := s.common()
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	before, err := os.Stat(original)
	if err != nil {
		return err
	}
	after, err := os.Stat(output)
	if err != nil {
		return err
	}
	if os.SameFile(before, after) {
		return cli.Misuse("ORIGINAL %s and OUTPUT %s are the same file", original, output)
	}
	advance, done := s.con.Progress("comparing")
	r, err := pipeline.Restore(ctx, pipeline.RestoreConfig{Original: original, Output: output,
		RuntimeClass: runtime, Jobs: s.jobs, Progress: advance})
	done()
	if err != nil {
		return err
	}
	var failed []error
	for _, text := range r.Differences {
		failed = append(failed, errors.New(text))
	}
	if r.Called == 0 && r.Earlier > 0 {
		failed = append(failed, fmt.Errorf("%d classes of ORIGINAL %s have calls, and none of OUTPUT %s; give the original "+
			"first", r.Earlier, original, output))
	}
	if r.Called == 0 && len(r.Differences) > 0 {
		s.con.Warn("no class of %s calls %s; if it is instrumented, give the --runtime-class that was used", output,
			dotted(s.runtimeClass))
	}
	if r.Called > 0 && r.Earlier > 0 {
		s.con.Warn("%d classes of %s have calls of an earlier run already; they were compared without these", r.Earlier,
			original)
	}
	if r.Unsigned > 0 {
		s.con.Warn("%s is signed; the signature is not in %s, where it would be wrong", original, output)
	}
	if len(failed) > 0 {
		return cli.CheckFailed{Err: errors.Join(failed...)}
	}
	if s.con.Quiet {
		return nil
	}
	_, err = fmt.Fprintf(s.con.Out, "%s: without the calls in %d of %d classes, its %d entries are those of %s\n",
		console.Printable(output), r.Called, r.Classes, r.Entries, console.Printable(original))
	return err
}
