package r8

import (
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// placed is a frame in a line that has more text or frames, from its "at", if it has one, to its last parenthesis.
// sure is set if nothing else looks so.
type placed struct {
	frameText
	from, to int
	sure     bool
}

// framesIn returns the frames of a line, wherever they stand and whatever is between them. If none of them is sure
// there is none.
func framesIn(line string) []placed {
	var all []placed
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
func placedAt(text string, least, open int) (p placed, ok bool) {
	end := least + len(strings.TrimRight(text[least:open], spaces))
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
	p = placed{from: from, to: len(text)}
	if before := strings.TrimRight(text[least:from], spaces); len(before) < from-least && strings.HasSuffix(before, "at") {
		at := least + len(before) - len("at")
		if at == least || !isWord(text[at-1]) || isEscape(text[least:at]) {
			p.from, p.sure = at, true
		}
	}
	p.frameText, ok = frameAt(text[p.from:], from-p.from)
	if !p.sure && p.bare {
		return p, false // it is what Matrix writes behind "at" only
	}
	p.sure = p.sure || p.compiledSource()
	return p, ok && (p.sure || p.numbered)
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

// appendInline appends a line whose frames have other text around them, or each other. Frames that were inlined into
// one of them are put beside it. A frame that may be of several methods stays as it is, and one that a compiler made
// too: a line that has lost one of its frames is not the line that was written.
func (s *Stack) appendInline(dst []byte, line string, list []placed) []byte {
	at := 0
	for i := range list {
		p := &list[i]
		dst = append(dst, s.headed(line[at:p.from])...)
		at = p.to
		frames, known := s.certain(p.frameText)
		if !known || len(frames) == 0 {
			dst = append(dst, p.text...)
			continue
		}
		for k, f := range frames {
			if k > 0 {
				dst = append(dst, between(line, list, i)...)
			}
			dst = append(dst, p.withFrame(f, false, true)...)
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
			to = from + len(strings.TrimRight(piece[from:to], spaces+`|,\`))
			from = to - len(strings.TrimLeft(piece[from:to], spaces+`|,`))
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
		s.ctx = context{thrown: text[h.from:h.to]}
		if c := s.mapping.find(text[h.from:h.to]); c != nil {
			s.Headers++
			return text[:h.from] + c.original + text[h.to:]
		}
	}
	return s.named(text)
}

// near is how many bytes before a name decide what it is.
const near = 64

var (
	// divider is all that stands between two frames that have nothing else between them.
	divider = glob.Regexp(`^(?:\\+[nrt]|<br */?>|[\s|,;<>"-])+$`)
	// lineEnd is what ends a line in a string or a page, with what begins the next.
	lineEnd = glob.Regexp(`(?:\\+r)?(?:\\+n|<br */?>)(?:\\+t|\s)*$`)
)

// between returns what divides the frames of a line around the one at i. Of a frame alone it is what its list, if it is
// in one, or its string has between lines.
func between(line string, list []placed, i int) string {
	p, before, behind := &list[i], line[:list[i].from], line[list[i].to:]
	if i+1 < len(list) {
		if behind = line[p.to:list[i+1].from]; divider().MatchString(behind) {
			return behind
		}
	}
	if i > 0 {
		if before = line[list[i-1].to:p.from]; divider().MatchString(before) {
			return before
		}
	}
	if end := lineEnd().FindString(before[max(0, len(before)-near):]); end != "" {
		return end
	}
	if quote := strings.LastIndexByte(before, '"'); quote >= 0 && strings.IndexByte(behind, '"') >= 0 {
		from := len(strings.TrimRight(before[:quote], `\`))
		escapes, list := before[from:quote], strings.TrimRight(before[:from], spaces)
		if list == "" || strings.HasSuffix(list, "[") || strings.HasSuffix(list, ",") {
			return escapes + `", ` + before[from:]
		}
		return `\` + escapes + "n" + before[quote+1:]
	}
	if strings.HasPrefix(p.text, "at") {
		return " "
	}
	return ", "
}

// certain returns the original frames of one, the innermost first: none if a compiler made it. known is not set if its
// class is not in the mapping or if it may be of several methods. Its line is 0 if it may be one of several.
func (s *Stack) certain(f frameText) (frames []frame, known bool) {
	stacks, _ := s.mapping.frames(f.class(), f.method(), f.line, s.ctx)
	kept := s.follow(stacks, f.line > 0)
	if s.mapping.find(f.class()) == nil {
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
	f, ok := frameAt(text, 0)
	if !ok {
		return []string{text}
	}
	frames, known := s.certain(f)
	if !known {
		return []string{text}
	}
	var all []string
	for _, as := range frames {
		all = append(all, f.withFrame(as, false, true))
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
			f := frameText{text: text, classAt: span{m[2], m[3]}, methodAt: span{m[4], m[5]}}
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
