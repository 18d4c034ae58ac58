package filter

import (
	"fmt"
	"strconv"
)

// Position is a line of a file that people edit.
type Position struct {
	File string // as its reader was told
	Line int    // from 1
}

// String gives "FILE:LINE", or the file alone if there is no line.
func (p Position) String() string {
	if p.Line <= 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Rule is one entry of the ordered list: whether what its pattern and conditions match is traced. It comes from [ParseRule],
// [ParseConfig] or [ParseBlockList]; the zero Rule matches nothing.
type Rule struct {
	allow   bool
	text    string
	at      Position
	pattern pattern
	// conditions are nil for a rule of a pattern alone.
	conditions *conditions
}

// ParseRule makes a rule that allows or blocks what a pattern matches; see the package comment for patterns. The
// position is where it was written; an error starts with it.
func ParseRule(allow bool, pattern string, at Position) (Rule, error) {
	verb := "block "
	if allow {
		verb = "allow "
	}
	return parseRule(allow, pattern, verb+pattern, at)
}

func parseRule(allow bool, pattern, text string, at Position) (Rule, error) {
	p, err := parsePattern(pattern)
	if err != nil {
		return Rule{}, fmt.Errorf("%v: %w", at, err)
	}
	return Rule{allow: allow, text: text, at: at, pattern: p}, nil
}

// String gives the rule as "FILE:LINE: TEXT", its text as it was written.
func (r Rule) String() string { return r.at.String() + ": " + r.text }

// isWhole says whether the rule matches either all methods of a class or none, by the class's name alone.
func (r *Rule) isWhole() bool { return r.pattern.method == nil && r.conditions == nil }
