package build

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/project"
	"github.com/tracegen/tracegen/internal/console"
)

// optionLine is a line of tracegen.yml that holds an option, or a rule, as a comment.
var optionLine = regexp.MustCompile(`(?m)^#(\S|  +-)`)

// TestInitialConfig reads the file that init writes for each kind of project by the reader of tracegen.yml: as it is,
// and with every option switched on.
func TestInitialConfig(t *testing.T) {
	var projects []*project.Project
	for kind := project.Unknown; kind <= project.Archives; kind++ {
		projects = append(projects, &project.Project{Kind: kind, File: "a/build file"},
			&project.Project{Kind: kind, File: "x", BlockLists: []string{`a "b"/list.txt`}, Bases: []string{"old map.txt"},
				Other: []string{"Matrix", "btrace"}})
	}
	for _, p := range projects {
		text := p.Config()
		all := optionLine.ReplaceAllString(text, "$1")
		if strings.Contains(text, "#rules:\n") && !strings.Contains(all, "\nrules:\n") {
			t.Fatal("the options are not switched on; is optionLine right?")
		}
		for _, text := range []string{text, all} {
			for line := range strings.Lines(text) {
				if len(line) > 121 || strings.HasPrefix(line, "#") && !regexp.MustCompile(`^#( \S|[a-z]|  -)`).MatchString(line) {
					t.Errorf("line %q", line)
				}
			}
			inTree(t)
			if err := os.WriteFile("tracegen.yml", []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			i := newInstrument()
			_, rules, err := i.readConfig()
			if err != nil {
				t.Errorf("%v in\n%s", err, text)
			}
			if err := i.guards.checkBases(i.base); err != nil {
				t.Errorf("%v in\n%s", err, text)
			}
			if text == all && len(rules) < 4 {
				t.Errorf("%d rules in\n%s", len(rules), text)
			}
			if (len(p.BlockLists) > 0) != (len(i.blocklists) == 1 && i.blocklists[0] == p.BlockLists[0]) {
				t.Errorf("block lists %q in\n%s", i.blocklists, text)
			}
			if _, err := filter.ParseConfig("tracegen.yml", []byte(text), i.rows.Configurable(), os.ReadFile); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestInit writes the file once, and never over another.
func TestInit(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	con := &console.Console{Out: &out}
	if err := initialize(con, dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tracegen.yml")
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"written: " + file, "    tracegen record -- java"} {
		if got := out.String(); !strings.Contains(got, want) {
			t.Errorf("it prints %s", got)
		}
	}
	if err := os.WriteFile(file, append(first, "# mine\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := initialize(con, dir); err == nil || !strings.Contains(err.Error(), "exists, and is left alone") {
		t.Errorf("got %v", err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(first)+"# mine\n" {
		t.Error("the file was changed")
	}
}
