// Package units writes durations, shares and counts in words. It is small, and apart, so that all packages that write
// texts about recordings write them alike.
package units

import (
	"fmt"
	"math"
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

// Short returns a duration with the digits that matter.
func Short(d time.Duration) string {
	if d == 0 {
		return "0 ms"
	}
	n := float64(d.Abs())
	for _, u := range []struct {
		least, unit float64
		form, name  string
	}{
		{9.995e9, 1e9, "%.1f", " s"}, {999.5e6, 1e9, "%.2f", " s"}, {9.995e6, 1e6, "%.0f", " ms"},
		{100e3, 1e6, "%.2f", " ms"}, {1e3, 1e3, "%.1f", " µs"},
	} {
		if n >= u.least {
			return Commas(fmt.Sprintf(u.form, float64(d)/u.unit)) + u.name
		}
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

// Thousands returns a number with commas between groups of three digits.
func Thousands(n uint64) string { return Commas(strconv.FormatUint(n, 10)) }

// Commas puts commas into the whole part of a decimal number.
func Commas(digits string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	whole, fraction, found := strings.Cut(digits, ".")
	for k := len(whole) - 3; k > 0; k -= 3 {
		whole = whole[:k] + "," + whole[k:]
	}
	if found {
		whole += "." + fraction
	}
	return sign + whole
}

// PlusMinus returns a time in nanoseconds and how far it may be off, with the digits that this leaves: "1.9 ± 0.2 s",
// or "0.1, ≤ 2.3 s" if it may be more than twice as long.
func PlusMinus(nanos, low, high int64) string {
	off := max(nanos-low, high-nanos)
	if off <= 0 {
		return Millis(time.Duration(nanos))
	}
	unit, name := 1e6, "ms"
	if max(nanos, off) >= 1e9 {
		unit, name = 1e9, "s"
	}
	decimals := max(0, min(3, int(math.Ceil(-math.Log10(float64(off)/2/unit)))))
	number := func(n int64) string { return strconv.FormatFloat(float64(n)/unit, 'f', decimals, 64) }
	if off > nanos && off == high-nanos {
		decimals = max(0, int(math.Ceil(1-math.Log10(float64(high)/unit))))
		return number(nanos) + ", ≤ " + number(high) + " " + name
	}
	return number(nanos) + " ± " + number(off) + " " + name
}

// Count returns a number and what is counted, in the plural unless it is 1: "1 stall" or "2,000 stalls".
func Count[N int | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Commas(fmt.Sprint(n)) + " " + what + "s"
}

// Tenths returns a part of a time in seconds, or in milliseconds if the whole is less than a second.
func Tenths(part, whole time.Duration) string {
	if whole < time.Second {
		return fmt.Sprintf("%.0f ms", float64(part)/1e6)
	}
	return fmt.Sprintf("%.1f s", part.Seconds())
}

// Part returns "3.8 of 5.3 s", or milliseconds if the whole is less than a second.
func Part(part, whole time.Duration) string {
	if whole < time.Second {
		return fmt.Sprintf("%.0f of %.0f ms", float64(part)/1e6, float64(whole)/1e6)
	}
	return fmt.Sprintf("%.1f of %.1f s", part.Seconds(), whole.Seconds())
}

// Whole returns a number of nanoseconds in the largest unit that leaves it whole.
func Whole(n int64) string {
	for _, u := range []struct {
		nanos int64
		name  string
	}{{1_000_000_000, "s"}, {1_000_000, "ms"}, {1000, "µs"}} {
		if n%u.nanos == 0 {
			return strconv.FormatInt(n/u.nanos, 10) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " ns"
}

// Seconds returns a duration with its verb: "31 s are".
func Seconds(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s are", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s are", d.Seconds())
	}
	return fmt.Sprintf("%d ms are", d.Milliseconds())
}

// AtLeast returns a duration in seconds that is not longer than it.
func AtLeast(d time.Duration) string {
	unit, decimals := 100*time.Millisecond, 1
	if d < 10*time.Second {
		unit, decimals = 10*time.Millisecond, 2
	}
	return strconv.FormatFloat(d.Truncate(unit).Seconds(), 'f', decimals, 64) + " s"
}
