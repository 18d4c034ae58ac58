package filter

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tracegen/tracegen/classfile"
)

// spanning is the segment that stands for any number of packages.
const spanning = "**"

// pattern is a parsed rule pattern; see the package comment for what it means.
type pattern struct {
	class  classPattern
	method *methodPattern // nil: all methods, and the class as a whole
}

// classPattern is a class name cut at its slashes, each segment with wildcards. A ** at the end has become a
// ** and a *, so that the last segment is always one for the class's simple name.
type classPattern struct {
	segments []string
	nested   string // the last segment with $* behind it, for the nested classes; "" to leave them out
}

// methodPattern is what follows the #.
type methodPattern struct {
	name       string
	descriptor *descriptorPattern // nil: any
}

func parsePattern(s string) (pattern, error) {
	if err := checkText(s); err != nil {
		return pattern{}, err
	}
	class, method, hasMethod := strings.Cut(s, "#")
	if class == "" && hasMethod {
		return pattern{}, fmt.Errorf("no class in front of #: write %q for that of every class", "**"+s)
	}
	var p pattern
	var err error
	if p.class, err = parseClassPattern(class, true); err != nil || !hasMethod {
		return p, err
	}
	p.method, err = parseMethodPattern(method)
	return p, err
}

// checkText refuses what no name can hold, or what could not be told from a slip of the pen.
func checkText(s string) error {
	switch {
	case s == "":
		return errors.New("the pattern is empty")
	case !utf8.ValidString(s):
		return fmt.Errorf("pattern %q is not valid UTF-8", s)
	}
	for _, r := range s {
		if r == '?' || unicode.IsControl(r) {
			return fmt.Errorf("pattern %q holds %q: * is the wildcard, and stands for any characters", s, r)
		}
	}
	return nil
}

// parseClassPattern reads a class name with dots or slashes and wildcards.
func parseClassPattern(s string, withNested bool) (classPattern, error) {
	var p classPattern
	segments := strings.Split(strings.ReplaceAll(classfile.EncodeMUTF8(s), ".", "/"), "/")
	for i, segment := range segments {
		switch {
		case segment == "" && i == len(segments)-1 && i > 0:
			return p, fmt.Errorf("class pattern %q ends in a separator: write %q for all classes below a package", s, s+"**")
		case segment == "":
			return p, fmt.Errorf("class pattern %q has an empty segment", s)
		case segment == spanning:
			if i > 0 && segments[i-1] == spanning {
				continue // ** of any number of packages twice is once
			}
		case strings.Contains(segment, spanning):
			return p, fmt.Errorf("class pattern %q: ** has to be a segment of its own, as in **.*Name; use * inside one", s)
		case strings.ContainsAny(segment, ";[]()<>, "):
			return p, fmt.Errorf("class pattern %q: %q is not the name of a class or package", s, segment)
		}
		p.segments = append(p.segments, segment)
	}
	if p.segments[len(p.segments)-1] == spanning {
		p.segments = append(p.segments, "*")
	}
	if withNested {
		p.nested = p.segments[len(p.segments)-1] + "$*"
	}
	return p, nil
}

func parseMethodPattern(s string) (*methodPattern, error) {
	name, descriptor, hasDescriptor := strings.Cut(s, "(")
	switch {
	case name == "":
		return nil, fmt.Errorf("no method name behind #: write * for any")
	case name != "<init>" && name != "<clinit>" && (strings.ContainsAny(name, ".;[/<>#)") || strings.TrimSpace(name) != name):
		return nil, fmt.Errorf("method pattern %q: %q is not the name of a method", s, name)
	}
	m := &methodPattern{name: strings.ReplaceAll(classfile.EncodeMUTF8(name), "**", "*")}
	if !hasDescriptor {
		return m, nil
	}
	d, err := parseDescriptorPattern(descriptor)
	if err != nil {
		return nil, fmt.Errorf("method pattern %q: %w", s, err)
	}
	m.descriptor = d
	return m, nil
}

// matchesAll says whether the pattern is ** alone.
func (p *classPattern) matchesAll() bool {
	return len(p.segments) == 2 && p.segments[0] == spanning && p.segments[1] == "*"
}

// match says whether the segments from number first on match the name, an internal name without the packages
// that the segments before it stand for.
//
// Both are read from the left. On a mismatch, the last ** is taken to span one package more; an earlier ** need
// not be tried again, for whatever it could give, the later one can give as well.
func (p *classPattern) match(first int, name string) bool {
	segments := p.segments[first:]
	if !p.matchLast(name[strings.LastIndexByte(name, '/')+1:]) {
		return false
	}
	at, rest, done := 0, name, false
	retry, retryRest := -1, ""
	for !done {
		if at < len(segments) && segments[at] == spanning {
			at++
			retry, retryRest = at, rest
			continue
		}
		segment, next, more := strings.Cut(rest, "/")
		switch {
		case at == len(segments)-1 && !more:
			return true // matchLast said so
		case at < len(segments)-1 && more && matchGlob(segments[at], segment):
			at, rest = at+1, next
		case retry < 0:
			return false
		default:
			_, retryRest, more = strings.Cut(retryRest, "/")
			done = !more
			at, rest = retry, retryRest
		}
	}
	return false
}

// matchLast matches the class's simple name.
func (p *classPattern) matchLast(simple string) bool {
	last := p.segments[len(p.segments)-1]
	return matchGlob(last, simple) || p.nested != "" && matchGlob(p.nested, simple)
}

func (m *methodPattern) match(name, descriptor string) bool {
	return matchGlob(m.name, name) && (m.descriptor == nil || m.descriptor.match(descriptor))
}

// matchGlob matches s against a glob in which * stands for any bytes. Its time is bounded by the product of the
// two lengths, as only the last * is ever tried again.
func matchGlob(glob, s string) bool {
	i, j := 0, 0
	star, from := -1, 0
	for j < len(s) {
		switch {
		case i < len(glob) && glob[i] == '*':
			star, from = i, j
			i++
		case i < len(glob) && glob[i] == s[j]:
			i++
			j++
		case star < 0:
			return false
		default:
			from++
			i, j = star+1, from
		}
	}
	for i < len(glob) && glob[i] == '*' {
		i++
	}
	return i == len(glob)
}

// isLiteral says whether a segment or name has no wildcard.
func isLiteral(s string) bool { return strings.IndexByte(s, '*') < 0 }
