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
	// IDs, those that are gone are retired.
	Base  *Mapping
	Order Order
	// Runtime is the class that methods report to, in internal form;
	// [DefaultRuntime] if empty.
	Runtime string
	// Focus is recorded in the mapping, in any order.
	Focus []Focus
}

// Assign gives each of the methods an ID. They may come in any order and more
// than once; one that comes with several access flags is recorded with the
// lowest. It fails with a [*FullError] when IDs run out, and on a method
// without class, name or descriptor.
func Assign(methods []Method, o Options) (*Mapping, error) {
	focus, err := sortFocus(o.Focus)
	if err != nil {
		return nil, err
	}
	living, err := sortMethods(methods)
	if err != nil {
		return nil, err
	}
	retired, fresh := keep(living, o.Base)
	if need := len(living) + len(retired); need > Capacity {
		return nil, newFullError(living, len(retired))
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
		return nil, fmt.Errorf("ID order %d: neither OrderHash nor OrderCompact", o.Order)
	}
	records := append(sortByID(living), retired...)
	m, first, _ := newMapping(records, len(living))
	if m == nil { // sortMethods and keep leave every key once
		return nil, fmt.Errorf("two IDs for %s: a fault of tracegen, please report it", records[first].key)
	}
	m.runtime, m.focus = cmp.Or(o.Runtime, DefaultRuntime), focus
	return m, nil
}

// keep gives the living records the IDs that the base has for them. It returns
// the records of the base that are not among the living, by ID, and the indexes
// of the living that the base does not know.
func keep(living []record, base *Mapping) (retired []record, fresh []int32) {
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
		if !kept[j] {
			retired = append(retired, r)
		}
	}
	slices.SortFunc(retired, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	return retired, fresh
}

// sortMethods turns methods into records without IDs, sorted by key, each key
// once. Sorting classes first, and methods only within their class, is several
// times as fast as sorting the keys, whose first halves are mostly equal.
func sortMethods(methods []Method) ([]record, error) {
	classes, ofMethod, err := internClasses(methods)
	if err != nil {
		return nil, err
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
	records := make([]record, 0, len(methods))
	var buf []byte
	for i := range classes {
		from := len(records)
		records, buf = appendClass(records, buf, classes[i].text, methods, order[start[i]:start[i+1]])
		records = records[:from+len(sortUnique(records[from:]))]
	}
	return records, nil
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

// appendClass appends the records of one class's methods. Their keys share one
// allocation; buf is scratch space.
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
	for i := from; i < len(records); i++ {
		r := &records[i]
		r.key, at, r.id = keys[at:r.id], r.id, 0
	}
	return records, buf
}

// sortUnique sorts records by key and keeps, of those with equal keys, the one
// with the lowest access flags. The result lies in the same array.
func sortUnique(records []record) []record {
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.access, b.access))
	})
	return slices.CompactFunc(records, func(a, b record) bool { return a.key == b.key })
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

// PackageCount is the number of methods of one package.
type PackageCount struct {
	Package string // text form, "" for the unnamed package
	Methods int
}

// FullError says that there are more methods than IDs.
type FullError struct {
	Methods  int            // methods that are to be traced
	Retired  int            // IDs that methods which are gone keep
	Packages []PackageCount // of the methods, the biggest first; at most ten
}

// ErrFull is what a [*FullError] is to errors.Is.
var ErrFull = errors.New("method IDs run out")

// Is makes a FullError an [ErrFull].
func (e *FullError) Is(target error) bool { return target == ErrFull }

// Error names the numbers, the biggest packages and a rule that would help.
func (e *FullError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d methods and %d retired IDs make %d, %d IDs exist; biggest packages:",
		ErrFull, e.Methods, e.Retired, e.Methods+e.Retired, Capacity)
	for i, p := range e.Packages {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s (%d)", cmp.Or(p.Package, "the unnamed package"), p.Methods)
	}
	b.WriteString("; block some of them with a rule")
	for _, p := range e.Packages {
		if p.Package != "" {
			fmt.Fprintf(&b, ", as in \"- block: %s.*\"", p.Package)
			break
		}
	}
	if e.Retired > 0 {
		b.WriteString(", or begin anew without a base mapping")
	}
	b.WriteString("; nothing was written")
	return b.String()
}

// newFullError counts packages; it needs living to be sorted by nothing.
func newFullError(living []record, retired int) *FullError {
	counts := make(map[string]int)
	for i := range living {
		class, _, _ := split(living[i].key)
		counts[class[:max(strings.LastIndexByte(class, '.'), 0)]]++
	}
	e := &FullError{Methods: len(living), Retired: retired}
	for p, n := range counts {
		e.Packages = append(e.Packages, PackageCount{p, n})
	}
	slices.SortFunc(e.Packages, func(a, b PackageCount) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), strings.Compare(a.Package, b.Package))
	})
	e.Packages = e.Packages[:min(len(e.Packages), 10)]
	return e
}
