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
	var rules []Rule
	err := eachLine(name, data, func(line string, at Position) error {
		if line[0] == '#' || line[0] == '[' {
			return nil
		}
		rule, err := parseBlockLine(line, at)
		rules = append(rules, rule)
		return err
	})
	if err != nil {
		return nil, err
	}
	showFrom(rules, name)
	return rules, nil
}

// eachLine calls read with each line of a file, without the space around it, that is not empty. The error joins those
// of all lines.
func eachLine(name string, data []byte, read func(line string, at Position) error) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%s: not UTF-8 text", name)
	}
	var errs []error
	at := Position{File: name}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\uFEFF")) {
		at.Line++
		if line = strings.TrimSpace(line); line != "" {
			errs = append(errs, read(line, at))
		}
	}
	return errors.Join(errs...)
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
