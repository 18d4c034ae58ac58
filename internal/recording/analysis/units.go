package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Percent returns a share without decimals.
func Percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", (part*100+whole/2)/whole)
}

// Millis returns a duration in milliseconds, the shorter the finer.
func Millis(d time.Duration) string {
	decimals := 0
	switch a := max(d, -d); {
	case a == 0 || a >= 10*time.Millisecond:
	case a >= time.Millisecond:
		decimals = 1
	case a >= time.Microsecond:
		decimals = 3
	default:
		decimals = 6
	}
	text := strconv.FormatFloat(float64(d)/1e6, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " ms"
}
