package main

import (
	"runtime/debug"
	"testing"
)

// TestTuneCollector checks that the settings in the environment take precedence.
func TestTuneCollector(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for _, row := range []struct {
		gogc, limit string
		want        int
	}{{"", "", growth}, {"200", "", 100}, {"", "500MiB", 100}} {
		t.Setenv("GOGC", row.gogc)
		t.Setenv("GOMEMLIMIT", row.limit)
		kept := tuneCollector()
		if got := debug.SetGCPercent(100); got != row.want || (len(kept) == spare) != (row.want == growth) {
			t.Errorf("GOGC=%q GOMEMLIMIT=%q: the heap grows by %d percent, want %d; %d bytes are kept", row.gogc,
				row.limit, got, row.want, len(kept))
		}
	}
}

// TestRelaxCollector checks that the heap may grow further only if the cache has nearly all inputs, and if the
// environment has no settings.
func TestRelaxCollector(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for _, row := range []struct {
		known, inputs int
		gogc          string
		want          int
	}{{9, 10, "", relaxed}, {10, 10, "", relaxed}, {8, 10, "", 100}, {10, 10, "50", 100}} {
		debug.SetGCPercent(100)
		t.Setenv("GOGC", row.gogc)
		t.Setenv("GOMEMLIMIT", "")
		kept := relaxCollector(row.known, row.inputs)
		if got := debug.SetGCPercent(100); got != row.want || (len(kept) == room) != (row.want == relaxed) {
			t.Errorf("%d of %d known, GOGC=%q: the heap grows by %d percent, want %d; %d bytes are kept", row.known,
				row.inputs, row.gogc, got, row.want, len(kept))
		}
	}
}
