package inject

import (
	"fmt"
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

// methodRef names a method of a class.
type methodRef struct{ class, name, descriptor string }

// Reached finds every class that runs when i, o or at of the runtime class runs, by direct calls: the classes
// of the methods called, found in the class named or its superclasses, and those whose initialisers the calls,
// allocations and static field accesses run. Instrumented, they would call the runtime without end.
//
// find gives a class of the inputs by its internal name, or nil. The result maps each class, the runtime
// class not included, to the path of calls that leads there: "AppMethodBeat.i -> Foo.bar".
func Reached(runtimeClass string, find func(name string) (*classfile.Class, error)) (map[string]string, error) {
	r := reach{find: find, seen: make(map[methodRef]bool), classes: map[string]string{}}
	for _, m := range [][2]string{{entryName, callDescriptor}, {exitName, callDescriptor}, {focusCallName, focusCallDescriptor}} {
		r.push(methodRef{runtimeClass, m[0], m[1]}, "")
	}
	for len(r.pending) > 0 {
		step := r.pending[0]
		r.pending = r.pending[1:]
		if err := r.follow(step); err != nil {
			return nil, err
		}
	}
	delete(r.classes, runtimeClass)
	return r.classes, nil
}

type reach struct {
	find    func(name string) (*classfile.Class, error)
	seen    map[methodRef]bool
	pending []reachStep // breadth first, so that paths are the shortest
	classes map[string]string
}

type reachStep struct {
	methodRef
	path string
}

func (r *reach) push(m methodRef, from string) {
	if r.seen[m] {
		return
	}
	r.seen[m] = true
	path := m.class[strings.LastIndexByte(m.class, '/')+1:] + "." + m.name
	if from != "" {
		path = from + " -> " + path
	}
	r.pending = append(r.pending, reachStep{m, path})
}

// follow looks the method up where the JVM would (JVMS 5.4.3.3), interfaces aside, and pushes what it calls.
func (r *reach) follow(step reachStep) error {
	for name := step.class; name != ""; {
		c, err := r.find(name)
		if err != nil || c == nil {
			return err
		}
		r.enter(c, step.path)
		if m := findMethod(c, step.name, step.descriptor); m != nil {
			return r.calls(c, m, step.path)
		}
		name = c.SuperName()
	}
	return nil
}

// enter notes that c is reached. Its initialiser may run then.
func (r *reach) enter(c *classfile.Class, path string) {
	if _, ok := r.classes[c.Name()]; ok {
		return
	}
	r.classes[c.Name()] = path
	if findMethod(c, "<clinit>", "()V") != nil {
		r.push(methodRef{c.Name(), "<clinit>", "()V"}, path)
	}
}

func (r *reach) calls(c *classfile.Class, m *classfile.Member, path string) error {
	body, ok, err := c.Code(m)
	if err != nil || !ok {
		return nil // malformed code is for the verifier to report; it calls nothing that we could follow
	}
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			return nil
		}
		switch in.Op {
		case code.Invokestatic, code.Invokespecial, code.Invokevirtual, code.Invokeinterface:
			if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil {
				r.push(methodRef{ref.Class, ref.Name, ref.Descriptor}, path)
			}
		case code.Getstatic, code.Putstatic:
			ref, err := c.ConstantPool().Ref(in.Constant())
			if err != nil {
				continue
			}
			owner, err := r.find(ref.Class)
			if err != nil {
				return err
			}
			if owner != nil {
				r.enter(owner, path+" -> "+ref.Class[strings.LastIndexByte(ref.Class, '/')+1:])
			}
		}
	}
	return nil
}
