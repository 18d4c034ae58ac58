package symbolize

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/mapping"
)

// record is a line of a report.
type record struct{ depth, id, count, cost int64 }

// cutRecord reads a record at the start of s, and says how long it is; 0 if
// there is none.
func cutRecord(s string) (r record, length int) {
	fields := [...]*int64{&r.depth, &r.id, &r.count, &r.cost}
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
	// What goes on as a number, or with a fifth field, is none.
	if length < len(s) && (s[length]-'0' <= 9 || s[length] == ',' || s[length] == '.') ||
		r.id < 1 || r.id > mapping.DispatchID || r.count < 1 || r.depth > 1<<20 {
		return r, 0
	}
	return r, length
}

// name gives the name of a method, and counts it; "" if it is not known.
func (c *copier) name(id int64) string {
	e, ok := c.Mapping.ByID(uint32(id))
	c.ids[uint32(id)] = ok
	if !ok {
		return ""
	}
	name := mapping.Text(e.Class) + "." + mapping.Text(e.Name)
	if c.Descriptors {
		name += mapping.Text(e.Descriptor)
	}
	// So that the name is at home in a string of JSON: the text form's reader
	// takes any escape.
	return quotes.Replace(name)
}

var quotes = strings.NewReplacer(`"`, "%22", `\`, "%5C")

// field gives the name as the field behind a record.
func (c *copier) field(id int64) string {
	if name := c.name(id); name != "" {
		return "," + name
	}
	return ""
}

// stackKeyword is a key with a stack, or a stack's key, as its value. The value
// may be a string in JSON, or a string of a string.
var stackKeyword = regexp.MustCompile(`\b(stack|stackKey)(\\*")?\s*[:=]\s*(\\*")?([0-9])`)

// columns is how a list of records may be headed.
const columns = "depth,methodid,count,cost"

// keyed puts names to the IDs behind keys in a line.
func (c *copier) keyed(text string) string {
	if !strings.Contains(text, "stack") {
		c.announced = strings.ToLower(strings.TrimSpace(text)) == columns
		return text
	}
	var b strings.Builder
	for {
		at := stackKeyword.FindStringSubmatchIndex(text)
		if at == nil {
			c.announced = c.announced || endsInKey(text)
			return b.String() + text
		}
		value := at[8]
		b.WriteString(text[:value])
		key, quoted := text[at[2]:at[3]], at[6] >= 0
		text = text[value:]
		if key == "stackKey" {
			text = c.key(&b, text)
		} else if r, n := cutRecord(text); n > 0 && (quoted || r.depth == 0) {
			text = c.records(&b, text)
			c.announced = text == "" && !quoted
		}
	}
}

// endsInKey reports whether the records come on the next lines.
func endsInKey(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "stack:") || strings.HasSuffix(text, "stack =") || strings.HasSuffix(text, "stack=")
}

// records names records divided by \n at the start of text, and gives the rest.
func (c *copier) records(b *strings.Builder, text string) (rest string) {
	for {
		r, n := cutRecord(text)
		if n == 0 {
			return text
		}
		// The last of a line that was cut off may have been longer.
		b.WriteString(text[:n] + c.field(r.id))
		text = text[n:]
		separator := len(text) - len(strings.TrimLeft(text, `\`))
		if separator == 0 || separator == len(text) || text[separator] != 'n' {
			return text
		}
		b.WriteString(text[:separator+1])
		text = text[separator+1:]
	}
}

// key names the IDs of a stack key like "97|99|" at the start of text, and gives
// the rest. A number without a bar is none: keys are also made of other things.
func (c *copier) key(b *strings.Builder, text string) (rest string) {
	for {
		n := len(text) - len(strings.TrimLeft(text, "0123456789"))
		if n == 0 || n == len(text) || text[n] != '|' {
			return text
		}
		id, err := strconv.ParseInt(text[:n], 10, 32)
		name := ""
		if err == nil && id >= 1 && id <= mapping.DispatchID {
			name = c.name(id)
		}
		if name == "" {
			name = text[:n]
		}
		b.WriteString(name + "|")
		text = text[n+1:]
	}
}

// tableHead stands above the lines of Matrix's table.
const tableHead = "[id count cost]"

var tableRow = regexp.MustCompile(`(?:^|[\s*|])\.*([0-9]{1,7}) ([0-9]{1,18}) ([0-9]{1,18})$`)

// tableLine names a line of the table; ok is false for any other line.
func (c *copier) tableLine(text string) (named string, ok bool) {
	trimmed := strings.TrimRight(text, " \t")
	at := tableRow.FindStringSubmatchIndex(trimmed)
	if at == nil {
		return "", false
	}
	id, err := strconv.ParseInt(trimmed[at[2]:at[3]], 10, 32)
	if err != nil || id < 1 || id > mapping.DispatchID {
		return "", false
	}
	if name := c.name(id); name != "" {
		trimmed += " " + name
	}
	return trimmed + text[len(strings.TrimRight(text, " \t")):], true
}
