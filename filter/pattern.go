package filter

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

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
// ** and a *, so that the last segment is always one for the class's simple name; doublestar would take
// com/example/** to match com/example as well.
type classPattern struct {
	segments []string
	glob     string // the segments, for matchGlob
	nested   string // the same for the nested classes; "" to leave them out
}

// methodPattern is what follows the #.
type methodPattern struct {
	name       string
	glob       string             // the name, for matchGlob
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
		case strings.Contains(segment, "#"):
			return p, fmt.Errorf("class pattern %q holds #: write the method behind the key \"method\"", s)
		case strings.ContainsAny(segment, ";[]()<>, "):
			return p, fmt.Errorf("class pattern %q: %q is not the name of a class or package", s, segment)
		}
		p.segments = append(p.segments, segment)
	}
	if p.segments[len(p.segments)-1] == spanning {
		p.segments = append(p.segments, "*")
	}
	p.glob = makeGlob(strings.Join(p.segments, "/"))
	if withNested {
		p.nested = p.glob + "$*"
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
	// One * says as much as several, which at the end of a name doublestar would not take for nothing.
	m := &methodPattern{name: classfile.EncodeMUTF8(name)}
	for strings.Contains(m.name, spanning) {
		m.name = strings.ReplaceAll(m.name, spanning, "*")
	}
	m.glob = makeGlob(m.name)
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

// match says whether the pattern matches an internal name, given as matchable gives it.
func (p *classPattern) match(name string) bool {
	return matchGlob(p.glob, name) || p.nested != "" && matchGlob(p.nested, name)
}

// match says whether the pattern matches a method; its name is given as matchable gives it.
func (m *methodPattern) match(name, descriptor string) bool {
	return matchGlob(m.glob, name) && (m.descriptor == nil || m.descriptor.match(descriptor))
}

// matchGlob matches a name that came from matchable against what makeGlob made. On a mismatch doublestar tries
// only the last * and the last ** again, so the time is bounded by the product of the two lengths and the number
// of the name's segments. Braces would double it each, which is why nested is a glob of its own.
func matchGlob(glob, name string) bool { return doublestar.MatchUnvalidated(glob, name) }

// metaCharacters is what means something to doublestar and is part of a name to us.
var metaCharacters = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `?`, `\?`)

// makeGlob writes a pattern whose only wildcards are * and ** as doublestar wants it.
func makeGlob(pattern string) string { return metaCharacters.Replace(matchable(pattern)) }

// matchable gives modified UTF-8 with a character for each byte. doublestar compares characters, and to it, all
// bytes that are not UTF-8 are the same one; surrogates consist of such.
func matchable(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	if ascii {
		return s
	}
	runes := make([]rune, len(s))
	for i := range runes {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// isLiteral says whether a segment or name has no wildcard.
func isLiteral(s string) bool { return strings.IndexByte(s, '*') < 0 }
