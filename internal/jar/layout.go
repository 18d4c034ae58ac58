package jar

import (
	"math"
	"sort"
)

// The two bytes of a class file in front of its constants, their number, change with every constant that is added.
// They are the only bytes in front of the end of the constants that do.
const (
	changing    = 8
	changingEnd = 10
)

// markStep is how many bytes there are between two marks, or some more: most of a match that a mark falls into.
const markStep = 64

// maxLaidOut is the greatest size in bytes of data whose layout is noted, deflated or not.
const maxLaidOut = 1 << 24

// layout is where data are in the deflate stream that they were inflated from. Only blocks with codes are noted, up to
// the first without.
type layout struct {
	blocks []block
	marks  []mark // in their order: of the first symbol, of the one at changingEnd, if one begins there, and so on
	end    int    // of the last block, in bits
	uses   int    // the first position at which there is a match with any of the changing bytes
}

// block is a block of a deflate stream.
type block struct {
	bit        int  // position of its header
	endOfBlock uint // how many bits the symbol at its end has
}

// mark is a position in the data, and the bit at which the symbol that begins there has its place in the stream. What
// is in front of a mark can be copied without what is behind it.
type mark struct{ at, bit int32 }

func (l *layout) reset() { *l = layout{blocks: l.blocks[:0], marks: l.marks[:0], uses: math.MaxInt} }

func (l *layout) mark(at, bit int) { l.marks = append(l.marks, mark{int32(at), int32(bit)}) }

// match notes a match at n.
func (l *layout) match(n, distance, length int) {
	if n-distance < changingEnd && n-distance+length > changing {
		l.uses = min(l.uses, n)
	}
}

// lastMark returns the last mark that is not behind a position, and the number of its block. ok is false if there is
// none behind the changing bytes.
func (l *layout) lastMark(position int) (m mark, in int, ok bool) {
	if len(l.marks) < 2 || l.marks[0].at != 0 || l.marks[1].at != changingEnd || position < changingEnd {
		return mark{}, 0, false
	}
	m = l.marks[sort.Search(len(l.marks), func(i int) bool { return int(l.marks[i].at) > position })-1]
	return m, sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].bit > int(m.bit) }) - 1, true
}

// blockEnd returns the position behind a block, in bits.
func (l *layout) blockEnd(n int) int {
	if n+1 < len(l.blocks) {
		return l.blocks[n+1].bit
	}
	return l.end
}
