package filter

import (
	"slices"

	"github.com/tracegen/tracegen/classfile"
)

// matching says whether a rule matches.
type matching uint8

const (
	noMatch  matching = iota
	mayMatch          // it depends on indirect supertypes, which are not known yet
	doesMatch
)

// applyConditions evaluates rules with conditions for the class. A rule that matches none of its methods is removed.
// A rule that matches all of them replaces the rule for the whole class, if it comes later. A rule that matches all
// of them only with certain supertypes becomes undecided. All other rules are evaluated for each method.
func (cf *ClassFilter) applyConditions() {
	x := cf.filter.index
	cf.traits = classTraits(cf.class)
	if len(x.withSupertypes) > 0 {
		cf.own, cf.complete = cf.filter.ownSupertypes(cf.class)
	}
	if x.annotations.last >= 0 {
		cf.annotated = cf.filter.annotatedBy(nil, cf.class, cf.class.Attributes())
	}
	// Of the rules on supertypes only, find the last one whose conditions the direct supertypes meet. There may be many
	// such rules; this loop goes only through the conditions that hold.
	for i := len(cf.own.held) - 1; i >= 0; i-- {
		rule := x.conditionRule[cf.own.held[i]]
		if rule <= cf.rules.class || contains(x.supertypesOnly, rule) && x.conditionsHold(rule, cf.own) {
			cf.rules.class = max(rule, cf.rules.class)
			break
		}
	}
	found := cf.rules.methods
	cf.rules.methods = cf.rules.methods[:0] // shares the memory of found, which is read before it is overwritten
	var undecided []int32
	for _, list := range [][]int32{found, cf.annotated, x.general} {
		for _, rule := range list {
			switch v, whole := cf.matchesClass(rule); {
			case v == noMatch:
			case !whole:
				cf.rules.methods = append(cf.rules.methods, rule)
			case v == doesMatch:
				cf.rules.class = rule
			default:
				undecided = append(undecided, rule)
			}
		}
	}
	cf.rules.order()
	cf.addUndecided(undecided)
}

// addUndecided stores the rules that match all methods if the class has certain supertypes: the rules of
// supertypesOnly and the others.
func (cf *ClassFilter) addUndecided(others []int32) {
	if cf.complete {
		return
	}
	cf.rules.undecided = after(cf.filter.index.supertypesOnly, cf.rules.class)
	others = slices.DeleteFunc(others, func(rule int32) bool { return rule < cf.rules.class })
	if len(others) > 0 {
		cf.rules.undecided = slices.Concat(cf.rules.undecided, others)
		slices.Sort(cf.rules.undecided)
	}
}

// annotatedBy appends the rules that have a condition on one of the annotations, in ascending order.
func (f *Filter) annotatedBy(to []int32, c *classfile.Class, attributes []classfile.Attribute) []int32 {
	eachAnnotation(c.ConstantPool(), attributes, func(name string) {
		to = f.index.annotations.appendMatches(to, f.original(name))
	})
	slices.Sort(to)
	return slices.Compact(to)
}

// matchesClass reports whether a rule matches the class, and whether it then matches all methods. It does not look at
// annotations of methods.
func (cf *ClassFilter) matchesClass(rule int32) (v matching, whole bool) {
	r := &cf.filter.index.rules[rule]
	switch {
	case rule < cf.rules.class:
		return noMatch, true
	case r.conditions == nil:
		return doesMatch, false
	case !r.conditions.class.hold(cf.traits):
		return noMatch, true
	case r.conditions.annotation != nil && !r.pattern.class.match(cf.name):
		return noMatch, true // such a rule was found by the annotation, so its pattern has not been compared yet
	}
	return cf.supertypesOf(rule), r.pattern.method == nil && !r.conditions.needMethod()
}

// supertypesOf reports whether the class has the supertypes that a rule requires.
func (cf *ClassFilter) supertypesOf(rule int32) matching {
	switch x := cf.filter.index; {
	case len(x.rules[rule].conditions.supertypes) == 0 || x.conditionsHold(rule, cf.own):
		return doesMatch
	case cf.complete:
		return noMatch
	}
	return mayMatch
}

// matches reports whether a rule matches a method of the class. known means that matchesClass has already been called
// for the rule, and that it did not return noMatch.
func (cf *ClassFilter) matches(rule int32, s *subject, known bool) matching {
	r := &cf.filter.index.rules[rule]
	if r.pattern.method != nil && !r.pattern.method.match(s.member.Name, s.member.Descriptor) {
		return noMatch
	}
	k := r.conditions
	if k == nil {
		return doesMatch
	}
	v := doesMatch
	if !known {
		v, _ = cf.matchesClass(rule)
	} else if len(k.supertypes) > 0 {
		v = cf.supertypesOf(rule)
	}
	if k.annotation != nil && !contains(cf.annotated, rule) && !contains(s.annotated, rule) {
		return noMatch
	}
	if v == noMatch || !k.holdFor(s) {
		return noMatch
	}
	return v
}

func contains(ascending []int32, rule int32) bool {
	_, found := slices.BinarySearch(ascending, rule)
	return found
}

// lastMatchingRule returns the last rule that is known to match the method, -1 if there is none, and the later rules
// that may match it, depending on supertypes. It goes through the groups of the index, and evaluates a rule only if
// it comes after the best one so far.
func (cf *ClassFilter) lastMatchingRule(m *classfile.Member, c *classfile.Code) (int32, Pending) {
	x := cf.filter.index
	s := subject{member: m, code: c}
	if x.hasConditions {
		s.traits = uint32(m.AccessFlags) | cf.traits&classfile.AccSynthetic
		if isSynthetic(m.Attributes) {
			s.traits |= classfile.AccSynthetic
		}
	}
	best := cf.rules.class
	var undecided []int32
	known := false
	try := func(list []int32) {
		for _, rule := range list {
			if rule <= best {
				continue
			}
			switch cf.matches(rule, &s, known) {
			case doesMatch:
				best = rule
			case mayMatch:
				undecided = append(undecided, rule)
			}
		}
	}
	if x.annotations.last > best {
		s.annotated = cf.filter.annotatedBy(nil, cf.class, m.Attributes)
		try(s.annotated)
	}
	if x.everywhere.last > best {
		try(x.everywhere.named[m.Name])
		x.everywhere.globs.each(m.Name, false, try)
	}
	known = true
	for i := 0; i < len(cf.rules.methods) && cf.rules.methods[i] > best; i++ {
		try(cf.rules.methods[i : i+1])
	}
	for i := len(x.perMethod) - 1; i >= 0 && x.perMethod[i].rule > best; i-- {
		if x.perMethod[i].holdFor(&s) {
			best = x.perMethod[i].rule
		}
	}
	return best, cf.pendingAfter(best, undecided)
}

// pendingAfter returns the Pending of the undecided rules after the given one: those in some, which are undecided for
// this method, and the rules that are undecided for the whole class. Most methods have only the latter; their text is
// made once for each class.
func (cf *ClassFilter) pendingAfter(rule int32, some []int32) Pending {
	ofClass := after(cf.rules.undecided, rule)
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
