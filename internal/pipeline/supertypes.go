package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tracegen/tracegen/filter"
)

// inheritance knows for each class which conditions of rules its supertypes make true. It knows the classes of the
// inputs and, of their supertypes that are not there, those of the class path, but never those of a JDK: which one
// a machine has must not decide what is traced. At a supertype that is nowhere the chain ends; its name still counts.
type inheritance struct {
	filter *filter.Filter
	direct map[string][]string // the superclass and interfaces that a class names
	held   map[string]filter.Supertypes
}

// resolve makes the decisions final that wait for supertypes.
func (r *run) resolve(byName map[string][]*unit) error {
	var pending []*unit
	for _, u := range r.units {
		for i := range u.methods {
			if u.methods[i].decided().Pending != "" {
				pending = append(pending, u)
				break
			}
		}
	}
	if len(pending) == 0 {
		return nil
	}
	h, err := r.newInheritance(byName)
	if err != nil {
		return err
	}
	for _, u := range pending {
		// Of several classes of one name, each has its own supertypes, and theirs are those of the one that speaks
		// for all of its name.
		s := h.by(u.supertypes())
		for i := range u.methods {
			m := &u.methods[i]
			d, err := r.config.Filter.Resolve(m.decided(), s)
			if err != nil {
				return fmt.Errorf("%s: %w", u.source.where(u.entry), err)
			}
			if d != m.decided() {
				m.decide(d)
			}
		}
	}
	return nil
}

// supertypes gives what the class of u names as its own, which for java/lang/Object is nothing.
func (u *unit) supertypes() []string {
	if u.ancestry.SuperName == "" {
		return u.interfaces
	}
	return append([]string{u.ancestry.SuperName}, u.interfaces...)
}

// compareSupertypes tells which of several classes of one name speaks for them, as [compareAncestry] does.
func compareSupertypes(a, b *unit) int {
	return cmp.Or(cmp.Compare(a.version, b.version), slices.Compare(a.supertypes(), b.supertypes()))
}

// newInheritance follows all supertypes of the inputs.
func (r *run) newInheritance(byName map[string][]*unit) (*inheritance, error) {
	h := &inheritance{r.config.Filter, make(map[string][]string, len(byName)), make(map[string]filter.Supertypes)}
	var open []string
	for name, same := range byName {
		h.direct[name] = slices.MinFunc(same, compareSupertypes).supertypes()
		open = append(open, h.direct[name]...)
	}
	if len(r.config.Surroundings.ClassPath) > 0 {
		if err := r.openSurroundings(); err != nil {
			return nil, err
		}
		for len(open) > 0 {
			name := open[len(open)-1]
			open = open[:len(open)-1]
			if _, known := h.direct[name]; known {
				continue
			}
			h.direct[name] = nil
			if info := r.around.before.Lookup(name); info != nil {
				if info.Super != "" {
					h.direct[name] = append(h.direct[name], info.Super)
				}
				h.direct[name] = append(h.direct[name], info.Interfaces...)
				open = append(open, h.direct[name]...)
			}
		}
	}
	delete(h.direct, "java/lang/Object") // the end of every chain, whatever a class of that name says
	h.inherit()
	return h, nil
}

// inherit passes on what holds from each class to those below it, until nothing is new to anybody. Classes that
// extend each other, as only malformed ones do, come to an end too.
func (h *inheritance) inherit() {
	below := make(map[string][]string)
	var changed []string
	for name, supers := range h.direct {
		for _, super := range supers {
			below[super] = append(below[super], name)
		}
		if s := h.by(supers); s.Len() > 0 {
			h.held[name] = s
			changed = append(changed, name)
		}
	}
	for len(changed) > 0 {
		name := changed[len(changed)-1]
		changed = changed[:len(changed)-1]
		for _, sub := range below[name] {
			if s := h.held[sub].Union(h.held[name]); s.Len() > h.held[sub].Len() {
				h.held[sub] = s
				changed = append(changed, sub)
			}
		}
	}
}

// by gives what holds for a class that names these supertypes.
func (h *inheritance) by(supers []string) (s filter.Supertypes) {
	for _, super := range supers {
		s = s.Union(h.filter.Supertype(super)).Union(h.held[super])
	}
	return s
}
