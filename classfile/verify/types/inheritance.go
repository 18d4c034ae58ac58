package types

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// checkSupers checks the superclass and superinterfaces of the class (JVMS 5.3.5, 4.10), as far as they are known.
func (k *checker) checkSupers() {
	super := k.class.SuperName()
	switch {
	case super == "":
		if k.class.Name() != objectName {
			k.finding(ruleSuper, "a superclass", "none")
		}
		return
	case super[0] == '[' || k.class.Name()[0] == '[':
		k.finding(ruleClassFlags, "a class and its superclass", "an array")
		return
	case k.isInterface() && super != objectName:
		k.finding(ruleClassFlags, objectName+" as the superclass of an interface", super)
	}
	if info := k.find(super); info != nil {
		k.checkSuper(info)
	}
	interfaces := k.class.Interfaces()
	for _, name := range interfaces {
		if name[0] == '[' {
			k.finding(ruleClassFlags, "a superinterface", "an array")
		} else if info := k.find(name); info != nil {
			if !info.isInterface() {
				k.finding(ruleSuper, "an interface", "class "+name)
			}
			k.checkPermits(info)
		}
	}
	eachRepeated(len(interfaces), func(i int) string { return interfaces[i] },
		func(i int) { k.finding(ruleClassFlags, "each superinterface once", interfaces[i]+" twice") })
	k.noteSupers()
	if slices.Contains(interfaces, k.class.Name()) {
		k.finding(ruleSuper, "an interface that does not extend itself", k.class.Name())
	}
	k.checkOverrides()
	if k.isInterface() && k.major < majorJava8 {
		k.checkStaticMethods()
	}
}

func (k *checker) checkSuper(super *ClassInfo) {
	if super.isInterface() {
		k.finding(ruleSuper, "a superclass", "interface "+super.Name)
	}
	if super.AccessFlags&classfile.AccFinal != 0 {
		k.finding(ruleSuper, "a superclass that is not final", super.Name)
	}
	k.checkPermits(super)
}

// checkPermits checks that the class may access and extend a class or interface.
func (k *checker) checkPermits(super *ClassInfo) {
	if super.AccessFlags&classfile.AccPublic == 0 && packageOf(super.Name) != packageOf(k.class.Name()) {
		k.finding(ruleSuper, "a superclass or superinterface that the class can access", super.Name)
	}
	if super.Sealed && !slices.Contains(super.Permitted, k.class.Name()) {
		k.finding(ruleSuper, super.Name+" to permit the class to extend it", "a sealed class that does not")
	}
}

// noteSupers marks the superclasses of the class as isSuper, and lists those in finals that have final methods. The
// class must not be among them.
func (k *checker) noteSupers() {
	cyclic := false
	known := k.walkSupers(&k.self, func(t vtype, info *ClassInfo) bool {
		if cyclic = t == k.thisType; cyclic {
			k.finding(ruleSuper, "a class that does not extend itself", k.name(t))
			return true
		}
		k.list[t.index()].isSuper = true
		if info != nil && info.finalMethods {
			k.finals = append(k.finals, info)
		}
		return false
	})
	k.supersKnown = known && !cyclic
}

// checkOverrides checks that the class overrides no final method (JVMS 4.10, 5.4.5).
func (k *checker) checkOverrides() {
	if len(k.finals) == 0 {
		return
	}
	methods := k.class.Methods()
	for i := range methods {
		m := &methods[i]
		if k.methodFlags(m)&(classfile.AccPrivate|classfile.AccStatic) != 0 || m.Name == "<init>" {
			continue
		}
		for _, info := range k.finals {
			if flags, found := info.methods.find(m.Name, m.Descriptor); found && k.forbidsOverriding(flags, info) {
				k.memberFinding(m, ruleSuper, "no final method to be overridden", "that of "+info.Name)
				break
			}
		}
	}
}

// forbidsOverriding reports whether a method with those access flags must not be overridden, where it and what would
// override it are in the checked class and the other one.
func (k *checker) forbidsOverriding(flags uint16, other *ClassInfo) bool {
	return flags&(classfile.AccFinal|classfile.AccStatic|classfile.AccPrivate) == classfile.AccFinal &&
		(flags&(classfile.AccPublic|classfile.AccProtected) != 0 || packageOf(other.Name) == packageOf(k.class.Name()))
}

// checkStaticMethods checks that an interface before version 52 has no static methods.
func (k *checker) checkStaticMethods() {
	methods := k.class.Methods()
	for i := range methods {
		if m := &methods[i]; k.methodFlags(m)&classfile.AccStatic != 0 && m.Name != "<clinit>" {
			k.memberFinding(m, ruleMethodInfo, "no static method in an interface before version 52", "one")
		}
	}
}

// checkLoads checks that other, a class that the checked one mentions, can be loaded beside it: that it does not extend
// the checked class if that is final, for example. HotSpot loads other while it checks types, and throws if that fails.
func (k *checker) checkLoads(other *ClassInfo) {
	extends, implements := other.Super == k.class.Name(), slices.Contains(other.Interfaces, k.class.Name())
	flags := k.class.AccessFlags()
	fails := func(want, got string) {
		k.finding(ruleSuper, want, got)
		k.thrown = true
	}
	switch {
	case extends && flags&classfile.AccFinal != 0:
		fails("a class that is not final, as "+other.Name+" extends it", "a final one")
	case extends && !other.isInterface() && k.isInterface():
		fails("a class, as "+other.Name+" extends it", "an interface")
	case implements && !k.isInterface():
		fails("an interface, as "+other.Name+" implements it", "a class")
	case k.hasFinal && (extends || other.Super != objectName): // most need no look at their methods
		methods := k.class.Methods()
		for i := range methods {
			if m := &methods[i]; k.isOverridden(m, other) {
				fails("no final method "+m.Name+m.Descriptor+", as "+other.Name+" overrides it", "one")
			}
		}
	}
}

// extendedBy reports whether a class is known to be a subclass of the checked one, direct or not. It does not note
// superclasses that are missing: no instruction needs them, so that they are no findings of a strict class path.
func (k *checker) extendedBy(other *ClassInfo) bool {
	for range maxSuperclasses {
		switch {
		case other == nil || other.Super == "":
			return false
		case other.Super == k.class.Name():
			return true
		}
		other = k.owner.Hierarchy.Lookup(other.Super)
	}
	return false
}

// isOverridden reports whether m is a final method of the checked class that its subclass other overrides.
func (k *checker) isOverridden(m *classfile.Member, other *ClassInfo) bool {
	if !k.forbidsOverriding(m.AccessFlags, other) || m.Name == "<init>" {
		return false
	}
	flags, found := other.methods.find(m.Name, m.Descriptor)
	return found && flags&(classfile.AccPrivate|classfile.AccStatic) == 0 &&
		k.extendedBy(other) // last, as it looks up classes
}
