package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/mappingstore"
	"github.com/tracegen/tracegen/internal/userfile"
)

// NewMappings returns the command mappings.
func NewMappings(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mappings COMMAND",
		Short: "Keep the mappings of all releases in an archive",
		Long: `An archive keeps the mappings of many releases, in a directory or in a bucket of an
object store that speaks S3. A release has a method mapping and, if they are given, the
mapping of R8 of the same build and its source lines. It is found by the digest of the
mapping, which recordings contain, or by version and variant.

The archive is named by --archive, or by the variable TRACEGEN_ARCHIVE: a directory, or
s3://BUCKET/PREFIX. For S3, credentials, region and endpoint are taken from the variables
AWS_* and the files of profiles, as other programs take them. Nothing but a location that
begins with s3:// makes tracegen use the network.

analyze, group, compare and collect take an archive by --mapping: each recording gets the
mapping that it names, and that of R8. For other commands, pull writes the mapping of a
release to a file. docs/mappings.md describes the format of an archive.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Misuse("unknown command %q; the commands are push, pull and list", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return cli.Misuse("no command given; the commands are push, pull and list")
		},
	}
	cmd.AddCommand(newPushCmd(con), newPullCmd(con), newListCmd(con))
	return cmd
}

// archiving holds the options that the commands share.
type archiving struct {
	con              *console.Console
	archive          string
	version, variant string
}

// options returns the rows of the archive, and of the options that say which releases are meant.
func (g *archiving) options(what string) []cli.Option {
	return cli.Grouped("Release",
		cli.Option{Name: "archive", Flag: cli.Text(&g.archive, ""), File: cli.FileRead,
			Help: "the `LOCATION` of the archive: a directory, or s3://BUCKET/PREFIX (default: that in " +
				mappingstore.Variable + ")"},
		cli.Option{Name: "version", Flag: cli.Text(&g.version, ""), Help: what + " this `VERSION`"},
		cli.Option{Name: "variant", Flag: cli.Text(&g.variant, ""), Help: what + " this `VARIANT`, such as release"},
	)
}

// open opens the archive.
func (g *archiving) open() (*mappingstore.Archive, error) {
	location := cmp.Or(g.archive, os.Getenv(mappingstore.Variable))
	if location == "" {
		return nil, cli.Misuse("no archive given: name it by --archive, or set %s", mappingstore.Variable)
	}
	return cli.OpenArchive(g.con, location)
}

// selector returns what the options and the argument select.
func (g *archiving) selector(args []string) mappingstore.Selector {
	s := mappingstore.Selector{Version: g.version, Variant: g.variant}
	if len(args) > 0 {
		s.Digest = strings.ToLower(args[0])
	}
	return s
}

// atMostOne refuses more than one argument.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return cli.Misuse("unexpected argument %q; give one %s", args[1], what)
		}
		return nil
	}
}

// pushing holds the options of push.
type pushing struct {
	archiving
	r8, lines, time string
}

func newPushCmd(con *console.Console) *cobra.Command {
	p := pushing{archiving: archiving{con: con}}
	cmd := &cobra.Command{
		Use:   "push MAPPING",
		Short: "Add a release to an archive",
		Long: `push adds a release to an archive, and makes the archive if there is none.

To push the same release again changes nothing; if the archive cannot read it any more,
it is repaired. Several pushes may run at the same time. If a push is killed, the archive
is as before. A release with the same mapping and another version or file is another
release; where the archive is asked for one, it returns the latest.`,
		Example: `  tracegen mappings push out/methodMapping.txt --archive mappings/ --version 1.2 --variant release
  tracegen mappings push out/methodMapping.txt --archive s3://builds/app --version 1.2 --r8-mapping mapping.txt`,
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(cli.AtLeastOne("mapping")(cmd, args), atMostOne("mapping")(cmd, args))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args[0]) },
	}
	cli.NewOptions(p.options("the release has"), cli.Grouped("Release",
		cli.Option{Name: "time", Flag: cli.Text(&p.time, ""),
			Help: "when the release was made, as `TIME` (2026-11-22T13:19:28Z); the latest release is the one with the " +
				"latest time (default: now)"},
		cli.Option{Name: "r8-mapping", Flag: cli.Text(&p.r8, ""), File: cli.FileRead,
			Help: "also keep the mapping `FILE` of R8 or ProGuard of the same build"},
		cli.Option{Name: "lines", Flag: cli.Text(&p.lines, ""), File: cli.FileRead,
			Help: "also keep the `FILE` lines.tsv that instrument --reports has written"},
	), []cli.Option{cli.QuietOption(con, 0)}).AddTo(cmd, 0)
	return cmd
}

func (p *pushing) run(ctx context.Context, file string) error {
	b := mappingstore.Build{Version: p.version, Variant: p.variant, Time: time.Now(),
		Files: map[mappingstore.Kind][]byte{}, Names: map[mappingstore.Kind]string{}}
	var err error
	if p.time != "" {
		if b.Time, err = time.Parse(time.RFC3339, p.time); err != nil || b.Time.Year() < 1 || b.Time.Year() > 9999 {
			return cli.Misuse("--time %q: must have the form 2026-11-22T13:19:28Z", p.time)
		}
	}
	for kind, path := range map[mappingstore.Kind]string{mappingstore.Mapping: file, mappingstore.R8: p.r8,
		mappingstore.Lines: p.lines} {
		if path == "" {
			continue
		}
		b.Names[kind] = path
		text, err := userfile.ReadText(path, maxPushed)
		if err != nil {
			return err
		}
		b.Files[kind] = []byte(text)
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	a, err := p.open()
	if err != nil {
		return err
	}
	done, err := a.Push(ctx, b)
	if err != nil {
		return err
	}
	if p.con.Quiet {
		return nil
	}
	return printPushed(p.con.Out, done)
}

// maxPushed is how large a file of a release may be.
const maxPushed = 1 << 30

func printPushed(w io.Writer, p *mappingstore.Pushed) error {
	what := "pushed"
	switch {
	case !p.Added:
		what = "already there"
	case p.Repaired:
		what = "repaired"
	}
	text := fmt.Sprintf("%s: mapping %s, %s", what, p.Release.Digest, cli.ReleaseText(&p.Release))
	if p.Added {
		text += fmt.Sprintf("; %d bytes stored for %d", p.Stored, p.Size)
	}
	if p.SameDigest > 0 {
		text += fmt.Sprintf("; %d other releases have the same digest", p.SameDigest)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// pulling holds the options of pull.
type pulling struct {
	archiving
	output           string
	latest, optional bool
}

func newPullCmd(con *console.Console) *cobra.Command {
	p := pulling{archiving: archiving{con: con}}
	cmd := &cobra.Command{
		Use:   "pull [DIGEST] -o FILE",
		Short: "Write the mapping of a release to a file",
		Long: `pull writes the mapping of a release to FILE, and that of R8, if the release has one,
beside it: for -o base.txt to base.r8.txt. If FILE is a directory or ends in a slash, pull
writes all files of the release into it: methodMapping.txt, mapping.txt (that of R8)
and lines.txt.

The release is named by the digest of its mapping or the begin of it, by --version and
--variant, or with --latest it is the one that was pushed last. If several
match, pull writes the latest. All files are checked before any is written. With
--optional, the exit code is 0 if there is no such release: then pull writes nothing.
The exit code is 1 without --optional.`,
		Example: `  tracegen mappings pull 81caf54fe1699ddc -o methodMapping.txt
  tracegen mappings pull --version 1.2 --variant release -o release-1.2/
  tracegen mappings pull --latest --variant release --optional -o base.txt`,
		Args: atMostOne("digest"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args) },
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cli.NewOptions(cli.Grouped("Output", cli.Option{Name: "output", Short: "o", Flag: cli.Text(&p.output, ""),
		File:   cli.FileOutput,
		Stdout: true, Help: "write the mapping to `FILE`, or all files into a directory; - is standard output"}),
		p.options("the release that has"), cli.Grouped("Release",
			cli.Option{Name: "latest", Flag: cli.Yes(&p.latest), Help: "the release that was pushed last, of those selected"},
			cli.Option{Name: "optional", Flag: cli.Yes(&p.optional), Help: "it is no error if there is no such release"},
		), []cli.Option{cli.QuietOption(con, 0)}).AddTo(cmd, 0)
	return cmd
}

func (p *pulling) run(ctx context.Context, args []string) error {
	s := p.selector(args)
	switch {
	case p.output == "":
		return cli.Misuse("no output given: name it by --output")
	case s.String() == "" && !p.latest:
		return cli.Misuse("no release given: name it by its digest, by --version or --variant, or give --latest")
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	a, err := p.open()
	if err != nil {
		return err
	}
	r, err := a.Find(ctx, s)
	if p.optional && cli.IsAbsent(err) {
		p.con.Warn("%v; nothing was written", err)
		return nil
	}
	if errors.Is(err, mappingstore.ErrNone) {
		return cli.CheckFailed{Err: err}
	}
	if err != nil {
		return err
	}
	files, err := p.fetch(ctx, a, r)
	if err != nil {
		return err
	}
	if p.output == cli.StandardOutput {
		_, err := p.con.Out.Write(files[0].content)
		return err
	}
	if err := p.write(files); err != nil || p.con.Quiet {
		return err
	}
	_, err = fmt.Fprintf(p.con.Out, "mapping %s, %s: %s\n", r.Digest, cli.ReleaseText(&r), namesOf(files))
	return err
}

// pulledFile is a file that pull writes.
type pulledFile struct {
	path    string
	content []byte
}

func namesOf(files []pulledFile) string {
	var names []string
	for _, f := range files {
		names = append(names, console.Printable(f.path))
	}
	return strings.Join(names, ", ")
}

// fetch reads the files that are written, the mapping first.
func (p *pulling) fetch(ctx context.Context, a *mappingstore.Archive, r mappingstore.Release) ([]pulledFile, error) {
	d, err := a.Details(ctx, r)
	if err != nil {
		return nil, err
	}
	extension := filepath.Ext(p.output)
	paths := map[mappingstore.Kind]string{mappingstore.Mapping: p.output,
		mappingstore.R8: strings.TrimSuffix(p.output, extension) + ".r8" + cmp.Or(extension, ".txt")}
	switch {
	case p.output == cli.StandardOutput:
		delete(paths, mappingstore.R8)
	case cli.IsDirectory(p.output) || cli.EndsInSeparator(p.output):
		paths = map[mappingstore.Kind]string{mappingstore.Mapping: cli.DefaultMapping, mappingstore.R8: "mapping.txt",
			mappingstore.Lines: "lines.txt"}
		for kind, name := range paths {
			paths[kind] = filepath.Join(p.output, name)
		}
	}
	var files []pulledFile
	for _, kind := range mappingstore.Kinds() {
		f, path := d.File(kind), paths[kind]
		if f == nil || path == "" {
			continue
		}
		content, err := a.Read(ctx, f)
		if err != nil {
			return nil, err
		}
		files = append(files, pulledFile{path, content})
	}
	return files, nil
}

// write writes the files. They appear when all of them are written.
func (p *pulling) write(files []pulledFile) error {
	var targets []cli.Target
	for _, f := range files {
		targets = append(targets, cli.Target{What: "--output", Path: f.path})
	}
	undo, err := cli.MakeDirectories(targets)
	if err != nil {
		return err
	}
	defer undo()
	if err := cli.CheckWritable(p.con, targets); err != nil {
		return err
	}
	stage := &output.Stage{Warn: p.con.WarnText}
	defer stage.Abort()
	// The mapping is the last, so that what waits for it finds the others.
	for _, f := range slices.Backward(files) {
		out, err := stage.Create(f.path)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	return stage.Commit()
}

// listing holds the options of list.
type listing struct {
	archiving
	json bool
}

func newListCmd(con *console.Console) *cobra.Command {
	l := listing{archiving: archiving{con: con}}
	cmd := &cobra.Command{
		Use:   "list [DIGEST]",
		Short: "List the releases of an archive",
		Long: `list prints the releases of an archive, from the latest to the first: the digest of the
mapping, version, variant, and when it was pushed. A bucket is asked once for each 1,000
releases.`,
		Example: `  tracegen mappings list --archive s3://builds/app --variant release
  tracegen mappings list --version 1.2 --format json`,
		Args: atMostOne("digest"),
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd.Context(), args) },
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cli.NewOptions(cli.Grouped("Output",
		cli.Option{Name: "format", Flag: cli.TextOrJSON(&l.json),
			Help: "output format: a table, or one JSON object per line"},
	), l.options("the releases that have")).AddTo(cmd, 0)
	return cmd
}

// listedRelease is a release in JSON.
type listedRelease struct {
	Digest  string    `json:"digest"`
	Version string    `json:"version"`
	Variant string    `json:"variant"`
	Pushed  time.Time `json:"pushed"`
	ID      string    `json:"id"`
}

func (l *listing) run(ctx context.Context, args []string) error {
	s := l.selector(args)
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	a, err := l.open()
	if err != nil {
		return err
	}
	list, err := a.List(ctx, s)
	if err != nil {
		return err
	}
	rows := make([]listedRelease, len(list))
	for i, r := range list {
		rows[i] = listedRelease{Digest: r.Digest, Version: r.Version, Variant: r.Variant, Pushed: r.Pushed, ID: r.ID}
	}
	if l.json {
		return printJSONLines(l.con.Out, rows)
	}
	return printReleases(l.con.Out, rows)
}

func printJSONLines(w io.Writer, rows []listedRelease) error {
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	for _, r := range rows {
		if err := j.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// printReleases prints a table. What is missing is shown as a dash.
func printReleases(w io.Writer, rows []listedRelease) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "digest\tversion\tvariant\tpushed (UTC)")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Digest, cell(r.Version), cell(r.Variant),
			r.Pushed.Format("2006-01-02 15:04:05"))
	}
	return t.Flush()
}

// cell returns a text for a cell of a table: without what would break the line.
func cell(text string) string {
	return cmp.Or(console.Printable(text), "-")
}
