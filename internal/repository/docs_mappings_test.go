package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// TestMappingsShowsWhatHappens runs the commands of docs/mappings.md by a shell, with a server for the bucket that the
// page names, and compares their output.
//
// Invariant: The commands of docs/mappings.md print what the page shows.
func TestMappingsShowsWhatHappens(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "mappings.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := shownCommands(string(text))
	if len(commands) < 10 {
		t.Fatalf("only %d commands are found", len(commands))
	}
	store := oracle.StartObjectStore(t)
	if store.Bucket != "mappings" {
		t.Fatalf("the page names the bucket mappings, and there is %s", store.Bucket)
	}
	tool := buildTool(t)
	dir := t.TempDir()
	jar, err := os.ReadFile(filepath.Join("testdata", "sample", "sample.jar"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "sample.jar"), jar, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	environment := append(store.Env(), "PATH="+filepath.Dir(tool)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
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
