package trace

import "testing"

// TestHangLastsUntilSignOfLife replays a call that has no exit. It lasts until the last sign of life of its own
// thread.
//
// Invariant: A call that is open when a recording ends lasts until the last sign of life of its thread.
func TestHangLastsUntilSignOfLife(t *testing.T) {
	const begin, open = 1_000_000, 5
	at := func(thread uint32, state ThreadState, nanos int64) *Alive {
		return &Alive{Nanos: nanos, Open: []OpenCall{{Thread: thread, State: state}}}
	}
	sample := &StackSample{Thread: 1, State: 5, Nanos: 7 * begin}
	for _, c := range []struct {
		name  string
		signs []Chunk
		want  int64
	}{
		{"no sign", nil, begin},
		{"alive", []Chunk{at(1, 3, 2*begin), at(1, 3, 9*begin)}, 9 * begin},
		{"stack sample", []Chunk{sample}, begin},
		{"earlier than the last record", []Chunk{at(1, 3, begin/2)}, begin},
		{"another thread", []Chunk{at(2, 3, 9*begin)}, begin},
		{"the thread had ended", []Chunk{at(1, stateTerminated, 9*begin)}, begin},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := lastSegment{}
			p := newReplay(&h)
			entry := Record(1<<63 | open<<43 | 1)
			for _, chunk := range append([]Chunk{&Records{Thread: 1, List: []Record{entry}}}, c.signs...) {
				if err := p.chunk(chunk); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.finish(); err != nil {
				t.Fatal(err)
			}
			if len(h.calls) != 1 || h.calls[0].Method != open || h.calls[0].Marks&MarkOpen == 0 || h.calls[0].End != c.want {
				t.Errorf("the calls are %+v, want one of method %d, open, that ends at %d", h.calls, open, c.want)
			}
		})
	}
}

// lastSegment keeps the calls of the last segment.
type lastSegment struct{ calls []Call }

func (h *lastSegment) Chunk(Chunk) error          { return nil }
func (h *lastSegment) Named(Method, string) error { return nil }
func (h *lastSegment) Segment(s *Segment) error {
	h.calls = append(h.calls[:0], s.Calls...)
	return nil
}
