package symbolize

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/matrix"
	"github.com/tracegen/tracegen/mapping"
)

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

// keyed puts names to the IDs behind keys in a line.
func (c *copier) keyed(text string) string {
	if !strings.Contains(text, "stack") {
		c.announced = strings.ToLower(strings.TrimSpace(text)) == matrix.Columns
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
		} else if r, n := matrix.CutRecord(text); n > 0 && (quoted || r.Depth == 0) {
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
		r, n := matrix.CutRecord(text)
		if n == 0 {
			return text
		}
		// The last of a line that was cut off may have been longer.
		b.WriteString(text[:n] + c.field(r.ID))
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

// tableLine names a line of the table; ok is false for any other line.
func (c *copier) tableLine(text string) (named string, ok bool) {
	trimmed := strings.TrimRight(text, " \t")
	r, name, ok := matrix.TableRow(trimmed)
	if !ok || name != "" {
		return "", false
	}
	if name = c.name(r.ID); name != "" {
		name = " " + name
	}
	return trimmed + name + text[len(trimmed):], true
}
