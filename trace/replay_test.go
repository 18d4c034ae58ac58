package trace

import (
	"path/filepath"
	"testing"
)

// balance is a Handler that holds stretches to what they promise.
type balance struct {
	t     *testing.T
	calls int
	open  map[uint32]int
}

func (b *balance) Chunk(Chunk) error          { return nil }
func (b *balance) Named(Method, string) error { return nil }

func (b *balance) Stretch(s *Stretch) error {
	b.calls += len(s.Calls)
	if b.open == nil {
		b.open = map[uint32]int{}
	}
	s.Walk(func(int) { b.open[s.Thread]++ }, func(int) { b.open[s.Thread]-- })
	for i, c := range s.Calls {
		outer := Call{Begin: s.Begin, End: s.End, Next: int32(len(s.Calls))}
		if c.Parent >= 0 {
			outer = s.Calls[c.Parent]
		}
		if c.Begin < outer.Begin || c.End > outer.End || c.Begin > c.End || int(c.Parent) >= i || c.Next <= int32(i) || c.Next > outer.Next {
			b.t.Errorf("call %d %+v does not lie within %+v", i, c, outer)
		}
	}
	return nil
}

func TestReplayVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/vectors/*.tgd")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		r, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		b := balance{t: t}
		if err := Replay(r, &b); err != nil {
			t.Error(file, err)
		}
		for thread, open := range b.open {
			if open != 0 {
				t.Errorf("%s: thread %d: %d calls are entered and not left", file, thread, open)
			}
		}
		if b.calls == 0 {
			t.Errorf("%s: no calls", file)
		}
		r.Close()
	}
}
