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

// methodRef names a method of a class.
type methodRef struct{ class, name, descriptor string }

// Reached finds every class that runs when i, o or at of the runtime class runs, by direct calls: the classes
// of the methods called, found in the class named or its superclasses, and those whose initialisers the calls,
// allocations and static field accesses run. Instrumented, they would call the runtime without end.
//
// find gives the classes of the inputs of an internal name: none, one, or several if it is there more than once,
// as under META-INF/versions; all of them are followed. The result maps each class, the runtime class not
// included, to the path of calls that leads there: "AppMethodBeat.i -> Foo.bar".
func Reached(runtimeClass string, find func(name string) ([]*classfile.Class, error)) (map[string]string, error) {
	r := reach{find: find, seen: make(map[methodRef]bool), classes: map[string]string{}}
	for _, m := range [][2]string{{entryName, callDescriptor}, {exitName, callDescriptor}, {focusCallName, focusCallDescriptor}} {
		r.push(methodRef{runtimeClass, m[0], m[1]}, methodPath(runtimeClass, m[0]))
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

const (
	initialiserName       = "<clinit>"
	initialiserDescriptor = "()V"
)

func methodPath(class, name string) string {
	return class[strings.LastIndexByte(class, '/')+1:] + "." + name
}

type reach struct {
	find    func(name string) ([]*classfile.Class, error)
	seen    map[methodRef]bool
	pending []reachStep // breadth first, so that paths are the shortest
	classes map[string]string
}

// reachStep is a method to be looked up and followed; path leads to it.
type reachStep struct {
	methodRef
	path string
}

func (r *reach) push(m methodRef, path string) {
	if !r.seen[m] {
		r.seen[m] = true
		r.pending = append(r.pending, reachStep{m, path})
	}
}

// follow looks the method up where the JVM would (JVMS 5.4.3.3), interfaces aside, and pushes what it calls.
func (r *reach) follow(step reachStep) error {
	classes, err := r.find(step.class)
	if err != nil {
		return err
	}
	for _, c := range classes {
		m := findMethod(c, step.name, step.descriptor)
		if step.name != initialiserName {
			r.enter(c.Name(), step.path)
			r.initialise(c.Name(), step.path)
		} else if m != nil {
			r.enter(c.Name(), step.path)
		}
		if m != nil {
			r.calls(c, m, step.path)
		}
		switch super := c.SuperName(); {
		case super == "":
		case step.name == initialiserName: // superclasses are initialised first (JVMS 5.5)
			r.initialise(super, step.path)
		case m == nil:
			r.push(methodRef{super, step.name, step.descriptor}, step.path)
		}
	}
	return nil
}

// enter notes that a class is reached.
func (r *reach) enter(class, path string) {
	if _, known := r.classes[class]; !known {
		r.classes[class] = path
	}
}

// initialise follows what runs when a class is first used. A class is not reached by that alone: if it has no
// initialiser, nothing of it runs.
func (r *reach) initialise(class, path string) {
	r.push(methodRef{class, initialiserName, initialiserDescriptor}, path+" -> "+methodPath(class, initialiserName))
}

func (r *reach) calls(c *classfile.Class, m *classfile.Member, path string) {
	body, ok, err := c.Code(m)
	if err != nil || !ok {
		return // malformed code is for the verifier to report; it calls nothing that we could follow
	}
	for in, err := range code.Instructions(body.Bytecode) {
		if err != nil {
			return
		}
		switch in.Op {
		case code.Invokestatic, code.Invokespecial, code.Invokevirtual, code.Invokeinterface:
			if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil {
				r.push(methodRef{ref.Class, ref.Name, ref.Descriptor}, path+" -> "+methodPath(ref.Class, ref.Name))
			}
		case code.Getstatic, code.Putstatic:
			if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil {
				r.initialise(ref.Class, path)
			}
		}
	}
}
