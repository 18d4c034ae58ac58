package r8

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxSize is the size in bytes above which a file is not read: several times the size of the largest known file.
const maxSize = 1 << 30

// Parse reads a mapping file. name is the name of the file, for errors. The mapping keeps the text in memory. An
// error contains the file and, if it is about a line, the line's number, and says which text was expected.
func Parse(name, text string) (*Mapping, error) {
	p := &parser{sources: map[string]string{}, signatures: map[string]string{}}
	if err := p.parse(text); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.at, err)
	}
	m := newMapping(p.classes, p.sources)
	m.unknown = p.unknown
	return m, nil
}

// parser contains the lines that were read so far.
type parser struct {
	at         int // the number of the line
	classes    []class
	current    *class // nil before the first class, and after a version comment
	methods    []line // of the current class; finish copies them
	line       *line  // the method line that a comment belongs to; nil if there is none
	onField    bool   // a comment belongs to a field, and is ignored
	version    version
	unknown    string
	sources    map[string]string
	signatures map[string]string // signatures that had extra spaces, to share equal ones
}

func (p *parser) parse(text string) error {
	text = strings.TrimPrefix(text, "\ufeff")
	for len(text) > 0 {
		p.at++
		var raw string
		raw, text, _ = strings.Cut(text, "\n")
		t := strings.Trim(raw, " \t\r\f\v\ufeff")
		var err error
		switch {
		case t == "":
		case t[0] == '#':
			p.comment(t)
		case p.current == nil && t[len(t)-1] != ':':
			err = fmt.Errorf("%q: want a class, \"original -> residual:\"", clip(t))
		case strings.IndexByte(t, '/') >= 0 || strings.IndexByte(t, ';') >= 0:
			err = fmt.Errorf("%q: a name with '/' or ';', which no class file can have", clip(t))
		case t[len(t)-1] == ':':
			err = p.class(t[:len(t)-1])
		default:
			err = p.member(t)
		}
		if err != nil {
			return err
		}
	}
	p.finish()
	return nil
}

// clip shortens text that an error quotes.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

// cutArrow splits s at the arrow. If there is no arrow with spaces around it, the last arrow counts, because a name
// may end in '-'.
func cutArrow(s string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, " -> "); i >= 0 {
		return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+4:]), true
	}
	i := strings.LastIndex(s, "->")
	if i < 0 {
		return "", "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+2:]), true
}

// class begins a class, from "original -> residual".
func (p *parser) class(t string) error {
	original, residual, ok := cutArrow(t)
	if !ok || original == "" || residual == "" {
		return fmt.Errorf("%q: want a class, \"original -> residual:\"", clip(t+":"))
	}
	if len(p.classes) == math.MaxInt32 {
		return errors.New("too many classes: not an R8 mapping")
	}
	p.finish()
	p.classes = append(p.classes, class{original: original, residual: residual})
	p.current, p.line, p.onField = &p.classes[len(p.classes)-1], nil, false
	return nil
}

// finish ends the current class.
func (p *parser) finish() {
	if p.current != nil {
		p.current.methods = slices.Clone(p.methods)
	}
	p.methods = p.methods[:0]
	p.current, p.line, p.onField = nil, nil, false
}

// member reads a line about a field or a method:
//
//	[from:to:]type [class.]name[(types)][:first[:last]] -> residual
func (p *parser) member(t string) error {
	left, residual, ok := cutArrow(t)
	if !ok || residual == "" {
		return fmt.Errorf("%q: want a member, \"type name -> residual\", or a class that ends with ':'", clip(t))
	}
	l := line{residual: residual, from: -1, to: -1, first: -1, last: -1}
	rest, err := l.residualRange(left)
	if err != nil {
		return fmt.Errorf("%q: %w", clip(t), err)
	}
	space := strings.IndexByte(rest, ' ')
	if space <= 0 {
		return fmt.Errorf("%q: want a type and a name, with a space between", clip(t))
	}
	open := strings.IndexByte(rest, '(')
	if open < 0 {
		p.line, p.onField = nil, true // the names of fields are not needed
		return nil
	}
	end := strings.IndexByte(rest[open:], ')') + open
	if end < open || open < space {
		return fmt.Errorf("%q: want the method's arguments in parentheses", clip(t))
	}
	if err := l.originalRange(strings.TrimSpace(rest[end+1:])); err != nil {
		return fmt.Errorf("%q: %w", clip(t), err)
	}
	if l.signature, err = p.signature(rest[:end+1], space, open); err != nil {
		return fmt.Errorf("%q: %w", clip(t), err)
	}
	l.qualify()
	p.methods = append(p.methods, l)
	p.line, p.onField = &p.methods[len(p.methods)-1], false
	return nil
}

// signature returns "type name(types)" without unnecessary spaces. Nearly all signatures are already in this form,
// and are returned as views into the file.
func (p *parser) signature(s string, space, open int) (string, error) {
	if open == space+1 || open > math.MaxUint16 {
		return "", errors.New("the method's name is empty, or too long for a class file")
	}
	if s[space+1] != ' ' && s[open-1] != ' ' && !strings.Contains(s[open:], " ") {
		return s, nil
	}
	name := strings.TrimSpace(s[space:open])
	if name == "" {
		return "", errors.New("the method's name is empty")
	}
	args := strings.Split(s[open+1:len(s)-1], ",")
	for i := range args {
		args[i] = strings.TrimSpace(args[i])
	}
	clean := s[:space] + " " + name + "(" + strings.Join(args, ",") + ")"
	if seen, ok := p.signatures[clean]; ok {
		return seen, nil
	}
	p.signatures[clean] = clean
	return clean, nil
}

// qualify sets the positions of class and name in the signature.
func (l *line) qualify() {
	space := strings.IndexByte(l.signature, ' ')
	open := strings.LastIndexByte(l.signature, '(')
	l.name = uint16(space + 1)
	if dot := strings.LastIndexByte(l.signature[space+1:open], '.'); dot > 0 && space+1+dot+1 < open {
		l.qualif = uint16(space + 1)
		l.name = uint16(space + 1 + dot + 1)
	}
}

// residualRange reads "from:to:" off the front of s, if it is there.
func (l *line) residualRange(s string) (rest string, err error) {
	from, rest, ok, err := cutLine(s)
	if err != nil || !ok || !strings.HasPrefix(rest, ":") {
		return s, err // a name may begin with a digit
	}
	to, rest, ok, err := cutLine(strings.TrimSpace(rest[1:]))
	if err != nil {
		return s, err
	}
	if !ok || !strings.HasPrefix(rest, ":") {
		return s, errors.New("want two numbers, the residual lines, before the method")
	}
	l.from, l.to = ordered(from, to)
	return strings.TrimSpace(rest[1:]), nil
}

// originalRange reads ":first[:last]" after the method, if it is there.
func (l *line) originalRange(s string) error {
	if s == "" {
		return nil
	}
	bad := errors.New("want the original lines, \":first\" or \":first:last\", after the method")
	if s[0] != ':' {
		return bad
	}
	first, rest, ok, err := cutLine(strings.TrimSpace(s[1:]))
	if err != nil || !ok {
		return errors.Join(bad, err)
	}
	l.first, l.last, l.number = first, first, true
	if rest == "" {
		return nil
	}
	last, tail, ok, err := cutLine(strings.TrimSpace(rest[1:]))
	if err != nil || !ok || rest[0] != ':' || tail != "" {
		return errors.Join(bad, err)
	}
	l.first, l.last = ordered(first, last)
	l.number = false
	return nil
}

// ordered corrects a range that some versions of R8 wrote wrongly: with an end of 0 it is a single line, and any
// other end below the start was exchanged with the start.
func ordered(from, to int32) (int32, int32) {
	switch {
	case from <= to:
		return from, to
	case to == 0:
		return from, from
	}
	return to, from
}

// cutLine cuts a line number, and the spaces after it, off the front of s; ok is false if s does not begin with a
// digit.
func cutLine(s string) (n int32, rest string, ok bool, err error) {
	i, v := 0, int64(0)
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if v = v*10 + int64(s[i]-'0'); v > math.MaxInt32 {
			return 0, s, false, errors.New("a line number above 2147483647")
		}
	}
	return int32(v), strings.TrimLeft(s[i:], " \t"), i > 0, nil
}
