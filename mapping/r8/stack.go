package r8

import (
	"bytes"
	"slices"
	"strings"
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
// It does not change any other line, nor a line whose class is not in the mapping. R8 and ProGuard change two more
// kinds of lines. A class without a package at the start of a line counts as a header here only if the original name
// ends in Exception, Error or Throwable, because "a: " is more often a word than a class. And of several ": " in a
// line, the first one that a class follows counts here; R8 and ProGuard use the last one, which may be part of the
// message.
type Stack struct {
	mapping *Mapping
	ctx     context
	// Frames is the number of lines that were changed because of a frame, and Headers the number of lines
	// that were changed because of the class of an exception.
	Frames, Headers int
}

// Stack returns a new Stack, for one text.
func (m *Mapping) Stack() *Stack { return &Stack{mapping: m} }

// AppendLine appends the result of retracing a line of text: the line itself, one or several other lines, or nothing
// if the line only had a frame of a compiler-made method. line includes its line ending, which may be missing.
func (s *Stack) AppendLine(dst, line []byte) []byte {
	body := bytes.TrimRight(line, "\r\n")
	end := line[len(body):]
	if len(s.mapping.classes) == 0 || !bytes.ContainsAny(body, ".:]") && len(body) > 1024 {
		return append(dst, line...)
	}
	text := string(body)
	if f, ok := parseFrame(text); ok {
		return s.appendFrame(dst, f, line, string(end))
	}
	if h, ok := s.header(text); ok {
		s.ctx = context{thrown: text[h.from:h.to]}
		if c := s.mapping.find(text[h.from:h.to]); c != nil {
			s.Headers++
			dst = append(append(dst, text[:h.from]...), c.original...)
			return append(append(dst, text[h.to:]...), end...)
		}
	}
	return append(dst, line...)
}

// appendFrame appends the result for a line with a frame.
func (s *Stack) appendFrame(dst []byte, f frameText, line []byte, end string) []byte {
	stacks, ambiguous := s.mapping.frames(f.class(), f.method(), f.line, s.ctx)
	known := s.mapping.find(f.class()) != nil
	next := stacks[len(stacks)-1].next
	kept := distinct(stacks, f.line > 0)
	s.ctx = context{}
	switch {
	case len(kept) == 0:
		s.ctx = next
	case len(kept) == 1:
		s.ctx = kept[0].next
	}
	if !known {
		return append(dst, line...)
	}
	s.Frames++
	if end == "" && (len(kept) > 1 || len(kept) == 1 && len(kept[0].frames) > 1) {
		return bytes.TrimSuffix(s.appendStacks(dst, f, kept, ambiguous, "\n"), []byte("\n"))
	}
	return s.appendStacks(dst, f, kept, ambiguous, end)
}

// appendStacks appends alternatives side by side: all their innermost frames, then all frames of their callers, and
// so on. Each but the first of a group gets "<OR> ".
func (s *Stack) appendStacks(dst []byte, f frameText, stacks []stack, ambiguous bool, end string) []byte {
	for i, more := 0, true; more; i++ {
		more = false
		var seen []string
		for k, alternative := range stacks {
			if i >= len(alternative.frames) {
				continue
			}
			more = true
			text := f.withFrame(alternative.frames[i], ambiguous, i+k == 0)
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
