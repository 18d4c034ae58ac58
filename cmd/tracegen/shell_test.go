package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/oracle"
)

// wantTool skips the test if a program is missing, or fails it where tools are required.
func wantTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		oracle.Require(t, fmt.Errorf("no %s on PATH: %w", name, oracle.ErrMissing))
	}
}

// shells are the shells with a completion script, and a program for each that prints the completions of a command line,
// whose words are the arguments. PowerShell is not available in package registries, so that its script is not run.
var shells = []struct{ name, ask string }{
	{"bash", `
for f in /usr/share/bash-completion/bash_completion /usr/local/share/bash-completion/bash_completion; do
	[ -e "$f" ] && . "$f"
done
source <(tracegen completion bash)
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
__start_tracegen
printf '%s\n' "${COMPREPLY[@]}"`},
	// These functions print the completions instead of showing them.
	{"zsh", `
autoload -U compinit && compinit -u -D
source <(tracegen completion zsh)
_describe() { print -rl -- $completions }
_arguments() { print -rl -- "$@" }
words=("$@") CURRENT=$#
_tracegen`},
	{"fish", `
tracegen completion fish | source
complete -C (string join ' ' -- $argv)`},
}

// TestCompletionInShells runs the completion scripts in their shells.
//
// Invariant: The shells complete what the commands accept.
func TestCompletionInShells(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "tracegen")); err != nil { // TestMain makes it the command
		t.Skipf("skipped: no symbolic links here: %v", err)
	}
	for _, shell := range shells {
		t.Run(shell.name, func(t *testing.T) {
			wantTool(t, shell.name)
			dir := t.TempDir()
			for _, name := range []string{"app.jar", "notes.pdf", "map.txt"} {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, test := range []struct {
				line      []string
				want, not string // regular expressions
			}{
				{[]string{"tracegen", "instrument", "--exits", ""}, `(?m)^exact\b`, `instrument|jar`},
				{[]string{"tracegen", "instrument", "--exi"}, `(?m)^--exits`, `--base`},
				{[]string{"tracegen", "look"}, `(?m)^lookup`, `instrument`},
				{[]string{"tracegen", "explain", "--format", ""}, `(?m)^json\b`, `map.txt`},
				{[]string{"tracegen", "strip", ""}, `app.jar|-g \\\*.jar`, `notes.pdf`},
				{[]string{"tracegen", "lookup", "--mapping", ""}, `map.txt|-g \\\*.txt`, `app.jar|\*.jar`},
			} {
				args := []string{"-c", shell.ask}
				if shell.name != "fish" {
					args = append(args, shell.name)
				}
				cmd := exec.Command(shell.name, append(args, test.line...)...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil && len(out) == 0 {
					t.Errorf("%q: %v", test.line, err)
				}
				anyFile := shell.name == "fish" && strings.Contains(test.want,
					"-g") // cobra's script cannot filter there
				if !regexp.MustCompile(test.want).Match(out) || regexp.MustCompile(test.not).Match(out) && !anyFile {
					t.Errorf("%q is completed to\n%s\nwant %s and not %s", test.line, out, test.want, test.not)
				}
			}
		})
	}
}

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
