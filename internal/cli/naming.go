package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/mappingstore"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Naming holds the options of where the names of methods come from.
type Naming struct {
	Mapping, Lines, R8 string // lines is for analyze alone
	Force              bool
	Flag               *pflag.Flag // of mapping
}

// Options returns the rows of the options, and more rows, under one heading.
func (n *Naming) Options(more ...Option) []Option {
	n.Flag = Text(&n.Mapping, DefaultMapping)
	return Grouped("Names", append([]Option{
		{Name: "mapping", Flag: n.Flag, File: FileRead,
			Help: "method mapping `FILE`, a directory with the mappings of many builds, or an archive, see tracegen help " +
				"mappings; without this option, the archive in " + mappingstore.Variable + " if the default does not exist"},
		{Name: "r8-mapping", Flag: Text(&n.R8, ""), File: FileRead,
			Help: "restore names that were renamed, by this mapping `FILE` of R8 or ProGuard"},
		{Name: "force", Flag: Yes(&n.Force),
			Help: "use the mapping even if it is of another build; the output says so"},
	}, more...)...)
}

// ResultOption returns the option of the output of a command that reads recordings.
func ResultOption(p *string) Option {
	return Option{Name: "output", Short: "o", Flag: Text(p, StandardOutput), File: FileOutput, Stdout: true,
		Help: "write to `FILE` instead of standard output"}
}

// Open opens the mappings. If the file of --mapping does not exist, missing is that error, and the options have no
// mapping.
func (n *Naming) Open(ctx context.Context, con *console.Console) (o analysis.Options, missing, err error) {
	o.Force = n.Force
	if n.R8 != "" {
		if o.R8, err = r8.Load(n.R8); err != nil {
			return o, nil, err
		}
	}
	var lines *mapping.Lines
	if n.Lines != "" {
		if lines, err = mapping.LoadLines(n.Lines); err != nil {
			return o, nil, err
		}
	}
	if archive := os.Getenv(mappingstore.Variable); !n.Flag.Changed && archive != "" {
		if _, err := os.Stat(n.Mapping); err != nil {
			o.Mappings, err = archivedMappings(ctx, con, archive, lines)
			return o, nil, err
		}
	}
	if isArchive(n.Mapping) {
		o.Mappings, err = archivedMappings(ctx, con, n.Mapping, lines)
		return o, nil, err
	}
	o.Mappings, err = resolve.OpenMappings(n.Mapping, lines)
	if errors.Is(err, fs.ErrNotExist) {
		o.Mappings = nil
		return o, err, nil
	}
	return o, nil, err
}

// Digests returns the digests of the mappings that are there.
func (n *Naming) Digests(ctx context.Context, con *console.Console) (map[string]bool, error) {
	if !isArchive(n.Mapping) {
		m, err := resolve.OpenMappings(n.Mapping, nil)
		if err != nil {
			return nil, err
		}
		return m.Digests(), nil
	}
	a, err := OpenArchive(con, n.Mapping)
	if err != nil {
		return nil, err
	}
	releases, err := a.List(ctx, mappingstore.Selector{})
	digests := map[string]bool{}
	for _, r := range releases {
		digests[r.Digest] = true
	}
	return digests, err
}

// OpenAll opens the mappings for recordings of several builds. Without --mapping, the default file may be missing: what
// has IDs is refused then, and logs of other tools have names.
func (n *Naming) OpenAll(ctx context.Context, con *console.Console) (analysis.Options, error) {
	o, missing, err := n.Open(ctx, con)
	if missing != nil {
		o.Missing = fmt.Errorf("%w; recordings of several builds are compared by the names of methods: give their "+
			"mappings by --mapping", missing)
	}
	if n.Flag.Changed {
		err = errors.Join(err, o.Missing)
	}
	return o, err
}

// Reading counts how much of the recordings a command has read. Advance shows it, of the Total, until Ctx is canceled.
type Reading struct {
	Ctx     context.Context
	Advance func(done, total int64)
	Total   int64
	done    int64
}

// Analyze reads one recording; in is standard input.
func (r *Reading) Analyze(of Recording, in io.Reader, o analysis.Options) error {
	source, err := of.open(in, func(in io.Reader) io.Reader { return Watched{in, r.Ctx, r.Add} })
	if err != nil {
		return err
	}
	defer source.Close()
	name := cmp.Or(of.Shown, of.Name)
	if name == StandardInput {
		name = "standard input"
	}
	return analysis.Analyze(name, source, o)
}

// Add counts n more bytes.
func (r *Reading) Add(n int) {
	if r.done += int64(n); r.Advance != nil {
		r.Advance(r.done, max(r.done, r.Total))
	}
}
