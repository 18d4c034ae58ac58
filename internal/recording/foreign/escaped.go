package foreign

import "strings"

// Piece is a line of escaped text: up to an n behind backslashes. Before, Indent, Line, Behind and Separator are the
// text.
type Piece struct {
	// Before is the end of other strings, and the key.
	Before string
	// Indent has tabs and carriage returns, escaped.
	Indent string
	// Line is what the line says.
	Line string
	// Behind is the end of the string, if it ends here, and what follows it.
	Behind string
	// Separator is the line's end with all its backslashes, empty at the end of the text.
	Separator string
}

// CutPiece reads a piece at the start of text.
func CutPiece(text string) (p Piece, length int) {
	p, length = Piece{Line: text}, len(text)
	if i := strings.Index(text, `\n`); i >= 0 {
		from := len(strings.TrimRight(text[:i], `\`))
		p.Line, p.Separator, length = text[:from], text[from:i+2], i+2
	}
	if i := strings.LastIndexByte(p.Line, '"'); i >= 0 && p.Separator != "" {
		p.Before, p.Line = p.Line[:i+1], p.Line[i+1:]
	} else if i := strings.IndexByte(p.Line, '"'); i >= 0 {
		i = len(strings.TrimRight(p.Line[:i], `\`))
		p.Line, p.Behind = p.Line[:i], p.Line[i:]
	}
	for {
		bare := strings.TrimLeft(p.Line, `\`)
		if bare == p.Line || bare == "" || bare[0] != 't' && bare[0] != 'r' {
			return p, length
		}
		n := len(p.Line) - len(bare) + 1
		p.Indent, p.Line = p.Indent+p.Line[:n], p.Line[n:]
	}
}
