package inject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// CheckRuntime says what the runtime class c lacks of what instrumented code calls: the methods i and o, and
// with focus at, each public and static. The class itself must be public, or no other package could call it.
func CheckRuntime(c *classfile.Class, focus bool) error {
	needed := [][2]string{{entryName, callDescriptor}, {exitName, callDescriptor}}
	if focus {
		needed = append(needed, [2]string{focusCallName, focusCallDescriptor})
	}
	if c.AccessFlags()&classfile.AccInterface != 0 {
		return fmt.Errorf("runtime class %s is an interface, whose methods are called in another way", c.Name())
	}
	if c.AccessFlags()&classfile.AccPublic == 0 {
		return fmt.Errorf("runtime class %s is not public", c.Name())
	}
	const want = classfile.AccPublic | classfile.AccStatic
	for _, n := range needed {
		m := findMethod(c, n[0], n[1])
		if m == nil {
			return fmt.Errorf("runtime class %s has no method %s%s", c.Name(), n[0], n[1])
		}
		if m.AccessFlags&want != want {
			return fmt.Errorf("method %s%s of runtime class %s is not public and static", n[0], n[1], c.Name())
		}
	}
	return nil
}

func findMethod(c *classfile.Class, name, descriptor string) *classfile.Member {
	for i := range c.Methods() {
		if m := &c.Methods()[i]; m.Name == name && m.Descriptor == descriptor {
			return m
		}
	}
	return nil
}

// MethodRef names a method as a call does.
type MethodRef struct {
	Class, Name, Descriptor string // as in the constant pool
}

// compare orders by class, name and descriptor.
func (m MethodRef) compare(o MethodRef) int {
	return cmp.Or(strings.Compare(m.Class, o.Class), strings.Compare(m.Name, o.Name), strings.Compare(m.Descriptor, o.Descriptor))
}

// Calls is what [Reached] needs to know of a class.
type Calls struct {
	Name, SuperName string // in internal form; SuperName is "" for none
	Methods         []MethodCalls
}

// MethodCalls is what a method leads to.
type MethodCalls struct {
	Name, Descriptor string // as in the constant pool
	// Targets are what it calls, and the initialisers of classes whose static fields it accesses; sorted, each
	// once. Of code that cannot be decoded, they are those before the fault.
	Targets []MethodRef
}

// CallsOf extracts the Calls of c. It shares memory with c.
func CallsOf(c *classfile.Class) Calls {
	calls := Calls{Name: c.Name(), SuperName: c.SuperName(), Methods: make([]MethodCalls, len(c.Methods()))}
	for i := range c.Methods() {
		m := &c.Methods()[i]
		calls.Methods[i] = MethodCalls{m.Name, m.Descriptor, targets(c, m)}
	}
	return calls
}

func targets(c *classfile.Class, m *classfile.Member) []MethodRef {
	body, ok, err := c.Code(m)
	if err != nil || !ok {
		return nil // malformed code is for the verifier to report; it calls nothing that we could follow
	}
	var found []MethodRef
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			break
		}
		switch in.Op {
		case code.Invokestatic, code.Invokespecial, code.Invokevirtual, code.Invokeinterface:
			if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil {
				found = append(found, MethodRef{ref.Class, ref.Name, ref.Descriptor})
			}
		case code.Getstatic, code.Putstatic:
			if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil {
				found = append(found, initialiserOf(ref.Class))
			}
		}
	}
	slices.SortFunc(found, MethodRef.compare)
	return slices.Compact(found)
}

// initialiserOf is what runs when a class is first used.
func initialiserOf(class string) MethodRef { return MethodRef{class, "<clinit>", "()V"} }

func (c *Calls) method(name, descriptor string) *MethodCalls {
	for i := range c.Methods {
		if m := &c.Methods[i]; m.Name == name && m.Descriptor == descriptor {
			return m
		}
	}
	return nil
}

// Reached finds every class that runs when i, o or at of the runtime class runs, by direct calls: the classes
// of the methods called, found in the class named or its superclasses, and those whose initialisers the calls,
// allocations and static field accesses run. Instrumented, they would call the runtime without end.
//
// find gives the classes of the inputs of an internal name: none, one, or several, in any order, if it is there
// more than once, as under META-INF/versions; all of them are followed. The result maps each class, the runtime
// class not included, to the path of calls that leads there, one of the shortest: "AppMethodBeat.i -> Foo.bar".
func Reached(runtimeClass string, find func(name string) ([]Calls, error)) (map[string]string, error) {
	r := reach{seen: make(map[MethodRef]bool), classes: map[string]string{}}
	for _, m := range [][2]string{{entryName, callDescriptor}, {exitName, callDescriptor}, {focusCallName, focusCallDescriptor}} {
		r.push(MethodRef{runtimeClass, m[0], m[1]}, methodPath(runtimeClass, m[0]))
	}
	for len(r.pending) > 0 {
		step := r.pending[0]
		r.pending = r.pending[1:]
		classes, err := find(step.Class)
		if err != nil {
			return nil, err
		}
		var next []reachStep
		for i := range classes {
			next = r.follow(next, step, &classes[i])
		}
		slices.SortFunc(next, func(a, b reachStep) int { return cmp.Or(a.compare(b.MethodRef), strings.Compare(a.path, b.path)) })
		for _, n := range next {
			r.push(n.MethodRef, n.path)
		}
	}
	delete(r.classes, runtimeClass)
	return r.classes, nil
}

func methodPath(class, name string) string {
	return class[strings.LastIndexByte(class, '/')+1:] + "." + name
}

type reach struct {
	seen    map[MethodRef]bool
	pending []reachStep // breadth first, so that paths are the shortest
	classes map[string]string
}

// reachStep is a method to be looked up and followed; path leads to it.
type reachStep struct {
	MethodRef
	path string
}

func (r *reach) push(m MethodRef, path string) {
	if !r.seen[m] {
		r.seen[m] = true
		r.pending = append(r.pending, reachStep{m, path})
	}
}

// follow looks the method up in a class where the JVM would (JVMS 5.4.3.3), interfaces aside, and appends what it
// leads to.
func (r *reach) follow(next []reachStep, step reachStep, c *Calls) []reachStep {
	// A class is not reached by being initialised alone: if it has no initialiser, nothing of it runs.
	call := func(m MethodRef) {
		next = append(next, reachStep{m, step.path + " -> " + methodPath(m.Class, m.Name)})
	}
	m := c.method(step.Name, step.Descriptor)
	initialiser := step.MethodRef == initialiserOf(step.Class)
	if !initialiser {
		r.enter(c.Name, step.path)
		call(initialiserOf(c.Name))
	} else if m != nil {
		r.enter(c.Name, step.path)
	}
	if m != nil {
		for _, target := range m.Targets {
			call(target)
		}
	}
	switch {
	case c.SuperName == "":
	case initialiser: // superclasses are initialised first (JVMS 5.5)
		call(initialiserOf(c.SuperName))
	case m == nil:
		next = append(next, reachStep{MethodRef{c.SuperName, step.Name, step.Descriptor}, step.path})
	}
	return next
}

// enter notes that a class is reached.
func (r *reach) enter(class, path string) {
	if _, known := r.classes[class]; !known {
		r.classes[class] = path
	}
}
