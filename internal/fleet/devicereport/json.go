package devicereport

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxDepth is how deep objects and arrays of a report may be nested. The schema needs 5.
	MaxDepth = 16
	// MaxNumber is how many characters a number may have. The largest number that a device writes has 20 digits.
	MaxNumber = 40
)

// object is a JSON object. A value is of one of the types object, []any, string, json.Number, and bool, or nil.
type object map[string]any

// parser reads one JSON text (RFC 8259). Package encoding/json accepts more than programs agree on: a name twice in one
// object, and half of a surrogate pair, which is no character. Its tokens took two thirds of the time of a collector.
type parser struct {
	text  string
	at    int    // of the next character
	large string // the first number that is larger than a 64-bit floating point number can be
}

// parseJSON reads a text that is one JSON value, with nothing but blanks around it. large is the first number that is
// too large for a 64-bit floating point number: RFC 8259 allows it, and most programs cannot read it. Numbers, names of
// members and strings share memory with the text.
func parseJSON(text string) (v any, large string, err error) {
	if !utf8.ValidString(text) {
		return nil, "", errors.New("not UTF-8")
	}
	p := &parser{text: text}
	if v, err = p.value(0); err != nil {
		return nil, "", err
	}
	if p.next(); p.at < len(text) {
		return nil, "", errors.New("more text behind the end of the value")
	}
	return v, p.large, nil
}

// next skips blanks and returns the character that follows; 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// skip skips blanks and a character, and reports whether it was there.
func (p *parser) skip(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

// unexpected is the error about the next character.
func (p *parser) unexpected() error {
	if p.at >= len(p.text) {
		return errors.New("the text ends within a value")
	}
	return fmt.Errorf("invalid character %q at byte %d", p.text[p.at], p.at+1)
}

// value reads the next value, at a depth of so many objects and arrays.
func (p *parser) value(depth int) (any, error) {
	switch c := p.next(); {
	case (c == '{' || c == '[') && depth == MaxDepth:
		return nil, fmt.Errorf("objects and arrays are nested deeper than %d", MaxDepth)
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		return p.string()
	}
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte(",]} \n\t\r", p.text[p.at]) < 0 {
		p.at++
	}
	switch word := p.text[begin:p.at]; {
	case word == "null":
		return nil, nil
	case word == "true" || word == "false":
		return word == "true", nil
	case len(word) > MaxNumber:
		return nil, fmt.Errorf("a number of %d characters; at most %d are read", len(word), MaxNumber)
	case !json.Valid([]byte(word)):
		if p.at < len(p.text) {
			p.at = begin
		}
		return nil, p.unexpected()
	default:
		if _, err := strconv.ParseFloat(word, 64); err != nil && p.large == "" {
			p.large = word
		}
		return json.Number(word), nil
	}
}

// array reads what follows the bracket.
func (p *parser) array(depth int) (any, error) {
	items := []any{}
	for p.at++; !p.skip(']'); {
		if len(items) > 0 && !p.skip(',') {
			return nil, p.unexpected()
		}
		item, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// object reads what follows the brace.
func (p *parser) object(depth int) (any, error) {
	v := object{}
	for p.at++; !p.skip('}'); {
		if len(v) > 0 && !p.skip(',') || p.next() != '"' {
			return nil, p.unexpected()
		}
		name, err := p.string()
		if err != nil {
			return nil, err
		}
		if _, twice := v[name]; twice {
			return nil, fmt.Errorf("the name %q is there twice in one object", short(name))
		}
		if !p.skip(':') {
			return nil, p.unexpected()
		}
		if v[name], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// string reads the string whose quote is the next character.
func (p *parser) string() (string, error) {
	begin, escapes := p.at, false
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			escapes = true
			p.at++
		case c < ' ':
			return "", p.unexpected()
		case c == '"':
			p.at++
			if escapes {
				return unescape(p.text[begin:p.at])
			}
			return p.text[begin+1 : p.at-1], nil
		}
	}
	return "", p.unexpected()
}

// unescape returns the content of a quoted string. Package encoding/json replaces half of a surrogate pair, which is an
// error here.
func unescape(quoted string) (s string, err error) {
	err = json.Unmarshal([]byte(quoted), &s)
	if strings.ContainsRune(s, utf8.RuneError) && (strings.Contains(quoted, `\ud`) || strings.Contains(quoted, `\uD`)) {
		return "", fmt.Errorf("half of a surrogate pair in %q", short(s))
	}
	return s, err
}

// short cuts a text for a message.
func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
