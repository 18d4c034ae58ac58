package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/oracle"
)

// wantTool skips the test if a program is missing, or fails it where tools are required.
func wantTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		oracle.Require(t, fmt.Errorf("no %s on PATH: %w", name, oracle.ErrMissing))
	}
}

// TestManual checks that each command has a manual page that mandoc accepts, with the text of the help.
//
// Invariant: The manual pages say what the help says, and every example of the help is a valid command line.
func TestManual(t *testing.T) {
	wantTool(t, "mandoc")
	dir := t.TempDir()
	root := testedRoot()
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range cli.ManPages(root) {
		page := filepath.Join(dir, cli.ManName(cmd)+".1")
		lint, _ := exec.Command("mandoc", "-T", "lint", "-W", "warning", page).CombinedOutput()
		for line := range strings.Lines(string(lint)) {
			if !strings.Contains(line, `missing date, using ""`) {
				t.Error(line)
			}
		}
		shown, err := exec.Command("mandoc", "-T", "utf8", "-O", "width=200", page).Output()
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		text := regexp.MustCompile(".\b").ReplaceAllString(string(shown), "") // bold is a letter typed twice
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if line = strings.TrimSpace(line); !strings.Contains(text, line) {
				t.Errorf("%s does not say %q", page, line)
			}
		}
	}
}

// TestExamples checks that each command has examples with valid flags and arguments.
//
// Invariant: The manual pages say what the help says, and every example of the help is a valid command line.
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
		for line := range strings.Lines(cmd.Example) {
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
