package devicereport

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/jsonlite"
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

// parser reads one JSON text. It checks the order of the tokens; package jsonlite finds them, and decodes strings.
type parser struct {
	tokens *jsonlite.Tokenizer
	depth  int
	large  string // the first number that is larger than a 64-bit floating point number can be
	// only has the names of the members of the outermost object that are kept; if it is nil, all are. The others are read
	// and forgotten, so that a long text takes no memory.
	only []string
}

var errEnd = errors.New("the text ends within a value")

// parseJSON reads a text that is one JSON value, with nothing but blanks around it. only is as in [parser]. large is
// the first number that is too large for a 64-bit floating point number: RFC 8259 allows it, and most programs cannot
// read it.
func parseJSON(text string, only []string) (v value, large string, err error) {
	if !utf8.ValidString(text) {
		return value{}, "", errors.New("not UTF-8")
	}
	p := &parser{tokens: jsonlite.Tokenize(text), only: only}
	token, err := p.next()
	if err == nil {
		v, err = p.value(token)
	}
	if err != nil {
		return value{}, "", err
	}
	if _, more := p.tokens.Next(); more {
		return value{}, "", errors.New("more text behind the end of the value")
	}
	return v, p.large, nil
}

// next returns the next token, which is not empty.
func (p *parser) next() (string, error) {
	token, ok := p.tokens.Next()
	if !ok {
		return "", errEnd
	}
	return token, nil
}

// value reads the value that begins with a token.
func (p *parser) value(token string) (v value, err error) {
	switch token {
	case "null":
		return value{}, nil
	case "true", "false":
		return value{kind: kindBool, truth: token == "true"}, nil
	case "{", "[":
		if p.depth++; p.depth > MaxDepth {
			return v, fmt.Errorf("objects and arrays are nested deeper than %d", MaxDepth)
		}
		if token == "{" {
			v, err = p.object()
		} else {
			v, err = p.array()
		}
		p.depth--
		return v, err
	}
	switch c := token[0]; {
	case c == '"':
		text, err := quoted(token)
		return value{kind: kindText, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number(token)
	}
	return v, fmt.Errorf("%q is no JSON value", short(token))
}

// quoted decodes a string. Half of a surrogate pair is an error: it is no character.
func quoted(token string) (string, error) {
	if token[0] != '"' {
		return "", fmt.Errorf("%q where a name in quotes is expected", short(token))
	}
	if len(token) == 1 || token[len(token)-1] != '"' {
		return "", errEnd
	}
	return jsonlite.Unquote(token)
}

// object reads what follows the brace.
func (p *parser) object() (value, error) {
	v := value{kind: kindObject}
	names := map[string]bool{}
	token, err := p.next()
	for ; err == nil && token != "}"; token, err = p.separated("}") {
		name, err := quoted(token)
		if err != nil {
			return v, err
		}
		kept := p.only == nil || p.depth == 1 && slices.Contains(p.only, name)
		if kept && names[name] {
			return v, fmt.Errorf("the name %q is there twice in one object", short(name))
		}
		if kept {
			names[name] = true
		}
		if token, err = p.next(); err == nil && token != ":" {
			err = fmt.Errorf("%q where a colon is expected", short(token))
		}
		if err != nil {
			return v, err
		}
		if token, err = p.next(); err != nil {
			return v, err
		}
		of, err := p.value(token)
		if err != nil {
			return v, err
		}
		if kept {
			v.members = append(v.members, member{name, of})
		}
	}
	return v, err
}

// array reads what follows the bracket.
func (p *parser) array() (value, error) {
	v := value{kind: kindArray}
	token, err := p.next()
	for ; err == nil && token != "]"; token, err = p.separated("]") {
		item, err := p.value(token)
		if err != nil {
			return v, err
		}
		if p.only == nil {
			v.items = append(v.items, item)
		}
	}
	return v, err
}

// separated reads what follows an item: a comma and the first token of the next item, which it returns, or the end.
func (p *parser) separated(end string) (string, error) {
	token, err := p.next()
	if err != nil || token == end {
		return token, err
	}
	if token != "," {
		return "", fmt.Errorf("%q where a comma or %s is expected", short(token), end)
	}
	if token, err = p.next(); err == nil && token == end {
		err = fmt.Errorf("%q after a comma", end)
	}
	return token, err
}

// number checks a number (RFC 8259, section 6).
func (p *parser) number(text string) (value, error) {
	if !jsonlite.Valid(text) {
		return value{}, fmt.Errorf("%q is no JSON number", short(text))
	}
	if len(text) > MaxNumber {
		return value{}, fmt.Errorf("a number of %d characters; at most %d are read", len(text), MaxNumber)
	}
	if p.large == "" && strings.ContainsAny(text, "eE") {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			p.large = text
		}
	}
	return value{kind: kindNumber, text: text}, nil
}

// short cuts a text for a message.
func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
