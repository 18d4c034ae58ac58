package fleet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/userfile"
)

// The formats of group and compare.
const (
	groupText    = "text"
	groupJSON    = "json"
	groupHTML    = "html"
	groupParquet = "parquet"
)

// NewGroup returns the command group.
func NewGroup(con *console.Console) *cobra.Command {
	g := grouping{con: con}
	cmd := &cobra.Command{
		Use:   "group RECORDING...",
		Short: "Group the stalls of many users and builds",
		Long: `group reads any number of recordings and groups their stalls: stalls of a group have hot
paths with the same methods, by name, in all builds. For each group it reports the number
of users, stalls and their durations, the first and last version, and the verdicts. Groups
are sorted by the number of users times the average duration.

Each recording gets the mapping of its own build: give a directory with the mappings of all
builds. A recording without its mapping is skipped with a warning, and the exit code is 1.

Users are distinguished by the value that the program recorded as user, userId, uid, uin,
installId or deviceId. A recording without such a value counts as one user; the output
states how many there are. Versions are those of versionCode, or else of versionName.

A RECORDING is a file or a directory. Files may be compressed (.gz).
A store of tracegen collect, a directory or s3://BUCKET/PREFIX, has recordings and reports,
and both are read; of a copy of its directory reports, these alone. A stall that a recording
has and a report is about counts once, and so does a recording that is given twice. Stalls of
idle handlers and input events, and incidents, have groups of their own kind.

--format html writes a page with the groups, which needs no server. --format parquet writes
one row per stall to --output, which stands in one table with the reports of tracegen
collect.`,
		Example: `  tracegen group recordings/ --mapping mappings/
  tracegen group collected/ --mapping mappings/ --format html -o fleet.html
  tracegen group recordings/ --mapping mappings/ --format parquet -o stalls.parquet`,
		Args: cli.AtLeastOne("recording"),
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), args) },
	}
	g.rows = g.options()
	g.rows.AddTo(cmd, 0)
	return cmd
}

// grouping holds the options of the command.
type grouping struct {
	con            *console.Console
	rows           cli.Options
	naming         cli.Naming
	format, output string
	top            int
	table          *lake.Writer   // for rows; nil for groups
	known, left    int            // numbers of recordings that were given twice, and that were skipped
	leftReports    int            // how many reports were skipped
	buffer         [32 << 10]byte // for recordings that are hashed
}

func (g *grouping) options() cli.Options {
	return cli.NewOptions(cli.Grouped("Output",
		cli.Option{Name: "format", Help: "output format",
			Flag: cli.OneOf(&g.format, groupText, cli.Word(groupText, groupText),
				cli.Word(groupJSON, groupJSON), cli.Word(groupHTML, groupHTML), cli.Word(groupParquet, groupParquet))},
		cli.ResultOption(&g.output),
		cli.Option{Name: "top", Flag: cli.Number(&g.top, 20), Help: "number of groups; 0 is all"},
	), g.naming.Options())
}

func (g *grouping) run(ctx context.Context, args []string) error {
	if g.top < 0 {
		return cli.Misuse("--top %d: must not be negative", g.top)
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	temp := ""
	if slices.ContainsFunc(args, objects.IsRemote) {
		var err error
		if temp, err = os.MkdirTemp("", "tracegen-group-"); err != nil {
			return err
		}
		defer os.RemoveAll(temp)
	}
	args, reports, err := collected(ctx, args, temp)
	if err != nil {
		return err
	}
	if g.format == groupParquet && g.output == cli.StandardOutput && cli.IsTerminal(g.con.Out) {
		return cli.Misuse("--format %s is binary and not for a terminal; name a file by --output", g.format)
	}
	recordings, err := cli.FindRecordings(args)
	if err != nil {
		return err
	}
	showAsStored(recordings, reports)
	files := cli.FilesOf(recordings)
	for _, r := range reports {
		files = append(files, r.location)
	}
	if g.output != cli.StandardOutput {
		if err := cli.CheckNotRead(g.rows.Targets(cli.FileOutput), slices.Concat(files,
			g.rows.Files(cli.FileRead))); err != nil {
			return err
		}
		if err := cli.CheckWritable(g.con, g.rows.Targets(cli.FileOutput)); err != nil {
			return err
		}
	}
	if err := g.write(ctx, recordings, reports); err != nil {
		return err
	}
	if g.leftReports > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%d reports were skipped, and %d of %d recordings", g.leftReports, g.left,
			len(recordings))}
	}
	if g.left > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%d of %d recordings were skipped", g.left, len(recordings))}
	}
	return nil
}

// write writes the groups, or the rows of all stalls while they are read.
func (g *grouping) write(ctx context.Context, recordings []cli.Recording, all []reports) error {
	if g.format == groupParquet {
		return cli.WriteTo(g.con, g.output, func(w io.Writer) error {
			g.table = lake.NewWriter(w)
			if _, err := g.sum(ctx, recordings, all); err != nil {
				return err
			}
			return g.table.Close()
		})
	}
	f, err := g.sum(ctx, recordings, all)
	if err != nil {
		return err
	}
	return cli.WriteTo(g.con, g.output, func(w io.Writer) error {
		switch g.format {
		case groupJSON:
			return f.WriteJSON(w, g.top)
		case groupHTML:
			return f.WriteHTML(w, g.top)
		}
		return f.WriteText(w, g.top)
	})
}

// sum adds the recordings and then the reports, and returns their groups.
func (g *grouping) sum(ctx context.Context, recordings []cli.Recording, all []reports) (*group.Fleet, error) {
	stalls := group.NewStalls()
	if err := g.read(ctx, stalls, recordings); err != nil {
		return nil, err
	}
	if err := g.readReports(ctx, stalls, all); err != nil {
		return nil, err
	}
	return stalls.Groups(), nil
}

// read adds the recordings.
func (g *grouping) read(ctx context.Context, stalls *group.Stalls, recordings []cli.Recording) error {
	if len(recordings) == 0 {
		return nil
	}
	o, err := g.naming.OpenAll(ctx, g.con)
	if err != nil {
		return err
	}
	advance, done := g.con.Progress("reading")
	defer done()
	r := cli.Reading{Ctx: ctx, Advance: advance, Total: 2 * cli.RecordingSize(cli.FilesOf(recordings))}
	for _, of := range recordings {
		entry, err := g.entry(&r, stalls, of, o)
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.Missing != nil && errors.Is(err, o.Missing) {
			return err
		}
		if err != nil {
			g.left++
			if mismatch := new(resolve.MismatchError); errors.As(err, &mismatch) {
				err = mismatch // it names the recording
			}
			g.con.Warn("skipped: %v", err)
			continue
		}
		if entry == nil {
			g.known++
			continue
		}
		stalls.Add(*entry)
	}
	if g.known > 0 {
		g.con.Detail("%d recordings have the content of another one and count once", g.known)
	}
	return nil
}

// entry reads a recording; it returns nil if one of the same content was read before.
func (g *grouping) entry(r *cli.Reading, stalls *group.Stalls, of cli.Recording, o analysis.Options) (*group.Entry,
	error) {
	hash := sha256.New()
	for _, file := range of.Files {
		f, err := userfile.Open(file)
		if err != nil {
			return nil, err
		}
		_, err = io.CopyBuffer(hash, cli.Watched{Reader: f, Ctx: r.Ctx, Advance: r.Add}, g.buffer[:])
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	entry := &group.Entry{}
	hash.Sum(entry.Recording[:0])
	if stalls.Has(entry.Recording) {
		return nil, nil
	}
	o.Stall = func(s *analysis.Stall) error {
		entry.Stalls = append(entry.Stalls, analysis.RowOf(s))
		return nil
	}
	o.End = func(rec *analysis.Recording) error {
		entry.Info = group.NewInfo(rec)
		entry.Stalls = append(entry.Stalls, analysis.IncidentRows(rec)...)
		for _, text := range rec.Warnings() {
			g.con.Warn("%s", text)
		}
		return g.addRows(entry, rec)
	}
	return entry, r.Analyze(of, nil, o)
}

// addRows writes the rows of a recording that has been read, if these are wanted.
func (g *grouping) addRows(entry *group.Entry, rec *analysis.Recording) error {
	if g.table == nil {
		return nil
	}
	for i := range entry.Stalls {
		row := lake.StallRow(entry.Recording, rec.Meta, &entry.Stalls[i])
		if err := g.table.Add(&row); err != nil {
			return err
		}
	}
	return nil
}
