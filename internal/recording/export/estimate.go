package export

import (
	"io"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/trace"
)

// Estimate is how large an export will be.
type Estimate struct {
	// Bytes is the size of the output. It is less than twice the real size and more than half of it.
	Bytes int64
	// Events is how many calls will be written, each call that stands for several as one. Calls is how many calls
	// these stand for.
	Events, Calls uint64
}

const (
	// sampledFirst is how many calls an estimator exports at first.
	sampledFirst = 1 << 17
	// sampledShare is one part of how many of the later calls it exports.
	sampledShare = 64
	// sampledRow is how many of them in a row are exported at least: what is deflated becomes smaller if its
	// neighbours are like it.
	sampledRow = 1 << 12
)

// Estimator is a Writer that writes nothing. It estimates the size of the export that a Writer makes of the same
// recordings: it exports a sample of the calls and everything else, and counts the bytes. The sample is the first
// 131,072 calls, and a 64th part of the later ones, spread over all of them in whole segments. If there are no later
// ones, the estimate is exact. There are two exports, of which one has no later calls: the difference is the size of
// the others.
type Estimator struct {
	Writer                 // of the sample
	first                  Writer
	size, firstSize        counter64
	events, later, sampled uint64 // all calls, those after the first, and how many of these are in the sample
	row                    uint64 // of the sample, or 0
	calls                  uint64
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
	e.first, err = New(format, &e.firstSize, o)
	return e, err
}

// both calls a method of both writers.
func (e *Estimator) both(call func(Writer) error) error {
	if err := call(e.Writer); err != nil {
		return err
	}
	return call(e.first)
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
	if e.later == 0 && (e.events <= sampledFirst || e.events == n) {
		return e.both(func(w Writer) error { return w.Segment(s) })
	}
	e.later += n
	if e.row == 0 && e.sampled > e.later/sampledShare {
		return nil
	}
	e.sampled += n
	if e.row += n; e.row >= sampledRow {
		e.row = 0
	}
	return e.Writer.Segment(s)
}

// Close ends the sample.
func (e *Estimator) Close() error {
	return e.both(func(w Writer) error { return w.Close() })
}

// Estimate returns the estimate. It is called after Close.
func (e *Estimator) Estimate() Estimate {
	out := Estimate{Bytes: int64(e.firstSize), Events: e.events, Calls: e.calls}
	if e.later > 0 {
		later := float64(e.size-e.firstSize) * float64(e.later) / float64(max(1, e.sampled))
		out.Bytes += int64(min(max(later, 0), 1<<60))
	}
	return out
}

// Limited writes to another writer until more than a number of bytes would be written. It then fails with Err.
type Limited struct {
	// W is what is written to.
	W io.Writer
	// Left is how many bytes may still be written.
	Left int64
	// Err is the error behind them.
	Err error
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
