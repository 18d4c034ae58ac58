package build

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

var (
	yamlBlock    = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	indentedYAML = regexp.MustCompile(`(?m)(?:^    [a-z-]+: .*\n)*^    rules:\n(?:    .*\n)+`)
	ruleLine     = regexp.MustCompile(`(?m)^ *- (?:\{ )?(?:block|allow|message):`)
	patternRow   = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	linesOfTable = regexp.MustCompile(`(?s)\| pattern \| matches \|\n(.*?)\n\n`)
	blockLine    = regexp.MustCompile("(?m)^\\| `(-keep[^`]+)` \\| `block: ([^`]+)` \\|$")
)

// TestDocumentedRules checks that the examples of tracegen.yml in the documents are valid.
//
// Invariant: The rules and options that the documents show are valid.
func TestDocumentedRules(t *testing.T) {
	text := func(name string) string {
		data := fixture.Read(t, filepath.Join("..", "..", "..", filepath.FromSlash(name)))
		return string(data)
	}
	page, migrating := text("docs/rules.md"), text("docs/migrating.md")
	var blocks []string
	for _, m := range yamlBlock.FindAllStringSubmatch(page+migrating, -1) {
		blocks = append(blocks, m[1])
	}
	for _, name := range []string{"README.md", "docs/instrument.md"} {
		blocks = append(blocks, indentedYAML.FindAllString(text(name), -1)...)
	}
	if len(blocks) < 7 {
		t.Errorf("only %d examples are found; are they still searched rightly?", len(blocks))
	}
	for _, block := range blocks {
		rows := buildTable()
		config, err := filter.ParseConfig("tracegen.yml", []byte(block), rows.Configurable(),
			func(string) ([]byte, error) { return nil, nil })
		if err != nil {
			t.Errorf("%v in\n%s", err, block)
			continue
		}
		if shown := len(ruleLine.FindAllString(block, -1)); shown == 0 || len(config.Rules) != shown {
			t.Errorf("%d rules are read, %d shown in\n%s", len(config.Rules), shown, block)
		}
		for name, o := range config.Options {
			if err := rows.Find(name).Flag.Value.Set(o.Value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	patterns := patternRow.FindAllStringSubmatch(linesOfTable.FindString(page), -1)
	if len(patterns) < 8 {
		t.Errorf("only %d patterns are found", len(patterns))
	}
	for _, m := range patterns {
		if _, err := filter.ParseRule(false, m[1], filter.Position{File: "docs/rules.md"}); err != nil {
			t.Error(err)
		}
	}
	lines := blockLine.FindAllStringSubmatch(migrating, -1)
	if len(lines) != 2 {
		t.Errorf("%d lines of block lists are found, want 2", len(lines))
	}
	for _, m := range lines {
		if rules, err := filter.ParseBlockList("list", []byte(m[1])); err != nil || len(rules) != 1 {
			t.Errorf("%s: %d rules, error %v", m[1], len(rules), err)
		}
	}
}
