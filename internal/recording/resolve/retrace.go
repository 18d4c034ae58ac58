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
	if r.By == nil {
		for _, f := range frames {
			out = append(out, Printable(f))
		}
		return out
	}
	stack := r.By.Stack()
	const at = "\tat "
	var line []byte
	for _, f := range frames {
		line = stack.AppendLine(line[:0], []byte(at+Printable(f)+"\n"))
		for l := range strings.Lines(string(line)) {
			out = append(out, strings.TrimPrefix(strings.TrimRight(l, "\n"), at))
		}
	}
	return out
}
