package types

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// packageOf returns the package of a class name, "" for the unnamed one.
func packageOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

// maxSuperclasses is how many superclasses are followed. A class path may have classes that extend each other.
const maxSuperclasses = 1 << 12

const objectName = "java/lang/Object"

// lookup returns the ClassInfo of a class or interface, nil if the hierarchy does not have it. When it finds a class
// for the first time, it checks that HotSpot could load it beside the checked class.
func (k *checker) lookup(t vtype) *ClassInfo {
	entry := &k.list[t.index()]
	if !entry.lookedUp {
		entry.lookedUp = true
		entry.info = k.find(entry.name)
		if entry.info != nil && entry.info != &k.self {
			k.checkLoads(entry.info)
		}
	}
	return entry.info
}

// find is lookup by name, without the check. For the name of the checked class it returns that, whatever the hierarchy
// has by that name.
func (k *checker) find(name string) *ClassInfo {
	if name == k.class.Name() {
		return &k.self
	}
	var info *ClassInfo
	if k.owner.Hierarchy != nil {
		info = k.owner.Hierarchy.Lookup(name)
	}
	if info == nil {
		k.unknown[name] = true
	}
	return info
}

// walkSupers calls visit for the superclasses of a class, nearest first, until visit returns true. known is false if a
// superclass is not known, or if there are more than maxSuperclasses.
func (k *checker) walkSupers(of *ClassInfo, visit func(t vtype, info *ClassInfo) bool) (known bool) {
	for range maxSuperclasses {
		if of.Super == "" {
			return true
		}
		super := k.of(of.Super)
		info := k.lookup(super)
		if visit(super, info) {
			return true
		}
		if info == nil {
			return false
		}
		of = info
	}
	return false
}

// isSubclass reports whether from is the class called to or a subclass of it. If a superclass is not known, it is
// assumed.
func (k *checker) isSubclass(from *ClassInfo, to string) bool {
	if from.Name == to {
		return true
	}
	found := false
	known := k.walkSupers(from, func(t vtype, _ *ClassInfo) bool {
		found = k.name(t) == to
		return found
	})
	return found || !known
}

// isProtectedElsewhere reports whether a member is protected, declared in another package, and inherited by the checked
// class from its superclass owner. Access to it then depends on the type of the object (JVMS 4.10.1.8).
func (k *checker) isProtectedElsewhere(owner vtype, name, descriptor string, method bool) bool {
	if !k.list[owner.index()].isSuper {
		return false
	}
	protected := false
	visit := func(_ vtype, info *ClassInfo) bool {
		if info == nil {
			return true
		}
		members := &info.fields
		if method {
			members = &info.methods
		}
		flags, found := members.find(name, descriptor)
		protected = found && flags&classfile.AccProtected != 0 && packageOf(info.Name) != packageOf(k.class.Name())
		// Fields of interfaces are public.
		return found || !method && k.interfaceHasField(info, name, descriptor, map[string]bool{})
	}
	if info := k.lookup(owner); !visit(owner, info) {
		k.walkSupers(info, visit)
	}
	return protected
}

// interfaceHasField reports whether a superinterface of a class has a field. Field resolution (JVMS 5.4.3.2) searches
// superinterfaces before the superclass. seen are the interfaces searched so far. An interface that is not known may
// have the field, so that the result is true then.
func (k *checker) interfaceHasField(info *ClassInfo, name, descriptor string, seen map[string]bool) bool {
	for _, i := range info.Interfaces {
		if seen[i] {
			continue
		}
		seen[i] = true
		super := k.lookup(k.of(i))
		if super == nil {
			return true
		}
		if _, found := super.fields.find(name, descriptor); found || k.interfaceHasField(super, name, descriptor, seen) {
			return true
		}
	}
	return false
}
