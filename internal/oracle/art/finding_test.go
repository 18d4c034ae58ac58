package art

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/mapping/r8"
)

// TestFinding compares findings with the messages of ART that they are made of.
func TestFinding(t *testing.T) {
	names, err := r8.Parse("mapping.txt",
		"a.Feed -> x.a:\n    long[] read(a.Item,int) -> b\na.Item -> x.b:\n")
	if err != nil {
		t.Fatal(err)
	}
	const message = "Verifier rejected class x.a: long[] x.a.b(x.b, int) failed to verify: " +
		"long[] x.a.b(x.b, int): [0x1F] return-object not expected"
	for _, c := range []struct {
		verdict Verdict
		names   *r8.Mapping
		want    string
	}{
		{Verdict{"x.a", "hard", message}, nil,
			"x/a#b(Lx/b;I)[J@31: ART: expected ok, found hard: return-object not expected"},
		{Verdict{"x.a", "hard", message}, names,
			"a/Feed#read(La/Item;I)[J@31: ART: expected ok, found hard: return-object not expected"},
		{Verdict{"x.a", "soft", ""}, names, "a/Feed: ART: expected ok, found soft"},
		{Verdict{"x.c", "unlinked", "java.lang.NoClassDefFoundError: y"}, names,
			"x/c: ART: expected ok, found unlinked: java.lang.NoClassDefFoundError: y"},
	} {
		if got := c.verdict.Finding("ok", c.names).String(); got != c.want {
			t.Errorf("the finding is\n%s, want\n%s", got, c.want)
		}
	}
}

// TestNewVerdicts compares verdicts of an original with others.
func TestNewVerdicts(t *testing.T) {
	original := outcome{verdicts: []Verdict{{"a", "ok", ""}, {"b", "soft", ""}, {"c", "ok", ""}},
		refused: []string{"bailout: void a.f()"}}
	changed := outcome{verdicts: []Verdict{{"a", "soft", ""}, {"b", "soft", ""}, {"d", "access-checks", ""},
		{"e", "ok", ""}}, refused: []string{"bailout: void a.f()", "bailout: void a.g()"}}
	for _, whole := range []bool{false, true} {
		want := []string{"a: ART: expected ok, found soft", "d: ART: expected ok, found access-checks"}
		if whole {
			want = append(want, "c: ART: expected ok, found no class")
		}
		var got []string
		for _, f := range changed.newIn(original, whole) {
			got = append(got, fmt.Sprint(f))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the findings are %q, want %q", got, want)
		}
	}
	if got := changed.newRefusals(original); !slices.Equal(got, []string{"bailout: void a.g()"}) {
		t.Errorf("the new refusals are %q", got)
	}
}
