package export

import (
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// methodKey is a method of one recording, with what is shown as a part of its name: marks in some formats, and whether
// only samples show its calls.
type methodKey struct {
	method    trace.Method
	marks     trace.Marks
	estimated bool
}

// method is a method of the whole export.
type method struct {
	trace.Name
	// label is what it is shown as, and different for each method.
	label     string
	marks     trace.Marks
	estimated bool
}

// text is the label with the marks behind it.
func (f *method) text() string {
	if f.estimated {
		return f.label + " [estimated]"
	}
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
	estimated                 bool
}

func newMethods() *methods {
	return &methods{index: map[identity]int32{}, owner: map[string]identity{}}
}

// of returns the number of a method of a recording. Marks that are not shown are left out.
func (f *methods) of(r *recording, m trace.Method, marks trace.Marks) int32 {
	return f.find(r, methodKey{m, marks & shown, false})
}

// node returns the number of the method of a node of a grafted tree.
func (f *methods) node(r *recording, n *evidence.Node) int32 {
	return f.find(r, methodKey{n.Method, 0, n.Grafted.Estimated})
}

// text returns the number of something that is no method and is shown like one.
func (f *methods) text(name string) int32 {
	id := identity{method: name}
	k, ok := f.index[id]
	if !ok {
		k = int32(len(f.list))
		f.index[id] = k
		f.list = append(f.list, method{Name: trace.Name{Method: name}, label: f.label(trace.Name{Method: name}, name)})
	}
	return k
}

func (f *methods) find(r *recording, key methodKey) int32 {
	if k, ok := r.methods[key]; ok {
		return k
	}
	name, _ := r.Names.Name(key.method)
	id := identity{name.Class, name.Method, name.Descriptor, key.marks, key.estimated}
	k, ok := f.index[id]
	if !ok {
		k = int32(len(f.list))
		f.index[id] = k
		f.list = append(f.list, method{name, f.label(name, r.Names.Label(key.method)), key.marks, key.estimated})
	}
	r.methods[key] = k
	return k
}

// label is what package analysis calls a method. If another method has that label, in a recording of another build or
// without a mapping, its parameters are behind it.
func (f *methods) label(name trace.Name, label string) string {
	who := identity{class: name.Class, method: name.Method, descriptor: name.Descriptor}
	label = clean(label)
	for n := 1; ; n++ {
		if o, taken := f.owner[label]; !taken || o == who {
			f.owner[label] = who
			return label
		}
		label = clean(name.String() + resolve.Parameters(name.Descriptor))
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
