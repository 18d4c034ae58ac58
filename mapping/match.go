package mapping

import "strings"

// ByID reports whether p asks for IDs and not for names.
func (p *Pattern) ByID() bool { return p.to != 0 }

// Match reports whether p asks for a method by its names.
func (p *Pattern) Match(method Identity) bool {
	var buf [256]byte
	return !p.ByID() && p.match(string(appendKey(buf[:0], method)))
}

// MatchClass reports whether p may ask for methods of a class, given in internal
// form: where it does not, [Pattern.Match] need not be asked for any of them.
func (p *Pattern) MatchClass(class string) bool {
	text := Text(class)
	switch {
	case p.ByID():
		return false
	case p.expr != nil, p.class == "":
		return true
	case p.dotted != "" && strings.HasPrefix(p.dotted, text+"."):
		return true
	}
	return glob(p.class, text)
}
