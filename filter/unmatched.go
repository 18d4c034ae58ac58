package filter

import "github.com/tracegen/tracegen/mapping"

// Unmatched finds rules whose patterns match nothing in the inputs, which are probably misspelled. It looks at patterns
// only: a rule whose pattern matches is not reported, whatever its conditions say. Rules that do not stand in a file
// are never reported, nor those whose pattern matches every class.
type Unmatched struct {
	filter *Filter
	rest   []Rule
	found  int // methods of the profile
}

// Unmatched returns an Unmatched for the rules of the filter that can decide about a method.
func (f *Filter) Unmatched() *Unmatched {
	u := &Unmatched{filter: f}
	for i := range f.rules {
		r := &f.rules[i]
		everywhere := r.pattern.class.glob == "" || r.pattern.class.glob == everyClass
		if r.at.Line > 0 && (!everywhere || r.pattern.method != nil) {
			u.rest = append(u.rest, *r)
		}
	}
	return u
}

// Class drops the rules that match a class, or one of its methods with code. The name is in internal form, as it is in
// the class file. method returns the name and the descriptor of each method, and false behind the last. Of classes that
// a shrinker renamed, methods are not compared: it moves them between classes.
func (u *Unmatched) Class(name string, method func(i int) (name, descriptor string, ok bool)) {
	name = u.filter.original(name)
	for i := 0; u.filter.profile != nil; i++ {
		m, descriptor, ok := method(i)
		if !ok {
			break
		}
		if u.filter.profile.Find(mapping.Identity{Class: name, Name: m, Descriptor: descriptor}) != nil {
			u.found++
		}
	}
	rest := u.rest[:0]
	for i := range u.rest {
		r := &u.rest[i]
		ofClass := r.pattern.class.match(name)
		if !ofClass || u.filter.r8 == nil && r.pattern.method != nil && !r.pattern.method.matchAny(name, method) {
			rest = append(rest, *r)
		}
	}
	u.rest = rest
}

func (m *methodPattern) matchAny(class string, method func(i int) (name, descriptor string, ok bool)) bool {
	for i := 0; ; i++ {
		name, descriptor, ok := method(i)
		if !ok || m.match(name, descriptor) || m.matchSource(class, name) {
			return ok
		}
	}
}

// Rules returns the rules that have matched nothing so far, in their order.
func (u *Unmatched) Rules() []Rule { return u.rest }

// Profile returns how many methods the profile has, and how many of them are in no class so far. Of classes that a
// shrinker renamed that is not known, and 0.
func (u *Unmatched) Profile() (all, missing int) {
	if u.filter.profile == nil || u.filter.r8 != nil {
		return 0, 0
	}
	all = len(u.filter.profile.Lines)
	return all, all - u.found
}
