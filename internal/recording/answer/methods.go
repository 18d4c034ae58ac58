package answer

import (
	"cmp"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/sums"
	"github.com/tracegen/tracegen/trace"
)

// MethodTotal sums up all calls of a method over all recordings.
type MethodTotal struct {
	// Method is what was called. Its ID is that of the recording that had it first.
	Method resolve.Method `json:"method"`
	sums.Sum
	// Stalls is of how many stalls the method is on the hot path.
	Stalls int `json:"stalls"`
	// LeftOut is how many more calls there were that the runtime left out, because the method was off.
	LeftOut uint64 `json:"leftOut,omitempty"`
	// LetGo is whether there were more calls than that, which were not counted.
	LetGo bool `json:"letGo,omitempty"`

	made  float64 // how many records it made, with those that are missing, as far as counts show
	lossy bool    // records are missing where it was called, so that its times are what they are at least
}

// NotRecorded reports whether it stands for no method, but for what was not recorded or for the time in which the
// process did not run.
func (t *MethodTotal) NotRecorded() bool {
	return t.Method.Pseudo()
}

// Methods sums up calls by method over many recordings, of whatever builds: by name. Its zero value is empty. It is
// not safe for several goroutines.
type Methods struct {
	list  []*MethodTotal
	index map[methodKey]*MethodTotal
	// Records is how many there were, Nanos how long the recordings are in all.
	Records    uint64
	Nanos      int64
	made       float64 // how many records the programs made
	lossy      bool    // some of them are missing
	recordings []*analysis.Recording
	least      int // see [sums.Calls]
}

// methodKey identifies a method: by name, one without a name by its ID in one mapping.
type methodKey struct {
	resolve.Method
	digest string
}

func (m *Methods) of(method resolve.Method, digest string) *MethodTotal {
	key := methodKey{Method: method.Key()}
	if method.Unresolved {
		key.digest = digest
	}
	t := m.index[key]
	if t == nil {
		if m.index == nil {
			m.index = map[methodKey]*MethodTotal{}
		}
		t = &MethodTotal{Method: method}
		m.index[key] = t
		m.list = append(m.list, t)
	}
	return t
}

// Connect makes the methods sum up what is analyzed with these options. What they have for Stall and End is called
// after that.
func (m *Methods) Connect(o *analysis.Options) {
	var calls *sums.Calls
	o.Also = func(*analysis.Recording) (trace.Handler, error) {
		calls = sums.NewCalls()
		calls.Least = m.least
		return calls, nil
	}
	first(&o.Stall, m.hot)
	first(&o.End, func(r *analysis.Recording) { m.add(calls, r) })
}

// first makes a function call another one first; it may be nil.
func first[T any](of *func(T) error, call func(T)) {
	next := *of
	*of = func(x T) error {
		call(x)
		if next == nil {
			return nil
		}
		return next(x)
	}
}

// add takes over what was summed up of one recording.
func (m *Methods) add(t *sums.Calls, r *analysis.Recording) {
	lossy := t.Has(trace.MethodNotRecorded)
	scale := m.recording(r)
	t.System = func(id trace.Method) bool { return inSystem(r.Names.Method(id)) }
	t.Graft(letGo(r))
	t.Take(func(from *sums.Sum) { m.total(from, r, scale, lossy && from.Method != trace.MethodNotRecorded) })
}

// letGo returns the methods that were let go.
func letGo(r *analysis.Recording) map[trace.Method]bool {
	all := map[trace.Method]bool{}
	if r.Completeness != nil {
		for _, m := range r.Completeness.Off {
			all[m.ID] = m.LetGo
		}
	}
	return all
}

// recording takes over what a recording says of itself, and returns its scale.
func (m *Methods) recording(r *analysis.Recording) float64 {
	m.Records += r.Records
	m.Nanos += r.Span.Nanoseconds()
	m.recordings = append(m.recordings, r)
	return m.scale(r)
}

// total takes over the sum of a method of a recording.
func (m *Methods) total(from *sums.Sum, r *analysis.Recording, scale float64, lossy bool) {
	to := m.of(r.Names.Method(from.Method), r.Digest)
	to.made += float64(from.Records) * scale
	to.lossy = to.lossy || lossy
	to.Add(from)
}

// scale takes over how complete a recording is. It returns by how much the number of its records must be multiplied
// to be that of the records that were made: those that are lost are of any methods.
func (m *Methods) scale(r *analysis.Recording) float64 {
	c := r.Completeness
	if c == nil {
		m.made += float64(r.Records)
		return 1
	}
	m.made += float64(c.Recorded+c.Lost) + 2*float64(c.LeftOut+c.WindowCalls)
	for _, off := range c.Off {
		t := m.of(off.Method, r.Digest)
		t.LeftOut += off.Calls
		t.LetGo = t.LetGo || off.LetGo
		t.made += 2 * float64(off.Calls)
	}
	if !c.Lossy() || c.Recorded == 0 {
		return 1
	}
	m.lossy = true
	return float64(c.Recorded+c.Lost) / float64(c.Recorded)
}

// hot counts the methods on a stall's hot path.
func (m *Methods) hot(s *analysis.Stall) {
	counted := map[methodKey]bool{}
	for _, step := range s.HotPath {
		key := methodKey{Method: step.Method.Key()}
		if !counted[key] {
			counted[key] = true
			m.of(step.Method, s.Recording.Digest).Stalls++
		}
	}
}

// Order is what a table of methods is sorted by.
type Order string

// The orders; each has the greatest first.
const (
	OrderSelf    Order = "self"
	OrderTotal   Order = "total"
	OrderCalls   Order = "calls"
	OrderLongest Order = "longest"
	OrderStalls  Order = "stalls"
)

// Sorted lists all methods that were called. Equals stand in the order of their other columns and then names, so that
// the same recordings always make the same list.
func (m *Methods) Sorted(by Order) []*MethodTotal {
	list := slices.DeleteFunc(slices.Clone(m.list), func(t *MethodTotal) bool {
		return t.Calls == 0 && t.Total == 0
	})
	slices.SortFunc(list, func(a, b *MethodTotal) int {
		return cmp.Or(
			compareBy(by, b, a), cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls,
				a.Calls),
			resolve.CompareMethods(a.Method.Key(), b.Method.Key()), cmp.Compare(a.Method.ID, b.Method.ID))
	})
	return list
}

func compareBy(by Order, a, b *MethodTotal) int {
	switch by {
	case OrderTotal:
		return cmp.Compare(a.Total, b.Total)
	case OrderCalls:
		return cmp.Compare(a.Calls, b.Calls)
	case OrderLongest:
		return cmp.Compare(a.Longest, b.Longest)
	case OrderStalls:
		return cmp.Compare(a.Stalls, b.Stalls)
	}
	return cmp.Compare(a.Self, b.Self)
}
