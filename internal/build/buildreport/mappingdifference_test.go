package buildreport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping"
)

// TestDiffSuspectsShrunkBuild checks that a build is suspected to be shrunk if it lost a fifth of its methods, and at
// least 50.
func TestDiffSuspectsShrunkBuild(t *testing.T) {
	assign := func(n int) *mapping.Mapping {
		var methods []mapping.Method
		for i := range n {
			methods = append(methods, mapping.Method{Identity: mapping.Identity{Class: "a/A", Name: fmt.Sprint("f", i),
				Descriptor: "()V"}})
		}
		m, err := mapping.Assign(methods, mapping.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, test := range []struct {
		old, new int
		want     bool
	}{{1000, 14, true}, {1000, 800, true}, {1000, 801, false}, {50, 0, true}, {49, 0, false}, {14, 1000, false}} {
		old, new := assign(test.old), assign(test.new)
		d := MappingDifference{Old: old, New: new, Comparison: mapping.Compare(old, new)}
		if got := strings.Contains(strings.Join(d.Warnings(), "\n"), "methods are missing"); got != test.want {
			t.Errorf("%d methods, then %d: suspicious %v, want %v", test.old, test.new, got, test.want)
		}
	}
}
