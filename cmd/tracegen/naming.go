package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/mapping/r8"
	"github.com/tracegen/tracegen/trace"
)

// naming holds the flags of where a command takes methods' names from, for recordings of many builds.
type naming struct {
	mapping, r8 string
	force       bool
}

func (n *naming) add(flags *pflag.FlagSet) {
	flags.StringVar(&n.mapping, "mapping", defaultMapping, "the method mapping `FILE`, or a directory of those of many builds")
	flags.StringVar(&n.r8, "r8-mapping", "", "translate what a device said in renamed names, by this mapping `FILE` of R8 or ProGuard")
	flags.BoolVar(&n.force, "force", false, "go on where there is no mapping of the build: by IDs, or with wrong names")
}

// options opens what names come from. Unlike for one recording there is no way on without: IDs mean nothing beyond
// their build.
func (n *naming) options() (analysis.Options, error) {
	o := analysis.Options{Force: n.force}
	var err error
	if n.r8 != "" {
		if o.R8, err = r8.Load(n.r8); err != nil {
			return o, err
		}
	}
	if o.Mappings, err = analysis.OpenMappings(n.mapping, nil); errors.Is(err, fs.ErrNotExist) {
		return o, fmt.Errorf("%w; recordings of several builds are matched by the names of methods, so give the mappings by --mapping", err)
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

// analyze has one recording read to its end.
func (r *reading) analyze(file string, o analysis.Options) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := trace.NewSource(watched{f, r.ctx, r.add})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return analysis.Analyze(file, in, o)
}

func (r *reading) add(n int) {
	if r.done += int64(n); r.advance != nil {
		r.advance(r.done, max(r.done, r.total))
	}
}
