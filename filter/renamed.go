package filter

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// renamed is what a class was before R8 or ProGuard renamed it.
type renamed struct {
	members map[signature]classfile.Member // methods as the class has them, but for their original names
	classes map[signature]string           // where a method comes from, if not from the class itself
	// scattered says that there are such. Merging classes does that.
	scattered bool
	others    map[string]*ClassFilter // what rules say of those classes
}

// original gives the name that a class had.
func (f *Filter) original(class string) string {
	if f.r8 != nil {
		if original, ok := f.r8.OriginalClass(class); ok {
			return original
		}
	}
	return class
}

// forRenamed is ForClass where rules go by original names. Those of methods are the ones that they have in the
// method mapping.
func (f *Filter) forRenamed(c *classfile.Class) ClassFilter {
	cf := f.forName(c, f.original(c.Name()))
	methods := c.Methods()
	names := make([]r8.Method, len(methods))
	for i := range methods {
		names[i] = r8.Method{Class: c.Name(), Name: methods[i].Name, Descriptor: methods[i].Descriptor}
	}
	cf.before = &renamed{members: make(map[signature]classfile.Member, len(methods)), classes: map[signature]string{}, others: map[string]*ClassFilter{}}
	for i, original := range f.r8.Identify(names) {
		m := methods[i]
		at := signature{m.Name, m.Descriptor}
		m.Name, m.Descriptor = original.Name, original.Descriptor
		cf.before.members[at] = m
		if original.Class != cf.name && original.Class != c.Name() {
			cf.before.classes[at] = original.Class
			cf.before.scattered = true
		}
	}
	return cf
}

// asBefore gives a method under its original names, and the filter of the class that it was in.
func (cf *ClassFilter) asBefore(m *classfile.Member) (*ClassFilter, *classfile.Member) {
	at := signature{m.Name, m.Descriptor}
	if member, ok := cf.before.members[at]; ok {
		m = &member
	}
	name, elsewhere := cf.before.classes[at]
	if !elsewhere {
		return cf, m
	}
	other := cf.before.others[name]
	if other == nil {
		made := cf.filter.forName(cf.class, name)
		other = &made
		cf.before.others[name] = other
	}
	return other, m
}
