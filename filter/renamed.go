package filter

import (
	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// originalNames are the names that the methods of a class had before R8 or ProGuard renamed them. A shrinker also
// moves methods from one class into another, and merges classes. Rules must then apply to a method as part of its
// original class, so each original class gets a ClassFilter of its own.
type originalNames struct {
	members map[signature]classfile.Member // the methods of the class, with their original names
	classes map[signature]string           // the original class of a method, if it is another one
	// merged reports that classes is not empty.
	merged  bool
	byClass map[string]*ClassFilter // the filters for these original classes
}

// original returns the original name of a class.
func (f *Filter) original(class string) string {
	if f.r8 != nil {
		if original, ok := f.r8.OriginalClass(class); ok {
			return original
		}
	}
	return class
}

// forRenamed is [Filter.ForClass] if rules use original names. The method mapping shows
// the original names of methods.
func (f *Filter) forRenamed(c *classfile.Class) ClassFilter {
	cf := f.forName(c, f.original(c.Name()))
	methods := c.Methods()
	names := make([]r8.Method, len(methods))
	for i := range methods {
		names[i] = r8.Method{Class: c.Name(), Name: methods[i].Name, Descriptor: methods[i].Descriptor}
	}
	cf.originals = &originalNames{
		members: make(map[signature]classfile.Member, len(methods)),
		classes: map[signature]string{},
		byClass: map[string]*ClassFilter{},
	}
	for i, original := range f.r8.Identify(names) {
		m := methods[i]
		at := signature{m.Name, m.Descriptor}
		m.Name, m.Descriptor = original.Name, original.Descriptor
		cf.originals.members[at] = m
		if original.Class != cf.name && original.Class != c.Name() {
			cf.originals.classes[at] = original.Class
			cf.originals.merged = true
		}
	}
	return cf
}

// underOriginalName returns a method with its original name, and the filter of its original class.
func (cf *ClassFilter) underOriginalName(m *classfile.Member) (*ClassFilter, *classfile.Member) {
	at := signature{m.Name, m.Descriptor}
	if member, ok := cf.originals.members[at]; ok {
		m = &member
	}
	name, elsewhere := cf.originals.classes[at]
	if !elsewhere {
		return cf, m
	}
	other := cf.originals.byClass[name]
	if other == nil {
		made := cf.filter.forName(cf.class, name)
		other = &made
		cf.originals.byClass[name] = other
	}
	return other, m
}
