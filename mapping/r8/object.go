package r8

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/frametext"
)

// appendObjects appends a text of JSON whose frames are objects. Frames that were inlined into one are objects beside
// it. What stays as it is is as in appendInline.
func (s *Stack) appendObjects(dst []byte, text string, objects []frametext.Object) []byte {
	at := 0
	for i := range objects {
		o := &objects[i]
		dst = append(dst, s.headed(text[at:o.From])...)
		at = o.To
		frames, known := s.certain(o.Frame)
		if !known || len(frames) == 0 {
			dst = append(dst, text[o.From:o.To]...)
			continue
		}
		if o.OuterFirst {
			slices.Reverse(frames)
		}
		for k, f := range frames {
			if k > 0 {
				dst = append(dst, besideObject(text, o)...)
			}
			dst = append(dst, withObject(o, f)...)
		}
		s.Frames++
	}
	return append(dst, s.headed(text[at:])...)
}

// besideObject returns what divides objects, in one line or each in lines of its own.
func besideObject(text string, o *frametext.Object) string {
	if !strings.Contains(text[o.From:o.To], "\n") {
		return ","
	}
	line := text[strings.LastIndexByte(text[:o.From], '\n')+1 : o.From]
	return ",\n" + line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// withObject returns an object with another frame in place of its own.
func withObject(o *frametext.Object, as frame) string {
	type edit struct {
		at frametext.Span
		by string
	}
	edits := []edit{{o.ClassAt, as.class}, {o.MethodAt, as.method}}
	if source := o.Text[o.Source.From:o.Source.To]; source != "" {
		edits = append(edits, edit{o.Source, sourceFile(as, source)})
	}
	if o.LineAt.To > 0 && as.line > 0 {
		edits = append(edits, edit{o.LineAt, strconv.Itoa(as.line)})
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.at.From - b.at.From })
	var b strings.Builder
	at := o.From
	for _, e := range edits {
		b.WriteString(o.Text[at:e.at.From] + e.by)
		at = e.at.To
	}
	return b.String() + o.Text[at:o.To]
}
