// Package glob matches names that are divided into segments by a separator: the names of classes and packages, in rules
// and in questions to a mapping.
//
// In a pattern,
//
//	?   stands for one character, but not for the separator
//	*   stands for any number of characters, none included, but not for the separator
//	**  stands for any number of characters, separators included
//
// A ** that is a whole segment and has a separator behind it stands for any number of whole segments, none included:
// with dots between segments, com.**.Foo matches com.Foo and com.a.b.Foo. Every other character stands for itself. A
// pattern matches whole names only.
package glob

import "unicode/utf8"

// retry is a wildcard that can be tried again at a later place of the name.
type retry struct {
	pattern, name int  // what follows the wildcard, and where it was last tried; pattern is -1 if there is no wildcard
	segments      bool // it stands for whole segments
}

// Match reports whether the pattern matches the whole name.
//
// Only the last * and the last ** that were met are ever tried again, since what an earlier one could reach by taking
// more, the last one reaches, too. So the time grows with the length of the pattern and, at worst, with that of the
// name times that of the longest part of the pattern between two **.
func Match(pattern, name string, separator byte) bool {
	star, deep := retry{pattern: -1}, retry{pattern: -1}
	p, i := 0, 0
	for {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			from := p
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			if p-from == 1 {
				star = retry{pattern: p, name: i}
				continue
			}
			segments := p < len(pattern) && pattern[p] == separator && (from == 0 || pattern[from-1] == separator)
			if segments {
				p++
			}
			star, deep = retry{pattern: -1}, retry{p, i, segments}
		case p < len(pattern) && i < len(name) && pattern[p] == name[i]:
			p, i = p+1, i+1
		case p < len(pattern) && i < len(name) && pattern[p] == '?' && name[i] != separator:
			p, i = p+1, i+runeLength(name[i:])
		case p == len(pattern) && i == len(name):
			return true
		case star.pattern >= 0 && star.name < len(name) && name[star.name] != separator:
			star.name += runeLength(name[star.name:])
			p, i = star.pattern, star.name
		case star.pattern >= 0 && star.name == len(name):
			return false // a later start would leave less for the same *
		case deep.pattern >= 0 && deep.advance(name, separator):
			star = retry{pattern: -1}
			p, i = deep.pattern, deep.name
		default:
			return false
		}
	}
}

// advance moves to the next place at which a ** can end; it reports whether there is one.
func (r *retry) advance(name string, separator byte) bool {
	if !r.segments {
		if r.name == len(name) {
			return false
		}
		r.name += runeLength(name[r.name:])
		return true
	}
	for r.name < len(name) {
		r.name++
		if name[r.name-1] == separator {
			return true
		}
	}
	return false
}

// runeLength returns the length of the character that s begins with.
func runeLength(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
