package types

import (
	"hash/maphash"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// packageOf gives the package of a class name, "" for the unnamed one.
func packageOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

// deepest is how many superclasses are followed: a class path may hold classes that extend each other.
const deepest = 1 << 12

const objectName = "java/lang/Object"

// lookup gives what is known of a class or interface, nil if nothing is; it then counts as unknown.
func (k *checker) lookup(t vtype) *ClassInfo {
	entry := &k.list[t.index()]
	if !entry.looked {
		entry.looked = true
		entry.info = k.find(entry.name)
		if entry.info != nil && entry.info != k.self {
			k.checkLoads(entry.info)
		}
	}
	return entry.info
}

// find is lookup by name. The judged class is itself, whatever the class path has by its name.
func (k *checker) find(name string) *ClassInfo {
	if name == k.class.Name() {
		return k.self
	}
	slot := &k.met[maphash.String(k.seed, name)%mostMet]
	if *slot != nil && (*slot).Name == name {
		return *slot
	}
	var info *ClassInfo
	if k.hierarchy != nil {
		info = k.hierarchy.Lookup(name)
	}
	switch {
	case info == nil:
		k.unknown[name] = true
	case info.Name == name:
		*slot = info
	}
	return info
}

// mostMet is of how many classes is remembered, from one class to the next, what the hierarchy said.
const mostMet = 1 << 8

// walkSupers calls visit for the superclasses of a class, nearest first, until it returns true. known is
// false if the walk came to a class that is not known, or to no end.
func (k *checker) walkSupers(of *ClassInfo, visit func(name string, info *ClassInfo) bool) (known bool) {
	for range deepest {
		if of.Super == "" {
			return true
		}
		info := k.lookup(k.of(of.Super))
		if visit(of.Super, info) {
			return true
		}
		if info == nil {
			return false
		}
		of = info
	}
	return false
}

// isSubclass says whether superclasses lead from one class to another. Where they lead to a class that is not
// known, it is assumed.
func (k *checker) isSubclass(from *ClassInfo, to string) bool {
	if from.Name == to {
		return true
	}
	found := false
	known := k.walkSupers(from, func(name string, _ *ClassInfo) bool {
		found = name == to
		return found
	})
	return found || !known
}

// inSupers says whether the name is that of a superclass of the judged class. complete is false if some of them
// are not known.
func (k *checker) inSupers(name string) (found, complete bool) {
	if k.supers == nil {
		k.supers = map[string]bool{}
		k.supersKnown = k.walkSupers(k.self, func(name string, _ *ClassInfo) bool {
			k.supers[name] = true
			return false
		})
	}
	return k.supers[name], k.supersKnown
}

// isProtectedElsewhere says whether the member that a superclass called owner has or inherits is protected
// and declared in another package: access to it then depends on the type of the object (JVMS 4.10.1.8).
func (k *checker) isProtectedElsewhere(owner, name, descriptor string, method bool) bool {
	if found, _ := k.inSupers(owner); !found {
		return false
	}
	info := k.lookup(k.of(owner))
	for range deepest {
		if info == nil {
			return false
		}
		rows := info.fields
		if method {
			rows = info.methods
		}
		if m := findMember(rows, name, descriptor); m != nil {
			return m.flags&classfile.AccProtected != 0 && packageOf(info.Name) != packageOf(k.class.Name())
		}
		if !method && k.interfaceHasField(info, name, descriptor, map[string]bool{}) {
			return false // fields of interfaces are public
		}
		if info.Super == "" {
			return false
		}
		info = k.lookup(k.of(info.Super))
	}
	return false
}

// interfaceHasField looks for a field in the superinterfaces of a class, which field resolution (JVMS
// 5.4.3.2) asks before the superclass. seen are those that were asked. One that is not known may have it.
func (k *checker) interfaceHasField(info *ClassInfo, name, descriptor string, seen map[string]bool) bool {
	for _, i := range info.Interfaces {
		if seen[i] {
			continue
		}
		seen[i] = true
		super := k.lookup(k.of(i))
		if super == nil || findMember(super.fields, name, descriptor) != nil || k.interfaceHasField(super, name, descriptor, seen) {
			return true
		}
	}
	return false
}
