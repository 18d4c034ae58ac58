// Package glob matches patterns against names that consist of segments: the names of classes, in rules and in look-ups.
//
// In a pattern,
//
//	?   matches one character, but not the separator
//	*   matches any number of characters, none included, but not the separator
//	**  matches any number of characters, separators included
//
// A ** that is a whole segment, but not the last one, matches any number of whole segments, none included: with dots as
// separators, com.**.Foo matches com.Foo and com.a.b.Foo. Other characters match themselves. A pattern must match the
// whole name.
//
// The package is small because rules, look-ups, and the readers of other programs' texts share it, and nothing else.
package glob

import "unicode/utf8"

// retry is a wildcard that can be retried with more of the name.
type retry struct {
	pattern  int  // offset behind the wildcard in the pattern; -1 if there is no wildcard
	name     int  // offset in the name up to which the wildcard matches now
	segments bool // the wildcard matches whole segments
}

// Match reports whether the pattern matches the whole name.
//
// After a mismatch, it retries only the last * and the last ** so far: whatever an earlier wildcard could match by
// taking more, the last one can match, too. So the time is the length of the pattern plus, in the worst case, the
// product of the length of the name and that of the longest part of the pattern between two **.
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
			return false // after a retry of **, less of the name would be left for this *
		case deep.pattern >= 0 && deep.advance(name, separator):
			star = retry{pattern: -1}
			p, i = deep.pattern, deep.name
		default:
			return false
		}
	}
}

// advance extends the match of a ** to the next place where it can end, and reports whether there is one.
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
