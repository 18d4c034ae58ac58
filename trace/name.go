package trace

import (
	"strconv"
	"strings"
)

// Name is the name of a method in the source.
type Name struct {
	// Class and Method are as in Java, with dots; Descriptor is as in the class file (JVMS 4.3.3), and empty if
	// it is not known.
	Class, Method, Descriptor string
	// File is the source file's name without a directory, Line its first line with code; empty and 0 if they
	// are not known.
	File string
	Line int
}

// String returns "Class.Method".
func (n Name) String() string {
	if n.Class == "" {
		return n.Method
	}
	return n.Class + "." + n.Method
}

// ParseName returns the name of a method that a text calls "Class.Method", or without a class.
func ParseName(text string) Name {
	if i := strings.LastIndexByte(text, '.'); i > 0 {
		return Name{Class: text[:i], Method: text[i+1:]}
	}
	return Name{Method: text}
}

// Names has the names of methods.
type Names interface {
	// Name returns the name of m. It is false if m is unknown; the name then has "#" and the ID for its Method.
	Name(m Method) (Name, bool)
}

// NoNames is the Names to use without a mapping: only the dispatch, [MethodNotRecorded] and
// [MethodSuspended] have a name.
type NoNames struct{}

// Name returns "#" and the ID, or the name of what has one without a mapping.
func (NoNames) Name(m Method) (Name, bool) {
	if m == MethodDispatch {
		return Name{Class: "android.os.Handler", Method: "dispatchMessage", Descriptor: "(Landroid/os/Message;)V"}, true
	}
	if m == MethodNotRecorded {
		return Name{Method: NameNotRecorded}, true
	}
	if m == MethodSuspended {
		return Name{Method: NameSuspended}, true
	}
	return Name{Method: "#" + strconv.FormatUint(uint64(m), 10)}, false
}
