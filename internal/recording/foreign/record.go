package foreign

import (
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/glob"
)

// MaxJump is how much deeper than the one before a record can be: more than one, as Matrix leaves out frames that had
// no exit.
const MaxJump = 64

// Columns is how a list of records may be headed, in lower case.
const Columns = "depth,methodid,count,cost"

// TableHead stands above the lines of Matrix's table.
const TableHead = "[id count cost]"

// Record is a line of a report: Count calls of the method ID took Cost milliseconds together, Depth levels deep.
type Record struct{ Depth, ID, Count, Cost int64 }

func (r Record) valid() bool {
	return r.ID >= 1 && r.ID <= contract.DispatchID && r.Count >= 1 && r.Depth <= 1<<20
}

// CutRecord reads a record at the start of s, and says how long it is; 0 if there is none. What goes on as a number, or
// with a fifth field, is none.
func CutRecord(s string) (r Record, length int) {
	r, length = cutFields(s)
	if length < len(s) && s[length] == ',' {
		return r, 0
	}
	return r, length
}

// cutFields is as CutRecord for a record that may have more fields, the first of which begins with a comma behind what
// was read.
func cutFields(s string) (r Record, length int) {
	fields := [...]*int64{&r.Depth, &r.ID, &r.Count, &r.Cost}
	for i, field := range fields {
		from := length
		for length < len(s) && s[length]-'0' <= 9 && length-from < 18 {
			length++
		}
		n, err := strconv.ParseInt(s[from:length], 10, 64)
		if err != nil {
			return r, 0
		}
		*field = n
		if i < len(fields)-1 {
			if length == len(s) || s[length] != ',' {
				return r, 0
			}
			length++
		}
	}
	if length < len(s) && (s[length]-'0' <= 9 || s[length] == '.') || !r.valid() {
		return r, 0
	}
	return r, length
}

// CutNewline returns the length of a line's end as it stands in escaped text, n behind one backslash or several, at the
// start of s; 0 if there is none.
func CutNewline(s string) (length int) {
	bare := strings.TrimLeft(s, `\`)
	if len(bare) == len(s) || bare == "" || bare[0] != 'n' {
		return 0
	}
	return len(s) - len(bare) + 1
}

var tableRow = glob.Regexp(`(?:^|[\s*|])(\.*)([0-9]{1,7}) ([0-9]{1,18}) ([0-9]{1,18})(?: (\S+))?$`)

// TableRow reads a line of the table; ok is false for any other line. A name that was put behind the record is given
// too.
func TableRow(line string) (r Record, name string, ok bool) {
	at := tableRow().FindStringSubmatch(strings.TrimRight(line, " \t"))
	if at == nil {
		return r, "", false
	}
	r.Depth = int64(len(at[1]))
	for i, field := range []*int64{&r.ID, &r.Count, &r.Cost} {
		*field, _ = strconv.ParseInt(at[2+i], 10, 64)
	}
	return r, at[5], r.valid()
}
