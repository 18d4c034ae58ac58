package cli

import (
	"runtime/debug"
	"testing"
)

// TestCollector checks that the settings in the environment take precedence, and that the heap may grow further only if
// the cache has nearly all inputs.
func TestCollector(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer func() { ballast = nil; debug.SetGCPercent(before) }()
	for _, row := range []struct {
		gogc, limit   string
		known, inputs int
		want          int
	}{{"", "", 8, 10, growth}, {"", "", 9, 10, relaxed}, {"200", "", 9, 10, 100}, {"", "500MiB", 9, 10, 100}} {
		debug.SetGCPercent(100)
		ballast = nil
		t.Setenv("GOGC", row.gogc)
		t.Setenv("GOMEMLIMIT", row.limit)
		SetUpCollector()
		RelaxCollector(row.known, row.inputs)
		if got := debug.SetGCPercent(100); got != row.want {
			t.Errorf("%+v: the heap grows by %d percent", row, got)
		}
	}
}
