package units

import (
	"testing"
	"time"
)

func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ms", 3: "0.000003 ms", 1500: "0.002 ms",
		20 * time.Microsecond:   "0.02 ms",
		1500 * time.Microsecond: "1.5 ms", 5 * time.Millisecond: "5 ms", 10*time.Millisecond +
			400*time.Microsecond: "10 ms", -2 * time.Millisecond: "-2 ms", 90 * time.Second: "90000 ms"} {
		if got := Millis(d); got != want {
			t.Errorf("%v: %s, want %s", int64(d), got, want)
		}
	}
}

// TestPlusMinus: a time that may be more than twice as long has its upper bound, and others what they may be off.
func TestPlusMinus(t *testing.T) {
	for _, c := range []struct {
		nanos, low, high int64
		want             string
	}{
		{1.94e9, 1.70e9, 2.18e9, "1.9 ± 0.2 s"},
		{1.94e9, 1.94e9, 1.94e9, "1940 ms"},
		{1e9, 0, 1.5e9, "1.0 ± 1.0 s"},
		{120e6, 0, 2.3e9, "0.1, ≤ 2.3 s"},
		{20e6, 1e6, 230e6, "20, ≤ 230 ms"},
		{0, 0, 2.6e6, "0.0, ≤ 2.6 ms"},
	} {
		if got := PlusMinus(c.nanos, c.low, c.high); got != c.want {
			t.Errorf("%d from %d to %d: %s, want %s", c.nanos, c.low, c.high, got, c.want)
		}
	}
}

// TestCount: one thing is in the singular, and great numbers have commas.
func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 messages", 1: "1 message", 12345: "12,345 messages"} {
		if got := Count(n, "message"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
