package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// Writer is an export that is being written. It is not safe for several goroutines.
//
// Recording, then what package analysis hands to it as [analysis.Options.Also], and each stall: so for each recording,
// and Close behind the last one. What the facts of a recording say must be complete by the next call of Recording or
// of Close.
type Writer interface {
	trace.Handler
	// Recording begins a recording: what follows is of it.
	Recording(*analysis.Recording) error
	// Stall takes a stall when all of it is known, with its verdict.
	Stall(*analysis.Stall) error
	// Close writes what is left. It closes nothing else. What was written without it is not whole.
	Close() error
}

// Options are how an export is made. The zero value is good.
type Options struct {
	// Program is what the export says that it was made by, "tracegen" if empty.
	Program string
}

// Format is a form that recordings can be written in.
type Format struct {
	// Name is what users call it.
	Name string
	// Summary says in one line what it is and which programs read it.
	Summary string
	// Binary is set if the form is not for a terminal.
	Binary bool
	// Merges is set if calls with the same path are one: the size grows with the number of paths, and not with that of
	// calls.
	Merges bool

	start func(*bufio.Writer, Options) exporter
}

// Formats is the table of formats, in the order in which they are shown.
func Formats() []Format {
	return []Format{collapsedFormat(), htmlFormat(), speedscopeFormat(), perfettoFormat(), pprofFormat(),
		firefoxFormat()}
}

// New begins an export in the named format to w. The error names the formats.
func New(format string, w io.Writer, o Options) (Writer, error) {
	if o.Program == "" {
		o.Program = "tracegen"
	}
	var known []string
	for _, f := range Formats() {
		if f.Name == format {
			out := bufio.NewWriterSize(w, 1<<16)
			return &writer{out: out, exporter: f.start(out, o)}, nil
		}
		known = append(known, f.Name)
	}
	return nil, fmt.Errorf("there is no format %q: use %s", format, strings.Join(known, ", "))
}

// exporter writes one format. It may retain only recordings and threads of its arguments.
type exporter interface {
	// begin begins a recording.
	begin(*recording) error
	// thread introduces a thread, before anything that is about it.
	thread(*thread) error
	// segment gets those of one thread in the order of time. Call times are made relative by [thread.at].
	segment(*thread, *trace.Segment) error
	// event gets what else there was.
	event(*event) error
	// end ends a recording: its facts are complete.
	end(*recording) error
	// close ends the export.
	close() error
}
