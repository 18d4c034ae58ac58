package read

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/recording/export"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/trace"
)

// The formats of analyze that package export does not have.
const (
	formatTree   = "tree"
	formatAsJSON = "json"
)

// NewAnalyze returns the command analyze.
func NewAnalyze(con *console.Console) *cobra.Command {
	a := analyzing{con: con}
	cmd := &cobra.Command{
		Use:   "analyze RECORDING...",
		Short: "Report stalls in recordings and the methods that caused them",
		Long:  analyzeHelp(),
		Example: `  tracegen analyze app.tgd --mapping out/methodMapping.txt
  tracegen analyze recordings/ --mapping mappings/ --format table --sort stalls --top 20
  tracegen analyze app.tgd --format json | jq '.stalls[].verdict.text'
  tracegen analyze app.tgd --profile tracegen-profile.txt`,
		Args: cli.AtLeastOne("recording"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.named = cmd.Flags().Changed("mapping")
			return a.run(cmd.Context(), args)
		},
	}
	a.rows = a.options()
	a.rows.AddTo(cmd, 0)
	return cmd
}

func (a *analyzing) options() cli.Options {
	var formats []cli.Named[string]
	for _, name := range []string{cli.FormatReport, formatTree, cli.FormatTable, formatAsJSON} {
		formats = append(formats, cli.Word(name, name))
	}
	for _, f := range export.Formats() {
		formats = append(formats, cli.Word(f.Name, f.Name))
	}
	return cli.NewOptions(cli.Grouped("Output",
		cli.Option{Name: "format", Flag: cli.OneOf(&a.format, cli.FormatReport, formats...),
			Help: "write in this `FORMAT`, one of the above"},
		cli.ResultOption(&a.output),
		cli.Option{Name: "sort", Flag: cli.OneOf(&a.sort, answer.OrderSelf, orders()...),
			Help: "order of the methods in the formats table and json"},
		cli.Option{Name: "top", Flag: cli.Number(&a.top, 0),
			Help: "number of methods in the formats table and json; 0 is all"},
		cli.Option{Name: "verbose", Short: "v", Flag: cli.Yes(&a.con.Verbose),
			Help: "show each stall in the format report, with its stacks and what ran before"},
	), a.selection.options(), a.naming.Options(
		cli.Option{Name: "lines", Flag: cli.Text(&a.naming.Lines, ""), File: cli.FileRead,
			Help: "show where methods are, by the `FILE` lines.tsv that instrument --reports wrote"},
	), cli.Grouped("Feedback to the build",
		cli.Option{Name: "profile", Flag: cli.Text(&a.profile, ""), File: cli.FileOutput,
			Help: "add to the profile `FILE`, which is made if it does not exist, the methods that the next build need not " +
				"trace, as they make many calls and take little time"},
		cli.Option{Name: "max-calls", Flag: cli.Number(&a.maxCalls, defaultMaxCalls),
			Help: "with --profile, how many calls of traced methods `N` there may be in a second in which the program runs"},
		cli.Option{Name: "max-dex", Flag: cli.Custom(&a.maxDex),
			Help: "with --profile, how much the calls may add to the dex files, at some 24 bytes a method; first, methods " +
				"that were not called are left out"},
	))
}

func orders() []cli.Named[answer.Order] {
	var list []cli.Named[answer.Order]
	for _, o := range []answer.Order{
		answer.OrderSelf, answer.OrderTotal, answer.OrderCalls, answer.OrderLongest, answer.OrderStalls,
	} {
		list = append(list, cli.Word(string(o), o))
	}
	return list
}

// defaultMaxCalls is how many calls a second cost some percent of the time of a processor.
const defaultMaxCalls = 200_000

// analyzeHelp returns the help, with the verdicts of package analysis and the formats of package export.
func analyzeHelp() string {
	var exports strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&exports, "  %-12s%s\n", f.Name, f.Summary)
	}
	var verdicts strings.Builder
	for _, v := range analysis.Verdicts() {
		fmt.Fprintf(&verdicts, "%s\n", strings.TrimRight(fmt.Sprintf("  %-21s%s", v.Name, v.Help), " "))
	}
	return `analyze reads recordings of tracegen's runtime and reports their stalls: messages of a
looper that took longer than the slow threshold, and on threads without a looper, as on a
plain JVM, outermost calls of traced methods that did. The report has at most 60 lines:
the stalls, those with one hot path as one entry, the runs of main and of threads, and
the methods with the most own time. Waits for work are left out unless --idle is given.
With -v, or for the stall of --stall, the report shows the message, wall time and CPU
time, the hot path, stack samples, the messages before the stall and those that waited.
Each stall has a verdict on the cause:

` + verdicts.String() + `
The verdict names the evidence that the recording lacks. "not available" means that the
runtime could not record something, "nothing" that it recorded that there was nothing.

A RECORDING is a file, - for standard input, or a directory, whose recordings are all
read. If the runtime has written a recording in several parts, analyze reads all parts
that are in the directory of the FILE, and reports those that are missing. It reads all
complete chunks of a damaged recording, and counts and shows damages and repairs. It also
reads the reports of Matrix (JSON, log lines, or the lines of a stack), logs of
BlockCanary, and stack traces: on lines, on one line, as strings, lists or objects in
JSON, with what is said there of the duration. All files may be compressed (.gz).

A file with the stacks of all threads is recognized too: what Android writes of an ANR, the
Play console or Crashlytics shows, jstack, jcmd, ThreadInfo or an IDE writes, also quoted, in
a log, or in JSON. analyze says who waits for whom, and whether there is a deadlock: yes, no,
or that this text cannot show it, and why.

The formats are

  report      what matters most, for people (the default); -v adds each stall
  tree        the call tree of each recording
  table       the methods of all recordings: self time, total time, calls, the longest
              call, and the number of stalls with the method on the hot path
  json        the stalls and the table, for programs; docs/analyze.schema.json has the
              schema
` + exports.String() + `
--stall selects one stall for every format. The formats that hold each call fold calls that are too short for a viewer, unless --all is
given: neighbours become one event with their number and the sum of their times.
docs/analyze.md has the details.

The times of messages are exact. The times of methods have the precision of the clock of
the records, 5 ms by default, which the output shows. Sums of many short calls are more
precise.

A recording names its mapping. If --mapping is a directory or an archive, each recording
gets the mapping that it names, and that of R8 from an archive. A recording whose mapping is not given is skipped with a warning,
and the exit code is 1. If all recordings are skipped, analyze writes nothing. An ID that
is not in the mapping is shown as an ID (#4711) and counted.

A program can make records faster than they can be written. If records were lost, the
output begins with how much was recorded: times are lower bounds then, which the table
marks with ≥, and what was not recorded is shown as "(not recorded)". If a recording
lacks more than 5 % of its records, the exit code is 1 after all has been written.
Calls that the runtime left out to keep up are counted; their time is in their callers.

The incidents that detectors of the runtime have found follow the stalls, with what each
detector did: one that was off or not available saw nothing. If the system has written the
stacks of all threads when the process ended by an ANR, deadlocks among them are reported.

With --profile, analyze adds to a file which methods the next build traces: instrument
--profile applies it. If there are more calls than --max-calls, methods are no longer
traced, the one with the most calls first. A method stays traced if its calls take more
than 50 µs on average, or those of 16 ms or more take 10 µs for each of all its calls,
so that one interrupted call of millions does not count. A line of the profile keeps its
level; without its line, a method is decided anew. If records were lost, the counts
decide.`
}

// analyzing holds the options of the command.
type analyzing struct {
	con            *console.Console
	rows           cli.Options
	format, output string
	naming         cli.Naming
	named          bool
	profile        string
	maxCalls       int
	maxDex         cli.ByteSize
	sort           answer.Order
	top            int
	selection
	unnamed bool                      // there is no mapping
	names   []*resolve.Names          // of the recordings, if there is none
	ended   func(*analysis.Recording) // is called for each recording, or nil
	next    func() string             // see [cli.Answer.Profile]
	learned func(methods int)
	lost    []error // recordings that lack more than largeLoss
	skipped int     // recordings of other builds
}

// run reads the recordings that args name and writes the output.
func (a *analyzing) run(ctx context.Context, args []string) error {
	if a.top < 0 {
		return cli.Misuse("--top %d: must not be negative", a.top)
	}
	switch learns := a.profile != ""; {
	case learns && a.format != cli.FormatReport:
		return cli.Misuse("--profile and --format %s exclude each other: give one of them", a.format)
	case learns && a.stall != 0:
		return cli.Misuse("--profile needs whole recordings: leave out --stall")
	case !learns && (a.rows.Given("max-calls") || a.rows.Given("max-dex")):
		return cli.Misuse("--max-calls and --max-dex are budgets of --profile: give it too")
	case a.maxCalls < 1:
		return cli.Misuse("--max-calls %d: must be 1 or more", a.maxCalls)
	}
	recordings, err := cli.FindRecordings(args)
	if err != nil {
		return err
	}
	if dumps, err := a.threadFiles(recordings); err != nil || len(dumps) > 0 {
		if err == nil {
			err = a.runThreads(dumps)
		}
		return err
	}
	if err := a.selection.check(recordings, a.format); err != nil {
		return err
	}
	files := cli.FilesOf(recordings)
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	o, err := a.openNames(ctx)
	if err != nil {
		return err
	}
	if recordings, err = a.checkBuilds(recordings, o.Mappings); err != nil {
		return err
	}
	if a.output == cli.StandardOutput && a.binary() && cli.IsTerminal(a.con.Out) {
		return cli.Misuse("--format %s is binary and not for a terminal; name a file by --output", a.format)
	}
	read := slices.Concat(a.rows.Files(cli.FileRead), cli.OnDisk(files))
	if err := cli.CheckNotRead(a.rows.Targets(cli.FileOutput), read); err != nil {
		return err
	}
	err = cli.WriteTo(a.con, a.output, func(w io.Writer) error { return a.write(ctx, w, recordings, o) })
	if err != nil {
		return err
	}
	failed := a.lost
	if a.skipped > 0 {
		failed = append(failed, fmt.Errorf("%d of %d recordings were skipped", a.skipped, a.skipped+len(recordings)))
	}
	if len(failed) == 0 {
		return nil
	}
	return cli.CheckFailed{Err: errors.Join(failed...)}
}

func (a *analyzing) binary() bool {
	f := a.exported()
	return f != nil && f.Binary
}

// Formats returns the values of --format.
func Formats() []string {
	a := analyzing{con: &console.Console{}}
	return a.options().Find("format").Flag.Value.(interface{ Names() []string }).Names()
}

// RunAnswer writes an answer to record.
func RunAnswer(ctx context.Context, con *console.Console, wanted cli.Answer) error {
	a := &analyzing{con: con}
	a.rows = a.options()
	a.format, a.output, a.named = wanted.Format, wanted.Output, true
	a.naming.Mapping = wanted.Mapping
	a.ended, a.next, a.learned = wanted.End, wanted.Profile, wanted.Learned
	return a.run(ctx, wanted.Recordings)
}

// openNames opens the mappings. Without --mapping, the default file may be missing.
func (a *analyzing) openNames(ctx context.Context) (analysis.Options, error) {
	o, missing, err := a.naming.Open(ctx, a.con)
	if missing != nil && a.named {
		return o, missing
	}
	a.unnamed = missing != nil
	return o, err
}

// checkBuilds returns the recordings without those of builds whose mapping is not given, of which it warns. It refuses
// if no other recording is left, before anything is written. Standard input is checked when it is read.
func (a *analyzing) checkBuilds(recordings []cli.Recording, mappings *resolve.Mappings) ([]cli.Recording, error) {
	var kept []cli.Recording
	var mismatches []error
	for _, of := range recordings {
		err := a.checkOne(of, mappings)
		switch {
		case errors.As(err, new(*resolve.MismatchError)):
			mismatches = append(mismatches, err)
		case err != nil:
			return nil, err
		default:
			kept = append(kept, of)
		}
	}
	if len(kept) == 0 && len(mismatches) > 0 {
		return nil, mismatches[0]
	}
	for _, err := range mismatches {
		a.skipped++
		a.con.Warn("skipped: %v", err)
	}
	return kept, nil
}

// checkOne returns an error if the recording cannot be opened, or if it is of another build than all mappings.
func (a *analyzing) checkOne(of cli.Recording, mappings *resolve.Mappings) error {
	if of.Name == cli.StandardInput {
		return nil
	}
	in, err := source.Open(of.Files[0])
	if err != nil {
		return err
	}
	defer in.Close()
	r := in.Reader()
	if r == nil || mappings == nil {
		return nil // a report does not name its build
	}
	c, err := r.Next()
	meta, ok := c.(*trace.Meta)
	if err != nil || !ok {
		return nil // the error is reported when the recording is read
	}
	_, _, err = mappings.Find(of.Name, meta.MappingID(), a.naming.Force)
	return err
}

// write reads all recordings and writes them to w.
func (a *analyzing) write(ctx context.Context, w io.Writer, recordings []cli.Recording, o analysis.Options) error {
	p := &passes{analyzing: a, ctx: ctx, recordings: recordings}
	if err := p.locate(o); err != nil {
		return err
	}
	finish, err := p.prepare(&o, p.limited(w))
	if err != nil {
		return err
	}
	a.warnAtEnd(&o)
	if p.only != nil || p.folds() {
		o.View = &analysis.View{Only: p.only, Fold: p.folds()}
	}
	if err := p.read("analyzing", o); err != nil {
		return err
	}
	err = finish(o.Mappings)
	if a.unnamed && slices.ContainsFunc(a.names, func(n *resolve.Names) bool { return n.Unknown() > 0 }) {
		a.con.Warn("%s does not exist, so that methods are shown by their IDs; give the mapping of the build by "+
			"--mapping", a.naming.Mapping)
	}
	return err
}

// prepare sets the handlers of o that write the output in the format; finish writes its end.
func (p *passes) prepare(o *analysis.Options, w io.Writer) (finish func(*resolve.Mappings) error, err error) {
	none := func(*resolve.Mappings) error { return nil }
	switch {
	case p.profile != "":
		return p.learn(o, w)
	case p.format == cli.FormatReport:
		return p.report(o, w), nil
	case p.format == cli.FormatTable:
		methods := new(answer.Methods)
		methods.Connect(o)
		return func(*resolve.Mappings) error { return methods.WriteTable(w, p.sort, p.top) }, nil
	case p.format == formatTree:
		answer.WriteTrees(o, w, answer.Least(p.least))
		return none, nil
	case p.format == formatAsJSON:
		j, err := answer.NewJSON(w, cli.Version())
		if err != nil {
			return nil, err
		}
		methods := new(answer.Methods)
		o.Stall, o.End = j.Stall, j.End
		methods.Connect(o)
		return func(*resolve.Mappings) error { return j.Close(methods, p.sort, p.top) }, nil
	}
	return p.export(o, w)
}

// learn does so for --profile.
func (p *passes) learn(o *analysis.Options, w io.Writer) (finish func(*resolve.Mappings) error, err error) {
	profile, err := readProfile(p.profile)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	methods := new(answer.Methods)
	methods.Connect(o)
	return func(m *resolve.Mappings) error {
		learned := methods.Learn(profile, p.budget(), m.Loaded())
		if err := p.writeProfile(profile, p.profile); err != nil {
			return err
		}
		return learned.Write(w, p.profile)
	}, nil
}

func (p *passes) budget() answer.Budget {
	return answer.Budget{Calls: float64(p.maxCalls), Dex: int64(p.maxDex)}
}

// readProfile returns the profile in a file, an empty one if there is no file. A profile with rules is an error.
func readProfile(file string) (*filter.Profile, error) {
	data, err := userfile.ReadText(file, maxProfile)
	if errors.Is(err, fs.ErrNotExist) {
		return new(filter.Profile), nil
	}
	if err != nil {
		return nil, err
	}
	profile, err := filter.ParseProfile(file, []byte(data))
	if err == nil && profile.Rules > 0 {
		err = fmt.Errorf("%s has rules of a baseline profile, which would be lost: name another file", file)
	}
	return profile, err
}

func (p *passes) writeProfile(profile *filter.Profile, file string) error {
	return cli.WriteTo(p.con, file, func(w io.Writer) error {
		_, err := profile.WriteTo(w)
		return err
	})
}

// learnNext writes the profile for the next recording, if record wants it. It leaves a file alone that is no profile:
// analyze --profile says what is wrong with it.
func (p *passes) learnNext(methods *answer.Methods, m *resolve.Mappings) error {
	if p.next == nil || p.next() == "" {
		return nil
	}
	profile, err := readProfile(p.next())
	if err != nil {
		return nil
	}
	methods.Learn(profile, p.budget(), m.Loaded())
	none := 0
	for _, line := range profile.Lines {
		if !line.Traced {
			none++
		}
	}
	p.learned(none)
	return p.writeProfile(profile, p.next())
}

// maxProfile is the size in bytes above which a profile is not read.
const maxProfile = 1 << 30

// report does so for the format report: one stall in full, or what matters most, with -v behind all that is known.
func (p *passes) report(o *analysis.Options, w io.Writer) (finish func(*resolve.Mappings) error) {
	if p.only != nil || p.con.Verbose {
		text := answer.NewText(w)
		o.Begin, o.End, o.Stall = text.Begin, text.End, text.Stall
	}
	if p.only != nil {
		return func(*resolve.Mappings) error { return nil }
	}
	screen := answer.Screen{Idle: p.idle, Details: p.con.Verbose}
	screen.Connect(o)
	return func(m *resolve.Mappings) error {
		if err := screen.Close(w); err != nil {
			return err
		}
		return p.learnNext(&screen.Methods, m)
	}
}

// export does so for a format of package export.
func (p *passes) export(o *analysis.Options, w io.Writer) (finish func(*resolve.Mappings) error, err error) {
	v, err := export.New(p.format, w, export.Options{Program: "tracegen " + cli.Version()})
	if err != nil {
		return nil, err
	}
	connect(o, v)
	return func(*resolve.Mappings) error { return v.Close() }, nil
}

// largeLoss is the share of lost records from which on the exit code is 1. Less hardly moves a sum of many calls.
const largeLoss = 0.05

// warnAtEnd adds to o that the warnings of each recording are printed, unless the screen has them: some formats cannot
// hold them.
func (a *analyzing) warnAtEnd(o *analysis.Options) {
	end := o.End
	o.End = func(r *analysis.Recording) error {
		if a.unnamed {
			a.names = append(a.names, r.Names)
		}
		if a.ended != nil {
			a.ended(r)
		}
		if a.profile != "" || a.format != cli.FormatReport || a.con.Verbose || a.stall > 0 {
			for _, text := range r.Warnings() {
				a.con.Warn("%s", text)
			}
		}
		// A profile goes by counts then, and is how to lose less.
		if r.Empty() {
			a.lost = append(a.lost, fmt.Errorf("%s has no calls, messages, or incidents: what the program did is not known",
				r.Name))
		}
		if c := r.Completeness; c != nil && a.profile == "" && c.LostShare > largeLoss {
			a.lost = append(a.lost, fmt.Errorf("%s: %.1f %% of its records are missing, more than %.0f %%",
				r.Name, 100*c.LostShare, 100*largeLoss))
		}
		if end == nil {
			return nil
		}
		return end(r)
	}
}

// least is the flag --min.
type least answer.Least

// Set implements pflag.Value.
func (l *least) Set(text string) error {
	if digits, ok := strings.CutSuffix(strings.TrimSpace(text), "%"); ok {
		share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || share < 0 || share > 100 {
			return errors.New("must be a share from 0% to 100%")
		}
		*l = least{Share: share / 100}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("must be a time such as 5ms, or a share such as 1%")
	}
	*l = least{Nanos: d.Nanoseconds()}
	return nil
}

// String implements pflag.Value.
func (l *least) String() string {
	if l.Nanos > 0 {
		return time.Duration(l.Nanos).String()
	}
	return strconv.FormatFloat(l.Share*100, 'g', -1, 64) + "%"
}

// Type implements pflag.Value.
func (l *least) Type() string { return "least" }
