package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/tracegen/tracegen/trace"
)

// share is a method's part of the own time of all recorded calls of another one, or of the same.
type share struct{ method, within trace.Method }

// strata are the recorded methods in whose own time samples fell. The own time of each is exact: a sample says only how
// it is divided.
type strata struct {
	whole       map[trace.Method]int64 // the own time of a recorded method, with what of it was divided
	samples     map[trace.Method]weight
	self, total map[share]int64
}

// Bound sets the bounds of the sums of a grafted tree by those of the own times that were divided. A method that is
// estimated in several of them has independent errors, whose squares are added.
func Bound(sums []Sum, recorded, grafted *Tree) {
	s := &strata{whole: map[trace.Method]int64{}, samples: map[trace.Method]weight{}, self: map[share]int64{},
		total: map[share]int64{}}
	for i := range recorded.Samples.Below {
		if b := &recorded.Samples.Below[i]; b.Path != PathUnknown {
			m := recorded.Nodes[b.Node].Method
			w := s.samples[m]
			w.Add(b.SampleWeight)
			s.samples[m] = w
		}
	}
	s.walk(grafted)
	selfOff, totalOff := s.off(s.self), s.off(s.total)
	for i := range sums {
		m := &sums[i]
		m.SelfLow, m.SelfHigh = selfOff[m.Method].around(m.Self)
		m.TotalLow, m.TotalHigh = totalOff[m.Method].around(m.Total)
	}
}

// walk adds up the parts of the methods of a grafted tree.
func (s *strata) walk(t *Tree) {
	if len(t.Nodes) == 0 {
		return
	}
	within := make([]trace.Method, len(t.Nodes)) // the recorded method around a node
	open := map[trace.Method]int{}
	var estimated []trace.Method // methods whose outermost open call is estimated
	for k := t.Nodes[0].Child; k > 0; {
		n := &t.Nodes[k]
		within[k] = n.Method
		if n.Grafted.Estimated {
			within[k] = within[n.Parent]
			if open[n.Method] == 0 {
				estimated = append(estimated, n.Method)
			}
		}
		open[n.Method]++
		s.whole[within[k]] += n.Self
		s.self[share{n.Method, within[k]}] += n.Self
		for _, m := range estimated {
			s.total[share{m, within[k]}] += n.Self
		}
		if n.Child > 0 {
			k = n.Child
			continue
		}
		for ; k > 0; k = t.Nodes[k].Parent {
			n := &t.Nodes[k]
			open[n.Method]--
			if last := len(estimated) - 1; last >= 0 && estimated[last] == n.Method && open[n.Method] == 0 {
				estimated = estimated[:last]
			}
			if n.Sibling > 0 {
				k = n.Sibling
				break
			}
		}
	}
}

// spread is how far a time may be too great, and how far too small: the sums of the squares.
type spread struct{ below, above float64 }

// around returns the bounds of a time.
func (s spread) around(nanos int64) (low, high int64) {
	return nanos - int64(math.Sqrt(s.below)), nanos + int64(math.Sqrt(s.above))
}

// off returns how far the parts of each method may be off.
func (s *strata) off(parts map[share]int64) map[trace.Method]spread {
	all := map[trace.Method]spread{}
	// In one order, as sums of fractions depend on it.
	order := slices.SortedFunc(maps.Keys(parts), func(a, b share) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.within, b.within))
	})
	for _, of := range order {
		part, n := parts[of], s.samples[of.within].effective()
		if n == 0 {
			continue // nothing of it was divided
		}
		low, high := Bounds(part, s.whole[of.within], n)
		to := all[of.method]
		to.below += float64(part-low) * float64(part-low)
		to.above += float64(high-part) * float64(high-part)
		all[of.method] = to
	}
	return all
}
