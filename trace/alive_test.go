package trace

import "testing"

// TestHangLastsUntilSignOfLife replays a call that has no exit. It lasts until the last sign of life of its own
// thread. Earlier runtimes wrote none: then it lasts until the last time in the recording, if a stack sample shows that
// its thread put no record for a while.
//
// Invariant: A call that is open when a recording ends lasts until the last sign of life of its thread.
func TestHangLastsUntilSignOfLife(t *testing.T) {
	const begin, open = 1_000_000, 5
	at := func(thread uint32, state ThreadState, nanos int64) *Alive {
		return &Alive{Nanos: nanos, Open: []OpenCall{{Thread: thread, State: state}}}
	}
	sample := &StackSample{Thread: 1, State: 5, Nanos: 7 * begin}
	for _, c := range []struct {
		name     string
		hasAlive bool // the runtime is one that writes signs of life
		signs    []Chunk
		want     int64
	}{
		{"no sign", true, nil, begin},
		{"alive", true, []Chunk{at(1, 3, 2*begin), at(1, 3, 9*begin)}, 9 * begin},
		{"stack sample", true, []Chunk{sample}, begin},
		{"earlier than the last record", true, []Chunk{at(1, 3, begin/2)}, begin},
		{"another thread", true, []Chunk{at(2, 3, 9*begin)}, begin},
		{"the thread had ended", true, []Chunk{at(1, stateTerminated, 9*begin)}, begin},
		{"minor version 1: stack sample", false, []Chunk{sample}, 7 * begin},
		{"minor version 1: another thread", false, []Chunk{sample, &StackSample{Thread: 2, Nanos: 9 * begin}}, 9 * begin},
		{"minor version 1: the clock", false, []Chunk{sample, &Clock{NanoTime: 8 * begin}}, 8 * begin},
		{"minor version 1: another thread only", false, []Chunk{&StackSample{Thread: 2, Nanos: 9 * begin}}, begin},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := lastSegment{}
			p := newReplay(&h)
			p.signs = c.hasAlive
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
