package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping"
)

// compareHTML is the format of compare that is a page.
const compareHTML = "html"

// NewCompare returns the command compare.
func NewCompare(con *console.Console) *cobra.Command {
	c := comparing{con: con}
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare the method times and stalls of two builds",
		Long: `compare reads the recordings of two builds, OLD and NEW, each a file or a directory. It
reports which methods take more or less time, by how much and with which certainty, and
which stalls are new, more frequent or gone. Methods are matched by their names, so that
the builds may have different IDs. Methods that a compiler numbers (lambda$f$1) are
matched by their code, if the mappings have it. Files may be compressed (.gz), and OLD or
NEW may be - for standard input.

compare compares the self time of a method per unit of work. The unit is a recording if
each side has at least five, or else a message; on threads without a looper, it is an
outermost call. If the unit is a recording, and all have stack samples, it also compares
the CPU time of each method: a busy machine changes wall time more than CPU time. Self time
then includes estimated calls, which only samples show; their part is named. A change is

  sure     it is significant after correction for the number of methods: of thousands,
           some differ by chance (Welch's test, correction by Benjamini and Hochberg at
           5 %)
  likely   it would be significant if this were the only method
  noise    it may be chance; these changes are counted, and shown with --all

Only methods and stalls that have changed are listed; the others are counted.

With --format html, compare writes a page with a flame graph of both builds: calls that
take longer now are red, those that took longer before are blue, and the width is the
time in the new build, or at a key that in the old one. What is not significant is pale and
hatched. Open the page in a browser.

OLD and NEW may also be the reports of a build in a store of tracegen collect, a directory or
s3://BUCKET/PREFIX, below reports/. Reports have stalls and no times of methods: compare says
how many users each group of stalls hurt, of all users of whom the store has reports.

A recording or report whose mapping is not given is skipped with a warning, and the exit code
is 1.

Each change has an interval that contains the true change with 95 % confidence. Messages
of one recording depend on each other: the certainty is overstated when they are the units.

With --exit-code, the exit code is 1 if a method is surely slower, or takes more CPU time.`,
		Example: `  tracegen compare baseline/ candidate/ --mapping mappings/
  tracegen compare old.tgd new.tgd --mapping mappings/ --exit-code
  tracegen compare baseline/ candidate/ --mapping mappings/ --format html -o diff.html
  tracegen compare collected/reports/package=P/mapping=OLD collected/reports/package=P/mapping=NEW --mapping mappings/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Misuse("give two files or directories of recordings; %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	c.rows = c.options()
	c.rows.AddTo(cmd, 0)
	return cmd
}

// comparing holds the options of the command.
type comparing struct {
	con                 *console.Console
	rows                cli.Options
	naming              cli.Naming
	format, output      string
	unit                group.Unit
	top                 int
	all, exitCode       bool
	recordings, skipped int // how many there are, and how many have no mapping
	skippedReports      int // how many reports have none
}

func (c *comparing) options() cli.Options {
	return cli.NewOptions(cli.Grouped("Output",
		cli.Option{Name: "format", Help: "output format",
			Flag: cli.OneOf(&c.format, groupText, cli.Word(groupText, groupText),
				cli.Word(groupJSON, groupJSON), cli.Word(compareHTML, compareHTML))},
		cli.ResultOption(&c.output),
		cli.Option{Name: "top", Flag: cli.Number(&c.top, 20), Help: "number of methods and stalls of each kind; 0 is all"},
		cli.Option{Name: "all", Flag: cli.Yes(&c.all), Help: "also show changes that may be chance"},
		cli.Option{Name: "exit-code", Flag: cli.Yes(&c.exitCode), Help: "exit with 1 if a method is surely slower"},
	), c.naming.Options())
}

func (c *comparing) run(ctx context.Context, args []string) error {
	if c.top < 0 {
		return cli.Misuse("--top %d: must not be negative", c.top)
	}
	if args[0] == cli.StandardInput && args[1] == cli.StandardInput {
		return cli.Misuse("standard input can be read only once")
	}
	isOld, isNew := isReports(args[0]), isReports(args[1])
	switch {
	case isOld != isNew:
		return cli.Misuse("recordings are compared with recordings, and reports of a store with reports")
	case isOld:
		return c.compareReports(ctx, args)
	}
	var sides [2][]cli.Recording
	for i, arg := range args {
		found, err := cli.FindRecordings([]string{arg})
		if err != nil {
			return err
		}
		sides[i] = found
	}
	c.unit = group.UnitMessage
	if min(len(sides[0]), len(sides[1])) >= group.LeastUnits {
		c.unit = group.UnitRecording
	}
	files := cli.FilesOf(slices.Concat(sides[0], sides[1]))
	if c.output != cli.StandardOutput {
		written, read := c.rows.Targets(cli.FileOutput), slices.Concat(cli.OnDisk(files), c.rows.Files(cli.FileRead))
		if err := cli.CheckNotRead(written, read); err != nil {
			return err
		}
		if err := cli.CheckWritable(c.con, written); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	advance, done := c.con.Progress("comparing")
	defer done()
	r := cli.Reading{Ctx: ctx, Advance: advance, Total: cli.RecordingSize(files)}
	old, oldMappings, err := c.sample(&r, sides[0])
	if err != nil {
		return err
	}
	new, newMappings, err := c.sample(&r, sides[1])
	if err != nil {
		return err
	}
	comparison := group.Compare(old, new, renumbered(oldMappings, newMappings))
	done()
	return c.write(comparison)
}

// isReports reports whether an argument is reports of a store.
func isReports(arg string) bool { return objects.IsRemote(arg) || lake.HasReports(arg) }

// compareReports compares reports of two builds.
func (c *comparing) compareReports(ctx context.Context, args []string) error {
	if c.format == compareHTML {
		return cli.Misuse("--format %s shows the calls of recordings, which reports do not have", c.format)
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	var sides [2]*group.Sample
	for i, arg := range args {
		l, err := lake.Open(arg)
		if err != nil {
			return err
		}
		o, err := c.naming.OpenAll(ctx, c.con)
		if err = errors.Join(err, o.Missing); err != nil {
			return err
		}
		stalls, users, absent := group.NewStalls(), map[string]bool{}, map[string]int{}
		err = l.AddReports(ctx, "", func(_ *lake.Row, row *analysis.Row) error {
			users[cmp.Or(row.User, row.Recording)] = true
			stalls.AddReport(row)
			return nil
		}, o, absent)
		c.skippedReports += warnAbsent(c.con, absent, c.naming.Mapping)
		if err == nil && len(users) == 0 {
			err = fmt.Errorf("%s has no reports of builds whose mapping is given", arg)
		}
		if err != nil {
			return err
		}
		sides[i] = stalls.Sample(len(users))
	}
	return c.write(group.Compare(sides[0], sides[1], nil))
}

// sample reads the recordings of one side.
func (c *comparing) sample(r *cli.Reading, recordings []cli.Recording) (*group.Sample, *resolve.Mappings, error) {
	o, err := c.naming.OpenAll(r.Ctx, c.con)
	if err != nil {
		return nil, nil, err
	}
	sample := &group.Sample{Unit: c.unit, Paths: c.format == compareHTML}
	o.Stall, o.Also = sample.Stall, sample.Add
	o.End = func(rec *analysis.Recording) error {
		for _, text := range rec.Warnings() {
			c.con.Warn("%s", text)
		}
		return sample.End(rec)
	}
	var mismatch *resolve.MismatchError
	for _, of := range recordings {
		c.recordings++
		err := r.Analyze(of, c.con.In, o)
		if errors.As(err, &mismatch) {
			// Nothing of it was added to the sample.
			c.skipped++
			c.con.Warn("skipped: %v", mismatch)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if sample.Recordings == 0 && mismatch != nil {
		return nil, nil, mismatch
	}
	return sample, o.Mappings, nil
}

// renumbered returns the differences of the mappings if each side has one: they show which methods have another number.
func renumbered(old, new *resolve.Mappings) *mapping.Comparison {
	a, b := old.Loaded(), new.Loaded()
	if len(a) != 1 || len(b) != 1 {
		return nil
	}
	return mapping.Compare(a[0], b[0])
}

func (c *comparing) write(comparison *group.Comparison) error {
	err := cli.WriteTo(c.con, c.output, func(w io.Writer) error {
		switch c.format {
		case groupJSON:
			return comparison.WriteJSON(w, c.top)
		case compareHTML:
			return comparison.WriteHTML(w, c.top)
		}
		return comparison.WriteText(w, c.top, c.all)
	})
	if err != nil {
		return err
	}
	if c.skipped > 0 {
		err = cli.CheckFailed{Err: fmt.Errorf("%d of %d recordings were skipped", c.skipped, c.recordings)}
	}
	if c.skippedReports > 0 {
		err = cli.CheckFailed{Err: fmt.Errorf("%d reports were skipped", c.skippedReports)}
	}
	if slower := comparison.Slower(); c.exitCode && len(slower) > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%s and %d more are surely slower", slower[0].Name(), len(slower)-1)}
	}
	return err
}
