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
