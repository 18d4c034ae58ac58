package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// The names that R8 has made in the texts, and those that it has made them of.
var (
	residualName = regexp.MustCompile(`\ba\.[bcL]\b|\(a q\)|\bq@`)
	originalName = regexp.MustCompile(`\bshop\.(Feed|Prices|SoldOutException|Stock|Top)\b`)
)

// TestRenames has texts of other tools in each notation, and makes a table of where the names that R8 has changed are
// restored. What analyze and group make of a text is what they make of its names restored first.
//
// Invariant: Where a name that R8 has changed is shown, it is restored in every output or in none.
func TestRenames(t *testing.T) {
	all, err := txtar.ParseFile("testdata/renames/texts.txt")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	table += "/testdata/renames/table.golden"
	t.Chdir(t.TempDir())
	fixture.Write(t, "mapping.txt", all.Files[0].Data)
	fixture.Write(t, "other.txt", "Application Not Responding for at least 300 ms.\n\tat other.Other.run(Other.java:1)\n")
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		if runTool(context.Background(), args, strings.NewReader(""), &out, &errs) == 2 {
			return notRead
		}
		return out.String()
	}
	analyzed := [][]string{{"analyze", "--format", "report", "-v"}, {"analyze", "--format", "tree"},
		{"analyze", "--format", "table"}, {"analyze", "--format", "json"}, {"analyze", "--format", "collapsed"},
		{"group"}, {"compare", "--all", "other.txt"}}
	parts := []string{"path", "own time", "why", "samples"}
	var b strings.Builder
	b.WriteString("| text | symbolize | " + strings.Join(parts, " | "))
	for _, args := range analyzed {
		name := args[0]
		if name == "analyze" {
			name = args[2]
		}
		b.WriteString(" | " + name)
	}
	b.WriteString(" |\n" + strings.Repeat("|---", len(parts)+len(analyzed)+2) + "|\n")
	for _, f := range all.Files[1:] {
		name, _, _ := strings.Cut(f.Name, " [")
		fixture.Write(t, "text.txt", f.Data)
		symbolized := run("symbolize", "text.txt", "--r8-mapping", "mapping.txt")
		cells := []string{name, restored(symbolized)}
		if residualName.MatchString(symbolized) {
			cells[1] += left(symbolized)
		}
		report := run("analyze", "-v", "text.txt", "--r8-mapping", "mapping.txt")
		for _, part := range parts {
			if report != notRead {
				part = section(report, part)
			} else {
				part = notRead
			}
			cells = append(cells, restored(part))
		}
		for _, args := range analyzed {
			fixture.Write(t, "text.txt", f.Data)
			got := run(append(args, "text.txt", "--r8-mapping", "mapping.txt")...)
			cells = append(cells, restored(got))
			if residualName.MatchString(symbolized) || strings.Contains(symbolized, "<OR>") {
				continue
			}
			fixture.Write(t, "text.txt", symbolized)
			if want := run(append(args, "text.txt")...); nativeSource(got, f) != nativeSource(want, f) {
				t.Errorf("%s: %q of the text:\n%s\nof the text with its names restored:\n%s", name, args, got, want)
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	if *update {
		fixture.Write(t, table, b.String())
	}
	if want, err := os.ReadFile(table); err != nil || string(want) != b.String() {
		t.Errorf("%v, %s (-want +got):\n%s", err, table, cmp.Diff(string(want), b.String()))
	}
}

// nativeSource returns what was made of a text, without the source files of frames if the text has native frames: these
// have none, and the mapping knows them.
func nativeSource(got string, of txtar.File) string {
	if bytes.Contains(of.Data, []byte(" pc ")) {
		return regexp.MustCompile(`\((Native Method|\w+\.kt)\)`).ReplaceAllString(got, "()")
	}
	return got
}

// notRead stands for the output of a command that found nothing in a text that it reads.
const notRead = "not read"

// restored says whether the names in a text are restored.
func restored(text string) string {
	switch original, residual := originalName.MatchString(text), residualName.MatchString(text); {
	case residual && original:
		return "in part"
	case residual:
		return "left"
	case original:
		return "restored"
	case text == notRead:
		return text
	}
	return "none shown"
}

// left says which lines still have residual names.
func left(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if residualName.MatchString(line) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return ", not in " + strings.Join(lines, "; ")
}

// section returns the lines of a part of the report.
func section(report, part string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(report) {
		if strings.HasPrefix(line, "  ") && len(line) > 2 && line[2] != ' ' {
			inside = strings.HasPrefix(line[2:], part)
		} else if !strings.HasPrefix(line, "   ") {
			inside = false
		}
		if inside {
			b.WriteString(line)
		}
	}
	return b.String()
}
