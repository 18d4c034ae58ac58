package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestInterrupted checks that an interrupted run fails and leaves nothing behind.
//
// Invariant: A run that is interrupted leaves no file or directory behind.
func TestInterrupted(t *testing.T) {
	sample, err := filepath.Abs("../../testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		{"instrument", sample, "-o", "out/x.jar", "--report", "lists/report.json"},
		{"strip", sample, "-o", "out/x.jar"},
	} {
		var stdout, stderr bytes.Buffer
		code := runTool(ctx, args, strings.NewReader(""), &stdout, &stderr)
		if code != cli.ExitFailed || stderr.String() != "tracegen: interrupted; nothing was written\n" || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args[0], code, &stdout, &stderr)
		}
		if left, _ := os.ReadDir("."); len(left) > 0 {
			t.Errorf("%s leaves %v", args[0], left)
		}
	}
}

// failingWriter is standard output on a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestResultsCannotBePrinted checks that a command fails if it cannot print its results, but not if it cannot print the
// summary of work that is done.
func TestResultsCannotBePrinted(t *testing.T) {
	sample, err := filepath.Abs("../../testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	cases := []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"instrument", sample, "-o", "x.jar"}, cli.ExitDone,
			"tracegen: warning: the summary could not be printed: no space\n"},
		{[]string{"strip", "x.jar", "-o", "y.jar"}, cli.ExitDone,
			"tracegen: warning: the summary could not be printed: no space\n"},
		{[]string{"lookup", "1048574"}, cli.ExitFailed, "tracegen: no space\n"},
		{[]string{"version"}, cli.ExitFailed, "tracegen: no space\n"},
	}
	for _, c := range cases {
		var stderr bytes.Buffer
		code := runTool(context.Background(), c.args, strings.NewReader(""), failingWriter{}, &stderr)
		if code != c.code || stderr.String() != c.stderr {
			t.Errorf("%v: exit code %d, stderr %q", c.args, code, &stderr)
		}
	}
}

func allCommands(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		list = append(list, allCommands(sub)...)
	}
	return list
}

// keyLine is the line of a key of tracegen.yml in the help.
var keyLine = regexp.MustCompile(`(?m)^  ([a-z][a-z0-9-]*)`)

// TestFlagsAreDocumentedAndTested checks that each flag has a help text, and that a script uses it.
//
// Invariant: Every flag has a help text, and a script uses it.
func TestFlagsAreDocumentedAndTested(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var used strings.Builder
	for _, name := range scripts {
		text := fixture.Read(t, name)
		used.Write(text)
	}
	keys := 0
	for _, cmd := range allCommands(testedRoot())[1:] {
		if !cmd.IsAvailableCommand() || strings.Contains(cmd.CommandPath(), "completion") {
			continue // cobra's
		}
		if cmd.Short == "" {
			t.Errorf("%s is not explained", cmd.CommandPath())
		}
		for _, key := range keyLine.FindAllStringSubmatch(cmd.Annotations["keys"], -1) {
			if !regexp.MustCompile(`(?m)--set ` + key[1] + `\b|^` + key[1] + `: `).MatchString(used.String()) {
				t.Errorf("no script uses the key %s of %s", key[1], cmd.CommandPath())
			}
			keys++
		}
		var help bytes.Buffer
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || cmd.InheritedFlags().Lookup(f.Name) != nil {
				return
			}
			if len(f.Usage) < 10 || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: %q explains nothing, or ends in a period", cmd.CommandPath(), f.Name, f.Usage)
			}
			if !strings.Contains(help.String(), "--"+f.Name+" ") {
				t.Errorf("%s --%s is not in its help", cmd.CommandPath(), f.Name)
			}
			in := regexp.MustCompile(`(?m)tracegen .*\b` + cmd.Name() + `\b.* (--` + f.Name + `\b|-` + f.Shorthand +
				`[ \d])`)
			inFile := cmd.Name() == "instrument" && regexp.MustCompile(`(?m)^`+f.Name+`: `).MatchString(used.String())
			if !in.MatchString(used.String()) && !inFile {
				t.Errorf("no script uses %s --%s", cmd.CommandPath(), f.Name)
			}
		})
	}
	if keys < 20 {
		t.Errorf("only %d keys are found; is the help still read rightly?", keys)
	}
}

// TestDocumentsNameFlagsThatExist checks each --flag in the documents.
func TestDocumentsNameFlagsThatExist(t *testing.T) {
	known := map[string]bool{"help": true}
	for _, cmd := range allCommands(testedRoot()) {
		add := func(f *pflag.Flag) { known[f.Name] = true }
		cmd.Flags().VisitAll(add)
		cmd.PersistentFlags().VisitAll(add)
	}
	// Flags of other programs.
	known["add-reads"], known["class-path"], known["patch-module"], known["tool"] = true, true, true, true
	named := regexp.MustCompile("(?:^|[\\s`(/|])--([a-z][a-z0-9-]*)")
	// The flags on a line that shows another program are that program's.
	other := regexp.MustCompile(`(?m)^.*\b(?:gradle|gradlew|[Bb]azel|mvn|maven-repository|java|gh|goreleaser|curl|jq|gpg|cosign|valgrind|callgrind)\b.* --.*$`)
	// Most flags in these pages are of another program. The commands of tracegen in them are checked by the tests of
	// the repository.
	ofOthers := []string{"gradle.md", "android.md", "bazel.md", "maven.md"}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	for _, name := range append(pages, "../../README.md", "../../ARCHITECTURE.md", "../../CHANGELOG.md") {
		if slices.Contains(ofOthers, filepath.Base(name)) {
			continue
		}
		text := fixture.Read(t, name)
		found := named.FindAllStringSubmatch(other.ReplaceAllString(string(text), ""), -1)
		for _, m := range found {
			if !known[m[1]] {
				t.Errorf("%s names --%s, which no command has", name, m[1])
			}
		}
		if strings.HasSuffix(name, "README.md") && len(found) < 5 {
			t.Errorf("only %d flags are found in %s; is it still searched rightly?", len(found), name)
		}
	}
}

func testedRoot() *cobra.Command {
	return newRootCmd(&console.Console{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
}

// runTool executes one command line and returns the exit code.
func runTool(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, newRootCmd, args, stdin, stdout, stderr)
}
