package read

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/trace"
)

// exported returns the row of the format in package export, nil for a format of package analysis.
func (a *analyzing) exported() *export.Format {
	if a.profile != "" {
		return nil
	}
	for _, f := range export.Formats() {
		if f.Name == a.format {
			return &f
		}
	}
	return nil
}

// folds reports whether short calls are folded: if the size of the format grows with the number of calls.
func (a *analyzing) folds() bool {
	f := a.exported()
	return f != nil && !f.Merges && !a.all
}

// passes reads recordings several times.
type passes struct {
	*analyzing
	ctx        context.Context
	recordings []cli.Recording
	only       *analysis.Stall // that of --stall
}

// read reads all recordings once. o has what to do with them; what is the name of the progress bar.
func (p *passes) read(what string, o analysis.Options) error {
	advance, done := p.progress(what)
	defer done()
	r := cli.Reading{Ctx: p.ctx, Advance: advance, Total: cli.RecordingSize(cli.FilesOf(p.recordings))}
	for _, of := range p.recordings {
		if err := r.Analyze(of, p.con.In, o); err != nil {
			return err
		}
	}
	return nil
}

// progress shows a progress bar, unless it could mix with output on the same terminal.
func (p *passes) progress(what string) (advance func(done, total int64), done func()) {
	if p.output == cli.StandardOutput && !isRegular(p.con.Out) {
		return nil, func() {}
	}
	return p.con.Progress(what)
}

// isRegular reports whether w is a regular file. A terminal shows what is written to it, and so may a program that
// reads a pipe.
func isRegular(w io.Writer) bool {
	f, isFile := w.(*os.File)
	if !isFile {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// errFound ends a pass that looks for one stall.
var errFound = errors.New("found")

// locate finds the stall of --stall.
func (p *passes) locate(o analysis.Options) error {
	if p.stall == 0 {
		return nil
	}
	stalls := 0
	o.Stall = func(s *analysis.Stall) error {
		if stalls = s.Number; s.Number == p.stall {
			p.only = s
			return errFound
		}
		return nil
	}
	err := p.read("looking for the stall", o)
	if errors.Is(err, errFound) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%s: there is no stall #%d: the report has %d", p.recordings[0].Name, p.stall, stalls)
	}
	return err
}

// mergingFormats returns the formats of package export that merge calls.
func mergingFormats() []string {
	var names []string
	for _, f := range export.Formats() {
		if f.Merges {
			names = append(names, f.Name)
		}
	}
	return names
}

// limited returns a writer that fails before more than --max-size is written.
func (p *passes) limited(w io.Writer) io.Writer {
	less := "--stall"
	if f := p.exported(); f != nil && !f.Merges {
		if p.all {
			less += ", leave out --all"
		}
		less += ", take a format that merges calls (" + strings.Join(mergingFormats(), ", ") + ")"
	}
	return &export.Limited{W: w, Left: int64(p.maxSize), Err: fmt.Errorf("the output of --format %s is larger than "+
		"--max-size %s; an output file was not written, and standard output is cut; choose less by %s, or raise "+
		"--max-size", p.format, &p.maxSize, less)}
}

// connect sets the handlers of o that hand recordings to an export.
func connect(o *analysis.Options, w export.Writer) {
	o.Also = func(r *analysis.Recording) (trace.Handler, error) { return w, w.Recording(r) }
	o.Stall = w.Stall
}
