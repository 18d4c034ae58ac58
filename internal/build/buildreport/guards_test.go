package buildreport

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping"
)

// TestGuards checks limits on both sides of the values.
func TestGuards(t *testing.T) {
	r := sampleRun(t) // 1500 -> 1620 bytes, 8 %; 3 methods, of a base with 1
	check := func(run *Run, name string) Guard {
		t.Helper()
		var guards Guards[*Run]
		if _, err := guards.Add(name); err != nil {
			t.Fatal(err)
		}
		return guards.Check(run)[0]
	}
	for _, row := range []struct {
		guard  Guard
		failed bool
		found  string
	}{
		{check(r, "growth=8"), false,
			"from 1500 to 1620 bytes, by 8.00 %, most in com.example (+100), the unnamed package (+20)"},
		{check(r, "growth=7.99"), true, "by 8.00 %"},
		{check(r, "ratio=3"), false, "3 methods are traced, 1 in old.txt: 3.000"},
		{check(r, "ratio=3.01"), true, "3.000"},
		{check(&Run{Result: Result{Mapping: r.Mapping}}, "ratio=5"), false, "no base"},
		{check(r, "digest="+r.Mapping.Digest()), false, r.Mapping.Digest()},
		{check(r, "digest="+mapping.Unstamped), true, r.Mapping.Digest()},
		{check(r, "introduced"), false, "0"},
		{check(&Run{Result: Result{Introduced: 1}}, "introduced"), true, "rejected: 1"},
		{check(r, "unverifiable"), false, "0"},
		{check(&Run{Result: Result{PreExisting: 2}}, "unverifiable"), true, "left as they are: 2"},
	} {
		if row.guard.Failed != row.failed || !strings.Contains(row.guard.Actual, row.found) || row.guard.Name == "" ||
			row.guard.Expected == "" {
			t.Errorf("%+v, want failed %v and %q", row.guard, row.failed, row.found)
		}
	}
}

// TestGuardLimits adds guards in every form.
func TestGuardLimits(t *testing.T) {
	for _, row := range []struct {
		add  []string
		want string
		bad  bool
	}{
		{add: nil, want: ""},
		{add: []string{"digest", "growth", "introduced=true"}, want: "introduced,growth=25,digest"},
		{add: []string{"growth=1", "growth"}, want: "growth=1"}, // in any order, a limit stays
		{add: []string{"growth", "growth=1e-3"}, want: "growth=0.001"},
		{add: []string{"growth=0", "ratio=false", "base"}, want: "growth=0,base=0.5"},
		{add: []string{"digest=0123456789abcdef"}, want: "digest=0123456789abcdef"},
		{add: []string{"digest=0123456789ABCDEF"}, bad: true},
		{add: []string{"introduced=1"}, bad: true},
		{add: []string{"size"}, bad: true},
		{add: []string{"ratio=much"}, bad: true},
		{add: []string{"ratio=-1"}, bad: true},
		{add: []string{"ratio=NaN"}, bad: true},
		{add: []string{"ratio=Inf"}, bad: true},
	} {
		var g Guards[*Run]
		var failed error
		for _, text := range row.add {
			if _, err := g.Add(text); err != nil {
				failed = err
			}
		}
		if got := g.String(); got != row.want || (failed != nil) != row.bad {
			t.Errorf("%q: got %q, error %v, want %q", row.add, got, failed, row.want)
		}
	}
}
