package group

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tracegen/tracegen/internal/recording/units"
)

// number returns a number with the digits that matter: 0.25, 7.5, 1,234,567.
func number(n float64) string {
	if n == math.Trunc(n) || math.Abs(n) >= 100 {
		return units.Commas(strconv.FormatFloat(n, 'f', 0, 64))
	}
	return strconv.FormatFloat(n, 'g', 2, 64)
}

// percent returns by how much a number has changed, in parentheses; "" if the old one is 0.
func percent(old, new float64) string {
	if old <= 0 {
		return ""
	}
	if new >= 10*old {
		return fmt.Sprintf(" (%s times)", number(math.Round(new/old)))
	}
	return fmt.Sprintf(" (%+.1f %%)", 100*(new-old)/old)
}
