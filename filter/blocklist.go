package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ParseBlockList reads a block list of the Matrix plugin. A line is empty, a comment that begins with #, a [section],
// which has no meaning, or one of
//
//	-keepclass a/b/C
//	-keeppackage a/b/
//
// They block a class with its nested classes, and a package with all packages below it. Names may have dots, and the
// slash at the end of a package may be missing. Matrix compares only the beginnings of names; here, as in all rules,
// whole segments are compared. name is the name of the file, for positions. The error joins the errors of all lines.
func ParseBlockList(name string, data []byte) ([]Rule, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: not UTF-8 text", name)
	}
	var rules []Rule
	var errs []error
	at := Position{File: name}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\uFEFF")) {
		at.Line++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		rule, err := parseBlockLine(line, at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rules = append(rules, rule)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	showFrom(rules, name)
	return rules, nil
}

func parseBlockLine(line string, at Position) (Rule, error) {
	fields := strings.Fields(line)
	directives := []string{"-keepclass", "-keeppackage"}
	switch {
	case !slices.Contains(directives, fields[0]):
		return Rule{}, fmt.Errorf("%v: %s", at, unknown("directive", fields[0], directives))
	case len(fields) != 2:
		return Rule{}, fmt.Errorf("%v: %s takes one name, found %d", at, fields[0], len(fields)-1)
	case strings.ContainsAny(fields[1], "*?#"):
		return Rule{}, fmt.Errorf("%v: %q: a block list takes names only; write a rule with wildcards or methods "+
			"in tracegen.yml",
			at, fields[1])
	}
	pattern := fields[1]
	if fields[0] == "-keeppackage" {
		pattern = strings.TrimRight(pattern, "./") + "/**"
	}
	return parseRule(false, pattern, line, at)
}
