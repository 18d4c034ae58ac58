package filter

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/glob"
	"github.com/tracegen/tracegen/mapping"
)

// spanning is the segment that matches any number of packages.
const spanning = "**"

// pattern is the parsed pattern of a rule; the package comment says what it means.
type pattern struct {
	class  classPattern
	method *methodPattern // nil: all methods of the class
}

// classPattern is a class name with wildcards. A ** at the end is stored as ** and *, so that the last segment is
// always one for the class's simple name.
type classPattern struct {
	glob   string
	nested string // the same for nested classes; "" if they do not match
	// head and tail are the literal text before the first and behind the last wildcard: most names differ there, and
	// need not be compared with the glob. A pattern without wildcards is its head.
	head, tail string
}

// everyClass is the glob of the pattern **.
const everyClass = "**/*"

// methodPattern is the part of a pattern after the #.
type methodPattern struct {
	name       string // may contain *
	head       string // the text before the first *
	descriptor string // a glob with slashes; "" for any
}

func parsePattern(s string) (pattern, error) {
	if err := checkText(s); err != nil {
		return pattern{}, err
	}
	class, method, hasMethod := strings.Cut(s, "#")
	if class == "" && hasMethod {
		return pattern{}, fmt.Errorf("no class before #: to match a method of every class, write %q", "**"+s)
	}
	var p pattern
	var err error
	if p.class, err = parseClassPattern(class, true); err != nil || !hasMethod {
		return p, err
	}
	p.method, err = parseMethodPattern(method)
	return p, err
}

// checkText refuses text that is empty or not UTF-8, and characters that are more likely a mistake than part of a
// name: control characters, and ?, which is a wildcard elsewhere.
func checkText(s string) error {
	switch {
	case s == "":
		return errors.New("the pattern is empty")
	case !utf8.ValidString(s):
		return fmt.Errorf("pattern %q is not valid UTF-8", s)
	}
	for _, r := range s {
		if r == '?' || unicode.IsControl(r) {
			return fmt.Errorf("pattern %q contains %q: the only wildcard is *, for any number of characters", s, r)
		}
	}
	return nil
}

// parseClassPattern parses a class name with dots or slashes and wildcards.
func parseClassPattern(s string, withNested bool) (classPattern, error) {
	var p classPattern
	var found []string
	segments := strings.Split(strings.ReplaceAll(classfile.EncodeMUTF8(s), ".", "/"), "/")
	for i, segment := range segments {
		switch {
		case segment == "" && i == len(segments)-1 && i > 0:
			return p, fmt.Errorf("class pattern %q ends in a separator: to match all classes below a package, write %q",
				s, s+"**")
		case segment == "":
			return p, fmt.Errorf("class pattern %q has an empty segment", s)
		case segment == spanning:
			if i > 0 && segments[i-1] == spanning {
				continue // **.** means the same as **
			}
		case strings.Contains(segment, spanning):
			return p, fmt.Errorf("class pattern %q: ** must be a whole segment, as in **.*Name; use * within a segment",
				s)
		case strings.Contains(segment, "#"):
			return p, fmt.Errorf("class pattern %q contains #: give the method by the key \"method\"", s)
		case strings.ContainsAny(segment, ";[]()<>") || strings.TrimSpace(segment) != segment:
			return p, fmt.Errorf("class pattern %q: %q is not the name of a class or package", s, segment)
		}
		found = append(found, unescaped(segment))
	}
	if found[len(found)-1] == spanning {
		found = append(found, "*")
	}
	p.glob = strings.Join(found, "/")
	p.head = p.glob[:strings.IndexByte(p.glob+"*", '*')]
	p.tail = strings.TrimPrefix(p.glob[strings.LastIndexByte(p.glob, '*')+1:], "/") // **/A matches A, too
	if withNested {
		p.nested = p.glob + "$*"
	}
	return p, nil
}

// unescaped returns a name in which %XX is a byte, as all lists and mappings show names with blanks and commas. A
// percent sign that is no escape stays.
func unescaped(name string) string {
	if raw, err := url.PathUnescape(name); err == nil {
		return raw
	}
	return name
}

func parseMethodPattern(s string) (*methodPattern, error) {
	name, descriptor, hasDescriptor := strings.Cut(s, "(")
	switch {
	case name == "":
		return nil, fmt.Errorf("no method name after #: write * for any name")
	case name != "<init>" && name != "<clinit>" &&
		(strings.ContainsAny(name, ".;[/<>#)") || strings.TrimSpace(name) != name):
		return nil, fmt.Errorf("method pattern %q: %q is not the name of a method", s, name)
	}
	// Several * mean the same as one, as a name has no segments that ** could cross.
	m := &methodPattern{name: unescaped(classfile.EncodeMUTF8(name))}
	for strings.Contains(m.name, spanning) {
		m.name = strings.ReplaceAll(m.name, spanning, "*")
	}
	m.head = m.name[:strings.IndexByte(m.name+"*", '*')]
	if !hasDescriptor {
		return m, nil
	}
	var ok bool
	if m.descriptor, ok = descriptorGlob(descriptor); !ok {
		return nil, fmt.Errorf("method pattern %q: write the parameters as in a mapping, (ILjava.lang.String;)V, or (**) "+
			"for any", s)
	}
	return m, nil
}

// descriptorGlob returns the glob of what follows the opening parenthesis: types as in a descriptor (JVMS 4.3.3), of
// which names may have wildcards, and ** for any number of them. The return type may be missing, or *, for any.
func descriptorGlob(s string) (glob string, ok bool) {
	parameters, result, ok := strings.Cut(strings.ReplaceAll(classfile.EncodeMUTF8(s), ".", "/"), ")")
	for rest := parameters; ok && rest != ""; {
		var any bool
		if rest, any = strings.CutPrefix(rest, spanning); !any {
			rest, ok = cutType(rest)
		}
	}
	switch result {
	case "", "*":
		result = spanning
	case "V":
	default:
		rest, isType := cutType(result)
		ok = ok && isType && rest == ""
	}
	return "(" + unescaped(parameters) + ")" + unescaped(result), ok
}

// cutType cuts the first type (JVMS 4.3.2) off s.
func cutType(s string) (rest string, ok bool) {
	s = strings.TrimLeft(s, "[")
	end := strings.IndexByte(s, ';')
	switch {
	case s != "" && strings.IndexByte("BCDFIJSZ", s[0]) >= 0:
		return s[1:], true
	case strings.HasPrefix(s, "L") && end > 1 && !strings.Contains(s[:end], "["):
		return s[end+1:], true
	}
	return "", false
}

// match reports whether the pattern matches an internal name.
func (p *classPattern) match(name string) bool {
	switch {
	case p.glob == everyClass:
		return true
	case !strings.HasPrefix(name, p.head):
		return false
	}
	ends := strings.HasSuffix(name, p.tail)
	return ends && glob.Match(p.glob, name, '/') ||
		p.nested != "" && (ends || strings.IndexByte(name, '$') >= 0) && glob.Match(p.nested, name, '/')
}

// match reports whether the pattern matches a method.
func (m *methodPattern) match(name, descriptor string) bool {
	return glob.Match(m.name, name, '/') && (m.descriptor == "" || glob.Match(m.descriptor, descriptor, '/'))
}

// matchSource reports whether the pattern names, without a descriptor, the function that the compiler has made a method
// of: a lambda of the function, or the function itself under another name.
func (m *methodPattern) matchSource(class, name string) bool {
	if m.descriptor != "" {
		return false
	}
	s, ok := mapping.SourceOf(mapping.Identity{Class: class, Name: name})
	return ok && glob.Match(m.name, s.Name, '/')
}
