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
	all         weight // samples
	own         int64  // all of whole
	self, total *portions
	// estimated has the methods of which a call is estimated.
	estimated map[trace.Method]bool
	ran       int64 // of what was divided, that no thread waited in
	mixed     mixed
}

// mixed are times that stacks may show for the wrong one of two methods. A method that was let go is inlined into its
// caller. A thread in it may then be stopped where only the caller shows, such as at the end of the caller's loop.
type mixed struct {
	// callee has by method what its callers may have too much of it, caller by caller what may be of those methods.
	callee, caller map[trace.Method]int64
}

// portions are the parts of methods: of own times, and of them together what no thread waited in.
type portions struct {
	of  map[share]int64
	ran map[trace.Method]int64
}

func newPortions() *portions { return &portions{of: map[share]int64{}, ran: map[trace.Method]int64{}} }

// enough is how many samples of running threads say as much as any number of them. The JVM stops a thread where
// compiled code lets it, so a sample may show the caller of an inlined method, or what runs next. This error does not
// become less with more samples. Beside JFR, shares of own time are off by about as much as with so many samples.
const enough = 100

// Divided is the calls of a thread.
type Divided struct {
	// Recorded has them as they were recorded, Grafted is what [Graft] has made of that.
	Recorded, Grafted *Tree
	// LetGo are the methods that were let go: their own time and that of their callers may be mixed.
	LetGo map[trace.Method]bool
}

// Bound sets the bounds of sums of grafted trees by those of the own times that were divided. A method that is
// estimated in several of them has independent errors, whose squares are added. So are those of times in which no
// sample has shown it, and what is wrong with samples of running threads, see [enough]: that is alike in all threads.
func Bound(sums []Sum, trees ...Divided) {
	s := &strata{whole: map[trace.Method]int64{}, samples: map[trace.Method]weight{}, self: newPortions(),
		total: newPortions(), estimated: map[trace.Method]bool{},
		mixed: mixed{map[trace.Method]int64{}, map[trace.Method]int64{}}}
	for _, t := range trees {
		s.take(t.Recorded)
	}
	for _, t := range trees {
		s.walk(t.Grafted)
		s.mixed.take(t)
	}
	for _, whole := range s.whole {
		s.own += whole
	}
	selfOff, totalOff := s.off(s.self), s.off(s.total)
	for i := range sums {
		m := &sums[i]
		m.SelfLow, m.SelfHigh = selfOff[m.Method].around(m.Self)
		m.TotalLow, m.TotalHigh = totalOff[m.Method].around(m.Total)
		m.SelfLow = min(m.SelfLow, m.Self-s.mixed.caller[m.Method])
		m.SelfHigh = max(m.SelfHigh, m.Self+s.mixed.callee[m.Method])
		m.TotalHigh = max(m.TotalHigh, m.Total+s.mixed.callee[m.Method])
	}
}

// take adds the own times of calls that have called a method that was let go.
func (m *mixed) take(t Divided) {
	callers := map[int32]bool{}
	for k := range t.Grafted.Nodes {
		n := &t.Grafted.Nodes[k]
		if k == 0 || !n.Grafted.Estimated || !t.LetGo[n.Method] {
			continue
		}
		from := &t.Grafted.Nodes[n.Parent]
		ran := from.Self - from.Grafted.Waiting - from.Grafted.Blocked
		m.callee[n.Method] += ran
		if !callers[n.Parent] {
			m.caller[from.Method] += ran
			callers[n.Parent] = true
		}
	}
}

// take adds the samples of a tree.
func (s *strata) take(t *Tree) {
	for i := range t.Samples.Below {
		if b := &t.Samples.Below[i]; b.Path != PathUnknown {
			m := t.Nodes[b.Node].Method
			w := s.samples[m]
			w.Add(b.SampleWeight)
			s.samples[m] = w
			s.all.Add(b.SampleWeight)
		}
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
			s.estimated[n.Method] = true
			if open[n.Method] == 0 {
				estimated = append(estimated, n.Method)
			}
		}
		open[n.Method]++
		s.whole[within[k]] += n.Self
		ran := int64(0)
		if s.samples[within[k]].effective() > 0 {
			ran = n.Self - n.Grafted.Waiting - n.Grafted.Blocked
		}
		s.ran += ran
		s.self.add(share{n.Method, within[k]}, n.Self, ran)
		for _, m := range estimated {
			s.total.add(share{m, within[k]}, n.Self, ran)
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

// add adds own time, and what of it no thread waited in.
func (p *portions) add(of share, nanos, ran int64) {
	p.of[of] += nanos
	p.ran[of.method] += ran
}

// spread is how far a time may be too great, and how far too small: the sums of the squares.
type spread struct {
	below, above float64
	part, seen   int64 // what of the time is estimated, and the own times that it is a part of
}

// off adds how far a part of a time may be off.
func (s *spread) off(part, low, high int64) {
	s.below += float64(part-low) * float64(part-low)
	s.above += float64(high-part) * float64(high-part)
}

// around returns the bounds of a time.
func (s spread) around(nanos int64) (low, high int64) {
	return nanos - int64(math.Sqrt(s.below)), nanos + int64(math.Sqrt(s.above))
}

// off returns how far the parts of each method may be off.
func (s *strata) off(p *portions) map[trace.Method]spread {
	all := map[trace.Method]spread{}
	// In one order, as sums of fractions depend on it.
	order := slices.SortedFunc(maps.Keys(p.of), func(a, b share) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.within, b.within))
	})
	for _, of := range order {
		part, n := p.of[of], s.samples[of.within].effective()
		if n == 0 {
			continue // nothing of it was divided
		}
		whole, to := s.whole[of.within], all[of.method]
		low, high := Bounds(part, whole, n)
		to.off(part, low, high)
		to.part, to.seen = to.part+part, to.seen+whole
		all[of.method] = to
	}
	for m, to := range all {
		most := to.seen
		if s.estimated[m] {
			most = s.own
			_, high := Bounds(0, s.own-to.seen, s.all.effective())
			to.off(0, 0, high)
		}
		low, high := Bounds(p.ran[m], s.ran, enough)
		to.off(p.ran[m], low, high)
		to.below = min(to.below, float64(to.part)*float64(to.part))
		to.above = min(to.above, float64(most-to.part)*float64(most-to.part))
		all[m] = to
	}
	return all
}
