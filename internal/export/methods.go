package export

import (
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// methodKey is a method of one recording, with marks if the format shows marks as a part of the name.
type methodKey struct {
	method trace.Method
	marks  trace.Marks
}

// method is a method of the whole export.
type method struct {
	trace.Name
	// label is what it is shown as, and different for each method.
	label string
	marks trace.Marks
}

// text is the label with the marks behind it.
func (f *method) text() string {
	if m := marksText(f.marks); m != "" {
		return f.label + " [" + m + "]"
	}
	return f.label
}

// methods numbers methods over all recordings of an export: one that has the same name in two is one.
type methods struct {
	list  []method
	index map[identity]int32
	owner map[string]identity // whose a label is
}

// identity is what makes methods of different recordings one.
type identity struct {
	class, method, descriptor string
	marks                     trace.Marks
}

func newMethods() *methods {
	return &methods{index: map[identity]int32{}, owner: map[string]identity{}}
}

// of returns the number of a method of a recording. Marks that are not shown are left out.
func (f *methods) of(r *recording, m trace.Method, marks trace.Marks) int32 {
	key := methodKey{m, marks & shown}
	if k, ok := r.methods[key]; ok {
		return k
	}
	name, _ := r.Names.Name(m)
	id := identity{name.Class, name.Method, name.Descriptor, key.marks}
	k, ok := f.index[id]
	if !ok {
		k = int32(len(f.list))
		f.index[id] = k
		f.list = append(f.list, method{name, f.label(name), key.marks})
	}
	r.methods[key] = k
	return k
}

// label is a method's short name if it is the first that has it; the next ones' have their parameters.
func (f *methods) label(name trace.Name) string {
	who := identity{class: name.Class, method: name.Method, descriptor: name.Descriptor}
	label := clean(name.String())
	for n := 1; ; n++ {
		if o, taken := f.owner[label]; !taken || o == who {
			f.owner[label] = who
			return label
		}
		label = clean(name.String()) + parameters(name.Descriptor)
		if n > 1 {
			label += "~" + strconv.Itoa(n)
		}
	}
}

// clean makes a name one line of valid UTF-8.
func clean(s string) string {
	if s == "" {
		return "(no name)"
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, s)
}

// parameters returns a descriptor's parameter types in Java's notation, classes without their packages; nothing if it
// is not known.
func parameters(descriptor string) string {
	if descriptor == "" {
		return ""
	}
	end := strings.LastIndexByte(descriptor, ')')
	if end < 1 || descriptor[0] != '(' {
		return clean("(" + descriptor + ")")
	}
	var types []string
	for rest := descriptor[1:end]; rest != ""; {
		dimensions := len(rest) - len(strings.TrimLeft(rest, "["))
		rest = rest[dimensions:]
		if rest == "" {
			break
		}
		name, length := rest[:1], 1
		if rest[0] == 'L' {
			if length = strings.IndexByte(rest, ';') + 1; length == 0 {
				length = len(rest)
			}
			name = strings.TrimSuffix(rest[1:length], ";")
			name = name[strings.LastIndexByte(name, '/')+1:]
		} else if p, ok := primitives[rest[0]]; ok {
			name = p
		}
		types = append(types, name+strings.Repeat("[]", dimensions))
		rest = rest[length:]
	}
	return clean("(" + strings.Join(types, ", ") + ")")
}

var primitives = map[byte]string{
	'B': "byte", 'C': "char", 'D': "double", 'F': "float", 'I': "int", 'J': "long", 'S': "short", 'Z': "boolean",
	'V': "void",
}
