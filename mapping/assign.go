package mapping

import (
	"cmp"
	"errors"
	"fmt"
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
	// [DefaultRuntime] if empty.
	Runtime string
	// Focus is recorded in the mapping, in any order.
	Focus []Focus
	// Bodies tells the code of methods apart, by a number that a later build gives the same code too, whatever its
	// name; 0 is none. It is recorded of the methods whose names are [Numbered]: their names alone do not tell.
	Bodies map[Identity]uint64
}

// Assign gives each of the methods an ID. They may come in any order and more
// than once; one that comes with several access flags is recorded with the
// lowest. It fails with a [*FullError] when IDs run out, and on a method
// without class, name or descriptor.
func Assign(methods []Method, o Options) (*Mapping, error) {
	m, _, err := AssignEach(methods, o)
	return m, err
}

// AssignEach is [Assign] for who wants to know the ID of each of the methods, in their order: asking the mapping for
// them would take as long again.
func AssignEach(methods []Method, o Options) (*Mapping, []uint32, error) {
	focus, err := sortFocus(o.Focus)
	if err != nil {
		return nil, nil, err
	}
	living, ofMethod, err := sortMethods(methods)
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkBase(); err != nil {
		return nil, nil, err
	}
	retired, fresh := keep(living, o)
	if need := len(living) + len(retired); need > Capacity {
		return nil, nil, &FullError{demandOf(living, len(retired))}
	}
	free := newFreeIDs()
	for _, records := range [][]record{living, retired} {
		for i := range records {
			if records[i].id != 0 {
				free.take(records[i].id)
			}
		}
	}
	switch o.Order {
	case OrderHash:
		placeByHash(living, fresh, free)
	case OrderCompact:
		for _, i := range fresh {
			living[i].id = free.from(1)
			free.take(living[i].id)
		}
	default:
		return nil, nil, fmt.Errorf("ID order %d: neither OrderHash nor OrderCompact", o.Order)
	}
	ids := make([]uint32, len(methods))
	for i, at := range ofMethod {
		ids[i] = living[at].id
	}
	records := append(sortByID(living), retired...)
	m, first, _ := newMapping(records, len(living))
	if m == nil { // sortMethods and keep leave every key once
		return nil, nil, fmt.Errorf("two IDs for %s: a fault of tracegen, please report it", records[first].key)
	}
	m.runtime, m.focus = cmp.Or(o.Runtime, DefaultRuntime), focus
	m.bodies = make(map[uint32]uint64)
	for method, body := range o.Bodies {
		if id, ok := m.ByMethod(method); ok && body != 0 && Numbered(method) {
			m.bodies[id] = body
		}
	}
	return m, ids, nil
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
	for i := range o.Base.records {
		// Matrix leaves out the descriptors of native methods, which are never traced.
		const native = 0x0100
		if r := &o.Base.records[i]; strings.Count(r.key, " ") < 2 && r.access&native == 0 {
			return fmt.Errorf("base mapping: %s (ID %d): %w", r.key, r.id, errNoDescriptors)
		}
	}
	return nil
}

// keep gives the living records the IDs that the base has for them. It returns
// the records of the base that are not among the living and whose IDs stay
// taken, by ID, and the indexes of the living that the base does not know.
func keep(living []record, o Options) (retired []record, fresh []int32) {
	base := o.Base
	if base == nil {
		base = &Mapping{}
	}
	kept := make([]bool, len(base.records))
	var buf []byte
	for i := range living {
		j := -1
		if len(base.records) > 0 {
			buf = append(buf[:0], living[i].key...)
			j = base.index.find(base.records, buf)
		}
		if j < 0 {
			fresh = append(fresh, int32(i))
			continue
		}
		living[i].id, kept[j] = base.records[j].id, true
	}
	for j, r := range base.records {
		if !kept[j] && (j < base.living || !o.frees(r.id)) {
			retired = append(retired, r)
		}
	}
	slices.SortFunc(retired, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	return retired, fresh
}

// frees reports whether pruning gives up a retired ID. It is the ID that counts
// and not what has it: where an app still reports it, it must mean nothing else.
func (o *Options) frees(id uint32) bool {
	for _, m := range o.Prune {
		if i := m.seek(0, m.living, id); i < m.living && m.records[i].id == id {
			return false
		}
	}
	return len(o.Prune) > 0
}

// sortMethods turns methods into records without IDs, sorted by key, each key
// once, and tells which record each method has become. Sorting classes first, and methods only within their class, is several
// times as fast as sorting the keys, whose first halves are mostly equal.
func sortMethods(methods []Method) (records []record, ofMethod []int32, err error) {
	classes, ofMethod, err := internClasses(methods)
	if err != nil {
		return nil, nil, err
	}
	rank := make([]int32, len(classes))
	for i := range classes {
		rank[classes[i].index] = int32(i)
	}
	// A counting sort of the methods by their class's rank.
	start := make([]int32, len(classes)+1)
	for i := range methods {
		start[rank[ofMethod[i]]+1]++
	}
	for i := range classes {
		start[i+1] += start[i]
	}
	order := make([]int32, len(methods))
	next := slices.Clone(start)
	for i := range methods {
		r := rank[ofMethod[i]]
		order[next[r]] = int32(i)
		next[r]++
	}
	records = make([]record, 0, len(methods))
	var buf []byte
	for i := range classes {
		from := len(records)
		records, buf = appendClass(records, buf, classes[i].text, methods, order[start[i]:start[i+1]])
		records = sortUnique(records, from, ofMethod)
	}
	return records, ofMethod, nil
}

// classText is a class's name in text form and its number in the order in which
// classes were met.
type classText struct {
	text  string
	index int32
}

// internClasses gives the classes of the methods, sorted, and for each method
// its class's index. It refuses methods that have no key.
func internClasses(methods []Method) (classes []classText, ofMethod []int32, err error) {
	ofMethod = make([]int32, len(methods))
	seen := make(map[string]int32)
	for i := range methods {
		m := &methods[i]
		if m.Class == "" || m.Name == "" || m.Descriptor == "" {
			return nil, nil, fmt.Errorf("class %q, method %q, descriptor %q: none of the three can be empty; leave the method out as malformed",
				Text(m.Class), Text(m.Name), Text(m.Descriptor))
		}
		if i > 0 && m.Class == methods[i-1].Class {
			ofMethod[i] = ofMethod[i-1] // methods mostly come class by class
			continue
		}
		at, ok := seen[m.Class]
		if !ok {
			at = int32(len(classes))
			seen[m.Class] = at
			classes = append(classes, classText{Text(m.Class), at})
		}
		ofMethod[i] = at
	}
	slices.SortFunc(classes, func(a, b classText) int { return strings.Compare(a.text, b.text) })
	return classes, ofMethod, nil
}

// appendClass appends the records of one class's methods, each with its method's index as
// its ID. Their keys share one allocation; buf is scratch space.
func appendClass(records []record, buf []byte, class string, methods []Method, of []int32) ([]record, []byte) {
	buf = buf[:0]
	from := len(records)
	for _, i := range of {
		m := &methods[i]
		buf = append(append(buf, class...), ' ')
		buf = append(appendText(buf, m.Name), ' ')
		buf = appendText(buf, m.Descriptor)
		// Until the keys are cut below, id holds the end of this one.
		records = append(records, record{id: uint32(len(buf)), access: m.Access})
	}
	keys, at := string(buf), uint32(0)
	for i, index := range of {
		r := &records[from+i]
		r.key, at, r.id = keys[at:r.id], r.id, uint32(index)
	}
	return records, buf
}

// sortUnique sorts the records from an index on by key and keeps, of those with
// equal keys, the one with the lowest access flags. For the methods whose indexes their
// IDs are it notes where their record is; the IDs are 0 then. The result lies in the same array.
func sortUnique(records []record, from int, ofMethod []int32) []record {
	class := records[from:]
	slices.SortFunc(class, func(a, b record) int {
		if c := strings.Compare(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Compare(a.access, b.access)
	})
	n := 0
	for i := range class {
		if i > 0 && class[i].key == class[n-1].key {
			ofMethod[class[i].id] = int32(from + n - 1)
			continue
		}
		ofMethod[class[i].id] = int32(from + n)
		class[n] = class[i]
		class[n].id = 0
		n++
	}
	return records[:from+n]
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
