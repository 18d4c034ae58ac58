package buildreport

import "testing"

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
		{add: []string{"calls=0", "ratio=false", "base"}, want: "base=0.5,calls=0"},
		{add: []string{"digest=0123456789abcdef"}, want: "digest=0123456789abcdef"},
		{add: []string{"digest=0123456789ABCDEF"}, bad: true},
		{add: []string{"introduced=1"}, bad: true},
		{add: []string{"size"}, bad: true},
		{add: []string{"ratio=much"}, bad: true},
		{add: []string{"ratio=-1"}, bad: true},
		{add: []string{"ratio=NaN"}, bad: true},
		{add: []string{"ratio=Inf"}, bad: true},
	} {
		var g Guards
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
