// Package resolve finds the names of what recordings, and stacks of all threads, have numbers and residual names for.
//
// A recording has the digest of its mapping. [Mappings] finds that mapping, refuses another one ([MismatchError]), and
// returns [Names]. An ID that is not in the mapping is shown as "#4711". [Names.Method] returns a [Method], which is
// the same in every build, [ParseMessage] reads the description of a message, and [Residual] restores what R8 has
// renamed in texts of a device.
package resolve

import (
	"strings"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
	"github.com/tracegen/tracegen/trace"
)

// Names has the names of the methods of one build. It implements [trace.Names]. It is not safe for several goroutines.
type Names struct {
	mapping *mapping.Mapping // nil if there is none
	lines   *mapping.Lines   // likewise
	r8      *r8.Mapping      // likewise
	other   trace.Names      // where names come from without a mapping; nil for none
	known   map[trace.Method]trace.Name
	unknown map[trace.Method]bool
	// suffixes are those that were asked for; overloads and sources decide about labels, nil until then.
	suffixes  map[trace.Method]string
	byName    map[uint64]trace.Method // see [FrameNames.Find]; nil until it is needed
	overloads overloads
	sources   sourceLabels
}

// NewNames returns the names of a mapping, with the places of a table of source lines; either may be nil.
func NewNames(m *mapping.Mapping, lines *mapping.Lines) *Names {
	return &Names{mapping: m, lines: lines, known: map[trace.Method]trace.Name{}, unknown: map[trace.Method]bool{},
		suffixes: map[trace.Method]string{}}
}

// NamesBy returns the names that another source has.
func NamesBy(other trace.Names) *Names {
	n := NewNames(nil, nil)
	n.other = other
	return n
}

// Mapping returns the mapping that the names are of; nil if there is none.
func (n *Names) Mapping() *mapping.Mapping { return n.mapping }

// R8 returns the mapping of R8 of the build; nil if there is none.
func (n *Names) R8() *r8.Mapping { return n.r8 }

// Named introduces a method that the recording names by itself.
func (n *Names) Named(m trace.Method, name string) {
	n.known[m] = trace.ParseName(Printable(name))
}

// Forget forgets what a recording named by itself.
func (n *Names) Forget() {
	for m := range n.known {
		if m >= trace.FirstNamed {
			delete(n.known, m)
		}
	}
}

// Name implements [trace.Names]. Class and method are in the text form of package mapping.
func (n *Names) Name(m trace.Method) (trace.Name, bool) {
	if name, ok := n.known[m]; ok {
		return name, true
	}
	if n.unknown[m] {
		return trace.NoNames{}.Name(m)
	}
	name, ok := trace.NoNames{}.Name(m)
	if n.other != nil {
		name, ok = n.other.Name(m)
	}
	if n.mapping != nil {
		if e, found := n.mapping.ByID(uint32(m)); found && m < trace.FirstNamed {
			name, ok = n.entry(e), true
		}
	}
	if ok {
		n.known[m] = name
	} else {
		n.unknown[m] = true
	}
	return name, ok
}

// Glue reports whether a method is of Kotlin's library, or of a class of a lambda and made by the compiler.
func (n *Names) Glue(m trace.Method) bool {
	name, _ := n.Name(m)
	switch {
	case strings.HasPrefix(name.Class, "kotlin."), strings.HasPrefix(name.Class, "kotlinx.coroutines."):
		return true
	case name.Method == "create":
		return strings.HasSuffix(name.Descriptor, ")Lkotlin/coroutines/Continuation;")
	case name.Method == "invoke":
		last := name.Class[strings.LastIndexByte(name.Class, '$')+1:]
		return last != "" && last[0] >= '0' && last[0] <= '9'
	}
	return false
}

// Unknown returns how many IDs were asked for that have no name.
func (n *Names) Unknown() int { return len(n.unknown) }

func (n *Names) entry(e mapping.Entry) trace.Name {
	name := trace.Name{Class: mapping.Text(e.Class), Method: mapping.Text(e.Name), Descriptor: e.Descriptor}
	if n.lines != nil {
		if l, ok := n.lines.ByID(e.ID); ok {
			name.File, name.Line = Printable(l.Source), l.First
		}
	}
	return name
}

// Printable takes out of a device's or a file's text what would command a terminal or break a line.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\uFFFD'
		}
		return r
	}, s)
}
