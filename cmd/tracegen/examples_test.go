package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples checks that each command has examples with valid flags and arguments.
//
// Invariant: Every example of the help is a valid command line.
func TestExamples(t *testing.T) {
	for _, cmd := range allCommands(testedRoot()) {
		if !cmd.IsAvailableCommand() || cmd.HasSubCommands() || cmd.Name() == "help" ||
			cmd.Parent().Name() == "completion" {
			continue // cobra's, or no command by itself
		}
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		named := false
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
			for _, part := range strings.Split(line, " | ") {
				fields := strings.Fields(strings.NewReplacer("'", "").Replace(part))
				if i := slices.IndexFunc(fields, func(f string) bool { return f == "#" || f == ">" }); i >= 0 {
					fields = fields[:i]
				}
				if len(fields) == 0 || fields[0] != "tracegen" {
					continue
				}
				root := testedRoot()
				found, rest, err := root.Find(fields[1:])
				if err == nil {
					named = named || found.CommandPath() == cmd.CommandPath()
					err = checkLine(found, rest)
				}
				if err != nil {
					t.Errorf("%s: example %q: %v", cmd.CommandPath(), part, err)
				}
			}
		}
		if !named {
			t.Errorf("%s: no example shows it", cmd.CommandPath())
		}
	}
}

// checkLine parses the flags and arguments of a command line without running it.
func checkLine(cmd *cobra.Command, args []string) error {
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
