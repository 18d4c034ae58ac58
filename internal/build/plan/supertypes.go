package plan

import (
	"fmt"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
)

// inheritance has for each class the conditions of rules that its supertypes make true. It follows the classes of the
// inputs and, of their supertypes that are not there, those of the class path, but never those of a JDK: which one
// a machine has must not decide what is traced. At a supertype that is nowhere the chain ends; its name still counts.
type inheritance struct {
	filter *filter.Filter
	direct map[string][]string // the superclass and interfaces that a class names
	held   map[string]filter.Supertypes
}

// resolve makes the decisions final that wait for supertypes, or for the calls of the program.
func (d *Draft) resolve(byName map[string][]int) error {
	var pending []int
	for n := range d.facts {
		for i := range d.facts[n].Methods {
			if decision := d.decision(n, i); decision != nil && decision.Pending != "" {
				pending = append(pending, n)
				break
			}
		}
	}
	if len(pending) == 0 {
		return nil
	}
	h := &inheritance{}
	if d.options.Filter.NeedsSupertypes() {
		var err error
		if h, err = d.newInheritance(byName); err != nil {
			return err
		}
	}
	called := d.calledByProgram(byName)
	shared := make(map[filter.Decision]*filter.Decision) // many methods have the same
	for _, n := range pending {
		// If several classes have one name, each has its own supertypes. For the supertypes above, one class
		// stands for all of its name.
		c := d.facts[n]
		var s filter.Supertypes
		if h.filter != nil {
			s = h.by(c.Supertypes())
		}
		for i := range c.Methods {
			before := d.Decision(n, i)
			m := inject.MethodRef{Class: c.Name, Name: c.Methods[i].Name, Descriptor: c.Methods[i].Descriptor}
			after, err := d.options.Filter.Resolve(before, s, called[m])
			if err != nil {
				return fmt.Errorf("%s: %w", c.At.Where(), err)
			}
			if after == before {
				continue
			}
			if shared[after] == nil {
				kept := after
				shared[after] = &kept
			}
			d.decide(n, i, shared[after])
		}
	}
	return nil
}

// calledByProgram returns the methods of libraries that the classes of the program itself name, and those of their
// superclasses that they may mean (JVMS 5.4.3.3). Which classes implement an interface is not asked: a method that can
// take long by itself is traced anyway.
func (d *Draft) calledByProgram(byName map[string][]int) map[inject.MethodRef]bool {
	called := make(map[inject.MethodRef]bool)
	for _, c := range d.facts {
		for _, m := range c.Uses {
			for !called[m] && byName[m.Class] != nil {
				called[m] = true
				m.Class = d.least(byName[m.Class], CompareSupertypes).Ancestry.SuperName
			}
		}
	}
	return called
}

// newInheritance follows all supertypes of the inputs.
func (d *Draft) newInheritance(byName map[string][]int) (*inheritance, error) {
	h := &inheritance{d.options.Filter, make(map[string][]string, len(byName)), make(map[string]filter.Supertypes)}
	var open []string
	for name, same := range byName {
		h.direct[name] = d.least(same, CompareSupertypes).Supertypes()
		open = append(open, h.direct[name]...)
	}
	path := d.options.ClassPath
	if path != nil {
		if err := path.Open(); err != nil {
			return nil, err
		}
	}
	for len(open) > 0 && path != nil {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		if _, known := h.direct[name]; known {
			continue
		}
		h.direct[name] = nil
		if super, interfaces, found := path.Supertypes(name); found {
			if super != "" {
				h.direct[name] = append(h.direct[name], super)
			}
			h.direct[name] = append(h.direct[name], interfaces...)
			open = append(open, h.direct[name]...)
		}
	}
	delete(h.direct, "java/lang/Object") // the end of every chain, whatever a class of that name says
	h.inherit()
	return h, nil
}

// inherit passes on what holds from each class to those below it, until nothing is new anywhere. Classes that
// extend each other, as only malformed ones do, have an end too.
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

// by returns what holds for a class that names these supertypes.
func (h *inheritance) by(supers []string) (s filter.Supertypes) {
	for _, super := range supers {
		s = s.Union(h.filter.Supertype(super)).Union(h.held[super])
	}
	return s
}
