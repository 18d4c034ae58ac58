package read

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/recording/symbolize"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// NewSymbolize returns the command symbolize.
func NewSymbolize(con *console.Console) *cobra.Command {
	var y symbolizing
	cmd := &cobra.Command{
		Use:   "symbolize [FILE]",
		Short: "Add the names of methods to the IDs in any text",
		Long: `symbolize copies FILE, or standard input, to standard output and adds the names of
methods to the IDs in it. All other text stays the same, byte for byte. The files may be
compressed (.gz); the output is not.

It recognizes the reports of Matrix and of tracegen's runtime. Their records are
"depth,ID,count,cost":
  "stack":"0,97,1,2859\n1,99,30,2859\n"   in JSON, in JSON in a log line
  stack = 0,97,1,2859                     behind a key, with more lines below
  0,97,1,2859                             on lines of their own
  |*    .99 30 2859                       below a line with [id count cost]
The name is added at the end of the record:
  0,97,1,2859,com.example.Main.onCreate
  |*    .99 30 2859 com.example.Main.load
Programs that read the input can still read the output, and symbolizing the output
again changes nothing. In a "stackKey" ("97|99|"), names replace the IDs.

Other lines of four numbers are records only if the first has depth 0, and if it is
the message dispatch (1048574), or there are at least three lines, of which the
mapping has at least half, and of which nearly none costs more than its caller.

IDs that the mapping does not have stay as they are. Standard error reports how many
there are.

With --r8-mapping, symbolize also retraces the stack traces in the text, as R8's
retrace does: "at a.b.c(SourceFile:12)", exceptions, and the frames that BlockCanary
and Matrix write, also several on a line, in lists, and in JSON strings, and native
frames and the classes of locks. A frame on a line with others stays as it is if it
may be of several methods. It then needs no method mapping. Names from the method
mapping are original names and are not retraced.

A warning says so if nothing was found; with --exit-code, the exit code is 1.`,
		Example: `  tracegen symbolize report.json --mapping out/methodMapping.txt
  adb logcat | tracegen symbolize --mapping out/methodMapping.txt
  tracegen symbolize crash.txt --r8-mapping app/build/outputs/mapping/release/mapping.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Misuse("unexpected argument %q; give one file, or none for standard input", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			y.named = cmd.Flags().Changed("mapping")
			return y.run(con, append(args, "-")[0])
		},
	}
	cli.NewOptions([]cli.Option{
		{Name: "mapping", Flag: cli.Text(&y.mapping, cli.DefaultMapping), File: cli.FileRead,
			Help: "method mapping `FILE`"},
		{Name: "r8-mapping", Flag: cli.Text(&y.r8, ""), File: cli.FileRead,
			Help: "retrace stack traces by this mapping `FILE` of R8 or ProGuard"},
		{Name: "exit-code", Flag: cli.Yes(&y.exitCode), Help: "exit with 1 if nothing was found to symbolize"},
	}).AddTo(cmd, 0)
	return cmd
}

// symbolizing holds the flags of the command.
type symbolizing struct {
	mapping, r8 string
	named       bool // --mapping was given
	exitCode    bool
}

// run symbolizes one file; "-" is standard input.
func (y *symbolizing) run(con *console.Console, file string) error {
	s, err := y.symbolizer(con)
	if err != nil {
		return err
	}
	in := con.In
	if file != "-" {
		f, err := userfile.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	} else {
		file = "standard input"
	}
	if in, err = userfile.Text(in); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	counts, err := s.Copy(con.Out, readErrors{in, file})
	if err != nil {
		return err
	}
	if counts.Unknown > 0 {
		con.Warn("%d of %d IDs are not in %s; give the mapping of the build that wrote the report", counts.Unknown,
			counts.IDs, y.mapping)
	}
	if counts.IDs == 0 && counts.Frames == 0 {
		sought := "no frame, exception, or lock that is in " + y.r8
		if s.R8 == nil {
			sought = "no IDs in a form that symbolize recognizes"
		} else if s.Mapping != nil {
			sought += ", and no IDs"
		}
		con.Warn("%s has %s; see tracegen symbolize --help", file, sought)
	}
	if y.exitCode && counts.IDs == counts.Unknown && counts.Frames == 0 {
		return cli.CheckFailed{Err: fmt.Errorf("no name was put into %s", file)}
	}
	return nil
}

// symbolizer loads the mappings.
func (y *symbolizing) symbolizer(con *console.Console) (*symbolize.Symbolizer, error) {
	s := &symbolize.Symbolizer{}
	var err error
	if y.r8 != "" {
		if s.R8, err = r8.Load(y.r8); err != nil {
			return nil, err
		}
		if v := s.R8.UnknownVersion(); v != "" {
			con.Warn("%s: map version %s is unknown, and all its features are ignored; frames may be missing or "+
				"superfluous", y.r8, v)
		}
	}
	s.Mapping, err = mapping.Load(y.mapping)
	if errors.Is(err, fs.ErrNotExist) && y.r8 != "" && !y.named {
		return s, nil // the default need not be there
	}
	return s, err
}

// readErrors is a reader that names the file in its errors.
type readErrors struct {
	in   io.Reader
	file string
}

func (r readErrors) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && err != io.EOF && !strings.Contains(err.Error(), r.file) {
		err = fmt.Errorf("%s: %w", r.file, err)
	}
	return n, err
}
