// Package frametext finds the frames of stacks in lines of text, as Java and other tools write them. What becomes of
// them is for others to decide: package r8 restores their names, package foreign makes stacks of them.
package frametext

import (
	"strconv"
	"strings"
)

// Span is a range of bytes of a line of text.
type Span struct {
	// From and To are the first byte, and the one behind the last.
	From, To int
}

// Frame is a line of text with a stack frame, and the positions of the parts of the frame.
type Frame struct {
	// Text is the line.
	Text string
	// ClassAt and MethodAt are where the names are.
	ClassAt, MethodAt Span
	// Source is the text between the parentheses, without the line number, End where the closing one is.
	Source Span
	End    int
	// Line is the line number, 0 if there is none or it is not valid. Numbered is set if there is one, Bare if there is
	// only a number between the parentheses.
	Line           int32
	Numbered, Bare bool
}

// Class returns the name of the class.
func (f *Frame) Class() string { return f.Text[f.ClassAt.From:f.ClassAt.To] }

// Method returns the name of the method.
func (f *Frame) Method() string { return f.Text[f.MethodAt.From:f.MethodAt.To] }

// Whole finds a frame in a line of text: after the word "at", or as the only text of the line.
func Whole(text string) (Frame, bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], "at")
		if i < 0 {
			break
		}
		i += from
		from = i + 2
		name := SkipSpace(text, from)
		if name == from || i > 0 && isWord(text[i-1]) {
			continue
		}
		if f, ok := At(text, name); ok {
			return f, true
		}
	}
	start := SkipSpace(text, 0)
	if strings.HasPrefix(text[start:], StackKey) {
		start = SkipSpace(text, start+len(StackKey))
	}
	f, ok := At(text, start)
	return f, ok && !f.Bare && f.End == len(strings.TrimRight(text, " \t"))-1 && f.likelySource()
}

// Line returns the frame that is all of a line, but for an "at" before it and the jar behind it, without either. sure
// is set if such a line can hardly be anything else.
func Line(text string) (frame string, sure, ok bool) {
	from := SkipSpace(text, 0)
	if strings.HasPrefix(text[from:], "at ") {
		from, sure = SkipSpace(text, from+len("at ")), true
	}
	f, ok := At(text, from)
	if !ok || strings.ContainsAny(text[f.Source.From:f.End], "()") {
		return "", false, false
	}
	return text[from : f.End+1], sure || f.likelySource() && !f.Bare, true
}

// StackKey is the text that BlockCanary writes before the first frame.
const StackKey = "stack = "

// At parses "class.method(source:line)", or "class:method(line)", at a position of the text.
func At(text string, from int) (Frame, bool) {
	f := Frame{Text: text, ClassAt: Span{from, 0}}
	end := SkipName(text, from)
	dot := strings.LastIndexByte(text[from:end], '.') + from
	switch {
	case end < len(text) && text[end] == ':' && end > from:
		// The format of Matrix, which separates class and method by a colon and has no source file.
		f.Bare, dot = true, end
		end = SkipName(text, dot+1)
	case dot+1 == end && (strings.HasPrefix(text[end:], "<init>") || strings.HasPrefix(text[end:], "<clinit>")):
		end += strings.IndexByte(text[end:], '>') + 1
	}
	if f.Bare && (strings.HasPrefix(text[end:], "<init>") || strings.HasPrefix(text[end:], "<clinit>")) {
		end += strings.IndexByte(text[end:], '>') + 1
	}
	open := SkipSpace(text, end)
	if dot <= from || dot+1 >= end || open == len(text) || text[open] != '(' || IsDigit(text[dot+1]) {
		return f, false
	}
	f.ClassAt.From += strings.LastIndexByte(text[from:dot], '/') + 1
	f.ClassAt.To, f.MethodAt = dot, Span{dot + 1, end}
	if f.ClassAt.From == dot || IsDigit(text[from]) {
		return f, false
	}
	if f.End = closing(text); f.End <= open {
		return f, false
	}
	return f, f.parseSource(open + 1)
}

// parseSource parses the text between the parentheses.
func (f *Frame) parseSource(from int) bool {
	inside := f.Text[from:f.End]
	f.Source = Span{from, f.End}
	number := inside
	if !f.Bare {
		colon := strings.LastIndexByte(inside, ':')
		if number = inside[colon+1:]; colon < 0 || number == "" || strings.Trim(number, "0123456789") != "" {
			return true
		}
		f.Source.To = from + colon
	}
	n, err := strconv.ParseInt(number, 10, 32)
	f.Numbered = err == nil && n >= 0
	if f.Numbered {
		f.Line = int32(n)
	}
	return err == nil || !f.Bare
}

// likelySource reports whether the text between the parentheses can only be a source file. Other texts look like
// a(b), too.
func (f *Frame) likelySource() bool {
	return f.Numbered || f.compiledSource()
}

// compiledSource reports whether the source file is one that compilers and R8 write.
func (f *Frame) compiledSource() bool {
	source := f.Text[f.Source.From:f.Source.To]
	if source == "Native Method" || source == "Unknown Source" || source == "SourceFile" ||
		strings.HasPrefix(source, "r8-map-id-") {
		return true
	}
	switch source[strings.LastIndexByte(source, '.')+1:] {
	case "java", "kt", "scala", "groovy", "clj":
		return true
	}
	return false
}

// closing returns the position of the parenthesis that ends a frame: the last one, after which there may be spaces
// and "~[a.jar:1.0]" or "[a.jar:1.0]"; -1 if there is none.
func closing(text string) int {
	tail := strings.TrimRight(text, Spaces)
	if i := strings.LastIndexByte(tail, '['); i > 0 && strings.HasSuffix(tail, "]") {
		tail = strings.TrimRight(strings.TrimSuffix(tail[:i], "~"), Spaces)
	}
	if !strings.HasSuffix(tail, ")") {
		return -1
	}
	return len(tail) - 1
}

// Placed is a frame in a line that has more text or frames, from its "at", if it has one, to its last parenthesis.
type Placed struct {
	Frame
	// From and To are where it is in the line.
	From, To int
	sure     bool // nothing else looks so
}

// In returns the frames of a line, wherever they stand and whatever is between them. If none of them is sure
// there is none.
func In(line string) []Placed {
	var all []Placed
	sure := false
	for end := 0; ; {
		i := strings.IndexByte(line[end:], '(')
		if i < 0 {
			break
		}
		open := end + i
		n := strings.IndexAny(line[open+1:], "()")
		if n < 0 {
			break
		}
		if line[open+1+n] == '(' {
			end = open + 1
			continue
		}
		to := open + n + 2
		if p, ok := placedAt(line[:to], end, open); ok {
			all, sure = append(all, p), sure || p.sure
		}
		end = to
	}
	if !sure {
		return nil
	}
	return all
}

// placedAt parses the frame that ends with text and has its parenthesis at open. It begins at least at least.
func placedAt(text string, least, open int) (p Placed, ok bool) {
	end := least + len(strings.TrimRight(text[least:open], Spaces))
	from := end
	for _, special := range []string{"<init>", "<clinit>"} {
		if strings.HasSuffix(text[least:end], special) {
			from -= len(special)
		}
	}
	for from > least && inlineNames[text[from-1]] {
		from--
	}
	if from < end && isEscape(text[least:from+1]) {
		from++
	}
	p = Placed{From: from, To: len(text)}
	if before := strings.TrimRight(text[least:from], Spaces); len(before) < from-least && strings.HasSuffix(before, "at") {
		at := least + len(before) - len("at")
		if at == least || !isWord(text[at-1]) || isEscape(text[least:at]) {
			p.From, p.sure = at, true
		}
	}
	p.Frame, ok = At(text[p.From:], from-p.From)
	if !p.sure && p.Bare {
		return p, false // it is what Matrix writes behind "at" only
	}
	p.sure = p.sure || p.compiledSource()
	return p, ok && (p.sure || p.Numbered)
}

// isEscape reports whether a text ends in the end of a line, or in a tab, of a string.
func isEscape(text string) bool {
	n := len(text)
	return n > 1 && text[n-2] == '\\' && strings.IndexByte("ntr", text[n-1]) >= 0
}

// inlineNames are the bytes of the names of frames that stand in other text, with the modules before them and the colon
// of Matrix.
var inlineNames = func() (set [256]bool) {
	for b := range set {
		set[b] = isWord(byte(b)) || strings.IndexByte("$-./@:", byte(b)) >= 0
	}
	return set
}()

// Spaces are the characters that separate words.
const Spaces = " \t\f\v\u00a0"

// SkipSpace returns where the next word begins.
func SkipSpace(text string, i int) int {
	return len(text) - len(strings.TrimLeft(text[i:], Spaces))
}

// SkipName returns the end of the class and method name that begins at i.
func SkipName(text string, i int) int {
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

// IsDigit reports whether a byte is a digit.
func IsDigit(b byte) bool { return b-'0' <= 9 }

func isWord(b byte) bool {
	return IsDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b >= 0x80
}
