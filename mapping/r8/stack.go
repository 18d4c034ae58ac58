package r8

import (
	"bytes"
	"slices"
	"strings"
)

// Stack retraces stack traces line by line. A line means something together with
// the one before, so that each text needs a Stack of its own. It is not safe for
// use by several goroutines.
//
// Retraced are, as R8's and ProGuard's retrace do,
//
//	at a.b.c(SourceFile:12)           frames, whatever is before "at", with a
//	at app//a.b.c(r8-map-id-x:12)     loader and module, and "~[a.jar]" behind
//	a.b.d: message                    headers, alone or behind "Caused by: ",
//	[CIRCULAR REFERENCE: a.b.d]       "Suppressed: ", a thread, a log's prefix
//
// and, as BlockCanary and Matrix write them,
//
//	a.b.c(SourceFile:12)              frames alone on their line
//	stack = a.b.c(SourceFile:12)
//	at a.b:c(12)
//
// Any other line, and one whose class the mapping does not have, is left as it
// is, byte by byte. Two are left alone that R8 and ProGuard would change: a class
// without a package at the start of a line is taken for a header only if the
// original's name ends in Exception, Error or Throwable (an "a: " is more often
// a word than a class); and of several ": " in a line the first counts that a
// class follows, where those count the last (which may be in the message).
type Stack struct {
	mapping *Mapping
	ctx     context
	// Frames counts the lines that were changed because of a frame, and Headers
	// those because of an exception's class.
	Frames, Headers int
}

// Stack gives the means to retrace one text.
func (m *Mapping) Stack() *Stack { return &Stack{mapping: m} }

// AppendLine appends what a line of text becomes, with its end, which may be
// missing: itself, or one or several lines, or nothing if only the compiler's own
// frame was on it.
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

// appendFrame appends what a line with a frame becomes.
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

// appendStacks appends alternatives side by side: all their innermost frames,
// then all their callers, each but those of the first behind "<OR> ".
func (s *Stack) appendStacks(dst []byte, f frameText, stacks []stack, ambiguous bool, end string) []byte {
	for i, more := 0, true; more; i++ {
		more = false
		var seen []string
		for k, alternative := range stacks {
			if i >= len(alternative.frames) {
				continue
			}
			more = true
			text := f.with(alternative.frames[i], ambiguous, i+k == 0)
			if slices.Contains(seen, text) {
				continue
			}
			seen = append(seen, text)
			if k > 0 {
				text = or(text)
			}
			dst = append(append(dst, text...), end...)
		}
	}
	return dst
}

// or marks an alternative.
func or(line string) string {
	i := strings.Index(line, "at ")
	if i < 0 {
		i = len(line) - len(strings.TrimLeft(line, " \t"))
	}
	return line[:i] + "<OR> " + line[i:]
}
