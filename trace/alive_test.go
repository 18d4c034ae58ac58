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
			records := &Records{Thread: 1, List: []Record{entry(open, begin)}}
			got := replayedChunks(t, append([]Chunk{records}, c.signs...)...).segments
			if len(got) != 1 || len(got[0].Calls) != 1 || got[0].Calls[0].Method != open ||
				got[0].Calls[0].Marks&MarkOpen == 0 || got[0].Calls[0].End != c.want {
				t.Errorf("got %+v, want one call of method %d, open, that ends at %d", got, open, c.want)
			}
		})
	}
}
