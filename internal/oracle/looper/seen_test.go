package looper

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// factTable is the page with the table of what is seen where, and the heading above the table.
const (
	factPage    = "docs/recording.md"
	factHeading = "### What is seen on which version"
)

// TestSeenFacts compares the table in the documents with what the runtime sees on each platform as devices have it.
//
// Invariant: What the documents say is seen on a stock device was measured with what such a device denies.
func TestSeenFacts(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	columns, table := readFactTable(t)
	var want []string
	got := map[string]map[string]string{}
	for _, p := range platforms {
		column := p.column()
		want = append(want, column)
		t.Run(p.name, func(t *testing.T) {
			r := b.prove(t, p, stock, "SeenProofs")
			frames := 0
			for _, rec := range readRecordings(t, r.recordings) {
				frames += len(rec.frames)
			}
			r.seen["frames"] = map[bool]string{true: "yes", false: "no"}[frames > 0]
			got[column] = r.seen
		})
	}
	if t.Failed() || t.Skipped() {
		return
	}
	if !slices.Equal(columns, want) {
		t.Fatalf("%s: the columns of the table are %q, want %q", factPage, columns, want)
	}
	for _, column := range columns {
		if got[column] == nil {
			continue // this machine lacks its JDK
		}
		for fact, what := range got[column] {
			if table[fact] == nil {
				t.Errorf("%s: the table has no row %q", factPage, fact)
			} else if table[fact][column] != what {
				t.Errorf("%s: %s, %s: the table says %q, seen was %q", factPage, fact, column, table[fact][column], what)
			}
		}
		for fact := range table {
			if _, ok := got[column][fact]; !ok {
				t.Errorf("%s: %s, %s was not measured", factPage, fact, column)
			}
		}
	}
}

// column returns the heading of the platform's column in the table.
func (p platform) column() string {
	switch {
	case p.lockFree:
		return "API 37, target 37"
	case p.api >= 37:
		return "API 37, target 36"
	}
	return p.name
}

// readFactTable returns the columns of the table in the documents, and its cells by row and column.
func readFactTable(t *testing.T) (columns []string, table map[string]map[string]string) {
	t.Helper()
	page := fixture.Read(t, filepath.Join("..", "..", "..", filepath.FromSlash(factPage)))
	_, section, ok := strings.Cut(string(page), factHeading+"\n")
	if !ok {
		t.Fatalf("%s has no heading %q", factPage, factHeading)
	}
	if end := strings.Index(section, "\n#"); end >= 0 {
		section = section[:end]
	}
	return parseTable(section)
}
