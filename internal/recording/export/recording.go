package export

import (
	"fmt"
	"math"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/trace"
)

// recording is the recording that is being exported: what package analysis says of it, and what only exports need.
type recording struct {
	*analysis.Recording
	// number counts from 1.
	number  int
	threads map[uint32]*thread
	methods map[methodKey]int32
	tids    int64 // given so far, beside the main thread's
	main    bool  // one of the threads that the exporter has is the main thread

	moved   uint64 // segments that were put behind the one before
	leftOut int    // calls of suspend functions for which there is no track
	paths   sums.Paths

	executions  executions
	notComposed uint64 // executions of composables that no track shows
}

// process is what to call the recording among others.
func (r *recording) process() string {
	if p := r.Process(); p != "" {
		return p
	}
	return fmt.Sprintf("recording %d", r.number)
}

// pid is the recording's number as a process. Up to the next one's there is room for its threads.
func (r *recording) pid() int64 { return int64(r.number) << 16 }

// nextTID is the number of a thread, or of what is shown as one, that has none yet.
func (r *recording) nextTID() int64 {
	r.tids++
	return r.pid() + r.tids
}

// sum is a+b, or the nearest number that there is.
func sum(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// difference is a-b, or the nearest number that there is.
func difference(a, b int64) int64 {
	if b == math.MinInt64 {
		b++
	}
	return sum(a, -b)
}

// thread is a thread of a recording.
type thread struct {
	*analysis.Thread
	of *recording
	// tid is its number in the export: no other thread of any recording has it, and the main thread's is its process's.
	tid int64
	// shift is added to the times of the segment that is being exported.
	shift int64
	// last is when the last segment has ended, messages when the last message has.
	last, messages int64
	// sequence is the number of the message that is exported next.
	sequence uint64
}

// at returns a time of the segment that is being exported, in nanoseconds since the recording's origin.
func (t *thread) at(nanos int64) int64 { return max(0, sum(t.of.Since(nanos), t.shift)) }

// took returns a call's time in nanoseconds.
func (t *thread) took(c *trace.Call) int64 { return t.at(c.End) - t.at(c.Begin) }

// fact is something that is to be said of a recording or an event. value is a string, int64, uint64, float64 or bool.
type fact struct {
	key   string
	value any
}

func (f fact) text() string { return fmt.Sprint(f.value) }

// facts says of a recording what its content does not.
func (r *recording) facts() []fact {
	var all []fact
	for _, f := range r.Facts() {
		all = append(all, fact{f.Key, f.Value})
	}
	if r.moved > 0 {
		all = append(all, fact{"segments moved behind the one before", r.moved})
	}
	if r.leftOut > 0 {
		all = append(all, fact{"calls of suspend functions without a track", int64(r.leftOut)})
	}
	if r.notComposed > 0 {
		all = append(all, fact{"executions of composables without a track", r.notComposed})
	}
	return all
}

// marksText names marks, but for those that only say that a call is in parts; it is empty if there are none.
func marksText(m trace.Marks) string {
	var all []string
	for k, name := range [...]string{"open", "unwound", "truncated", "retimed", "overfull", 7: "cut", 8: "contradicted"} {
		if name != "" && m&(1<<k) != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

// shown is the marks that are to be shown.
const shown = trace.MarkOpen | trace.MarkUnwound | trace.MarkTruncated | trace.MarkRetimed |
	trace.MarkOverfull | trace.MarkCut | trace.MarkContradicted

// callFacts is what is to be said of a call beside its name and times.
func callFacts(c *trace.Call) []fact {
	var all []fact
	if m := marksText(c.Marks); m != "" {
		all = append(all, fact{"marks", m})
	}
	if c.Count != 1 {
		all = append(all, fact{"calls", uint64(c.Count)})
	}
	return all
}
