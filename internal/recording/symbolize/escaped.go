package symbolize

import (
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
)

// escaped retraces the lines that strings of JSON in text have, divided by \n.
func (c *copier) escaped(text string) string {
	var b strings.Builder
	between := `\n` // as it is written in this text
	for rest := text; rest != ""; {
		p, n := foreign.CutPiece(rest)
		rest = rest[n:]
		if p.Separator != "" {
			between = p.Separator
		}
		b.WriteString(p.Before)
		for i, line := range strings.Split(c.retrace(p.Line), "\n") {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(p.Indent + line)
		}
		b.WriteString(p.Behind + p.Separator)
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
