package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
)

// newRootCmd gives the command tree, reading and printing by con.
func newRootCmd(con *console) *cobra.Command {
	root := &cobra.Command{
		Use:                   "tracegen COMMAND",
		DisableFlagsInUseLine: true,
		Short:                 "make methods report their entries and exits",
		Long: `tracegen inserts calls into Java class files, so that every method worth measuring
reports its entry and its exit, and writes down which number stands for which
method.

Exit codes: 0 done, though there may be warnings; 1 done, and something that was
asked about is so (lookup found nothing, verify found something); 2 it could not be
done, and nothing was written.`,
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
	root.RunE = func(*cobra.Command, []string) error { return misuse("which command?") }
	root.SetIn(con.in)
	root.SetOut(con.out)
	root.SetErr(con.err)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(printUsage)

	newOptions([]option{
		{name: "log-format", flag: textOrJSON(&con.asJSON), help: "form of messages on standard error"},
	}, con.profiling.options()).addPersistent(root)
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return con.profiling.start() }

	root.AddCommand(newInstrumentCmd(con), newScanCmd(con), newAssignCmd(con), newStripCmd(con), newVerifyCmd(con),
		newAnalyzeCmd(con), newGroupCmd(con), newCompareCmd(con), newLookupCmd(con), newExplainCmd(con), newDiffCmd(con), newSymbolizeCmd(con), newVersionCmd(con))
	root.AddCommand(newManCmd(root))
	nameOwnCommands(root)
	return root
}

// nameOwnCommands puts cobra's own commands in the words of the others.
func nameOwnCommands(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Short = "explain a command"
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, args []string) error { return explain(root, args) }
		case "completion":
			cmd.Short = "write a script that lets a shell complete commands"
			cmd.RunE = func(*cobra.Command, []string) error { return misuse("which shell?") }
		}
	}
}

// explain prints the help of a command. Cobra's own way answers an unknown one with the help of the root, as
// if all were well.
func explain(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return unknownCommand(root, strings.Join(args, " "))
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// usage is an error of the command line; run adds where to read how it would be right.
type usage struct{ error }

func misuse(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// flagError complains about a flag, and names one that may be meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return misuse("%w", err)
	}
	const limit = 4 // as far as this two words have little to do with each other
	nearest, distance := "", limit
	near := func(f *pflag.Flag) {
		d := filter.Distance(unknown.GetSpecifiedName(), f.Name, limit)
		if strings.HasPrefix(f.Name, unknown.GetSpecifiedName()) {
			d = min(d, 1) // cut off, or not typed to its end
		}
		if d < distance && !f.Hidden && d < len(f.Name) {
			nearest, distance = f.Name, d
		}
	}
	cmd.Flags().VisitAll(near)
	cmd.InheritedFlags().VisitAll(near)
	if nearest == "" {
		return misuse("%w", err)
	}
	return misuse("%w; did you mean --%s?", err, nearest)
}

// unknownCommand complains about a command, and names those that may be meant.
func unknownCommand(root *cobra.Command, name string) error {
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return misuse("unknown command %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return misuse("unknown command %q", name)
}

// atLeastOne is cobra.MinimumNArgs(1), with a message that says what is missing.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return misuse("no %s given", what)
		}
		return nil
	}
}

// noArguments is cobra.NoArgs for commands that have no subcommands either.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misuse("unexpected argument %q", args[0])
	}
	return nil
}

// groupAnnotation is the key under which a flag has the heading that printUsage shows it under.
const groupAnnotation = "group"

// printUsage shows how cmd is called: cobra's own form has all flags in one list, too long to find one in.
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
		fmt.Fprintf(w, "\n%s:\n%s", title, sets[title].FlagUsagesWrapped(100))
	}
	return nil
}

// newFlags gives an empty set whose flags are shown in the order in which they are added.
func newFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	return flags
}
