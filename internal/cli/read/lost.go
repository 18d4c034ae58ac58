package read

import (
	"errors"
	"strconv"
	"strings"
)

// lostShare is the flag --max-lost, a share from 0 to 1.
type lostShare float64

// defaultMaxLost is a loss that hardly moves a sum of many calls.
const defaultMaxLost lostShare = 0.05

// Set implements pflag.Value.
func (l *lostShare) Set(text string) error {
	digits := strings.TrimSpace(strings.TrimSuffix(text, "%"))
	share, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(share >= 0 && share <= 100) {
		return errors.New("must be a share from 0% to 100%")
	}
	*l = lostShare(share / 100)
	return nil
}

// String implements pflag.Value.
func (l *lostShare) String() string { return strconv.FormatFloat(float64(*l)*100, 'g', -1, 64) + "%" }

// Type implements pflag.Value.
func (l *lostShare) Type() string { return "SHARE" }
