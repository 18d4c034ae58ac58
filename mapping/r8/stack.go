package r8

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/frametext"
)

// Stack retraces one stack trace, line by line. The previous line influences the result of the next one, so that each
// text needs a Stack of its own. It is not safe for use by several goroutines.
//
// It retraces, as the retrace tools of R8 and ProGuard do,
//
//	at a.b.c(SourceFile:12)           frames, after any text before "at", with a
//	at app//a.b.c(r8-map-id-x:12)     loader and module, and with "~[a.jar]" behind
//	a.b.d: message                    headers, alone or after "Caused by: ",
//	[CIRCULAR REFERENCE: a.b.d]       "Suppressed: ", a thread, a log's prefix
//
// and, as BlockCanary and Matrix write them,
//
//	a.b.c(SourceFile:12)              frames alone on their line
//	stack = a.b.c(SourceFile:12)
//	at a.b:c(12)
//
// and, which those tools leave or take for other frames,
//
//	at a.b.c(X:1) at a.b.d(X:2)       several frames of a line, or one in other text, whatever
//	"at a.b.c(X:1)\n\tat a.b.d(X:2)"  is between them: each becomes the frames that it stands
//	[a.b.c(X:1), a.b.d(X:2)]          for, divided as they are
//	{"class":"a.b","method":"c",      frames as objects: with a class and a method (also
//	 "file":"X","line":1}              className, module, function, ...), and a file or a line
//	#00 pc 0001 base.odex (a.b.c+12)  methods of a native stack
//	- locked <0x1> (a a.b)            classes of locks, also as a.b@1f and Class<a.b>, and
//	"scene":"a.b"                     strings that are a class
//
// Such a frame stays as it is if it may be of several methods.
//
// It does not change any other line, nor a line whose class is not in the mapping. R8 and ProGuard change two more
// kinds of lines. A class without a package at the start of a line counts as a header here only if the original name
// ends in Exception, Error or Throwable, because "a: " is more often a word than a class. And of several ": " in a
// line, the first one that a class follows counts here; R8 and ProGuard use the last one, which may be part of the
// message.
type Stack struct {
	mapping *Mapping
	ctx     context
	// Frames is the number of frames that were changed, Headers that of classes of exceptions and locks.
	Frames, Headers int
}

// Stack returns a new Stack, for one text.
func (m *Mapping) Stack() *Stack { return &Stack{mapping: m} }

// AppendLine appends the result of retracing a line of text: the line itself, one or several other lines, or nothing
// if the line only had a frame of a compiler-made method. line includes its line ending, which may be missing. It may
// also be the lines of one object in JSON.
func (s *Stack) AppendLine(dst, line []byte) []byte {
	body := bytes.TrimRight(line, "\r\n")
	end := line[len(body):]
	if len(s.mapping.classes) == 0 || !bytes.ContainsAny(body, ".:]") && len(body) > 1024 {
		return append(dst, line...)
	}
	text := string(body)
	if objects := frametext.Objects(text); len(objects) > 0 {
		return append(s.appendObjects(dst, text, objects), end...)
	}
	list := frametext.In(text)
	f, whole := frametext.Whole(text)
	switch {
	case whole && (len(list) == 0 || len(list) == 1 && list[0].To == f.End+1):
		return s.appendFrame(dst, f, line, string(end))
	case len(list) > 0:
		return append(s.appendInline(dst, text, list), end...)
	}
	return append(append(dst, s.withClass(text)...), end...)
}

// appendFrame appends the result for a line with a frame.
func (s *Stack) appendFrame(dst []byte, f frametext.Frame, line []byte, end string) []byte {
	stacks, ambiguous := s.mapping.frames(f.Class(), f.Method(), f.Line, s.ctx)
	kept := s.follow(stacks, f.Line > 0)
	if s.mapping.find(f.Class()) == nil {
		return append(dst, line...)
	}
	s.Frames++
	if end == "" && (len(kept) > 1 || len(kept) == 1 && len(kept[0].frames) > 1) {
		return bytes.TrimSuffix(s.appendStacks(dst, f, kept, ambiguous, "\n"), []byte("\n"))
	}
	return s.appendStacks(dst, f, kept, ambiguous, end)
}

// follow returns the alternatives that differ, and notes what they say of the next line.
func (s *Stack) follow(stacks []stack, lines bool) []stack {
	kept := distinct(stacks, lines)
	s.ctx = context{}
	switch len(kept) {
	case 0:
		s.ctx = stacks[len(stacks)-1].next
	case 1:
		s.ctx = kept[0].next
	}
	return kept
}

// appendStacks appends alternatives side by side: all their innermost frames, then all frames of their callers, and
// so on. Each but the first of a group gets "<OR> ".
func (s *Stack) appendStacks(dst []byte, f frametext.Frame, stacks []stack, ambiguous bool, end string) []byte {
	for i, more := 0, true; more; i++ {
		more = false
		var seen []string
		for k, alternative := range stacks {
			if i >= len(alternative.frames) {
				continue
			}
			more = true
			text := withFrame(&f, alternative.frames[i], ambiguous, i+k == 0)
			if slices.Contains(seen, text) {
				continue
			}
			seen = append(seen, text)
			if k > 0 {
				text = markAlternative(text)
			}
			dst = append(append(dst, text...), end...)
		}
	}
	return dst
}

// markAlternative adds "<OR> " to a line, before its "at" or its text.
func markAlternative(line string) string {
	i := strings.Index(line, "at ")
	if i < 0 {
		i = len(line) - len(strings.TrimLeft(line, " \t"))
	}
	return line[:i] + "<OR> " + line[i:]
}
