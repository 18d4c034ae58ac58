package cli

import (
	"runtime/debug"
	"testing"
)

// TestCollector checks that the settings in the environment take precedence.
func TestCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, row := range []struct {
		gogc, limit   string
		want, ballast int
	}{{"", "", growth, 99614700}, {"200", "", 100, 0}, {"", "500MiB", 100, 0}} {
		debug.SetGCPercent(100)
		t.Setenv("GOGC", row.gogc)
		t.Setenv("GOMEMLIMIT", row.limit)
		ballast := SetUpCollector()
		if got := debug.SetGCPercent(100); got != row.want || len(ballast) != row.ballast {
			t.Errorf("%+v: the heap grows by %d percent, and %d bytes of ballast", row, got, len(ballast))
		}
	}
}
