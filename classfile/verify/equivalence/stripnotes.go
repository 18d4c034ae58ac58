package equivalence

import (
	"slices"
	"strconv"
	"strings"
)

// note is one fact about the original that the rewritten class does not show.
type note struct {
	method int
	kind   byte
	index  int // a position or a frame's number in the original, or a max_stack
	value  int // of noteFrameForm, a frame_type
}

// The kinds of notes, by the letter that stands for them.
const (
	noteMaxStack    = 's' // max_stack was index
	noteFrameForm   = 'f' // frame number index had the form value
	noteShortBranch = 'n' // the branch at index was short
	noteWideBranch  = 'w' // the branch at index was wide
	noteEmptyFrames = 't' // there was a StackMapTable with no frames
	noteOwnHandler  = 'h' // what looks like the exact handler is the method's own athrow with an exit before it
	noteOwnFrame    = 'k' // frame number index, behind a widened branch, was there before
)

// notes are a class's notes, ascending by method, kind and index.
type notes []note

const notesPrefix = "tracegen:"

func isNotes(text string) bool { return strings.HasPrefix(text, notesPrefix) }

// parseNotes reads "tracegen:" and items joined by semicolons: a method's index in decimal, a kind's letter,
// an index where the kind has one, and for a frame's form "=" and the frame_type. Methods ascend; of two notes
// that say the same of one method the class file would be no work of ours.
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
	case noteMaxStack, noteShortBranch, noteWideBranch, noteOwnFrame:
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

// find gives the note about that method of that kind with that index.
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

// maxStack gives the noted max_stack of the method, or false.
func (all notes) maxStack(method int) (uint16, bool) {
	at, _ := slices.BinarySearchFunc(all, note{method: method, kind: noteMaxStack}, compareNotes)
	if at < len(all) && all[at].method == method && all[at].kind == noteMaxStack {
		return uint16(all[at].index), true
	}
	return 0, false
}
