package analysis

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// residual translates what a device said in the names of its build: classes of handlers and callbacks, frames of
// stacks, owners of locks. Methods are never translated: the method mapping has original names. Without a mapping of
// R8 everything stays as it is.
type residual struct{ by *r8.Mapping }

// class translates a class with dots.
func (r residual) class(name string) string {
	if r.by == nil || name == "" {
		return printable(name)
	}
	original, ok := r.by.OriginalClass(classfile.EncodeMUTF8(strings.ReplaceAll(name, ".", "/")))
	if !ok {
		return printable(name)
	}
	return mapping.Text(original)
}

// holds is what stands between a thread and the lock that it holds.
const holds = " holds "

// owner translates the owner of a lock: "THREAD holds CLASS".
func (r residual) owner(text string) string {
	i := strings.LastIndex(text, holds)
	if i < 0 {
		return printable(text)
	}
	return printable(text[:i]) + holds + r.class(text[i+len(holds):])
}

// frames translates a stack, the innermost frame first. One frame may have stood for several.
func (r residual) frames(frames []string) []string {
	out := make([]string, 0, len(frames))
	if r.by == nil {
		for _, f := range frames {
			out = append(out, printable(f))
		}
		return out
	}
	stack := r.by.Stack()
	const at = "\tat "
	var line []byte
	for _, f := range frames {
		line = stack.AppendLine(line[:0], []byte(at+printable(f)+"\n"))
		for l := range strings.Lines(string(line)) {
			out = append(out, strings.TrimPrefix(strings.TrimRight(l, "\n"), at))
		}
	}
	return out
}
