package types

// assignable reports whether a value of type from can be used where to is wanted (JVMS 4.10.1.2), by the rules of type
// checking.
func (k *checker) assignable(from, to vtype) bool {
	if !references.has(from) || !references.has(to) {
		return from == to || to.kind() == tTop || from == tUnknown // to may be unknown, too
	}
	return k.referenceAssignable(from, to, false)
}

// assignableInOwnClass reports whether a value can be assigned to the checked class, where access to protected members
// depends on it. Unlike elsewhere, Object itself is not assignable then if the class is an interface.
func (k *checker) assignableInOwnClass(from vtype) bool {
	return from == tUnknown || references.has(from) && k.referenceAssignable(from, k.thisType, true)
}

// referenceAssignable is assignable for references.
func (k *checker) referenceAssignable(from, to vtype, protected bool) bool {
	switch {
	case from == to || from == tNull || to == tObject:
		return true
	case to == tNull:
		return false
	}
	wanted := k.list[to.index()].component
	if wanted == tTop {
		return k.classAssignable(from, to, protected)
	}
	got := k.list[from.index()].component
	return got == wanted || references.has(got) && references.has(wanted) && k.referenceAssignable(got, wanted, protected)
}

// classAssignable is assignable for a class or interface to that is not Object. Every object is assignable to an
// interface; whether it implements the interface is checked when a method is called.
func (k *checker) classAssignable(from, to vtype, protected bool) bool {
	target := k.lookup(to)
	fromArray := k.isArray(from)
	switch {
	case target == nil:
		return true
	case target.isInterface() && !(protected && from == tObject):
		name := target.Name
		return !fromArray || name == "java/lang/Cloneable" || name == "java/io/Serializable"
	case fromArray:
		return false
	}
	source := k.lookup(from)
	return source == nil || k.isSubclass(source, target.Name)
}

// merge returns the type of a word where two paths join, of which one leaves type a in it and the other b; tTop if
// there is no such type (JVMS 4.10.2.2). Interfaces count as Object. If assignment is set, it instead decides whether a
// can be assigned to b: the result is b if so.
//
// It follows HotSpot's verifier by inference, which treats arrays of interfaces differently than [checker.assignable].
func (k *checker) merge(a, b vtype, assignment bool) vtype {
	switch {
	case a == b:
		return a
	case !references.has(a) || !references.has(b):
		return tTop
	case a == tNull:
		return b
	case b == tNull:
		return a
	case b == tObject:
		return b
	case a == tObject:
		if assignment && !k.isArray(b) {
			if info := k.lookup(b); info == nil || info.isInterface() {
				return b
			}
		}
		return a
	case k.isArray(a) || k.isArray(b):
		return k.mergeArrays(a, b, assignment)
	}
	return k.mergeClasses(a, b, assignment)
}

// inferAssignable is assignable by the rules of inference.
func (k *checker) inferAssignable(from, to vtype) bool {
	return from == to || k.merge(from, to, true) == to
}

// isArrayInterface reports whether t is an interface that all arrays implement (JLS 4.10.3).
func (k *checker) isArrayInterface(t vtype) bool {
	if t.kind() != kindObject {
		return false
	}
	name := k.name(t)
	return name == "java/lang/Cloneable" || name == "java/io/Serializable"
}

// mergeArrays merges two types, of which at least one is an array and none is Object.
func (k *checker) mergeArrays(a, b vtype, assignment bool) vtype {
	switch {
	case k.isArrayInterface(b):
		return b
	case k.isArrayInterface(a):
		return a
	}
	aDepth, aElement := k.objectArray(a)
	bDepth, bElement := k.objectArray(b)
	switch {
	case aDepth == bDepth:
		element := k.merge(aElement, bElement, assignment)
		if element == tTop {
			return tTop
		}
		return k.arrayOf(element, aDepth)
	case aDepth < bDepth:
		if k.isArrayInterface(aElement) {
			return k.arrayOf(aElement, aDepth)
		}
		return k.arrayOf(tObject, aDepth)
	}
	if k.isArrayInterface(bElement) {
		return k.arrayOf(bElement, bDepth)
	}
	return k.arrayOf(tObject, bDepth)
}

// objectArray returns the dimensions and the element of an array. An array of primitives counts as an Object, which it
// is.
func (k *checker) objectArray(t vtype) (depth int, element vtype) {
	depth, element = k.dimensions(t)
	if element.kind() != kindObject {
		return depth - 1, tObject
	}
	return depth, element
}

// arrayOf returns the array type with that many dimensions over a class.
func (k *checker) arrayOf(element vtype, depth int) vtype {
	if depth == 0 {
		return element
	}
	b := make([]byte, 0, depth+len(k.name(element))+2)
	for range depth {
		b = append(b, '[')
	}
	b = append(b, 'L')
	b = append(b, k.name(element)...)
	return k.of(string(append(b, ';')))
}

// mergeClasses merges two different classes or interfaces, of which none is Object.
func (k *checker) mergeClasses(a, b vtype, assignment bool) vtype {
	target := k.lookup(b)
	if target == nil {
		return b // not known: assumed to fit
	}
	if target.isInterface() {
		if assignment {
			return b
		}
		return tObject
	}
	value := k.lookup(a)
	if value == nil {
		return b
	}
	if value.isInterface() {
		return tObject
	}
	if k.isSubclass(value, target.Name) {
		return b
	}
	common := tObject
	if !assignment {
		k.walkSupers(target, func(t vtype, _ *ClassInfo) bool {
			if k.isSubclass(value, k.name(t)) {
				common = t
			}
			return common != tObject
		})
	}
	return common
}
