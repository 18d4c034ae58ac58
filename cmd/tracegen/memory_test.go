package main

import (
	"runtime/debug"
	"testing"
)

// TestTuneCollector leaves the collector alone if the environment says how it is to work.
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

// TestRelaxCollector lets the heap grow further only for a run that knows nearly all of its inputs, and whose
// environment says nothing.
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
