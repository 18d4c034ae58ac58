package looper

import (
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

var update = flag.Bool("update", false, "write what was measured into the documents")

// The page and the heading of the table of what each detector sees.
const (
	matrixPage    = "docs/detectors.md"
	matrixHeading = "## Which stall is seen by which detector"
)

// matrixSettings are the defaults, shortened in proportion, so that a stall of 900 ms is far above each threshold.
const matrixSettings = `slow=300
slow-idle=300
sync-barrier.poll-millis=100
watchdog.poll-millis=250
anr.lag-millis=300
startup.slow-cold=300
startup.slow-warm=300
startup.slow-hot=300
`

// TestDetectorMatrix makes each kind of stall on each version while all detectors are on, and compares what they saw
// with the table in the documents. -update writes the table.
//
// Invariant: Which stall is seen by which detector on which version was measured on Android's own classes, with what
// devices deny.
func TestDetectorMatrix(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	page, begin, end := matrixTable(t)
	columns, table := parseTable(page[begin:end])
	seen := map[string]map[string]bool{} // by pair and platform
	ran := map[string][]string{}         // the platforms by kind of stall
	kinds := tableRows(page[begin:end])
	var lock sync.Mutex
	t.Run("platforms", func(t *testing.T) {
		for _, p := range platforms {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				got := proveMatrix(t, b, p, columns, table)
				lock.Lock()
				defer lock.Unlock()
				for _, kind := range kinds {
					if got["not measured"] != kind {
						ran[kind] = append(ran[kind], p.column())
					}
				}
				delete(got, "not measured")
				for pair := range got {
					if seen[pair] == nil {
						seen[pair] = map[string]bool{}
					}
					seen[pair][p.column()] = true
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	out := "| | " + strings.Join(columns, " | ") + " |\n|---" + strings.Repeat("|---", len(columns)) + "|\n"
	for _, kind := range kinds {
		out += "| " + kind
		for _, column := range columns {
			on := seen[kind+" x "+column]
			for _, p := range ran[kind] {
				if cell := table[kind][column]; on[p] != seenOn(cell, p) && !*update {
					t.Errorf("%s: %s, %s: the table says %q, seen on %s: %t", matrixPage, kind, column, cell, p, on[p])
				}
			}
			out += " | " + matrixCell(on, ran[kind])
		}
		out += " |\n"
	}
	for _, pair := range slices.Sorted(maps.Keys(seen)) {
		if kind, column, _ := strings.Cut(pair, " x "); !slices.Contains(kinds, kind) || !slices.Contains(columns, column) {
			t.Errorf("%s: the table has no cell for %q", matrixPage, pair)
		}
	}
	if *update && len(ran[kinds[0]]) == len(platforms) {
		file := filepath.Join("..", "..", "..", filepath.FromSlash(matrixPage))
		fixture.Write(t, file, page[:begin]+out+page[end:])
	}
}

// proveMatrix makes all stalls on a platform, and returns the pairs that were seen.
func proveMatrix(t *testing.T, b bench, p platform, columns []string, table map[string]map[string]string,
) map[string]string {
	t.Helper()
	settings := filepath.Join(t.TempDir(), "matrix.properties")
	text := matrixSettings + "detectors = " + strings.Join(detectorNames(columns), ",") + "\n" +
		"expected = " + strings.Join(expectedPairs(columns, table, p), ";") + "\n"
	fixture.Write(t, settings, text)
	b.options = append(slices.Clone(b.options), "-Dproofs.matrix="+settings)
	return b.prove(t, p, stock, "MatrixProofs").seen
}

// seenOn reports whether a cell of the table says that a pair is seen on a platform. A platform that needs a JDK that
// is not here did not run, and its part of the table is not compared.
func seenOn(cell, platform string) bool {
	without, isPartial := strings.CutPrefix(cell, "not on ")
	return cell == "yes" || isPartial && !slices.Contains(strings.Split(without, "; "), platform)
}

// matrixCell returns the cell of a pair that was seen on some of the platforms that ran.
func matrixCell(on map[string]bool, ran []string) string {
	var missing []string
	for _, p := range platforms {
		if slices.Contains(ran, p.column()) && !on[p.column()] {
			missing = append(missing, p.column())
		}
	}
	switch {
	case len(missing) == len(ran):
		return "no"
	case len(missing) == 0:
		return "yes"
	}
	return "not on " + strings.Join(missing, "; ")
}

// detectorNames returns the columns that are names of detectors: the first three are the kinds of stalls.
func detectorNames(columns []string) []string {
	var names []string
	for _, c := range columns {
		if c != "messages" && c != "idle handlers" && c != "input events" {
			names = append(names, c)
		}
	}
	return names
}

// expectedPairs returns the pairs that the table says are seen on a platform.
func expectedPairs(columns []string, table map[string]map[string]string, p platform) []string {
	var pairs []string
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		for _, column := range columns {
			if seenOn(table[kind][column], p.column()) {
				pairs = append(pairs, kind+" x "+column)
			}
		}
	}
	return pairs
}

// matrixTable returns the page, and where the first table behind the heading begins and ends in it.
func matrixTable(t *testing.T) (page string, begin, end int) {
	t.Helper()
	data := fixture.Read(t, filepath.Join("..", "..", "..", filepath.FromSlash(matrixPage)))
	page = string(data)
	heading := strings.Index(page, matrixHeading+"\n")
	if heading < 0 {
		t.Fatalf("%s has no heading %q", matrixPage, matrixHeading)
	}
	begin = heading + strings.Index(page[heading:], "\n|") + 1
	end = begin
	for line := range strings.Lines(page[begin:]) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		end += len(line)
	}
	return page, begin, end
}

// tableRows returns the first cells of the rows of a table, without the one of the headings.
func tableRows(text string) (rows []string) {
	for line := range strings.Lines(text) {
		if cells := tableCells(line); len(cells) > 1 && cells[0] != "" {
			rows = append(rows, cells[0])
		}
	}
	return rows
}

// tableCells returns the cells of a line of a table, nil for another line and for the one below the headings.
func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for k := range cells {
		cells[k] = strings.TrimSpace(cells[k])
	}
	return cells
}

// parseTable returns the columns of a table, and its cells by row and column.
func parseTable(text string) (columns []string, table map[string]map[string]string) {
	table = map[string]map[string]string{}
	for line := range strings.Lines(text) {
		cells := tableCells(line)
		if cells == nil {
			continue
		}
		if columns == nil {
			columns = cells[1:]
			continue
		}
		table[cells[0]] = map[string]string{}
		for k, cell := range cells[1:] {
			table[cells[0]][columns[k]] = cell
		}
	}
	return columns, table
}
