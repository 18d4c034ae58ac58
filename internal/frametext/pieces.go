package frametext

import (
	"regexp"
	"strings"
	"sync"
)

var (
	// divider is all that stands between two frames that have nothing else between them.
	divider = pattern(`^(?:\\+[nrt]|<br */?>|[\s|,;<>"-])+$`)
	// edge is what stands around frames and says nothing.
	edge = pattern(`^(?:\\+[nrt]|<br */?>|[\s|,;<>"\\\[(-])*$`)
	// lineEnds end the lines that one line has, as strings and pages write them.
	lineEnds = pattern(`(?:\\+r)?(?:\\+n|<br */?>)(?:\\+t|\s)*`)
	// ends is how what is behind the last frame of a line begins.
	ends = pattern(`^\s*(?:\\+[nr]|<br */?>|[|,;"\]]|$)`)
	// jar is what loggers write behind a frame.
	jar = pattern(`^ ?~?\[[^\[\]]*\]`)
)

// pattern is as glob.Regexp, whose package is beside this one.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// IsDivider reports whether a text is all that stands between two frames that follow each other.
func IsDivider(text string) bool { return divider().MatchString(text) }

// Piece is a frame of a line, without its "at", or what stands beside frames.
type Piece struct {
	// Text is the piece, Frame whether it is a frame.
	Text  string
	Frame bool
}

// Pieces divides a line that has a stack, or a part of one, among other text: each piece is what would be a line of a
// stack trace. There are none if the line has no frames, or mentions one in a sentence, as logs do of the place where
// they were written.
func Pieces(line string) []Piece {
	list := In(line)
	if !stacked(line, list) {
		return nil
	}
	var pieces []Piece
	at := 0
	add := func(text string) {
		text = text[len(jar().FindString(text)):]
		for _, part := range lineEnds().Split(text, -1) {
			if !edge().MatchString(part) {
				pieces = append(pieces, Piece{Text: strings.TrimSpace(part)})
			}
		}
	}
	for _, p := range list {
		add(line[at:p.From])
		name, _ := p.name()
		pieces = append(pieces, Piece{name, true})
		at = p.To
	}
	add(line[at:])
	return pieces
}

// stacked reports whether frames of a line are a stack.
func stacked(line string, list []Placed) bool {
	if len(list) == 0 {
		return false
	}
	for i, p := range list[1:] {
		between := line[list[i].To:p.From]
		if between = between[len(jar().FindString(between)):]; between == "" || IsDivider(between) {
			return true
		}
	}
	p := list[0]
	before, behind := line[:p.From], line[p.To:]
	_, announced := p.name()
	return len(list) == 1 && ends().MatchString(behind[len(jar().FindString(behind)):]) &&
		(edge().MatchString(before) || announced)
}

// name returns the frame as Java prints it, and whether an "at" is before it.
func (p *Placed) name() (name string, announced bool) {
	if start := SkipSpace(p.Text, min(len("at"), len(p.Text))); start > len("at") && strings.HasPrefix(p.Text, "at") {
		return p.Text[start:], true
	}
	return p.Text, false
}
