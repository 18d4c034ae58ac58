package r8

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Mapping says what the names and lines of a shrunk program were before. It is
// immutable. The zero value is an empty mapping, with which every name is its
// own original.
type Mapping struct {
	classes    []class
	byResidual map[string]int32 // into classes
	byOriginal map[string]int32
	sources    map[string]string // source file of an original class
	unknown    string
}

// class is what the file says of one class. All names are as in the file.
type class struct {
	original, residual string
	synthesized        bool
	methods            []line // sorted by residual name, else in the file's order
}

// line is one line on a method.
type line struct {
	signature    string // "int other.Class.foo(int,a.b[])", as in the file
	residual     string // the method's name in the shrunk program
	from, to     int32  // residual lines, -1 if there are none
	first, last  int32  // original lines, likewise
	number       bool   // the original lines are one number: that of a caller
	name, qualif uint16 // where in signature the name begins; if it is qualified, the class does
	info         *info  // nil if there are no comments
}

// info is what comments say of a line.
type info struct {
	residual    string // descriptor with dots, "" if not said
	synthesized bool
	outline     bool
	rewrites    []rewrite
	callsite    map[int32]int32 // lines of an outline to lines of the method
}

// rewrite says to leave out inner frames when one of some classes was thrown.
type rewrite struct {
	thrown []string // residual classes; all must hold, so that two never do
	remove int
}

// returns gives the return type.
func (l *line) returns() string { return l.signature[:strings.IndexByte(l.signature, ' ')] }

// method gives the name.
func (l *line) method() string {
	return l.signature[l.name:strings.LastIndexByte(l.signature, '(')]
}

// arguments gives what stands between the parentheses.
func (l *line) arguments() string {
	return l.signature[strings.LastIndexByte(l.signature, '(')+1 : len(l.signature)-1]
}

// class gives the original class, which is that of c if the line does not say.
func (l *line) class(c *class) string {
	if l.qualif == 0 {
		return c.original
	}
	return l.signature[l.qualif : l.name-1]
}

func (l *line) ranged() bool { return l.from >= 0 }

// contains reports whether a residual line belongs to l.
func (l *line) contains(at int32) bool { return l.ranged() && l.from <= at && at <= l.to }

// sameRange reports whether two lines are frames of one stack of inlined ones.
func (l *line) sameRange(m *line) bool { return l.ranged() && l.from == m.from && l.to == m.to }

// synthesized reports whether no such method was in the program before.
func (l *line) synthesized() bool { return l.info != nil && (l.info.synthesized || l.info.outline) }

// Load reads the mapping file at path; for errors see [Parse].
func Load(path string) (*Mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read R8 mapping: %w; give the mapping.txt that R8 or ProGuard wrote", err)
	}
	defer f.Close()
	return Parse(path, f)
}

// UnknownVersion gives the map version that the file claims and this package
// does not know, or "". Then only names, lines and source files were read, as by
// R8, and frames that the compiler made up are not taken out.
func (m *Mapping) UnknownVersion() string { return m.unknown }

// OriginalClass gives the original of a residual class. ok is false if the
// mapping does not list it; it then has the name that it always had.
func (m *Mapping) OriginalClass(residual string) (original string, ok bool) {
	name := fileName(residual)
	if i, ok := m.byResidual[name]; ok {
		return rawName(m.classes[i].original), true
	}
	return residual, false
}

// ResidualClass gives the residual name of an original class. ok is false if the
// mapping does not list it: it has kept its name, or it is gone, perhaps merged
// into another.
func (m *Mapping) ResidualClass(original string) (residual string, ok bool) {
	name := fileName(original)
	if i, ok := m.byOriginal[name]; ok {
		return rawName(m.classes[i].residual), true
	}
	return original, false
}

// originalDescriptor translates the classes in a residual descriptor, that of a
// method or a field.
func (m *Mapping) originalDescriptor(residual string) string {
	return rawName(renamed(fileName(residual), m.original))
}

// original gives the original of a residual class in the form of the file.
func (m *Mapping) original(residual string) string {
	if i, ok := m.byResidual[residual]; ok {
		return m.classes[i].original
	}
	return residual
}

// residual gives the residual name of an original class in the form of the file.
func (m *Mapping) residual(original string) string {
	if i, ok := m.byOriginal[original]; ok {
		return m.classes[i].residual
	}
	return original
}

// find gives the class with a residual name in the form of the file, or nil.
func (m *Mapping) find(residual string) *class {
	if i, ok := m.byResidual[residual]; ok {
		return &m.classes[i]
	}
	return nil
}

// named gives the lines on methods with a residual name, in the file's order.
func (c *class) named(residual string) []line {
	byName := func(l line, name string) int { return strings.Compare(l.residual, name) }
	from, _ := slices.BinarySearchFunc(c.methods, residual, byName)
	to := from
	for to < len(c.methods) && c.methods[to].residual == residual {
		to++
	}
	return c.methods[from:to]
}

// newMapping makes the indexes over classes, in which the later of two with one
// residual name counts.
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
