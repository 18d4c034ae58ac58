package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/internal/export"
	"github.com/tracegen/tracegen/trace"
)

// The formats of analyze that are not exports.
const (
	answersReport = "report"
	answersTree   = "tree"
	answersTable  = "table"
	answersJSON   = "json"
)

func newAnalyzeCmd(con *console) *cobra.Command {
	a := analyzing{con: con}
	cmd := &cobra.Command{
		Use:   "analyze RECORDING...",
		Short: "tell what was slow in recordings, and which method is to blame",
		Long:  analyzeHelp(),
		Example: `  tracegen analyze app.tgd --mapping out/methodMapping.txt
  tracegen analyze recordings/ --mapping mappings/ --format table --sort slow --top 20
  tracegen analyze app.tgd --format json | jq '.slow[].verdict.text'
  tracegen analyze app.tgd --suggest-blocklist -o hot.yml`,
		Args: atLeastOne("recording"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.named = cmd.Flags().Changed("mapping")
			return a.run(cmd.Context(), args)
		},
	}
	cmd.ValidArgsFunction = completeFiles("tgd", "json", "log", "txt")
	a.rows = a.options()
	a.rows.addTo(cmd, 0)
	return cmd
}

func (a *analyzing) options() options {
	formats := []named[string]{{answersReport, answersReport}, {answersTree, answersTree}, {answersTable, answersTable}, {answersJSON, answersJSON}}
	for _, f := range export.Formats() {
		formats = append(formats, named[string]{f.Name, f.Name})
	}
	return newOptions(grouped("Output",
		option{name: "format", flag: oneOf(&a.format, answersReport, formats...), help: "write in this `FORMAT`, one of those above"},
		resultOption(&a.output),
		option{name: "sort", flag: oneOf(&a.sort, analysis.OrderSelf, orders()...), help: "what table, and the methods of json, are sorted by"},
		option{name: "top", flag: number(&a.top, 0), help: "how many methods table and json have, 0 for all"},
		option{name: "min", flag: custom(&a.least), help: "leave out of tree what took less, as a `TIME` (5ms) or a share (1%)"},
		option{name: "each", flag: yes(&a.each), help: "give tree one tree for each slow message instead of one of all calls"},
	), a.naming.options(
		option{name: "lines", flag: text(&a.naming.lines, ""), file: fileRead,
			help: "the `FILE` that instrument --lines wrote beside the mapping: shows where methods are"},
	), grouped("Feedback to the build",
		option{name: "suggest-blocklist", flag: yes(&a.block),
			help: "write rules for tracegen.yml that block methods with many calls and little time"},
		option{name: "block-below", flag: duration(&a.blocking.Below, 16*time.Millisecond),
			help: "block no method of which a call ever took this `TIME`"},
		option{name: "block-mean", flag: duration(&a.blocking.Mean, 20*time.Microsecond),
			help: "block no method whose calls take more than this `TIME` on average"},
		option{name: "block-share", flag: share(&a.blocking.Share, 0.005),
			help: "block no method that makes less than this `SHARE` of the records"},
		option{name: "pair-cost", flag: duration(&a.blocking.Pair, 3*time.Nanosecond),
			help: "the `TIME` that an entry and an exit cost together on your devices"},
	))
}

func orders() []named[analysis.Order] {
	var list []named[analysis.Order]
	for _, o := range []analysis.Order{analysis.OrderSelf, analysis.OrderTotal, analysis.OrderCalls, analysis.OrderLongest, analysis.OrderStalls} {
		list = append(list, named[analysis.Order]{string(o), o})
	}
	return list
}

// analyzeHelp has the formats of package export in it as they are.
func analyzeHelp() string {
	var exports strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&exports, "  %-12s%s\n", f.Name, f.Summary)
	}
	var verdicts strings.Builder
	for _, v := range analysis.Verdicts() {
		fmt.Fprintf(&verdicts, "%s\n", strings.TrimRight(fmt.Sprintf("  %-21s%s", v.Name, v.Help), " "))
	}
	return `analyze reads recordings of tracegen's runtime and tells of each message that took too
long: what it was, how long it took and how much of that on a processor, the path to
where the time went, what ran before it and what waited behind it, and in one line what
it was slow for, judged by what was recorded:

` + verdicts.String() + `
What the recording lacks is named in that line. "not available" is what nobody could
see, "nothing" what was seen to be empty. On a thread without a looper, as all are on a
plain JVM, a message is an outermost call of a traced method.

A RECORDING is a file, - for standard input, or a directory, of which every recording in
it is read. Of files that were set aside, FILE.2, FILE.1 and FILE, the oldest comes
first, however they are given. Whatever is whole is read; what was damaged or had to be
mended is counted and shown. Reports of Matrix are read as well, as JSON, logged, or the
lines of a stack, and logs of BlockCanary and stack traces; any may be compressed (.gz).

The formats are

  report      the answers, for people (the default)
  tree        all calls merged by path, or with --each those of each slow message
  table       methods over all recordings: own time, total, calls, the longest call, and
              of how many slow messages a method is on the hot path
  json        the answers and the table, for programs; docs/analyze.schema.json has the
              schema
` + exports.String() + `
Times of messages are exact. Those of methods are as exact as the clock that records are
stamped with, 5 ms if nothing else was asked for, which is shown; sums of many short
calls are better than that.

A recording says which mapping it is of. Another one is refused, with exit code 1,
before anything is written; of a directory of mappings each recording gets its own. An
ID that the mapping does not have stays an ID (#4711) and is counted.

With --suggest-blocklist the output is a tracegen.yml, or a file to include in one. It
blocks methods that make many records and take little time, each by its full name, and
says what that will save. A method that is on a hot path, or of which one call ever took
--block-below, is never in it.`
}

// analyzing holds the flags of the command.
type analyzing struct {
	con                *console
	rows               options
	format, output     string
	naming             naming
	named, each, block bool
	sort               analysis.Order
	top                int
	least              least
	blocking           analysis.Blocking
}

// run reads the recordings that args name and writes what was asked for.
func (a *analyzing) run(ctx context.Context, args []string) error {
	if a.top < 0 {
		return misuse("--top %d: must not be negative", a.top)
	}
	if a.block && a.format != answersReport {
		return misuse("--suggest-blocklist writes rules, and --format %s something else; give one of them", a.format)
	}
	files, err := findRecordings(args)
	if err != nil {
		return err
	}
	o, err := a.names()
	if err != nil {
		return err
	}
	if err := a.check(files, o.Mappings); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	if a.output == standardOutput && a.binary() && isTerminal(a.con.out) {
		return misuse("--format %s is not for a terminal; name a file by --output", a.format)
	}
	read := slices.DeleteFunc(slices.Concat(a.rows.files(fileRead), files), func(f string) bool { return f == standardInput })
	if err := checkNotRead(a.rows.targets(fileOutput), read); err != nil {
		return err
	}
	return writeTo(a.con, a.output, func(w io.Writer) error { return a.write(ctx, w, files, o) })
}

func isTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

func (a *analyzing) binary() bool {
	for _, f := range export.Formats() {
		if f.Name == a.format {
			return f.Binary
		}
	}
	return false
}

// names opens what names come from. Without --mapping, the default need not be there.
func (a *analyzing) names() (analysis.Options, error) {
	o, missing, err := a.naming.open()
	if missing != nil && a.named {
		return o, missing
	}
	if missing != nil {
		a.con.warn("there is no %s: methods are shown by their IDs; give the mapping of the build by --mapping", a.naming.mapping)
	}
	return o, err
}

// check refuses recordings of other builds before anything is written. What comes by standard input is looked at when
// its turn comes.
func (a *analyzing) check(files []string, mappings *analysis.Mappings) error {
	for _, file := range files {
		if file == standardInput {
			continue
		}
		in, err := trace.OpenSource(file)
		if err != nil {
			return err
		}
		r := in.Reader()
		if r == nil || mappings == nil {
			in.Close()
			continue // a report does not say what build it is of
		}
		c, err := r.Next()
		in.Close()
		meta, ok := c.(*trace.Meta)
		if err != nil || !ok {
			continue // what is wrong will be told when it is read
		}
		if _, _, err := mappings.Find(file, meta.MappingID(), a.naming.force); err != nil {
			return refusal(err)
		}
	}
	return nil
}

// refusal makes the answer of an error that says that a mapping does not fit.
func refusal(err error) error {
	if errors.As(err, new(*analysis.MismatchError)) {
		return answer{err}
	}
	return err
}

// write reads all recordings and writes them to w.
func (a *analyzing) write(ctx context.Context, w io.Writer, files []string, o analysis.Options) error {
	finish, err := a.prepare(&o, w)
	if err != nil {
		return err
	}
	a.warnAtEnd(&o)
	advance, done := a.con.progress("analyzing")
	defer done()
	r := reading{ctx: ctx, advance: advance, total: recordingSize(files)}
	for _, file := range files {
		if err := r.analyze(file, a.con.in, o); err != nil {
			return refusal(err)
		}
	}
	return finish(o.Mappings)
}

// prepare has the answers written in the form that was asked for; finish writes what comes last.
func (a *analyzing) prepare(o *analysis.Options, w io.Writer) (finish func(*analysis.Mappings) error, err error) {
	switch {
	case a.block:
		o.Methods = new(analysis.Methods)
		return func(m *analysis.Mappings) error {
			return o.Methods.Suggest(a.blocking, m.Loaded()).WriteConfig(w)
		}, nil
	case a.format == answersReport:
		text := analysis.NewText(w)
		o.Begin, o.Stall, o.End = text.Begin, text.Stall, text.End
		return func(*analysis.Mappings) error { return nil }, nil
	case a.format == answersTable:
		o.Methods = new(analysis.Methods)
		return func(*analysis.Mappings) error { return o.Methods.WriteTable(w, a.sort, a.top) }, nil
	case a.format == answersTree && a.each:
		o.Stall = func(s *analysis.Stall) error {
			if _, err := fmt.Fprintf(w, "%s\n", s.Title()); err != nil {
				return err
			}
			return analysis.NewCalls(s).WriteTree(w, analysis.Least(a.least))
		}
		return func(*analysis.Mappings) error { return nil }, nil
	case a.format == answersTree:
		o.Calls = new(analysis.Calls)
		return func(*analysis.Mappings) error { return o.Calls.WriteTree(w, analysis.Least(a.least)) }, nil
	case a.format == answersJSON:
		j, err := analysis.NewJSON(w, version())
		if err != nil {
			return nil, err
		}
		o.Methods, o.Stall, o.End = new(analysis.Methods), j.Stall, j.End
		return func(*analysis.Mappings) error { return j.Close(o.Methods, a.sort, a.top) }, nil
	}
	return a.export(o, w)
}

// export writes one of the forms of package export.
func (a *analyzing) export(o *analysis.Options, w io.Writer) (finish func(*analysis.Mappings) error, err error) {
	v, err := export.New(a.format, w, nil, export.Options{Program: "tracegen " + version()})
	if err != nil {
		return nil, err
	}
	o.Also = func(r *analysis.Recording, names *analysis.Names) (trace.Handler, error) {
		return v, v.Recording(export.Recording{Title: r.Name, Names: names, Banner: r.Banner()})
	}
	o.Evidence, o.Stall = v.Evidence, v.Stall
	o.End = func(r *analysis.Recording) error { return v.Damage(r.Damage) }
	return func(*analysis.Mappings) error { return v.Close() }, nil
}

// warnAtEnd has each recording's shortcomings told on standard error as well, where the form of the output may have no
// room for them.
func (a *analyzing) warnAtEnd(o *analysis.Options) {
	end := o.End
	o.End = func(r *analysis.Recording) error {
		for _, text := range r.Warnings() {
			a.con.warn("%s", text)
		}
		if end == nil {
			return nil
		}
		return end(r)
	}
}

// least is the flag --min.
type least analysis.Least

// Set implements pflag.Value.
func (l *least) Set(text string) error {
	if digits, ok := strings.CutSuffix(strings.TrimSpace(text), "%"); ok {
		share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || share < 0 || share > 100 {
			return errors.New("want a share from 0% to 100%")
		}
		*l = least{Share: share / 100}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a time such as 5ms, or a share such as 1%")
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
