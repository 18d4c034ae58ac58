package export

import (
	"encoding/binary"
	"iter"

	"github.com/tracegen/tracegen/trace"
)

// steps is what one thread did, in the order of time, in some four bytes a step: for formats that cannot be written
// as it comes.
type steps struct {
	bytes       []byte
	first, last int64
}

// add appends a step. A time before the last one's becomes that.
func (s *steps) add(what uint64, at int64) {
	if len(s.bytes) == 0 {
		s.first, s.last = at, at
	}
	at = max(at, s.last)
	s.bytes = binary.AppendUvarint(s.bytes, what)
	s.bytes = binary.AppendUvarint(s.bytes, uint64(at-s.last))
	s.last = at
}

// all returns the steps, each with its time.
func (s *steps) all() iter.Seq2[uint64, int64] {
	return func(yield func(uint64, int64) bool) {
		at := s.first
		for rest := s.bytes; len(rest) > 0; {
			what, n := binary.Uvarint(rest)
			later, m := binary.Uvarint(rest[n:])
			at, rest = at+int64(later), rest[n+m:]
			if !yield(what, at) {
				return
			}
		}
	}
}

// calls appends the entries and exits of a segment. step makes a step of a call's index and of whether it is
// left.
func (s *steps) calls(t *thread, st *trace.Segment, step func(call int, left bool) uint64) {
	st.Walk(func(i int) { s.add(step(i, false), t.at(st.Calls[i].Begin)) },
		func(i int) { s.add(step(i, true), t.at(st.Calls[i].End)) })
}
