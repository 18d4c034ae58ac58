package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/console"
)

// Assemble returns the command tree of these commands, in the order of the help, and of those that each tree has.
func Assemble(con *console.Console, commands ...*cobra.Command) *cobra.Command {
	root := newRoot(con)
	root.AddCommand(commands...)
	root.AddCommand(newVersionCmd(con))
	nameOwnCommands(root)
	return root
}

// newRoot returns the root of the command tree, without commands.
func newRoot(con *console.Console) *cobra.Command {
	root := &cobra.Command{
		Use:                   "tracegen COMMAND",
		DisableFlagsInUseLine: true,
		Short:                 "Make methods report their entries and exits",
		Long: `tracegen inserts calls into Java class files, so that every method worth measuring
reports its entry and its exit. It writes a mapping of the methods to the IDs that
stand for them, and analyzes what an instrumented program has recorded.

Exit codes:
  0  the work is done; there may be warnings
  1  the work is done, and a check failed: lookup found nothing, verify has findings,
     or a guard failed
  2  the work could not be done; nothing was written`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
	}
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(root, args[0])
		}
		return nil
	}
	showVersion := false
	root.RunE = func(*cobra.Command, []string) error {
		if showVersion {
			return printVersion(con)
		}
		return Misuse("no command given")
	}
	root.SetIn(con.In)
	root.SetOut(con.Out)
	root.SetErr(con.Err)
	root.SetFlagErrorFunc(FlagError)
	root.SetUsageFunc(printUsage)

	NewOptions([]Option{
		{Name: "version", Flag: Yes(&showVersion), Help: "print the version"},
	}).AddTo(root, 0)
	NewOptions([]Option{
		{Name: "log-format", Help: "format of the messages on standard error; github is workflow commands of GitHub " +
			"Actions, which become annotations",
			Flag: OneOf(&con.Format, console.LogText, Word("text", console.LogText), Word("json", console.LogJSON),
				Word("github", console.LogGitHub))},
	}).addPersistent(root)

	return root
}

// nameOwnCommands sets descriptions of cobra's own commands that are like those of the others.
func nameOwnCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Short = "Show the help of a command"
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, args []string) error { return showHelp(root, args) }
		case "completion":
			cmd.Short = "Write a script that makes a shell complete commands"
			cmd.RunE = func(*cobra.Command, []string) error { return Misuse("no shell given") }
		}
	}
}

// showHelp prints the help of a command. Cobra's own help command answers an unknown command with the help of the root
// and exit code 0.
func showHelp(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return unknownCommand(root, strings.Join(args, " "))
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// usageError is an error in the command line. run adds a reference to the help.
type usageError struct{ error }

// Misuse returns an error in the command line. Run adds a reference to the help.
func Misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// FlagError returns the error for a flag that could not be parsed. For an unknown flag it suggests a similar one, or
// the key of that name.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return Misuse("%w", err)
	}
	if set := cmd.Flags().Lookup("set"); set != nil {
		setter, ok := set.Value.(*KeySetter)
		if ok && setter.Table.keysOf(setter.As).Find(unknown.GetSpecifiedName()) != nil {
			return Misuse("%w; it is a key of tracegen.yml: --set %s=VALUE", err, unknown.GetSpecifiedName())
		}
	}
	const limit = 4 // words at this distance or more are not similar
	nearest, distance := "", limit
	near := func(f *pflag.Flag) {
		d := filter.Distance(unknown.GetSpecifiedName(), f.Name, limit)
		if strings.HasPrefix(f.Name, unknown.GetSpecifiedName()) {
			d = min(d, 1) // an incomplete name
		}
		if d < distance && !f.Hidden && d < len(f.Name) {
			nearest, distance = f.Name, d
		}
	}
	cmd.Flags().VisitAll(near)
	cmd.InheritedFlags().VisitAll(near)
	if nearest == "" {
		return Misuse("%w", err)
	}
	return Misuse("%w; did you mean --%s?", err, nearest)
}

// unknownCommand returns the error for an unknown command, and suggests similar ones.
func unknownCommand(root *cobra.Command, name string) error {
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return Misuse("unknown command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return Misuse("unknown command %q", name)
}

// AtLeastOne is like cobra.MinimumNArgs(1); its message says what is missing.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Misuse("no %s given", what)
		}
		return nil
	}
}

// NoArguments is like cobra.NoArgs. Cobra's message would say that the command is unknown.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Misuse("unexpected argument %q", args[0])
	}
	return nil
}

// helpColumns is the width of the help of flags.
const helpColumns = 100

// groupAnnotation is the key of the annotation that holds the heading of a flag in the help.
const groupAnnotation = "group"

// printUsage prints how cmd is called, with its flags by group. Cobra would print all flags as one long list.
func printUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(w, "  %-*s  %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	var titles []string
	sets := map[string]*pflag.FlagSet{}
	each := func(f *pflag.Flag) {
		title := "Flags"
		if g := f.Annotations[groupAnnotation]; len(g) > 0 {
			title = g[0]
		}
		if sets[title] == nil {
			titles = append(titles, title)
			sets[title] = newFlags()
		}
		sets[title].AddFlag(f)
	}
	cmd.LocalFlags().VisitAll(each)
	cmd.InheritedFlags().VisitAll(each)
	for _, title := range titles {
		fmt.Fprintf(w, "\n%s:\n%s", title, sets[title].FlagUsagesWrapped(helpColumns))
	}
	if keys := cmd.Annotations[keysAnnotation]; keys != "" {
		fmt.Fprintf(w, "\nKeys of tracegen.yml, and of --set:\n%s", keys)
	}
	return nil
}

// newFlags returns an empty set that shows its flags in the order in which they are added.
func newFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	return flags
}
