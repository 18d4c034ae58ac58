package mapping

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown returns a difference in a short form: the lines of both sides.
func shown(list []Difference) string {
	var b strings.Builder
	for _, d := range list {
		for i, e := range []Entry{d.Old, d.New} {
			if e.ID != 0 {
				b.WriteString([]string{"<", ">"}[i] + strings.TrimPrefix(e.Line(), "# ") + " ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

func TestCompare(t *testing.T) {
	parse := func(lines ...string) *Mapping {
		t.Helper()
		var living, others string
		for _, line := range lines {
			if line[0] == '#' {
				others += line + "\n"
			} else {
				living += line + "\n"
			}
		}
		m, err := Parse("m", withDigest(t, living, others))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	old := parse("1,1,a.A kept ()V", "2,1,a.A goes ()V", "3,1,a.A lost ()V", "4,1,a.A moves ()V", "5,1,a.B access ()V",
		"6,1,a.C lambda$f$0 ()V", "7,1,a.C$1 run ()V", "8,1,a.D lambda$f$0 ()V",
		"# focus a.A add", "# focus a.B add", "# retired 20,1,a.E back ()V", "# retired 21,1,a.E freed ()V",
		"# retired 22,1,a.E stays ()V")
	new := parse("1,1,a.A kept ()V", "3,1,a.F taken ()V", "5,9,a.B access ()V", "6,1,a.C lambda$f$0 ()V",
		"7,1,a.C$1 run ()V",
		"8,1,a.D lambda$f$0 ()V", "9,1,a.A moves ()V", "10,1,a.C lambda$f$1 ()V", "20,1,a.E back ()V",
		"30,1,a.A new ()V",
		"# focus a.B hook", "# focus a.A add", "# retired 2,1,a.A goes ()V", "# retired 22,1,a.E stays ()V",
		"# retired 31,1,a.E foreign ()V")
	c := Compare(old, new)
	for _, list := range []struct {
		name string
		got  []Difference
		want string
	}{
		{"Added", c.Added, ">30,1,a.A new ()V >10,1,a.C lambda$f$1 ()V <retired 20,1,a.E back ()V >20,1,a.E back " +
			"()V >3,1,a.F taken ()V"},
		{"Removed", c.Removed, "<2,1,a.A goes ()V >retired 2,1,a.A goes ()V <3,1,a.A lost ()V"},
		{"Moved", c.Moved, "<4,1,a.A moves ()V >9,1,a.A moves ()V"},
		{"Reused", c.Reused, "<3,1,a.A lost ()V >3,1,a.F taken ()V"},
		{"Suspicious", c.Suspicious,
			"<6,1,a.C lambda$f$0 ()V >6,1,a.C lambda$f$0 ()V <7,1,a.C$1 run ()V >7,1,a.C$1 run ()V"},
		{"Freed", c.Freed, "<retired 21,1,a.E freed ()V"},
		{"Reserved", c.Reserved, ">retired 31,1,a.E foreign ()V"},
	} {
		if diff := cmp.Diff(list.want, shown(list.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", list.name, diff)
		}
	}
	if c.Kept != 5 || c.Runtime || !c.Digest || c.Equal() {
		t.Errorf("kept %d, runtime differs %v, digest %v, equal %v", c.Kept, c.Runtime, c.Digest, c.Equal())
	}
	if diff := cmp.Diff([][]Focus{{{"a/B", FocusHook}}, {{"a/B", FocusAdd}}},
		[][]Focus{c.FocusAdded, c.FocusRemoved}); diff != "" {
		t.Errorf("focus (-want +got):\n%s", diff)
	}
}

// mirrored returns the comparison with old and new exchanged.
func mirrored(c *Comparison) *Comparison {
	turn := func(list []Difference) []Difference {
		var turned []Difference
		for _, d := range list {
			turned = append(turned, Difference{d.New, d.Old})
		}
		return turned
	}
	return &Comparison{
		Kept: c.Kept, Added: turn(c.Removed), Removed: turn(c.Added), Moved: turn(c.Moved), Reused: turn(c.Reused),
		Suspicious: turn(c.Suspicious), Freed: turn(c.Reserved), Reserved: turn(c.Freed),
		FocusAdded: c.FocusRemoved, FocusRemoved: c.FocusAdded, Runtime: c.Runtime, Digest: c.Digest,
	}
}

// TestCompareMirrored checks that comparing in both directions finds the same, that the counts add up, and that two
// mappings are Equal exactly if their texts are equal.
//
// Invariant: Comparing two mappings reports the same in both directions, its counts add up, and it reports no
// difference only for equal texts.
func TestCompareMirrored(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	names := []string{"f", "g", "lambda$f$0", "lambda$f$1", "access$000"}
	some := func() []Method {
		var list []Method
		for range rng.IntN(25) {
			class := "a/" + []string{"A", "A$1", "A$2", "B", "B$1"}[rng.IntN(5)]
			list = append(list, Method{Identity{class, names[rng.IntN(len(names))], "()V"}, uint16(rng.IntN(2))})
		}
		unique := map[Identity]Method{}
		for _, m := range list {
			unique[m.Identity] = m
		}
		list = list[:0]
		for _, m := range unique {
			list = append(list, m)
		}
		return list
	}
	make := func() *Mapping {
		o := Options{Order: []Order{OrderHash, OrderCompact}[rng.IntN(2)]}
		for _, class := range []string{"a/A", "a/B"} {
			if rng.IntN(3) == 0 {
				o.Focus = append(o.Focus, Focus{class, FocusAdd})
			}
		}
		for range rng.IntN(4) {
			o.Base = mustAssign(t, some(), o)
		}
		return mustAssign(t, some(), o)
	}
	equal := 0
	for range 500 {
		a := make()
		b := a
		switch rng.IntN(4) {
		case 0:
			b = mustAssign(t, some(), Options{Base: a, Focus: a.Focus()})
		case 1, 2:
			b = make()
		}
		c := Compare(a, b)
		if diff := cmp.Diff(mirrored(c), Compare(b, a), cmpEmptyEqual); diff != "" {
			t.Fatalf("the other way round (-want +got):\n%s\nold:\n%s\nnew:\n%s", diff, written(t, a), written(t, b))
		}
		movedAlive := 0
		for _, d := range c.Moved {
			if !d.Old.Retired && !d.New.Retired {
				movedAlive++
			}
		}
		if a.Len() != c.Kept+movedAlive+len(c.Removed) || b.Len() != c.Kept+movedAlive+len(c.Added) {
			t.Fatalf("%d and %d methods, but %d kept, %d moved, %d removed, %d added", a.Len(), b.Len(), c.Kept,
				movedAlive, len(c.Removed), len(c.Added))
		}
		same := written(t, a) == written(t, b)
		if c.Equal() != same {
			t.Fatalf("Equal %v, same text %v:\n%s\n%s", c.Equal(), same, written(t, a), written(t, b))
		}
		if same {
			equal++
		}
	}
	if equal < 50 || equal > 250 {
		t.Errorf("%d of 500 pairs are equal: is it still a test?", equal)
	}
}

// cmpEmptyEqual lets an empty list equal nil.
var cmpEmptyEqual = cmp.FilterValues(
	func(a, b []Difference) bool { return len(a) == 0 && len(b) == 0 },
	cmp.Comparer(func(a, b []Difference) bool { return true }))
