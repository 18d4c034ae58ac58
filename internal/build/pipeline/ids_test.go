package pipeline_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping"
)

// baseOf makes a mapping of n methods that no input has.
func baseOf(t *testing.T, n int) *mapping.Mapping {
	t.Helper()
	methods := make([]mapping.Method, n)
	for i := range methods {
		methods[i].Identity = mapping.Identity{Class: fmt.Sprintf("old/p%d/C%d", i%7, i/20),
			Name: fmt.Sprintf("m%d", i%20), Descriptor: "()V"}
	}
	m, err := mapping.Assign(methods, mapping.Options{Order: mapping.OrderCompact}) // which is the quicker one
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestIDsRunShort: from nine tenths on there is a warning with what could be done, and no more than Capacity.
func TestIDsRunShort(t *testing.T) {
	dir := t.TempDir()
	in := sampleJar(t, filepath.Join(dir, "in.jar"))
	run := func(base *mapping.Mapping) string {
		c := config(in, filepath.Join(dir, "out.jar"))
		c.Base = base
		warnings := instrument(t, c).Warnings
		at := slices.IndexFunc(warnings, func(w string) bool { return strings.Contains(w, "method IDs") })
		if at < 0 {
			return ""
		}
		return warnings[at]
	}
	if w := run(baseOf(t, 1000)); w != "" {
		t.Errorf("with IDs left: %q", w)
	}
	w := run(baseOf(t, mapping.NearlyFull-1))
	for _, want := range []string{"run short", fmt.Sprintf("%d retired", mapping.NearlyFull-1), "biggest packages: ",
		"--prune"} {
		if !strings.Contains(w, want) {
			t.Errorf("%q does not say %q", w, want)
		}
	}
	c := config(in, filepath.Join(dir, "full.jar"))
	c.Base = baseOf(t, mapping.Capacity-3)
	fails(t, t.Context(), c, "run out", "biggest packages: ", "--prune", "nothing was written")
}
