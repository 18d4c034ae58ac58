package repository

import (
	"go/ast"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	makeTarget   = regexp.MustCompile(`(?m)^([a-z][a-z-]*)(?: [a-z -]*)?:`)
	makeCommand  = regexp.MustCompile("(?m)(?:^    |`)make ([a-z][a-z-]*)")
	citedTest    = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")
)

// documents returns the Markdown files, except those that are test inputs.
func documents(t *sourceTree) []string {
	return slices.DeleteFunc(slices.Clone(t.paths), func(p string) bool {
		return path.Ext(p) != ".md" || inTestdata(p)
	})
}

func deadLinks(t *sourceTree) []string {
	var found []string
	for _, p := range documents(t) {
		text, _ := t.text(p)
		for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, ":") {
				continue
			}
			if _, err := fs.Stat(t.fsys, path.Join(path.Dir(p), target)); err != nil {
				found = append(found, p+": links to "+m[1]+", which is not there")
			}
		}
	}
	return found
}

func unknownMakeTargets(t *sourceTree) []string {
	makefile, _ := t.text("Makefile")
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		targets[m[1]] = true
	}
	var found []string
	for _, p := range documents(t) {
		text, _ := t.text(p)
		for _, m := range makeCommand.FindAllStringSubmatch(text, -1) {
			if !targets[m[1]] {
				found = append(found, p+": says make "+m[1]+", which the Makefile does not know")
			}
		}
	}
	return found
}

// missingTests lists tests that ARCHITECTURE.md names and that do not exist.
func missingTests(t *sourceTree) []string {
	exists := map[string]bool{}
	for _, f := range t.gos {
		for _, decl := range f.ast.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && f.test && d.Recv == nil {
				exists[d.Name.Name] = true
			}
		}
	}
	text, _ := t.text(architecture)
	var found []string
	for _, m := range citedTest.FindAllStringSubmatch(text, -1) {
		if !exists[m[1]] {
			found = append(found, architecture+": "+m[1]+" does not exist")
		}
	}
	return found
}

// Invariant: Every command, flag, make target, test and link that a document shows exists.
func TestDocumentRulesFindPlantedFaults(t *testing.T) {
	checkPlanted(t, deadLinks, []planted{
		{"clean", map[string]string{"d/a.md": "[x](../b.md#part) [y](https://example.com/z) [z](#here)\n", "b.md": ""}, nil},
		{"dead", map[string]string{"d/a.md": "[x](b.md)\n", "b.md": ""}, []string{"d/a.md: links to b.md"}},
	})
	checkPlanted(t, unknownMakeTargets, []planted{
		{"clean", map[string]string{"a.md": "    make test\nand `make race`;\nmake sure of it\n",
			"Makefile": "test:\n\ttrue\nrace: test\n"}, nil},
		{"unknown", map[string]string{"a.md": "run `make sure`\n", "Makefile": "test:\n\ttrue\n"}, []string{"make sure"}},
	})
	checkPlanted(t, missingTests, []planted{
		{"clean", map[string]string{architecture: "by `TestA`\n", "a_test.go": "package a\n\nfunc TestA() {}\n"}, nil},
		{"gone", map[string]string{architecture: "by `TestA`\n", "a.go": "package a\n\nfunc TestA() {}\n"},
			[]string{"TestA does not exist"}},
	})
}

var (
	shownCommand = regexp.MustCompile(`(?m)^    (?:\$ )?(?:go run \./cmd/tracegen|tracegen) (collect (?:compact|expire|forget)|(?:mappings )?[a-z]+)([^#\n]*)`)
	shownFlag    = regexp.MustCompile(`(?:^|\s)(--?[a-z][a-z0-9-]*)`)
)

// TestDocumentedCommandsExist runs the built tool with --help for every command that a document shows, and checks that
// every flag in that document is in the help.
//
// Invariant: Every command, flag, make target, test and link that a document shows exists.
func TestDocumentedCommandsExist(t *testing.T) {
	tree, err := loadTree(os.DirFS("."), trackedPaths(t))
	if err != nil {
		t.Fatal(err)
	}
	tool := buildTool(t)
	help := map[string]string{}
	for _, doc := range documents(tree) {
		text, _ := tree.text(doc)
		for _, m := range shownCommand.FindAllStringSubmatch(text, -1) {
			command, rest := m[1], m[2]
			if _, asked := help[command]; !asked {
				out, err := exec.Command(tool, append(strings.Fields(command), "--help")...).CombinedOutput()
				if err != nil {
					t.Errorf("%s: tracegen %s --help: %v\n%s", doc, command, err, out)
				}
				help[command] = string(out)
			}
			for _, flag := range shownFlag.FindAllStringSubmatch(rest, -1) {
				known := regexp.MustCompile(`(?m)(^|\s)` + regexp.QuoteMeta(flag[1]) + `\b`)
				if !known.MatchString(help[command]) {
					t.Errorf("%s: tracegen %s has no flag %s", doc, command, flag[1])
				}
			}
		}
	}
	if len(help) == 0 {
		t.Error("README.md shows no tracegen command")
	}
}
