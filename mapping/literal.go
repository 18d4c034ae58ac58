package mapping

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// literal is a text that a key must contain to match a pattern. Searching for it is many times faster than matching,
// and most keys do not contain it.
type literal struct {
	text string // if fold is set, ASCII without capital letters
	fold bool   // letter case is ignored
}

// in reports whether key may contain the literal.
func (l literal) in(key string) bool {
	if !l.fold {
		return strings.Contains(key, l.text)
	}
	for i := range len(key) {
		if key[i] >= utf8.RuneSelf {
			return true // some characters fold to ASCII
		}
		if lower(key[i]) == l.text[0] && len(key)-i >= len(l.text) && l.begins(key[i:]) {
			return true
		}
	}
	return false
}

// begins reports whether key begins with the literal. key must not be shorter than the literal.
func (l literal) begins(key string) bool {
	for i := range len(l.text) {
		if lower(key[i]) != l.text[i] {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if b-'A' <= 'Z'-'A' {
		return b | 0x20
	}
	return b
}

// maxLiterals is the greatest number of literals of an alternation that are searched for.
const maxLiterals = 8

// required returns literals of which every match of re contains at least one. It returns none if there are no such
// literals, or too many.
//
// It works bottom-up: a literal requires itself; a repetition that occurs at least once requires what its operand
// requires; a concatenation requires what any of its parts requires, and the part whose shortest literal is the
// longest is the most selective; an alternation requires one of the literals of all its branches. All other
// operators require nothing.
func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		l := literal{string(re.Rune), re.Flags&syntax.FoldCase != 0}
		if l.fold {
			if slices.ContainsFunc(re.Rune, func(r rune) bool { return r >= utf8.RuneSelf }) {
				return nil
			}
			l.text = strings.ToLower(l.text)
		}
		return []literal{l}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if found := required(sub); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			found := required(sub)
			if len(found) == 0 || len(all)+len(found) > maxLiterals {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest literal, 0 if there is none.
func shortest(list []literal) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b literal) int { return len(a.text) - len(b.text) }).text)
}

// globLiteral returns the longest text without wildcards in the parts of a glob. A dot after ** is not part of it, as
// it may match nothing.
func globLiteral(parts ...string) literal {
	best := ""
	for _, part := range parts {
		for run := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '*' || r == '?' }) {
			if run = strings.TrimPrefix(run, "."); len(run) > len(best) {
				best = run
			}
		}
	}
	return literal{text: best}
}
