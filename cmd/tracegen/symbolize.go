package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/symbolize"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

func newSymbolizeCmd(con *console) *cobra.Command {
	var y symbolizing
	cmd := &cobra.Command{
		Use:   "symbolize [FILE]",
		Short: "put the names of methods to the IDs in any text",
		Long: `symbolize copies FILE, or standard input, to standard output and puts names to the
method IDs in it. What it does not recognise stays as it is, byte for byte.

Recognised are the reports of Matrix and of tracegen's runtime, whose records are
"depth,ID,count,cost":
  "stack":"0,97,1,2859\n1,99,30,2859\n"   in JSON, in JSON in a log line
  stack = 0,97,1,2859                     behind a key, with more lines below
  0,97,1,2859                             alone on their lines
  |*    .99 30 2859                       below a line with [id count cost]
A record is left whole, and the name put behind it:
  0,97,1,2859,com.example.Main.onCreate
  |*    .99 30 2859 com.example.Main.load
so that the output can be read as the input could, and symbolizing it again changes
nothing. In a "stackKey" ("97|99|") names take the place of the IDs.

Lines of four numbers that nothing announces are records only if they begin with
depth 0 and either with the message dispatch (1048574), or are three or more, of
which the mapping has half and of which nearly none costs more than its caller.

An ID that the mapping does not have stays as it is; how many there were is said on
standard error.

With --r8-mapping the stack traces in the text are retraced as well, as by R8's
retrace: "at a.b.c(SourceFile:12)", exceptions, BlockCanary's and Matrix's ways to
write frames, also in strings of JSON. Without a method mapping that is all that is
done. Names that come from the method mapping are original ones and not retraced.`,
		Example: `  tracegen symbolize report.json --mapping out/methodMapping.txt
  adb logcat | tracegen symbolize --mapping out/methodMapping.txt
  tracegen symbolize crash.txt --r8-mapping app/build/outputs/mapping/release/mapping.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misuse("unexpected argument %q; one file is read, or standard input", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			y.named = cmd.Flags().Changed("mapping")
			return y.run(con, append(args, "-")[0])
		},
	}
	newOptions([]option{
		{name: "mapping", flag: text(&y.mapping, defaultMapping), file: fileRead, extensions: []string{"txt"},
			help: "the method mapping `FILE`"},
		{name: "r8-mapping", flag: text(&y.r8, ""), file: fileRead, extensions: []string{"txt"},
			help: "retrace with this mapping `FILE` of R8 or ProGuard"},
		{name: "descriptors", flag: yes(&y.descriptors), help: "put the descriptor behind each name"},
	}).addTo(cmd, 0)
	return cmd
}

// symbolizing holds the flags of the command.
type symbolizing struct {
	mapping, r8 string
	named       bool // --mapping was given
	descriptors bool
}

// run symbolizes one file; "-" is standard input.
func (y *symbolizing) run(con *console, file string) error {
	s, err := y.symbolizer(con)
	if err != nil {
		return err
	}
	in := con.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	} else {
		file = "standard input"
	}
	counts, err := s.Copy(con.out, readErrors{in, file})
	if err != nil {
		return err
	}
	if counts.Unknown > 0 {
		con.warn("%d of %d IDs unknown: %s does not have them; is it that of the build that wrote the report?", counts.Unknown, counts.IDs, y.mapping)
	}
	if counts.IDs == 0 && s.Mapping != nil && counts.Frames == 0 {
		con.warn("no IDs found in %s; see tracegen symbolize --help for what is recognised", file)
	}
	return nil
}

// symbolizer loads the mappings.
func (y *symbolizing) symbolizer(con *console) (*symbolize.Symbolizer, error) {
	s := &symbolize.Symbolizer{Descriptors: y.descriptors}
	var err error
	if y.r8 != "" {
		if s.R8, err = r8.Load(y.r8); err != nil {
			return nil, err
		}
		if v := s.R8.UnknownVersion(); v != "" {
			con.warn("%s: map version %s is not known, and all that versions brought is left out; frames may be missing or too many", y.r8, v)
		}
	}
	s.Mapping, err = mapping.Load(y.mapping)
	if errors.Is(err, fs.ErrNotExist) && y.r8 != "" && !y.named {
		return s, nil // the default need not be there
	}
	return s, err
}

// readErrors names the file in the errors of reading it.
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
