package filter

import (
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// openRule is a rule that matches some methods of a class, or all of them if the class has certain supertypes.
type openRule struct {
	rule int32
	head string // methodPattern.head, in which most methods differ
	// annotated says that the class has the annotation that the rule asks for: no method needs it.
	annotated bool
	// certain says that the class has the supertypes that the rule asks for. Otherwise, they are not known yet.
	certain bool
}

// findRules goes through the rules backward, and notes those that may match methods of the class, up to the first that
// matches all of them. A rule is a number in the ordered list, so that the greater of two wins.
func (cf *ClassFilter) findRules() {
	f := cf.filter
	if len(f.supertypes) > 0 {
		cf.own, cf.complete = f.ownSupertypes(cf.class)
	}
	cf.last = -1
	for rule := int32(len(f.rules)) - 1; rule >= 0; rule-- {
		if !strings.HasPrefix(cf.name, f.heads[rule]) {
			continue
		}
		r := &f.rules[rule]
		if r.pattern.class.glob == "" || !r.pattern.class.match(cf.name) {
			continue
		}
		open := openRule{rule: rule, certain: true}
		if r.pattern.method != nil {
			open.head = r.pattern.method.head
		}
		whole := r.pattern.method == nil
		if k := r.conditions; k != nil {
			if open.certain = f.conditionsHold(rule, cf.own); !open.certain && cf.complete {
				continue
			}
			open.annotated = k.annotation == nil || f.hasAnnotation(k.annotation, cf.class, cf.class.Attributes())
			whole = whole && open.annotated
		}
		if whole && open.certain {
			cf.last = rule
			return
		}
		cf.open = append(cf.open, open)
	}
}

// lastMatchingRule returns the last rule that is known to match the method, -1 if there is none, and the later rules
// that match it if the class has certain supertypes.
func (cf *ClassFilter) lastMatchingRule(m *classfile.Member) (int32, Pending) {
	cf.undecided = cf.undecided[:0]
	for i := range cf.open {
		o := &cf.open[i]
		if !cf.matches(o, m) {
			continue
		}
		if o.certain {
			return o.rule, cf.pendingBefore(o.rule)
		}
		cf.undecided = append(cf.undecided, o.rule)
	}
	return cf.last, cf.pendingBefore(cf.last)
}

// matches reports whether a rule matches a method, whatever the supertypes of the class are.
func (cf *ClassFilter) matches(o *openRule, m *classfile.Member) bool {
	r := &cf.filter.rules[o.rule]
	if p := r.pattern.method; p != nil {
		compiled := strings.HasPrefix(m.Name, o.head) && p.match(m.Name, m.Descriptor)
		if !compiled && !p.matchSource(cf.name, m.Name) {
			return false
		}
	}
	k := r.conditions
	return k == nil || o.annotated || cf.filter.hasAnnotation(k.annotation, cf.class, m.Attributes)
}

// hasAnnotation reports whether one of the annotations of a class, or of one of its methods, matches.
func (f *Filter) hasAnnotation(p *classPattern, c *classfile.Class, attributes []classfile.Attribute) (found bool) {
	eachAnnotation(c.ConstantPool(), attributes, func(name string) {
		found = found || p.match(f.original(name))
	})
	return found
}

// pendingBefore returns the Pending of the undecided rules, and of the rule that matches if none of them does. Most
// methods of a class have the same one, which is made once.
func (cf *ClassFilter) pendingBefore(rule int32) Pending {
	if len(cf.undecided) == 0 {
		return ""
	}
	if p := &cf.pending; p.text == "" || p.otherwise != rule || !slices.Equal(p.rules, cf.undecided) {
		p.rules, p.otherwise = append(p.rules[:0], cf.undecided...), rule
		p.text = newPending(cf.undecided, rule)
	}
	return cf.pending.text
}
