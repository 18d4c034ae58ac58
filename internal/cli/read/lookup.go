package read

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// NewLookup returns the command lookup.
func NewLookup(con *console.Console) *cobra.Command {
	l := lookup{con: con}
	file := ""
	cmd := &cobra.Command{
		Use:   "lookup ID|PATTERN...",
		Short: "Find methods by ID, and IDs by method",
		Long: `lookup prints the lines of a mapping that match each pattern, pattern by pattern.
The line of a retired ID begins with "# retired".

A pattern is one of
  17                           an ID
  100-200                      all IDs from 100 to 200
  com.example.Foo              the methods of a class
  com.example.Foo#bar          those with a name; also com.example.Foo.bar;
                               and lambdas and coroutines in a function bar
  com.example.Foo#bar(I)V      one method; without V, with any return type
  com.example.**#get*(**)      a glob: ** crosses dots, * and ? do not
  com.example.Foo bar (I)V     as in a mapping file
  /\.(foo|bar)$/               a regular expression that matches anywhere in
                               "class method descriptor" as in the file
  -                            read patterns from standard input, one per line

The exit code is 1 if a pattern matches nothing; standard error names the pattern.`,
		Example: `  tracegen lookup 4711 --mapping out/methodMapping.txt
  tracegen lookup 'com.example.**#onCreate'
  cut -d, -f2 stacks.txt | tracegen lookup -`,
		Args: cli.AtLeastOne("ID or pattern"),
		RunE: func(_ *cobra.Command, args []string) error {
			var err error
			if l.mapping, err = mapping.Load(file); err != nil {
				return err
			}
			return l.run(args)
		},
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cli.NewOptions([]cli.Option{
		{Name: "mapping", Flag: cli.Text(&file, cli.DefaultMapping), File: cli.FileRead,
			Help: "method mapping `FILE`"},
	}).AddTo(cmd, 0)
	return cmd
}

// lookup holds the options of the command and its counts.
type lookup struct {
	con     *console.Console
	mapping *mapping.Mapping
	out     *bufio.Writer
	names   []mapping.Identity // what a pattern that matches nothing may mean; nil until there is one
	missing int                // patterns that match nothing
	parsed  int                // patterns
}

func (l *lookup) run(args []string) (err error) {
	l.out = bufio.NewWriter(l.con.Out)
	defer func() { err = errors.Join(err, l.out.Flush()) }()
	// All patterns are parsed first, so that a wrong one is reported before any output.
	patterns := make([]*mapping.Pattern, len(args))
	for i, arg := range args {
		if arg == "-" {
			continue
		}
		if patterns[i], err = mapping.ParsePattern(arg); err != nil {
			return err
		}
	}
	for i, arg := range args {
		if patterns[i] != nil {
			err = l.find(arg, patterns[i])
		} else {
			err = l.findLines()
		}
		if err != nil {
			return err
		}
	}
	if l.missing > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%d of %d patterns match nothing", l.missing, l.parsed)}
	}
	return nil
}

// findLines prints the matches of the patterns on standard input.
func (l *lookup) findLines() error {
	in := bufio.NewReader(l.con.In)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("standard input: %w", err)
		}
		if text := strings.TrimSpace(line); text != "" {
			pattern, err := mapping.ParsePattern(text)
			if err != nil {
				return fmt.Errorf("standard input, line %d: %w", n, err)
			}
			if err := l.find(text, pattern); err != nil {
				return err
			}
			// An interactive user waits for the output before typing the next pattern.
			if in.Buffered() == 0 {
				if err := l.out.Flush(); err != nil {
					return err
				}
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// suggested is for how many patterns similar names are searched: it takes a look at every name, and a program may ask
// for thousands.
const suggested = 10

// find prints the matches of one pattern.
func (l *lookup) find(text string, pattern *mapping.Pattern) error {
	l.parsed++
	found := false
	for e := range l.mapping.Find(pattern) {
		found = true
		if _, err := fmt.Fprintln(l.out, e.Line()); err != nil {
			return err
		}
	}
	if !found {
		l.missing++
		var near []string
		if l.missing <= suggested {
			near = cli.Near(text, l.identities())
		}
		if len(near) > 0 {
			text += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		l.con.Inform("nothing matches %s", text)
	}
	return nil
}

// identities returns all methods, and their classes.
func (l *lookup) identities() []mapping.Identity {
	if l.names == nil {
		everything, _ := mapping.ParsePattern("**")
		for e := range l.mapping.Find(everything) {
			if n := len(l.names); n == 0 || l.names[n-1].Class != e.Class {
				l.names = append(l.names, mapping.Identity{Class: e.Class})
			}
			l.names = append(l.names, e.Identity)
		}
	}
	return l.names
}
