package symbolize

import "strings"

// escaped retraces the lines that strings of JSON in text have, divided by \n.
func (c *copier) escaped(text string) string {
	var b strings.Builder
	between := `\n` // as it is written in this text
	for rest := text; rest != ""; {
		p := cutPiece(rest)
		rest = rest[p.length:]
		if p.separator != "" {
			between = p.separator
		}
		b.WriteString(p.before)
		for i, line := range strings.Split(c.retrace(p.line), "\n") {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(p.indent + line)
		}
		b.WriteString(p.behind + p.separator)
	}
	return b.String()
}

// retrace retraces one line without an end.
func (c *copier) retrace(line string) string {
	if line == "" {
		return ""
	}
	return string(c.stack.AppendLine(nil, []byte(line)))
}

// piece is a text up to a \n.
type piece struct {
	before    string // the end of other strings, and the key
	indent    string // \t and \r
	line      string
	behind    string // if the string ends here, that and what follows it
	separator string // with all its backslashes; "" at the end
	length    int
}

// cutPiece cuts a piece off the front of text.
func cutPiece(text string) piece {
	p := piece{line: text, length: len(text)}
	if i := strings.Index(text, `\n`); i >= 0 {
		from := len(strings.TrimRight(text[:i], `\`))
		p.line, p.separator, p.length = text[:from], text[from:i+2], i+2
	}
	if i := strings.LastIndexByte(p.line, '"'); i >= 0 && p.separator != "" {
		p.before, p.line = p.line[:i+1], p.line[i+1:]
	} else if i := strings.IndexByte(p.line, '"'); i >= 0 {
		i = len(strings.TrimRight(p.line[:i], `\`))
		p.line, p.behind = p.line[:i], p.line[i:]
	}
	for {
		bare := strings.TrimLeft(p.line, `\`)
		if bare == p.line || bare == "" || bare[0] != 't' && bare[0] != 'r' {
			return p
		}
		n := len(p.line) - len(bare) + 1
		p.indent, p.line = p.indent+p.line[:n], p.line[n:]
	}
}
