package export

import (
	"bufio"
	"encoding/json"
	"strconv"
)

// quoted is a JSON string.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // no string makes it fail
	}
	return string(b)
}

// object is a JSON object that has facts for members, in their order.
func object(facts []fact) string {
	b := []byte{'{'}
	for k, f := range facts {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quoted(f.key)...), ':')
		value, err := json.Marshal(f.value)
		if err != nil {
			value = []byte("null") // a number that JSON does not have
		}
		b = append(b, value...)
	}
	return string(append(b, '}'))
}

// decimal appends nanoseconds as milliseconds, exactly. n is not negative.
func decimal(b []byte, n int64) []byte {
	unit := int64(1_000_000)
	b = strconv.AppendInt(b, n/unit, 10)
	for point, rest := true, n%unit; rest != 0; rest %= unit {
		if point {
			b = append(b, '.')
			point = false
		}
		unit /= 10
		b = append(b, byte('0'+rest/unit))
	}
	return b
}

// list writes a JSON array's elements with the commas between them.
type list struct {
	w    *bufio.Writer
	some bool
}

// element writes what belongs before the next element.
func (l *list) element() {
	if l.some {
		l.w.WriteString(",\n")
	}
	l.some = true
}
