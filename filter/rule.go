package filter

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Position is a line of a file that a user has written.
type Position struct {
	File string // the name that was given to the parser
	Line int    // from 1
}

// String returns "FILE:LINE", or the file alone if Line is 0.
func (p Position) String() string {
	if p.Line <= 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// inDirectory returns "FILE:LINE" without the file's directory, so that what names it does not depend on that.
func (p Position) inDirectory() string {
	p.File = filepath.Base(p.File)
	return p.String()
}

// Rule is one entry of the ordered list: methods that match its pattern and conditions are blocked or allowed, or
// their calls are messages. [ParseRule], [ParseMessage], [ParseConfig] and [ParseBlockList] make rules; the zero Rule
// matches nothing.
type Rule struct {
	allow   bool
	message bool // see ParseMessage
	text    string
	at      Position
	dir     string // of the file that was given to the parser; "" if there was none
	pattern pattern
	// conditions is nil for a rule that has only a pattern.
	conditions *conditions
}

// ParseRule returns the rule that allows or blocks what a pattern matches; the package comment describes patterns. at
// is the place where the rule was written; an error begins with it.
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

// String returns the rule as "FILE:LINE: TEXT", where TEXT is the rule as it was written. FILE is relative to the
// directory of the file that was given to [ParseConfig] or [ParseBlockList], with slashes. So scan files and lists that
// name the rule do not depend on where that directory is.
func (r Rule) String() string {
	at := r.at
	if r.dir != "" {
		if relative, err := filepath.Rel(r.dir, at.File); err == nil {
			at.File = filepath.ToSlash(relative)
		}
	}
	return at.String() + ": " + r.text
}

// showFrom makes the rules relative to the directory of a file, see [Rule.String].
func showFrom(rules []Rule, file string) {
	for i := range rules {
		rules[i].dir = filepath.Dir(file)
	}
}
