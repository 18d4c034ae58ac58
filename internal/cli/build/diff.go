package build

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping"
)

// NewDiff returns the command diff.
func NewDiff(con *console.Console) *cobra.Command {
	exitCode := false
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two mappings",
		Long: `diff compares two mappings. It prints counts and warnings first, and then the methods
that differ, one per line. The line begins with

  +  the method is in NEW only; "back" if its ID is retired in OLD
  -  the method is in OLD only; "retired" if NEW retires its ID
  ~  the method is in both, with different IDs
  !  the ID stands for different methods
  =  the same code has another name that a compiler numbered: OLD's -> NEW's
  ?  the name may stand for other code: a compiler numbered it (lambda$f$1, Foo$2),
     and the code differs, or other such methods of the class were added or removed
  o  the ID is retired in OLD and free in NEW; pruned, if OLD is the base of NEW
  n  the ID is retired in NEW and free in OLD
  @  the focus hook differs

Methods are matched by class, name and descriptor. If OLD is the base of NEW, there are
no lines with ~ and !.

The files may be compressed (.gz), and one of them may be - for standard input.`,
		Example: `  tracegen diff 1.4/methodMapping.txt 1.5/methodMapping.txt
  tracegen diff old.txt new.txt --exit-code > changes.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Misuse("give two mappings; %d given", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := compareFiles(con, args[0], args[1])
			if err != nil {
				return err
			}
			out := bufio.NewWriter(con.Out)
			if err := errors.Join(d.WriteText(out), out.Flush()); err != nil {
				return err
			}
			if exitCode && !d.Equal() {
				return cli.CheckFailed{Err: fmt.Errorf("%s and %s differ", args[0], args[1])}
			}
			return nil
		},
	}
	cli.NewOptions([]cli.Option{
		{Name: "exit-code", Flag: cli.Yes(&exitCode), Help: "exit with 1 if the files differ in more than comments"},
	}).AddTo(cmd, 0)
	return cmd
}

// maxText is the size in bytes above which a mapping is not read, however much it is compressed.
const maxText = 1 << 30

// readText returns the content of a file, inflated if it is compressed, or of standard input, and its name in messages.
func readText(con *console.Console, file string) (name, text string, err error) {
	if file != cli.StandardInput {
		text, err = userfile.ReadText(file, maxText)
		return file, text, err
	}
	name = "standard input"
	in, err := userfile.Text(con.In)
	if err != nil {
		return name, "", fmt.Errorf("%s: %w", name, err)
	}
	data, err := userfile.ReadAll(in, name, maxText)
	return name, string(data), err
}

// compareFiles compares two mappings.
func compareFiles(con *console.Console, old, new string) (*buildreport.MappingDifference, error) {
	if old == cli.StandardInput && new == cli.StandardInput {
		return nil, cli.Misuse("standard input can be read only once")
	}
	d := &buildreport.MappingDifference{}
	for _, side := range []struct {
		file string
		name *string
		to   **mapping.Mapping
	}{{old, &d.OldFile, &d.Old}, {new, &d.NewFile, &d.New}} {
		name, text, err := readText(con, side.file)
		if err != nil {
			return nil, err
		}
		if *side.to, err = mapping.Parse(name, text); err != nil {
			return nil, err
		}
		*side.name = name
	}
	d.Comparison = mapping.Compare(d.Old, d.New)
	return d, nil
}
