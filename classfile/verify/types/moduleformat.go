package types

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

const ruleModuleAttribute = "JVMS 4.7.25"

// checkModule checks a module declaration (JVMS 4.1, 4.7.25): its pool, and that its Module attribute is well-formed.
// No JVM links a module declaration, but the module system reads it.
func (k *checker) checkModule() {
	if k.class.Name() != "module-info" {
		k.finding(ruleClassFlags, "no ACC_MODULE outside of module-info", "one")
		return
	}
	if !k.checkPool() {
		return
	}
	if k.class.SuperName() != "" || len(k.class.Interfaces())+len(k.class.Fields())+len(k.class.Methods()) > 0 {
		k.finding(ruleClassFlags, "a module declaration without superclass, interfaces and members", "some")
	}
	var modules []classfile.Attribute
	for _, a := range k.class.Attributes() {
		if a.Name == "Module" {
			modules = append(modules, a)
		}
	}
	if len(modules) != 1 {
		k.finding(ruleModuleAttribute, "one Module attribute", fmt.Sprint(len(modules)))
		return
	}
	r := moduleReader{checker: k, rest: modules[0].Info}
	r.read()
	switch {
	case r.truncated:
		k.finding(ruleModuleAttribute, "a Module attribute as long as its counts say", "its end")
	case len(r.rest) > 0:
		k.finding(ruleModuleAttribute, "a Module attribute as long as its counts say",
			fmt.Sprintf("%d bytes more", len(r.rest)))
	}
}

// moduleReader decodes a Module attribute.
type moduleReader struct {
	*checker
	rest      []byte
	truncated bool // the attribute is too short
}

func (r *moduleReader) u2() uint16 {
	if len(r.rest) < 2 {
		r.truncated, r.rest = true, nil
		return 0
	}
	v := u2(r.rest)
	r.rest = r.rest[2:]
	return v
}

// index reads an index of a constant of the kind. If optional is set, it may be 0.
func (r *moduleReader) index(want classfile.Tag, optional bool) {
	if i := r.u2(); !r.truncated && !(optional && i == 0) && r.pool.Tag(i) != want {
		r.finding(ruleModuleAttribute, fmt.Sprintf("a %v at index %d", want, i), kindAt(r.pool, i))
	}
}

// table reads a count, and calls row that many times.
func (r *moduleReader) table(row func()) {
	for range r.u2() {
		if row(); r.truncated {
			return
		}
	}
}

// read decodes the attribute.
func (r *moduleReader) read() {
	r.index(classfile.TagModule, false)
	r.u2() // flags
	r.index(classfile.TagUtf8, true)
	r.table(func() { // requires
		r.index(classfile.TagModule, false)
		r.u2()
		r.index(classfile.TagUtf8, true)
	})
	packages := func() { // exports and opens
		r.index(classfile.TagPackage, false)
		r.u2()
		r.table(func() { r.index(classfile.TagModule, false) })
	}
	r.table(packages)
	r.table(packages)
	class := func() { r.index(classfile.TagClass, false) }
	r.table(class)   // uses
	r.table(func() { // provides
		class()
		r.table(class)
	})
}
