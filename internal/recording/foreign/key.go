package foreign

import (
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/glob"
)

// Key is a key in a line of text that has records or a stack's key for its value. The value may be a string in JSON, or
// a string in a string.
type Key struct {
	// StackKey is set if the value is a stack's key ("97|99|"), else it is records.
	StackKey bool
	// Value is where the value begins.
	Value int
	// Quoted is set if a quote is before it.
	Quoted bool
}

var stackKeyword = glob.Regexp(`\b(stack|stackKey)(\\*")?\s*[:=]\s*(\\*")?([0-9])`)

// NextKey finds the first key in a text whose value begins with a digit.
func NextKey(text string) (k Key, ok bool) {
	at := stackKeyword().FindStringSubmatchIndex(text)
	if at == nil {
		return k, false
	}
	return Key{StackKey: text[at[2]:at[3]] == "stackKey", Value: at[8], Quoted: at[6] >= 0}, true
}

// EndsInKey reports whether a line ends in a key whose records come on the next lines.
func EndsInKey(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, "stack:") || strings.HasSuffix(line, "stack =") || strings.HasSuffix(line, "stack=")
}

// IsColumns reports whether a line is the heading of a list of records.
func IsColumns(line string) bool { return strings.ToLower(strings.TrimSpace(line)) == Columns }

// CutStackKey reads the first ID of a stack's key at the start of text, and returns its length without the bar behind
// it; 0 if there is none. A number without a bar is none: keys are also made of other things. The ID is 0 if it is out
// of range.
func CutStackKey(text string) (id int64, length int) {
	n := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if n == 0 || n == len(text) || text[n] != '|' {
		return 0, 0
	}
	id, err := strconv.ParseInt(text[:n], 10, 32)
	if err != nil || id < 1 || id > contract.DispatchID {
		id = 0
	}
	return id, n
}
