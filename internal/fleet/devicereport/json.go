package devicereport

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// MaxDepth is how deep objects and arrays of a report may be nested. The schema needs 5.
	MaxDepth = 16
	// MaxNumber is how many characters a number may have. The largest number that a device writes has 20 digits.
	MaxNumber = 40
)

// kind is the type of a JSON value.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindArray
	kindObject
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

// value is a JSON value. text has a string decoded and a number as it was written.
type value struct {
	kind    kind
	truth   bool
	text    string
	items   []value
	members []member
}

// member is a name of an object with its value.
type member struct {
	name string
	value
}

// find returns the member of that name, or nil. Null counts as absent.
func (v *value) find(name string) *value {
	for i := range v.members {
		if v.members[i].name == name && v.members[i].kind != kindNull {
			return &v.members[i].value
		}
	}
	return nil
}

// parser reads one JSON text.
type parser struct {
	text  string
	at    int
	depth int
	large string // the first number that is larger than a 64-bit floating point number can be
	// only has the names of the members of the outermost object that are kept; if it is nil, all are. The others are read
	// and forgotten, so that a long text takes no memory.
	only []string
}

// parseJSON reads a text that is one JSON value, with nothing but blanks around it. large is the first number that is
// too large for a 64-bit floating point number: RFC 8259 allows it, and most programs cannot read it.
func parseJSON(text string) (v value, large string, err error) {
	if at := invalidUTF8(text); at >= 0 {
		return value{}, "", fmt.Errorf("byte %d: not UTF-8", at)
	}
	p := &parser{text: text}
	v, err = p.whole()
	return v, p.large, err
}

// whole reads all of the text, which is one value.
func (p *parser) whole() (v value, err error) {
	if v, err = p.value(); err == nil {
		if p.blanks(); p.at < len(p.text) {
			err = errors.New("more text behind the end of the value")
		}
	}
	if err != nil {
		return value{}, fmt.Errorf("byte %d: %w", p.at, err)
	}
	return v, nil
}

// invalidUTF8 returns the offset of the first byte that is not part of a character, -1 for none.
func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

func (p *parser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next returns the byte after blanks, 0 at the end.
func (p *parser) next() byte {
	if p.blanks(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

var errEnd = errors.New("the text ends within a value")

// literals are the values that are words.
var literals = [...]member{{"true", value{kind: kindBool, truth: true}}, {"false", value{kind: kindBool}},
	{"null", value{}}}

func (p *parser) value() (v value, err error) {
	switch c := p.next(); {
	case c == '{' || c == '[':
		if p.depth++; p.depth > MaxDepth {
			return v, fmt.Errorf("objects and arrays are nested deeper than %d", MaxDepth)
		}
		p.at++
		if c == '{' {
			v, err = p.object()
		} else {
			v, err = p.array()
		}
		p.depth--
		return v, err
	case c == '"':
		text, err := p.quoted()
		return value{kind: kindText, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 0 && p.at == len(p.text):
		return v, errEnd
	}
	for _, w := range literals {
		if strings.HasPrefix(p.text[p.at:], w.name) {
			p.at += len(w.name)
			return w.value, nil
		}
	}
	return v, fmt.Errorf("%q is no JSON value", p.text[p.at])
}

// object reads what follows the brace.
func (p *parser) object() (value, error) {
	v := value{kind: kindObject}
	if p.next() == '}' {
		p.at++
		return v, nil
	}
	var many map[string]bool // the names of an object that has many
	for {
		if p.next() != '"' {
			return v, p.expected("a name in quotes")
		}
		name, err := p.quoted()
		if err != nil {
			return v, err
		}
		if len(v.members) == 16 && many == nil {
			many = map[string]bool{}
			for i := range v.members {
				many[v.members[i].name] = true
			}
		}
		if many[name] || many == nil && v.has(name) {
			return v, fmt.Errorf("the name %q is there twice in one object", short(name))
		}
		if many != nil {
			many[name] = true
		}
		if p.next() != ':' {
			return v, p.expected("a colon")
		}
		p.at++
		of, err := p.value()
		if err != nil {
			return v, err
		}
		if p.only == nil || p.depth == 1 && slices.Contains(p.only, name) {
			v.members = append(v.members, member{name, of})
		}
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return v, nil
		default:
			return v, p.expected("a comma or }")
		}
	}
}

func (v *value) has(name string) bool {
	for i := range v.members {
		if v.members[i].name == name {
			return true
		}
	}
	return false
}

// array reads what follows the bracket.
func (p *parser) array() (value, error) {
	v := value{kind: kindArray}
	if p.next() == ']' {
		p.at++
		return v, nil
	}
	for {
		item, err := p.value()
		if err != nil {
			return v, err
		}
		if p.only == nil {
			v.items = append(v.items, item)
		}
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return v, nil
		default:
			return v, p.expected("a comma or ]")
		}
	}
}

func (p *parser) expected(what string) error {
	if p.at >= len(p.text) {
		return errEnd
	}
	return fmt.Errorf("%q where %s is expected", p.text[p.at], what)
}

// number reads a number (RFC 8259, section 6).
func (p *parser) number() (value, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	is := func(of string) bool {
		if p.at < len(p.text) && strings.IndexByte(of, p.text[p.at]) >= 0 {
			p.at++
			return true
		}
		return false
	}
	is("-")
	zero := p.at
	good := digits() && (p.text[zero] != '0' || p.at == zero+1)
	if is(".") {
		good = digits() && good
	}
	exponent := is("eE")
	if exponent {
		is("+-")
		good = digits() && good
	}
	text := p.text[start:p.at]
	if !good {
		return value{}, fmt.Errorf("%q is no JSON number", short(text))
	}
	if len(text) > MaxNumber {
		return value{}, fmt.Errorf("a number of %d characters; at most %d are read", len(text), MaxNumber)
	}
	if exponent && p.large == "" {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			p.large = text
		}
	}
	return value{kind: kindNumber, text: text}, nil
}

// quoted reads a string (RFC 8259, section 7).
func (p *parser) quoted() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\\' && p.text[p.at] >= ' ' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '"' {
		text := p.text[start:p.at]
		p.at++
		return text, nil
	}
	out := []byte(p.text[start:p.at])
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return string(out), nil
		case c < ' ':
			return "", fmt.Errorf("the control character %q in a string", c)
		case c != '\\':
			out = append(out, c)
			p.at++
			continue
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, r)
	}
	return "", errEnd
}

// escape reads an escape sequence. Half of a surrogate pair is an error: it is no character.
func (p *parser) escape() (rune, error) {
	p.at++
	if p.at >= len(p.text) {
		return 0, errEnd
	}
	c := p.text[p.at]
	p.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, fmt.Errorf("the escape sequence \\%c", c)
	}
	r, err := p.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(p.text[p.at:], `\u`) {
		p.at += 2
		low, err := p.hex()
		if pair := utf16.DecodeRune(r, low); err != nil || pair != utf8.RuneError {
			return pair, err
		}
	}
	return 0, errors.New("half of a surrogate pair")
}

func (p *parser) hex() (rune, error) {
	if len(p.text)-p.at < 4 {
		return 0, errEnd
	}
	n, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 16)
	if err != nil {
		return 0, fmt.Errorf("the escape sequence \\u%q", p.text[p.at:p.at+4])
	}
	p.at += 4
	return rune(n), nil
}

// short cuts a text for a message.
func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
