package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/internal/contract"
)

// Order is the way in which methods that the base mapping does not contain get IDs.
type Order int

const (
	// OrderHash places a method by the hash of its key, so that builds without a common base mapping agree on nearly
	// all IDs.
	OrderHash Order = iota
	// OrderCompact uses the lowest free IDs in sorted order, so that IDs take the fewest bytes in class files.
	OrderCompact
)

// Options are the options of [Assign]. The zero value places by hash, without a base mapping, for the default
// runtime.
type Options struct {
	// Base is the mapping of an earlier build, or nil. Its methods keep their IDs; the IDs of methods that are gone are
	// retired. Every method in it but native ones must have a descriptor, or assigning fails.
	Base *Mapping
	// Prune, if not empty, frees retired IDs: the retired IDs of Base that no living method of these
	// mappings has. The IDs of methods that come back, and of methods that are gone for the first time, are not
	// freed. It needs a Base.
	Prune []*Mapping
	Order Order
	// Runtime is the class that methods call, in internal form; dev/tracegen/runtime/AppMethodBeat if empty.
	Runtime string
	// Focus is stored in the mapping. It may be in any order.
	Focus []Focus
	// Messages reports whether the calls of a method are messages, which is stored in the mapping; nil if none are.
	Messages func(Identity) bool
}

// Assign returns a mapping that has an ID for each of the methods. They may be in any order, and may be repeated; if
// a method has several access flags, the lowest are stored. Assign fails with a [*FullError] if there are not enough
// IDs, and if a method has no class, name or descriptor. The mapping keeps the strings of methods.
func Assign(methods []Method, o Options) (*Mapping, error) {
	m, _, err := AssignEach(Counts{Methods: len(methods)}, func(yield func(Method, Facts) bool) {
		for i := range methods {
			if !yield(methods[i], Facts{}) {
				return
			}
		}
	}, o)
	return m, err
}

// Facts are what a caller of [AssignEach] may know about a method.
type Facts struct {
	// Fingerprint is a number that a later build computes for the same code, too, whatever the name of the method. 0 means
	// that it is unknown.
	Fingerprint uint64
}

// Counts are how many methods there are, and of how many classes. If they are not exact, more memory is used.
type Counts struct{ Classes, Methods int }

// AssignEach is [Assign] for callers that know more about methods and need all IDs. The mapping stores the fingerprints
// of methods whose names are [Numbered], because those names alone do not identify code; if a method is repeated, it
// stores the lowest. The second result has the ID of each of the methods, in their order.
func AssignEach(n Counts, methods iter.Seq2[Method, Facts], o Options) (*Mapping, []uint32, error) {
	focus, err := sortFocus(o.Focus)
	if err != nil {
		return nil, nil, err
	}
	t, err := newMethodTable(n, methods)
	if err != nil {
		return nil, nil, err
	}
	if err := o.checkBase(); err != nil {
		return nil, nil, err
	}
	m := &Mapping{runtime: cmp.Or(o.Runtime, contract.RuntimeClass), focus: focus}
	living, ids, err := t.assign(o, m)
	if err != nil {
		return nil, nil, err
	}
	m.fingerprints = t.fingerprintsByID(ids)
	t.arrange(living)
	// Every key is there once, as sorted removed the others; the index can be made when it is first used.
	m.table, m.inTable, m.living = t, len(living), len(living)
	m.findMessages(o.Messages)
	m.lines = sync.OnceValue(m.hashLines)
	go m.lines() // while the classes are written
	return m, ids, nil
}

// assign assigns IDs to one method of the table after the other, in sorted order, and sets the retired ones of the
// mapping. It returns one assignment for each identity, by ID, and the ID of each method in the caller's order.
func (t *methodTable) assign(o Options, m *Mapping) (living []assignment, ids []uint32, err error) {
	if o.Order != OrderHash && o.Order != OrderCompact {
		return nil, nil, fmt.Errorf("ID order %d: neither OrderHash nor OrderCompact", o.Order)
	}
	living, duplicates := t.sorted()
	retired, fresh := keepIDs(t, living, o)
	if need := len(living) + len(retired); need > Capacity {
		classes := func(yield func(string) bool) {
			for _, one := range living {
				if !yield(t.classes[t.methods[one.method].class].name) {
					return
				}
			}
		}
		return nil, nil, &FullError{idUsage(classes, len(living), len(retired))}
	}
	taken := &idSet{}
	for i := range living {
		taken.add(living[i].id) // 0 if it has none
	}
	for i := range retired {
		taken.add(retired[i].id)
	}
	next := uint32(1)
	var buf []byte
	for _, i := range fresh {
		if o.Order == OrderHash {
			buf = t.appendKey(buf[:0], int(living[i].method))
			next = home(buf)
		}
		next = taken.free(next)
		living[i].id = next
		taken.add(next)
	}
	m.records = retired
	ids = make([]uint32, len(t.methods))
	for _, s := range living {
		ids[s.method] = s.id
	}
	slices.SortFunc(living, func(a, b assignment) int { return cmp.Compare(a.id, b.id) })
	for _, d := range duplicates {
		ids[d.method] = ids[d.of]
	}
	return living, ids, nil
}

// free returns the first ID at or above id that is not in the set, continuing at 1 after Capacity. There must be one.
func (s *idSet) free(id uint32) uint32 {
	for {
		if rest := ^s[id/64] >> (id % 64); rest == 0 {
			id = id/64*64 + 64
		} else if id += uint32(bits.TrailingZeros64(rest)); id <= Capacity {
			return id
		}
		if id > Capacity {
			id = 1
		}
	}
}

// home returns the ID at which the search for a free ID begins: the hash of the key, reduced as the package comment
// says.
func home(key []byte) uint32 {
	sum := sha256.Sum256(key)
	mod := uint64(0) // the products are below 1<<52
	for i, weight := range digitWeights {
		mod += uint64(binary.BigEndian.Uint32(sum[4*i:])) * weight
	}
	return uint32(1 + mod%Capacity)
}

// digitWeights are the values of the 32-bit digits of a hash, the most significant first, modulo Capacity.
var digitWeights = [sha256.Size / 4]uint64{
	(1 << 224) % Capacity, (1 << 192) % Capacity, (1 << 160) % Capacity, (1 << 128) % Capacity,
	(1 << 96) % Capacity, (1 << 64) % Capacity, (1 << 32) % Capacity, 1,
}

// fingerprintsByID returns the fingerprints by ID; if a method has several, the lowest.
func (t *methodTable) fingerprintsByID(ids []uint32) fingerprints {
	list := make(fingerprints, len(t.fingerprints))
	for i, f := range t.fingerprints {
		list[i] = fingerprint{ids[f.method], f.fingerprint}
	}
	slices.SortFunc(list, func(a, b fingerprint) int { return cmp.Compare(a.id, b.id) })
	unique := list[:0]
	for _, f := range list {
		if last := len(unique) - 1; last < 0 || unique[last].id != f.id {
			unique = append(unique, f)
		} else {
			unique[last].value = min(unique[last].value, f.value)
		}
	}
	return unique
}

// errNoDescriptors is the error about a base mapping that identifies methods by class and name alone.
var errNoDescriptors = errors.New("the method has no descriptor, so that its ID may belong to any method of that " +
	"name; give a base mapping with descriptors, as tracegen and Matrix write it")

// checkBase returns an error if IDs cannot be kept with the base mapping.
func (o *Options) checkBase() error {
	if o.Base == nil {
		if len(o.Prune) > 0 {
			return errors.New("without a base mapping there are no retired IDs to prune")
		}
		return nil
	}
	for i := range o.Base.records { // methods that came from Assign have a descriptor
		// Matrix leaves out the descriptors of native methods, which are never traced.
		const native = 0x0100
		if r := &o.Base.records[i]; strings.Count(r.key, " ") < 2 && r.access&native == 0 {
			return fmt.Errorf("base mapping: %s (ID %d): %w", r.key, r.id, errNoDescriptors)
		}
	}
	return nil
}

// keepIDs sets the IDs of the living methods that the base mapping contains. It returns the records of the base
// mapping that are not living and whose IDs stay taken, by ID, and the indexes of the living methods that the base
// mapping does not contain. It takes one look-up in the base mapping for each living method.
func keepIDs(t *methodTable, living []assignment, o Options) (retired []record, fresh []int32) {
	if o.Base == nil || o.Base.size() == 0 {
		fresh = make([]int32, len(living))
		for i := range fresh {
			fresh[i] = int32(i)
		}
		return nil, fresh
	}
	kept := make([]bool, o.Base.size())
	var buf []byte
	for i := range living {
		buf = t.appendKey(buf[:0], int(living[i].method))
		j := o.Base.find(view(buf))
		if j < 0 {
			fresh = append(fresh, int32(i))
			continue
		}
		living[i].id, kept[j] = o.Base.id(j), true
	}
	for j := range kept {
		if !kept[j] && (j < o.Base.living || !o.prunes(o.Base.id(j))) {
			retired = append(retired, o.Base.record(j))
		}
	}
	slices.SortFunc(retired, func(a, b record) int { return cmp.Compare(a.id, b.id) })
	return retired, fresh
}

// prunes reports whether pruning frees a retired ID. Whether a given mapping contains the ID decides, not the method
// that has it there: as long as some app still records the ID, the ID must not mean another method.
func (o *Options) prunes(id uint32) bool {
	for _, m := range o.Prune {
		if i := m.seek(0, m.living, id); i < m.living && m.id(i) == id {
			return false
		}
	}
	return len(o.Prune) > 0
}

// sortFocus returns a sorted copy of the focus decisions. It fails if they contradict each other.
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
