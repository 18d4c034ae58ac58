package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ByteSize is a flag whose value is a number of bytes.
type ByteSize int64

// byteUnits are in descending order: String takes the first that divides the number.
var byteUnits = []Named[int64]{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20},
	{"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1}}

// Set implements pflag.Value.
func (s *ByteSize) Set(text string) error {
	number := strings.TrimRight(text, "TGMKiB")
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	for _, u := range byteUnits {
		if err == nil && n > 0 && text[len(number):] == u.Name && n <= (1<<62)/u.Value {
			*s = ByteSize(n * u.Value)
			return nil
		}
	}
	return errors.New("must be a number with a unit, such as 500MB or 2GiB")
}

// String implements pflag.Value.
func (s *ByteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n != 0 && n%u.Value == 0 {
			return fmt.Sprint(n/u.Value, u.Name)
		}
	}
	return "0"
}

// Type implements pflag.Value. The help shows it behind the flag's name.
func (s *ByteSize) Type() string { return "SIZE" }
