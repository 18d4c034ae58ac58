package r8

import (
	"strconv"
	"strings"
)

// span is a range of bytes of a line of text.
type span struct{ from, to int }

// frameText is a line of text with a stack frame, and the positions of the parts of the frame.
type frameText struct {
	text           string
	classAt        span
	methodAt       span
	source         span  // the text between the parentheses, without the line number
	sourceEnd      int   // the position of the closing parenthesis
	line           int32 // the line number, 0 if there is none or it is not valid
	numbered, bare bool  // there is a line number; there is only a number between the parentheses
}

func (f *frameText) class() string  { return f.text[f.classAt.from:f.classAt.to] }
func (f *frameText) method() string { return f.text[f.methodAt.from:f.methodAt.to] }

// withFrame returns the text with another frame in place of its own. If there are several frames, only the first one
// keeps a key before the frame.
func (f *frameText) withFrame(as frame, ambiguous, first bool) string {
	b := make([]byte, 0, len(f.text)+len(as.class)+len(as.method)+24)
	head := f.text[:f.classAt.from]
	if i := strings.Index(head, stackKey); i >= 0 && !first {
		head = head[:i]
	}
	b = append(append(b, head...), as.class...)
	b = append(append(b, f.text[f.classAt.to:f.methodAt.from]...), as.method...)
	b = append(b, f.text[f.methodAt.to:f.source.from]...)
	if f.bare {
		if as.line == 0 {
			return string(append(b, f.text[f.source.from:]...))
		}
		b = strconv.AppendInt(b, int64(as.line), 10)
		return string(append(b, f.text[f.sourceEnd:]...))
	}
	b = append(b, sourceFile(as, f.text[f.source.from:f.source.to])...)
	if as.line > 0 && (f.numbered || !ambiguous) {
		b = strconv.AppendInt(append(b, ':'), int64(as.line), 10)
	}
	return string(append(b, f.text[f.sourceEnd:]...))
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

// parseFrame finds a frame in a line of text: after the word "at", or as the only text of the line.
func parseFrame(text string) (frameText, bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], "at")
		if i < 0 {
			break
		}
		i += from
		from = i + 2
		name := skipSpace(text, from)
		if name == from || i > 0 && isWord(text[i-1]) {
			continue
		}
		if f, ok := frameAt(text, name); ok {
			return f, true
		}
	}
	start := skipSpace(text, 0)
	if strings.HasPrefix(text[start:], stackKey) {
		start = skipSpace(text, start+len(stackKey))
	}
	f, ok := frameAt(text, start)
	return f, ok && !f.bare && f.sourceEnd == len(strings.TrimRight(text, " \t"))-1 && f.likelySource()
}

// stackKey is the text that BlockCanary writes before the first frame.
const stackKey = "stack = "

// frameAt parses "class.method(source:line)", or "class:method(line)", at a position of the text.
func frameAt(text string, from int) (frameText, bool) {
	f := frameText{text: text, classAt: span{from, 0}}
	end := skipName(text, from)
	dot := strings.LastIndexByte(text[from:end], '.') + from
	switch {
	case end < len(text) && text[end] == ':' && end > from:
		// The format of Matrix, which separates class and method by a colon and has no source file.
		f.bare, dot = true, end
		end = skipName(text, dot+1)
	case dot+1 == end && (strings.HasPrefix(text[end:], "<init>") || strings.HasPrefix(text[end:], "<clinit>")):
		end += strings.IndexByte(text[end:], '>') + 1
	}
	if f.bare && (strings.HasPrefix(text[end:], "<init>") || strings.HasPrefix(text[end:], "<clinit>")) {
		end += strings.IndexByte(text[end:], '>') + 1
	}
	open := skipSpace(text, end)
	if dot <= from || dot+1 >= end || open == len(text) || text[open] != '(' || isDigit(text[dot+1]) {
		return f, false
	}
	f.classAt.from += strings.LastIndexByte(text[from:dot], '/') + 1
	f.classAt.to, f.methodAt = dot, span{dot + 1, end}
	if f.classAt.from == dot || isDigit(text[from]) {
		return f, false
	}
	if f.sourceEnd = closing(text); f.sourceEnd <= open {
		return f, false
	}
	return f, f.parseSource(open + 1)
}

// parseSource parses the text between the parentheses.
func (f *frameText) parseSource(from int) bool {
	inside := f.text[from:f.sourceEnd]
	f.source = span{from, f.sourceEnd}
	number := inside
	if !f.bare {
		colon := strings.LastIndexByte(inside, ':')
		if number = inside[colon+1:]; colon < 0 || number == "" || strings.Trim(number, "0123456789") != "" {
			return true
		}
		f.source.to = from + colon
	}
	n, err := strconv.ParseInt(number, 10, 32)
	f.numbered = err == nil && n >= 0
	if f.numbered {
		f.line = int32(n)
	}
	return err == nil || !f.bare
}

// likelySource reports whether the text between the parentheses can only be a source file. Other texts look like
// a(b), too.
func (f *frameText) likelySource() bool {
	return f.numbered || f.compiledSource()
}

// compiledSource reports whether the source file is one that compilers and R8 write.
func (f *frameText) compiledSource() bool {
	source := f.text[f.source.from:f.source.to]
	return source == "Native Method" || source == "Unknown Source" || source == "SourceFile" ||
		strings.HasSuffix(source, ".java") || strings.HasSuffix(source, ".kt") || strings.HasPrefix(source, "r8-map-id-")
}

// closing returns the position of the parenthesis that ends a frame: the last one, after which there may be spaces
// and "~[a.jar:1.0]"; -1 if there is none.
func closing(text string) int {
	tail := strings.TrimRight(text, spaces)
	if strings.HasSuffix(tail, "]") {
		if i := strings.LastIndex(tail, "~["); i > 0 {
			tail = strings.TrimRight(tail[:i], spaces)
		}
	}
	if !strings.HasSuffix(tail, ")") {
		return -1
	}
	return len(tail) - 1
}

// header finds the class of an exception in a line of text.
func (s *Stack) header(text string) (span, bool) {
	var first span
	for from := skipSpace(text, 0); from >= 0; from = nextStart(text, from) {
		end := skipName(text, from)
		if end == from || end < len(text) && text[end] != ':' && text[end] != ']' || isDigit(text[from]) {
			continue
		}
		from := from + strings.LastIndexByte(text[from:end], '/') + 1
		name := text[from:end]
		if c := s.mapping.find(name); c != nil {
			if announced(text[:from]) || strings.Contains(name, ".") || isThrowable(c.original) {
				return span{from, end}, true
			}
		}
		if first.to == 0 && strings.Contains(name, ".") {
			first = span{from, end} // not in the mapping, but it is the exception that was thrown
		}
	}
	return first, first.to > 0
}

// nextStart returns the next position after from where a class may begin: after a colon or quote and spaces, or after
// the text of a circular reference; -1 if there is none.
func nextStart(text string, from int) int {
	for i := from; i < len(text); i++ {
		if text[i] != ':' && text[i] != '"' {
			continue
		}
		if j := skipSpace(text, i+1); j < len(text) && (j > i+1 || strings.HasSuffix(text[:i], "[CIRCULAR REFERENCE")) {
			return j
		}
	}
	return -1
}

// announced reports whether the text before a class says that it is an exception.
func announced(before string) bool {
	before = strings.TrimRight(before, spaces)
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

// spaces are the characters that separate words.
const spaces = " \t\f\v\u00a0"

func skipSpace(text string, i int) int {
	return len(text) - len(strings.TrimLeft(text[i:], spaces))
}

// skipName returns the end of the class and method name that begins at i.
func skipName(text string, i int) int {
	for i < len(text) && nameBytes[text[i]] {
		i++
	}
	return i
}

// nameBytes are the bytes that may be in a class or method name, or in a module before it.
var nameBytes = func() (set [256]bool) {
	for b := range set {
		set[b] = !strings.ContainsRune(" \t\f\v\r\n[];:()<>\"", rune(b))
	}
	return set
}()

func isDigit(b byte) bool { return b-'0' <= 9 }

func isWord(b byte) bool {
	return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b >= 0x80
}
