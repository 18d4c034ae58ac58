package mapping

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/glob"
)

// Pattern selects entries of a mapping; see [ParsePattern]. It is immutable.
type Pattern struct {
	from, to uint32 // a range of IDs, if to is not 0
	expr     *regexp.Regexp
	// Globs in text form; "" matches anything. A name is a glob without wildcards.
	class, name, descriptor string
	// The literal beginning of class. Keys that do not begin with it cannot match.
	prefix string
	// dotted is the pattern if it may mean "class.method", else "".
	dotted string
	// blank is the pattern if its blanks may be part of a class name, else nil.
	blank *Pattern
}

// ParsePattern parses one of
//
//	17                              an ID
//	100-200                         all IDs from 100 to 200
//	com.example.Foo                 the methods of a class
//	com.example.Foo#bar             the methods of one name; also com.example.Foo.bar
//	com.example.Foo#bar(I)V         one method; without V, of any return type
//	com.example.**#get*(**)         a glob
//	com.example.Foo bar (I)V        as in a mapping file; parts may be missing
//	/\.(foo|bar)$/                  a regular expression (RE2), searched for in
//	                                "class method descriptor" as in the file
//
// Dots and slashes mean the same. In a glob '?' matches one character and '*' any number, but neither matches a dot;
// "**" also matches dots. As in the rules of package filter, a "**" between dots matches any number of packages, none
// included: com.**.Foo matches com.Foo. Rules have neither '?' nor "**" within a segment. Names are in text form; after
// a '#', characters that the text form escapes may be written literally, and blanks in a class as well: "My Api" is a
// class, or a method Api of a class My. A missing part, even the class before '#', matches anything. A name without a
// descriptor also matches what the compiler has made of the function of that name, see [SourceOf].
func ParsePattern(text string) (*Pattern, error) {
	if text == "" {
		return nil, errors.New("empty pattern; give an ID, a name, a glob or a /regular expression/")
	}
	if p, ok, err := parseIDs(text); ok || err != nil {
		return p, err
	}
	if len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/' {
		expr, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", text, err)
		}
		return &Pattern{expr: expr}, nil
	}
	p := &Pattern{}
	class, method, sharp := strings.Cut(text, "#")
	if sharp {
		p.class = class
		p.name, p.descriptor = cutDescriptor(method)
	} else {
		fields := strings.Fields(text)
		if len(fields) == 0 || len(fields) > 3 {
			return nil, fmt.Errorf("pattern %q: want class, method and descriptor; a space in a name is written %%20",
				text)
		}
		if len(fields) > 1 {
			var err error
			if p.blank, err = ParsePattern(strings.ReplaceAll(strings.TrimSpace(text), " ", "%20")); err != nil {
				return nil, err
			}
		}
		fields = append(fields, "", "")
		p.class, p.name, p.descriptor = fields[0], fields[1], fields[2]
		if p.name == "" {
			p.class, p.descriptor = cutDescriptor(p.class)
			if !strings.ContainsAny(p.class, "*?") {
				p.dotted = globText(p.class)
			}
		}
	}
	if strings.HasSuffix(p.descriptor, ")") {
		p.descriptor += "**"
	}
	p.class, p.name, p.descriptor = globText(p.class), globText(p.name), globText(p.descriptor)
	if p.dotted == "" {
		p.prefix = p.class
		if i := strings.IndexAny(p.class, "*?"); i >= 0 {
			p.prefix = p.class[:i]
		}
	} else if i := strings.LastIndexByte(p.dotted, '.'); i >= 0 {
		p.prefix = p.dotted[:i]
	}
	return p, nil
}

// parseIDs parses an ID or a range of IDs; ok is false if text is neither.
func parseIDs(text string) (p *Pattern, ok bool, err error) {
	first, last, ranged := strings.Cut(text, "-")
	const digits = "0123456789"
	if strings.Trim(first, digits) != "" || first == "" || strings.Trim(last, digits) != "" || ranged && last == "" {
		return nil, false, nil
	}
	if !ranged {
		last = first
	}
	from, err1 := strconv.ParseUint(first, 10, 32)
	to, err2 := strconv.ParseUint(last, 10, 32)
	if err1 != nil || err2 != nil || from < 1 || to > DispatchID {
		return nil, false, fmt.Errorf("pattern %s: IDs run from 1 to %d", text, DispatchID)
	}
	if from > to {
		return nil, false, fmt.Errorf("pattern %s: the range ends before it begins", text)
	}
	return &Pattern{from: uint32(from), to: uint32(to)}, true, nil
}

// cutDescriptor splits "bar(I)V" before its parenthesis.
func cutDescriptor(method string) (name, descriptor string) {
	if i := strings.IndexByte(method, '('); i >= 0 {
		return method[:i], method[i:]
	}
	return method, ""
}

// globText converts what a user typed, UTF-8 that may contain escapes, to text form. It does not change wildcards.
func globText(typed string) string {
	var text []byte
	for _, r := range typed {
		if r == '%' || r == '.' {
			text = append(text, byte(r))
			continue
		}
		text = appendText(text, classfile.EncodeMUTF8(string(r)))
	}
	return string(text)
}

// Find yields the entries that p matches: the living methods by ID, then the dispatch, then the retired methods by
// ID.
func (m *Mapping) Find(p *Pattern) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		last := dispatch()
		if p.exact() {
			// One look-up instead of a scan, because callers may look up many methods.
			key := p.class + " " + p.name + " " + p.descriptor
			i := m.find(key)
			if i >= 0 && i < m.living && !yield(m.entryAt(i)) {
				return
			}
			if key == dispatchKey && !yield(last.entry(false)) {
				return
			}
			if i >= m.living {
				yield(m.entryAt(i))
			}
			return
		}
		var buf []byte
		for n, part := range [][2]int{{0, m.living}, {m.living, m.size()}} {
			for i := m.seek(part[0], part[1], p.from); i < part[1] && (!p.ByID() || m.id(i) <= p.to); i++ {
				if (p.ByID() || p.match(m.key(i, &buf))) && !yield(m.entryAt(i)) {
					return
				}
			}
			isDispatch := p.to == DispatchID || !p.ByID() && p.match(dispatchKey)
			if n == 0 && isDispatch && !yield(last.entry(false)) {
				return
			}
		}
	}
}

// exact reports whether p matches at most one identity.
func (p *Pattern) exact() bool {
	return !p.ByID() && p.expr == nil && p.blank == nil && p.class != "" && p.name != "" && p.descriptor != "" &&
		!strings.ContainsAny(p.class+p.name+p.descriptor, "*?")
}

// match reports whether p matches the method with the key.
func (p *Pattern) match(key string) bool {
	if p.blank != nil && p.blank.match(key) {
		return true
	}
	if !strings.HasPrefix(key, p.prefix) {
		return false
	}
	if p.expr != nil {
		return p.expr.MatchString(key)
	}
	class, name, descriptor := split(key)
	if p.descriptor != "" && !glob.Match(p.descriptor, descriptor, '.') {
		return false
	}
	if p.isDotted(class, name) || p.matchNames(class, name) {
		return true
	}
	if p.descriptor != "" || p.name == "" && p.dotted == "" {
		return false
	}
	s, ok := SourceOf(Identity{Class: class, Name: name})
	return ok && (p.isDotted(s.Class, s.Name) || p.name != "" && p.matchNames(s.Class, s.Name))
}

// isDotted reports whether p is "class.method".
func (p *Pattern) isDotted(class, method string) bool {
	n := len(class)
	return p.dotted != "" && len(p.dotted) == n+1+len(method) &&
		p.dotted[n] == '.' && p.dotted[:n] == class && p.dotted[n+1:] == method
}

func (p *Pattern) matchNames(class, method string) bool {
	return (p.name == "" || glob.Match(p.name, method, '.')) && (p.class == "" || glob.Match(p.class, class, '.'))
}
