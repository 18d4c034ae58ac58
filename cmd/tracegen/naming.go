package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tracegen/tracegen/internal/recording/resolve"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/fleet/mappingstore"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// naming holds the options of where the names of methods come from.
type naming struct {
	mapping, lines, r8 string // lines is for analyze alone
	force              bool
	messages           []string
	flag               *pflag.Flag // of mapping
}

// options returns the rows of the options, and more rows, under one heading.
func (n *naming) options(more ...option) []option {
	n.flag = text(&n.mapping, defaultMapping)
	return grouped("Names", append([]option{
		{name: "mapping", flag: n.flag, file: fileRead, extensions: []string{"txt"},
			help: "method mapping `FILE`, a directory with the mappings of many builds, or an archive, see tracegen help " +
				"mappings; without this option, the archive in " + mappingstore.Variable + " if the default does not exist"},
		{name: "r8-mapping", flag: text(&n.r8, ""), file: fileRead, extensions: []string{"txt"},
			help: "restore names that were renamed, by this mapping `FILE` of R8 or ProGuard"},
		{name: "force", flag: yes(&n.force),
			help: "use the mapping even if it is of another build; the output says so"},
		{name: "message", flag: texts(&n.messages), config: offLimits,
			help: "calls of methods that match this `PATTERN` (CLASS#METHOD) are messages, as if a rule of tracegen.yml " +
				"said so; repeatable"},
	}, more...)...)
}

// resultOption returns the option of the output of a command that reads recordings.
func resultOption(p *string) option {
	return option{name: "output", short: "o", flag: text(p, standardOutput), file: fileOutput, stdout: true,
		help: "write to `FILE` instead of standard output"}
}

// open opens the mappings. If the file of --mapping does not exist, missing is that error, and the options have no
// mapping.
func (n *naming) open(ctx context.Context, con *console) (o analysis.Options, missing, err error) {
	o.Force = n.force
	for _, pattern := range n.messages {
		rule, err := filter.ParseMessage(pattern, filter.Position{File: "--message"})
		if err != nil {
			return o, nil, misuse("%w", err)
		}
		o.Messages = append(o.Messages, rule)
	}
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
	if !n.flag.Changed && os.Getenv(mappingstore.Variable) != "" {
		if _, err := os.Stat(n.mapping); err != nil {
			n.mapping = "archive:"
		}
	}
	if isArchive(n.mapping) {
		o.Mappings, err = archivedMappings(ctx, con, n.mapping, lines)
		return o, nil, err
	}
	o.Mappings, err = resolve.OpenMappings(n.mapping, lines)
	if errors.Is(err, fs.ErrNotExist) {
		o.Mappings = nil
		return o, err, nil
	}
	return o, nil, err
}

// openAll opens the mappings for recordings of several builds. It fails if there is no mapping, as an ID has a meaning
// in its own build only.
func (n *naming) openAll(ctx context.Context, con *console) (analysis.Options, error) {
	o, missing, err := n.open(ctx, con)
	if missing != nil {
		err = fmt.Errorf("%w; recordings of several builds are compared by the names of methods: give their "+
			"mappings by --mapping", missing)
	}
	return o, err
}

// reading counts how much of the recordings a command has read.
type reading struct {
	ctx     context.Context
	advance func(done, total int64)
	total   int64
	done    int64
}

// analyze reads one recording; in is standard input.
func (r *reading) analyze(of recording, in io.Reader, o analysis.Options) error {
	source, err := of.open(in, func(in io.Reader) io.Reader { return watched{in, r.ctx, r.add} })
	if err != nil {
		return err
	}
	defer source.Close()
	name := of.name
	if name == standardInput {
		name = "standard input"
	}
	return analysis.Analyze(name, source, o)
}

func (r *reading) add(n int) {
	if r.done += int64(n); r.advance != nil {
		r.advance(r.done, max(r.done, r.total))
	}
}
