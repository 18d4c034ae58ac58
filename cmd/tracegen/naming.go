package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
	"github.com/tracegen/tracegen/trace"
)

// naming holds the flags of where a command takes methods' names from.
type naming struct {
	mapping, lines, r8 string // lines is for analyze alone
	force              bool
}

// options returns the flags, and more, under their heading.
func (n *naming) options(more ...option) []option {
	return grouped("Names", append([]option{
		{name: "mapping", flag: text(&n.mapping, defaultMapping), file: fileRead, extensions: []string{"txt"},
			help: "the method mapping `FILE`, or a directory of those of many builds"},
		{name: "r8-mapping", flag: text(&n.r8, ""), file: fileRead, extensions: []string{"txt"},
			help: "translate what a device said in renamed names, by this mapping `FILE` of R8 or ProGuard"},
		{name: "force", flag: yes(&n.force), help: "go on where the mapping is of another build, under a banner"},
	}, more...)...)
}

// resultOption is the option of where a command that reads recordings writes to.
func resultOption(p *string) option {
	return option{name: "output", short: "o", flag: text(p, standardOutput), file: fileOutput, stdout: true,
		help: "write to `FILE` instead of standard output"}
}

// open opens what names come from. If there is no mapping of that name, missing says so, and the options are good
// without.
func (n *naming) open() (o analysis.Options, missing, err error) {
	o.Force = n.force
	if n.r8 != "" {
		if o.R8, err = r8.Load(n.r8); err != nil {
			return o, nil, err
		}
	}
	var lines *mapping.Lines
	if n.lines != "" {
		if lines, err = mapping.LoadLines(n.lines); err != nil {
			return o, nil, err
		}
	}
	o.Mappings, err = analysis.OpenMappings(n.mapping, lines)
	if errors.Is(err, fs.ErrNotExist) {
		o.Mappings = nil
		return o, err, nil
	}
	return o, nil, err
}

// openAll opens what names come from for recordings of many builds. There is no way on without: IDs mean nothing beyond
// their build.
func (n *naming) openAll() (analysis.Options, error) {
	o, missing, err := n.open()
	if missing != nil {
		err = fmt.Errorf("%w; recordings of several builds are matched by the names of methods, so give the mappings by --mapping", missing)
	}
	return o, err
}

// reading tells how far a command is with its recordings.
type reading struct {
	ctx     context.Context
	advance func(done, total int64)
	total   int64
	done    int64
}

// analyze has one recording read to its end; in is where standard input comes from.
func (r *reading) analyze(file string, in io.Reader, o analysis.Options) error {
	name := "standard input"
	if file != standardInput {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		name, in = file, f
	}
	source, err := trace.NewSource(watched{in, r.ctx, r.add})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return analysis.Analyze(name, source, o)
}

func (r *reading) add(n int) {
	if r.done += int64(n); r.advance != nil {
		r.advance(r.done, max(r.done, r.total))
	}
}
