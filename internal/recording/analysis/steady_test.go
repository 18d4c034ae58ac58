package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// steadily is a recording of one call of a second, without a report of the device and with steady samples alone.
type steadily struct {
	samples int
	state   trace.ThreadState
	cpu     int64 // between two samples
	below   string
}

func (steadily) Damage() trace.Damage { return trace.Damage{Closed: true} }

func (r steadily) Replay(h trace.Handler) error {
	chunks := []trace.Chunk{
		&trace.Meta{Values: map[string]string{"tickNanos": "1000", "slowMillis": "700", "records": "all"}},
		&trace.Threads{List: []trace.Thread{{Index: 1, Name: "worker"}}},
		&trace.Stacks{Samples: []trace.SteadySample{{}}},
	}
	for _, c := range chunks {
		if err := h.Chunk(c); err != nil {
			return err
		}
	}
	for i, name := range []string{r.below, "lib.Proxy.invoke"} {
		if err := h.Named(trace.FirstNamed+trace.Method(i), name); err != nil {
			return err
		}
	}
	s := &trace.Segment{Thread: 1, Kind: trace.SegmentOutermost, FirstRecord: 7, EndRecord: 11, Begin: 5e9, End: 6e9,
		Calls: []trace.Call{{Method: 17, Parent: -1, Next: 2, Count: 1, Begin: 5e9, End: 6e9},
			{Method: 18, Parent: 0, Next: 2, Count: 1, Begin: 5e9, End: 6e9}}}
	for k := range r.samples {
		s.Samples = append(s.Samples, trace.Sample{Call: 1, State: r.state, Nanos: 5e9 + int64(k)*1e9/int64(r.samples),
			Weight: 1e9 / int64(r.samples), CPU: r.cpu, Below: []trace.Method{trace.FirstNamed},
			Between: []trace.Between{{Call: 1, Frames: []trace.Method{trace.FirstNamed + 1}}}})
	}
	return h.Segment(s)
}

// TestVerdictsRestOnSteadySamples: a stall of which the device took no samples of its own gets its verdict from the
// steady ones. These do not show for what a thread was started.
func TestVerdictsRestOnSteadySamples(t *testing.T) {
	for _, c := range []struct {
		steadily
		kind Kind
		want string
	}{
		{steadily{0, 0, -1, "java.lang.Thread.sleep"}, KindUnknown,
			"cause unknown: a.B.load (own time 1000 ms); CPU time was not recorded; no stack sample was taken"},
		{steadily{20, trace.ThreadTimedWaiting, 0, "java.lang.Thread.sleep"}, KindSleep,
			"sleep: a.B.load (own time 1000 ms) in java.lang.Thread.sleep; 20 of 20 samples, about 1.0 of 1.0 s; " +
				"CPU time was not recorded"},
		{steadily{20, trace.ThreadBlocked, -1, "a.C.get"}, KindLock,
			"waiting for a lock: a.B.load (own time 1000 ms); the holder was not recorded; 20 of 20 samples, about " +
				"1.0 of 1.0 s; CPU time was not recorded"},
		{steadily{1000, 2, 1e6, "java.util.HashMap.get"}, KindOwnWork,
			"own work: a.B.load (own time 1000 ms); CPU time was not recorded"},
		{steadily{20, 2, 0, "java.io.FileInputStream.readBytes"}, KindIO,
			"I/O (file): a.B.load (own time 1000 ms) in java.io.FileInputStream.readBytes; 20 of 20 samples, about 1.0 of " +
				"1.0 s; CPU time was not recorded"},
	} {
		var found *Stall
		err := Analyze("a", c.steadily, Options{
			Names: names{17: {Class: "a.B", Method: "run"}, 18: {Class: "a.B", Method: "load"}},
			Stall: func(s *Stall) error { found = s; return nil },
		})
		if err != nil || found == nil {
			t.Fatal(err)
		}
		if v := found.Verdict; v.Kind != c.kind || v.Text != c.want {
			t.Errorf("%s: %q, want %q", v.Kind, v.Text, c.want)
		}
		if found.Role != RoleStall {
			t.Errorf("%s: it is a %s", c.want, found.Role)
		}
		if n := len(found.Samples); n > 256 || n < min(c.samples, 128) {
			t.Errorf("%d of %d samples", n, c.samples)
		}
		for i, s := range found.Samples {
			if i > 0 && (s.After-found.Samples[i-1].After > 10*time.Millisecond && c.samples > 100) {
				t.Errorf("no sample between %v and %v", found.Samples[i-1].After, s.After)
			}
			const source = "(Unknown Source)"
			want := []string{c.below + source, "a.B.load" + source, "lib.Proxy.invoke" + source, "a.B.run" + source}
			if !slices.Equal(s.Frames, want) {
				t.Fatalf("frames %q, want %q", s.Frames, want)
			}
		}
	}
}
