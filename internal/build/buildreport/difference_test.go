package buildreport

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/filter"
)

// saved writes the report of a run and reads it again.
func saved(t *testing.T, r *Run) *Saved {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSaved(&b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// changedRun is like sampleRun, with every value changed.
func changedRun(t *testing.T) *Run {
	r := sampleRun(t)
	r.Version = "1.3.0"
	r.Options = map[string]string{"exits": "exact", "merge": "true"}
	r.Rules = []string{"tracegen.yml:1: allow y.**", "tracegen.yml:9: block com.example.**#get*"}
	r.Mapping = r.Base
	r.Inputs = []Input{
		inputResult("lib/a.jar", "out/a.jar", 3, 2, 6, 2, 1000, 1200, 7),
		inputResult("c.jar", "out/c.jar", 4, 4, 4, 4, 400, 444, 8),
	}
	r.Packages = []Package{packageResult("com/example", 9, 200), packageResult("y", 8, 44)}
	r.Skipped = slices.Values(append(slices.Collect(r.Skipped),
		skippedMethod("lib/a.jar", "y/Y.class", "y/Y", "f", "()V", filter.ReasonUnverifiable, "x")))
	return r
}

func TestDifferenceGolden(t *testing.T) {
	old, new := saved(t, sampleRun(t)), saved(t, changedRun(t))
	planned := sampleRun(t)
	planned.Planned = true
	for name, d := range map[string]*Difference{
		"difference.txt": Compare(old, new),
		"mirrored.txt":   Compare(new, old),
		"equal.txt":      Compare(old, saved(t, sampleRun(t))),
		"planned.txt":    Compare(saved(t, planned), old), // what assign cannot know yet is no difference
	} {
		t.Run(name, func(t *testing.T) {
			var text, object bytes.Buffer
			if err := d.WriteText(&text, "old.json", "new.json"); err != nil {
				t.Fatal(err)
			}
			if err := d.WriteJSON(&object, "old.json", "new.json"); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name)
			got := text.String() + "\n" + object.String()
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if equal := strings.Contains(text.String(), "no difference"); equal != d.Equal() ||
				equal != (name == "equal.txt" || name == "planned.txt") {
				t.Errorf("equal: %v", d.Equal())
			}
		})
	}
}

// TestDifferenceMirrored checks that exchanging the reports exchanges the sides of the difference.
func TestDifferenceMirrored(t *testing.T) {
	a, b := saved(t, sampleRun(t)), saved(t, changedRun(t))
	there, back := Compare(a, b), Compare(b, a)
	mirror := func(list []RowChange) []RowChange {
		rows := slices.Clone(list)
		for i := range rows {
			rows[i].Added, rows[i].Removed = rows[i].Removed, rows[i].Added
			rows[i].Numbers = slices.Clone(rows[i].Numbers)
			for k, n := range rows[i].Numbers {
				rows[i].Numbers[k] = NumberChange{n.Name, n.New, n.Old}
			}
		}
		return rows
	}
	if diff := cmp.Diff(mirror(there.Packages), back.Packages); diff != "" {
		t.Errorf("packages:\n%s", diff)
	}
	if diff := cmp.Diff(mirror(there.Inputs), back.Inputs); diff != "" {
		t.Errorf("inputs:\n%s", diff)
	}
	if !slices.Equal(there.Rules.Added, back.Rules.Removed) || !slices.Equal(there.Rules.Removed, back.Rules.Added) {
		t.Errorf("rules: %+v and %+v", there.Rules, back.Rules)
	}
}

// TestDifferenceOfRules checks that the lines of rules do not matter, but their order does.
func TestDifferenceOfRules(t *testing.T) {
	old := []string{"a.yml:1: block x", "a.yml:2: allow x: y", "list: block z"}
	for _, test := range []struct {
		new              []string
		added, removed   []string
		reordered, equal bool
	}{
		{[]string{"b.yml:7: block x", "b.yml:9: allow x: y", "list: block z"}, nil, nil, false, true},
		{[]string{"a.yml:1: allow x: y", "a.yml:2: block x", "list: block z"}, nil, nil, true, false},
		{[]string{"a.yml:1: block x", "a.yml:2: block w", "list: block z"}, []string{"block w"}, []string{"allow x: y"},
			false, false},
	} {
		c := compareRules(old, test.new)
		if !slices.Equal(c.Added, test.added) || !slices.Equal(c.Removed, test.removed) ||
			c.Reordered != test.reordered || c.any() == test.equal {
			t.Errorf("%q: %+v", test.new, c)
		}
	}
}

// TestWarnings checks that there is a warning for a build that lost many of its methods, and none if it lost a few.
func TestWarnings(t *testing.T) {
	run := func(traced int) *Saved {
		r := sampleRun(t)
		r.Inputs = []Input{inputResult("a.jar", "out/a.jar", 10, 10, 1000, traced, 1, 2, 0)}
		r.Packages = nil
		return saved(t, r)
	}
	for lost, want := range map[int]int{0: 0, 40: 0, 199: 0, 200: 1, 999: 1} {
		if got := Compare(run(1000), run(1000-lost)).Warnings(); len(got) != want {
			t.Errorf("%d of 1000 lost: %q", lost, got)
		}
	}
}
