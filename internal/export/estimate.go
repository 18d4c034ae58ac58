package export

import (
	"io"

	"github.com/tracegen/tracegen/internal/analysis"
	"github.com/tracegen/tracegen/trace"
)

// Estimate is how large an export will be.
type Estimate struct {
	// Bytes is the size of the output. It is less than twice the real size and more than half of it.
	Bytes int64
	// Events is how many calls will be written, each call that stands for several as one. Calls is how many calls these
	// stand for.
	Events, Calls uint64
}

const (
	// sampledFirst is how many calls an estimator exports at first.
	sampledFirst = 1 << 17
	// sampledShare is one part of how many of the later calls it exports.
	sampledShare = 64
)

// Estimator is a Writer that writes nothing. It estimates the size of the export that a Writer makes of the same
// recordings: it exports a sample of the calls and everything else, and counts the bytes. The sample is all of the first
// 131,072 calls, and every 64th part of the later ones, in whole segments. If there are no more calls, the estimate is
// exact.
type Estimator struct {
	Writer                 // of the sample
	base            Writer // of everything but calls
	size, baseSize  counter64
	sampled, events uint64
	calls           uint64
}

// counter64 counts bytes.
type counter64 int64

func (c *counter64) Write(b []byte) (int, error) {
	*c += counter64(len(b))
	return len(b), nil
}

// NewEstimator begins to estimate the size of an export that [New] would begin with the same arguments.
func NewEstimator(format string, o Options) (*Estimator, error) {
	e := &Estimator{}
	var err error
	if e.Writer, err = New(format, &e.size, o); err != nil {
		return nil, err
	}
	e.base, err = New(format, &e.baseSize, o)
	return e, err
}

// both calls a method of both writers.
func (e *Estimator) both(call func(Writer) error) error {
	if err := call(e.Writer); err != nil {
		return err
	}
	return call(e.base)
}

// Recording begins a recording.
func (e *Estimator) Recording(r *analysis.Recording) error {
	return e.both(func(w Writer) error { return w.Recording(r) })
}

// Chunk takes a chunk.
func (e *Estimator) Chunk(c trace.Chunk) error {
	return e.both(func(w Writer) error { return w.Chunk(c) })
}

// Named takes the name of a method.
func (e *Estimator) Named(m trace.Method, name string) error {
	return e.both(func(w Writer) error { return w.Named(m, name) })
}

// Stall takes a stall with its verdict.
func (e *Estimator) Stall(s *analysis.Stall) error {
	return e.both(func(w Writer) error { return w.Stall(s) })
}

// Segment counts the calls of a segment, and exports those of the sample.
func (e *Estimator) Segment(s *trace.Segment) error {
	n := uint64(len(s.Calls))
	e.events += n
	for i := range s.Calls {
		if s.Calls[i].Marks&trace.MarkResumed == 0 {
			e.calls += uint64(s.Calls[i].Count)
		}
	}
	if e.sampled+n > sampledFirst && e.sampled > e.events/sampledShare {
		return nil
	}
	e.sampled += n
	return e.Writer.Segment(s)
}

// Close ends the sample.
func (e *Estimator) Close() error {
	return e.both(func(w Writer) error { return w.Close() })
}

// Estimate returns the estimate. It is called after Close.
func (e *Estimator) Estimate() Estimate {
	out := Estimate{Bytes: int64(e.size), Events: e.events, Calls: e.calls}
	if e.sampled < e.events {
		more := float64(e.size-e.baseSize) * float64(e.events-e.sampled) / float64(max(1, e.sampled))
		out.Bytes += int64(min(max(more, 0), 1<<60))
	}
	return out
}

// Limited writes to another writer until more than a number of bytes would be written. It then fails with Err.
type Limited struct {
	W    io.Writer
	Left int64
	Err  error
}

// Write implements io.Writer.
func (l *Limited) Write(b []byte) (int, error) {
	if int64(len(b)) > l.Left {
		return 0, l.Err
	}
	n, err := l.W.Write(b)
	l.Left -= int64(n)
	return n, err
}
