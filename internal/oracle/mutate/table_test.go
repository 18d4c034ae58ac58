package mutate_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/mutate"
)

// table is the results of many runs, as the flag -table keeps them in a file. A run adds its results to it.
type table struct {
	runs      []tableRun
	kinds     map[tableKind]tableCounts
	explained map[tableRule]int
}

type tableRun struct {
	jdk     int
	seed    uint64
	mutants int
}

type tableKind struct {
	jdk  int
	sort mutate.Sort
	kind mutate.Kind
}

type tableCounts struct{ accepted, refused, explained, unexplained int }

type tableRule struct {
	jdk  int
	rule string
}

func newTable() *table {
	return &table{kinds: map[tableKind]tableCounts{}, explained: map[tableRule]int{}}
}

// readTable reads a table, an empty one from a file that is not there.
func readTable(file string) (*table, error) {
	t := newTable()
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		jdk, bad := strconv.Atoi(cells[0])
		if bad != nil {
			continue
		}
		var numbers []int
		for _, c := range cells {
			n, _ := strconv.Atoi(c)
			numbers = append(numbers, n)
		}
		switch len(cells) {
		case 4:
			t.runs = append(t.runs, tableRun{jdk, uint64(numbers[1]), numbers[2]})
		case 8:
			t.kinds[tableKind{jdk, mutate.Sort(cells[1]), mutate.Kind(cells[2])}] =
				tableCounts{numbers[4], numbers[5], numbers[6], numbers[7]}
		case 3:
			t.explained[tableRule{jdk, cells[1]}] = numbers[2]
		}
	}
	return t, err
}

func (t *table) has(jdk int, seed uint64) bool {
	return slices.ContainsFunc(t.runs, func(r tableRun) bool { return r.jdk == jdk && r.seed == seed })
}

func (c tableCounts) sum() int { return c.accepted + c.refused + c.explained + c.unexplained }

func (t *table) write(file string) error {
	var b strings.Builder
	b.WriteString("# Mutants of real classes: the type check and HotSpot\n\n" +
		"Written by `make mutants`; [docs/verification.md](../../../docs/verification.md) explains the sorts and the\n" +
		"rules. Explained is a disagreement that a named rule covers. A run with one that no rule\n" +
		"covers is not added; it is repeated when the rules or the type check are corrected.\n\n" +
		"| JDK | sort | kind | mutants | accepted by both | refused by both | explained | unexplained |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	sums := maps.Clone(t.kinds)
	for key, counts := range t.kinds {
		for _, all := range []tableKind{{key.jdk, key.sort, "all"}, {key.jdk, "all", "all"}} {
			s := sums[all]
			sums[all] = tableCounts{s.accepted + counts.accepted, s.refused + counts.refused,
				s.explained + counts.explained, s.unexplained + counts.unexplained}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b tableKind) int {
		return cmp.Or(cmp.Compare(a.jdk, b.jdk), -cmp.Compare(a.sort, b.sort), cmp.Compare(a.kind, b.kind))
	}) {
		c := sums[k]
		first := strconv.Itoa(k.jdk)
		if k.kind == "all" {
			first = "**" + first + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %d |\n", first, k.sort, k.kind, c.sum(), c.accepted,
			c.refused, c.explained, c.unexplained)
	}
	b.WriteString("\n## Explained\n\n| JDK | rule | mutants |\n|---|---|---|\n")
	for _, k := range slices.SortedFunc(maps.Keys(t.explained), func(a, b tableRule) int {
		return cmp.Or(cmp.Compare(a.jdk, b.jdk), cmp.Compare(a.rule, b.rule))
	}) {
		fmt.Fprintf(&b, "| %d | %s | %d |\n", k.jdk, k.rule, t.explained[k])
	}
	b.WriteString("\n## Runs\n\n| JDK | seed | mutants | |\n|---|---|---|---|\n")
	slices.SortFunc(t.runs, func(a, b tableRun) int {
		return cmp.Or(cmp.Compare(a.jdk, b.jdk), cmp.Compare(a.seed, b.seed))
	})
	for _, r := range t.runs {
		fmt.Fprintf(&b, "| %d | %d | %d | |\n", r.jdk, r.seed, r.mutants)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// TestTableKeepsRuns: what a run adds to a table is there when the next run reads it, and sums are not counted twice.
func TestTableKeepsRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mutants.md")
	for seed := range uint64(3) {
		kept, err := readTable(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(kept.runs) != int(seed) || kept.has(17, seed) {
			t.Fatalf("before seed %d: %v", seed, kept.runs)
		}
		kept.runs = append(kept.runs, tableRun{17, seed, 10})
		k := tableKind{17, mutate.Structure, mutate.AnyByte}
		c := kept.kinds[k]
		kept.kinds[k] = tableCounts{c.accepted + 1, c.refused + 2, c.explained + 3, c.unexplained + 4}
		kept.explained[tableRule{17, "limit"}] += 3
		if err := kept.write(file); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := readTable(file)
	if err != nil {
		t.Fatal(err)
	}
	k := tableKind{17, mutate.Structure, mutate.AnyByte}
	if len(kept.kinds) != 1 || kept.kinds[k] != (tableCounts{3, 6, 9, 12}) ||
		kept.explained[tableRule{17, "limit"}] != 9 {
		t.Errorf("after three runs: %v, %v", kept.kinds, kept.explained)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), "| **17** | all | all | 30 | 3 | 6 |") {
		t.Errorf("no sum of all kinds (%v):\n%s", err, data)
	}
}
