package r8

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/userfile"
)

// Mapping translates residual names and lines of a shrunk program to original ones. It is immutable. The zero value
// is an empty mapping, with which every name is its own original.
type Mapping struct {
	classes    []class
	byResidual map[string]int32 // into classes
	byOriginal map[string]int32
	sources    map[string]string // the source file of an original class
	unknown    string
}

// class is the section of one class. All names are as in the file.
type class struct {
	original, residual string
	methods            []line // sorted by residual name; those with the same name in the file's order
}

// line is one line about a method.
type line struct {
	signature    string // "int other.Class.foo(int,a.b[])", as in the file
	residual     string // the residual name of the method
	from, to     int32  // residual lines, both included; -1 if there are none
	first, last  int32  // original lines, both included; -1 if there are none
	number       bool   // the original lines are a single number: the line of an inlined call
	name, qualif uint16 // where the name begins in signature; where its class begins, 0 if there is none
	info         *info  // nil if there are no comments on the line
}

// info is the content of comments on a line.
type info struct {
	residual    string // the residual descriptor, with dots; "" if it is not written
	synthesized bool
	outline     bool
	rewrites    []rewrite
	callsite    map[int32]int32 // from lines of the outline to residual lines of the method
}

// rewrite is a rewriteFrame comment: leave out inner frames if a certain exception was thrown.
type rewrite struct {
	thrown []string // residual classes. All conditions must hold, so that two different classes never match
	remove int
}

// returns returns the return type.
func (l *line) returns() string { return l.signature[:strings.IndexByte(l.signature, ' ')] }

// method returns the original name.
func (l *line) method() string {
	return l.signature[l.name:strings.LastIndexByte(l.signature, '(')]
}

// arguments returns the text between the parentheses.
func (l *line) arguments() string {
	return l.signature[strings.LastIndexByte(l.signature, '(')+1 : len(l.signature)-1]
}

// class returns the original class; c is the class of the section.
func (l *line) class(c *class) string {
	if l.qualif == 0 {
		return c.original
	}
	return l.signature[l.qualif : l.name-1]
}

func (l *line) ranged() bool { return l.from >= 0 }

// contains reports whether a residual line is in the range of l.
func (l *line) contains(at int32) bool { return l.ranged() && l.from <= at && at <= l.to }

// sameRange reports whether two lines are part of the same stack of inlined methods.
func (l *line) sameRange(m *line) bool { return l.ranged() && l.from == m.from && l.to == m.to }

// synthesized reports whether a compiler made the method, so that it has no original.
func (l *line) synthesized() bool { return l.info != nil && (l.info.synthesized || l.info.outline) }

// Load reads the mapping file at path, which may be compressed with gzip; for errors see [Parse].
func Load(path string) (*Mapping, error) {
	text, err := userfile.ReadText(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("cannot read R8 mapping: %w; give the mapping.txt that R8 or ProGuard wrote", err)
	}
	return Parse(path, text)
}

// UnknownVersion returns the map version of the file if this package does not support it, else "". With an unknown
// version only names, lines and source files are read, as R8 does, and frames of compiler-made methods are not
// removed.
func (m *Mapping) UnknownVersion() string { return m.unknown }

// OriginalClass returns the original name of a residual class. ok is false if the mapping does not contain the class;
// its name did not change then.
func (m *Mapping) OriginalClass(residual string) (original string, ok bool) {
	name := fileName(residual)
	if i, ok := m.byResidual[name]; ok {
		return rawName(m.classes[i].original), true
	}
	return residual, false
}

// ResidualClass returns the residual name of an original class. ok is false if the mapping does not contain the
// class: its name did not change, or it was removed or merged into another class.
func (m *Mapping) ResidualClass(original string) (residual string, ok bool) {
	name := fileName(original)
	if i, ok := m.byOriginal[name]; ok {
		return rawName(m.classes[i].residual), true
	}
	return original, false
}

// originalDescriptor translates the classes in a residual descriptor of a method or field.
func (m *Mapping) originalDescriptor(residual string) string {
	return rawName(renamed(fileName(residual), m.original))
}

// original returns the original name of a residual class, both in the form of the file.
func (m *Mapping) original(residual string) string {
	if i, ok := m.byResidual[residual]; ok {
		return m.classes[i].original
	}
	return residual
}

// residual returns the residual name of an original class, both in the form of the file.
func (m *Mapping) residual(original string) string {
	if i, ok := m.byOriginal[original]; ok {
		return m.classes[i].residual
	}
	return original
}

// find returns the class with a residual name in the form of the file, or nil.
func (m *Mapping) find(residual string) *class {
	if i, ok := m.byResidual[residual]; ok {
		return &m.classes[i]
	}
	return nil
}

// named returns the lines about methods with a residual name, in the file's order.
func (c *class) named(residual string) []line {
	byName := func(l line, name string) int { return strings.Compare(l.residual, name) }
	from, _ := slices.BinarySearchFunc(c.methods, residual, byName)
	to := from
	for to < len(c.methods) && c.methods[to].residual == residual {
		to++
	}
	return c.methods[from:to]
}

// newMapping returns a mapping with indexes of the classes. Of two classes with the same residual name, the later one
// counts.
func newMapping(classes []class, sources map[string]string) *Mapping {
	m := &Mapping{
		classes:    classes,
		byResidual: make(map[string]int32, len(classes)),
		byOriginal: make(map[string]int32, len(classes)),
		sources:    sources,
	}
	for i := range classes {
		c := &classes[i]
		m.byResidual[c.residual] = int32(i)
		m.byOriginal[c.original] = int32(i)
		byName := func(a, b line) int { return cmp.Compare(a.residual, b.residual) }
		if !slices.IsSortedFunc(c.methods, byName) {
			slices.SortStableFunc(c.methods, byName)
		}
	}
	return m
}
