package plan

import (
	"fmt"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// former are the names that a class and its methods had before R8 or ProGuard renamed them.
type former struct {
	class   string
	methods []mapping.Identity // as in the facts
}

// ClassName returns the name that a class goes by in everything that is written: the original one.
func (d *Draft) ClassName(class int) string {
	if before := d.former(class); before != nil {
		return before.class
	}
	return d.facts[class].Name
}

// Identity returns the names that method i of a class goes by.
func (d *Draft) Identity(class, i int) mapping.Identity {
	if before := d.former(class); before != nil {
		return before.methods[i]
	}
	return d.facts[class].Identity(i)
}

// FormerMethods returns the original names of the methods of a class; none if the names were not changed.
func (d *Draft) FormerMethods(class int) []mapping.Identity {
	if before := d.former(class); before != nil {
		return before.methods
	}
	return nil
}

func (d *Draft) former(class int) *former {
	if len(d.names) == 0 {
		return nil
	}
	return d.names[class]
}

// Residual returns a method's names in the inputs, in text form, if they are not those that it goes by.
func (d *Draft) Residual(class, i int) string {
	if m := d.facts[class].Identity(i); m != d.Identity(class, i) {
		return ResidualText(m)
	}
	return ""
}

// ResidualText returns the names that a method has in the inputs as lists show them.
func ResidualText(m mapping.Identity) string {
	return fmt.Sprintf("%s %s %s", mapping.Text(m.Class), mapping.Text(m.Name), mapping.Text(m.Descriptor))
}

// Original returns the names that a method of the inputs goes by, whatever is decided about it.
func (d *Draft) Original(m mapping.Identity) mapping.Identity {
	if d.options.R8 == nil {
		return m
	}
	return mapping.Identity(d.options.R8.Identify([]r8.Method{r8.Method(m)})[0])
}

// recallNames finds out the original names of all classes and methods.
func (d *Draft) recallNames() {
	by := d.options.R8
	if by == nil {
		return
	}
	known := 0
	d.names = make([]*former, len(d.facts))
	for n, c := range d.facts {
		if c.Name == "" {
			continue
		}
		before := &former{class: c.Name, methods: make([]mapping.Identity, len(c.Methods))}
		if original, ok := by.OriginalClass(c.Name); ok {
			before.class = original
			known++
		}
		residual := make([]r8.Method, len(c.Methods))
		for i := range c.Methods {
			residual[i] = r8.Method(c.Identity(i))
		}
		for i, original := range by.Identify(residual) {
			before.methods[i] = mapping.Identity(original)
		}
		d.names[n] = before
	}
	if known == 0 {
		d.warn("no class of the inputs is in the R8 mapping: is it that of another build?")
	}
	if residual, ok := by.ResidualClass(mappingInfo); ok && residual != mappingInfo {
		d.warn("%s was renamed to %s, so that nothing can be stamped into it: keep it, and its methods, from being "+
			"renamed", mapping.Text(mappingInfo), mapping.Text(residual))
	}
	if unknown := by.UnknownVersion(); unknown != "" {
		d.warn("the R8 mapping is of version %s, which this tracegen does not support: names may be missing from it",
			unknown)
	}
}

// mappingInfo is the class that the digest is stamped into.
const mappingInfo = "dev/tracegen/runtime/MappingInfo"
