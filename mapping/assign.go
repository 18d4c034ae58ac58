package mapping

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Order says where a method that the base does not know gets its ID.
type Order int

const (
	// OrderHash places a method by the hash of its identity, so that builds
	// without a common base agree on nearly all IDs.
	OrderHash Order = iota
	// OrderCompact gives the lowest free IDs in sorted order, so that IDs need
	// the fewest bytes.
	OrderCompact
)

// Options are the choices of [Assign]. The zero value places by hash, without a
// base, for the default runtime.
type Options struct {
	// Base is the mapping of an earlier build, or nil. Its methods keep their
	// IDs, those that are gone are retired. Methods in it without a descriptor,
	// the native ones aside, make it useless as a base: that is an error.
	Base *Mapping
	// Prune, unless empty, gives up retired IDs: all that Base has as retired and
	// none of these mappings has as living. Those of methods that come back, or
	// are gone only now, are kept. It needs a Base.
	Prune []*Mapping
	Order Order
	// Runtime is the class that methods report to, in internal form;
	// dev/tracegen/runtime/AppMethodBeat if empty.
	Runtime string
	// Focus is recorded in the mapping, in any order.
	Focus []Focus
}

// Assign gives each of the methods an ID. They may come in any order and more
// than once; one that comes with several access flags is recorded with the
// lowest. It fails with a [*FullError] when IDs run out, and on a method
// without class, name or descriptor. The mapping keeps the strings of methods.
func Assign(methods []Method, o Options) (*Mapping, error) {
	m, _, err := AssignEach(func(yield func(Method, uint64) bool) {
		for i := range methods {
			if !yield(methods[i], 0) {
				return
			}
		}
	}, o)
	return m, err
}

// AssignEach is [Assign] for who knows more, and wants to: with each method comes what its code is told by, a number
// that a later build gives the same code too, whatever its name; 0 is none. It is recorded of the methods whose names
// are [Numbered], as their names alone do not tell; of one that comes with several the lowest. The result has the ID of
// each of the methods, in their order. The methods are gone through twice, and must be the same both times.
func AssignEach(methods iter.Seq2[Method, uint64], o Options) (*Mapping, []uint32, error) {
	focus, err := sortFocus(o.Focus)
	if err != nil {
		return nil, nil, err
	}
	g, err := gather(methods)
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkBase(); err != nil {
		return nil, nil, err
	}
	living, repeats := g.sorted()
	retired, fresh := keep(g, living, o)
	if need := len(living) + len(retired); need > Capacity {
		g.arrange(living)
		return nil, nil, &FullError{demandOf(g.perClass(), len(living), len(retired))}
	}
	free := newFreeIDs()
	for i := range living {
		if living[i].id != 0 {
			free.take(living[i].id)
		}
	}
	for i := range retired {
		free.take(retired[i].id)
	}
	switch o.Order {
	case OrderHash:
		placeByHash(g, living, fresh, free)
	case OrderCompact:
		for _, i := range fresh {
			living[i].id = free.from(1)
			free.take(living[i].id)
		}
	default:
		return nil, nil, fmt.Errorf("ID order %d: neither OrderHash nor OrderCompact", o.Order)
	}
	ids := make([]uint32, len(g.methods))
	for _, s := range living {
		ids[s.method] = s.id
	}
	for _, r := range repeats {
		ids[r.method] = ids[r.of]
	}
	bodies := g.bodiesByID(ids)
	g.arrange(sortByID(living, func(s *slot) uint32 { return s.id }))
	// keep leaves every key once, so that the index may wait until it is asked.
	m := &Mapping{given: g, assigned: len(living), living: len(living), records: retired,
		runtime: cmp.Or(o.Runtime, defaultRuntime), focus: focus, bodies: bodies}
	m.digest = m.sum()
	return m, ids, nil
}

// bodiesByID gives the bodies by ID, where there are several the lowest.
func (g *given) bodiesByID(ids []uint32) map[uint32]uint64 {
	bodies := make(map[uint32]uint64, len(g.bodies))
	for _, b := range g.bodies {
		id := ids[b.method]
		if lowest := bodies[id]; lowest == 0 || b.body < lowest {
			bodies[id] = b.body
		}
	}
	return bodies
}

// errNoDescriptors is about a base that names methods by class and name alone.
var errNoDescriptors = errors.New("methods without descriptors: which of several of one name an ID belongs to cannot be told; take a mapping that has them, as tracegen and Matrix write it")

// checkBase refuses what IDs could not be kept by.
func (o *Options) checkBase() error {
	if o.Base == nil {
		if len(o.Prune) > 0 {
			return errors.New("without a base mapping there are no retired IDs to prune")
		}
		return nil
	}
	for i := range o.Base.records { // those that were given to Assign have one
		// Matrix leaves out the descriptors of native methods, which are never traced.
		const native = 0x0100
		if r := &o.Base.records[i]; strings.Count(r.key, " ") < 2 && r.access&native == 0 {
			return fmt.Errorf("base mapping: %s (ID %d): %w", r.key, r.id, errNoDescriptors)
		}
	}
	return nil
}

// keep gives the living the IDs that the base has for them. It returns
// the records of the base that are not among the living and whose IDs stay
// taken, by ID, and the indexes of the living that the base does not know.
func keep(g *given, living []slot, o Options) (retired []record, fresh []int32) {
	if o.Base == nil || o.Base.size() == 0 {
		fresh = make([]int32, len(living))
		for i := range fresh {
			fresh[i] = int32(i)
		}
		return nil, fresh
	}
	known := make([]int32, len(living)) // by the base's record of that number, or -1
	inParts(len(living), func(from, to int) {
		var buf []byte
		for i := from; i < to; i++ {
			buf = g.appendKey(buf[:0], int(living[i].method))
			known[i] = int32(o.Base.find(view(buf)))
		}
	})
	kept := make([]bool, o.Base.size())
	for i, j := range known {
		if j < 0 {
			fresh = append(fresh, int32(i))
			continue
		}
		living[i].id, kept[j] = o.Base.id(int(j)), true
	}
	for j := range kept {
		if !kept[j] && (j < o.Base.living || !o.frees(o.Base.id(j))) {
			retired = append(retired, o.Base.record(j))
		}
	}
	slices.SortFunc(retired, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	return retired, fresh
}

// frees reports whether pruning gives up a retired ID. It is the ID that counts
// and not what has it: where an app still reports it, it must mean nothing else.
func (o *Options) frees(id uint32) bool {
	for _, m := range o.Prune {
		if i := m.seek(0, m.living, id); i < m.living && m.id(i) == id {
			return false
		}
	}
	return len(o.Prune) > 0
}

// sortFocus returns a sorted copy of the focus decisions.
func sortFocus(focus []Focus) ([]Focus, error) {
	focus = slices.Clone(focus)
	for _, f := range focus {
		if f.Class == "" || f.Action != FocusAdd && f.Action != FocusHook {
			return nil, fmt.Errorf("focus hook of class %q: action %q is neither add nor hook", Text(f.Class), f.Action)
		}
	}
	slices.SortFunc(focus, func(a, b Focus) int {
		return cmp.Or(strings.Compare(Text(a.Class), Text(b.Class)), cmp.Compare(a.Action, b.Action))
	})
	for i := 1; i < len(focus); i++ {
		if focus[i].Class == focus[i-1].Class && focus[i].Action != focus[i-1].Action {
			return nil, fmt.Errorf("focus hook of class %s: both add and hook", Text(focus[i].Class))
		}
	}
	return slices.Compact(focus), nil
}
