package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/composition"
	"github.com/tracegen/tracegen/internal/recording/coroutine"
	"github.com/tracegen/tracegen/internal/recording/units"
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

// Pool returns the threads whose names differ from that of a thread in a number at the end only, in the order of their
// indices, and what their names have in common, or the label of the only one.
func (r *Recording) Pool(thread uint32) (threads []uint32, name string) {
	stem := func(index uint32) string { return strings.TrimRight(r.Thread(index).Name, "0123456789") }
	name = stem(thread)
	for _, index := range slices.Sorted(maps.Keys(r.threads)) {
		if index == thread || name != "" && stem(index) == name {
			threads = append(threads, index)
		}
	}
	if len(threads) == 1 {
		return threads, r.Thread(thread).Label
	}
	return threads, strings.TrimRight(name, "-# ")
}

// resumed says which suspend function the thread resumed again and again for half of the stall.
func (s *Stall) resumed(j *coroutine.Joiner) (some bool) {
	list := j.Resumed(s.Thread.Index, s.begin, s.begin+s.Wall.Nanoseconds())
	if len(list) > 0 && list[0].Count > 1 && enough(list[0].Took, s.Ran) {
		s.Verdict.Text += fmt.Sprintf("; %s was resumed %d times", s.Names.Method(list[0].Method), list[0].Count)
	}
	return len(list) > 0
}

// maxHeldNodes is how many nodes of trees the stalls that are held may have.
const maxHeldNodes = 1 << 20

// hold holds a stall back in which coroutines were resumed, and those behind it: what they waited for is known when the
// recording has been read to its end.
func (a *analyzer) hold(s *Stall, resumed bool) error {
	if !resumed && len(a.held) == 0 {
		return a.handOn(s)
	}
	a.held = append(a.held, s)
	a.heldNodes += 1 + len(s.Tree.Nodes)
	for a.heldNodes > maxHeldNodes {
		if err := a.release(); err != nil {
			return err
		}
	}
	return nil
}

// release hands on the stall that has been held longest.
func (a *analyzer) release() error {
	s := a.held[0]
	a.held = a.held[1:]
	a.heldNodes -= 1 + len(s.Tree.Nodes)
	switch s.Verdict.Kind {
	case KindWait, KindMixed, KindUnknown:
		r := a.recording
		words := coroutine.Words{Method: r.Names.Label, Pool: r.Pool,
			Thread: func(index uint32) string { return r.Thread(index).Label }}
		s.Verdict.Text += r.Coroutines.Awaited(words, s.Thread.Index, s.begin, s.begin+s.Wall.Nanoseconds(), s.Ran)
	}
	return a.handOn(s)
}

// composed says which composable was executed again and again for half of the stall.
func (s *Stall) composed(j *composition.Joiner) {
	if c := j.Most(s.Thread.Index, s.FirstRecord, s.EndRecord, s.Ran); c != nil {
		s.Verdict.Text += fmt.Sprintf("; %s was %s, for %s", c, c.Times(), units.Tenths(c.Total, s.Wall))
	}
}
