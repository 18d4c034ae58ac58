package r8

import (
	"strings"

	"github.com/tracegen/tracegen/internal/frametext"
	"github.com/tracegen/tracegen/internal/glob"
)

// appendInline appends a line whose frames have other text around them, or each other. Frames that were inlined into
// one of them are put beside it. A frame that may be of several methods stays as it is, and one that a compiler made
// too: a line that has lost one of its frames is not the line that was written.
func (s *Stack) appendInline(dst []byte, line string, list []frametext.Placed) []byte {
	at := 0
	for i := range list {
		p := &list[i]
		dst = append(dst, s.headed(line[at:p.From])...)
		at = p.To
		frames, known := s.certain(p.Frame)
		if !known || len(frames) == 0 {
			dst = append(dst, p.Text...)
			continue
		}
		for k, f := range frames {
			if k > 0 {
				dst = append(dst, between(line, list, i)...)
			}
			dst = append(dst, withFrame(&p.Frame, f, false, true)...)
		}
		s.Frames++
	}
	// Behind the last frame the string ends, if it stands in one.
	rest := line[at:]
	end := len(strings.TrimRight(rest[:max(0, strings.IndexByte(rest, '"'))], `\`))
	if !strings.Contains(rest, `"`) {
		end = len(rest)
	}
	return append(dst, s.headed(rest[:end])+s.named(rest[end:])...)
}

// breaks end or begin the lines that one line has, as strings and pages write them.
var breaks = []string{`\n`, `\r`, `\t`, "<br>", "<br/>"}

// headed returns text beside frames with the classes of exceptions restored, one in each of its lines.
func (s *Stack) headed(text string) string {
	var b strings.Builder
	for piece := range strings.SplitAfterSeq(text, `\n`) {
		from, to := strings.LastIndexByte(piece, '"')+1, len(piece)
		for was := -1; was != to-from; {
			was = to - from
			to = from + len(strings.TrimRight(piece[from:to], frametext.Spaces+`|,\`))
			from = to - len(strings.TrimLeft(piece[from:to], frametext.Spaces+`|,`))
			for _, mark := range breaks {
				to = from + len(strings.TrimSuffix(piece[from:to], mark))
				from = to - len(strings.TrimPrefix(piece[from:to], mark))
			}
		}
		b.WriteString(s.named(piece[:from]) + s.withClass(piece[from:to]) + s.named(piece[to:]))
	}
	return b.String()
}

// withClass returns text without frames with the class of an exception restored, which was thrown, or other names.
func (s *Stack) withClass(text string) string {
	if h, ok := s.header(text); ok {
		s.ctx = context{thrown: text[h.From:h.To]}
		if c := s.mapping.find(text[h.From:h.To]); c != nil {
			s.Headers++
			return text[:h.From] + c.original + text[h.To:]
		}
	}
	return s.named(text)
}

// near is how many bytes before a name decide what it is.
const near = 64

var (
	// lineEnd is what ends a line in a string or a page, with what begins the next.
	lineEnd = glob.Regexp(`(?:\\+r)?(?:\\+n|<br */?>)(?:\\+t|\s)*$`)
)

// between returns what divides the frames of a line around the one at i. Of a frame alone it is what its list, if it is
// in one, or its string has between lines.
func between(line string, list []frametext.Placed, i int) string {
	p, before, behind := &list[i], line[:list[i].From], line[list[i].To:]
	if i+1 < len(list) {
		if behind = line[p.To:list[i+1].From]; frametext.IsDivider(behind) {
			return behind
		}
	}
	if i > 0 {
		if before = line[list[i-1].To:p.From]; frametext.IsDivider(before) {
			return before
		}
	}
	if end := lineEnd().FindString(before[max(0, len(before)-near):]); end != "" {
		return end
	}
	if quote := strings.LastIndexByte(before, '"'); quote >= 0 && strings.IndexByte(behind, '"') >= 0 {
		from := len(strings.TrimRight(before[:quote], `\`))
		escapes, list := before[from:quote], strings.TrimRight(before[:from], frametext.Spaces)
		if list == "" || strings.HasSuffix(list, "[") || strings.HasSuffix(list, ",") {
			return escapes + `", ` + before[from:]
		}
		return `\` + escapes + "n" + before[quote+1:]
	}
	if strings.HasPrefix(p.Text, "at") {
		return " "
	}
	return ", "
}

// certain returns the original frames of one, the innermost first: none if a compiler made it. known is not set if its
// class is not in the mapping or if it may be of several methods. Its line is 0 if it may be one of several.
func (s *Stack) certain(f frametext.Frame) (frames []frame, known bool) {
	stacks, _ := s.mapping.frames(f.Class(), f.Method(), f.Line, s.ctx)
	kept := s.follow(stacks, f.Line > 0)
	if s.mapping.find(f.Class()) == nil {
		return nil, false
	}
	if len(kept) == 0 {
		return nil, true
	}
	frames = kept[0].frames
	for _, other := range kept[1:] {
		if len(other.frames) != len(frames) {
			return nil, false
		}
		for i, o := range other.frames {
			if frames[i].class != o.class || frames[i].method != o.method {
				return nil, false
			}
			if frames[i].line != o.line {
				frames[i].line = 0
			}
		}
	}
	return frames, true
}

// Frame returns the original frames of one as Java prints it, without "at", the innermost first: none if a compiler
// made it, the frame itself if its class is not in the mapping or if it may be of several methods.
func (s *Stack) Frame(text string) []string {
	f, ok := frametext.At(text, 0)
	if !ok {
		return []string{text}
	}
	frames, known := s.certain(f)
	if !known {
		return []string{text}
	}
	var all []string
	for _, as := range frames {
		all = append(all, withFrame(&f, as, false, true))
	}
	return all
}

var (
	// className is a class of a lock: <0x1> (a a.b), (object 0x1, a a.b), Class<a.b>, Class for a.b), a.b@1f; or a string
	// in JSON that is a class.
	className = glob.Regexp(`(?:[(,] ?a |\bClass<|\bClass for )([^\s()<>@,;"\\]+)[)>]|` +
		`([\pL\pN_$]+(?:\.[\pL\pN_$-]+)+)@[0-9a-f]+\b|"([\pL\pN_$]+(?:\.[\pL\pN_$-]+)+)\\*"`)
	// nativeFrame is a method in a native stack: #00 pc 0001  base.odex (a.b.c+12).
	nativeFrame = glob.Regexp(`\(([^\s()+]+)\.([^\s()+.]+)\+\d+\)`)
)

// named returns text that has no frame as Java prints it, with the classes of locks and the methods of a native stack
// restored.
func (s *Stack) named(text string) string {
	var b strings.Builder
	at := 0
	replace := func(from, to int, by string) {
		b.WriteString(text[at:from] + by)
		at = to
	}
	if strings.Contains(text, " pc ") {
		for _, m := range nativeFrame().FindAllStringSubmatchIndex(text, -1) {
			f := frametext.Frame{Text: text, ClassAt: frametext.Span{From: m[2], To: m[3]},
				MethodAt: frametext.Span{From: m[4], To: m[5]}}
			if frames, known := s.certain(f); known && len(frames) == 1 {
				replace(m[2], m[5], frames[0].class+"."+frames[0].method)
				s.Frames++
			}
		}
	} else if strings.Contains(text, "a ") || strings.ContainsAny(text, `<@"`) {
		for _, m := range className().FindAllStringSubmatchIndex(text, -1) {
			k := 2
			for m[k] < 0 {
				k += 2
			}
			name, before := text[m[k]:m[k+1]], text[max(0, m[0]-near):m[0]]
			if c := s.mapping.find(name); c != nil && (strings.Contains(name, ".") ||
				strings.HasSuffix(strings.TrimSpace(before), ">") || strings.Contains(before, "0x")) {
				replace(m[k], m[k+1], c.original)
				s.Headers++
			}
		}
	}
	return b.String() + text[at:]
}
