package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// Difference is what two mappings contain about one method, or about one ID. An Entry with ID 0 means that the
// mapping contains nothing about it.
type Difference struct {
	// Old is the entry in the old mapping, New that in the new one.
	Old, New Entry
}

// Comparison is the difference between two mappings. All lists are sorted: Reused by ID, the others by method.
// Comparing in the other direction returns the same with old and new exchanged: Added and Removed, and Freed and
// Reserved, are exchanged, too.
type Comparison struct {
	// Kept is the number of methods that are living in both mappings, with the same ID.
	Kept int
	// Added are the methods that are living in the new mapping only. Old is set if the old mapping has the method as
	// retired.
	Added []Difference
	// Removed are the methods that are living in the old mapping only. New is set if the new mapping has the method
	// as retired.
	Removed []Difference
	// Moved are the methods that both mappings have, living or retired, with different IDs.
	Moved []Difference
	// Reused are the IDs that belong to different methods in the two mappings, living or retired. A recording of one
	// build would be read wrongly with the mapping of the other. There are none if the old mapping is the base
	// mapping of the new one, directly or over several builds, and no ID was pruned.
	Reused []Difference
	// Renumbered are methods with different names but the same fingerprint: the same code, to which a compiler gave
	// another number. Both names are [Numbered], both methods are living and have the same outermost class, and no
	// other method of that class has the fingerprint. A method can be in other lists as well. There are none if one
	// of the mappings has no fingerprints.
	Renumbered []Difference
	// Suspicious are the kept methods that may be other code: their names are [Numbered], and their fingerprints
	// differ. If a mapping has no fingerprint for a method, the method is suspicious if a method with a numbered name
	// was added to or removed from the same outermost class. Without fingerprints, a method that takes the number of
	// a removed one cannot be distinguished from one that stays.
	Suspicious []Difference
	// Freed are the retired methods of the old mapping that the new one does not have.
	Freed []Difference
	// Reserved are the retired methods of the new mapping that the old one does not have.
	Reserved []Difference
	// FocusAdded and FocusRemoved are the focus lines of the new and the old mapping only.
	FocusAdded, FocusRemoved []Focus
	// Runtime reports whether the runtime classes differ, Digest whether the digests differ.
	Runtime, Digest bool
}

// Equal reports whether there is no difference: the mapping files would have the same text, except for comments.
func (c *Comparison) Equal() bool {
	for _, list := range [][]Difference{c.Added, c.Removed, c.Moved, c.Reused, c.Freed, c.Reserved} {
		if len(list) > 0 {
			return false
		}
	}
	return len(c.FocusAdded)+len(c.FocusRemoved) == 0 && !c.Runtime && !c.Digest
}

// Compare returns how two mappings differ. Methods are matched by class, name and descriptor. A mapping of Matrix
// without descriptors therefore has no methods in common with one that has them.
func Compare(old, new *Mapping) *Comparison {
	c := &Comparison{Runtime: old.runtime != new.runtime, Digest: old.Digest() != new.Digest()}
	var buf, otherBuf []byte
	for i := range old.size() {
		key := old.key(i, &buf)
		j := new.find(key)
		switch {
		case i < old.living && (j < 0 || j >= new.living):
			c.Removed = append(c.Removed, Difference{old.entryAt(i), new.entryAt(j)})
		case j < 0:
			c.Freed = append(c.Freed, Difference{Old: old.entryAt(i)})
		}
		switch {
		case j < 0:
		case old.id(i) != new.id(j):
			c.Moved = append(c.Moved, Difference{old.entryAt(i), new.entryAt(j)})
		case i < old.living && j < new.living:
			c.Kept++
		}
		if other := new.position(old.id(i)); other >= 0 && new.key(other, &otherBuf) != key {
			c.Reused = append(c.Reused, Difference{old.entryAt(i), new.entryAt(other)})
		}
	}
	for j := range new.size() {
		i := old.find(new.key(j, &buf))
		switch {
		case j < new.living && (i < 0 || i >= old.living):
			c.Added = append(c.Added, Difference{old.entryAt(i), new.entryAt(j)})
		case i < 0:
			c.Reserved = append(c.Reserved, Difference{New: new.entryAt(j)})
		}
	}
	c.findSuspicious(old, new)
	c.findRenumbered(old, new)
	c.FocusRemoved, c.FocusAdded = focusWithout(old.focus, new.focus), focusWithout(new.focus, old.focus)
	for _, list := range [][]Difference{c.Added, c.Removed, c.Moved, c.Renumbered, c.Suspicious, c.Freed, c.Reserved} {
		slices.SortFunc(list, func(a, b Difference) int {
			x, y := a.Method(), b.Method()
			return cmp.Or(strings.Compare(x.Class, y.Class), strings.Compare(x.Name, y.Name),
				strings.Compare(x.Descriptor, y.Descriptor))
		})
	}
	slices.SortFunc(c.Reused, func(a, b Difference) int { return cmp.Compare(a.Old.ID, b.Old.ID) })
	return c
}

// findSuspicious sets Suspicious. For methods without fingerprints it uses Added and Removed.
func (c *Comparison) findSuspicious(old, new *Mapping) {
	renumbered := map[string]bool{} // outermost classes
	for _, list := range [][]Difference{c.Added, c.Removed} {
		for _, d := range list {
			if m := d.Method(); Numbered(m) {
				renumbered[outermost(m.Class)] = true
			}
		}
	}
	if len(renumbered) == 0 && len(old.fingerprints) == 0 {
		return
	}
	var buf []byte
	for j := range new.living {
		i := old.find(new.key(j, &buf))
		if i < 0 || i >= old.living || old.id(i) != new.id(j) {
			continue
		}
		was, is := old.fingerprints.of(old.id(i)), new.fingerprints.of(new.id(j))
		if was != 0 && is == was {
			continue
		}
		n := new.entryAt(j)
		if was != 0 && is != 0 || renumbered[outermost(n.Class)] && Numbered(n.Identity) {
			c.Suspicious = append(c.Suspicious, Difference{old.entryAt(i), n})
		}
	}
}

// fingerprintKey identifies code within an outermost class.
type fingerprintKey struct {
	outermost   string
	fingerprint uint64
}

// findRenumbered sets Renumbered.
func (c *Comparison) findRenumbered(old, new *Mapping) {
	before, after := old.byFingerprint(), new.byFingerprint()
	var buf, otherBuf []byte
	for at, i := range before {
		if j, found := after[at]; found && i >= 0 && j >= 0 && old.key(i, &buf) != new.key(j, &otherBuf) {
			c.Renumbered = append(c.Renumbered, Difference{old.entryAt(i), new.entryAt(j)})
		}
	}
}

// byFingerprint returns the indexes of the methods with fingerprints; -1 if several methods have the same.
func (m *Mapping) byFingerprint() map[fingerprintKey]int {
	found := make(map[fingerprintKey]int, len(m.fingerprints))
	for _, f := range m.fingerprints {
		i := m.position(f.id)
		at := fingerprintKey{outermost(m.entryAt(i).Class), f.value}
		if _, again := found[at]; again {
			i = -1
		}
		found[at] = i
	}
	return found
}

// outermost returns the outermost class that a class is nested in, as its name shows.
func outermost(class string) string {
	simple := strings.LastIndexByte(class, '/') + 1
	if i := strings.IndexByte(class[simple:], '$'); i > 0 {
		return class[:simple+i]
	}
	return class
}

// Method returns the method that the difference is about; for Reused, the method of the new mapping.
func (d Difference) Method() Identity {
	if d.New.ID != 0 {
		return d.New.Identity
	}
	return d.Old.Identity
}

// focusWithout returns the lines of list that others does not contain.
func focusWithout(list, others []Focus) []Focus {
	known := map[Focus]bool{}
	for _, f := range others {
		known[f] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(f Focus) bool { return known[f] })
}
