package pipeline

import (
	"fmt"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// formerNames are what a class and its methods were called before R8 or ProGuard renamed them.
type formerNames struct {
	class   string
	methods []mapping.Identity // as unit.methods
}

// className gives the name that the class goes by in everything that is written: the original one.
func (u *unit) className() string {
	if u.before != nil {
		return u.before.class
	}
	return u.class
}

// identityOf gives the names that a method goes by.
func (u *unit) identityOf(i int) mapping.Identity {
	if u.before != nil {
		return u.before.methods[i]
	}
	return u.residualIdentity(i)
}

// residualOf gives a method's names in the inputs, in text form, if they are others.
func (u *unit) residualOf(i int) string {
	if m := u.residualIdentity(i); u.before != nil && u.before.methods[i] != m {
		return residualText(m)
	}
	return ""
}

func residualText(m mapping.Identity) string {
	return fmt.Sprintf("%s %s %s", mapping.Text(m.Class), mapping.Text(m.Name), mapping.Text(m.Descriptor))
}

// recall finds out the original names of all classes and methods.
func (r *run) recall() {
	if r.config.R8 == nil {
		return
	}
	known := 0
	for _, u := range r.units {
		if u.class == "" {
			continue
		}
		u.before = &formerNames{class: u.class, methods: make([]mapping.Identity, len(u.methods))}
		if original, ok := r.config.R8.OriginalClass(u.class); ok {
			u.before.class = original
			known++
		}
		residual := make([]r8.Method, len(u.methods))
		for i := range u.methods {
			residual[i] = r8.Method(u.residualIdentity(i))
		}
		for i, original := range r.config.R8.Identify(residual) {
			u.before.methods[i] = mapping.Identity(original)
		}
	}
	if known == 0 {
		r.warn("no class of the inputs is in the R8 mapping: is it that of another build?")
	}
	if residual, ok := r.config.R8.ResidualClass(mappingInfo); ok && residual != mappingInfo {
		r.warn("%s was renamed to %s, so that nothing can be stamped into it: keep it, and its methods, from being renamed", mapping.Text(mappingInfo), mapping.Text(residual))
	}
	if unknown := r.config.R8.UnknownVersion(); unknown != "" {
		r.warn("the R8 mapping is of version %s, which this tracegen does not know: names may be missing from it", unknown)
	}
}

// mappingInfo is the class that the digest is stamped into.
const mappingInfo = "dev/tracegen/runtime/MappingInfo"
