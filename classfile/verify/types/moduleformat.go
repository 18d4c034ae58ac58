package types

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile"
)

const ruleModuleAttribute = "JVMS 4.7.25"

// checkModule checks a module declaration (JVMS 4.1, 4.7.25): its pool, and that its Module attribute holds together. It
// is no class: no JVM links it, but the module system reads it.
func (k *checker) checkModule() {
	if k.class.Name() != "module-info" {
		k.finding(ruleClassFlags, "no ACC_MODULE but in module-info", "one")
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
	r := moduleReader{checker: k, b: modules[0].Info}
	r.read()
	switch {
	case r.cut:
		k.finding(ruleModuleAttribute, "a Module attribute as long as its counts say", "its end")
	case len(r.b) > 0:
		k.finding(ruleModuleAttribute, "a Module attribute as long as its counts say", fmt.Sprintf("%d bytes more", len(r.b)))
	}
}

// moduleReader takes a Module attribute apart.
type moduleReader struct {
	*checker
	b   []byte
	cut bool // there were not enough bytes
}

func (r *moduleReader) u2() uint16 {
	if len(r.b) < 2 {
		r.cut, r.b = true, nil
		return 0
	}
	v := u2(r.b)
	r.b = r.b[2:]
	return v
}

// names reads an index of the kind; optional ones may be 0.
func (r *moduleReader) names(want classfile.Tag, optional bool) {
	if i := r.u2(); !r.cut && !(optional && i == 0) && r.pool.Tag(i) != want {
		r.finding(ruleModuleAttribute, fmt.Sprintf("a %v at index %d", want, i), kindAt(r.pool, i))
	}
}

// table reads as many rows as a count says.
func (r *moduleReader) table(row func()) {
	for range r.u2() {
		if row(); r.cut {
			return
		}
	}
}

func (r *moduleReader) read() {
	r.names(classfile.TagModule, false)
	r.u2() // flags
	r.names(classfile.TagUtf8, true)
	r.table(func() { // requires
		r.names(classfile.TagModule, false)
		r.u2()
		r.names(classfile.TagUtf8, true)
	})
	packages := func() { // exports and opens
		r.names(classfile.TagPackage, false)
		r.u2()
		r.table(func() { r.names(classfile.TagModule, false) })
	}
	r.table(packages)
	r.table(packages)
	class := func() { r.names(classfile.TagClass, false) }
	r.table(class)   // uses
	r.table(func() { // provides
		class()
		r.table(class)
	})
}
