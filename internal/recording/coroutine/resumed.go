package coroutine

import (
	"cmp"
	"slices"
	"time"

	"github.com/tracegen/tracegen/trace"
)

// Resumption is how often a thread has resumed calls of a method in a time, and how long these ran there.
type Resumption struct {
	// Method was resumed Count times, and ran for Took.
	Method trace.Method
	Count  int
	Took   time.Duration
}

// Resumed returns what a thread has resumed in a time, the longest first, of the segments so far. A piece in another
// one that was resumed is in the time of both.
func (j *Joiner) Resumed(thread uint32, begin, end int64) []Resumption {
	t := j.threads[thread]
	if t == nil {
		return nil
	}
	from, _ := slices.BinarySearchFunc(t.resumed, begin, func(p int32, begin int64) int {
		return cmp.Compare(j.pieces[p].begin, begin)
	})
	var out []Resumption
	for _, i := range t.resumed[from:] {
		p := &j.pieces[i]
		if p.begin > end {
			break
		}
		m := p.key.method()
		k := slices.IndexFunc(out, func(r Resumption) bool { return r.Method == m })
		if k < 0 {
			k = len(out)
			out = append(out, Resumption{Method: m})
		}
		out[k].Count++
		out[k].Took += time.Duration(max(0, min(p.end, end)-p.begin))
	}
	slices.SortStableFunc(out, func(a, b Resumption) int { return cmp.Compare(b.Took, a.Took) })
	return out
}
