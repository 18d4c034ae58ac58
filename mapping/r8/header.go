package r8

import (
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/frametext"
)

// withFrame returns the text with another frame in place of its own. If there are several frames, only the first one
// keeps a key before the frame.
func withFrame(f *frametext.Frame, as frame, ambiguous, first bool) string {
	b := make([]byte, 0, len(f.Text)+len(as.class)+len(as.method)+24)
	head := f.Text[:f.ClassAt.From]
	if i := strings.Index(head, frametext.StackKey); i >= 0 && !first {
		head = head[:i]
	}
	b = append(append(b, head...), as.class...)
	b = append(append(b, f.Text[f.ClassAt.To:f.MethodAt.From]...), as.method...)
	b = append(b, f.Text[f.MethodAt.To:f.Source.From]...)
	if f.Bare {
		if as.line == 0 {
			return string(append(b, f.Text[f.Source.From:]...))
		}
		b = strconv.AppendInt(b, int64(as.line), 10)
		return string(append(b, f.Text[f.End:]...))
	}
	b = append(b, sourceFile(as, f.Text[f.Source.From:f.Source.To])...)
	if as.line > 0 && (f.Numbered || !ambiguous) {
		b = strconv.AppendInt(append(b, ':'), int64(as.line), 10)
	}
	return string(append(b, f.Text[f.End:]...))
}

// sourceFile returns the source file of a frame whose source file in the shrunk program was residual: the one in the
// mapping, or else the one that javac and kotlinc compile such a class from.
func sourceFile(as frame, residual string) string {
	switch {
	case as.source != "":
		return as.source
	case residual == "Native Method":
		return residual
	}
	name := as.class[strings.LastIndexByte(as.class, '.')+1:]
	if outer, _, ok := strings.Cut(name, "$"); ok {
		name = outer
	}
	extension := residual[strings.LastIndexByte(residual, '.')+1:]
	if extension == residual {
		extension = ""
	}
	if base, ok := strings.CutSuffix(name, "Kt"); ok && (extension == "" || extension == "kt") {
		return base + ".kt"
	}
	if extension == "kt" {
		return name + ".kt"
	}
	return name + ".java"
}

// header finds the class of an exception in a line of text.
func (s *Stack) header(text string) (frametext.Span, bool) {
	var first frametext.Span
	for from := frametext.SkipSpace(text, 0); from >= 0; from = nextStart(text, from) {
		end := frametext.SkipName(text, from)
		if end == from || end < len(text) && text[end] != ':' && text[end] != ']' || frametext.IsDigit(text[from]) {
			continue
		}
		from := from + strings.LastIndexByte(text[from:end], '/') + 1
		name := text[from:end]
		if c := s.mapping.find(name); c != nil {
			if announced(text[:from]) || strings.Contains(name, ".") || isThrowable(c.original) {
				return frametext.Span{From: from, To: end}, true
			}
		}
		if first.To == 0 && strings.Contains(name, ".") {
			first = frametext.Span{From: from, To: end} // not in the mapping, but it is the exception that was thrown
		}
	}
	return first, first.To > 0
}

// nextStart returns the next position after from where a class may begin: after a colon or quote and spaces, or after
// the text of a circular reference; -1 if there is none.
func nextStart(text string, from int) int {
	for i := from; i < len(text); i++ {
		if text[i] != ':' && text[i] != '"' {
			continue
		}
		j := frametext.SkipSpace(text, i+1)
		if j < len(text) && (j > i+1 || strings.HasSuffix(text[:i], "[CIRCULAR REFERENCE")) {
			return j
		}
	}
	return -1
}

// announced reports whether the text before a class says that it is an exception.
func announced(before string) bool {
	before = strings.TrimRight(before, frametext.Spaces)
	for _, words := range []string{"Caused by:", "Suppressed:", "CIRCULAR REFERENCE:"} {
		if strings.HasSuffix(before, words) {
			return true
		}
	}
	return strings.HasSuffix(before, `"`) && strings.Contains(before, `Exception in thread "`)
}

func isThrowable(original string) bool {
	return strings.HasSuffix(original, "Exception") || strings.HasSuffix(original, "Error") ||
		strings.HasSuffix(original, "Throwable")
}
