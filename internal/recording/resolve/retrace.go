package resolve

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Residual translates what a device said in the names of its build: classes of handlers and callbacks, frames of
// stacks, owners of locks. Methods are never translated: the method mapping has original names. Without a mapping of
// R8 everything stays as it is.
type Residual struct {
	// By is the mapping of R8, nil for none.
	By *r8.Mapping
	// Restored is set if stacks and texts have original names already.
	Restored bool
}

// Class translates a class with dots.
func (r Residual) Class(name string) string {
	if r.By == nil || name == "" {
		return Printable(name)
	}
	original, ok := r.By.OriginalClass(classfile.EncodeMUTF8(strings.ReplaceAll(name, ".", "/")))
	if !ok {
		return Printable(name)
	}
	return mapping.Text(original)
}

// Holds is what stands between a thread and the lock that it holds.
const Holds = " holds "

// Owner translates the owner of a lock: "THREAD holds CLASS".
func (r Residual) Owner(text string) string {
	i := strings.LastIndex(text, Holds)
	if i < 0 {
		return Printable(text)
	}
	return Printable(text[:i]) + Holds + r.Class(text[i+len(Holds):])
}

// Frames translates a stack, the innermost frame first. One frame may have stood for several.
func (r Residual) Frames(frames []string) []string {
	out := make([]string, 0, len(frames))
	var stack *r8.Stack
	if r.By != nil && !r.Restored {
		stack = r.By.Stack()
	}
	for _, f := range frames {
		if f = Printable(f); stack == nil {
			out = append(out, f)
		} else {
			out = append(out, stack.Frame(f)...)
		}
	}
	return out
}

// Text translates a text with stacks and locks, line by line.
func (r Residual) Text(text string) string {
	if r.By == nil || r.Restored {
		return text
	}
	stack := r.By.Stack()
	var out []byte
	for line := range strings.Lines(text) {
		out = stack.AppendLine(out, []byte(line))
	}
	return string(out)
}
