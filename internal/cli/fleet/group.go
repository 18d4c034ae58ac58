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
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/userfile"
)

// The formats of group and compare.
const (
	groupText    = "text"
	groupJSON    = "json"
	groupParquet = "parquet"
)

// NewGroup returns the command group.
func NewGroup(con *console.Console) *cobra.Command {
	g := grouping{con: con}
	cmd := &cobra.Command{
		Use:   "group [RECORDING...]",
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

With --store, group keeps the results in FILE, a small database. Later runs add recordings
to it, and skip those that it has already, which they recognize by content. Without a
RECORDING, group reports the content of the store.

A RECORDING is a file, - for standard input, or a directory. Files may be compressed (.gz).
A directory of tracegen collect has recordings and reports, and both are read; --reports
reads reports alone. A stall that a recording has and a report is about counts once. Stalls
of idle handlers and input events, and incidents, have groups of their own kind.

A store that is damaged is not read. Remove it, and give recordings and reports again.

--export parquet writes one row per stall to --output, for a data warehouse.`,
		Example: `  tracegen group recordings/ --mapping mappings/
  tracegen group today/ --mapping mappings/ --store fleet.db --top 5
  tracegen group --store fleet.db --export parquet -o stalls.parquet`,
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), args) },
	}
	g.rows = g.options()
	g.rows.AddTo(cmd, 0)
	return cmd
}

// grouping holds the options of the command.
type grouping struct {
	con                           *console.Console
	rows                          cli.Options
	naming                        cli.Naming
	format, export, output, store string
	top                           int
	reports                       []string
	known, left                   int // numbers of recordings that the store had already, and that were skipped
}

func (g *grouping) options() cli.Options {
	return cli.NewOptions(cli.Grouped("Output",
		cli.Option{Name: "format", Help: "output format",
			Flag: cli.OneOf(&g.format, groupText, cli.Word(groupText, groupText),
				cli.Word(groupJSON, groupJSON))},
		cli.Option{Name: "export", Help: "write one row per stall instead",
			Flag: cli.OneOf(&g.export, "", cli.Word(groupParquet, groupParquet))},
		cli.ResultOption(&g.output),
		cli.Option{Name: "top", Flag: cli.Number(&g.top, 20), Help: "number of groups; 0 is all"},
		cli.Option{Name: "store", Flag: cli.Text(&g.store, ""), File: cli.FileRead,
			Help: "add the stalls to the database `FILE`, and report all that it has"},
		cli.Option{Name: "reports", Flag: cli.Texts(&g.reports), File: cli.FileRead,
			Help: "read the reports that tracegen collect has stored in the directory `DIR`; repeatable"},
	), g.naming.Options())
}

func (g *grouping) run(ctx context.Context, args []string) error {
	if g.top < 0 {
		return cli.Misuse("--top %d: must not be negative", g.top)
	}
	args, reports, err := g.collected(args)
	if err != nil {
		return err
	}
	if len(args) == 0 && len(reports) == 0 && g.store == "" {
		return cli.Misuse("no recording and no --store given")
	}
	if g.export != "" && g.output == cli.StandardOutput && cli.IsTerminal(g.con.Out) {
		return cli.Misuse("--export %s is binary and not for a terminal; name a file by --output", g.export)
	}
	if len(args) == 0 && len(reports) == 0 {
		if _, err := os.Stat(g.store); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	recordings, err := cli.FindRecordings(args)
	if err != nil {
		return err
	}
	files := cli.FilesOf(recordings)
	if g.output != cli.StandardOutput {
		if err := cli.CheckNotRead(g.rows.Targets(cli.FileOutput), slices.Concat(cli.OnDisk(files),
			g.rows.Files(cli.FileRead))); err != nil {
			return err
		}
		if err := cli.CheckWritable(g.con, g.rows.Targets(cli.FileOutput)); err != nil {
			return err
		}
	}
	store, err := group.OpenStore(g.store)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	if err := g.read(ctx, store, recordings); err != nil {
		return err
	}
	skipped, err := g.readReports(ctx, store, reports)
	if err != nil {
		return err
	}
	if err := g.write(store); err != nil {
		return err
	}
	if skipped > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%d reports were skipped, and %d of %d recordings", skipped, g.left,
			len(recordings))}
	}
	if g.left > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%d of %d recordings were skipped", g.left, len(recordings))}
	}
	return nil
}

// batch is the number of recordings that are added at once: each transaction takes some milliseconds for the disk.
const batch = 256

// read adds the recordings that the store does not have.
func (g *grouping) read(ctx context.Context, store *group.Store, recordings []cli.Recording) error {
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
	var entries []group.Entry
	for _, of := range recordings {
		entry, err := g.entry(&r, store, of, o)
		if err := ctx.Err(); err != nil {
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
		if entry != nil {
			entries = append(entries, *entry)
		}
		if len(entries) == batch {
			if err := store.Add(entries); err != nil {
				return err
			}
			entries = entries[:0]
		}
	}
	if g.known > 0 {
		g.con.Detail("%d recordings are already in the store", g.known)
	}
	return store.Add(entries)
}

// entry reads a recording; it returns nil if the store has the recording.
func (g *grouping) entry(r *cli.Reading, store *group.Store, of cli.Recording, o analysis.Options) (*group.Entry,
	error) {
	hash := sha256.New()
	var in io.ReadSeeker // standard input
	for _, file := range of.Files {
		if file == cli.StandardInput {
			copied, remove, err := cli.Spool(r.Ctx, g.con.In)
			if err != nil {
				return nil, err
			}
			defer remove()
			in, file = copied, copied.Name()
		}
		f, err := userfile.Open(file)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(hash, cli.Watched{Reader: f, Ctx: r.Ctx, Advance: r.Add})
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	entry := &group.Entry{}
	hash.Sum(entry.Recording[:0])
	has, err := store.Has(entry.Recording)
	if err != nil {
		return nil, err
	}
	if has {
		g.known++
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
		return nil
	}
	if in != nil {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return entry, r.Analyze(of, in, o)
}

// write writes the groups, or the rows, of all stalls in the store.
func (g *grouping) write(store *group.Store) error {
	emit := func(w io.Writer) error {
		if g.export == groupParquet {
			return store.WriteParquet(w)
		}
		f, err := store.Groups()
		if err != nil {
			return err
		}
		if g.format == groupJSON {
			return f.WriteJSON(w, g.top)
		}
		return f.WriteText(w, g.top)
	}
	return cli.WriteTo(g.con, g.output, emit)
}
