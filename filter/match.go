package filter

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// verdict says whether a rule matches.
type verdict uint8

const (
	no         verdict = iota
	unknowable         // it depends on supertypes that the class does not name itself
	yes
)

// applyConditions asks rules with conditions about the class: those that do not match any of its methods are
// dropped, those that match all of them take their place among the rules for the whole class.
func (cf *ClassFilter) applyConditions() {
	x := cf.filter.index
	cf.traits = classTraits(cf.class)
	if len(x.asking) > 0 {
		cf.own, cf.complete = cf.filter.ownSupertypes(cf.class)
	}
	if x.annotations.last >= 0 {
		cf.annotated = cf.filter.annotatedBy(nil, cf.class, cf.class.Attributes())
	}
	for i := len(cf.own.held) - 1; i >= 0; i-- {
		rule := x.askedBy[cf.own.held[i]]
		if rule <= cf.rules.class || contains(x.extending, rule) && x.heldBy(rule, cf.own) {
			cf.rules.class = max(rule, cf.rules.class)
			break
		}
	}
	found := cf.rules.methods
	cf.rules.methods = cf.rules.methods[:0]
	var waiting []int32
	for _, list := range [][]int32{found, cf.annotated, x.general} {
		for _, rule := range list {
			switch v, whole := cf.matchesClass(rule); {
			case v == no:
			case !whole:
				cf.rules.methods = append(cf.rules.methods, rule)
			case v == yes:
				cf.rules.class = rule
			default:
				waiting = append(waiting, rule)
			}
		}
	}
	cf.rules.order()
	cf.await(waiting)
}

// await notes the rules that wait for supertypes.
func (cf *ClassFilter) await(others []int32) {
	if cf.complete {
		return
	}
	cf.rules.waiting = after(cf.filter.index.extending, cf.rules.class)
	others = slices.DeleteFunc(others, func(rule int32) bool { return rule < cf.rules.class })
	if len(others) > 0 {
		cf.rules.waiting = slices.Concat(cf.rules.waiting, others)
		slices.Sort(cf.rules.waiting)
	}
}

// annotatedBy appends the rules that ask for one of the annotations, in ascending order.
func (f *Filter) annotatedBy(to []int32, c *classfile.Class, attributes []classfile.Attribute) []int32 {
	eachAnnotation(c.ConstantPool(), attributes, func(name string) {
		to = f.index.annotations.appendMatches(to, f.original(name))
	})
	slices.Sort(to)
	return slices.Compact(to)
}

// matchesClass says whether a rule matches the class, and whether that holds for every method of it. It is not asked
// about the annotations of methods.
func (cf *ClassFilter) matchesClass(rule int32) (v verdict, whole bool) {
	r := &cf.filter.index.rules[rule]
	switch {
	case rule < cf.rules.class:
		return no, true
	case r.conditions == nil:
		return yes, false
	case !r.conditions.class.hold(cf.traits):
		return no, true
	case r.conditions.annotation != nil && !r.pattern.class.match(matchable(cf.name)):
		return no, true // it was not found by its pattern
	}
	return cf.supertypesOf(rule), r.pattern.method == nil && !r.conditions.needMethod()
}

// supertypesOf says whether the class has the supertypes that a rule asks for.
func (cf *ClassFilter) supertypesOf(rule int32) verdict {
	switch x := cf.filter.index; {
	case len(x.rules[rule].conditions.supertypes) == 0 || x.heldBy(rule, cf.own):
		return yes
	case cf.complete:
		return no
	}
	return unknowable
}

// matches says whether a rule matches a method of the class. known says that matchesClass has been asked.
func (cf *ClassFilter) matches(rule int32, s *subject, known bool) verdict {
	r := &cf.filter.index.rules[rule]
	if r.pattern.method != nil && !r.pattern.method.match(s.name, s.member.Descriptor) {
		return no
	}
	k := r.conditions
	if k == nil {
		return yes
	}
	v := yes
	if !known {
		v, _ = cf.matchesClass(rule)
	} else if len(k.supertypes) > 0 {
		v = cf.supertypesOf(rule)
	}
	if v == no || k.annotation != nil && !contains(cf.annotated, rule) && !contains(s.annotated, rule) || !k.holdFor(s) {
		return no
	}
	return v
}

func contains(ascending []int32, rule int32) bool {
	_, found := slices.BinarySearch(ascending, rule)
	return found
}

// ruled gives the last rule that matches the method, -1 if there is none, and later ones that may.
func (cf *ClassFilter) ruled(m *classfile.Member, c *classfile.Code) (int32, Pending) {
	x := cf.filter.index
	s := subject{member: m, code: c, name: matchable(m.Name)}
	if x.hasConditions {
		s.traits = uint32(m.AccessFlags) | cf.traits&classfile.AccSynthetic
		if isSynthetic(m.Attributes) {
			s.traits |= classfile.AccSynthetic
		}
	}
	best := cf.rules.class
	var waiting []int32
	known := false
	ask := func(list []int32) {
		for _, rule := range list {
			if rule <= best {
				continue
			}
			switch cf.matches(rule, &s, known) {
			case yes:
				best = rule
			case unknowable:
				waiting = append(waiting, rule)
			}
		}
	}
	if x.annotations.last > best {
		s.annotated = cf.filter.annotatedBy(nil, cf.class, m.Attributes)
		ask(s.annotated)
	}
	if x.everywhere.last > best {
		ask(x.everywhere.named[m.Name])
		x.everywhere.globs.each(m.Name, false, ask)
	}
	known = true
	for i := 0; i < len(cf.rules.methods) && cf.rules.methods[i] > best; i++ {
		ask(cf.rules.methods[i : i+1])
	}
	for i := len(x.perMethod) - 1; i >= 0 && x.perMethod[i].rule > best; i-- {
		if x.perMethod[i].holdFor(&s) {
			best = x.perMethod[i].rule
		}
	}
	return best, cf.pendingAfter(best, waiting)
}

// pendingAfter writes down which rules after the given one may match: some of which only this is known, and those
// that wait for the class.
func (cf *ClassFilter) pendingAfter(rule int32, some []int32) Pending {
	ofClass := after(cf.rules.waiting, rule)
	if len(some) == 0 {
		if len(ofClass) > 0 && (cf.pending.text == "" || cf.pending.rule != rule) {
			cf.pending.rule, cf.pending.text = rule, cf.filter.index.pending(ofClass, rule)
		}
		if len(ofClass) == 0 {
			return ""
		}
		return cf.pending.text
	}
	slices.Sort(some)
	some = slices.Concat(after(some, rule), ofClass)
	slices.Sort(some)
	return cf.filter.index.pending(slices.Compact(some), rule)
}
