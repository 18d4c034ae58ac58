package resolve

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/trace"
)

// Method is a method by its name, which is the same in every build.
type Method struct {
	// Class and Name are in the text form of package mapping, Descriptor as in class files; empty if not known.
	Class      string `json:"class,omitempty"`
	Name       string `json:"name"`
	Descriptor string `json:"descriptor,omitempty"`
	// Label is what every format calls it if that is not its class and name; see [Names.Label].
	Label string `json:"label,omitempty"`
	// File and Line are where its code begins in the source.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// ID is that of the recording's mapping; 0 if the recording itself named the method. It means nothing in another
	// build.
	ID uint32 `json:"id,omitempty"`
	// Unresolved is set if the mapping does not have the ID: Name is "#" and the ID then.
	Unresolved bool `json:"unresolved,omitempty"`
}

// String returns the label, and the place in the source if it is known.
func (m Method) String() string {
	s := m.Title()
	if m.File != "" {
		s += " (" + m.File
		if m.Line > 0 {
			s += ":" + strconv.Itoa(m.Line)
		}
		s += ")"
	}
	return s
}

// Title returns the label, "Class.Name" for most.
func (m Method) Title() string { return cmp.Or(m.Label, m.Identity()) }

// Identity returns "Class.Name".
func (m Method) Identity() string {
	if m.Class == "" {
		return m.Name
	}
	return m.Class + "." + m.Name
}

// Source returns the name that the source has for code of coroutines. Kotlin compiles a suspend lambda of Feed.load to
// a class such as Feed$load$2, or Feed$load$job$1 if it is assigned to job. A method of Kotlin's own library is its
// name alone. All others are as [Method.String] writes them.
func (m Method) Source() string {
	switch {
	case strings.HasPrefix(m.Class, "kotlinx.coroutines."), strings.HasPrefix(m.Class, "kotlin."):
		name, _, _ := strings.Cut(m.Name, "$")
		return name
	case m.Name != "invokeSuspend":
		return m.String()
	}
	dot := strings.LastIndexByte(m.Class, '.') + 1
	parts := strings.Split(m.Class[dot:], "$")
	for i, part := range parts {
		if i > 0 && i+1 < len(parts) && part != "" && part[0] >= 'a' && part[0] <= 'z' {
			return fmt.Sprintf("%s%s.%s (lambda %s)", m.Class[:dot], strings.Join(parts[:i], "$"), part,
				strings.Join(parts[i+1:], "$"))
		}
	}
	return m.String()
}

// Pseudo reports whether it stands for no method, but for what was not recorded or for the time in which the process
// did not run.
func (m Method) Pseudo() bool {
	return m.Class == "" && (m.Name == trace.NameNotRecorded || m.Name == trace.NameSuspended)
}

// Key is what methods of several builds are compared by.
func (m Method) Key() Method {
	return Method{Class: m.Class, Name: m.Name, Descriptor: m.Descriptor, Unresolved: m.Unresolved}
}

// CompareMethods compares by class, name, descriptor and ID.
func CompareMethods(a, b Method) int {
	return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Descriptor, b.Descriptor),
		cmp.Compare(a.ID, b.ID))
}

// Method returns a method by its ID.
func (n *Names) Method(m trace.Method) Method {
	name, ok := n.Name(m)
	method := Method{Class: name.Class, Name: name.Method, Descriptor: name.Descriptor, File: name.File, Line: name.Line,
		Unresolved: !ok}
	if m < trace.FirstNamed {
		method.ID = uint32(m)
	}
	if label := n.Label(m); label != name.String() {
		method.Label = label
	}
	return method
}

// In reports whether a method is on a stack, as far as its name is known.
func (m Method) In(frames []string) bool {
	if m.Unresolved {
		return true
	}
	for _, f := range frames {
		if foreign.FrameMethod(f) == m.Identity() {
			return true
		}
	}
	return false
}
