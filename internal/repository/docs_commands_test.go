package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// leftOut is a line of a document that stands for lines of the output that the document does not show.
const leftOut = "[...]"

// shownCommands are the commands that a document shows in lines that begin with "    $ ", each with the lines below it
// that are indented, or empty and followed by such a line.
func shownCommands(text string) (commands []struct{ line, output string }) {
	var blank int
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		command, begins := strings.CutPrefix(line, "    $ ")
		output, indented := strings.CutPrefix(line, "    ")
		switch {
		case begins:
			commands = append(commands, struct{ line, output string }{line: command})
		case indented && len(commands) > 0 && blank >= 0:
			last := &commands[len(commands)-1]
			last.output += strings.Repeat("\n", blank) + output + "\n"
		case line == "" && blank >= 0:
			blank++
			continue
		default:
			blank = -1
			continue
		}
		blank = 0
	}
	return commands
}

// shows reports whether a document's output is the real one, apart from lines that are left out.
func shows(document, output string) bool {
	var lines []string
	for line := range strings.Lines(output) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	at, skip := 0, false
	for line := range strings.Lines(document) {
		line = strings.TrimRight(line, " \n")
		if line == leftOut {
			skip = true
			continue
		}
		for skip && at < len(lines) && lines[at] != line {
			at++
		}
		if at >= len(lines) || lines[at] != line {
			return false
		}
		at, skip = at+1, false
	}
	for !skip && at < len(lines) && lines[at] == "" {
		at++
	}
	return skip || at == len(lines)
}

func TestShownOutputIsCompared(t *testing.T) {
	commands := shownCommands("text\n\n    $ a b\n    one\n\n    two\n\ntext\n    no output\n    $ c\n")
	if len(commands) != 2 || commands[0].line != "a b" || commands[0].output != "one\n\ntwo\n" ||
		commands[1].output != "" {
		t.Errorf("%q", commands)
	}
	for _, c := range []struct {
		document, output string
		want             bool
	}{
		{"a\nb\n", "a\nb\n\n", true},
		{"a\n", "a\nb\n", false},
		{"a\n[...]\n", "a\nb\n", true},
		{"[...]\nb\n", "a\nb\n", true},
		{"[...]\nc\n[...]\n", "a\nb\n", false},
		{"a\nb\nc\n", "a\nb\n", false},
	} {
		if got := shows(c.document, c.output); got != c.want {
			t.Errorf("%q of %q: %v", c.document, c.output, got)
		}
	}
}

// runShown runs the commands of a document by a shell in a directory, with tracegen on PATH, and compares their output.
// A command that exports a variable sets it for those behind it.
func runShown(t *testing.T, page, dir string, least int, environment ...string) {
	t.Helper()
	text := fixture.Read(t, page)
	commands := shownCommands(string(text))
	if len(commands) < least {
		t.Fatalf("only %d commands are found", len(commands))
	}
	environment = slices.Concat(os.Environ(), environment,
		[]string{"PATH=" + filepath.Dir(buildTool(t)) + string(os.PathListSeparator) + os.Getenv("PATH")})
	for _, c := range commands {
		if variable, ok := strings.CutPrefix(c.line, "export "); ok {
			environment = append(environment, variable)
			continue
		}
		command := exec.Command("sh", "-c", c.line)
		command.Dir, command.Env = dir, environment
		var messages strings.Builder
		command.Stderr = &messages
		output, err := command.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", c.line, err, messages.String())
		}
		if !shows(c.output, string(output)) {
			t.Errorf("the page shows\n%s\nbut %s prints\n%s", c.output, c.line, output)
		}
	}
}

// Invariant: The commands of docs/reading.md print what the page shows.
func TestReadingShowsWhatHappens(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("examples/shop/recordings")); err != nil {
		t.Fatal(err)
	}
	runShown(t, "docs/reading.md", dir, 6)
}

// Invariant: The commands of docs/mappings.md print what the page shows. The bucket that it names is on a real server.
func TestMappingsShowsWhatHappens(t *testing.T) {
	store := oracle.StartObjectStore(t)
	if store.Bucket != "mappings" {
		t.Fatalf("the page names the bucket mappings, and there is %s", store.Bucket)
	}
	dir := t.TempDir()
	jar, err := os.ReadFile(sampleJar)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "sample.jar"), jar, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	runShown(t, "docs/mappings.md", dir, 10,
		append(store.Env(), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))...)
}
