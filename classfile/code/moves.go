package code

import "math"

// moves has the number of bytes by which each old position moves.
type moves struct {
	list []move // by ascending from, the first from 0
	// What was asked for last, tried first since most positions come in ascending order: the positions from first on,
	// size of them, move by last.
	first int
	size  uint
	last  int
}

// move is the number of bytes by which positions move, from one on up to that of the next move.
type move struct{ from, by int }

// reset removes all moves.
func (m *moves) reset() {
	m.list = append(m.list[:0], move{})
	m.size = 0
}

// add adds a move from a position on, which is not less than that of the move before.
func (m *moves) add(from, by int) {
	if last := &m.list[len(m.list)-1]; last.from == from {
		last.by = by
		return
	}
	m.list = append(m.list, move{from, by})
}

// by returns the number of bytes by which p moves.
func (m *moves) by(p int) int {
	if uint(p-m.first) < m.size {
		return m.last
	}
	return m.find(p)
}

// find is by without the last result.
func (m *moves) find(p int) int {
	lo, hi := 0, len(m.list)-1 // the move is one of list[lo : hi+1]
	for lo < hi {
		if mid := (lo + hi + 1) / 2; m.list[mid].from <= p {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	m.first, m.last, m.size = m.list[lo].from, m.list[lo].by, math.MaxInt
	if lo+1 < len(m.list) {
		m.size = uint(m.list[lo+1].from - m.first)
	}
	return m.last
}
