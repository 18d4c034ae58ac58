package inject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// called returns names and descriptors of the methods of the runtime class that instrumented code calls.
func (o *Options) called(focus bool) [][2]string {
	called := [][2]string{{entryName, callDescriptor}, {exitName, callDescriptor}}
	if focus {
		called = append(called, [2]string{focusCallName, focusCallDescriptor})
	}
	if o.Posts {
		called = append(called, [2]string{postName, postObjectDescriptor}, [2]string{postName, postWhatDescriptor})
	}
	if o.Coroutines {
		for _, name := range []string{exitName, continuesName, startsName, resumesName} {
			called = append(called, [2]string{name, resultDescriptor})
		}
	}
	return called
}

// CheckRuntime returns an error if code that is instrumented with the options could not call the runtime class c. It
// must be a public class with public static methods i and o, with focus also at, and with what else the options insert.
func CheckRuntime(c *classfile.Class, focus bool, o Options) error {
	if c.AccessFlags()&classfile.AccInterface != 0 {
		return fmt.Errorf("runtime class %s is an interface; it must be a class", c.Name())
	}
	if c.AccessFlags()&classfile.AccPublic == 0 {
		return fmt.Errorf("runtime class %s is not public", c.Name())
	}
	const want = classfile.AccPublic | classfile.AccStatic
	for _, n := range o.called(focus) {
		m := findMethod(c, n[0], n[1])
		if m == nil {
			way := ""
			switch {
			case n[0] == postName:
				way = ", which the probes of trace-posts call; use a runtime that has it, or leave the option out"
			case n[1] == resultDescriptor:
				way = ", which trace-coroutines calls; use a runtime that has it, or set trace-coroutines to off"
			}
			return fmt.Errorf("runtime class %s has no method %s%s%s", c.Name(), n[0], n[1], way)
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

// MethodRef names a method like a call instruction.
type MethodRef struct {
	Class, Name, Descriptor string // as in the constant pool
}

// compare compares by class, then name, then descriptor.
func (m MethodRef) compare(o MethodRef) int {
	return cmp.Or(strings.Compare(m.Class, o.Class), strings.Compare(m.Name, o.Name),
		strings.Compare(m.Descriptor, o.Descriptor))
}

// Calls has the facts about a class that [Reached] needs.
type Calls struct {
	Name, SuperName string // in internal form; SuperName is "" for none
	Methods         []MethodCalls
}

// MethodCalls has the calls of one method.
type MethodCalls struct {
	Name, Descriptor string // as in the constant pool
	// Targets are the methods that it calls, and the initialisers of the classes whose static fields it accesses,
	// sorted and without duplicates. If the code cannot be decoded, they are the targets in front of the fault.
	Targets []MethodRef
}

// CallsOf returns the Calls of c. They share memory with c.
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
		return nil // the type checker reports malformed code
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

// initialiserOf returns the class initialiser, which runs when a class is first used (JVMS 5.5).
func initialiserOf(class string) MethodRef { return MethodRef{class, "<clinit>", "()V"} }

func (c *Calls) method(name, descriptor string) *MethodCalls {
	for i := range c.Methods {
		if m := &c.Methods[i]; m.Name == name && m.Descriptor == descriptor {
			return m
		}
	}
	return nil
}

// Reached finds the classes that the runtime class uses: every class with code that may run when one of the runtime
// class's methods is called that the options insert calls of, or at. If these classes were instrumented, their calls of
// the runtime would call it again, without end.
//
// It follows direct calls, breadth first, from these methods. A called method is looked up in the named class
// and its superclasses. Calls, also of constructors, and accesses of static fields also run the
// initialisers of classes. Interface and virtual calls are followed only to the class that the instruction names,
// since overriding methods are not looked for. Each method is followed once, so the time is linear in the code that
// is reached.
//
// find returns the classes of the inputs with an internal name, in any order: none, one, or several if the inputs
// contain the name more than once, as under META-INF/versions. All of them are followed. The result maps the name
// of each class, without the runtime class, to one of the shortest paths of calls that lead there, such as
// "AppMethodBeat.i -> Foo.bar".
func Reached(o Options, find func(name string) ([]Calls, error)) (map[string]string, error) {
	runtimeClass := o.Normalized().RuntimeClass
	r := reach{seen: make(map[MethodRef]bool), classes: map[string]string{}}
	for _, m := range o.called(true) {
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
		slices.SortFunc(next, func(a, b reachStep) int {
			return cmp.Or(a.compare(b.MethodRef),
				strings.Compare(a.path, b.path))
		})
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
	pending []reachStep // first in, first out, so that paths are the shortest
	classes map[string]string
}

// reachStep is a method to be looked up and followed, and the path of calls that leads to it.
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

// follow looks a method up in class c (JVMS 5.4.3.3, without interfaces) and appends to next the methods that it
// leads to: the methods that it calls, or the method of the superclass if c does not have it.
func (r *reach) follow(next []reachStep, step reachStep, c *Calls) []reachStep {
	call := func(m MethodRef) {
		next = append(next, reachStep{m, step.path + " -> " + methodPath(m.Class, m.Name)})
	}
	m := c.method(step.Name, step.Descriptor)
	initialiser := step.MethodRef == initialiserOf(step.Class)
	if !initialiser {
		r.enter(c.Name, step.path)
		call(initialiserOf(c.Name))
	} else if m != nil { // without an initialiser, initialising a class runs none of its code
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

// enter records that a class is reached.
func (r *reach) enter(class, path string) {
	if _, known := r.classes[class]; !known {
		r.classes[class] = path
	}
}
