package main

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
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/runtimejars"
)

// builtInName stands for the path of the built-in runtime in messages and reports.
const builtInName = "built-in " + runtimejars.CoreName

// builtIn returns the runtime that instrument and explain add if no input holds it. It returns nil if the runtime is
// another one. Package pipeline adds none to copies.
func (i *instrument) builtIn() *pipeline.BuiltIn {
	if i.runtimeExternal || i.runtime != contract.RuntimeClass || i.as&(byInstrument|byExplain) == 0 {
		return nil
	}
	return &pipeline.BuiltIn{Name: builtInName, Data: runtimejars.Core().Data,
		Output: filepath.Join(i.destination.beside, runtimejars.CoreName)}
}

// checkBuiltIn refuses to write the built-in runtime over a file that is read, or that is written beside the outputs.
// Package pipeline checks the same of inputs and outputs.
func (i *instrument) checkBuiltIn(added *buildreport.Input) error {
	if i.destination.merge != "" {
		return nil
	}
	return checkWritten(destination{}, append(i.sideFiles(), target{"the built-in runtime", added.Output}), i.filesRead,
		i.base)
}

func newRuntimeCmd(con *console) *cobra.Command {
	r := runtimeWriter{con: con}
	cmd := &cobra.Command{
		Use:   "runtime -o DIR",
		Short: "Write the runtime that instrumented classes call",
		Long: `runtime writes the files of the runtime, which are built into tracegen:

  tracegen-runtime.jar          AppMethodBeat and the recorder, for any JVM
  tracegen-runtime-android.aar  messages, frames and configuration of an Android app;
                                it needs tracegen-runtime.jar
  tracegen-runtime-noop.jar     all public names of the others, doing nothing, for
                                builds that do not record
  tracegen-runtime-matrix.jar   the class that --preset matrix calls; it needs
                                tracegen-runtime.jar

instrument adds the first of them by itself. Give it to instrument or scan as an
input where you want to say where it goes. All files appear, or none. A file that
has the content already is left alone; a tracegen-runtime file of another version is
replaced.`,
		Example: `  tracegen runtime -o libs/`,
		Args:    noArguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return r.run() },
	}
	r.options().addTo(cmd, 0)
	return cmd
}

// runtimeWriter holds the options of the command.
type runtimeWriter struct {
	con       *console
	directory string
}

func (r *runtimeWriter) options() options {
	return newOptions([]option{
		{name: "output", short: "o", flag: text(&r.directory, ""), file: fileOutput, extensions: onlyDirectories,
			help: "write the files into `DIR`, which is made if it does not exist"},
		{name: "quiet", short: "q", flag: yes(&r.con.quiet), help: "print warnings and errors only"},
	})
}

func (r *runtimeWriter) run() error {
	if r.directory == "" {
		return misuse("no directory given: name it by --output")
	}
	if info, err := os.Stat(r.directory); err == nil && !info.IsDir() {
		return misuse("--output %s is a file; name a directory", r.directory)
	}
	var files []target
	for _, f := range runtimejars.All() {
		files = append(files, target{"--output", filepath.Join(r.directory, f.Name)})
	}
	undo, err := makeDirectories(files)
	if err != nil {
		return err
	}
	defer undo() // removes empty directories only, and so none after success
	if err := writeRuntime(r.con, files); err != nil {
		return err
	}
	if r.con.quiet {
		return nil
	}
	for k, f := range runtimejars.All() {
		if _, err := fmt.Fprintf(r.con.out, "%s: %s\n", buildreport.Printable(files[k].path), f.Content); err != nil {
			return err
		}
	}
	return nil
}

// writeRuntime writes all files of the runtime, or none.
func writeRuntime(con *console, files []target) error {
	if err := con.checkWritable(destination{}, files); err != nil {
		return err
	}
	stage := &output.Stage{Warn: con.warnText}
	defer stage.Abort()
	for k, f := range runtimejars.All() {
		path := files[k].path
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
