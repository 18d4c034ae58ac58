package build

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
)

// reportJSON is the report for programs.
const reportJSON = "report.json"

// reportNames are the files in the directory of --reports.
var reportNames = []string{reportJSON, "summary.md", "skipped.tsv", "lines.tsv", "digest.txt"}

// reportFiles returns the files of --reports.
func (r *reports) reportFiles() (files []cli.Target) {
	if r.directory == "" {
		return nil
	}
	for _, name := range reportNames {
		files = append(files, cli.Target{What: "--reports", Path: filepath.Join(r.directory, name)})
	}
	return files
}

// sideContents returns the function that makes the files beside the outputs; nil if there are none.
func (i *settings) sideContents() func(*pipeline.Result) ([]pipeline.File, error) {
	if i.sliceFile != "" {
		return nil // assign has written them
	}
	return i.files
}

// files makes the files beside the outputs. The pipeline calls it after all decisions and before the outputs appear, so
// that no output appears if a list cannot be written.
func (i *settings) files(result *pipeline.Result) ([]pipeline.File, error) {
	if result.BuiltIn != nil {
		if err := i.checkBuiltIn(result.BuiltIn); err != nil {
			return nil, err
		}
	}
	run := i.reportOf(result)
	i.reported = run
	written := map[string]content{
		reportJSON:    run.WriteJSON,
		"summary.md":  run.WriteMarkdown,
		"skipped.tsv": run.WriteSkipped,
		"lines.tsv":   func(w io.Writer) error { return result.Mapping.WriteLines(w, result.Lines) },
		"digest.txt": func(w io.Writer) error {
			_, err := fmt.Fprintln(w, result.Mapping.Digest())
			return err
		},
	}
	var files []pipeline.File
	for _, f := range i.sideFiles() {
		switch f.What {
		case "--mapping":
			files = append(files, pipeline.File{Path: f.Path, Content: result.Mapping})
		case "--report":
			files = append(files, pipeline.File{Path: f.Path, Content: written[reportJSON]})
		default:
			files = append(files, pipeline.File{Path: f.Path, Content: written[filepath.Base(f.Path)]})
		}
	}
	return files, i.printReport()
}

// printReport prints the report with --report -, before the outputs appear: if it cannot be printed, nothing is
// written.
func (i *settings) printReport() error {
	if i.report != cli.StandardOutput {
		return nil
	}
	if err := i.reported.WriteJSON(i.con.Out); err != nil {
		return fmt.Errorf("--report: standard output: %w; nothing was written", err)
	}
	return nil
}

// reportOf returns the report of a run with the result.
func (i *settings) reportOf(result *pipeline.Result) *buildreport.Run {
	run := &buildreport.Run{
		Version:     cli.Version(),
		Options:     i.reportedOptions(),
		MappingFile: i.mapping,
		BaseFile:    i.base,
		Base:        i.baseMapping,
		Result:      result.Result,
		Planned:     i.planned,
		DryRun:      i.dryRun,
	}
	if b := result.BuiltIn; b != nil {
		run.Runtime = &buildreport.Runtime{Input: b.Path, Output: b.Output, Version: cli.Release}
	}
	for _, rule := range i.rules {
		run.Rules = append(run.Rules, rule.String())
	}
	if w := run.BaseWarning(); w != "" && !i.disabled {
		run.Warnings = append(slices.Clip(run.Warnings), w)
	}
	run.Guards = i.guards.guards.Check(run)
	return run
}

// content is the content of a file, as a function that writes it.
type content func(io.Writer) error

// WriteTo implements io.WriterTo.
func (c content) WriteTo(w io.Writer) (int64, error) {
	counted := &counter{Writer: w}
	err := c(counted)
	return counted.n, err
}

// counter counts the bytes that it writes.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}
