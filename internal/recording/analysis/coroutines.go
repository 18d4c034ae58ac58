package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/composition"
	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/trace"
)

// PartlyRecorded reports whether there are threads that are not recorded, as far as that is known.
func (r *Recording) PartlyRecorded() bool {
	if c := r.Completeness; c != nil && slices.ContainsFunc(c.Dropped, func(d DroppedCount) bool {
		return d.kind == trace.DroppedVirtual
	}) {
		return true
	}
	if threads := r.Meta["threads"]; threads != "" {
		return !strings.Contains(threads, "all")
	}
	return r.Threads <= 1
}

// resumed says which suspend function the thread resumed again and again for half of the stall.
func (s *Stall) resumed(j *coroutine.Joiner) {
	list := j.Resumed(s.Thread.Index, s.begin, s.begin+s.Wall.Nanoseconds())
	if len(list) > 0 && list[0].Count > 1 && enough(list[0].Took, s.Ran) {
		s.Verdict.Text += fmt.Sprintf("; %s was resumed %d times", s.Names.Method(list[0].Method), list[0].Count)
	}
}

// composed says which composable was executed again and again for half of the stall.
func (s *Stall) composed(j *composition.Joiner) {
	if c := j.Most(s.Thread.Index, s.FirstRecord, s.EndRecord, s.Ran); c != nil {
		s.Verdict.Text += fmt.Sprintf("; %s was %s, for %s", c, c.Times(), Tenths(c.Total, s.Wall))
	}
}
