package types

// assignable says whether a value of type from may be where to is wanted (JVMS 4.10.1.2, as HotSpot decides
// it: small integers only for results).
func (k *checker) assignable(from, to vtype) bool {
	if from == to || to.kind() == tTop { // or unknown
		return true
	}
	switch to {
	case tBoolean, tByte, tShort, tChar:
		return from == tInt || from == tUnknown
	}
	return from.isReference() && to.isReference() && k.referenceAssignable(from, to, false) || from == tUnknown
}

// assignableInOwnClass is assignable to the judged class, where protected members are at stake: an interface
// is then not treated as Object for a value that may be any object.
func (k *checker) assignableInOwnClass(from vtype) bool {
	to := k.thisType
	return from == to || from == tUnknown || from.isReference() && k.referenceAssignable(from, to, true)
}

// referenceAssignable decides between two references that differ.
func (k *checker) referenceAssignable(from, to vtype, protected bool) bool {
	switch {
	case from == tNull || to == k.object:
		return true
	case to == tNull:
		return false
	case !k.isArray(to):
		return k.classAssignable(from, to, protected)
	case !k.isArray(from):
		return false
	}
	a, b := k.list[from.index()].component, k.list[to.index()].component
	return a == b || a.isReference() && b.isReference() && k.referenceAssignable(a, b, protected)
}

// classAssignable decides for a class or interface to that is not Object. Any object may be where an
// interface is wanted: that is checked when a method of it is called.
func (k *checker) classAssignable(from, to vtype, protected bool) bool {
	key := uint64(from)<<32 | uint64(to)
	if protected {
		key |= 1 << 63
	}
	slot := &k.memo[(from*31+to)%memoSize]
	if slot.key == key {
		return slot.assignable
	}
	yes := k.decideClassAssignable(from, to, protected)
	*slot = memoSlot{key, yes}
	return yes
}

// memoSlot remembers one answer. Key 0 is no question: types of references are not 0.
type memoSlot struct {
	key        uint64
	assignable bool
}

const memoSize = 256

func (k *checker) decideClassAssignable(from, to vtype, protected bool) bool {
	target := k.lookup(to)
	fromArray := k.isArray(from)
	switch {
	case target == nil:
		return true
	case target.isInterface() && !(protected && from == k.object):
		name := target.Name
		return !fromArray || name == "java/lang/Cloneable" || name == "java/io/Serializable"
	case fromArray:
		return false
	}
	source := k.lookup(from)
	return source == nil || k.isSubclass(source, target.Name)
}

// merge gives the type that values of both types have where paths join, tTop if there is none (JVMS 4.10.2.2).
// Interfaces count as Object. With assignment it is instead asked whether a may be where b is wanted: the
// result is then b if so.
//
// It answers as HotSpot's inferring verifier does, which differs from [checker.assignable] in what it makes of
// arrays of interfaces.
func (k *checker) merge(a, b vtype, assignment bool) vtype {
	switch {
	case a == b:
		return a
	case !a.isReference() || !b.isReference():
		return tTop
	case a == tNull:
		return b
	case b == tNull:
		return a
	case b == k.object:
		return b
	case a == k.object:
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

// inferAssignable is assignable as the inferring verifier decides it.
func (k *checker) inferAssignable(from, to vtype) bool {
	return from == to || k.merge(from, to, true) == to
}

func (k *checker) isArrayInterface(t vtype) bool {
	if t.kind() != kindObject {
		return false
	}
	name := k.name(t)
	return name == "java/lang/Cloneable" || name == "java/io/Serializable"
}

// mergeArrays merges two types of which at least one is an array and none is Object.
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
		return k.arrayOf(k.object, aDepth)
	}
	if k.isArrayInterface(bElement) {
		return k.arrayOf(bElement, bDepth)
	}
	return k.arrayOf(k.object, bDepth)
}

// objectArray takes a type apart, seeing an array of primitives as an Object, which it is.
func (k *checker) objectArray(t vtype) (depth int, element vtype) {
	depth, element = k.dimensions(t)
	if element.kind() != kindObject {
		return depth - 1, k.object
	}
	return depth, element
}

// arrayOf gives the array type of that many dimensions over a class.
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

// mergeClasses merges two different classes or interfaces of which none is Object.
func (k *checker) mergeClasses(a, b vtype, assignment bool) vtype {
	target := k.lookup(b)
	if target == nil {
		return b // not known: assumed to fit
	}
	if target.isInterface() {
		if assignment {
			return b
		}
		return k.object
	}
	value := k.lookup(a)
	if value == nil {
		return b
	}
	if value.isInterface() {
		return k.object
	}
	if assignment {
		if k.isSubclass(value, target.Name) {
			return b
		}
		return k.object
	}
	above := map[string]bool{value.Name: true}
	if !k.walkSupers(value, func(name string, _ *ClassInfo) bool { above[name] = true; return false }) {
		return b
	}
	if above[target.Name] {
		return b
	}
	common := k.object
	k.walkSupers(target, func(name string, _ *ClassInfo) bool {
		if above[name] {
			common = k.of(name)
		}
		return above[name]
	})
	return common
}
