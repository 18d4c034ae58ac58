package trace

import (
	"fmt"
	"testing"
)

// TestExceptionsAreNotExchangedRecords replays calls of which one was left by an exception, so that its exit is
// missing. All records have one time, and are the same as if two exits had changed places.
//
// Invariant: In a recording of a runtime whose records are exact, an exit ends an open call of its method, and the
// calls inside it end there.
func TestExceptionsAreNotExchangedRecords(t *testing.T) {
	records := []Record{entry(2, 0), entry(1, 0), entry(2, 0), exit(1, 0), exit(2, 0)}
	for range 5 {
		records = append(records, entry(5, 0), exit(5, 0))
	}
	for _, exact := range []bool{true, false} {
		var h outermost
		p := newReplay(&h)
		p.limits.exact = exact
		if err := p.chunk(&Records{Thread: 1, List: records}); err != nil {
			t.Fatal(err)
		}
		if err := p.finish(); err != nil {
			t.Fatal(err)
		}
		want := "[2 5 5 5 5 5] {Unwound:1"
		if got := fmt.Sprintf("%v %+v", h.methods, h.repairs); exact != (got[:min(len(want), len(got))] == want) {
			t.Errorf("exact %v: outermost calls and repairs are %s", exact, got)
		}
	}
}

// outermost collects the methods of the outermost calls.
type outermost struct {
	methods []Method
	repairs Repairs
}

func (h *outermost) Chunk(Chunk) error          { return nil }
func (h *outermost) Named(Method, string) error { return nil }
func (h *outermost) Segment(s *Segment) error {
	h.methods = append(h.methods, s.Calls[0].Method)
	h.repairs.Add(s.Repairs)
	return nil
}
