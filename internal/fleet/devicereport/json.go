package devicereport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// parser reads one JSON text. Package encoding/json accepts more than programs agree on: a name twice in one object,
// and half of a surrogate pair, which is no character.
type parser struct {
	*json.Decoder
	text  string
	large string // the first number that is larger than a 64-bit floating point number can be
}

// parseJSON reads a text that is one JSON value, with nothing but blanks around it. large is the first number that is
// too large for a 64-bit floating point number: RFC 8259 allows it, and most programs cannot read it.
func parseJSON(text string) (v any, large string, err error) {
	if !utf8.ValidString(text) {
		return nil, "", errors.New("not UTF-8")
	}
	p := &parser{Decoder: json.NewDecoder(strings.NewReader(text)), text: text}
	p.UseNumber()
	if v, err = p.value(0); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the text ends within a value")
		}
		return nil, "", err
	}
	if _, err := p.Token(); !errors.Is(err, io.EOF) {
		return nil, "", errors.New("more text behind the end of the value")
	}
	return v, p.large, nil
}

// value reads the next value, at a depth of so many objects and arrays.
func (p *parser) value(depth int) (any, error) {
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if depth == MaxDepth {
			return nil, fmt.Errorf("objects and arrays are nested deeper than %d", MaxDepth)
		}
		if t == '{' {
			return p.object(depth + 1)
		}
		items := []any{}
		for p.More() {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		_, err = p.Token()
		return items, err
	case json.Number:
		if len(t) > MaxNumber {
			return nil, fmt.Errorf("a number of %d characters; at most %d are read", len(t), MaxNumber)
		}
		if _, err := strconv.ParseFloat(string(t), 64); err != nil && p.large == "" {
			p.large = string(t)
		}
	case string:
		return t, p.checkString(t)
	}
	return token, nil
}

// object reads what follows the brace.
func (p *parser) object(depth int) (any, error) {
	v := object{}
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string)
		if _, twice := v[name]; twice {
			return nil, fmt.Errorf("the name %q is there twice in one object", short(name))
		}
		if err := p.checkString(name); err != nil {
			return nil, err
		}
		if v[name], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := p.Token()
	return v, err
}

// checkString returns an error for a string with half of a surrogate pair, which the decoder has replaced.
func (p *parser) checkString(s string) error {
	if strings.ContainsRune(s, utf8.RuneError) && (strings.Contains(p.text, `\ud`) || strings.Contains(p.text, `\uD`)) {
		return fmt.Errorf("half of a surrogate pair in %q", short(s))
	}
	return nil
}

// short cuts a text for a message.
func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
