package filter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// descriptorPattern is the part of a method pattern that begins with the parenthesis.
type descriptorPattern struct {
	params []typePattern
	more   bool   // any number of parameters may follow
	result string // the return descriptor, "" for any
}

// typePattern is the pattern of one parameter's type.
type typePattern struct {
	exact string // a field descriptor (JVMS 4.3.2); "" if any or class is the pattern
	any   bool
	class classPattern // with wildcards; of an array, the pattern of its element type
	dims  int          // array dimensions
}

// primitive returns the field descriptor (JVMS table 4.3-A) of a primitive type of Java; "" for any other name.
func primitive(name string) string {
	switch name {
	case "boolean":
		return "Z"
	case "byte":
		return "B"
	case "char":
		return "C"
	case "double":
		return "D"
	case "float":
		return "F"
	case "int":
		return "I"
	case "long":
		return "J"
	case "short":
		return "S"
	}
	return ""
}

// parseDescriptorPattern parses what follows the opening parenthesis.
func parseDescriptorPattern(s string) (*descriptorPattern, error) {
	inside, result, closed := strings.Cut(s, ")")
	if !closed {
		return nil, errors.New("the parenthesis is not closed")
	}
	d := &descriptorPattern{}
	if err := d.parseResult(result); err != nil {
		return nil, err
	}
	inside = strings.TrimSpace(inside)
	if inside == "" {
		return d, nil
	}
	if d.parseFields(strings.ReplaceAll(classfile.EncodeMUTF8(inside), ".", "/")) {
		return d, nil
	}
	params := strings.Split(inside, ",")
	for i, param := range params {
		param = strings.TrimSpace(param)
		if param == spanning {
			if i < len(params)-1 {
				return nil, errors.New("** for any number of parameters must come last")
			}
			d.more = true
			break
		}
		t, err := parseType(param)
		if err != nil {
			return nil, err
		}
		d.params = append(d.params, t)
	}
	return d, nil
}

func (d *descriptorPattern) parseResult(s string) error {
	result := strings.ReplaceAll(classfile.EncodeMUTF8(s), ".", "/")
	if s == "" || s == "*" {
		return nil
	}
	if field, rest := cutField(result); result != "V" && (field == "" || rest != "" || strings.Contains(result, "*")) {
		return fmt.Errorf("%q is not a return descriptor, such as V, I or Ljava/lang/String;", s)
	}
	d.result = unescaped(result)
	return nil
}

// parseFields reads parameters in the JVM's form. It returns false if s is not in that form.
func (d *descriptorPattern) parseFields(s string) bool {
	var params []typePattern
	for s != "" {
		field, rest := cutField(s)
		if field == "" || strings.ContainsAny(field, "*, ") {
			return false
		}
		params = append(params, typePattern{exact: unescaped(field)})
		s = rest
	}
	d.params = params
	return true
}

// parseType reads one parameter in Java's form.
func parseType(s string) (typePattern, error) {
	element := strings.TrimRight(s, "[] ")
	dims := strings.ReplaceAll(s[len(element):], " ", "")
	if dims != strings.Repeat("[]", len(dims)/2) {
		return typePattern{}, fmt.Errorf("parameter %q: write an array as TYPE[]", s)
	}
	if element == "*" && dims == "" {
		return typePattern{any: true}, nil
	}
	prefix := strings.Repeat("[", len(dims)/2)
	if p := primitive(element); p != "" {
		return typePattern{exact: prefix + p}, nil
	}
	class, err := parseClassPattern(element, false)
	if err != nil {
		return typePattern{}, fmt.Errorf("parameter %q: %w", s, err)
	}
	if class.glob == class.head {
		return typePattern{exact: prefix + "L" + class.glob + ";"}, nil
	}
	return typePattern{class: class, dims: len(prefix)}, nil
}

func (d *descriptorPattern) match(descriptor string) bool {
	rest, ok := strings.CutPrefix(descriptor, "(")
	for i := range d.params {
		var field string
		if field, rest = cutField(rest); field == "" || !d.params[i].match(field) {
			return false
		}
	}
	for d.more && ok && !strings.HasPrefix(rest, ")") {
		var field string
		field, rest = cutField(rest)
		ok = field != ""
	}
	result, closed := strings.CutPrefix(rest, ")")
	return ok && closed && (d.result == "" || d.result == result)
}

func (t *typePattern) match(field string) bool {
	if t.any || t.exact != "" {
		return t.any || t.exact == field
	}
	element := strings.TrimLeft(field, "[")
	if len(field)-len(element) != t.dims || element[0] != 'L' {
		return false
	}
	return t.class.match(element[1 : len(element)-1])
}

// cutField cuts the first field descriptor (JVMS 4.3.2) off s. field is "" if s does not begin with one.
func cutField(s string) (field, rest string) {
	i := 0
	for i < len(s) && s[i] == '[' {
		i++
	}
	if i == len(s) || i > 255 {
		return "", s
	}
	switch s[i] {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z':
		return s[:i+1], s[i+1:]
	case 'L':
		if end := strings.IndexByte(s[i:], ';'); end > 1 {
			return s[:i+end+1], s[i+end+1:]
		}
	}
	return "", s
}
