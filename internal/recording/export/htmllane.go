package export

import (
	"encoding/json"
	"math"
)

// pageLane is what the time line of a page shows of a thread, in at most [laneColumns] columns of equal width: of each
// the time of the longest outermost call, and how much of it is not recorded. The page shows it before any call is
// decoded. The zero value is an empty lane.
type pageLane struct {
	width         int64 // of a column, in nanoseconds
	longest, lost []int64
}

const laneColumns = 1024

// add adds an outermost call.
func (l *pageLane) add(begin, end int64) {
	l.reach(end)
	for k := begin / l.width; k <= end/l.width; k++ {
		l.longest[k] = max(l.longest[k], end-begin, 1)
	}
}

// lose adds a time that is not recorded.
func (l *pageLane) lose(begin, end int64) {
	l.reach(end)
	for k := begin / l.width; k <= end/l.width; k++ {
		l.lost[k] += max(1, min(end, (k+1)*l.width)-max(begin, k*l.width))
	}
}

// reach makes room for a time: two columns become one until it has a column.
func (l *pageLane) reach(at int64) {
	if l.width == 0 {
		l.width = 1024
	}
	for at/l.width >= laneColumns {
		for k := range l.longest {
			if k%2 == 0 {
				l.longest[k/2], l.lost[k/2] = l.longest[k], l.lost[k]
			} else {
				l.longest[k/2] = max(l.longest[k/2], l.longest[k])
				l.lost[k/2] += l.lost[k]
			}
		}
		l.longest, l.lost = l.longest[:(len(l.longest)+1)/2], l.lost[:(len(l.lost)+1)/2]
		l.width *= 2
	}
	for int64(len(l.longest)) <= at/l.width {
		l.longest, l.lost = append(l.longest, 0), append(l.lost, 0)
	}
}

// MarshalJSON returns an object with the width of a column and two strings, a character for each column. In longest it
// is a space for no call, or '!' plus three times the binary logarithm of the microseconds. In lost, which is empty if
// nothing is, it is a digit: the ninths that are not recorded, rounded up.
func (l pageLane) MarshalJSON() ([]byte, error) {
	longest, lost, whole := make([]byte, len(l.longest)), make([]byte, len(l.lost)), true
	for k, nanos := range l.longest {
		longest[k] = ' '
		if nanos > 0 {
			longest[k] = '!' + byte(min(max(math.Round(3*math.Log2(float64(nanos)/1e3)), 0), '~'-'!'))
		}
		lost[k] = '0' + byte(min((l.lost[k]*9+l.width-1)/l.width, 9))
		whole = whole && l.lost[k] == 0
	}
	if whole {
		lost = nil
	}
	return json.Marshal(map[string]any{"width": max(l.width, 1), "longest": string(longest), "lost": string(lost)})
}
