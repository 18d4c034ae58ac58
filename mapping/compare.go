package mapping

import (
	"cmp"
	"slices"
	"strings"
)

// Difference is what two mappings say of one method, or of one ID. An Entry with
// ID 0 stands for: nothing.
type Difference struct {
	// Old is what the old mapping says, New what the new one says.
	Old, New Entry
}

// Comparison is how two mappings differ. All lists are sorted, Reused by ID, the
// others by method. To compare the other way round gives the same with old and
// new exchanged: Added is Removed, Freed is Reserved.
type Comparison struct {
	// Kept is the number of methods that are alive in both, with one ID.
	Kept int
	// Added are the methods that are alive in the new mapping only; Old is there
	// if the old one had it as retired.
	Added []Difference
	// Removed are those that are alive in the old mapping only; New is there if
	// the new one keeps its ID.
	Removed []Difference
	// Moved are the methods that both know, alive or retired, with different IDs.
	Moved []Difference
	// Reused are the IDs that stand for one method in the old mapping and for
	// another in the new one, alive or retired. What was recorded with the one
	// would be read wrongly with the other. There is none if the old mapping was
	// the new one's base, or that base's, and nothing was pruned.
	Reused []Difference
	// Access are the methods that stayed where they were, with other access flags.
	Access []Difference
	// Renumbered are methods of different names, both [Numbered] and of one
	// outermost class, that have one body which no other there has: the same code,
	// which a compiler has given another number. Old and New are alive, and are in
	// other lists too if their names came or went. There are none if one of the
	// mappings does not tell bodies.
	Renumbered []Difference
	// Suspicious are the kept methods that may stand for other code: their names
	// are [Numbered], and their bodies differ. Where a mapping does not tell the
	// body: a method with such a name came to or went from the same class or one
	// nested with it; then one that takes the number of another which goes at the
	// same time cannot be told from one that stays.
	Suspicious []Difference
	// Freed are retired methods of the old mapping that the new one does not know.
	Freed []Difference
	// Reserved are retired methods of the new mapping that the old one does not know.
	Reserved []Difference
	// FocusAdded and FocusRemoved are the focus lines of one mapping only.
	FocusAdded, FocusRemoved []Focus
	// Runtime tells whether the runtime classes differ, Digest whether the digests do.
	Runtime, Digest bool
}

// Equal reports whether there is no difference at all: the mappings would be
// written as the same text, but for comments.
func (c *Comparison) Equal() bool {
	for _, list := range [][]Difference{c.Added, c.Removed, c.Moved, c.Reused, c.Access, c.Freed, c.Reserved} {
		if len(list) > 0 {
			return false
		}
	}
	return len(c.FocusAdded)+len(c.FocusRemoved) == 0 && !c.Runtime && !c.Digest
}

// Compare tells how two mappings differ. Methods are matched by class, name and
// descriptor; a mapping of Matrix's without descriptors has other methods than
// one with them.
func Compare(old, new *Mapping) *Comparison {
	c := &Comparison{Runtime: old.runtime != new.runtime, Digest: old.digest != new.digest}
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
		if j >= 0 {
			c.both(old, i, new, j)
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
	c.suspect(old, new)
	c.renumber(old, new)
	c.FocusRemoved, c.FocusAdded = focusWithout(old.focus, new.focus), focusWithout(new.focus, old.focus)
	for _, list := range [][]Difference{c.Added, c.Removed, c.Moved, c.Access, c.Renumbered, c.Suspicious, c.Freed, c.Reserved} {
		slices.SortFunc(list, func(a, b Difference) int {
			x, y := a.Method(), b.Method()
			return cmp.Or(strings.Compare(x.Class, y.Class), strings.Compare(x.Name, y.Name), strings.Compare(x.Descriptor, y.Descriptor))
		})
	}
	slices.SortFunc(c.Reused, func(a, b Difference) int { return cmp.Compare(a.Old.ID, b.Old.ID) })
	return c
}

// both notes a method that both mappings have.
func (c *Comparison) both(old *Mapping, i int, new *Mapping, j int) {
	alive := i < old.living && j < new.living
	switch {
	case old.id(i) != new.id(j):
		c.Moved = append(c.Moved, Difference{old.entryAt(i), new.entryAt(j)})
		return
	case alive:
		c.Kept++
	}
	if old.access(i) != new.access(j) {
		c.Access = append(c.Access, Difference{old.entryAt(i), new.entryAt(j)})
	}
}

// suspect fills in Suspicious, from Added and Removed where there are no bodies.
func (c *Comparison) suspect(old, new *Mapping) {
	renumbered := map[string]bool{} // outermost classes
	for _, list := range [][]Difference{c.Added, c.Removed} {
		for _, d := range list {
			if m := d.Method(); Numbered(m) {
				renumbered[outermost(m.Class)] = true
			}
		}
	}
	if len(renumbered) == 0 && len(old.bodies) == 0 {
		return
	}
	var buf []byte
	for j := range new.living {
		i := old.find(new.key(j, &buf))
		if i < 0 || i >= old.living || old.id(i) != new.id(j) {
			continue
		}
		was, is := old.bodies[old.id(i)], new.bodies[new.id(j)]
		if was != 0 && is == was {
			continue
		}
		n := new.entryAt(j)
		if was != 0 && is != 0 || renumbered[outermost(n.Class)] && Numbered(n.Identity) {
			c.Suspicious = append(c.Suspicious, Difference{old.entryAt(i), n})
		}
	}
}

// place is where a body is looked for.
type place struct {
	outermost string
	body      uint64
}

// renumber fills in Renumbered.
func (c *Comparison) renumber(old, new *Mapping) {
	before, after := old.byBody(), new.byBody()
	var buf, otherBuf []byte
	for at, i := range before {
		if j, found := after[at]; found && i >= 0 && j >= 0 && old.key(i, &buf) != new.key(j, &otherBuf) {
			c.Renumbered = append(c.Renumbered, Difference{old.entryAt(i), new.entryAt(j)})
		}
	}
}

// byBody gives the methods whose bodies are known; -1 stands for several.
func (m *Mapping) byBody() map[place]int {
	found := make(map[place]int, len(m.bodies))
	for id, body := range m.bodies {
		i := m.position(id)
		at := place{outermost(m.entryAt(i).Class), body}
		if _, again := found[at]; again {
			i = -1
		}
		found[at] = i
	}
	return found
}

// outermost gives the class around all classes that a class is nested in, as
// far as its name tells.
func outermost(class string) string {
	simple := strings.LastIndexByte(class, '/') + 1
	if i := strings.IndexByte(class[simple:], '$'); i > 0 {
		return class[:simple+i]
	}
	return class
}

// Method gives the method that the difference is about: of Reused, that of the new mapping.
func (d Difference) Method() Identity {
	if d.New.ID != 0 {
		return d.New.Identity
	}
	return d.Old.Identity
}

// focusWithout gives the lines of list that others lacks.
func focusWithout(list, others []Focus) []Focus {
	known := map[Focus]bool{}
	for _, f := range others {
		known[f] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(f Focus) bool { return known[f] })
}
