package equivalence

import (
	"slices"
	"strconv"
	"strings"
)

// note is one fact about the original that the rewritten class does not show, and that strip would guess wrongly.
type note struct {
	method int
	kind   byte
	index  int // a position or the number of a frame in the original, or a max_stack
	value  int // for noteFrameForm, a frame_type
}

// The kinds of notes, by the letter that stands for them.
const (
	noteMaxStack    = 's' // max_stack was index
	noteFrameForm   = 'f' // frame number index had the form value
	noteEmptyFrames = 't' // there was a StackMapTable with no frames
	noteOwnHandler  = 'h' // what looks like the exact handler is an athrow of the original with an exit call before it
)

// notes are a class's notes, ascending by method, kind and index.
type notes []note

const notesPrefix = "tracegen:"

func isNotes(text string) bool { return strings.HasPrefix(text, notesPrefix) }

// parseNotes reads "tracegen:" and notes separated by semicolons. A note is the index of a method in decimal, the
// letter of a kind, an index if the kind has one, and for the form of a frame "=" and the frame_type; 3f2=247, for
// example, says that frame 2 of method 3 had the frame_type 247. Notes are in the order of the methods. It returns
// false if the text is malformed or has a note twice, as tracegen writes neither.
func parseNotes(text string) (notes, bool) {
	var all notes
	for item := range strings.SplitSeq(strings.TrimPrefix(text, notesPrefix), ";") {
		n, ok := parseNote(item)
		if !ok || len(all) > 0 && all[len(all)-1].method > n.method {
			return nil, false
		}
		all = append(all, n)
	}
	slices.SortFunc(all, compareNotes)
	for i := 1; i < len(all); i++ {
		if compareNotes(all[i-1], all[i]) == 0 {
			return nil, false
		}
	}
	return all, true
}

func parseNote(item string) (n note, ok bool) {
	letter := strings.IndexFunc(item, func(r rune) bool { return r < '0' || r > '9' })
	if letter < 0 {
		return note{}, false
	}
	n.kind = item[letter]
	if n.method, ok = parseNumber(item[:letter]); !ok {
		return note{}, false
	}
	rest := item[letter+1:]
	switch n.kind {
	case noteEmptyFrames, noteOwnHandler:
		return n, rest == ""
	case noteFrameForm:
		index, form, found := strings.Cut(rest, "=")
		if n.value, ok = parseNumber(form); !found || !ok || n.value > fullFrame {
			return note{}, false
		}
		rest = index
	case noteMaxStack:
	default:
		return note{}, false
	}
	n.index, ok = parseNumber(rest)
	return n, ok
}

// parseNumber reads a u2 in decimal without leading zeros.
func parseNumber(s string) (int, bool) {
	v, err := strconv.ParseUint(s, 10, 16)
	return int(v), err == nil && strconv.FormatUint(v, 10) == s
}

func compareNotes(a, b note) int {
	if a.method != b.method {
		return a.method - b.method
	}
	if a.kind != b.kind {
		return int(a.kind) - int(b.kind)
	}
	return a.index - b.index
}

// find returns the note of that method, kind and index.
func (all notes) find(method int, kind byte, index int) (note, bool) {
	if len(all) == 0 {
		return note{}, false
	}
	at, ok := slices.BinarySearchFunc(all, note{method: method, kind: kind, index: index}, compareNotes)
	if !ok {
		return note{}, false
	}
	return all[at], true
}

func (all notes) has(method int, kind byte, index int) bool {
	_, ok := all.find(method, kind, index)
	return ok
}

// maxStack returns the max_stack that a note says the method had, and whether there is such a note.
func (all notes) maxStack(method int) (uint16, bool) {
	at, _ := slices.BinarySearchFunc(all, note{method: method, kind: noteMaxStack}, compareNotes)
	if at < len(all) && all[at].method == method && all[at].kind == noteMaxStack {
		return uint16(all[at].index), true
	}
	return 0, false
}
