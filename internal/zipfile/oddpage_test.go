package zipfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const oddIntroduction = `# Odd archives: what tracegen and other programs do with them

Zip archives can be damaged, can contradict themselves, and can be made so that two programs see different content.
This page has %d of them and what each program does. A test makes the archives, runs the programs, and compares the
tables (TestOddArchives in internal/zipfile). It also checks of every archive:

- tracegen does not panic. If it refuses an archive, its message names the archive, and the entry if one is at fault.
  Nothing is written then.
- If tracegen accepts what ZipFile reads, ZipFile reads the output, and every entry that is no class has the same data.
- If tracegen does something else than ZipFile of JDK 17, the last column says why.
- What a program of the table reads of an archive without a fault it reads of the output, or the last column says why
  not.

How to read a cell:

- "3/1" is three entries, of which one is a class that was read. In the column of instrument it is classes and changed
  classes, in that of jar xf files and class files that were written. jar tf and D8 have one number: of entries, and
  of classes.
- What follows a semicolon is the first fault or warning. "no:" is a refusal with its message. Long texts are cut.
- javac compiles a class that calls a method of odd.A, which most of the archives have.
- Gradle reads archives with commons-compress. D8 is called by its API.

Versions:

`

// formatOddPage returns the page.
func formatOddPage(table oddTable) string {
	var b strings.Builder
	groups := oddGroups()
	fmt.Fprintf(&b, oddIntroduction, len(allOdd()))
	b.WriteString("| program | version |\n|---|---|\n")
	for _, program := range slices.Sorted(maps.Keys(table.versions)) {
		fmt.Fprintf(&b, "| %s | %s |\n", program, table.versions[program])
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", g.title, oddHeader())
		b.WriteString("|---|---" + strings.Repeat("|---", len(oddColumns)) + "|\n")
		for _, o := range g.rows {
			fmt.Fprintf(&b, "| %s | %s |", o.name, o.odd)
			for _, column := range oddColumns {
				fmt.Fprintf(&b, " %s |", table.cells[o.name][column])
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func oddHeader() string {
	return "| archive | how it is made | " + strings.Join(oddColumns, " | ") + " |"
}

// parseOddPage reads the tables of the page.
func parseOddPage(page string) oddTable {
	table := oddTable{map[string]map[string]string{}, map[string]string{}, nil}
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || line == oddHeader() || line == "| program | version |" {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch len(cells) {
		case 2:
			table.versions[cells[0]] = cells[1]
		case 2 + len(oddColumns):
			row := map[string]string{}
			for i, column := range oddColumns {
				row[column] = cells[2+i]
			}
			table.cells[cells[0]] = row
		}
	}
	return table
}

// outlineOdd returns the page without the cells that programs fill.
func outlineOdd(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		switch {
		case len(cells) == 2+2: // a version
		case len(cells) > 3:
			b.WriteString(cells[1] + "|" + cells[2] + "\n")
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestOddPageIsParsed checks that the table that is read is the table that was written.
func TestOddPageIsParsed(t *testing.T) {
	table := oddTable{map[string]map[string]string{}, map[string]string{"D8": "1.2"}, nil}
	for i, o := range allOdd() {
		table.cells[o.name] = map[string]string{}
		for k, column := range oddColumns {
			table.cells[o.name][column] = shortOdd(fmt.Sprintf("%d | `%d` <b>", i, k))
		}
	}
	got := parseOddPage(formatOddPage(table))
	if len(got.cells) != len(table.cells) || got.versions["D8"] != "1.2" {
		t.Fatalf("%d of %d rows are read", len(got.cells), len(table.cells))
	}
	for name, row := range table.cells {
		if !maps.Equal(row, got.cells[name]) {
			t.Errorf("%s is read as %v", name, got.cells[name])
		}
	}
}
