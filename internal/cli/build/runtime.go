package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// builtInName stands for the path of the built-in runtime in messages and reports.
const builtInName = "built-in " + runtimejars.JVMName

// builtIn returns the runtime that instrument and explain add if no input holds it. It returns nil if the runtime is
// another one. Package pipeline adds none to copies.
func (i *settings) builtIn() *pipeline.BuiltIn {
	if i.runtimeExternal || i.runtime != contract.RuntimeClass || i.as&(byInstrument|byExplain) == 0 {
		return nil
	}
	return &pipeline.BuiltIn{Name: builtInName, Data: runtimejars.JVM().Data,
		Output: filepath.Join(i.destination.beside, runtimejars.JVMName)}
}

// checkBuiltIn refuses to write the built-in runtime over a file that is read, or that is written beside the outputs.
// Package pipeline checks the same of inputs and outputs.
func (i *settings) checkBuiltIn(added *buildreport.Input) error {
	if i.destination.merge != "" {
		return nil
	}
	return checkWritten(destination{}, append(i.sideFiles(), cli.Target{What: "the built-in runtime",
		Path: added.Output}), i.filesRead,
		i.base)
}

// NewRuntime returns the command runtime.
func NewRuntime(con *console.Console) *cobra.Command {
	r := runtimeWriter{con: con}
	cmd := &cobra.Command{
		Use:   "runtime -o DIR",
		Short: "Write the runtime that instrumented classes call",
		Long: `runtime writes the files of the runtime, which are built into tracegen:

  tracegen-runtime.jar          AppMethodBeat and the recorder, for any JVM
  tracegen-runtime-core.jar     the same without what only a JVM needs, for Android
  tracegen-runtime-android.aar  messages, frames and configuration of an Android app;
                                it needs tracegen-runtime-core.jar
  tracegen-runtime-report.jar   sends reports of stalls to a collector
  tracegen-runtime-noop.jar     all public names of the others, doing nothing, for
                                builds that do not record
  tracegen-runtime-matrix.jar   the class that --preset matrix calls; it needs
                                tracegen-runtime-core.jar

instrument adds the first of them by itself. Give it to instrument or scan as an
input where you want to say where it goes. All files appear, or none. A file that
has the content already is left alone; a tracegen-runtime file of another version is
replaced.`,
		Example: `  tracegen runtime -o libs/`,
		Args:    cli.NoArguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return r.run() },
	}
	r.options().AddTo(cmd, 0)
	return cmd
}

// runtimeWriter holds the options of the command.
type runtimeWriter struct {
	con       *console.Console
	directory string
}

func (r *runtimeWriter) options() cli.Options {
	return cli.NewOptions([]cli.Option{
		{Name: "output", Short: "o", Flag: cli.Text(&r.directory, ""), File: cli.FileOutput,
			Help: "write the files into `DIR`, which is made if it does not exist"},
		{Name: "quiet", Short: "q", Flag: cli.Yes(&r.con.Quiet), Help: "print warnings and errors only"},
	})
}

func (r *runtimeWriter) run() error {
	if r.directory == "" {
		return cli.Misuse("no directory given: name it by --output")
	}
	if info, err := os.Stat(r.directory); err == nil && !info.IsDir() {
		return cli.Misuse("--output %s is a file; name a directory", r.directory)
	}
	var files []cli.Target
	for _, f := range runtimejars.All() {
		files = append(files, cli.Target{What: "--output", Path: filepath.Join(r.directory, f.Name)})
	}
	undo, err := cli.Prepare(r.con, files)
	if err != nil {
		return err
	}
	defer undo() // removes empty directories only, and so none after success
	if err := writeRuntime(r.con, files); err != nil {
		return err
	}
	if r.con.Quiet {
		return nil
	}
	for k, f := range runtimejars.All() {
		if _, err := fmt.Fprintf(r.con.Out, "%s: %s\n", console.Printable(files[k].Path), f.Content); err != nil {
			return err
		}
	}
	return nil
}

// writeRuntime writes all files of the runtime, or none.
func writeRuntime(con *console.Console, files []cli.Target) error {
	stage := &output.Stage{Warn: con.WarnText}
	defer stage.Abort()
	for k, f := range runtimejars.All() {
		path := files[k].Path
		there, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(there, f.Data):
			continue // it keeps its time
		case err == nil && !runtimejars.IsRuntime(there):
			return fmt.Errorf("%s is not a file of the runtime, and is not overwritten; remove it, or choose another "+
				"directory", path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
		out, err := stage.Create(path)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, bytes.NewReader(f.Data)); err != nil {
			return err
		}
	}
	return stage.Commit()
}
