package mapping

import (
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// ByID reports whether p is an ID or a range of IDs.
func (p *Pattern) ByID() bool { return p.to != 0 }

// Match reports whether p matches a method by its names. A pattern of IDs matches none.
func (p *Pattern) Match(method Identity) bool {
	var buf [256]byte
	return !p.ByID() && p.match(string(appendKey(buf[:0], method)))
}

// MatchClass reports whether p may match methods of a class, given in internal form. If it returns false,
// [Pattern.Match] returns false for all methods of the class.
func (p *Pattern) MatchClass(class string) bool {
	text := Text(class)
	switch {
	case p.ByID():
		return false
	case p.expr != nil, p.class == "", p.blank != nil && p.blank.MatchClass(class):
		return true
	case p.dotted != "" && strings.HasPrefix(p.dotted, text+"."):
		return true
	}
	if glob.Match(p.class, text, '.') {
		return true
	}
	// The class may be in a function of the pattern, see [SourceOf].
	for i := strings.LastIndexByte(text, '$'); i > 0 && p.descriptor == ""; i = strings.LastIndexByte(text[:i], '$') {
		if p.name != "" && glob.Match(p.class, text[:i], '.') || p.dotted != "" && strings.HasPrefix(p.dotted, text[:i]+".") {
			return true
		}
	}
	return false
}
