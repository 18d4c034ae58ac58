package symbolize

import (
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/mapping"
)

// name returns the name of a method, and counts it; "" if it is not known.
func (c *copier) name(id int64) string {
	e, ok := c.Mapping.ByID(uint32(id))
	c.ids[uint32(id)] = ok
	if !ok {
		return ""
	}
	name := mapping.Text(e.Class) + "." + mapping.Text(e.Name)
	// So that the name is at home in a string of JSON: the text form's reader
	// takes any escape.
	return quotes.Replace(name)
}

var quotes = strings.NewReplacer(`"`, "%22", `\`, "%5C")

// field returns the name as the field behind a record.
func (c *copier) field(id int64) string {
	if name := c.name(id); name != "" {
		return "," + name
	}
	return ""
}

// keyed puts names to the IDs behind keys in a line.
func (c *copier) keyed(text string) string {
	if !strings.Contains(text, "stack") {
		c.announced = foreign.IsColumns(text)
		return text
	}
	var b strings.Builder
	for {
		key, ok := foreign.NextKey(text)
		if !ok {
			c.announced = c.announced || foreign.EndsInKey(text)
			return b.String() + text
		}
		b.WriteString(text[:key.Value])
		text = text[key.Value:]
		if key.StackKey {
			text = c.key(&b, text)
		} else if r, n := foreign.CutRecord(text); n > 0 && (key.Quoted || r.Depth == 0) {
			text = c.records(&b, text)
			c.announced = text == "" && !key.Quoted
		}
	}
}

// records names records divided by \n at the start of text, and returns the rest.
func (c *copier) records(b *strings.Builder, text string) (rest string) {
	for {
		r, n := foreign.CutRecord(text)
		if n == 0 {
			return text
		}
		// The last of a line that was cut off may have been longer.
		b.WriteString(text[:n] + c.field(r.ID))
		text = text[n:]
		end := foreign.CutNewline(text)
		if end == 0 {
			return text
		}
		b.WriteString(text[:end])
		text = text[end:]
	}
}

// key names the IDs of a stack's key at the start of text, and returns the rest.
func (c *copier) key(b *strings.Builder, text string) (rest string) {
	for {
		id, n := foreign.CutStackKey(text)
		if n == 0 {
			return text
		}
		name := ""
		if id > 0 {
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
	r, name, ok := foreign.TableRow(trimmed)
	if !ok || name != "" {
		return "", false
	}
	if name = c.name(r.ID); name != "" {
		name = " " + name
	}
	return trimmed + name + text[len(trimmed):], true
}
