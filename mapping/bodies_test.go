package mapping

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// bodiesOf returns a mapping of methods "class name ()V" with fingerprints of their code.
func bodiesOf(t *testing.T, base *Mapping, bodies map[string]uint64) *Mapping {
	t.Helper()
	m, _, err := AssignEach(Counts{Methods: len(bodies)}, func(yield func(Method, Facts) bool) {
		for _, text := range slices.Sorted(maps.Keys(bodies)) {
			class, name, _ := strings.Cut(text, " ")
			if !yield(Method{Identity{class, name, "()V"}, 1}, Facts{Fingerprint: bodies[text]}) {
				return
			}
		}
	}, Options{Base: base, Order: OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNumberedLines writes and reads fingerprints: those of living methods with numbered names, and no others.
//
// Invariant: Methods that a compiler numbers are found again by the fingerprint of their code.
func TestNumberedLines(t *testing.T) {
	m := bodiesOf(t, nil, map[string]uint64{"a/A f": 1, "a/A lambda$f$0": 2, "a/A lambda$f$1": 0,
		"a/A$1 run": 0xfedcba9876543210})
	text := written(t, m)
	want := "# numbered 2 0000000000000002\n# numbered 4 fedcba9876543210\n"
	if !strings.Contains(text, "# counts 4 methods, 0 focus, 0 retired, 2 numbered\n") ||
		!strings.HasSuffix(text, want) {
		t.Fatalf("got\n%s", text)
	}
	again, err := Parse("m", text)
	if err != nil {
		t.Fatal(err)
	}
	if written(t, again) != text || !slices.Equal(again.fingerprints, fingerprints{{2, 2}, {4, 0xfedcba9876543210}}) {
		t.Errorf("read back:\n%s", written(t, again))
	}
	last := "# numbered 4 fedcba9876543210\n"
	for damage, want := range map[string]string{
		"":                                       "1 numbered",
		last + "# numbered 4 0000000000000003\n": "a second numbered line for ID 4",
		last + "# numbered 3 0000000000000003\n": "3 numbered",
		"# numbered 4 0000000000000000\n":        "16 hexadecimal digits",
		"# numbered 4 2\n":                       "16 hexadecimal digits",
		"# numbered 0 0000000000000002\n":        "16 hexadecimal digits",
		"# numbered 9 0000000000000002\n":        "ID 9, which no living method has",
	} {
		if _, err := Parse("m", strings.TrimSuffix(text, last)+damage); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", damage, err, want)
		}
	}
	gone, err := Assign([]Method{{Identity{"a/A", "f", "()V"}, 1}}, Options{Base: m})
	if err != nil {
		t.Fatal(err)
	}
	if text := written(t, gone); strings.Contains(text, "numbered") {
		t.Errorf("bodies of methods that are gone:\n%s", text)
	}
}

// TestCompareBodies compares with a build in which a lambda was added before two others.
//
// Invariant: Methods that a compiler numbers are found again by the fingerprint of their code.
func TestCompareBodies(t *testing.T) {
	old := bodiesOf(t, nil, map[string]uint64{"a/A lambda$f$0": 10, "a/A lambda$f$1": 11, "a/B lambda$f$0": 10,
		"a/C$1 run": 12, "a/D lambda$f$0": 13})
	new := bodiesOf(t, old, map[string]uint64{
		"a/A lambda$f$0": 20, "a/A lambda$f$1": 10, "a/A lambda$f$2": 11,
		"a/B lambda$f$0": 10, "a/C$1 run": 21, "a/C$2 run": 21, // equal bodies do not show which is which
		"a/D lambda$f$0": 13,
	})
	c := Compare(old, new)
	renumbered := "<1,1,a.A lambda$f$0 ()V >2,1,a.A lambda$f$1 ()V <2,1,a.A lambda$f$1 ()V >6,1,a.A lambda$f$2 ()V"
	if got := shown(c.Renumbered); got != renumbered {
		t.Errorf("renumbered: %s", got)
	}
	suspicious := "<1,1,a.A lambda$f$0 ()V >1,1,a.A lambda$f$0 ()V <2,1,a.A lambda$f$1 ()V >2,1,a.A lambda$f$1 ()V " +
		"<4,1,a.C$1 run ()V >4,1,a.C$1 run ()V"
	if got := shown(c.Suspicious); got != suspicious {
		t.Errorf("suspicious: %s", got)
	}
	if back := Compare(new, old); len(back.Renumbered) != 2 || len(back.Suspicious) != 3 {
		t.Errorf("the other way round: %s; %s", shown(back.Renumbered), shown(back.Suspicious))
	}
}
