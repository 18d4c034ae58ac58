package build

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// NewVerify returns the command verify.
func NewVerify(con *console.Console) *cobra.Command {
	v := verification{con: con}
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Check classes as a JVM does when it links them",
		Long: `verify checks each class as HotSpot does when it links the class: format,
constraints, and types (JVMS 4.8 to 4.10). It prints one line per finding:

    PATH[!ENTRY]: CLASS#METHOD(DESC)@OFFSET: RULE: expected WHAT, found WHAT

PATH is a .jar, .zip, .aar or .class file, or a directory of classes. Classes that
they refer to are looked up on --classpath, then in the same file, then in the other
files, then in the JDK. A class that is not found is assumed to fit. Without --jdk,
the JDK is that of JAVA_HOME, or else that of java on PATH.

The exit code is 1 if there are findings. With --baseline, findings that the original
has too are pre-existing, and only the others, introduced ones, make the exit code 1.`,
		Example: `  tracegen verify app.jar --classpath android.jar
  tracegen verify out/app.jar --baseline app.jar
  tracegen verify app.jar --format sarif > findings.sarif`,
		Args: cli.AtLeastOne("file or directory"),
	}
	v.options().AddTo(cmd, byVerify)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return v.run(cmd, args) }
	return cmd
}

// verification holds the options of the command.
type verification struct {
	con       *console.Console
	classPath classPath
	baseline  []string
	format    format
	jobs      int
}

func (v *verification) options() cli.Options {
	quiet := cli.QuietOption(v.con, byVerify)
	quiet.Help = "print findings, warnings and errors only"
	return cli.NewOptions(v.classPath.options(false), []cli.Option{
		{Name: "baseline", Flag: cli.Texts(&v.baseline), File: cli.FileRead,
			Help: "compare with `ORIGINAL`, a file or directory: findings that it has too are pre-existing; " +
				"repeatable"},
		{Name: "format", Help: "format of the findings on standard output",
			Flag: cli.OneOf(&v.format, formatText, cli.Word("text", formatText), cli.Word("json", formatJSON),
				cli.Word("sarif", formatSARIF))},
		jobsOption(&v.jobs),
		quiet,
		{Name: "verbose", Short: "v", Flag: cli.Yes(&v.con.Verbose),
			Help: "also print the types at each finding, and the classes that were not found"},
	})
}

// format is the format of findings.
type format uint8

const (
	formatText format = iota
	formatJSON
	formatSARIF
)

func (v *verification) config(args []string) (pipeline.VerifyConfig, error) {
	if v.con.Quiet && v.con.Verbose {
		return pipeline.VerifyConfig{}, cli.Misuse("--quiet and --verbose exclude each other")
	}
	if v.jobs < 0 {
		return pipeline.VerifyConfig{}, cli.Misuse("--jobs %d: must not be negative", v.jobs)
	}
	if err := v.classPath.resolve(); err != nil {
		return pipeline.VerifyConfig{}, err
	}
	return pipeline.VerifyConfig{
		Paths:     args,
		Baseline:  v.baseline,
		ClassPath: v.classPath.find(v.con),
		Frames:    v.con.Verbose,
		Jobs:      v.jobs,
	}, nil
}

func (v *verification) run(cmd *cobra.Command, args []string) error {
	paths, _, err := cli.Paths(args)
	if err != nil {
		return err
	}
	config, err := v.config(paths)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	advance, done := v.con.Progress("verifying")
	config.Progress = advance
	found, err := pipeline.Verify(ctx, config)
	done()
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		v.con.Warn("%s", w)
	}
	for _, name := range found.Unknown {
		v.con.Detail("class %s not found, assumed to fit", mapping.Text(name))
	}
	if found.Classes == 0 {
		return fmt.Errorf("nothing was checked: there is no class that can be read in %s", strings.Join(args, ", "))
	}
	found.Version = cli.Version()
	if err := v.print(found); err != nil {
		return err
	}
	if v.con.Format == console.LogGitHub {
		for _, m := range found.Messages() {
			v.con.Print(m)
		}
	}
	if found.Bad() {
		return cli.CheckFailed{Err: errors.New(found.Summary())}
	}
	if !v.con.Quiet {
		v.con.Notify("%s", found.Summary())
	}
	return nil
}

func (v *verification) print(found *buildreport.Verification) error {
	switch v.format {
	case formatJSON:
		return found.WriteJSON(v.con.Out)
	case formatSARIF:
		return found.WriteSARIF(v.con.Out)
	}
	return found.WriteText(v.con.Out)
}
