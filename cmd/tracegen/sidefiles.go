package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
)

// sideContents returns the function that makes the files beside the outputs; nil if there are none.
func (i *instrument) sideContents() func(*pipeline.Result) ([]pipeline.File, error) {
	if i.sliceFile != "" {
		return nil // assign has written them
	}
	return i.files
}

// files makes the files beside the outputs. The pipeline calls it after all decisions and before the outputs appear, so
// that no output appears if a list cannot be written.
func (i *instrument) files(result *pipeline.Result) ([]pipeline.File, error) {
	if result.BuiltIn != nil {
		if err := i.checkBuiltIn(result.BuiltIn); err != nil {
			return nil, err
		}
	}
	run := i.reportOf(result)
	i.reported = run
	contents := map[string]io.WriterTo{
		"--mapping": result.Mapping,
		"--lines":   content(func(w io.Writer) error { return result.Mapping.WriteLines(w, result.Lines) }),
		"--skipped": content(run.WriteSkipped),
		"--report":  content(run.WriteJSON),
		"--sarif":   content(run.WriteSARIF),
		"--digest": content(func(w io.Writer) error {
			_, err := fmt.Fprintln(w, result.Mapping.Digest())
			return err
		}),
	}
	var files []pipeline.File
	for _, f := range i.sideFiles() {
		files = append(files, pipeline.File{Path: f.path, Content: contents[f.what]})
	}
	return files, i.printReport()
}

// printReport prints the report with --report -, before the outputs appear: if it cannot be printed, nothing is
// written.
func (i *instrument) printReport() error {
	if i.report != standardOutput {
		return nil
	}
	if err := i.reported.WriteJSON(i.con.out); err != nil {
		return fmt.Errorf("--report: standard output: %w; nothing was written", err)
	}
	return nil
}

// openSummary opens the file of --summary, so that it fails before the work. done closes the file, and removes it if
// the run created it and wrote nothing.
func (i *instrument) openSummary() (done func(), err error) {
	if i.summary == "" {
		return func() {}, nil
	}
	_, err = os.Stat(i.summary)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(i.summary, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("--summary: %w", err)
	}
	i.summaryFile = f
	return func() {
		info, err := f.Stat()
		f.Close()
		if isNew && err == nil && info.Size() == 0 {
			os.Remove(i.summary)
		}
	}, nil
}

// appendSummary appends the summary of the run to the file of --summary, after everything else was written. A build has
// one such file for all its steps.
func (i *instrument) appendSummary() error {
	if i.summaryFile == nil {
		return nil
	}
	var text bytes.Buffer
	err := i.reported.WriteMarkdown(&text)
	if err == nil {
		_, err = i.summaryFile.Write(text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("--summary: %w; all other files have been written", err)
	}
	return nil
}

// reportOf returns the report of a run with the result.
func (i *instrument) reportOf(result *pipeline.Result) *buildreport.Run {
	run := &buildreport.Run{
		Version:     version(),
		Options:     i.reportedOptions(),
		MappingFile: i.mapping,
		BaseFile:    i.base,
		Mapping:     result.Mapping,
		Base:        i.baseMapping,
		Inputs:      result.Inputs,
		Packages:    result.Packages,
		Skipped:     result.Skipped,
		Warnings:    result.Warnings,
		LeftOut:     result.LeftOut,
		Introduced:  result.Introduced,
		PreExisting: result.PreExisting,
		Unchecked:   result.Unchecked,
		Planned:     i.planned,
		DryRun:      i.dryRun,
	}
	if b := result.BuiltIn; b != nil {
		run.Runtime = &buildreport.Runtime{Input: b.Path, Output: b.Output, Version: release}
	}
	for _, rule := range i.rules {
		run.Rules = append(run.Rules, rule.String())
	}
	if w := run.BaseWarning(); w != "" && !i.disabled {
		run.Warnings = append(slices.Clip(run.Warnings), w)
	}
	run.Guards = i.guards.check(run)
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
