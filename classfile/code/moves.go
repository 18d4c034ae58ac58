package code

import "math"

// moves has the number of bytes by which each old position moves.
type moves struct {
	list []move // by ascending from, the first from 0
	// The last query, tried first since most positions come in ascending order: the positions from first on,
	// size of them, move by last.
	first int
	size  uint
	last  int
}

// move is the number of bytes by which positions move, from one on up to the position of the next move.
type move struct{ from, by int }

// fewMoves is the greatest number of moves that are searched one after another.
const fewMoves = 8

// reset removes all moves.
func (m *moves) reset() {
	m.list = append(m.list[:0], move{})
	m.size = 0
}

// add adds a move from a position on, which is not less than the position of the move before.
func (m *moves) add(from, by int) {
	if last := &m.list[len(m.list)-1]; last.from == from {
		last.by = by
		return
	}
	m.list = append(m.list, move{from, by})
}

// to returns the new position of p.
func (m *moves) to(p int) int {
	if uint(p-m.first) < m.size {
		return p + m.last
	}
	return m.find(p)
}

// find is to without the last result.
func (m *moves) find(p int) int {
	list, i := m.list, 0 // list[i] is the last move that is known to be from p or before
	if len(list) > fewMoves {
		for lo, hi := 0, len(list); lo+1 < hi; {
			if i = int(uint(lo+hi) / 2); list[i].from <= p {
				lo = i
			} else {
				i, hi = lo, i
			}
		}
	}
	for i+1 < len(list) && list[i+1].from <= p {
		i++
	}
	m.first, m.last, m.size = list[i].from, list[i].by, math.MaxInt
	if i+1 < len(list) {
		m.size = uint(list[i+1].from - m.first)
	}
	return p + m.last
}
