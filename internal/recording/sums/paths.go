package sums

import (
	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

// callsToSample is after how many calls without a sample paths are not kept any more: the recording has none.
const callsToSample = 1 << 20

// Paths merges the calls of one recording by thread and path, and divides them among what its samples show. All outputs
// that show times of methods get the estimated ones from here, so that these are the same in all. The paths of a
// recording without samples are not kept. It is not safe for several goroutines.
type Paths struct {
	// Limit is how many paths of a thread are kept, those that took longest; 0 for all. Four times as many are kept while
	// they are read. The times of those that are left out are in no own time.
	Limit int

	ordered []*ThreadPaths // in the order of the first segments
	threads map[uint32]*ThreadPaths
	calls   int
	sampled bool
}

// ThreadPaths are the calls of one thread, merged by path.
type ThreadPaths struct {
	// Thread is its index.
	Thread uint32
	// Recorded has the calls as they were recorded, Tree has them divided among what samples show.
	Recorded, Tree *evidence.Tree
}

// Sampled reports whether the recording has samples.
func (p *Paths) Sampled() bool { return p.sampled }

// Chunk implements [trace.Handler].
func (p *Paths) Chunk(c trace.Chunk) error {
	if s, ok := c.(*trace.Stacks); ok && len(s.Samples) > 0 {
		p.sampled = true
	}
	return nil
}

// Named implements [trace.Handler].
func (p *Paths) Named(trace.Method, string) error { return nil }

// Segment adds the calls of a segment, with its samples.
func (p *Paths) Segment(s *trace.Segment) error {
	if !p.sampled {
		if p.calls += len(s.Calls); p.calls > callsToSample {
			p.ordered, p.threads = nil, nil
			return nil
		}
	}
	t := p.threads[s.Thread]
	if t == nil {
		if p.threads == nil {
			p.threads = map[uint32]*ThreadPaths{}
		}
		t = &ThreadPaths{Thread: s.Thread, Recorded: new(evidence.Tree)}
		p.threads[s.Thread] = t
		p.ordered = append(p.ordered, t)
	}
	t.Recorded.Add(s)
	if p.Limit > 0 && len(t.Recorded.Nodes) > 4*p.Limit {
		t.Recorded.Trim(p.Limit)
	}
	return nil
}

// Grafted returns the calls of each thread, when all segments have been added; nil if the recording has no samples.
func (p *Paths) Grafted() []*ThreadPaths {
	if !p.sampled {
		return nil
	}
	for _, t := range p.ordered {
		if t.Tree == nil {
			t.Tree = evidence.Graft(t.Recorded)
		}
	}
	return p.ordered
}
