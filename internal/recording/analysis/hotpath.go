package analysis

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// Step is one call of a path, with all calls that were made the same way.
type Step struct {
	// Method is what was called.
	Method resolve.Method `json:"method"`
	// Total is how long, in nanoseconds, and Self what of it was spent in no traced method below.
	Total int64 `json:"totalNanos"`
	Self  int64 `json:"selfNanos"`
	// Calls is how many there were, Marked how many of them were repaired.
	Calls  uint64 `json:"calls"`
	Marked uint64 `json:"marked,omitempty"`
	// Estimated is how much of Self only samples show, as the method was switched off; Samples is how many.
	Estimated int64 `json:"estimatedNanos,omitempty"`
	Samples   int   `json:"samples,omitempty"`
}

// The hot path leads from the outermost call to the longest one within it, and on, while that is three tenths of
// the whole at least: as in the key that the runtime makes, and in Matrix's.
const (
	hotShare = 3
	hotWhole = 10
)

// hotPath returns the hot path of a message, the outermost call first.
func hotPath(t *evidence.Tree, names *resolve.Names) []Step {
	var path []Step
	if len(t.Nodes) == 0 {
		return nil
	}
	for at := t.LongestChild(0); at != 0; at = t.LongestChild(at) {
		n := &t.Nodes[at]
		if n.Total*hotWhole < t.Nodes[0].Total*hotShare {
			break
		}
		path = append(path, Step{Method: names.Method(n.Method), Total: n.Total, Self: n.Self, Calls: n.Calls,
			Marked: n.Marked})
	}
	return path
}

// pathKey is equal for hot paths of the same methods, whatever their IDs are in each build. The dispatch is left out,
// and what is not recorded.
func pathKey(path []Step) string {
	var names []string
	for _, s := range path {
		if m := &s.Method; m.ID != trace.MethodDispatch && !m.Pseudo() {
			names = append(names, m.Class+"."+m.Name+m.Descriptor)
		}
	}
	return textKey(names...)
}

// textKey is a key of texts.
func textKey(texts ...string) string {
	h := fnv.New64a()
	for _, t := range texts {
		fmt.Fprintln(h, t)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// mostSelf returns the methods with the most time of their own in a message, wherever they were called, the first
// first, at most n. Calls and Total are summed up too; a Total counts a method's calls within itself once.
func mostSelf(t *evidence.Tree, names *resolve.Names, n int) []Step {
	if len(t.Nodes) == 0 {
		return nil
	}
	var all []Step
	for _, s := range evidence.Sums(evidence.Programs(t)) {
		if s.Method != trace.MethodDispatch && s.Method != trace.MethodNotRecorded && s.Self > 0 {
			step := Step{Method: names.Method(s.Method), Total: s.Total, Self: s.Self, Calls: s.Calls, Marked: s.Marked}
			if step.Estimated = s.EstimatedSelf; step.Estimated > 0 {
				step.Samples = s.Samples
			}
			all = append(all, step)
		}
	}
	slices.SortFunc(all, func(a, b Step) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), resolve.CompareMethods(a.Method, b.Method))
	})
	return all[:min(n, len(all))]
}
